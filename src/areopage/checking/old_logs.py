"""An older system's logs: find and read the files; kinds, contents and consistency of their lines.

Two formats are in use: rows of figures say `avg_score` and `confidence`, or `similarity_score` and `confidence_score`.
"""

import gzip
import hashlib
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from areopage.cases import MAX_RECORD, Case, Document, clip, is_deep
from areopage.checking.log_lines import SAFE_ID, Figure, MetricsLine
from areopage.errors import DatasetError
from areopage.gate import GATE_VERDICTS, Decision, GateVerdict
from areopage.ledger import Answer, Mode, Trace

LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
WHOLE = (".json", ".json.gz")

Progress = Callable[[str, int, int], None]
"""Told what is counted (`bytes` while files are read, then `rows` as they go into the ledger), how far it is, and the whole."""

Kind = Literal["metrics", "response", "snapshot"]
OTHER_NAMES = {"similarity_score": "avg_score", "confidence_score": "confidence"}
SHARES = ("avg_score", "confidence", "overlap_ratio")
FLAGS = ("cites_ok", "hallucination", "quality_pass", "escalate")
HEADER = re.compile(r"\A\[Document \d+\] \(Score: [^)\n]{0,40}\)\n")
FACTOR, PASSES_FROM, OVERLAP_FROM, ESCALATES_UNDER = 0.8, 0.35, 0.35, 0.25
MODES: dict[GateVerdict, Mode] = {"deliver": "generated", "fallback": "fallback", "human_review": "human_review"}
OWN_MODES: tuple[Mode, ...] = ("generated", "cached", "fallback", "human_review", "shadow")


class LogFile(Struct, frozen=True, kw_only=True):
    """A log file: its name, its unpacked path, and whether it is one record."""

    named: Path
    path: Path
    whole: bool

    @property
    def size(self) -> int:
        """The unpacked size in bytes."""
        return self.path.stat().st_size


class Piece(Struct, frozen=True, kw_only=True):
    """A record with its position, or the reason for its absence. `line` is 1-based."""

    file: LogFile
    line: int
    start: int
    size: int
    record: dict[str, Any] | None = None
    reason: str = ""
    content: str = ""


def find_logs(places: Sequence[Path], workspace: Path) -> list[LogFile]:
    """Find log files in order; archives are unpacked into a workspace."""
    files: list[LogFile] = []
    for place in places:
        if not place.exists():
            raise DatasetError(f"{place}: no such file or folder")
        named = _files_in(place) if place.is_dir() else [place]
        for path in named:
            name = path.name.lower()
            if not name.endswith((*LINES, *WHOLE)):
                raise DatasetError(f"{path}: the logs are .jsonl or .json files, maybe packed (.gz)")
            if not path.is_file():  # what is read twice can be no pipe
                raise DatasetError(f"{path}: not a regular file: write the log into one")
            unpacked = path
            if name.endswith(".gz"):
                unpacked = workspace / str(len(files))
                try:
                    with gzip.open(path, "rb") as packed, unpacked.open("wb") as log:
                        shutil.copyfileobj(packed, log)
                except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
                    reason = f"not a whole packed file ({fault}): copy it again, or unpack it yourself"
                    raise DatasetError(f"{path}: {reason}") from None
            files.append(LogFile(named=path, path=unpacked, whole=name.endswith(WHOLE)))
    if not files:
        raise DatasetError(f"{', '.join(map(str, places))}: no .jsonl or .json file is in there")
    return files


def _files_in(folder: Path) -> list[Path]:
    paths = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        logs = [name for name in sorted(names) if not name.startswith(".") and name.lower().endswith((*LINES, *WHOLE))]
        paths += [Path(root, name) for name in logs]
    return paths


def pieces(file: LogFile) -> Iterator[Piece]:
    """Iterate over a file's records and invalid lines."""
    too_long = f"longer than {MAX_RECORD:,} bytes"
    if file.whole:
        if file.size > MAX_RECORD:
            yield Piece(file=file, line=1, start=0, size=file.size, reason=too_long)
        else:
            yield _read_piece(file, 1, 0, file.path.read_bytes())
        return
    start, line = 0, 0
    with file.path.open("rb") as stream:
        while content := stream.readline(MAX_RECORD + 1):
            line, size = line + 1, len(content)
            if size > MAX_RECORD:
                while (rest := stream.readline(MAX_RECORD)) and not rest.endswith(b"\n"):
                    size += len(rest)
                size += len(rest)
                yield Piece(file=file, line=line, start=start, size=size, reason=too_long)
            elif content.strip():
                yield _read_piece(file, line, start, content)
            start += size


def _read_piece(file: LogFile, line: int, start: int, content: bytes) -> Piece:
    place: dict[str, Any] = {"file": file, "line": line, "start": start, "size": len(content)}
    try:
        value = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        reason = f"not valid JSON: {fault}"
    except RecursionError:
        reason = "the JSON is nested too deeply"
    else:
        if isinstance(value, dict) and not is_deep(value):
            return Piece(**place, record=value)
        reason = "not a JSON object, or nested too deeply"
    return Piece(**place, reason=reason, content=clip(content.decode("utf-8", "replace").strip()))


def read_again(file: LogFile, start: int, size: int) -> dict[str, Any]:
    """Read a record again by its position."""
    with file.path.open("rb") as stream:
        stream.seek(start)
        piece = _read_piece(file, 1, start, stream.read(size))
    return piece.record or {}


class Contradiction(Struct, frozen=True, kw_only=True):
    """A field that contradicts the row's other fields."""

    place: str
    line: int
    field: str
    said: Figure
    derived: Figure


def kind_of(record: dict[str, Any]) -> Kind | None:
    """The kind of a line by its fields; None if unknown."""
    if "generation_trunc" in record or "detected_ids" in record:
        return "response"
    if "metrics" in record and ("generation" in record or "documents" in record):
        return "snapshot"
    return "metrics" if "quality_pass" in record else None


def moment_of(stamp: object, zone: tzinfo) -> datetime:
    """Parse a time to UTC; without a zone, use the given zone. A `ValueError` says what is wrong."""
    if not isinstance(stamp, str):
        raise ValueError("timestamp: not a text")
    try:
        read = datetime.fromisoformat(stamp)
        return (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"timestamp: {stamp[:40]!r} is no time") from None


def metrics_line(record: dict[str, Any]) -> MetricsLine:
    """A record as a line of figures, with usable fields of our own. A `ValueError` says what is wrong."""
    prompt, stamp = record.get("question"), record.get("timestamp")
    if not isinstance(prompt, str):
        raise ValueError("question: missing, or not a text")
    if not isinstance(stamp, str):
        raise ValueError("timestamp: not a text")
    figures: dict[str, Any] = figures_of(record)
    return MetricsLine(timestamp=stamp, question=prompt, **figures, **_own_of(record))


def figures_of(record: dict[str, Any]) -> dict[str, Figure]:
    """A row's figures by documented name. A `ValueError` says what is wrong."""
    named = {OTHER_NAMES.get(name, name): value for name, value in record.items()}
    metrics: dict[str, Figure] = {}
    for name in SHARES:
        value = named.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{name}: {value!r:.40} is not a number")
        metrics[name] = value
    for name in FLAGS:
        if not isinstance(named.get(name), bool | None):
            raise ValueError(f"{name}: {named[name]!r:.40} is neither true nor false")
        metrics[name] = named.get(name)
    count = named.get("num_sources")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise ValueError(f"num_sources: {count!r:.40} is not a number")
    metrics["num_sources"] = count
    if metrics["quality_pass"] is None:
        raise ValueError("quality_pass: missing")
    return metrics


def _own_of(record: dict[str, Any]) -> dict[str, Any]:
    id, risk, sources = record.get("id"), record.get("p_unsupported"), record.get("sources_filter")
    texts = {
        name: value if isinstance(value := record.get(name), str) else None
        for name in ("response_lang", "collection", "profile", "version")
    }
    is_share = isinstance(risk, int | float) and not isinstance(risk, bool) and 0 <= risk <= 1
    are_names = isinstance(sources, list) and all(isinstance(source, str) for source in sources)
    return texts | {
        "id": id if isinstance(id, str) and SAFE_ID.fullmatch(id) else None,
        "p_unsupported": float(record["p_unsupported"]) if is_share else None,
        "sources_filter": tuple(record["sources_filter"]) if are_names else (),
        "verdict": verdict if (verdict := record.get("verdict")) in GATE_VERDICTS else None,
        "mode": mode if (mode := record.get("mode")) in OWN_MODES else None,
        "meaning_not_checked": count if isinstance(count := record.get("meaning_not_checked"), int) and count >= 0 else None,
    }


def differences(line: MetricsLine, place: str, number: int) -> list[Contradiction]:
    """Fields that contradict others; rounding and missing fields do not count."""
    said = line.metrics
    rule = line.profile in (None, "v1_1")
    return [
        Contradiction(place=place, line=number, field=field, said=said[field], derived=value)
        for field, value in derived(line).items()
        if value is not None and said[field] is not None and (rule or field == "confidence")
        if not same(line, field, value)
    ]


def derived(line: MetricsLine) -> dict[str, Figure]:
    """Apply the documented rule to a line's other fields; None if undetermined."""
    confidence = line.confidence
    passes = escalates = None
    if confidence is not None:
        overlaps = line.overlap_ratio is not None and line.overlap_ratio >= OVERLAP_FROM
        passes = not line.hallucination and confidence >= PASSES_FROM and (bool(line.cites_ok) or overlaps)
        escalates = not line.quality_pass and (confidence < ESCALATES_UNDER or bool(line.hallucination))
    return {
        "confidence": None if line.avg_score is None else FACTOR * line.avg_score,
        "quality_pass": None if line.cites_ok is None or line.hallucination is None else passes,
        "escalate": None if line.hallucination is None else escalates,
    }


def same(line: MetricsLine, field: str, value: Figure) -> bool:
    """Whether a field equals its expected value within the line's rounding."""
    figure, confidence = line.metrics[field], line.confidence
    if field == "confidence" and figure is not None and value is not None:
        return abs(figure - value) <= _half_unit(figure) + FACTOR * _half_unit(line.avg_score) + 1e-9
    if figure == value:
        return True
    # a confidence that was rounded onto a bound may have been on its other side
    return confidence is not None and any(
        abs(confidence - bound) <= _half_unit(confidence) for bound in (PASSES_FROM, ESCALATES_UNDER)
    )


def _half_unit(figure: Figure) -> float:
    """Half of the last decimal that a figure is written with."""
    decimals = len(repr(figure).partition(".")[2]) if isinstance(figure, float) else 0
    return 0.5 * 10.0**-decimals if decimals < 9 else 0.0


def trace_of(line: MetricsLine, at: datetime, response: dict[str, Any] | None, snapshot: dict[str, Any] | None) -> Trace:
    """Build the trace of a line of figures with its related data."""
    escalated = derived(line)["escalate"] if line.escalate is None else line.escalate
    failed: GateVerdict = "human_review" if escalated else "fallback"
    verdict = line.verdict or ("deliver" if line.quality_pass else failed)
    # The same id for the same line, however often and from any folder it is imported.
    content = [line.timestamp, line.question, *(line.metrics[name] for name in (*SHARES, *FLAGS, "num_sources"))]
    id = line.id or hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:32]
    text = text_in(snapshot, "generation") or text_in(response, "generation_trunc")
    collection, language = line.collection or "", line.response_lang or text_in(response, "response_lang")
    documents = _documents_of(snapshot) if snapshot else ()
    decision = None
    with suppress(msgspec.ValidationError):  # only this program's own snapshots hold one
        decision = msgspec.convert((snapshot or {}).get("decision"), type=Decision | None)
    answer = Answer(
        id=id,
        origin="import",
        case=Case(id=id, prompt=line.question, response=text or None, documents=documents),
        source=collection,
        language=language,
        model=text_in(response, "model"),
        delivered=text if verdict == "deliver" else "",
        received_at=at,
        answered_at=at,
    )
    return Trace(
        answer=answer,
        channel="import",
        collection=collection,
        sources_filter=line.sources_filter,
        verdict=verdict,
        mode=line.mode or MODES[verdict],
        decision=decision,
        metrics=line.metrics,
        p_unsupported=line.p_unsupported,
        meaning_not_checked=line.meaning_not_checked,
        language=language,
        profile=line.profile or "",
        version=line.version or "",
    )


def text_in(record: dict[str, Any] | None, name: str) -> str:
    """A field's text; "" if missing."""
    value = (record or {}).get(name)
    return value if isinstance(value, str) else ""


def _documents_of(snapshot: dict[str, Any]) -> tuple[Document, ...]:
    """A snapshot's documents, each with what `sources` says of it in the same place; the texts' headers are left out."""
    texts, sources = snapshot.get("documents"), snapshot.get("sources")
    listed = sources if isinstance(sources, list) else []
    columns = []
    for at, text in enumerate(texts if isinstance(texts, list) else []):
        source = listed[at] if at < len(listed) and isinstance(listed[at], dict) else {}
        score = source.get("score")
        if isinstance(text, dict):
            body = next((value for name in ("text", "content", "page_content") if (value := text_in(text, name))), "")
        else:
            body = HEADER.sub("", text) if isinstance(text, str) else ""
        columns.append(
            Document(
                id=text_in(source, "id") or f"document-{at + 1}",
                text=body,
                title=text_in(source, "title"),
                score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
                source=text_in(source, "source"),
                metadata={name: value for name, value in source.items() if name not in ("id", "score", "source", "title")},
            )
        )
    return tuple(columns)
