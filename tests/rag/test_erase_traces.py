"""Erasing answers from the files beside the ledger, while others write them."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from areopage.errors import StorageError
from areopage.ledger.records import Trace
from areopage.rag.config import TracesSection
from areopage.rag.logs.append_file import rotated
from areopage.rag.logs.erase_traces import ErasedTraces, erase_traces, erase_traces_before
from areopage.rag.logs.traces import METRICS, RESPONSES, TraceFiles
from servers.made_traces import NOW, held_trace, trace_id

WORD = "Xylophage"
WRITER = """
import sys
from pathlib import Path
from areopage.rag.logs.append_file import AppendFile
folder, name = Path(sys.argv[1]), sys.argv[2]
file = AppendFile(folder / "logs" / "metrics.jsonl", 20_000, 10_000)
for number in range(300):
    file.append(b'{"id":"%032x","question":"%s-%d"}\\n' % (number % 10, name.encode(), number))
"""
ERASER = """
import sys
from pathlib import Path
from areopage.rag.logs.erase_traces import erase_traces
while True:
    for number in range(5):
        erase_traces(Path(sys.argv[1]), {f"{number:032x}"})
        print("x", flush=True)
"""


def written(folder: Path, *given: Trace, **section: Any) -> None:
    traces = TraceFiles(TracesSection(enabled=True, **section), folder)
    for one in given:
        assert traces.append_metrics(one)
        assert traces.append_response(one)
        assert traces.write_snapshot(one)


def secret(number: int = 1, **fields: Any) -> Trace:
    return held_trace(number, prompt=WORD, response=f"{WORD} [d1]", **fields)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def holding(folder: Path, word: str) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes())


def test_lines_keep_their_figures_and_lose_their_texts_and_the_snapshot_goes(tmp_path: Path) -> None:
    written(tmp_path, secret(1), held_trace(2))
    before = [lines_of(tmp_path / log) for log in (METRICS, RESPONSES)]
    (tmp_path / METRICS).chmod(0o660)
    assert erase_traces(tmp_path, {trace_id(1)}) == ErasedTraces(lines=2, snapshots=1)
    assert holding(tmp_path, WORD) == []
    assert [path.stem for path in (tmp_path / "snapshots/for_review").iterdir()] == [trace_id(2)]
    metrics, responses = (lines_of(tmp_path / log) for log in (METRICS, RESPONSES))
    assert metrics == [before[0][0] | {"question": ""}, before[0][1]]
    emptied = {"question": "", "generation_trunc": "", "detected_ids": [], "unknown_ids": []}
    assert responses == [before[1][0] | emptied, before[1][1]]
    assert stat.S_IMODE((tmp_path / METRICS).stat().st_mode) == 0o660
    assert holding(tmp_path / "logs", "erasing") == [] == list((tmp_path / "logs").glob(".*"))
    written(tmp_path, held_trace(3))  # whoever writes goes on
    assert [one["id"] for one in lines_of(tmp_path / METRICS)] == [trace_id(number) for number in (1, 2, 3)]


def test_files_that_were_put_aside_are_rewritten_too(tmp_path: Path) -> None:
    written(tmp_path, *(secret(number % 3) for number in range(60)), max_bytes=10_000)
    logs = [path for log in (METRICS, RESPONSES) for _, path in rotated(tmp_path / log)]
    assert len(logs) > 2
    assert erase_traces(tmp_path, {trace_id(1), trace_id(2)}) == ErasedTraces(lines=80, snapshots=2)
    assert erase_traces(tmp_path, {trace_id(0)}) == ErasedTraces(lines=40, snapshots=1)
    assert holding(tmp_path, WORD) == []


def test_an_id_that_only_stands_in_a_text_is_none(tmp_path: Path) -> None:
    written(tmp_path, held_trace(2, prompt=f'"{trace_id(1)}"'))
    before = (tmp_path / METRICS).read_bytes() + b'no JSON "' + trace_id(1).encode() + b'"\n'
    (tmp_path / METRICS).write_bytes(before)
    assert erase_traces(tmp_path, {trace_id(1), "../../etc/passwd"}) == ErasedTraces()
    assert (tmp_path / METRICS).read_bytes() == before


def test_by_age_older_ones_go_and_other_systems_lines_stay(tmp_path: Path) -> None:
    today = datetime.now(UTC)
    foreign = b'{"timestamp":"2020-01-01T00:00:00","question":"theirs","quality_pass":true}\n'
    written(tmp_path, secret(1, at=today - timedelta(days=40)), held_trace(2, at=today))
    (tmp_path / METRICS).write_bytes((tmp_path / METRICS).read_bytes() + foreign)
    assert erase_traces_before(tmp_path, today - timedelta(days=30)) == ErasedTraces(lines=2, snapshots=1)
    assert erase_traces_before(tmp_path, today - timedelta(days=30)) == ErasedTraces()
    assert holding(tmp_path, WORD) == []
    assert foreign in (tmp_path / METRICS).read_bytes()
    assert (tmp_path / f"snapshots/for_review/{trace_id(2)}.json").is_file()


def test_where_nothing_was_written_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert erase_traces(tmp_path, {trace_id(1)}) == ErasedTraces() == erase_traces_before(tmp_path / "none", NOW)
    assert list(tmp_path.rglob("*")) == [tmp_path / "logs"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="whoever may do everything is refused nothing")
def test_a_file_that_cannot_be_rewritten_is_named(tmp_path: Path) -> None:
    written(tmp_path, secret())
    logs = tmp_path / "logs"
    logs.chmod(0o500)
    try:
        with pytest.raises(StorageError, match=r"metrics\.jsonl.* may still hold what is to be erased .*: mend that"):
            erase_traces(tmp_path, {trace_id(1)})
    finally:
        logs.chmod(0o700)


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    written(tmp_path, secret())
    (tmp_path / "logs/.metrics.jsonl.erasing").mkdir()
    with pytest.raises(StorageError, match=r"erasing may still hold what is to be erased"):
        erase_traces(tmp_path, {trace_id(1)})
    assert WORD in (tmp_path / METRICS).read_text(encoding="utf-8")


def test_writers_lose_no_line_while_answers_are_erased_and_erasers_killed(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(name)]) for name in range(3)]
    while any(one.poll() is None for one in writers):
        eraser = subprocess.Popen([sys.executable, "-c", ERASER, str(tmp_path)], stdout=subprocess.PIPE)
        assert eraser.stdout is not None
        eraser.stdout.readline()
        time.sleep(0.05)
        eraser.send_signal(signal.SIGKILL)
        eraser.wait()
        eraser.stdout.close()
    erase_traces(tmp_path, {f"{number:032x}" for number in range(5)})
    path = tmp_path / METRICS
    lines = [line for one in (*(aside for _, aside in rotated(path)), path) for line in lines_of(one)]
    assert len(lines) == 900
    kept = sorted(line["question"] for line in lines if line["question"])
    assert kept == sorted(f"{name}-{number}" for name in range(3) for number in range(300) if number % 10 >= 5)
    assert all(int(line["id"], 16) >= 5 for line in lines if line["question"])
    assert list(path.parent.glob(".*")) == []
