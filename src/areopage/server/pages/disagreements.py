"""Pages of disagreements between raters: the list, what is shown of one on the page of its answer, and undoing a label."""

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.app import review_disagreements
from areopage.errors import UserError
from areopage.ledger import GROUNDING, Label
from areopage.review import OVERALL, RaterDisagreement, Rubric, undo_last
from areopage.server.access import Actor, Form, Reader, Writer, rater_of
from areopage.server.api.review import disagreements_for
from areopage.server.context import ServerContext, context_of
from areopage.server.pages.rendering import language, language_code, render, review_url

router = APIRouter(include_in_schema=False)

SHOWN = 200


class DisagreementView(Struct, frozen=True, kw_only=True):
    """A disagreement as pages show it; `names` are what people call its criteria."""

    prompt: str
    names: dict[str, str]
    answer: RaterDisagreement

    @property
    def address(self) -> str:
        """The page of the answer, with the form to adjudicate."""
        return review_url(self.answer.answer_id, "adjudicate=1")

    @property
    def raters(self) -> list[str]:
        """The names of the raters, in order of their labels."""
        return list(dict.fromkeys(label.rater for labels in self.answer.criteria.values() for label in labels))

    def texts(self, field: str) -> dict[tuple[str, str], None]:
        """The notes, or the corrections, of raters, each once."""
        labels = [label for labels in self.answer.criteria.values() for label in labels]
        return dict.fromkeys((label.rater, getattr(label, field)) for label in labels if getattr(label, field))


@router.get("/disagreements")
def show_disagreements(request: Request, reader: Reader) -> Response:
    """The answers on which raters disagree, not adjudicated, with their labels."""
    listed, more = disagreements_for(request, reader, limit=SHOWN)
    context = context_of(request)
    progress = None if reader.collections else review_disagreements(context.ledger, context.config.monitor).progress()
    views = [_view(request, answer) for answer in listed]
    return render(request, "disagreements.html.j2", disagreements=views, more=more, progress=progress)


@router.post("/labels/undo")
def undo(request: Request, writer: Writer, form: Form) -> Response:
    """Undo the last label under the name of this browser or key, and show its answer again."""
    context, rater = context_of(request), rater_of(request, writer)
    try:
        undone = undo_last(context.ledger, rater, sources=writer.collections, key_id=writer.key_id)
    except UserError:
        return render(request, "undo_refused.html.j2", 409)
    return RedirectResponse(review_url(undone[0].answer_id, "adjudicate=1" if undone[0].decides else ""), 303)


def disagreement_for(request: Request, actor: Actor, id: str, *, shown: bool) -> DisagreementView | None:
    """The disagreement on an answer, where it may be `shown` or the request asks for it; else None."""
    if not shown and "adjudicate" not in request.query_params:
        return None
    return next((_view(request, answer) for answer in disagreements_for(request, actor, id)[0]), None)


def undoable_by(context: ServerContext, actor: Actor, rater: str) -> Label | None:
    """The last label that a rater may undo; None without one, and for a key that may not label."""
    return context.ledger.disagreements.last_by(rater) if rater and actor.role in ("write", "admin") else None


def _view(request: Request, disagreement: RaterDisagreement) -> DisagreementView:
    context, say = context_of(request), language(request).say
    names = Rubric.for_answer(context.ledger, disagreement.answer_id, context.suite).labels(language_code(request))
    answer = context.ledger.answers.get(disagreement.answer_id)
    return DisagreementView(
        prompt=answer.case.prompt_text if answer is not None else "",
        names=names | {GROUNDING: say("gate_grounded"), OVERALL: say("review_overall")},
        answer=disagreement,
    )
