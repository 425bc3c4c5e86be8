"""`/v1/review` and `/v1/labels/undo`: how far the review is, disagreements of raters, and labels that are taken back."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from areopage.app import review_disputes
from areopage.ledger import Label
from areopage.review import DisputedAnswer, Given, Origin, ReviewProgress, Rubric, decide_answer, undo_last
from areopage.server.access import GRANTS, Actor, Reader, Writer, note, rater_of
from areopage.server.api.evaluations import decoded, json_body, unknown
from areopage.server.api.figures import review_refusals
from areopage.server.api.records import DisputePage, GivenDecision, GivenUndo, StoredLabels, UndoneLabels
from areopage.server.api.schema import ApiRoute, answers_with, json_response, takes
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal

router = APIRouter(prefix="/v1", route_class=ApiRoute, tags=["labels"])

NOT_BLIND = "the person had read the judges' scores of this answer: the decision is stored and does not measure the judges"


@router.get("/review/progress", responses=answers_with(ReviewProgress), summary="Get how far the review is")
def progress(request: Request, actor: Reader) -> Response:
    """How many answers of the queue are done, how many each rater has labelled, and on how many raters agree.

    The figures are over all sources: a limited key gets none.
    """
    actor.check_unscoped()
    context = context_of(request)
    return json_response(review_disputes(context.ledger, context.config.monitor).progress())


@router.get("/review/disagreements", responses=answers_with(DisputePage), summary="List the answers on which raters disagree")
def disagreements(request: Request, actor: Reader) -> Response:
    """Answers on which raters disagree, undecided, with what each of them says.

    An answer is listed once it has as many labels as are wanted. Later labels of the reader on these answers are not blind.
    """
    return json_response(DisputePage(items=disputes_for(request, actor)))


@router.post(
    "/review/disagreements",
    status_code=201,
    responses=answers_with(StoredLabels, 201, 400, 404, 409, 413, 415),
    openapi_extra=takes(GivenDecision),
    summary="Decide between raters who disagree",
)
async def decide(request: Request, actor: Writer) -> Response:
    """Store what counts in place of the raters' labels, which stay in the ledger. 409: another person has decided."""
    body = decoded(await json_body(request), GivenDecision)
    scores = {criterion: f"{score:f}" for criterion, score in body.scores.items()}
    said = Given(scores=scores, grounded=body.grounded, note=body.note, correction=body.correction)
    labels = await run_in_threadpool(store_decision, context_of(request), actor, body.answer_id, said, body.rater)
    blind = labels[0].blind
    return json_response(
        StoredLabels(stored=len(labels), rater=labels[0].rater, blind=blind, remark="" if blind else NOT_BLIND), 201
    )


@router.post(
    "/labels/undo",
    responses=answers_with(UndoneLabels, 200, 400, 409, 413, 415),
    openapi_extra=takes(GivenUndo),
    summary="Undo a rater's last label",
)
async def undo(request: Request, actor: Writer) -> Response:
    """Undo what a rater said last, a label or a decision: one step. The ledger keeps it, marked as undone.

    The rater's labels before count again; without any, the answer waits again. 409: another person has decided between this
    label and those of others.
    """
    body = decoded(await json_body(request), GivenUndo)
    undone = await run_in_threadpool(undo_by, context_of(request), actor, body.rater)
    scores = {label.criterion: label.score for label in undone}
    return json_response(
        UndoneLabels(answer_id=undone[0].answer_id, rater=undone[0].rater, scores=scores, decision=undone[0].decides)
    )


def disputes_for(request: Request, actor: Actor, id: str | None = None) -> list[DisputedAnswer]:
    """The disagreements that an actor may see (on an answer; None for all), noted as seen where the actor may label."""
    context = context_of(request)
    ledger = context.ledger
    listed = review_disputes(ledger, context.config.monitor).answers(id)
    if actor.collections:
        sources = ledger.answers.sources([answer.answer_id for answer in listed])
        listed = [answer for answer in listed if actor.may_see(sources.get(answer.answer_id, ""))]
    if listed:
        shown = [answer.answer_id for answer in listed]
        note(ledger, actor, "read", "", f"the labels of {len(shown)} answers on which raters disagree")
        if "write" in GRANTS[actor.role]:
            ledger.audit.note_labels_seen(rater_of(request, actor) or actor.name, shown, key_id=actor.key_id)
    return listed


def store_decision(
    context: ServerContext, actor: Actor, id: str, said: Given, rater: str | None = None, *, origin: Origin = "api"
) -> tuple[Label, ...]:
    """Store a decision between raters; blocks."""
    name = name_for(actor, rater)
    id = actor.id_in_scope(context.ledger, id)
    if not actor.may_see_answers(context.ledger, [id]):
        raise unknown(id)
    with review_refusals(id):
        rubric = Rubric.for_answer(context.ledger, id, context.suite)
        return decide_answer(
            context.ledger,
            id,
            name,
            said,
            origin=origin,
            now=context.now(),
            rubric=rubric,
            key_id=actor.key_id,
            actor=actor.name,
        )


def undo_by(context: ServerContext, actor: Actor, rater: str | None = None) -> tuple[Label, ...]:
    """Undo the last label of an actor, or of a rater; blocks."""
    name = name_for(actor, rater)
    with review_refusals(""):
        return undo_last(context.ledger, name, sources=actor.collections, key_id=actor.key_id)


def name_for(actor: Actor, rater: str | None) -> str:
    """The name that an actor labels under."""
    if rater is not None and actor.role != "admin":
        raise Refusal(403, "forbidden", "only an admin key may label in another name: omit `rater`")
    return rater or actor.name
