"""How many lines a second several processes append to one file of traces, each on the disk before it counts. One JSON line.

    python benchmarks/gate_traces.py                       # 1 and 8 processes, 2,000 lines each, of 600 bytes
    python benchmarks/gate_traces.py --folder /var/tmp     # on another disk: what counts is how quick its fsync is

Also: the time that one answer's two lines and its snapshot take, with nobody else writing.
"""

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from areopage.cases.records import Case, Document
from areopage.ledger.records import Answer, Trace
from areopage.rag.config import TracesSection
from areopage.rag.logs.append_file import AppendFile, rotated
from areopage.rag.logs.traces import TraceFiles

LINE = b'{"fill":"%s"}\n' % (b"x" * 587)


def append(folder: str, lines: int) -> None:
    """Append lines as one process."""
    file = AppendFile(Path(folder) / "lines.jsonl", 1_000_000, 10_000)
    for _ in range(lines):
        file.append(LINE)


def lines_a_second(folder: Path, processes: int, lines: int) -> int:
    """What so many processes append to one file, rotated at 1 MB; none is lost."""
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=append, args=(str(folder), lines)) for _ in range(processes)]
    begun = time.perf_counter()
    for process in running:
        process.start()
    for process in running:
        process.join()
    taken = time.perf_counter() - begun
    path = folder / "lines.jsonl"
    there = sum(one.read_bytes().count(b"\n") for one in [path, *(old for _, old in rotated(path))])
    if there != processes * lines:
        raise SystemExit(f"{there} lines instead of {processes * lines}")
    return round(there / taken)


def answer_ms(folder: Path, times: int) -> float:
    """The median time of what is written for one answer that does not pass."""
    traces = TraceFiles(TracesSection(enabled=True), folder)
    text = "Le délai de rétractation est de dix jours. " * 20
    taken = []
    for number in range(times):
        id, now = f"{number:032x}", datetime.now(UTC)
        documents = tuple(Document(id=f"d{at}", text=text, score=0.7) for at in range(5))
        case = Case(id=id, prompt="Quel délai ?", response=text, documents=documents)
        trace = Trace(
            answer=Answer(id=id, origin="gate", case=case, received_at=now, answered_at=now),
            channel="chat",
            verdict="human_review",
            mode="human_review",
            decision=None,
            metrics={"avg_score": 0.7, "confidence": 0.56, "quality_pass": False},
        )
        begun = time.perf_counter()
        traces.append_metrics(trace)
        traces.append_response(trace)
        traces.write_snapshot(trace)
        taken.append(1000 * (time.perf_counter() - begun))
    return round(statistics.median(taken), 3)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    figures: dict[str, float | int | str] = {"benchmark": "gate_traces", "lines_each": options.lines}
    for processes in (1, 8):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            figures[f"lines_a_second_{processes}"] = lines_a_second(Path(folder), processes, options.lines)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures["answer_ms"] = answer_ms(Path(folder), 200)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
