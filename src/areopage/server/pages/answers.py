"""The list of answers, and the page of an answer."""

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from areopage.criteria.records import Scale
from areopage.ledger.alerts import Alerts
from areopage.ledger.answers import Answers
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.labels import Labels, ReviewQueue
from areopage.ledger.lists import EvaluationLists
from areopage.ledger.operations import Alert
from areopage.ledger.records import Answer, Evaluation, Grade, Judgment, Label, ReviewItem
from areopage.ledger.store import Ledger
from areopage.monitor.figures import criterion_labels
from areopage.scoring.counts import grade_of
from areopage.scoring.outcome import NotApplicable, Outcome, Scored, outcome_name
from areopage.server.access import Reader, note, note_scores_seen
from areopage.server.context import context_of
from areopage.server.pages.filters import ALL, GRADES, Chosen, chosen, in_order, label_of
from areopage.server.pages.rendering import language, rater_of, render
from areopage.suites.loader import Suite

PER_PAGE = 50

router = APIRouter(include_in_schema=False)


@router.get("/monitor/answers")
def show_answers(request: Request, reader: Reader) -> Response:
    """One page of the list, newest first."""
    context = context_of(request)
    asked = chosen(request, context.now().date(), ALL, reader.collections)
    lists = EvaluationLists(context.ledger)
    found = lists.page(asked.filters, before=asked.before, limit=PER_PAGE + 1)
    rows = found[:PER_PAGE]
    note(context.ledger, reader, "read", "", f"a list of {len(rows)} answers")
    labels = criterion_labels(context.suite, language(request).code)
    criteria = in_order(labels, [one.criterion for row in rows for one in row.criteria] or list(labels))
    return render(
        request,
        "answers.html.j2",
        asked=asked,
        rows=rows,
        kept=_kept_of(asked),
        older=asked.query(before=str(rows[-1].number)) if len(found) > PER_PAGE else None,
        criteria={criterion: label_of(labels, criterion) for criterion in criteria},
        choices=labels,
        grades=GRADES,
        sources=[one for one in lists.sources() if reader.may_see(one)],
        variants=lists.variants(reader.collections),
        scale=context.suite.scale,
    )


@router.get("/monitor/answers/{id:path}")
def show_answer(request: Request, id: str, reader: Reader) -> Response:
    """Show an answer and record that it was read."""
    context, spoken = context_of(request), language(request)
    id = id or request.query_params.get("id", "")
    view = _answer_view(context.ledger, context.suite, id, spoken.code)
    if view is None or not reader.may_see(view.answer.source):
        return render(request, "missing.html.j2", status=404)
    if view.score is None:
        note(context.ledger, reader, "read", id)
    else:
        note_scores_seen(context.ledger, reader, id, rater_of(request, reader))
    asked = chosen(request, context.now().date(), ALL, reader.collections)
    lists = EvaluationLists(context.ledger)
    newer, older = lists.neighbours(asked.filters, view.score.number) if view.score else (None, None)
    return render(request, "answer.html.j2", view=view, scale=context.suite.scale, kept=_kept_of(asked), newer=newer, older=older)


def _kept_of(asked: Chosen) -> str:
    """What the page of an answer keeps of the list's address."""
    return asked.query() if asked.narrowed or asked.period else ""


class Said(Struct, frozen=True, kw_only=True):
    """The outcome of one judge on one criterion in one call. `reason` says why there is no score."""

    judge: str
    outcome: str
    score: float | None
    explanation: str
    evidence: tuple[str, ...]
    reason: str


class CriterionView(Struct, frozen=True, kw_only=True):
    """One criterion: the jury's score, and the verdict of each judge that counts for it."""

    criterion: str
    label: str
    score: float | None
    grade: Grade
    agreement: float | None
    said: tuple[Said, ...]


class Call(Struct, frozen=True, kw_only=True):
    """One call to a judge; `attempt` counts the calls with the same key, from 1. `verdicts` are by label."""

    judgment: Judgment
    attempt: int
    verdicts: tuple[tuple[str, Said], ...]


class LabelView(Struct, frozen=True, kw_only=True):
    """A person's label; `replaced` where the same person gave another one later."""

    label: Label
    name: str
    replaced: bool


class AnswerView(Struct, frozen=True, kw_only=True):
    """An answer's page. `score` is the evaluation once it is made, None before."""

    answer: Answer
    evaluation: Evaluation
    score: Evaluation | None
    criteria: tuple[CriterionView, ...]
    calls: tuple[Call, ...]
    labels: tuple[LabelView, ...]
    alerts: tuple[Alert, ...]
    review: ReviewItem | None


def _answer_view(ledger: Ledger, suite: Suite, id: str, language: str) -> AnswerView | None:
    answer, evaluation = Answers(ledger).get(id), Evaluations(ledger).get(id)
    if answer is None or evaluation is None:
        return None
    score = evaluation if evaluation.state == "evaluated" else None
    judgments = Evaluations(ledger).judgments(id, evaluation.run_id)
    labels = criterion_labels(suite, language)
    return AnswerView(
        answer=answer,
        evaluation=evaluation,
        score=score,
        criteria=_criteria_of(score, judgments, labels, suite.scale),
        calls=_calls_of(judgments, labels),
        labels=_labels_of(Labels(ledger).of(id), labels),
        alerts=tuple(Alerts(ledger).of(id)),
        review=ReviewQueue(ledger).item(id),
    )


def _criteria_of(
    score: Evaluation | None, judgments: Sequence[Judgment], labels: Mapping[str, str], scale: Scale
) -> tuple[CriterionView, ...]:
    """The criteria in the suite's order, each with what the judges say on it: of several calls, the one that counts."""
    results = {one.criterion: one for one in score.criteria} if score else {}
    latest: dict[str, dict[tuple[str, int], Said]] = {}
    for judgment in judgments:
        for verdict in judgment.verdicts:
            said = _said_of(judgment.judge, verdict.outcome)
            of_judges = latest.setdefault(_path_of(verdict.criterion), {})
            before = of_judges.get((judgment.judge, judgment.pass_index))
            if before is None or said.score is not None or before.score is None:
                of_judges[judgment.judge, judgment.pass_index] = said
    found = []
    for criterion in in_order(labels, [*results, *latest]):
        result = results.get(criterion)
        value = result.score if result else None
        found.append(
            CriterionView(
                criterion=criterion,
                label=label_of(labels, criterion),
                score=value,
                grade=grade_of(value, scale),
                agreement=result.agreement if result else None,
                said=tuple(latest.get(criterion, {}).values()),
            )
        )
    return tuple(found)


def _calls_of(judgments: Sequence[Judgment], labels: Mapping[str, str]) -> tuple[Call, ...]:
    attempts: dict[str, int] = {}
    found = []
    for judgment in judgments:
        attempts[judgment.key] = attempts.get(judgment.key, 0) + 1
        said = {_path_of(verdict.criterion): _said_of(judgment.judge, verdict.outcome) for verdict in judgment.verdicts}
        verdicts = tuple((label_of(labels, criterion), said[criterion]) for criterion in in_order(labels, list(said)))
        found.append(Call(judgment=judgment, attempt=attempts[judgment.key], verdicts=verdicts))
    return tuple(found)


def _labels_of(given: Sequence[Label], labels: Mapping[str, str]) -> tuple[LabelView, ...]:
    last = {(label.rater, label.criterion): number for number, label in enumerate(given)}
    return tuple(
        LabelView(
            label=label,
            name=label_of(labels, label.criterion) if label.criterion else "",
            replaced=last[label.rater, label.criterion] != number,
        )
        for number, label in enumerate(given)
    )


def _said_of(judge: str, outcome: Outcome) -> Said:
    if isinstance(outcome, Scored):
        return Said(
            judge=judge,
            outcome="scored",
            score=outcome.score,
            explanation=outcome.explanation,
            evidence=outcome.evidence,
            reason="",
        )
    explanation, reason = (outcome.explanation, "") if isinstance(outcome, NotApplicable) else ("", outcome.reason)
    return Said(judge=judge, outcome=outcome_name(outcome), score=None, explanation=explanation, evidence=(), reason=reason)


def _path_of(criterion: str) -> str:
    return criterion.partition("__v")[0]
