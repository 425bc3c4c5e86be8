"""`/v1/figures`, `/v1/alerts`, `/v1/labels` and `/v1/agreement`: figures of a period, alerts, human labels."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from msgspec import structs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.errors import NotHeldBack, ReviewConflict, StorageError, UnknownAnswer, UserError
from areopage.ledger import Alert, Period, Scope
from areopage.monitor import RULES, PeriodFigures, criterion_labels
from areopage.report import outward
from areopage.review import AgreementReport, Given, Origin, Reviewed, Rubric, review_answer
from areopage.server.access import Actor, Reader, Writer, note, note_shown
from areopage.server.api.evaluations import check_labels, decoded, json_body, unknown
from areopage.server.api.records import AlertPage, GivenAdjudication, GivenLabels, StoredLabels
from areopage.server.api.schema import ApiRoute, NameQuery, answers_with, json_response, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal

router = APIRouter(prefix="/v1", route_class=ApiRoute)

MOST_DAYS = 36_500
NOT_BLIND = (
    "the rater had read the judges' scores of this answer, or other raters' labels: "
    "the labels are stored and do not measure the judges. GET /v1/evaluations/{id}?blind=1 shows an answer without scores"
)


@router.get("/figures", responses=answers_with(PeriodFigures), tags=["figures"], summary="Get the figures of the last days")
def figures(
    request: Request,
    actor: Reader,
    days: Annotated[int, Query(ge=1, le=366, description="Number of days up to today (UTC).")] = 7,
    source: NameQuery = None,
    variant: NameQuery = None,
    baseline: Annotated[
        str | None,
        Query(max_length=128, description="Variant that others are compared with; default: the most frequent one."),
    ] = None,
) -> Response:
    """Coverage, means with intervals, grades, trend, weakest answers, judges and cost, as in the report.

    A key limited to several sources must name one. Judges and cost are counted over all sources: a limited key sees none.
    """
    context = context_of(request)
    tomorrow = context.now().date() + timedelta(days=1)
    period = Period(start=tomorrow - timedelta(days=days), end=tomorrow)
    suite = context.suite
    labels = criterion_labels(suite, context.language)
    scope = Scope(source=actor.in_scope(source, "source"), variant=variant)
    check_labels(context.ledger, actor, scope.source, variant)
    period_figures = PeriodFigures.of(context.ledger, period, scope, suite.scale, labels, baseline=baseline)
    if baseline is not None and period_figures.baseline != baseline:
        variants = ", ".join(repr(variant_figures.variant) for variant_figures in period_figures.variants) or "none"
        raise Refusal(422, "invalid", f"baseline: no answer of the variant {baseline!r} in these days: use one of {variants}")
    return json_response(figures_for(request, actor, period_figures))


def figures_for(request: Request, actor: Actor, period_figures: PeriodFigures, *, live: bool = False) -> PeriodFigures:
    """A period's figures as an actor may see them: texts by `storage.export_text`, and noted in the audit log."""
    context = context_of(request)
    storage = context.config.shared.storage
    worst = tuple(outward(evaluation, storage.export_text, storage.max_chars) for evaluation in period_figures.worst)
    shown = [evaluation.id for evaluation in worst if evaluation.prompt or evaluation.response]
    listed = [evaluation.id for evaluation in worst]
    note_shown(request, context.ledger, actor, f"figures with {len(shown)} answers", shown, scored=listed, live=live)
    period_figures = structs.replace(period_figures, worst=worst)
    return structs.replace(period_figures, judges=(), cost={}) if actor.collections else period_figures


@router.get("/alerts", responses=answers_with(AlertPage), tags=["figures"], summary="List the newest alerts")
def alerts(
    request: Request,
    actor: Reader,
    state: Literal["open", "closed"] | None = None,
    rule: Annotated[str, Query(max_length=64, description="Only this rule, e.g. `mean`.")] = "",
    incident: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only the alerts of this alert's incident.")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="`next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Alerts with the number of occurrences and the delivery state; `open` counts all open alerts by rule.

    A limited key sees and counts those about answers in its scope.
    """
    if rule and rule not in RULES:
        raise Refusal(422, "invalid", f"rule: use one of {', '.join(RULES)}")
    stored = context_of(request).ledger.alerts
    scope = actor.collections
    listed = list(stored.list(state=state, rule=rule, incident=incident, sources=scope, before=before, limit=limit))
    note_alerts(request, actor, listed)
    last = listed[-1].number if len(listed) == limit else None
    return json_response(AlertPage(items=listed, open=stored.counts(sources=actor.collections), next=last))


def note_alerts(request: Request, actor: Actor, shown: Sequence[Alert]) -> None:
    """Note that alerts about answers, which quote them, were shown."""
    answer_ids = [alert.answer_id for alert in shown if alert.answer_id]
    note_shown(
        request, context_of(request).ledger, actor, f"alerts about {len(answer_ids)} answers", answer_ids, scored=answer_ids
    )


@router.post(
    "/labels",
    status_code=201,
    responses=answers_with(StoredLabels, 201, 400, 404, 413, 415),
    openapi_extra=takes(GivenLabels),
    tags=["labels"],
    summary="Label an answer",
)
async def label(request: Request, actor: Writer) -> Response:
    """Store a rater's scores of an answer. A later label by the same rater on the same criterion replaces an earlier one."""
    return await store_labels(request, actor, decoded(await json_body(request), GivenLabels), NOT_BLIND)


async def store_labels(request: Request, actor: Actor, body: GivenLabels, not_blind: str) -> Response:
    """Store labels, or an adjudication; the reply has a remark where they are not blind."""
    said = Given(
        scores={criterion: f"{score:f}" for criterion, score in body.scores.items()},
        grounded=body.grounded if isinstance(body, GivenAdjudication) else "",
        note=body.note,
        correction=body.correction,
        adjudicates=isinstance(body, GivenAdjudication),
    )
    labels = (await run_in_threadpool(store_review, context_of(request), actor, body.answer_id, said, body.rater)).labels
    blind = all(label.blind for label in labels)
    reply = StoredLabels(stored=len(labels), rater=labels[0].rater, blind=blind, remark="" if blind else not_blind)
    return json_response(reply, 201)


def store_review(
    context: ServerContext,
    actor: Actor,
    id: str,
    review: Given,
    rater: str | None = None,
    *,
    origin: Origin = "api",
    blind: bool | None = None,
) -> Reviewed:
    """Store a review of an answer; blocks. The audit log names the actor."""
    name = name_for(actor, rater)
    id = actor.id_in_scope(context.ledger, id)
    if not actor.may_see_answers(context.ledger, [id]):
        raise unknown(id)
    with review_refusals(id):
        rubric = Rubric.for_answer(context.ledger, id, context.suite)
        done = review_answer(
            context.ledger,
            id,
            name,
            review,
            origin=origin,
            now=context.now(),
            rubric=rubric,
            storage=context.config.shared.storage,
            key_id=actor.key_id,
            blind=blind,
            actor=actor.name,
        )
    if name != actor.name and not actor.keyless:
        note(context.ledger, actor, "label", id, f"in the name of {name}")
    return done


def name_for(actor: Actor, rater: str | None) -> str:
    """The name that an actor labels under."""
    if rater is not None and actor.role != "admin":
        raise Refusal(403, "forbidden", "only an admin key may label in another name: omit `rater`")
    return rater or actor.name


@contextmanager
def review_refusals(id: str) -> Iterator[None]:
    """Errors of a review of an answer as refusals."""
    try:
        yield
    except StorageError:
        raise
    except UnknownAnswer:
        raise unknown(id) from None
    except NotHeldBack as fault:
        raise Refusal(409, "settled", str(fault)) from None
    except ReviewConflict as fault:
        raise Refusal(409, "adjudicated", str(fault)) from None
    except UserError as fault:
        raise Refusal(422, "invalid", str(fault)) from None


@router.get("/agreement", responses=answers_with(AgreementReport), tags=["figures"], summary="Compare judges with human labels")
def agreement(
    request: Request,
    actor: Reader,
    days: Annotated[int | None, Query(ge=1, le=MOST_DAYS, description="Use only labels of the last days.")] = None,
    judge: Annotated[str, Query(max_length=256, description="Name of a judge; default: the whole jury.")] = "",
    sample_only: Annotated[bool, Query(description="Use only answers of the random sample; all others settle nothing.")] = True,
) -> Response:
    """Correlations with 95 % intervals, weighted κ, bias, whether the correlation exceeds 0.8, and the largest disagreements."""
    context = context_of(request)
    since = context.now() - timedelta(days=days) if days is not None else None
    return json_response(measured(request, actor, context.language, since, judge, sample_only=sample_only))


def measured(
    request: Request,
    actor: Actor,
    language: str,
    since: datetime | None,
    judge: str,
    *,
    sample_only: bool,
    lenient: bool = False,
) -> AgreementReport:
    """The agreement over the ledger's labels of answers in the actor's scope; the questions that it quotes are noted."""
    context = context_of(request)
    rubric, storage = Rubric.of_suite(context.suite), context.config.shared.storage
    measure_judge = partial(
        AgreementReport.of_ledger,
        context.ledger,
        rubric,
        language,
        since=since,
        sample_only=sample_only,
        sources=actor.collections,
        policy=storage.export_text,
        max_chars=storage.max_chars,
    )
    try:
        report = measure_judge(judge=judge)
    except StorageError:
        raise
    except UserError as fault:
        if not lenient or not judge:
            raise Refusal(422, "invalid", str(fault)) from None
        report = measure_judge()
    shown = [id for id, question in report.questions.items() if question]
    note_shown(request, context.ledger, actor, f"agreement with {len(shown)} questions", shown, scored=list(report.questions))
    return report
