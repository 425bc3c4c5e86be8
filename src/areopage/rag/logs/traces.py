"""The files beside the ledger: a line of figures and a line of the response for each answer, and a snapshot of what did not pass.

They have the documented fields under the documented names, and ours behind them. The ledger is the truth: what cannot be
written here is counted and told, and holds nothing up.
"""

import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from areopage.cases.records import Document
from areopage.ledger.records import Trace
from areopage.ledger.rows import storable_value
from areopage.rag.config import TracesSection
from areopage.rag.logs.append_file import AppendFile, sync_folder

METRICS = "logs/metrics.jsonl"
RESPONSES = "logs/llm_responses.jsonl"
SNAPSHOTS = "snapshots/for_review"
TRUNCATED = 1000
FORGOTTEN = 3600.0
"""Seconds after which a temporary file has no writer any more."""

FIGURES = ("avg_score", "confidence", "cites_ok", "overlap_ratio", "hallucination", "quality_pass", "escalate", "num_sources")
SAFE_ID = re.compile(r"[0-9a-f]{32}")


def to_stderr(line: str) -> None:
    """Say a line where nobody else listens."""
    print(line, file=sys.stderr, flush=True)


class TraceFiles:
    """Writes the files. Each method may be called from any thread, and blocks until its line is on the disk."""

    def __init__(self, section: TracesSection, folder: Path, *, warn: Callable[[str], None] = to_stderr) -> None:
        """Args:
        folder: gets `logs/` and `snapshots/`; the section's own `folder` as the configuration resolves it.
        warn: is told once when a file cannot be written, and once when it can again.
        """
        self._enabled = section.enabled
        self._metrics = AppendFile(folder / METRICS, section.max_bytes, section.keep)
        self._responses = AppendFile(folder / RESPONSES, section.max_bytes, section.keep)
        self._snapshots = folder / SNAPSHOTS
        self._warn = warn
        self._guard = threading.Lock()
        self._failing: dict[Path, int] = {}
        self.failed = 0
        """How many lines and snapshots could not be written."""
        if self._enabled:
            remove_forgotten(self._snapshots)

    def write(self, trace: Trace) -> None:
        """Write what an answer leaves behind; nothing of a cached one, which was neither generated nor evaluated anew."""
        if trace.mode == "cached":
            return
        self.append_metrics(trace)
        if trace.response:
            self.append_response(trace)
            if trace.verdict != "deliver":
                self.write_snapshot(trace)

    def append_metrics(self, trace: Trace) -> bool:
        """Append the figures to `logs/metrics.jsonl`; whether they are there."""
        return self._written(self._metrics.path, lambda: self._metrics.append(json_line(metrics_of(trace))))

    def append_response(self, trace: Trace) -> bool:
        """Append the response to `logs/llm_responses.jsonl`; whether it is there."""
        return self._written(self._responses.path, lambda: self._responses.append(json_line(response_of(trace))))

    def write_snapshot(self, trace: Trace) -> bool:
        """Write `snapshots/for_review/<id>.json`, whole or not at all; whether it is there."""
        place = self._snapshots / f"{trace.id if SAFE_ID.fullmatch(trace.id) else 'unsafe'}.json"

        def write() -> None:
            if not SAFE_ID.fullmatch(trace.id):
                raise OSError(0, "its id is not 32 hexadecimal digits")
            write_atomically(place, json_line(snapshot_of(trace)))

        return self._written(place.parent, write)

    def _written(self, place: Path, write: Callable[[], None]) -> bool:
        """Do it, and see to it that a failure is told once, counted, and holds nobody up."""
        if not self._enabled:
            return False
        try:
            write()
        except OSError as fault:
            self._note_failure(place, fault)
            return False
        self._note_success(place)
        return True

    def _note_failure(self, place: Path, fault: OSError) -> None:
        with self._guard:
            self.failed += 1
            before = self._failing.get(place, 0)
            self._failing[place] = before + 1
        if not before:
            reason = fault.strerror or str(fault)
            self._warn(
                f"traces: {place} cannot be written ({reason}): answers go out, and the ledger has them all; free some space"
            )

    def _note_success(self, place: Path) -> None:
        if place not in self._failing:
            return
        with self._guard:
            missed = self._failing.pop(place, 0)
        if missed:
            self._warn(f"traces: {place} is written again; {missed} traces are missing in it, the ledger has them")


def metrics_of(trace: Trace) -> dict[str, Any]:
    """A line of figures: the documented fields, then ours. A figure that is not known is left out."""
    figures = {name: trace.metrics[name] for name in FIGURES if trace.metrics.get(name) is not None}
    return {"timestamp": trace.at.isoformat(), "question": trace.prompt} | figures | own_fields(trace)


def own_fields(trace: Trace) -> dict[str, Any]:
    """What the documented formats have no field for."""
    return {
        "id": trace.id,
        "verdict": trace.verdict,
        "mode": trace.mode,
        "p_unsupported": trace.p_unsupported,
        "response_lang": trace.language,
        "collection": trace.collection,
        "sources_filter": trace.sources_filter,
        "profile": trace.profile,
        "version": trace.version,
    }


def response_of(trace: Trace) -> dict[str, Any]:
    """A line about the response."""
    return {
        "timestamp": trace.at.isoformat(),
        "question": trace.prompt,
        "response_lang": trace.language,
        "detected_ids": trace.decision.cited_ids if trace.decision else (),
        "generation_trunc": trace.response[:TRUNCATED],
        "num_sources": len(trace.documents),
        "id": trace.id,
        "model": trace.answer.model,
        "unknown_ids": trace.decision.unknown_ids if trace.decision else (),
    }


def snapshot_of(trace: Trace) -> dict[str, Any]:
    """Everything that a reviewer needs. `documents` are texts; `sources` says of each where it comes from."""
    return {
        "id": trace.id,
        "timestamp": trace.at.isoformat(),
        "question": trace.prompt,
        "documents": [document.text for document in trace.documents],
        "sources": [source_of(document) for document in trace.documents],
        "generation": trace.response,
        "metrics": metrics_of(trace),
        "decision": trace.decision,
    }


def source_of(document: Document) -> dict[str, Any]:
    """A document without its text; its metadata stand beside its own fields, which go first."""
    own = {"id": document.id, "score": document.score, "source": document.source, "title": document.title}
    return own | {name: value for name, value in document.metadata.items() if name not in own}


def json_line(record: dict[str, Any]) -> bytes:
    """A record as one line of JSON."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:  # half a character, which JSON has no form for
        return msgspec.json.encode(storable_value(msgspec.to_builtins(record))) + b"\n"


def write_atomically(place: Path, content: bytes) -> None:
    """Write a file, whole or not at all, and onto the disk.

    Raises:
        OSError: it cannot be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{place.stem}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o640)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)


def remove_forgotten(folder: Path) -> None:
    """Remove temporary files that killed processes left behind; one that cannot be removed stays."""
    for temporary in folder.glob(".*.tmp"):
        try:
            if time.time() - temporary.stat().st_mtime > FORGOTTEN:
                temporary.unlink(missing_ok=True)
        except OSError:
            continue
