"""The list of answers, and the page of an answer."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from areopage.bench import fold_space, quoted_verbatim
from areopage.criteria import Scale
from areopage.ledger import Alert, Answer, Evaluation, Grade, Judgment, Label, ReviewItem
from areopage.locales import Locale
from areopage.monitor import ANSWER, answer_texts, criterion_labels, monitor_locale, question_line
from areopage.scoring import NotApplicable, Outcome, Scored, grade_of
from areopage.server.access import Reader, note, note_scores_listed, note_scores_seen, rater_of
from areopage.server.context import ServerContext, context_of
from areopage.server.pages.filters import ALL, GRADES, Chosen, chosen, in_order, label_of
from areopage.server.pages.rendering import language, render

PER_PAGE = 50

router = APIRouter(include_in_schema=False)


@router.get("/monitor/answers")
def show_answers(request: Request, reader: Reader) -> Response:
    """One page of the list, newest first."""
    context = context_of(request)
    asked = chosen(request, context.now().date(), ALL, reader.collections)
    lists = context.ledger.lists
    listed = lists.page(asked.filters, before=asked.before, limit=PER_PAGE + 1)
    rows = listed[:PER_PAGE]
    note(context.ledger, reader, "read", "", f"a list of {len(rows)} answers")
    note_scores_listed(request, context.ledger, reader, [row.id for row in rows])
    labels = criterion_labels(context.suite, language(request).code)
    criteria = in_order(labels, [result.criterion for row in rows for result in row.criteria] or list(labels))
    return render(
        request,
        "answers.html.j2",
        asked=asked,
        rows=rows,
        kept=_kept_of(asked),
        older=asked.query(before=str(rows[-1].number)) if len(listed) > PER_PAGE else None,
        criteria={criterion: label_of(labels, criterion) for criterion in criteria},
        choices=labels,
        grades=GRADES,
        sources=[source for source in lists.sources() if reader.may_see(source)],
        variants=lists.variants(reader.collections),
        scale=context.suite.scale,
    )


@router.get("/monitor/answers/{id:path}")
def show_answer(request: Request, id: str, reader: Reader) -> Response:
    """Show an answer and record that it was read."""
    context, spoken = context_of(request), language(request)
    id = id or request.query_params.get("id", "")
    view = _answer_view(context, id, spoken)
    if view is None or not reader.may_see(view.answer.source):
        return render(request, "missing.html.j2", status=404)
    if view.score is None:
        note(context.ledger, reader, "read", id)
    else:
        note_scores_seen(context.ledger, reader, id, rater_of(request, reader))
    asked = chosen(request, context.now().date(), ALL, reader.collections)
    lists = context.ledger.lists
    newer, older = lists.neighbours(asked.filters, view.score.number) if view.score else (None, None)
    return render(request, "answer.html.j2", view=view, scale=context.suite.scale, kept=_kept_of(asked), newer=newer, older=older)


def _kept_of(asked: Chosen) -> str:
    """What the page of an answer keeps of the list's address."""
    return asked.query() if asked.narrowed or asked.period else ""


class JudgeRemark(Struct, frozen=True, kw_only=True):
    """The outcome of one judge on one criterion in one call. `reason` says why there is no score.

    `evidence` has each extract that the judge quotes with whether the answer contains it literally; None: the answer is gone.
    """

    judge: str
    outcome: str
    score: float | None
    explanation: str
    evidence: tuple[tuple[str, bool | None], ...]
    reason: str


class CriterionView(Struct, frozen=True, kw_only=True):
    """One criterion: the jury's score, and the verdict of each judge that counts for it."""

    criterion: str
    label: str
    score: float | None
    grade: Grade
    agreement: float | None
    said: tuple[JudgeRemark, ...]

    @property
    def judges_range(self) -> tuple[float, float] | None:
        """The lowest and the highest score of the judges; None where there are fewer than two."""
        scores = [said.score for said in self.said if said.score is not None]
        return (min(scores), max(scores)) if len(scores) > 1 else None

    @property
    def shown_agreement(self) -> float | None:
        """The index of agreement; None where the judges gave the same score, or fewer than two gave one."""
        return self.agreement if self.judges_range and len(set(self.judges_range)) > 1 else None


class AnswerView(Struct, frozen=True, kw_only=True):
    """An answer's page. `score` is the evaluation once it is made, None before.

    Each of `calls` is a judgment, the number of the call among those with the same key, and what it says by label. Each of
    `labels` is a person's label, the name of its criterion, and whether the same person gave another one later.
    """

    answer: Answer
    evaluation: Evaluation
    score: Evaluation | None
    criteria: tuple[CriterionView, ...]
    calls: tuple[tuple[Judgment, int, tuple[tuple[str, JudgeRemark], ...]], ...]
    labels: tuple[tuple[Label, str, bool], ...]
    alerts: tuple["ShownAlert", ...]
    review: ReviewItem | None


class ShownAlert(Struct, frozen=True, kw_only=True):
    """An alert in the reader's language. `foreign` is the language of a body that is stored in another one, "" otherwise."""

    alert: Alert
    title: str
    body: str
    question: str
    foreign: str
    source: str = ""
    answered_at: datetime | None = None


def shown_alerts(context: ServerContext, alerts: Sequence[Alert], spoken: Locale) -> tuple[ShownAlert, ...]:
    """Alerts in the reader's language. Their texts are stored in the configured language: in another one, those of weak answers
    are made anew from the evaluation, and the others have the name of their rule as their title.
    """
    monitor, suite = context.config.monitor, context.suite
    stored, locale = monitor_locale(monitor, suite).code, monitor_locale(monitor, suite, spoken.code)
    answers = [alert.answer_id for alert in alerts if alert.answer_id]
    scores = context.ledger.evaluations.latest(answers) if answers else {}
    shown = []
    for alert in alerts:
        score = scores.get(alert.answer_id)
        title, body, question, foreign = alert.title, alert.body, question_line(alert), ""
        if stored != spoken.code and alert.rule == ANSWER and score is not None and score.state == "evaluated":
            threshold = monitor.section.thresholds(suite.scale).answer
            title, body = answer_texts(score, threshold, monitor.floors(suite), locale)
            question = body.partition("\n")[0]
        elif stored != spoken.code:
            title, body, foreign = spoken.say(f"rule_{alert.rule}"), f"{alert.title}\n{alert.body}", stored
        shown.append(
            ShownAlert(
                alert=alert,
                title=title,
                body=body,
                question=question,
                foreign=foreign,
                source=score.source if score else "",
                answered_at=score.timestamp if score else None,
            )
        )
    return tuple(shown)


def _answer_view(context: ServerContext, id: str, spoken: Locale) -> AnswerView | None:
    ledger, suite = context.ledger, context.suite
    answer, evaluation = ledger.answers.get(id), ledger.evaluations.get(id)
    if answer is None or evaluation is None:
        return None
    score = evaluation if evaluation.state == "evaluated" else None
    judgments = ledger.evaluations.judgments(id, evaluation.run_id)
    labels = criterion_labels(suite, spoken.code)
    response = fold_space(answer.case.response or "")
    given_labels = ledger.labels.of(id)
    valid = [(number, label) for number, label in enumerate(given_labels) if label.state == "given"]
    last = {(label.rater, label.criterion, label.decides): number for number, label in valid}
    return AnswerView(
        answer=answer,
        evaluation=evaluation,
        score=score,
        criteria=_criteria_of(score, judgments, labels, suite.scale, response),
        calls=tuple(_calls_of(judgments, labels, response)),
        labels=tuple(
            (
                label,
                label_of(labels, label.criterion) if label.criterion else "",
                last.get((label.rater, label.criterion, label.decides)) != number,
            )
            for number, label in enumerate(given_labels)
        ),
        alerts=shown_alerts(context, ledger.alerts.of(id), spoken),
        review=ledger.review_queue.item(id),
    )


def _criteria_of(
    score: Evaluation | None, judgments: Sequence[Judgment], labels: Mapping[str, str], scale: Scale, response: str
) -> tuple[CriterionView, ...]:
    """The criteria in the suite's order, each with what the judges say on it: of several calls, the one that counts."""
    results = {result.criterion: result for result in score.criteria} if score else {}
    latest = said_by_criterion(judgments, response)
    views = []
    for criterion in in_order(labels, [*results, *latest]):
        result = results.get(criterion)
        value = result.score if result else None
        views.append(
            CriterionView(
                criterion=criterion,
                label=label_of(labels, criterion),
                score=value,
                grade=grade_of(value, scale),
                agreement=result.agreement if result else None,
                said=latest.get(criterion, ()),
            )
        )
    return tuple(views)


def said_by_criterion(judgments: Sequence[Judgment], response: str) -> dict[str, tuple[JudgeRemark, ...]]:
    """What the judges say on each criterion, by its path: of several calls for one pass, the one that counts."""
    latest: dict[str, dict[tuple[str, int, int], JudgeRemark]] = {}
    for judgment in judgments:
        place = (judgment.judge, judgment.pass_index, judgment.turn)
        for verdict in judgment.verdicts:
            said = _said_of(judgment.judge, verdict.outcome, response)
            of_judges = latest.setdefault(_path_of(verdict.criterion), {})
            before = of_judges.get(place)
            if before is None or said.score is not None or before.score is None:
                of_judges[place] = said
    return {criterion: tuple(verdicts.values()) for criterion, verdicts in latest.items()}


def _calls_of(
    judgments: Sequence[Judgment], labels: Mapping[str, str], response: str
) -> Iterator[tuple[Judgment, int, tuple[tuple[str, JudgeRemark], ...]]]:
    attempts: dict[str, int] = {}
    for judgment in judgments:
        attempts[judgment.key] = attempts.get(judgment.key, 0) + 1
        said = {_path_of(verdict.criterion): _said_of(judgment.judge, verdict.outcome, response) for verdict in judgment.verdicts}
        verdicts = tuple((label_of(labels, criterion), said[criterion]) for criterion in in_order(labels, list(said)))
        yield judgment, attempts[judgment.key], verdicts


def _said_of(judge: str, outcome: Outcome, response: str) -> JudgeRemark:
    """What a judge says; `response` is the answer as `fold_space` leaves it."""
    if isinstance(outcome, Scored):
        return JudgeRemark(
            judge=judge,
            outcome="scored",
            score=outcome.score,
            explanation=outcome.explanation,
            evidence=tuple((extract, quoted_verbatim(extract, response) if response else None) for extract in outcome.evidence),
            reason="",
        )
    explanation, reason = (outcome.explanation, "") if isinstance(outcome, NotApplicable) else ("", outcome.reason)
    return JudgeRemark(judge=judge, outcome=outcome.name, score=None, explanation=explanation, evidence=(), reason=reason)


def _path_of(criterion: str) -> str:
    return criterion.partition("__v")[0]
