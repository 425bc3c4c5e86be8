"""Pages of disagreements between raters: the list, what is shown of one on the page of its answer, and undoing a label."""

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.app import review_disputes
from areopage.errors import UserError
from areopage.ledger import GROUNDING, Label
from areopage.review import DisputedAnswer, Rubric, undo_last
from areopage.server.access import Actor, Form, Reader, Writer, rater_of
from areopage.server.api.review import disputes_for
from areopage.server.context import ServerContext, context_of
from areopage.server.pages.rendering import language, language_code, render, review_url

router = APIRouter(include_in_schema=False)

SHOWN = 200


class DisputeRow(Struct, frozen=True, kw_only=True):
    """A criterion on which raters disagree: its path, what people call it, and what each rater says."""

    path: str
    label: str
    said: tuple[tuple[str, str], ...]


class DisputeView(Struct, frozen=True, kw_only=True):
    """A disagreement as pages show it.

    Args:
        notes, corrections: by rater.
        grounding: whether raters disagree on whether the documents support the answer.
    """

    id: str
    prompt: str
    address: str
    rows: tuple[DisputeRow, ...]
    notes: tuple[tuple[str, str], ...]
    corrections: tuple[tuple[str, str], ...]
    grounding: bool

    @property
    def raters(self) -> list[str]:
        """The names of the raters, in order of their labels."""
        return list(dict.fromkeys(name for row in self.rows for name, _ in row.said))


@router.get("/disagreements")
def show_disputes(request: Request, reader: Reader) -> Response:
    """The answers on which raters disagree, undecided, with their labels."""
    listed = disputes_for(request, reader)
    context = context_of(request)
    progress = None if reader.collections else review_disputes(context.ledger, context.config.monitor).progress()
    views = [_view(request, answer) for answer in listed[:SHOWN]]
    return render(request, "disputes.html.j2", disputes=views, more=len(listed) - len(views), progress=progress)


@router.post("/labels/undo")
def undo(request: Request, writer: Writer, form: Form) -> Response:
    """Undo the last label under the name of this browser or key, and show its answer again."""
    context, rater = context_of(request), rater_of(request, writer)
    try:
        undone = undo_last(context.ledger, rater, sources=writer.collections, key_id=writer.key_id)
    except UserError:
        return render(request, "undo_refused.html.j2", 409)
    return RedirectResponse(review_url(undone[0].answer_id, "decide=1" if undone[0].decides else ""), 303)


def dispute_for(request: Request, actor: Actor, id: str, rater: str, *, own: bool, deciding: bool = False) -> DisputeView | None:
    """The disagreement on an answer, for a rater who has labelled it (`own`), or who asks to decide; else None."""
    if not own and not deciding and "decide" not in request.query_params:
        return None
    return next((_view(request, answer) for answer in disputes_for(request, actor, id)), None)


def undoable_by(context: ServerContext, actor: Actor, rater: str) -> Label | None:
    """The last label that a rater may undo; None without one, and for a key that may not label."""
    return context.ledger.disputes.last_by(rater) if rater and actor.role in ("write", "admin") else None


def _view(request: Request, disputed: DisputedAnswer) -> DisputeView:
    context, id, say = context_of(request), disputed.answer_id, language(request).say
    names = Rubric.for_answer(context.ledger, id, context.suite).labels(language_code(request))
    answer = context.ledger.answers.get(id)
    rows: list[DisputeRow] = []
    for criterion in disputed.criteria:
        words = [(label.rater, say(f"gate_grounded_{label.grounded}") if label.grounded else "") for label in criterion.labels]
        scores = {label.rater: f"{label.score:g}" for label in criterion.labels}
        title = say("gate_grounded") if criterion.criterion == GROUNDING else names.get(criterion.criterion, "")
        said = tuple((name, word or scores[name]) for name, word in words)
        rows.append(DisputeRow(path=criterion.criterion, label=title or say("review_overall"), said=said))
    labels = [label for criterion in disputed.criteria for label in criterion.labels]
    return DisputeView(
        id=id,
        prompt=answer.case.prompt_text if answer is not None else "",
        address=review_url(id, "decide=1"),
        rows=tuple(rows),
        notes=tuple(dict.fromkeys((label.rater, label.note) for label in labels if label.note)),
        corrections=tuple(dict.fromkeys((label.rater, label.correction) for label in labels if label.correction)),
        grounding=any(criterion.criterion == GROUNDING for criterion in disputed.criteria),
    )
