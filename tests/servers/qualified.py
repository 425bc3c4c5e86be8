"""Exams of judges that are stored without being held, for tests of what rests on them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from areopage.bench.spec import RunSpec
from areopage.criteria.prompts import TEMPLATE_VERSION
from areopage.criteria.records import Criterion
from areopage.jury.judges import Judge
from areopage.jury.panel import Panel
from areopage.ledger.people.exams import Qualifications
from areopage.ledger.people.standing import Qualification, standing_key
from areopage.ledger.store import Ledger
from areopage.scoring.exams.records import CriterionExam, ExamState, Figure

ROWS = 40


def qualification(
    judge: Judge,
    criterion: Criterion,
    state: ExamState = "qualified",
    *,
    checked: bool = True,
    joint: bool = False,
    languages: Sequence[str] = ("en",),
    at: datetime | None = None,
) -> Qualification:
    """The result of an exam on a whole gold set.

    Args:
        checked: a person has checked the gold rows.
        at: when; None: now, as rows of a ledger are in order of time.
    """
    nothing = Figure()
    result = CriterionExam(
        criterion=criterion.id,
        state=state,
        rows=ROWS,
        low_rows=ROWS // 2,
        high_rows=ROWS // 2,
        passes=2,
        separation=nothing,
        kappa=nothing,
        error=nothing,
        bias=nothing,
        inside=nothing,
        parsed=nothing,
        consistency=nothing,
        sensitivity=nothing,
        shifts={},
        applicability=nothing,
        marks=(),
        checked_rows=ROWS if checked else 0,
    )
    return Qualification(
        exam="exam-1",
        at=at or datetime.now(UTC),
        suite="small",
        judge=judge.name,
        model=str(judge.reference),
        digest=judge.digest,
        criterion=criterion.id,
        template=TEMPLATE_VERSION,
        languages=tuple(languages),
        keys=(standing_key(judge, criterion, joint=joint),),
        gold="g",
        whole=True,
        result=result,
    )


def qualify_panel(
    ledger: Ledger, panel: Panel, state: ExamState = "qualified", *, checked: bool = True, judges: Sequence[str] = ()
) -> None:
    """Store that the judges of a panel took the exam on all of its criteria.

    Args:
        judges: the names of those that did; none: all.
    """
    chosen = [judge for judge in panel.judges if not judges or judge.name in judges]
    several = panel.joint and len(panel.criteria) > 1
    exams = [
        qualification(judge, one, state, checked=checked, joint=several)
        for judge in chosen
        for one in panel.criteria
        if judge.may_judge(one)
    ]
    Qualifications(ledger).add(exams)


def qualify_run(
    place: Path | str, run: str = "latest", state: ExamState = "qualified", *, checked: bool = True, judges: Sequence[str] = ()
) -> None:
    """The same for the judges of a run of a ledger."""
    with Ledger.open(place) as ledger:
        qualify_panel(ledger, RunSpec.of(ledger.run(run)), state, checked=checked, judges=judges)
