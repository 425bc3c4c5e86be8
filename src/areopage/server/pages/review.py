"""Pages on which people label answers, without knowing what the judge said until they have."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends
from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from areopage.criteria.records import Criterion, Scale
from areopage.errors import StorageError, UserError
from areopage.ledger.access import Audit
from areopage.ledger.erasure import is_erased
from areopage.ledger.exchange_rows import HELD
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.labels import Labels, ReviewQueue
from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import Label, QualityScore, ReviewItem, Submission
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import Submissions
from areopage.review.label import MAX_NOTE, MAX_RATER, label_answer, rater_name
from areopage.review.rubric import OVERALL, Rubric, rubric_of
from areopage.server.access import Actor, checked_form, require
from areopage.server.context import context_of
from areopage.server.pages.formats import gate_url, review_url
from areopage.server.pages.rendering import YEAR_SECONDS, language, language_code, render

RATER_COOKIE = "areopage_rater"
FIELD = "score."
SHOWN = 50
MOST_STEPS = 10
WRAPPED = re.compile(r"\n[ \t]+(?![-•*\d])")

Reader = Annotated[Actor, Depends(require("read"))]
Writer = Annotated[Actor, Depends(require("write"))]
Form = Annotated[FormData, Depends(checked_form)]

router = APIRouter(include_in_schema=False)


class Waiting(Struct, frozen=True, kw_only=True):
    """A line of the queue. Why the answer is there is not shown: it would tell what the judge thinks of it. Only an answer that
    the gate holds back is called so, as somebody waits for it; `together` is how many wait for this one decision."""

    item: ReviewItem
    question: str
    raters: int
    address: str
    together: int = 0

    @property
    def held(self) -> bool:
        """Whether the gate holds the answer back."""
        return self.item.why == HELD


class Question(Struct, frozen=True, kw_only=True):
    """What is asked of a rater: one criterion, or the overall score, with what he gave so far."""

    path: str
    label: str
    guide: Criterion | None
    value: str

    @property
    def field(self) -> str:
        """Its field's name in the form."""
        return FIELD + self.path

    @property
    def anchors(self) -> str:
        """What the scores mean; lines that the prompt file had wrapped are whole again."""
        return WRAPPED.sub(" ", self.guide.scoring_guide.strip()) if self.guide else ""


class Compared(Struct, frozen=True, kw_only=True):
    """One criterion once it is labelled: the judge, and each rater (None where one gave no score)."""

    label: str
    judge: float | None
    people: tuple[float | None, ...]


@router.get("/review")
def show_queue(request: Request, reader: Reader) -> Response:
    """The answers that wait for this rater's label, and those that the gate holds back in what he may see."""
    ledger = context_of(request).ledger
    queue, rater = ReviewQueue(ledger), rater_of(request, reader)
    lines = list(islice(lines_of(ledger, reader, rater), SHOWN))
    return render(request, "review_queue.html.j2", lines=lines, rater=rater, waiting=queue.count_open(), shown=SHOWN)


@router.get("/review/")
def show_next(request: Request, reader: Reader, id: str = "", after: int = 0) -> Response:
    """An answer whose id cannot stand in a path; else the next one that waits for this rater, behind a number of the queue."""
    if id:
        return show_answer(request, id, reader)
    ledger, rater = context_of(request).ledger, rater_of(request, reader)
    bounded = min(max(after, 0), 2**31 - 1)
    found = next(lines_of(ledger, reader, rater, after=bounded), None) or next(lines_of(ledger, reader, rater), None)
    return RedirectResponse(found.address if found else "/review", 303)


@router.get("/review/{id:path}")
def show_answer(request: Request, id: str, reader: Reader) -> Response:
    """An answer to label; once this rater has labelled it, the judge's scores and everybody's beside his own."""
    ledger = context_of(request).ledger
    submission = Submissions(ledger).get(id)
    if submission is None or is_erased(submission):
        return render(request, "missing.html.j2", 404)
    Audit(ledger).note(reader.name, "read", id)
    return label_page(request, reader, submission)


@router.post("/review/")
def save_by_query(request: Request, writer: Writer, form: Form, id: str) -> Response:
    """Labels of an answer whose id cannot stand in a path."""
    return save(request, id, writer, form)


@router.post("/review/{id:path}")
def save(request: Request, id: str, writer: Writer, form: Form) -> Response:
    """Take a rater's labels; then the next answer, or this one with what the judge said."""
    context = context_of(request)
    submission = Submissions(context.ledger).get(id)
    if submission is None or is_erased(submission):
        return render(request, "missing.html.j2", 404)
    fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    scores = {name.removeprefix(FIELD): value for name, value in fields.items() if name.startswith(FIELD)}
    rater = fields.get("rater", "") if writer.keyless else writer.name
    say, scale = language(request).say, context.suite.scale
    if not rater.strip() or not any(score.strip() for score in scores.values()):
        missing = say("review_no_rater" if not rater.strip() else "review_no_score")
        return label_page(request, writer, submission, fault=missing, given=fields)
    try:
        label_answer(context.ledger, rubric_of(context.suite), id, rater, scores, fields.get("note", ""), "web", context.now())
    except StorageError:
        raise
    except UserError:
        wrong = say("review_bad_score", min=f"{scale.min:g}", max=f"{scale.max:g}")
        return label_page(request, writer, submission, fault=wrong, given=fields)
    item = ReviewQueue(context.ledger).item(id)
    further = f"/review/?after={item.number if item else 0}"
    response = RedirectResponse(further if fields.get("then") == "next" else review_url(id), 303)
    if writer.keyless:
        response.set_cookie(
            RATER_COOKIE, quote(rater_name(rater), safe=""), max_age=YEAR_SECONDS, samesite="lax", httponly=True, path="/"
        )
    return response


def lines_of(ledger: Ledger, reader: Actor, rater: str, *, after: int = 0) -> Iterator[Waiting]:
    """What waits for a rater behind a number of the queue, read in portions, without answers of collections beyond his scope.

    Args:
        rater: "" for somebody whose name is not known yet.
    """
    queue, exchanges = ReviewQueue(ledger), Exchanges(ledger)
    while items := queue.open_items(rater or None, limit=SHOWN, after=after):
        given = Labels(ledger).current_of([item.submission_id for item in items])
        held = [item.submission_id for item in items if item.why == HELD]
        said, together = exchanges.labels(held), exchanges.waiting(held)
        for item in items:
            id = item.submission_id
            if item.why != HELD:
                raters = len({who for labelled, who, _ in given if labelled == id})
                yield Waiting(item=item, question=prompt_of(Submissions(ledger).get(id)), raters=raters, address=review_url(id))
                continue
            exchange = exchanges.get(id)
            if exchange is not None and reader.may_see(exchange.collection):
                yield Waiting(
                    item=item,
                    question=exchange.question,
                    raters=len(said.get(id, ())),
                    address=gate_url(id),
                    together=together.get(id, 0),
                )
        if len(items) < SHOWN:
            return
        after = items[-1].number


def label_page(
    request: Request, actor: Actor, submission: Submission, *, fault: str = "", given: dict[str, str] | None = None
) -> Response:
    """The page of one answer.

    Args:
        fault: what is wrong with the labels that were sent.
        given: the fields that were sent.
    """
    context = context_of(request)
    rubric, code = rubric_of(context.suite), language_code(request)
    rater = rater_of(request, actor)
    labels = list(Labels(context.ledger).current_of([submission.id]).values())
    own = {label.criterion: label for label in labels if rater and label.rater == rater}
    fields = given or {FIELD + path: f"{label.score:g}" for path, label in own.items()}
    labelled = bool(own)
    return render(
        request,
        "review_answer.html.j2",
        422 if fault else 200,
        submission=submission,
        item=ReviewQueue(context.ledger).item(submission.id),
        questions=questions_of(rubric, code, fields),
        note=fields.get("note", next((label.note for label in own.values()), "")),
        fault=fault,
        asks_rater=actor.keyless,
        rater=fields.get("rater", rater),
        may_write=actor.role != "read",
        scale=rubric.scale,
        steps=steps_of(rubric.scale),
        limits={"note": MAX_NOTE, "rater": MAX_RATER},
        labelled=labelled,
        editing=not labelled or bool(fault) or "edit" in request.query_params,
        **(comparison(request, submission.id, rubric, code, labels, rater) if labelled else {}),
    )


def questions_of(rubric: Rubric, language: str, fields: dict[str, str]) -> list[Question]:
    """What a rater is asked, the overall score last; its label is the template's."""
    guides, names = rubric.guides(language), rubric.labels(language)
    asked = [(path, names[path], guides.get(path)) for path in rubric.paths] + [(OVERALL, "", None)]
    return [Question(path=path, label=label, guide=guide, value=fields.get(FIELD + path, "")) for path, label, guide in asked]


def comparison(request: Request, id: str, rubric: Rubric, language: str, labels: Sequence[Label], rater: str) -> dict[str, Any]:
    """What somebody sees who has labelled: himself first, then the others, then the judge."""
    ledger = context_of(request).ledger
    judge = Labels(ledger).judge_scores([id]).get(id, {})
    score: QualityScore | None = QualityScores(ledger).get(id)
    raters = sorted({label.rater for label in labels}, key=lambda name: (name != rater, name))
    given = {(label.rater, label.criterion): label.score for label in labels}
    names = rubric.labels(language) | {OVERALL: ""}
    return {
        "raters": raters,
        "compared": [
            Compared(label=name, judge=judge.get(path), people=tuple(given.get((one, path)) for one in raters))
            for path, name in names.items()
        ],
        "notes": list(dict.fromkeys((label.rater, label.note) for label in labels if label.note)),
        "score": score,
    }


def rater_of(request: Request, actor: Actor) -> str:
    """Who labels: the key's name; without a key the name that a cookie keeps, "" for somebody whom nobody asked yet."""
    return actor.name if not actor.keyless else unquote(request.cookies.get(RATER_COOKIE, ""))[:MAX_RATER]


def steps_of(scale: Scale) -> list[int]:
    """The scale's whole points, where they are few enough to be chosen from; none where a number must be typed."""
    whole = scale.min == int(scale.min) and scale.max == int(scale.max) and scale.max - scale.min <= MOST_STEPS
    return list(range(int(scale.min), int(scale.max) + 1)) if whole else []


def prompt_of(submission: Submission | None) -> str:
    """A submission's question; "" where it is gone."""
    return submission.case.prompt_text if submission else ""
