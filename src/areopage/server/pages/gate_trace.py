"""One answer on its way out: what the gate saw in it, and the form of whoever decides on one that was held back."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends
from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.errors import StorageError
from areopage.ledger.access import Audit
from areopage.ledger.labels import Labels
from areopage.ledger.records import Trace
from areopage.ledger.traces import Traces
from areopage.review.label import MAX_NOTE, MAX_RATER, rater_name
from areopage.server.access import Actor, checked_form, require
from areopage.server.api.trace_records import GivenVerdict
from areopage.server.api.traces import store_verdict
from areopage.server.context import context_of
from areopage.server.errors import Refusal
from areopage.server.pages.formats import gate_url
from areopage.server.pages.gate_view import decision_view
from areopage.server.pages.rendering import YEAR_SECONDS, language, render
from areopage.server.pages.review import RATER_COOKIE, rater_of

Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Form = Annotated[FormData, Depends(checked_form)]

ACTIONS = {"release": "release", "refuse": "refuse"}
GROUNDED = ("yes", "partly", "no")
MOST_SENTENCES = 1000

router = APIRouter(include_in_schema=False)


class Given(Struct, frozen=True, kw_only=True):
    """What stands in the form: what the rater said before, or what he sent just now."""

    grounded: str = ""
    sentences: frozenset[int] = frozenset()
    note: str = ""
    text: str = ""
    rater: str = ""


@router.get("/gate/{id}")
def show_trace(request: Request, id: str, reader: Reader) -> Response:
    """The decision with everything that it rests on; that somebody read it is noted."""
    trace = found(request, reader, id)
    if trace is None:
        return render(request, "missing.html.j2", 404)
    Audit(context_of(request).ledger).note(reader.name, "read", id)
    return trace_page(request, reader, trace)


@router.post("/gate/{id}")
def decide(request: Request, id: str, writer: Writer, form: Form) -> Response:
    """Take a rater's verdict, and release or refuse the answer where he says so."""
    trace = found(request, writer, id)
    if trace is None or trace.erased:
        return render(request, "missing.html.j2", 404)
    given = given_by(form, writer)
    action = ACTIONS.get(str(form.get("then") or ""))
    say = language(request).say
    if given.grounded not in GROUNDED or not given.rater.strip():
        fault = say("gate_needs_grounded" if given.grounded not in GROUNDED else "review_no_rater")
        return trace_page(request, writer, trace, fault=fault, given=given)
    if (action == "release" and not given.text.strip()) or (given.grounded == "yes" and given.sentences):
        fault = say("gate_yes_but" if given.grounded == "yes" and given.sentences else "gate_needs_text")
        return trace_page(request, writer, trace, fault=fault, given=given)
    verdict = GivenVerdict(
        grounded=given.grounded,  # type: ignore[arg-type]
        sentences=sorted(given.sentences),
        note=given.note,
        action=action,  # type: ignore[arg-type]
        text=given.text if action == "release" else None,
        rater=given.rater if writer.keyless else None,
    )
    try:
        store_verdict(context_of(request), writer, id, verdict, origin="web")
    except StorageError:
        raise
    except Refusal as refusal:
        fault = say("gate_settled_before" if refusal.status_code == 409 else "gate_bad_verdict")
        return trace_page(request, writer, trace, fault=fault, given=given, status=refusal.status_code)
    response = RedirectResponse(gate_url(id), 303)
    if writer.keyless:
        kept = quote(rater_name(given.rater), safe="")
        response.set_cookie(RATER_COOKIE, kept, max_age=YEAR_SECONDS, samesite="lax", httponly=True, path="/")
    return response


def found(request: Request, actor: Actor, id: str) -> Trace | None:
    """A trace that there is, maybe without its texts, and that the actor may see."""
    trace = Traces(context_of(request).ledger).get(id)
    return trace if trace and actor.may_see(trace.collection) else None


def given_by(form: FormData, actor: Actor) -> Given:
    """The fields of a form that was sent; line ends as the generation has them."""
    fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    numbers = [value for name, value in form.multi_items() if name == "sentence" and isinstance(value, str)]
    return Given(
        grounded=fields.get("grounded", ""),
        sentences=frozenset(int(one) for one in numbers[:MOST_SENTENCES] if one.isascii() and one.isdigit() and len(one) < 6),
        note=fields.get("note", "").replace("\r\n", "\n")[:MAX_NOTE],
        text=fields.get("text", "").replace("\r\n", "\n"),
        rater=fields.get("rater", "") if actor.keyless else actor.name,
    )


def trace_page(
    request: Request, actor: Actor, trace: Trace, *, fault: str = "", given: Given | None = None, status: int = 422
) -> Response:
    """The page of one trace.

    Args:
        fault: what is wrong with the verdict that was sent.
        given: the fields that were sent.
        status: of a page with a fault.
    """
    context = context_of(request)
    traces = Traces(context.ledger)
    labels = Labels(context.ledger).grounding([trace.id]).get(trace.id, ())
    release = traces.release(trace.id)
    rater = rater_of(request, actor)
    own = next((label for label in labels if rater and label.rater == rater), None)
    if given is None:
        said = {"grounded": own.grounded, "sentences": frozenset(own.sentences), "note": own.note} if own else {}
        given = Given(**said, text=trace.response, rater=rater)  # type: ignore[arg-type]
    values: Mapping[str, Any] = {
        "trace": trace,
        "view": decision_view(trace, context.gate, language(request).code),
        "labels": labels,
        "release": release,
        "together": traces.waiting([trace.id]).get(trace.id, 0),
        "given": given,
        "fault": fault,
        "may_write": actor.role != "read" and not trace.erased,
        "asks_rater": actor.keyless,
        "limits": {"note": MAX_NOTE, "rater": MAX_RATER},
    }
    return render(request, "gate_trace.html.j2", status if fault else 200, **values)
