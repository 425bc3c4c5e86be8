"""How far the review is: what is labelled, by whom, and where raters disagree."""

from collections.abc import Callable
from itertools import groupby

from msgspec import Struct

from areopage.jury import Panel
from areopage.ledger import GROUNDING, LabelSpread, Ledger

_ROUNDING = 1e-9


class RaterScore(Struct, frozen=True, kw_only=True):
    """What one rater says on one criterion; `grounded` is the score in a word, on grounding."""

    rater: str
    score: float
    grounded: str = ""
    note: str = ""
    correction: str = ""


class DisputedCriterion(Struct, frozen=True, kw_only=True):
    """A criterion ("" is the overall score) on which raters are apart, with what each of them says."""

    criterion: str
    labels: tuple[RaterScore, ...]


class DisputedAnswer(Struct, frozen=True, kw_only=True):
    """An answer on which raters disagree, undecided; `run_id` is its benchmark run, "" for others."""

    answer_id: str
    run_id: str
    criteria: tuple[DisputedCriterion, ...]


class ReviewProgress(Struct, frozen=True, kw_only=True):
    """How far the review is.

    Args:
        done, open: items of the queue.
        raters: how many answers of the queue each rater has labelled.
        compared: answers that several raters have labelled, as many as are wanted: on `agree` of them they agree, on `disputed`
            they disagree, and on `decided` a disagreement is decided.
    """

    done: int
    open: int
    raters: dict[str, int]
    compared: int
    agree: int
    disputed: int
    decided: int


class ReviewDisputes(Struct, frozen=True, kw_only=True):
    """Where raters disagree: scores that differ by a share of the scale, or words of grounding.

    An answer counts once as many raters have labelled it as its item of the queue wants: nobody who is still to label it is told
    of it.

    Args:
        share: from which share of the scale on scores differ, in (0, 1].
        width: of the scale of answers of no run, in points.
    """

    ledger: Ledger
    share: float
    width: float

    def progress(self) -> ReviewProgress:
        """How many answers are labelled, by whom, and how far raters agree."""
        states, compared, disputed, decided = self.ledger.disputes.items_by_state(), 0, 0, 0
        differs = self._differs()
        for _, spreads in groupby(self._complete(), lambda spread: spread.answer_id):
            apart = [spread for spread in spreads if differs(spread)]
            compared += 1
            disputed += any(not spread.decided for spread in apart)
            decided += bool(apart) and all(spread.decided for spread in apart)
        return ReviewProgress(
            done=states.get("done", 0),
            open=states.get("open", 0),
            raters=self.ledger.disputes.answers_by_rater(),
            compared=compared,
            agree=compared - disputed - decided,
            disputed=disputed,
            decided=decided,
        )

    def answers(self, id: str | None = None) -> list[DisputedAnswer]:
        """The answers with undecided disagreements (or one of them), with what each rater says."""
        differs = self._differs()
        apart = [spread for spread in self._complete(id) if not spread.decided and differs(spread)]
        by_place: dict[tuple[str, str], list[RaterScore]] = {}
        for label in self.ledger.disputes.counted_of(list(dict.fromkeys(spread.answer_id for spread in apart))):
            grounded = label.grounded if label.criterion == GROUNDING else ""
            said = RaterScore(
                rater=label.rater, score=label.score, grounded=grounded, note=label.note, correction=label.correction
            )
            by_place.setdefault((label.answer_id, label.criterion), []).append(said)
        return [
            DisputedAnswer(
                answer_id=answer_id,
                run_id=run_id,
                criteria=tuple(
                    DisputedCriterion(criterion=spread.criterion, labels=tuple(by_place[answer_id, spread.criterion]))
                    for spread in spreads
                ),
            )
            for (answer_id, run_id), spreads in groupby(apart, lambda spread: (spread.answer_id, spread.run_id))
        ]

    def hides(self, id: str) -> bool:
        """Whether the judges' scores of an answer stay hidden from its raters, so that a decision between them is blind.

        So it is until as many raters have labelled it as are wanted, and their disagreements are decided.
        """
        item = self.ledger.review_queue.item(id)
        raters = {rater for _, rater, _ in self.ledger.labels.current_of([id])}
        return (item is not None and len(raters) < item.wanted) or bool(self.answers(id))

    def _complete(self, id: str | None = None) -> list[LabelSpread]:
        """The criteria of answers that have all labels, those of an answer one after the other."""
        spreads = [spread for spread in self.ledger.disputes.spreads(id) if spread.complete]
        order = {id: place for place, id in enumerate(dict.fromkeys(spread.answer_id for spread in spreads))}
        return sorted(spreads, key=lambda spread: order[spread.answer_id])

    def _differs(self) -> Callable[[LabelSpread], bool]:
        widths: dict[str, float] = {"": self.width}

        def differs(spread: LabelSpread) -> bool:
            if spread.criterion == GROUNDING:
                return spread.low != spread.high
            if spread.run_id not in widths:
                run = self.ledger.panel(spread.run_id, "bench")
                scale = None if run is None else Panel.of(run).scale
                widths[spread.run_id] = self.width if scale is None else scale.max - scale.min
            return spread.high - spread.low >= self.share * widths[spread.run_id] - _ROUNDING

        return differs
