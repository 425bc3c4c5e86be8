"""The files beside the ledger: their fields, many writers, killed writers, rotation, full disks."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from areopage.cases.records import Document
from areopage.gate.records import Decision, Metrics
from areopage.ledger.records import Trace
from areopage.rag.config import TracesSection
from areopage.rag.logs.append_file import AppendFile, rotated
from areopage.rag.logs.traces import TraceFiles
from servers import PATIENCE
from servers.made_traces import made_trace

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
WRITER = """
import sys
from pathlib import Path
from areopage.rag.logs.append_file import AppendFile
folder, name, lines = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
file = AppendFile(folder / "logs" / "metrics.jsonl", 20_000, 10_000)
acknowledged = open(folder / f"{name}.acknowledged", "ab", buffering=0)
for number in range(lines):
    file.append(b'{"line":"%s-%d","fill":"%s"}\\n' % (name.encode(), number, b"x" * (number % 700)))
    acknowledged.write(b"%s-%d\\n" % (name.encode(), number))
"""


def section(**fields: Any) -> TracesSection:
    return TracesSection(enabled=True, **fields)


def trace(**fields: Any) -> Trace:
    metrics = {
        "avg_score": 0.55,
        "confidence": 0.44,
        "cites_ok": False,
        "overlap_ratio": 0.0,
        "hallucination": True,
        "quality_pass": False,
        "escalate": True,
        "num_sources": 1,
    }
    known: dict[str, Any] = {
        "id": "0" * 31 + "a",
        "at": NOW,
        "channel": "chat",
        "collection": "faq",
        "prompt": "Quel délai ?",
        "response": "Dix jours [d1]. " * 100,
        "delivered": "Une personne va relire.",
        "documents": (Document(id="d1", text="Dix jours.", title="Délais", score=0.55, source="site", metadata={"lang": "fr"}),),
        "verdict": "human_review",
        "mode": "human_review",
        "decision": Decision(
            verdict="human_review",
            needs_judge=False,
            p_unsupported=0.75,
            metrics=Metrics(**metrics),  # type: ignore[arg-type]
            sentences=(),
            signals=(),
            reasons=(),
            cited_ids=("d1",),
            unknown_ids=("d9",),
            profile="default",
            version="v",
        ),
        "metrics": metrics,
        "p_unsupported": 0.75,
        "language": "fr",
        "model": "fake:m",
        "profile": "default",
        "version": "v",
    }
    return made_trace(**known | fields)


def lines_of(path: Path) -> list[dict[str, Any]]:
    content = path.read_bytes()
    assert content.endswith(b"\n")
    return [json.loads(line) for line in content.splitlines()]


def test_each_file_has_the_documented_fields_first(tmp_path: Path) -> None:
    traces = TraceFiles(section(), tmp_path)
    assert traces.append_metrics(trace())
    assert traces.append_response(trace())
    assert traces.write_snapshot(trace())
    [metrics] = lines_of(tmp_path / "logs/metrics.jsonl")
    documented = ["timestamp", "question", "avg_score", "confidence", "cites_ok", "overlap_ratio"]
    assert list(metrics)[:10] == [*documented, "hallucination", "quality_pass", "escalate", "num_sources"]
    assert metrics["timestamp"] == "2026-03-01T12:00:00.123456+00:00"
    assert (metrics["id"], metrics["verdict"], metrics["p_unsupported"]) == (trace().id, "human_review", 0.75)
    [response] = lines_of(tmp_path / "logs/llm_responses.jsonl")
    fields = ["timestamp", "question", "response_lang", "detected_ids", "generation_trunc", "num_sources"]
    assert list(response)[:6] == fields
    assert (len(response["generation_trunc"]), response["detected_ids"], response["unknown_ids"]) == (1000, ["d1"], ["d9"])
    [snapshot] = lines_of(tmp_path / f"snapshots/for_review/{trace().id}.json")
    assert list(snapshot)[:7] == ["id", "timestamp", "question", "documents", "sources", "generation", "metrics"]
    assert snapshot["metrics"] == metrics
    assert snapshot["documents"] == ["Dix jours."]
    assert snapshot["sources"] == [{"id": "d1", "score": 0.55, "source": "site", "title": "Délais", "lang": "fr"}]
    assert snapshot["generation"] == trace().response


def test_nothing_is_written_unless_wanted(tmp_path: Path) -> None:
    traces = TraceFiles(TracesSection(), tmp_path)
    assert not traces.append_metrics(trace())
    assert not traces.write_snapshot(trace())
    assert list(tmp_path.iterdir()) == []
    assert traces.failed == 0


def test_a_figure_that_is_not_known_is_left_out(tmp_path: Path) -> None:
    TraceFiles(section(), tmp_path).append_metrics(trace(metrics={"avg_score": 0.5, "overlap_ratio": None}))
    [metrics] = lines_of(tmp_path / "logs/metrics.jsonl")
    assert "overlap_ratio" not in metrics
    assert metrics["avg_score"] == 0.5


def test_line_feeds_and_half_characters_do_not_break_lines(tmp_path: Path) -> None:
    traces = TraceFiles(section(), tmp_path)
    for text in ("a\nb\r\u2028c", "a\ud800b", "\x00"):
        traces.append_metrics(trace(prompt=text))
        traces.write_snapshot(trace(prompt=text))
    assert len((tmp_path / "logs/metrics.jsonl").read_bytes().split(b"\n")) == 4
    lines_of(tmp_path / f"snapshots/for_review/{trace().id}.json")


@pytest.mark.parametrize("id", ["../../etc/passwd", "a" * 31, "A" * 32, "", "0" * 32 + "\n"])
def test_an_id_that_is_no_id_never_becomes_a_path(tmp_path: Path, id: str) -> None:
    said: list[str] = []
    traces = TraceFiles(section(), tmp_path / "out", warn=said.append)
    assert not traces.write_snapshot(trace(id=id))
    assert "not 32 hexadecimal digits" in said[0]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_line_that_was_cut_is_cut_off_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":' + b"2" * 200_000)
    file = AppendFile(path, 10_000_000, 1)
    file.append(b'{"c":3}\n')
    assert path.read_bytes() == b'{"a":1}\n{"c":3}\n'
    assert file.cut == 1
    path.write_bytes(b'{"only')
    file.append(b"{}\n")
    assert path.read_bytes() == b"{}\n"


def test_rotation_keeps_the_newest_files_in_their_order(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "m.jsonl", 30, 3)
    (tmp_path / "m.note.jsonl").write_text("somebody's own", encoding="utf-8")
    for number in range(20):
        file.append(b'{"number":%d}\n' % number)
    assert [number for number, _ in rotated(file.path)] == [7, 8, 9]
    kept = b"".join(path.read_bytes() for _, path in rotated(file.path)) + file.path.read_bytes()
    assert [json.loads(line)["number"] for line in kept.splitlines()] == list(range(12, 20))
    assert (tmp_path / "m.note.jsonl").exists()


def test_a_line_longer_than_a_file_may_be_has_its_own(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "m.jsonl", 30, 9)
    for line in (b"{}\n", b'"' + b"x" * 100 + b'"\n', b"{}\n"):
        file.append(line)
    assert [path.stat().st_size for _, path in rotated(file.path)] == [3, 103]
    assert file.path.read_bytes() == b"{}\n"


def test_none_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "m.jsonl", 10, 0)
    for _ in range(5):
        file.append(b'{"a":1}\n')
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".jsonl"] == ["m.jsonl"]


def test_what_cannot_be_written_is_told_once_and_counted_and_holds_nothing_up(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "logs").write_text("a file where a folder should be", encoding="utf-8")
    traces = TraceFiles(section(), tmp_path, warn=said.append)
    assert [traces.append_metrics(trace()) for _ in range(3)] == [False, False, False]
    assert traces.failed == 3
    assert len(said) == 1
    assert "metrics.jsonl cannot be written" in said[0]
    assert "the ledger has them all" in said[0]
    (tmp_path / "logs").unlink()
    assert traces.append_metrics(trace())
    assert said[1:] == [
        f"traces: {tmp_path}/logs/metrics.jsonl is written again; 3 traces are missing in it, the ledger has them"
    ]


def test_a_write_that_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that fills up in the middle of a line."""
    script = f"""
import resource, signal
from pathlib import Path
from areopage.rag.logs.append_file import AppendFile
from areopage.rag.logs.traces import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
folder = Path({str(tmp_path)!r})
file = AppendFile(folder / "m.jsonl", 100_000, 1)
file.append(b'"' + b"a" * 900 + b'"\\n')
for act in (lambda: file.append(b'"' + b"b" * 900 + b'"\\n'), lambda: write_atomically(folder / "s.json", b"x" * 5000)):
    try:
        act()
    except OSError:
        print("refused")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\nrefused\n"
    assert (tmp_path / "m.jsonl").read_bytes() == b'"' + b"a" * 900 + b'"\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.jsonl", "m.jsonl.lock"]


def test_what_killed_writers_of_snapshots_left_is_tidied_up(tmp_path: Path) -> None:
    folder = tmp_path / "snapshots/for_review"
    folder.mkdir(parents=True)
    for name, age in ((".old.1.tmp", 7200), (".new.1.tmp", 0)):
        (folder / name).write_text("{", encoding="utf-8")
        os.utime(folder / name, (time.time() - age, time.time() - age))
    TraceFiles(section(), tmp_path)
    assert [path.name for path in folder.iterdir()] == [".new.1.tmp"]


def test_eight_processes_of_which_some_are_killed_lose_no_line_and_break_none(tmp_path: Path) -> None:
    """Every line of every file is JSON; every acknowledged one is there exactly once; rotation goes on all the while."""
    draw = random.Random(11)
    running = {str(number): start(tmp_path, str(number)) for number in range(8)}
    end = time.monotonic() + PATIENCE
    for number in range(6):  # killed while they write, each followed by another one
        while time.monotonic() < end and not (tmp_path / f"{number}.acknowledged").exists():
            time.sleep(0.01)
        time.sleep(draw.random() / 10)
        running[str(number)].send_signal(signal.SIGKILL)
        running[str(number)].wait()
    for process in running.values():
        process.wait()
    start(tmp_path, "last", 1).wait()  # cuts off what the last one that was killed may have left
    logs = tmp_path / "logs"
    found: Counter[str] = Counter()
    files = [logs / "metrics.jsonl", *(path for _, path in rotated(logs / "metrics.jsonl"))]
    for path in files:
        assert path.stat().st_size <= 20_000
        found.update(line["line"] for line in lines_of(path))
    acknowledged = {
        name
        for path in tmp_path.glob("*.acknowledged")
        for name in re.findall(r"^(.+)\n", path.read_text(encoding="utf-8"), re.M)
    }
    assert len(files) > 3
    assert {"6-299", "7-299", "last-0"} <= acknowledged
    assert acknowledged <= found.keys()
    assert set(found.values()) == {1}
    assert len(found) - len(acknowledged) <= 6  # on disk, and killed before they could say so


def start(folder: Path, name: str, lines: int = 300) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), name, str(lines)])
