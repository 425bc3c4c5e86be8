"""The step of the demonstration that examines its judges."""

from collections.abc import Sequence
from pathlib import Path

from areopage.demo import EXAM_PASSES
from areopage.exams.exam import run_exam
from areopage.exams.exam_plan import ExamWishes, prepare_exam
from areopage.ledger import Ledger
from areopage.suites import load_suite


def examine_judges(ledger: Ledger, suite: Path, judges: Sequence[str], criteria: str) -> None:
    """Examine the recorded judges on the criteria of the runs."""
    wishes = ExamWishes(judges=tuple(judges), criteria=criteria, passes=EXAM_PASSES)
    run_exam(prepare_exam(load_suite(str(suite)), wishes).checked(), ledger)
