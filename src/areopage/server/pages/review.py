"""Pages on which people label answers: the queue, and the page of one answer of the benchmark, the monitor or the gate.

A rater does not see what the judge, the gate or other raters said before he has given his own opinion, and the label says so. The
page of the gate's decision (`/gate/ID`) shows it at once; labels that are given there, or after it was read, are not blind.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.app import review_disagreements
from areopage.ledger import GROUNDED, GROUNDING, HELD, Answer, Evaluation, Label, Ledger, OfSuite, ReviewItem, Trace
from areopage.review import MAX_CORRECTION, MAX_NOTE, MAX_RATER, Given, Rubric, Settlement, is_seen, rater_name
from areopage.server.access import (
    RATER_COOKIE,
    Actor,
    Form,
    Reader,
    Writer,
    note,
    note_scores_seen,
    note_shown,
    rater_of,
)
from areopage.server.api.figures import store_review
from areopage.server.context import ServerContext, context_of
from areopage.server.errors import Refusal
from areopage.server.pages.disagreements import disagreement_for, undoable_by
from areopage.server.pages.gate import decision_view
from areopage.server.pages.rendering import (
    YEAR_SECONDS,
    gate_url,
    language,
    language_code,
    render,
    review_url,
)
from areopage.server.pages.review_questions import FIELD, asked_of, comparison, steps_of

SHOWN = 50
MOST_SENTENCES = 1000
MOST_NUMBER = 2**31 - 1


router = APIRouter(include_in_schema=False)


class Waiting(Struct, frozen=True, kw_only=True):
    """A line of the queue.

    The reason is not shown, since it would reveal a score; that a user waits for a held answer is shown.

    Args:
        awaits_release: the rater has labelled the answer, and it still waits for release.
        together: the number of answers that this settlement decides, 0 where none waits.
        asks_scores: whether raters are asked for scores, or whether the documents support the answer.
        seen: the rater has seen scores of the answer, so that a label is not blind.
    """

    item: ReviewItem
    prompt: str
    suite: str
    raters: int
    address: str
    awaits_release: bool = False
    together: int = 0
    asks_scores: bool = True
    seen: bool = False


class AnswerInReview(Struct, frozen=True, kw_only=True):
    """An answer that the actor may see. `trace` is None where the gate was not asked."""

    answer: Answer
    trace: Trace | None
    evaluation: Evaluation | None

    @property
    def asks_scores(self) -> bool:
        """Whether raters are asked for scores: of an answer that only the gate has seen they are asked for its grounding."""
        return self.trace is None or self.evaluation is not None


class Sent(Struct, frozen=True, kw_only=True):
    """The fields of a form: what stored labels say, or the fields just sent; line ends as in the response."""

    said: Given
    text: str = ""
    rater: str = ""
    then: str = ""


@router.get("/review")
def show_queue(request: Request, reader: Reader, after: int = 0, suite: str = "") -> Response:
    """A page of the answers that wait for this rater's label, and the held answers in the scope of the key."""
    context = context_of(request)
    ledger, queue, rater = context.ledger, context.ledger.review_queue, rater_of(request, reader)
    after = min(max(after, 0), MOST_NUMBER)
    listed = list(islice(_lines_of(context, reader, rater, after=after, suite=suite), SHOWN + 1))
    lines = listed[:SHOWN]
    note_shown(request, ledger, reader, f"a list of {len(lines)} answers", [line.item.answer_id for line in lines])
    further = lines[-1].item.number if len(listed) > SHOWN else 0
    # of a scoped key's answers, no more than one page is read
    waiting = (None if after or further else len(lines)) if reader.collections else queue.count_open(_of_suite(context, suite))
    # a scoped key is not told of suites whose answers it may not see
    suites = (
        [line.suite for line in lines]
        if reader.collections
        else [name or context.suite.name for name in queue.open_runs().values()]
    )
    return render(
        request,
        "review_queue.html.j2",
        lines=lines,
        rater=rater,
        waiting=waiting,
        after=after,
        further=further,
        suite=suite,
        suites=sorted({*suites, *([suite] if suite else [])}),
        progress=None if reader.collections else review_disagreements(ledger, context.config.monitor).progress(),
        last=undoable_by(context, reader, rater),
        kept=_kept(suite),
    )


@router.get("/review/")
def show_next(request: Request, reader: Reader, id: str = "", after: int = 0, suite: str = "") -> Response:
    """The answer of an id that cannot be part of a path, else the next answer of the queue for this rater."""
    if id:
        return show_answer(request, id, reader)
    context, rater = context_of(request), rater_of(request, reader)
    behind = _lines_of(context, reader, rater, after=min(max(after, 0), MOST_NUMBER), suite=suite)
    following = next(behind, None) or next(_lines_of(context, reader, rater, suite=suite), None)
    return RedirectResponse(following.address if following else "/review", 303)


@router.get("/gate/{id}")
@router.get("/review/{id:path}")
def show_answer(request: Request, id: str, reader: Reader) -> Response:
    """An answer to label; once this rater has scored it, also the scores of the judge and of all raters."""
    context = context_of(request)
    shown = _shown_answer(context.ledger, reader, id)
    if shown is None:
        return render(request, "missing.html.j2", 404)
    return _answer_page(request, reader, shown)


@router.post("/review/")
def save_by_query(request: Request, writer: Writer, form: Form, id: str) -> Response:
    """Labels of an answer whose id cannot be part of a path."""
    return save(request, id, writer, form)


@router.post("/gate/{id}")
@router.post("/review/{id:path}")
def save(request: Request, id: str, writer: Writer, form: Form) -> Response:
    """Store a label, settle a held answer if requested, and redirect to the next answer or back to this one."""
    context = context_of(request)
    shown = _shown_answer(context.ledger, writer, id)
    if shown is None or shown.answer.erased:
        return render(request, "missing.html.j2", 404)
    sent = _sent_by(form, writer)
    fault = _fault_of(request, shown, sent)
    if fault:
        return _answer_page(request, writer, shown, fault=fault, sent=sent)
    rater = " ".join(sent.rater.split())
    adjudicates = sent.said.adjudicates
    rater_labels = {} if adjudicates else _own_labels(context.ledger, id, rater)
    blind = not rater_labels and not _on_gate_page(request) and not is_seen(context.ledger, id, rater=rater, actor=writer.name)
    try:
        if review := _given_by(sent.said, rater_labels):
            store_review(context, writer, id, review, rater if writer.keyless else None, origin="web", blind=blind)
    except Refusal as refusal:
        say, scale = language(request).say, Rubric.for_answer(context.ledger, id, context.suite).scale
        if refusal.status_code == 409:
            fault = say("adjudicated_before" if adjudicates else "gate_settled_before")
        elif shown.trace is not None and not adjudicates:
            fault = say("gate_bad_verdict")
        else:
            fault = say("review_bad_score", min=f"{scale.min:g}", max=f"{scale.max:g}")
        return _answer_page(request, writer, shown, fault=fault, sent=sent, status=refusal.status_code)
    further = "/disagreements" if adjudicates else _address_of(request, id)
    if sent.then == "next":
        further = _next_address(request, context.ledger.review_queue.item(id))
    response = RedirectResponse(further, 303)
    if writer.keyless:
        kept = quote(rater_name(rater), safe="")
        response.set_cookie(RATER_COOKIE, kept, max_age=YEAR_SECONDS, samesite="lax", httponly=True, path="/")
    return response


def _shown_answer(ledger: Ledger, actor: Actor, id: str) -> AnswerInReview | None:
    answer, trace = ledger.answers.get(id), ledger.traces.get(id)
    if answer is None or not actor.may_see(answer.source):
        return None
    return AnswerInReview(answer=answer, trace=trace, evaluation=ledger.evaluations.get(id))


def _on_gate_page(request: Request) -> bool:
    return request.url.path.startswith("/gate/")


def _address_of(request: Request, id: str) -> str:
    return gate_url(id) if _on_gate_page(request) else review_url(id, _kept(_suite_of(request))[1:])


def _suite_of(request: Request) -> str:
    """The suite that the rater has chosen in the queue; "" for all."""
    return request.query_params.get("suite", "")


def _kept(suite: str) -> str:
    """What addresses keep of the queue's filter, behind other fields of a query."""
    return f"&suite={quote(suite, safe='', errors='replace')}" if suite else ""


def _next_address(request: Request, item: ReviewItem | None) -> str:
    return f"/review/?after={item.number if item else 0}{_kept(_suite_of(request))}"


def _of_suite(context: ServerContext, name: str) -> OfSuite | None:
    """The filter of the queue; items of no benchmark run are judged by the server's suite."""
    return OfSuite(name=name, others=name == context.suite.name) if name else None


def _own_labels(ledger: Ledger, id: str, rater: str) -> dict[str, Label]:
    """A rater's current labels of an answer by criterion; "" is no rater."""
    labels = ledger.labels.current_of([id]).values()
    return {label.criterion: label for label in labels if rater and label.rater == rater}


def _given_by(said: Given, rater_labels: Mapping[str, Label]) -> Given | None:
    """What a form says that its rater's current labels do not; None: nothing. So a release does not replace a blind label."""
    grounding, scored = rater_labels.get(GROUNDING), any(score.strip() for score in said.scores.values())
    now = (said.grounded, said.sentences, said.note.strip(), said.correction.strip())
    if grounding is None or scored or now != (grounding.grounded, grounding.sentences, grounding.note, grounding.correction):
        return said
    return Given(settlement=said.settlement) if said.settlement else None


def _sent_by(form: FormData, actor: Actor) -> Sent:
    fields = {name: value.replace("\r\n", "\n") for name, value in form.multi_items() if isinstance(value, str)}
    numbers = [value for name, value in form.multi_items() if name == "sentence" and isinstance(value, str)]
    then, text = fields.get("then", ""), fields.get("text", "")
    settlements = {"release": Settlement(state="released", text=text), "refuse": Settlement(state="refused")}
    said = Given(
        scores={name.removeprefix(FIELD): value for name, value in fields.items() if name.startswith(FIELD)},
        grounded=fields.get("grounded", ""),
        sentences=tuple(
            sorted(
                {int(number) for number in numbers[:MOST_SENTENCES] if number.isascii() and number.isdigit() and len(number) < 6}
            )
        ),
        note=fields.get("note", "")[:MAX_NOTE],
        correction=fields.get("correction", "")[:MAX_CORRECTION],
        settlement=settlements.get(then),
        adjudicates=then == "adjudicate",
    )
    return Sent(said=said, text=text, rater=fields.get("rater", "") if actor.keyless else actor.name, then=then)


def _fault_of(request: Request, shown: AnswerInReview, sent: Sent) -> str:
    say, said = language(request).say, sent.said
    scored = any(score.strip() for score in said.scores.values())
    if said.grounded not in GROUNDED and (said.settlement is not None or (shown.trace is not None and not scored)):
        return say("gate_needs_grounded")
    if not sent.rater.strip():
        return say("review_no_rater")
    if not scored and not said.grounded:
        return say("review_no_score")
    if sent.then == "release" and not sent.text.strip():
        return say("gate_needs_text")
    if sent.then == "release" and said.grounded != "yes" and sent.text.strip() == (shown.answer.case.response or "").strip():
        return say("gate_release_unsupported")
    return say("gate_yes_but") if said.grounded == "yes" and said.sentences else ""


def _text_to_release(shown: AnswerInReview, opinion: Label | None) -> str:
    """The text that a rater may release: the response, without what the rater has called unsupported."""
    text = shown.answer.case.response or ""
    if opinion is None or opinion.grounded == "yes":
        return text
    decision = shown.trace.decision if shown.trace is not None else None
    if decision is None or opinion.grounded == "no" or not opinion.sentences:
        return ""
    unsupported = [sentence for index, sentence in enumerate(decision.sentences) if index in opinion.sentences]
    for sentence in reversed(unsupported):
        text = text[: sentence.start] + text[sentence.end :].lstrip(" ")
    return text.strip()


def _lines_of(context: ServerContext, reader: Actor, rater: str, *, after: int = 0, suite: str = "") -> Iterator[Waiting]:
    """The items behind a number of the queue that wait for a rater ("" is unknown) and lie in the reader's collections."""
    ledger, chosen = context.ledger, _of_suite(context, suite)
    suites = ledger.review_queue.open_runs()
    while items := ledger.review_queue.open_items(rater or None, limit=SHOWN, after=after, suite=chosen):
        ids = [item.answer_id for item in items]
        labels, together = ledger.labels.current_of(ids), ledger.traces.waiting(ids)
        seen = {id for id, who in ledger.audit.opinions_seen(ids) if who in (rater, reader.name)}
        labelled = {labelled for labelled, who, _ in labels if rater and who == rater}
        for item in items:
            id = item.answer_id
            answer = ledger.answers.get(id)
            if answer is None or not reader.may_see(answer.source):
                continue
            yield Waiting(
                item=item,
                prompt=answer.case.prompt_text,
                raters=len({who for labelled_id, who, _ in labels if labelled_id == id}),
                suite=suites.get(item.run_id) or context.suite.name,
                address=review_url(id, _kept(suite)[1:]),
                awaits_release=item.why == HELD and id in labelled,
                together=together.get(id, 0),
                asks_scores=answer.origin in ("bench", "monitor"),
                seen=id in seen,
            )
        if len(items) < SHOWN:
            return
        after = items[-1].number


def _answer_page(
    request: Request, actor: Actor, shown: AnswerInReview, *, fault: str = "", sent: Sent | None = None, status: int = 422
) -> Response:
    context, id = context_of(request), shown.answer.id
    asked = asked_of(context, shown.answer, language_code(request))
    rubric, code, rater = asked.rubric, language_code(request), rater_of(request, actor)
    labels = list(context.ledger.labels.current_of([id]).values())
    scores = [label for label in labels if label.criterion != GROUNDING]
    rater_labels, item = _own_labels(context.ledger, id, rater), context.ledger.review_queue.item(id)
    labelled = any(criterion != GROUNDING for criterion in rater_labels)
    blind = not rater_labels and not _on_gate_page(request)
    adjudicates = sent is not None and sent.said.adjudicates
    disagreement = disagreement_for(request, actor, id, shown=bool(rater_labels) or adjudicates)
    waits = labelled and review_disagreements(context.ledger, context.config.monitor).hides(id)
    seen = is_seen(context.ledger, id, rater=rater, actor=actor.name)
    if (labelled and not waits) or (shown.trace is not None and not blind):
        note_scores_seen(context.ledger, actor, id, rater)
    else:
        note(context.ledger, actor, "read", id)
    is_editing = not labelled or bool(fault) or shown.trace is not None or "edit" in request.query_params
    is_editing = is_editing and (disagreement is None or (bool(rater_labels) and "edit" in request.query_params))
    before = rater_labels.get(GROUNDING)
    said = Given(
        scores={path: f"{label.score:g}" for path, label in rater_labels.items() if path != GROUNDING},
        grounded=before.grounded if before else "",
        sentences=before.sentences if before else (),
        note=next((label.note for label in rater_labels.values()), ""),
        correction=next((label.correction for label in rater_labels.values()), ""),
    )
    sent = sent or Sent(said=said, text=_text_to_release(shown, before), rater=rater)
    values: dict[str, Any] = {
        "answer": shown.answer,
        "trace": shown.trace,
        "address": _address_of(request, id),
        "blind": blind,
        "counts": blind and not seen,
        "reviewing": not _on_gate_page(request),
        "unseen": GROUNDING in rater_labels and rater_labels[GROUNDING].blind,
        "item": item,
        "kept": _kept(_suite_of(request)),
        "next_address": _next_address(request, item),
        "asked": asked,
        "sent": sent,
        "questions": asked.questions(sent.said.scores) if shown.asks_scores else [],
        "fault": fault,
        "asks_rater": actor.keyless,
        "may_write": actor.role != "read" and not shown.answer.erased,
        "scale": rubric.scale,
        "steps": steps_of(rubric.scale),
        "limits": {"note": MAX_NOTE, "correction": MAX_CORRECTION, "rater": MAX_RATER},
        "labelled": labelled and not waits,
        "waits_for_others": waits,
        "disagreement": disagreement,
        "last": undoable_by(context, actor, rater),
        "editing": is_editing,
    }
    if shown.trace is not None:
        values |= {
            "view": decision_view(shown.trace, context.gate, code),
            "grounding": [label for label in labels if label.criterion == GROUNDING],
            "release": context.ledger.traces.release(id),
            "together": context.ledger.traces.waiting([id]).get(id, 0),
        }
    if labelled and not waits:
        values |= comparison(context.ledger, asked, scores, rater, shown.answer.case.response or "")
    return render(request, "review_answer.html.j2", status if fault else 200, **values)
