"""Runs whose judge is asked through a batch service: their suite, their commands, and a quick pace."""

import time
from collections.abc import Callable
from pathlib import Path

from areopage.bench.execution.batch_creation import BatchPace
from servers import PATIENCE
from servers.batch_kills import KILLED_AT
from servers.command import Command
from servers.forked import Forked
from servers.small_suite import CRITERIA, write_cases, write_suite

CASES, PASSES = 6, 2
CALLS = CASES * len(CRITERIA) * PASSES
PRICE = {"input_per_million": 2.0, "output_per_million": 8.0}
QUICK = BatchPace(first=0.005, longest=0.02, settles=0.01, unfenced=0.05)
_QUICK_COMMAND = """
from areopage.bench.execution import batch_creation
batch_creation.PACE = batch_creation.BatchPace(first=0.02, longest=0.05, settles=0.02, unfenced=0.1)
from areopage.cli.main import main
"""


def suite_of(folder: Path, model: str) -> Path:
    """A suite whose only judge is a model, with answered cases."""
    judges = {"alpha": {"model": model, "price": PRICE}}
    evaluation = {"n_passes": PASSES, "hyperparameters": {"pass_1": {"temperature": 0.1}, "pass_2": {"temperature": 0.2}}}
    written = write_suite(folder / "suite", judge_system={"judges": judges, "evaluation": evaluation}, models=[])
    rows = [{"prompt": f"Why is number {number} odd?", "response": f"It is {number}."} for number in range(CASES)]
    write_cases(written / "data" / "cases.csv", rows)
    return written


def run_of(suite: Path, *options: str) -> tuple[str | Path, ...]:
    """The command that runs a suite."""
    return ("bench", "run", "--suite", suite, "--yes", *options)


def begin(command: Command, *arguments: str | Path, killed: str = "", service: str = "OpenAIBatches") -> Forked:
    """The command as a process of its own that looks often, and is killed at a named moment."""
    code = _QUICK_COMMAND + (KILLED_AT if killed else "") + "main()"
    environment = {**command.full_environment(), "KILL": killed, "SERVICE": service}
    return Forked(code, *arguments, folder=command.folder, environment=environment)


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)
