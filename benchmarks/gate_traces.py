"""How fast traces are exported from the ledger to the trace files. One JSON line.

    python benchmarks/gate_traces.py                       # 2,000 answers, half of which did not pass
    python benchmarks/gate_traces.py --folder /var/tmp     # on another disk: what counts is how quick its fsync is

Also: the time of an export that finds nothing new, and of one that rewrites the files after one answer was erased.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from areopage.cases.records import Case, Document
from areopage.checking.config import TracesSection
from areopage.checking.exported_traces import TraceExport
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces

TEXT = "Le délai de rétractation est de dix jours. " * 20


def trace(number: int) -> Trace:
    """An answer; every second one did not pass, and has a snapshot."""
    id, now = f"{number:032x}", datetime.now(UTC)
    documents = tuple(Document(id=f"d{at}", text=TEXT, score=0.7) for at in range(5))
    case = Case(id=id, prompt="Quel délai ?", response=TEXT, documents=documents)
    passed = bool(number % 2)
    return Trace(
        answer=Answer(id=id, origin="gate", case=case, model="m", received_at=now, answered_at=now),
        channel="chat",
        verdict="deliver" if passed else "fallback",
        mode="generated" if passed else "fallback",
        decision=None,
        metrics={"avg_score": 0.7, "confidence": 0.56, "quality_pass": passed},
    )


def seconds_of(act: Callable[[], object]) -> float:
    """How long something takes."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, Ledger.open(Path(folder) / "ledger.db") as ledger:
        Traces(ledger).append([trace(number) for number in range(options.answers)])
        export = TraceExport(ledger, TracesSection(enabled=True), Path(folder))
        taken, idle = seconds_of(export.run), seconds_of(export.run)
        ledger.erasure.erase([f"{options.answers // 2:032x}"])
        rewriting = seconds_of(export.run)
    figures: dict[str, float | str] = {"benchmark": "gate_traces", "answers": options.answers}
    figures |= {"answers_a_second": round(options.answers / taken), "idle_ms": round(1000 * idle, 1)}
    print(
        json.dumps({"benchmark": "gate_traces", "answers": options.answers} | figures | {"erase_ms": round(1000 * rewriting, 1)})
    )


if __name__ == "__main__":
    main()
