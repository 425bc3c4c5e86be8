"""Exams of judges on a suite's gold set.

An exam is planned from the suite, checks its judges, and asks them what the ledger lacks: an interrupted one goes on where it
was. Its judgments belong to panels of kind "exam": no run, monitor or figure of people counts them.
"""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from areopage.criteria import TEMPLATE_VERSION, Criterion
from areopage.exams.asking import Asker, AskingObserver, outcome_on
from areopage.exams.exam_plan import Exam, ExamPart, exam_calls
from areopage.jury import Judge
from areopage.ledger import Judgment, Ledger, Qualification, standing_key
from areopage.scoring import EXAM_NOT_APPLICABLE, ExamItem, NotApplicable, Said, Scored, examine


class ExamResult(Struct, frozen=True, kw_only=True):
    """What an exam found, one judge on one criterion each; nothing while calls are open that another try could bring."""

    exam: str
    open_calls: int
    qualifications: tuple[Qualification, ...]


def run_exam(exam: Exam, ledger: Ledger, observer: AskingObserver | None = None) -> ExamResult:
    """Ask the judges what the ledger lacks, and store what the exam shows once every call has an answer.

    An exam that was stored before is returned as it is.

    Args:
        exam: with its judges checked.

    Raises:
        ServerDown, ModelError, StorageError: the exam stops; what arrived is kept, and running it again goes on from there.
    """
    stored = tuple(ledger.qualifications.list(exam=exam.id))
    judgments = asyncio.run(ask_judges(exam, ledger, observer))
    open_calls = exam.open_calls(judgments)
    if open_calls or stored:
        return ExamResult(exam=exam.id, open_calls=open_calls, qualifications=stored if not open_calls else ())
    qualifications = qualifications_of(exam, judgments, datetime.now(UTC))
    return ExamResult(exam=exam.id, open_calls=0, qualifications=ledger.qualifications.add(qualifications))


async def ask_judges(exam: Exam, ledger: Ledger, observer: AskingObserver | None) -> dict[str, Judgment]:
    """Make the calls of an exam that the ledger lacks, judge by judge, so that a server keeps one model in memory."""
    judgments: dict[str, Judgment] = {}
    for place, judge in enumerate(exam.judges):
        for part in exam.parts:
            calls = [(exam_call.call, exam_call.row) for exam_call in exam_calls(exam, part, part.panel.judges[place])]
            async with Asker(part.asking, ledger, "exam", observer) as asker:
                await asker.ask(f"{judge.name} ({part.language})", calls, judgments, observer)
    return judgments


# --- results


def qualifications_of(exam: Exam, judgments: Mapping[str, Judgment], at: datetime) -> tuple[Qualification, ...]:
    """What the judgments of an exam, by key, show, one judge on one criterion each."""
    qualifications: list[Qualification] = []
    for place, judge in enumerate(exam.judges):
        items: dict[str, list[ExamItem]] = {}
        keys: dict[str, dict[str, str]] = {}
        criteria: dict[str, Criterion] = {}
        for part in exam.parts:
            judge_of_part = part.panel.judges[place]
            criteria |= part.panel.criteria_by_id()
            for item_of, item in _items(exam, part, judge_of_part, judgments):
                items.setdefault(item_of, []).append(item)
                keys.setdefault(item_of, {})[part.language] = standing_key(
                    judge_of_part, part.panel.criteria_by_id()[item_of], joint=part.panel.joint
                )
        qualifications += [
            Qualification(
                exam=exam.id,
                at=at,
                suite=exam.suite,
                judge=judge.name,
                model=str(judge.reference),
                digest=judge.digest,
                criterion=id,
                template=TEMPLATE_VERSION,
                languages=tuple(keys[id]),
                keys=tuple(keys[id].values()),
                gold=exam.gold,
                whole=exam.whole,
                salt=exam.parts[0].panel.salt,
                result=examine(id, items, criteria[id].scale, exam.marks, repeats=judge.kind != "code"),
                items=tuple(items),
            )
            for id, items in items.items()
        ]
    return tuple(qualifications)


def _items(exam: Exam, part: ExamPart, judge: Judge, judgments: Mapping[str, Judgment]) -> Iterator[tuple[str, ExamItem]]:
    """What a judge said of each row on each criterion."""
    passes: dict[tuple[str, str], dict[int, Said]] = {}
    variants: dict[tuple[str, str], dict[str, Said]] = {}
    for exam_call in exam_calls(exam, part, judge):
        for criterion in exam_call.asked:
            answer, place = said_of(judgments[exam_call.call.key], criterion.id), (exam_call.row, criterion.id)
            if exam.best_alone and isinstance(answer, float):
                best, worst = criterion.scale.max, criterion.scale.min
                if not criterion.scale.higher_is_better:
                    best, worst = worst, best
                answer = best if answer == best else worst
            if exam_call.variant:
                variants.setdefault(place, {})[exam_call.variant] = answer
            else:
                passes.setdefault(place, {})[exam_call.call.pass_index] = answer
    rows = {row.id: row for row in part.rows}
    for (id, criterion_id), by_number in passes.items():
        row = rows[id]
        low, high = row.bands.get(criterion_id, (None, None))
        yield (
            criterion_id,
            ExamItem(
                row=id,
                language=part.language,
                low=low,
                high=high,
                may_not_apply=criterion_id in row.not_applicable,
                checked=bool(row.checked_by),
                passes=tuple(by_number[number] for number in sorted(by_number)),
                variants=variants.get((id, criterion_id), {}),
            ),
        )


def said_of(judgment: Judgment, criterion: str) -> Said:
    """What a judgment says on a criterion."""
    outcome = outcome_on(judgment, criterion)
    if isinstance(outcome, Scored):
        return float(outcome.score)
    return EXAM_NOT_APPLICABLE if isinstance(outcome, NotApplicable) else None
