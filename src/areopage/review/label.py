"""Take what a rater says of an answer: scores, whether the documents support it, and whether a held answer may be released."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

from msgspec import Struct

from areopage.errors import NotHeldBack, UnknownAnswer, UserError
from areopage.ledger import GROUNDED, GROUNDING, Answer, Label, Ledger, Release, Trace, reduced_trace
from areopage.review.rubric import Rubric
from areopage.suites import StorageSection

MAX_RATER = 128
MAX_NOTE = 10_000
MAX_CORRECTION = 20_000
MAX_RELEASED = 100_000

Origin = Literal["web", "api", "cli", "import"]


class Settlement(Struct, frozen=True, kw_only=True):
    """What is to become of a held answer. `text` replaces the one that was generated; None leaves it as it is."""

    state: Literal["released", "refused"]
    text: str | None = None


class Given(Struct, frozen=True, kw_only=True):
    """What a rater says of an answer.

    Args:
        scores: as written, by any of a criterion's names; empty ones are left out.
        grounded: yes, partly or no; "" says nothing of it.
        sentences: indexes in the gate's decision, from 0, of the sentences that no document supports.
        correction: what the answer should have said; it is stored beside the labels.
        settlement: releases or refuses a held answer, and all equal ones that wait.
        adjudicates: decides between raters who disagree: this counts in place of their labels, which stay in the ledger.
    """

    scores: Mapping[str, str] = {}
    grounded: str = ""
    sentences: Sequence[int] = ()
    note: str = ""
    correction: str = ""
    settlement: Settlement | None = None
    adjudicates: bool = False


class Reviewed(Struct, frozen=True, kw_only=True):
    """What was stored. `settled` is how many answers a settlement settled: this one, and equal ones that waited."""

    labels: tuple[Label, ...]
    release: Release | None = None
    settled: int = 0


def review_answer(
    ledger: Ledger,
    id: str,
    rater: str,
    input: Given,
    *,
    origin: Origin,
    now: datetime,
    rubric: Rubric | None = None,
    storage: StorageSection | None = None,
    key_id: str = "",
    blind: bool | None = None,
    actor: str = "",
) -> Reviewed:
    """Append a rater's labels of any answer, and settle it where that is asked for, with entries in the audit log.

    Everything is checked before anything is written. Should another reviewer settle the answer in this very moment, the labels
    stay.

    Args:
        rubric: what scores are given on.
        storage: what stays of a settled answer's own texts; None: all. What is released stays readable as it is.
        key_id: of the API key that acts, for the audit log; it may be another person's than the rater's.
        blind: whether the rater had seen neither a judge's scores nor the gate's decision; None: as the audit log tells, and
            not blind where the gate decided, whose reply shows the decision. An adjudication goes by the audit log alone, and
            may have seen the raters' labels.
        actor: who acts; "" for the rater.

    Raises:
        UnknownAnswer: there is no such answer, or it was erased.
        NotHeldBack: it is to be settled, and does not wait.
        ReviewConflict: another person has adjudicated.
        UserError: a score, a name, a word, a sentence or a text is wrong, nothing is said, or no raters disagree.
    """
    name = rater_name(rater)
    scores = _scores_of(rubric, input.scores) if rubric is not None else {}
    if not scores and not input.grounded and (input.settlement is None or input.correction.strip()):
        raise UserError("no score given: score at least one criterion, or state whether the answer is grounded")
    answer = find_answer(ledger, id)
    trace = ledger.traces.get(id)
    release = None if input.settlement is None else _release_of(ledger, answer, name, input.settlement, now)
    if input.adjudicates:
        blind = not ledger.audit.scores_seen([id]) & {(id, name), (id, actor or name)}
    elif blind is None:
        blind = trace is None and not is_seen(ledger, id, rater=name, actor=actor or name)
    new_label = partial(Label, answer_id=id, rater=name, origin=origin, created_at=now, blind=blind, decides=input.adjudicates)
    labels = _labels_of(input, scores, trace, new_label)
    if labels:
        (ledger.disagreements.adjudicate if input.adjudicates else ledger.labels.add)(labels)
        action = "adjudicate" if input.adjudicates else "label"
        ledger.audit.note(name, action, id, ", ".join(map(_label_text, labels)), key_id=key_id)
    settled = 0 if release is None else _settle(ledger, answer, release, storage, key_id)
    return Reviewed(labels=tuple(labels), release=release, settled=settled)


def undo_last(ledger: Ledger, rater: str, *, sources: Sequence[str] = (), key_id: str = "") -> tuple[Label, ...]:
    """Undo what a rater said last, with an entry in the audit log; see `Disagreements.undo_last`."""
    undone = ledger.disagreements.undo_last(rater_name(rater), sources)
    ledger.audit.note(undone[0].rater, "undo", undone[0].answer_id, ", ".join(map(_label_text, undone)), key_id=key_id)
    return undone


def is_seen(ledger: Ledger, id: str, *, rater: str, actor: str) -> bool:
    """Whether a rater, or who acts in the rater's name, has read an answer with the judges' scores of it, or others' labels."""
    return bool(ledger.audit.opinions_seen([id]) & {(id, rater), (id, actor)})


def find_answer(ledger: Ledger, id: str) -> Answer:
    """An answer with its texts; an error where there is none, or it was erased."""
    answer = ledger.answers.get(id)
    if answer is None:
        queue = shlex.join(["areopage", "review", "list", "--ledger", ledger.place])
        raise UnknownAnswer(f"no answer {id[:128]!r} in {ledger.place}: {queue} shows the queue")
    if answer.erased:
        raise UnknownAnswer(f"the answer {id!r} was erased")
    return answer


def _labels_of(input: Given, scores: Mapping[str, float], trace: Trace | None, new_label: Callable[..., Label]) -> list[Label]:
    """What is said as labels: one for each score, and one of grounding."""
    correction = input.correction.strip()
    if len(correction) > MAX_CORRECTION:
        raise UserError(f"correction: give at most {MAX_CORRECTION:,} characters")
    said = partial(new_label, note=input.note.strip()[:MAX_NOTE], correction=correction)
    labels = [said(criterion=criterion, score=score) for criterion, score in scores.items()]
    if input.grounded:
        word = next((word for word in GROUNDED if word == input.grounded), None)
        if word is None:
            raise UserError(f"grounded {input.grounded[:40]!r}: use yes, partly or no")
        sentences = _marked_sentences(input, trace)
        labels.append(said(criterion=GROUNDING, score=float(GROUNDED.index(word)), sentences=sentences))
    return labels


def _scores_of(rubric: Rubric, scores: Mapping[str, str]) -> dict[str, float]:
    by_criterion: dict[str, float] = {}
    for name, text in scores.items():
        if not text.strip():
            continue
        criterion = rubric.find(name) if name else ""
        if criterion in by_criterion:
            raise UserError(f"{name}: scored twice: give one score")
        try:
            by_criterion[criterion] = rubric.score(text)
        except UserError as fault:
            raise UserError(f"{name or 'global'}: {fault}") from None
    return by_criterion


def rater_name(text: str) -> str:
    """A rater's name without stray spaces; a user error where it is empty or too long."""
    name = " ".join(text.split())
    if not name or len(name) > MAX_RATER:
        raise UserError(f"rater: give a name of 1 to {MAX_RATER} characters")
    return name


def _marked_sentences(input: Given, trace: Trace | None) -> tuple[int, ...]:
    marked = tuple(sorted(set(input.sentences)))
    count = len(trace.decision.sentences) if trace is not None and trace.decision is not None else 0
    if marked and (marked[0] < 0 or marked[-1] >= count):
        wrong = marked[0] if marked[0] < 0 else marked[-1]
        raise UserError(f"no sentence {wrong + 1}: the answer has {count}")
    if marked and input.grounded == "yes":
        raise UserError("an answer with an unsupported sentence is not grounded: use partly or no")
    return marked


def _release_of(ledger: Ledger, answer: Answer, rater: str, settlement: Settlement, now: datetime) -> Release:
    release = ledger.traces.release(answer.id)
    if release is None or release.state != "waiting":
        raise _not_held(ledger, answer.id)
    if settlement.state == "refused":
        if settlement.text is not None:
            raise UserError("a rejected answer has no text: release it, or omit the text")
        return Release(answer_id=answer.id, state="refused", rater=rater, at=now)
    text = (answer.case.response or "") if settlement.text is None else settlement.text.strip()
    if not text.strip() or len(text) > MAX_RELEASED:
        raise UserError(f"give a released text of 1 to {MAX_RELEASED:,} characters, or reject the answer")
    return Release(answer_id=answer.id, state="released", text=text, rater=rater, at=now)


def _settle(ledger: Ledger, answer: Answer, release: Release, storage: StorageSection | None, key_id: str) -> int:
    reduce: Callable[[Trace], Trace] | None = None
    if storage is not None and storage.text != "full":
        reduce = partial(reduced_trace, policy=storage.text, max_chars=storage.max_chars)
    settled = ledger.traces.settle(release, reduce)
    if not settled:
        raise _not_held(ledger, answer.id)
    if reduce is not None:
        ledger.erasure.empty_log(soon=True)  # it held the texts; where others read it now, the next checkpoint empties it
    edited = ", edited" if release.state == "released" and release.text != answer.case.response else ""
    equal = f", with {settled - 1} equal ones" if settled > 1 else ""
    ledger.audit.note(release.rater, "release", answer.id, release.state + edited + equal, key_id=key_id)
    return settled


def _not_held(ledger: Ledger, id: str) -> NotHeldBack:
    release = ledger.traces.release(id)
    if release is None:
        return NotHeldBack(f"the answer {id!r} was not held back: there is nothing to release or refuse")
    why = f"by {release.rater}" if release.rater else "as it was erased"
    return NotHeldBack(f"the answer {id!r} is {release.state} already, {why}")


def _label_text(label: Label) -> str:
    if label.criterion != GROUNDING:
        return f"{label.criterion or 'global'}={label.score:g}"
    marked = f", sentences {', '.join(str(at + 1) for at in label.sentences)}" if label.sentences else ""
    return f"grounded: {label.grounded}{marked}"
