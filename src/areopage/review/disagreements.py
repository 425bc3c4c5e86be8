"""How far the review is: what is labelled, by whom, and where raters disagree."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from areopage.jury import Panel
from areopage.ledger import GROUNDING, Ledger


class RaterScore(Struct, frozen=True, kw_only=True):
    """What one rater says on one criterion; `grounded` is the score in a word, on grounding."""

    rater: str
    score: float
    grounded: str = ""
    note: str = ""
    correction: str = ""


class RaterDisagreement(Struct, frozen=True, kw_only=True):
    """An answer on which raters disagree: by criterion ("" is the overall score) what each of them says.

    `run_id` is its benchmark run, "" for others.
    """

    answer_id: str
    run_id: str
    criteria: dict[str, list[RaterScore]]


class ReviewProgress(Struct, frozen=True, kw_only=True):
    """How far the review is.

    Args:
        done, open: items of the queue.
        raters: how many answers of the queue each rater has labelled.
        compared: answers that several raters have labelled, as many as are wanted: on `agree` of them they agree, on `disagree`
            they disagree, and on `adjudicated` a disagreement is adjudicated.
    """

    done: int
    open: int
    raters: dict[str, int]
    compared: int
    agree: int
    disagree: int
    adjudicated: int


class ReviewDisagreements(Struct, frozen=True, kw_only=True):
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
        store = self.ledger.disagreements
        items, (agree, adjudicated, disagree) = store.items_by_state(), store.counts(self._points())
        return ReviewProgress(
            done=items.get("done", 0),
            open=items.get("open", 0),
            raters=store.answers_by_rater(),
            compared=agree + adjudicated + disagree,
            agree=agree,
            disagree=disagree,
            adjudicated=adjudicated,
        )

    def open(self, id: str | None = None) -> dict[tuple[str, str], list[str]]:
        """The criteria on which raters disagree, not adjudicated, by answer and its run; of one answer or of all."""
        return self.ledger.disagreements.open(self._points(id), id)

    def said(self, open: Mapping[tuple[str, str], Sequence[str]]) -> list[RaterDisagreement]:
        """What each rater says on criteria of answers."""
        by_place: dict[tuple[str, str], list[RaterScore]] = {}
        for label in self.ledger.disagreements.counted_of([id for id, _ in open]):
            grounded = label.grounded if label.criterion == GROUNDING else ""
            score = RaterScore(
                rater=label.rater, score=label.score, grounded=grounded, note=label.note, correction=label.correction
            )
            by_place.setdefault((label.answer_id, label.criterion), []).append(score)
        return [
            RaterDisagreement(answer_id=id, run_id=run_id, criteria={path: by_place[id, path] for path in criteria})
            for (id, run_id), criteria in open.items()
        ]

    def hides(self, id: str) -> bool:
        """Whether the judges' scores of an answer stay hidden from its raters, so that an adjudication is blind.

        So it is until as many raters have labelled it as are wanted, and their disagreements are adjudicated.
        """
        return self.ledger.disagreements.is_waiting(id) or bool(self.open(id))

    def _points(self, id: str | None = None) -> dict[str, float]:
        """From how many points on scores differ, by benchmark run."""
        points = {"": self.share * self.width}
        for run_id in self.ledger.disagreements.runs(id):
            run = self.ledger.panel(run_id, "bench")
            scale = None if run is None else Panel.of(run).scale
            points[run_id] = points[""] if scale is None else self.share * (scale.max - scale.min)
        return points
