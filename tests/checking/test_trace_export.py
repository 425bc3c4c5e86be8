"""The export of traces: the specified fields, erased texts, rotation, damaged files, killed exports."""

import json
import os
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

from areopage.cases.records import Document
from areopage.checking import exported_traces
from areopage.checking.config import TracesSection
from areopage.checking.exported_traces import Exported, TraceExport
from areopage.checking.imported_logs import import_logs
from areopage.checking.log_lines import METRICS, RESPONSES, SNAPSHOTS, MetricsLine, ResponseLine, Snapshot
from areopage.errors import StorageError
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Release, Trace
from areopage.ledger.write.storage import reduced_trace
from areopage.ledger.write.traces import TraceFeed, Traces
from servers import PATIENCE
from servers.forked import Forked
from servers.made_traces import FIGURES, NOW, delivered_trace, held_decision, held_trace, trace_id
from servers.new_ledger import ledger_at

WORD = "Xylophage"
WORKER = """
import sys
import time
from pathlib import Path
from areopage.ledger.store import Ledger
from areopage.checking.config import TracesSection
from areopage.checking.exported_traces import TraceExport
ledger, folder = Ledger.open(Path(sys.argv[1])), Path(sys.argv[2])
export = TraceExport(ledger, TracesSection(enabled=True, max_bytes=10_000, keep=1000), folder)
print("ready", flush=True)
while True:
    export.run()
    time.sleep(0.01)
"""

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="dies in a forked process")


def section(**fields: Any) -> TracesSection:
    """Where it is smaller than a configuration allows, unchecked."""
    known: dict[str, Any] = {"enabled": True, "folder": "", "max_bytes": 50_000_000, "keep": 10}
    return TracesSection.model_construct(**known | fields)


def exported(ledger: Ledger, folder: Path, *given: Trace, **fields: Any) -> Exported:
    Traces(ledger).append(given)
    return TraceExport(ledger, section(**fields), folder).run()


def files_of(path: Path) -> list[Path]:
    """The rotated files, the oldest first, and the log itself."""
    return [*sorted(path.parent.glob(f"{path.stem}.0*{path.suffix}")), *([path] if path.exists() else [])]


def lines_of(path: Path) -> list[dict[str, Any]]:
    content = b"".join(one.read_bytes() for one in files_of(path))
    assert content.endswith(b"\n")
    return [json.loads(line) for line in content.split(b"\n")[:-1]]


def snapshots_of(folder: Path) -> dict[str, Any]:
    return {path.name: json.loads(path.read_bytes()) for path in (folder / SNAPSHOTS).iterdir()}


def holding(folder: Path, word: str) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes())


def plain(record: object) -> Any:
    return json.loads(msgspec.json.encode(record))


def assert_complete(ledger: Ledger, folder: Path) -> None:
    """The files hold what the ledger has, in its order, each once; nothing else lies about."""
    traces = [one for one in Traces(ledger).each(TraceFilter(channels=("chat",))) if one.mode != "cached"]
    assert lines_of(folder / METRICS) == [plain(MetricsLine.of(one)) for one in traces]
    assert lines_of(folder / RESPONSES) == [plain(ResponseLine.of(one)) for one in traces if one.answer.model]
    kept = [one for one in traces if one.verdict != "deliver" and one.response]
    assert snapshots_of(folder) == {f"{one.id}.json": plain(Snapshot.of(one)) for one in kept}
    assert {path.name for path in (folder / "logs").glob(".*")} == {".traces.json", ".traces.lock"}


def secret(number: int = 1, **fields: Any) -> Trace:
    return held_trace(number, **{"prompt": WORD, "response": f"{WORD} [d1]", "model": "m", "mode": "shadow"} | fields)


def mixed(first: int, last: int) -> list[Trace]:
    """Delivered, held, without a response, cached."""
    found = []
    for number in range(first, last):
        fields: dict[str, Any] = {"prompt": f"« Question {number} » — l’œuvre ?", "model": "m"}
        if number % 4 == 0:
            fields = {"verdict": "fallback", "mode": "fallback", "response": "", "documents": ()}
        elif number % 4 == 3:
            fields |= {"mode": "cached"}
        found.append((held_trace if number % 4 == 1 else delivered_trace)(number, **fields))
    return found


# --- the specified formats


def test_each_file_has_the_documented_fields_first(ledger: Ledger, tmp_path: Path) -> None:
    decision = msgspec.structs.replace(held_decision(), cited_ids=("d1",), unknown_ids=("d9",))
    document = Document(id="d1", text="Dix jours.", title="Délais", score=0.55, source="site", metadata={"lang": "fr"})
    given = held_trace(10, response="Dix jours [d1]. " * 100, decision=decision, documents=(document,), model="fake:m")
    exported(ledger, tmp_path, given)
    [metrics] = lines_of(tmp_path / METRICS)
    documented = ["timestamp", "question", "avg_score", "confidence", "cites_ok", "overlap_ratio"]
    assert list(metrics)[:10] == [*documented, "hallucination", "quality_pass", "escalate", "num_sources"]
    own = ["id", "verdict", "mode", "p_unsupported", "response_lang", "collection", "sources_filter", "profile", "version"]
    assert list(metrics)[10:] == own
    assert metrics["timestamp"] == "2026-03-01T12:10:00.123456+00:00"
    assert {name: metrics[name] for name in FIGURES} == FIGURES
    assert (metrics["id"], metrics["verdict"], metrics["p_unsupported"]) == (given.id, "human_review", 0.9)
    [response] = lines_of(tmp_path / RESPONSES)
    fields = ["timestamp", "question", "response_lang", "detected_ids", "generation_trunc", "num_sources"]
    assert list(response) == [*fields, "id", "model", "unknown_ids"]
    assert (len(response["generation_trunc"]), response["detected_ids"], response["unknown_ids"]) == (1000, ["d1"], ["d9"])
    snapshot = snapshots_of(tmp_path)[f"{given.id}.json"]
    assert list(snapshot) == ["id", "timestamp", "question", "documents", "sources", "generation", "metrics", "decision"]
    assert snapshot["metrics"] == metrics
    assert snapshot["documents"] == ["Dix jours."]
    assert snapshot["sources"] == [{"id": "d1", "score": 0.55, "source": "site", "title": "Délais", "lang": "fr"}]
    assert snapshot["generation"] == given.response
    assert snapshot["decision"] == plain(decision)


def test_nothing_is_written_unless_wanted(ledger: Ledger, tmp_path: Path) -> None:
    assert exported(ledger, tmp_path / "out", secret(), enabled=False) == Exported()
    assert not (tmp_path / "out").exists()


def test_a_figure_that_is_not_known_is_null(ledger: Ledger, tmp_path: Path) -> None:
    trace = held_trace(metrics={"overlap_ratio": 0.5, "avg_score": None})
    exported(ledger, tmp_path, trace)
    [metrics] = lines_of(tmp_path / METRICS)
    assert {name: metrics[name] for name in FIGURES} == dict.fromkeys(FIGURES) | {"overlap_ratio": 0.5}
    assert snapshots_of(tmp_path)[f"{trace.id}.json"]["metrics"] == metrics


def test_line_feeds_half_characters_and_french_typography_do_not_break_lines(ledger: Ledger, tmp_path: Path) -> None:
    texts = ["a\nb\r\u2028c", "a\ud800b", "\x00", "« L’œuvre\u00a0: 1\u202f350\u00a0€ »\u00a0?", "{question} %s \\n 😀"]
    exported(ledger, tmp_path, *(secret(number, prompt=text, response=text) for number, text in enumerate(texts)))
    assert len((tmp_path / METRICS).read_bytes().split(b"\n")) == len(texts) + 1
    assert [line["question"] for line in lines_of(tmp_path / METRICS)][3:] == texts[3:]
    assert snapshots_of(tmp_path)[f"{trace_id(3)}.json"]["generation"] == texts[3]
    assert_complete(ledger, tmp_path)


def test_a_huge_answer_is_whole_in_its_snapshot(ledger: Ledger, tmp_path: Path) -> None:
    huge = "é" * 3_000_000
    exported(ledger, tmp_path, secret(1, response=huge), max_bytes=1000)
    assert len(lines_of(tmp_path / RESPONSES)[0]["generation_trunc"]) == 1000
    assert snapshots_of(tmp_path)[f"{trace_id(1)}.json"]["generation"] == huge


def test_only_the_pipelines_own_answers_have_lines_and_no_cached_ones(ledger: Ledger, tmp_path: Path) -> None:
    others = [secret(1, mode="cached"), secret(2, channel="check"), secret(3, channel="import")]
    done = exported(ledger, tmp_path, *others, secret(4))
    assert done == Exported(lines=2, snapshots=1)
    assert [line["id"] for line in lines_of(tmp_path / METRICS)] == [trace_id(4)]


@pytest.mark.parametrize("id", ["../../etc/passwd", "a" * 31, "A" * 32, "0" * 32 + "\n"])
def test_an_id_that_is_no_id_never_becomes_a_path(ledger: Ledger, tmp_path: Path, id: str) -> None:
    done = exported(ledger, tmp_path / "a/b/out", secret(id=id))
    assert (done.lines, done.snapshots) == (2, 0)
    files = [path.name for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert sorted(files) == [".traces.json", ".traces.lock", "llm_responses.jsonl", "metrics.jsonl"]
    ledger.erasure.erase([id])
    assert exported(ledger, tmp_path / "a/b/out") == Exported(rewritten=2)


def test_what_is_exported_and_imported_elsewhere_is_the_same(ledger: Ledger, tmp_path: Path) -> None:
    given = [*mixed(1, 9), secret(20, sources_filter=("a", "b")), secret(21, response="« é » " * 300)]
    exported(ledger, tmp_path / "out", *given)
    other = ledger_at(tmp_path / "other.db")
    found = import_logs(other, [tmp_path / "out"], zone=UTC, reject=lambda row: pytest.fail(str(row)))
    logged = [one for one in Traces(ledger).each(TraceFilter()) if one.mode != "cached"]
    assert (found.added, found.rejected, found.contradictions) == (len(logged), 0, {})
    for one, back in zip(logged, Traces(other).each(TraceFilter()), strict=True):
        held = one.verdict != "deliver" and bool(one.response)
        assert msgspec.structs.asdict(back) == msgspec.structs.asdict(one) | {
            "answer": back.answer,
            "channel": "import",
            "decision": one.decision if held else None,
            "gate_seconds": None,
        }
        assert (back.id, back.at, back.prompt, back.answer.model) == (one.id, one.at, one.prompt, one.answer.model)
        assert back.response == (one.response if held else one.response[:1000])
        assert back.documents == (one.documents if held else ())
    exported(other, tmp_path / "again")
    assert not (tmp_path / "again" / METRICS).exists(), "imported answers are not exported again"
    other.close()


# --- following the ledger


def test_each_export_appends_what_the_files_lack(ledger: Ledger, tmp_path: Path) -> None:
    for first in range(1, 31, 5):
        exported(ledger, tmp_path, *mixed(first, first + 5))
    assert exported(ledger, tmp_path) == Exported()
    assert_complete(ledger, tmp_path)


def test_answers_without_lines_are_not_read_at_each_export(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(ledger, tmp_path, secret(1), *(secret(number, mode="cached") for number in range(2, 20)))
    read: list[tuple[int, int]] = []

    def noted(_: TraceFeed, after: int, until: int) -> Iterator[list[Trace]]:
        read.append((after, until))
        return iter(())

    monkeypatch.setattr(TraceFeed, "traces", noted)
    exported(ledger, tmp_path)
    (tmp_path / RESPONSES).unlink()
    exported(ledger, tmp_path)
    assert read == [(19, 19), (0, 19)]


def test_files_that_were_removed_are_written_again(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, *mixed(1, 10))
    for name in (METRICS, RESPONSES, "logs/.traces.json"):
        (tmp_path / name).unlink()
        exported(ledger, tmp_path)
        assert_complete(ledger, tmp_path)
    shutil.rmtree(tmp_path / "logs")
    shutil.rmtree(tmp_path / "snapshots")
    exported(ledger, tmp_path, *mixed(10, 15))
    assert_complete(ledger, tmp_path)


def test_a_line_that_was_cut_is_written_again_and_the_others_stay(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, *mixed(1, 10))
    for name in (METRICS, RESPONSES):
        content = (tmp_path / name).read_bytes()
        for size in (1, 2, 150, len(content) - 1, len(content)):
            (tmp_path / name).write_bytes(content[:-size])
            exported(ledger, tmp_path)
            assert (tmp_path / name).read_bytes() == content
        (tmp_path / name).write_bytes(content + b'{"half":' + b"2" * 200_000)
        exported(ledger, tmp_path)
        assert (tmp_path / name).read_bytes() == content


def test_garbled_lines_and_lines_of_others_stay_and_hide_nothing(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, *mixed(1, 10))
    metrics = tmp_path / METRICS
    *lines, last, _ = metrics.read_bytes().split(b"\n")
    others = [b"\xff\x00" + last[2:], b"[" * 5000, b'{"id":7}', b'{"id":"' + b"f" * 32 + b'"}', b"", b'{"question":"?"}']
    metrics.write_bytes(b"\n".join([*lines, *others, b""]))
    exported(ledger, tmp_path)
    assert metrics.read_bytes() == b"\n".join([*lines, *others, last, b""])
    ledger.erasure.erase([trace_id(1)])
    assert exported(ledger, tmp_path).rewritten == 2
    assert metrics.read_bytes().split(b"\n")[1:] == [*lines[1:], *others, last, b""]


def test_a_log_of_another_system_gets_our_lines_behind_its_own(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / METRICS).write_bytes(b'{"question":"?","quality_pass":true}\n' * 2000)
    exported(ledger, tmp_path, secret(1))
    exported(ledger, tmp_path, secret(2))
    assert [line.get("id") for line in lines_of(tmp_path / METRICS)][1999:] == [None, trace_id(1), trace_id(2)]


def test_rotation_keeps_the_newest_files_in_their_order(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/metrics.note.jsonl").write_text("somebody's own", encoding="utf-8")
    for number in range(20):
        exported(ledger, tmp_path, secret(number), max_bytes=1000, keep=3)
    files = files_of(tmp_path / METRICS)
    assert len(files) == 4
    assert all(path.stat().st_size <= 1000 for path in files)
    kept = [line["id"] for line in lines_of(tmp_path / METRICS)]
    assert kept == [trace_id(number) for number in range(20 - len(kept), 20)]
    assert (tmp_path / "logs/metrics.note.jsonl").exists()


def test_a_line_longer_than_a_file_may_be_has_its_own(ledger: Ledger, tmp_path: Path) -> None:
    for number, prompt in enumerate(("?", "x" * 2000, "?")):
        exported(ledger, tmp_path, secret(number, prompt=prompt), max_bytes=1000)
    assert [len(path.read_bytes().splitlines()) for path in files_of(tmp_path / METRICS)] == [1, 1, 1]


def test_none_is_kept_where_none_is_wanted(ledger: Ledger, tmp_path: Path) -> None:
    for number in range(5):
        exported(ledger, tmp_path, secret(number), max_bytes=10, keep=0)
    assert [line["id"] for line in lines_of(tmp_path / METRICS)] == [trace_id(4)]
    assert exported(ledger, tmp_path, max_bytes=10, keep=0) == Exported()


# --- erasing


def test_lines_keep_their_figures_and_lose_their_texts_and_the_snapshot_goes(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, secret(1), secret(2, prompt="?", response="r"))
    before = [lines_of(tmp_path / log) for log in (METRICS, RESPONSES)]
    (tmp_path / METRICS).chmod(0o660)
    ledger.erasure.erase([trace_id(1)])
    assert exported(ledger, tmp_path) == Exported(rewritten=2, removed=1)
    assert holding(tmp_path / "logs", WORD) == [] == holding(tmp_path / "snapshots", WORD)
    assert list(snapshots_of(tmp_path)) == [f"{trace_id(2)}.json"]
    metrics, responses = (lines_of(tmp_path / log) for log in (METRICS, RESPONSES))
    assert metrics == [before[0][0] | {"question": ""}, before[0][1]]
    emptied = {"question": "", "generation_trunc": "", "detected_ids": [], "unknown_ids": []}
    assert responses == [before[1][0] | emptied, before[1][1]]
    assert stat.S_IMODE((tmp_path / METRICS).stat().st_mode) == 0o660
    exported(ledger, tmp_path, secret(3))
    assert [line["id"] for line in lines_of(tmp_path / METRICS)] == [trace_id(number) for number in (1, 2, 3)]


def test_rotated_files_lose_erased_texts_too(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, *(secret(number, prompt=f"{WORD}{number:02d}") for number in range(40)), max_bytes=1500, keep=99)
    assert len(files_of(tmp_path / METRICS)) > 5
    erased = [1, 2, 20, 39]
    ledger.erasure.erase([trace_id(number) for number in erased])
    assert exported(ledger, tmp_path, max_bytes=1500, keep=99) == Exported(rewritten=8, removed=4)
    assert [line["question"] == "" for line in lines_of(tmp_path / METRICS)] == [number in erased for number in range(40)]


def test_retention_reaches_the_files(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, *(secret(number) for number in range(10)))
    ledger.erasure.erase_before(NOW + timedelta(minutes=5))
    exported(ledger, tmp_path)
    assert [line["question"] for line in lines_of(tmp_path / METRICS)] == [""] * 5 + [WORD] * 5
    assert_complete(ledger, tmp_path)


def test_an_answer_erased_before_its_export_has_lines_without_texts(ledger: Ledger, tmp_path: Path) -> None:
    Traces(ledger).append([secret(1), secret(2)])
    ledger.erasure.erase([trace_id(1)])
    exported(ledger, tmp_path)
    assert [line["question"] for line in lines_of(tmp_path / RESPONSES)] == ["", WORD]
    assert_complete(ledger, tmp_path)


def test_files_lose_erased_texts_though_no_traces_are_wanted_any_more(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, secret(1))
    ledger.erasure.erase([trace_id(1)])
    assert exported(ledger, tmp_path, secret(2), enabled=False) == Exported(rewritten=2, removed=1)
    assert [line["id"] for line in lines_of(tmp_path / METRICS)] == [trace_id(1)]


def test_erased_texts_go_where_the_state_was_lost_or_is_another_ledgers(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, secret(1), secret(2), secret(3))
    for number, state in ((1, b""), (2, b"{"), (3, b'{"ledger":"other","change":1000}')):
        ledger.erasure.erase([trace_id(number)])
        (tmp_path / "logs/.traces.json").write_bytes(state)
        exported(ledger, tmp_path)
        assert_complete(ledger, tmp_path)


def test_a_settled_answer_keeps_in_the_files_what_the_storage_policy_leaves(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, held_trace(1, model="m"), held_trace(2, prompt="autre", model="m"))
    release = Release(answer_id=trace_id(1), state="refused", rater="Anne", at=NOW)
    Traces(ledger).settle(release, lambda one: reduced_trace(one, "redacted", 100))
    assert exported(ledger, tmp_path) == Exported(rewritten=2)
    assert_complete(ledger, tmp_path)
    first, second = (snapshots_of(tmp_path)[f"{trace_id(number)}.json"]["generation"] for number in (1, 2))
    assert "Jean Dupont" not in first
    assert "Jean Dupont" in second


def test_lines_of_another_ledger_stay_as_they_are(ledger: Ledger, tmp_path: Path) -> None:
    other = ledger_at(tmp_path / "other.db")
    exported(other, tmp_path, secret(1))
    exported(ledger, tmp_path, secret(2))
    exported(other, tmp_path, secret(3))
    ledger.erasure.erase([trace_id(2)])
    exported(ledger, tmp_path)
    found = [(line["id"], line["question"]) for line in lines_of(tmp_path / METRICS)]
    assert found == [(trace_id(1), WORD), (trace_id(2), ""), (trace_id(3), WORD)]
    other.close()


# --- what cannot be written


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="whoever may do everything is refused nothing")
def test_a_file_that_cannot_be_rewritten_is_named(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, secret(1))
    ledger.erasure.erase([trace_id(1)])
    logs = tmp_path / "logs"
    logs.chmod(0o500)
    try:
        with pytest.raises(StorageError, match=r"logs.* cannot be written .* erased texts: fix it, and export again"):
            exported(ledger, tmp_path)
    finally:
        logs.chmod(0o700)


def test_a_folder_in_the_way_is_named_and_the_next_export_completes(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, secret(1))
    ledger.erasure.erase([trace_id(1)])
    in_the_way = tmp_path / "logs/.metrics.jsonl.tmp"
    in_the_way.mkdir()
    with pytest.raises(StorageError, match=r"metrics\.jsonl\.tmp cannot be written"):
        exported(ledger, tmp_path)
    assert WORD in (tmp_path / METRICS).read_text(encoding="utf-8")
    in_the_way.rmdir()
    exported(ledger, tmp_path)
    assert_complete(ledger, tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_place_of_a_log_is_not_followed(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "out/logs").mkdir(parents=True)
    (tmp_path / "out" / METRICS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match=r"metrics\.jsonl cannot be written"):
        exported(ledger, tmp_path / "out", secret(1))
    assert not (tmp_path / "elsewhere").exists()


@forks
def test_a_full_disk_leaves_whole_lines_and_the_next_export_completes(ledger: Ledger, tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that fills up in the middle of a line."""
    Traces(ledger).append([secret(number, prompt="é" * 4000) for number in range(30)])
    ledger.secret()  # is made here: the limit holds for the ledger, too

    def filled() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        export = opened_export(tmp_path / "ledger.db", tmp_path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        with pytest.raises(StorageError, match=r"(llm_responses|metrics)\.jsonl cannot be written \(File too large\)"):
            export()

    assert in_child(filled) == 0
    for log in (METRICS, RESPONSES):
        assert all(path.read_bytes()[-1:] in (b"", b"\n") for path in files_of(tmp_path / log))
    exported(ledger, tmp_path)
    assert_complete(ledger, tmp_path)


# --- killed, and several at once


def opened_export(ledger: Path, folder: Path, **fields: Any) -> Callable[[], Exported]:
    """An export on connections of its own."""
    return TraceExport(Ledger.open(ledger), section(**fields), folder).run


def in_child(do: Callable[[], object]) -> int:
    """Do it in a process of its own; returns its exit code, 1 where it failed."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        do()
        os._exit(0)
    except BaseException as fault:  # noqa: BLE001 - a child never returns into the test
        print(repr(fault), file=sys.stderr)
        os._exit(1)


def die_at(number: int) -> None:
    """Make this process die before the n-th opening, write, fsync, renaming or removing of its exports, or within the write."""
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps == number:
            die()

    def die() -> NoReturn:
        os._exit(9)

    def torn(descriptor: int, content: bytes) -> None:
        """A write of which the last bytes are missing."""
        nonlocal steps
        step()
        steps += 1
        if steps == number:
            write_whole(descriptor, content[:-30])
            die()
        write_whole(descriptor, content)

    def around(name: str, owner: Any) -> None:
        act = getattr(owner, name)

        def stepped(*given: Any, **named: Any) -> Any:
            step()
            return act(*given, **named)

        setattr(owner, name, stepped)

    write_whole = exported_traces._write_whole
    exported_traces._write_whole = torn
    around("_flush", exported_traces)
    for name in ("rename", "replace", "unlink", "mkdir"):
        around(name, Path)
    around("open", os)


@forks
def test_an_export_that_dies_between_any_two_steps_is_completed(tmp_path: Path) -> None:
    place, start = tmp_path / "ledger.db", tmp_path / "start"
    ledger = ledger_at(place)
    exported(ledger, start, *mixed(1, 5), max_bytes=1500, keep=99)
    ledger.erasure.erase([trace_id(1)])
    Traces(ledger).append(mixed(5, 8))
    died = 0
    for number in range(1, 1000):
        folder = tmp_path / str(number)
        shutil.copytree(start, folder)

        def dying(folder: Path = folder, number: int = number) -> None:
            export = opened_export(place, folder, max_bytes=1500, keep=99)
            die_at(number)
            export()

        code = in_child(dying)
        died += code == 9
        assert code in (0, 9)
        if number % 5 == 0:  # the one that comes next is killed, too
            in_child(dying)
        exported(ledger, folder, max_bytes=1500, keep=99)
        assert_complete(ledger, folder)
        if code == 0:
            break
    ledger.close()
    assert died > 30


def test_exporters_at_once_of_which_some_are_killed_lose_no_line_and_write_none_twice(ledger: Ledger, tmp_path: Path) -> None:
    """Traces arrive, half of the held ones are erased all the while, and the files rotate."""
    first = 1
    with ExitStack() as stack:
        running = [stack.enter_context(worker_process(tmp_path)) for _ in range(2)]
        for turn in range(3):
            for part in range(6):
                Traces(ledger).append(mixed(first, first + 4))
                if part % 2:
                    ledger.erasure.erase([trace_id(first)], and_wipe=False)
                first += 4
            time.sleep(0.05 * turn)
            running.pop(0).send_signal(signal.SIGKILL)
            running.append(stack.enter_context(worker_process(tmp_path)))
    done = exported(ledger, tmp_path, max_bytes=10_000, keep=1000)
    assert_complete(ledger, tmp_path)
    assert done.lines < len(lines_of(tmp_path / METRICS)), "the others wrote most of them"
    assert len(files_of(tmp_path / METRICS)) > 2


@contextmanager
def worker_process(folder: Path) -> Iterator[Forked]:
    """A process that exports all the time; killed at the end."""
    worker = Forked(WORKER, folder / "ledger.db", folder)
    try:
        assert worker.stdout.readline() == "ready\n"
        yield worker
    finally:
        worker.kill()
        worker.communicate()


def test_exports_in_threads_wait_for_each_other(ledger: Ledger, tmp_path: Path) -> None:
    done: list[Exported] = []
    Traces(ledger).append(mixed(1, 100))
    threads = [threading.Thread(target=lambda: done.append(exported(ledger, tmp_path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(one.lines for one in done)[:3] == [0, 0, 0]
    assert_complete(ledger, tmp_path)


def test_the_log_has_the_number_of_sentences_whose_meaning_was_not_checked(ledger: Ledger, tmp_path: Path) -> None:
    exported(ledger, tmp_path, held_trace(1, meaning_not_checked=2), held_trace(2, meaning_not_checked=0), held_trace(3))
    assert [line.get("meaning_not_checked") for line in lines_of(tmp_path / METRICS)] == [2, 0, None]
