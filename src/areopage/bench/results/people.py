"""People's part in a run: the answers that are drawn for review, the labels that count, and sign-offs."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import isnan
from typing import Literal, get_args

from msgspec import Struct, structs

from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.missing import UNSCORED
from areopage.bench.figures.release import RELEASE, SCORES_RELEASE
from areopage.bench.results.run_data import RunData
from areopage.digest import digest_of, digest_of_list
from areopage.errors import UserError
from areopage.ledger import SAMPLE, Ledger, Reservation, ReviewItem, SignedState, SignOff
from areopage.locales import Locale
from areopage.report import report_locale
from areopage.scoring import CriterionScore, ScoreColumns

_SHOWN = 5


def reservations(view: RunData) -> Iterator[Reservation]:
    """What speaks against an approval without a note, the gravest first; none where a run passed without any failure."""
    release = RELEASE.of(view)
    floors = release.floors if release is not None else ()
    if missed := sum(floor.state == "not_met" for floor in floors):
        yield Reservation(kind="floors_missed", count=missed)
    if opened := sum(floor.state in ("open", "accepted") for floor in floors):
        yield Reservation(kind="floors_open", count=opened)
    code = {judge.name for judge in view.spec.judges if judge.kind == "code"}
    words = [(standing.judge, standing.word) for standing in view.standings if standing.word != "qualified"]
    unexamined = [name for name, word in words if word == "never_examined" and name not in code]
    unqualified = [name for name, word in words if word in ("unfit", "drifted", "not_qualified")]
    provisional = [
        standing.judge for standing in view.standings if standing.word in ("provisional", "in_part") and standing.provisional
    ]
    if unqualified:
        yield Reservation(kind="judges_not_qualified", count=len(unqualified), names=tuple(unqualified))
    if unexamined:
        yield Reservation(kind="judges_never_examined", count=len(unexamined), names=tuple(unexamined))
    if in_part := [name for name, word in words if word == "in_part" and name not in code]:
        yield Reservation(kind="judges_in_part", count=len(in_part), names=tuple(in_part))
    if provisional:
        yield Reservation(kind="judges_provisional", count=len(provisional), names=tuple(provisional))
    if view.rejected:
        yield Reservation(kind="rejected_rows", count=len(view.rejected))
    if failing := tuple(FAILURES.of(view).by_case):
        yield Reservation(kind="failing_cases", count=len(failing), names=failing[:_SHOWN])


def reservation_line(reservation: Reservation, locale: Locale) -> str:
    """Something that speaks against the approval of a run."""
    text = locale.count(f"reservation_{reservation.kind}", reservation.count)
    return locale.say("signed_open_named", what=text, names=locale.names(reservation.names)) if reservation.names else text


ReviewKind = Literal["random", "failing", "disputed", "unscored", "addressed"]
REVIEW_KINDS: tuple[ReviewKind, ...] = get_args(ReviewKind)
WHY: Mapping[ReviewKind, str] = {"random": SAMPLE, "disputed": "disagreement"}
"""The reason that the queue keeps, where it is not the kind's name."""

SPREAD = 0.4
"""Judges dispute a criterion if their scores are this share of the scale apart, or one sees a failure and another does not."""

LONGEST_NAME = 128
LONGEST_NOTE = 10_000
_EXACT = 9  # decimals of scores that are signed: more depend on the order of a sum
_ROWS_AT_ONCE = 10_000


class Queued(Struct, frozen=True, kw_only=True):
    """What one draw did.

    Args:
        of_kind: how many answers are of each kind; `random` are all that can be labelled.
        drawn: how many answers of each kind belong to the draw, those that were queued before included.
        queued_before: how many of the drawn answers were in this run's queue already.
        new: how many are new in the queue.
    """

    of_kind: dict[ReviewKind, int]
    drawn: dict[ReviewKind, int]
    queued_before: int
    new: int


def answers_by_kind(view: RunData) -> dict[ReviewKind, list[str]]:
    """The ids of the answers of a run that people can label, by kind; an answer may be of several kinds."""
    ids = {case.id: view.answer_ids[case.id] for case in view.cases if case.response is not None and case.id in view.answer_ids}
    ids = {case_id: id for case_id, id in ids.items() if case_id not in view.erased}
    limits = view.spec.limits
    scores = {record.case_id: record.criteria for record in view.scores.records}
    unscored, addressing = set(UNSCORED.of(view)), set(view.addressing)
    by_kind: dict[ReviewKind, dict[str, None]] = {kind: {} for kind in REVIEW_KINDS}
    for case_id, id in ids.items():
        states: dict[ReviewKind, bool] = {
            "random": True,
            "failing": case_id in FAILURES.of(view).by_case,
            "disputed": any(_is_disputed(view, score, limits[score.criterion]) for score in scores.get(case_id, ())),
            "unscored": case_id in unscored,
            "addressed": case_id in addressing,
        }
        for kind, holds in states.items():
            if holds:
                by_kind[kind][id] = None
    return {kind: list(ids) for kind, ids in by_kind.items()}


def _is_disputed(view: RunData, score: CriterionScore, limit: float) -> bool:
    scores, scale = [judge.score for judge in score.judges if judge.score is not None], view.spec.scale
    if score.is_disputed or len(scores) < 2:
        return score.is_disputed
    failing = {scale.reaches(score, limit) for score in scores}
    return len(failing) > 1 or max(scores) - min(scores) >= SPREAD * (scale.max - scale.min)


def draw(by_kind: Mapping[ReviewKind, Sequence[str]], where: Sequence[ReviewKind], size: int, seed: str) -> dict[str, ReviewKind]:
    """Draw answers for review: half of them at random from all answers, the others from the kinds of `where` in turn.

    Within a kind, too, answers are drawn at random. What a kind cannot fill is filled up at random. A larger draw with the same
    seed contains the smaller one's random part.

    Returns:
        The kind that each answer was drawn for, by its id. Answers of the random part are `random`.
    """
    order = {kind: sorted(ids, key=lambda id: _rank(seed, id)) for kind, ids in by_kind.items()}
    others = [kind for kind in dict.fromkeys(where) if kind != "random"]
    chosen: dict[str, ReviewKind] = dict.fromkeys(order["random"][: -(-size // 2) if others else size], "random")
    left = {kind: iter(order[kind]) for kind in others}
    while left and len(chosen) < size:
        for kind in list(left):
            next_one = next((id for id in left[kind] if id not in chosen), None)
            if next_one is None:
                del left[kind]
            elif len(chosen) < size:
                chosen[next_one] = kind
    for id in order["random"]:
        if len(chosen) >= size:
            break
        chosen.setdefault(id, "random")
    return chosen


def _rank(seed: str, id: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{id}".encode("utf-8", "replace")).digest()


def queue_answers(
    view: RunData, ledger: Ledger, where: Sequence[ReviewKind], size: int, now: datetime, *, raters: int = 1, seed: str = ""
) -> Queued:
    """Draw answers of a run and queue them for review; existing items are kept, so repeated calls are safe.

    Args:
        raters: how many should label each answer.
        seed: of the draw; "" for the run's fingerprint.
    """
    by_kind, queue = answers_by_kind(view), ledger.review_queue
    chosen = draw(by_kind, where, size, seed or view.run.fingerprint)
    queued = queue.items(list(chosen), view.run.id)

    def item(id: str, kind: ReviewKind) -> ReviewItem:
        return ReviewItem(answer_id=id, why=WHY.get(kind, kind), created_at=now, wanted=raters, run_id=view.run.id)

    # an order that tells nothing of why an answer is there
    items = [item(id, chosen[id]) for id in sorted(chosen, key=lambda id: _rank("order", id))]
    queue.draw([item for item in items if item.why == SAMPLE])
    queue.add([item for item in items if item.why != SAMPLE])
    drawn: dict[ReviewKind, int] = {kind: list(chosen.values()).count(kind) for kind in REVIEW_KINDS}
    return Queued(
        of_kind={kind: len(ids) for kind, ids in by_kind.items()},
        drawn=drawn,
        queued_before=len(queued),
        new=len(chosen) - len(queued),
    )


# --- sign-offs


def signed_state(view: RunData) -> SignedState:
    """What a sign-off of a run is about, at this moment."""
    release = RELEASE.of(view)
    labels = sorted((label.answer_id, label.rater, label.criterion, label.score) for label in view.people.labels)
    return SignedState(
        fingerprint=view.run.fingerprint,
        results=results_digest(view),
        labels=digest_of(labels),
        counted=len(labels),
        release=release.verdict if release else "",
        heads=view.heads,
        over=tuple(reservations(view)),
    )


def results_digest(view: RunData) -> str:
    """The digest of a run's scores, failures and release verdict, which a sign-off names, whatever exams say of its judges."""
    release, final, scores = SCORES_RELEASE.of(view), view.scores.tree.score, _signed_scores(view.scores.criteria)
    return digest_of_list(
        [view.complete, None if final is None else round(final, _EXACT), scores, FAILURES.of(view).by_case, release]
    )


def _signed_scores(scores: ScoreColumns) -> Iterator[tuple[str, str, bool, float | None]]:
    """The case, criterion, applicability and score of each row, as they are signed."""
    columns = (scores.case, scores.criterion, scores.cells.applies, scores.cells.score)
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows = zip(*(some[start : start + _ROWS_AT_ONCE].tolist() for some in columns), strict=True)
        for case, criterion, applies, score in rows:
            yield scores.cases[case], scores.criteria[criterion], applies, None if isnan(score) else round(score, _EXACT)


class SignedRun(Struct, frozen=True, kw_only=True):
    """A sign-off, and whether it still holds.

    Args:
        changed: what is not as it was signed: `results`, `labels`, or `signature` where the sign-off itself was altered.
    """

    signoff: SignOff
    changed: tuple[Literal["results", "labels", "signature"], ...]


def signed_runs(view: RunData) -> Iterator[SignedRun]:
    """The sign-offs of a run, the latest first; of each name the latest counts."""
    if not view.people.signoffs:
        return
    now, names = signed_state(view), set[str]()
    for signoff in reversed(view.people.signoffs):
        if signoff.name in names:
            continue
        names.add(signoff.name)
        state = signoff.signed
        changed: list[Literal["results", "labels", "signature"]] = []
        if (state.fingerprint, state.results, state.release) != (now.fingerprint, now.results, now.release):
            changed.append("results")
        if state.labels != now.labels:
            changed.append("labels")
        if signoff.content_digest != signoff.digest:
            changed.append("signature")
        yield SignedRun(signoff=signoff, changed=tuple(changed))


def sign_run(
    view: RunData,
    ledger: Ledger,
    name: str,
    verdict: Literal["approve", "reject"],
    now: datetime,
    *,
    role: str = "",
    note: str = "",
    actor: str,
    key_id: str = "",
) -> SignOff:
    """Append a sign-off of a run as it is now, with an entry in the audit log.

    Args:
        view: of the run as it was carried out, not of a variant.
        actor, key_id: who acts, for the audit log.

    Raises:
        UserError: a name or a text is wrong, or the run cannot be approved as it is.
    """
    name, role, note = " ".join(name.split()), " ".join(role.split()), note.strip()
    if not name or max(len(name), len(role)) > LONGEST_NAME:
        raise UserError(f"name and role: give a name of 1 to {LONGEST_NAME} characters, and a role of at most {LONGEST_NAME}")
    if len(note) > LONGEST_NOTE:
        raise UserError(f"the note is longer than {LONGEST_NOTE:,} characters")
    state = signed_state(view)
    if verdict == "approve" and not view.complete:
        raise UserError(f"run {view.run.id} is not complete: resume it, or sign with the verdict reject")
    if verdict == "approve" and state.over and not note:
        verdict_told = f"the release verdict is {state.release}; " if state.release else ""
        over = "; ".join(reservation_line(reservation, report_locale("en")) for reservation in state.over)
        raise UserError(f"{verdict_told}{over}: say in the note why the run is approved all the same")
    signed = SignOff(run_id=view.run.id, name=name, role=role, verdict=verdict, note=note, signed_at=now, signed=state)
    stored = ledger.signoffs.add(structs.replace(signed, signed_at=now.replace(microsecond=0)))
    ledger.audit.note(actor, "sign", view.run.id, f"{verdict} by {stored.name}: {stored.digest}", key_id=key_id)
    return stored
