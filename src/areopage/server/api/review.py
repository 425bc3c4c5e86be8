"""`/v1/review` and `/v1/labels/undo`: how far the review is, disagreements of raters, and labels that are taken back."""

from itertools import islice

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.app import review_disagreements
from areopage.review import RaterDisagreement, ReviewProgress, undo_last
from areopage.server.access import GRANTS, Actor, Reader, Writer, note, rater_of
from areopage.server.api.evaluations import decoded, json_body
from areopage.server.api.figures import name_for, review_refusals, store_labels
from areopage.server.api.records import DisagreementPage, GivenAdjudication, GivenUndo, StoredLabels, UndoneLabels
from areopage.server.api.schema import ApiRoute, answers_with, json_response, takes
from areopage.server.context import context_of

router = APIRouter(prefix="/v1", route_class=ApiRoute, tags=["labels"])

NOT_BLIND = "the person had read the judges' scores of this answer: the adjudication is stored and does not measure the judges"


@router.get("/review/progress", responses=answers_with(ReviewProgress), summary="Get how far the review is")
def progress(request: Request, actor: Reader) -> Response:
    """How many answers of the queue are done, how many each rater has labelled, and on how many raters agree.

    The figures are over all sources: a limited key gets none.
    """
    actor.check_unscoped()
    context = context_of(request)
    return json_response(review_disagreements(context.ledger, context.config.monitor).progress())


@router.get(
    "/review/disagreements", responses=answers_with(DisagreementPage), summary="List the answers on which raters disagree"
)
def disagreements(request: Request, actor: Reader) -> Response:
    """Answers on which raters disagree, not adjudicated, with what each of them says.

    An answer is listed once it has as many labels as are wanted. Later labels of the reader on these answers are not blind.
    """
    return json_response(DisagreementPage(items=disagreements_for(request, actor)[0]))


@router.post(
    "/review/disagreements",
    status_code=201,
    responses=answers_with(StoredLabels, 201, 400, 404, 409, 413, 415),
    openapi_extra=takes(GivenAdjudication),
    summary="Adjudicate between raters who disagree",
)
async def adjudicate(request: Request, actor: Writer) -> Response:
    """Store what counts in place of the raters' labels, which stay in the ledger. 409: another person has adjudicated."""
    return await store_labels(request, actor, decoded(await json_body(request), GivenAdjudication), NOT_BLIND)


@router.post(
    "/labels/undo",
    responses=answers_with(UndoneLabels, 200, 400, 409, 413, 415),
    openapi_extra=takes(GivenUndo),
    summary="Undo a rater's last label",
)
async def undo(request: Request, actor: Writer) -> Response:
    """Undo what a rater said last, a label or an adjudication: one step. The ledger keeps it, marked as undone.

    The rater's labels before count again; without any, the answer waits again. 409: another person has adjudicated between this
    label and those of others.
    """
    body = decoded(await json_body(request), GivenUndo)
    name = name_for(actor, body.rater)
    with review_refusals(""):
        undone = await run_in_threadpool(
            undo_last, context_of(request).ledger, name, sources=actor.collections, key_id=actor.key_id
        )
    scores, last = {label.criterion: label.score for label in undone}, undone[0]
    return json_response(UndoneLabels(answer_id=last.answer_id, rater=last.rater, scores=scores, adjudication=last.decides))


def disagreements_for(
    request: Request, actor: Actor, id: str | None = None, *, limit: int | None = None
) -> tuple[list[RaterDisagreement], int]:
    """The disagreements that an actor may see (on an answer; None for all), and how many more than `limit` there are.

    They are noted as seen where the actor may label.
    """
    context = context_of(request)
    ledger, disagreements = context.ledger, review_disagreements(context.ledger, context.config.monitor)
    open = disagreements.open(id)
    if actor.collections:
        sources = ledger.answers.sources([id for id, _ in open])
        open = {place: criteria for place, criteria in open.items() if actor.may_see(sources.get(place[0], ""))}
    shown = dict(islice(open.items(), limit))
    if shown:
        ids = [id for id, _ in shown]
        note(ledger, actor, "read", "", f"the labels of {len(ids)} answers on which raters disagree")
        if "write" in GRANTS[actor.role]:
            ledger.audit.note_labels_seen(rater_of(request, actor) or actor.name, ids, key_id=actor.key_id)
    return disagreements.said(shown), len(open) - len(shown)
