"""All that is known of a jury's worth, with labels and without."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from areopage.scoring.agreement_with_people import Rating
from areopage.scoring.correlation import Estimate
from areopage.scoring.worth.alternative import AlternativeTest, alternative_test
from areopage.scoring.worth.contributions import BestJudge, JudgeErrors, best_judge, judge_errors
from areopage.scoring.worth.effective import FEWEST_ITEMS, EffectiveJudges, effective_judges, most_judges
from areopage.scoring.worth.standing_apart import PERMUTATIONS, Manner, standing_apart
from areopage.scoring.worth.tables import JudgesScores, JuryTable, mean_estimate, spread_estimate

_FEWEST_PERMUTATIONS = 99
_CELLS = 5_000_000  # of permuted scores: fewer permutations are made of many


class LabelledWorth(Struct, frozen=True, kw_only=True):
    """A jury against people's labels, over all criteria that people labelled; scores are in points of the suite's scale.

    Args:
        items, units, labels, raters: labelled items with a score, pairs of item and criterion, labels of them, and people.
        enough: whether at least 20 items count; with fewer, no figure is given.
        twice: the items that at least two people labelled.
        effective: how many independent judges the jury is worth; None where it has a single judge.
        judges: each judge against people.
        best: the best judge alone beside the jury; None where it has a single judge.
        replacement: the alternative annotator test; None under three people with 30 items each, or under 50 items.
    """

    items: int
    units: int
    labels: int
    raters: int
    twice: int
    enough: bool
    effective: EffectiveJudges | None = None
    judges: tuple[JudgeErrors, ...] = ()
    best: BestJudge | None = None
    replacement: AlternativeTest | None = None

    @property
    def useless(self) -> tuple[str, ...]:
        """The judges without which the jury errs less, or no more."""
        return tuple(judge.judge for judge in self.judges if judge.contribution == "adds_nothing")


class Beside(Struct, frozen=True, kw_only=True):
    """One judge beside the others, without labels, in points of the suite's scale.

    Args:
        apart: mean of the judge's score − the mean of the others, with its 95 % interval over items.
        spread: the standard deviation of that difference within criteria, with its interval.
        stands_apart: in which manner the judge stands apart from the others, beyond chance and materially; see `standing_apart`.
    """

    judge: str
    units: int
    apart: Estimate
    spread: Estimate
    stands_apart: tuple[Manner, ...] = ()


class UnlabelledWorth(Struct, frozen=True, kw_only=True):
    """A jury without labels: no score is compared with the truth, and errors that all judges share stay unseen.

    Args:
        items: with a score.
        at_most: how many independent judges the jury is worth at most; None under three judges or under 20 items that every
            judge scored. The interval is that of this limit.
        judges: each beside the mean of the others; empty of a single judge.
    """

    items: int
    at_most: Estimate | None
    judges: tuple[Beside, ...]


class JuryWorth(Struct, frozen=True, kw_only=True):
    """What a jury is worth.

    Args:
        judges: how many judges it has.
        labelled: measured on people's labels.
        at_random: `labelled` is over a random sample; else over all labelled items, also those that were chosen for a reason.
        unlabelled: what the scores alone tell.
    """

    judges: int
    labelled: LabelledWorth
    at_random: bool
    unlabelled: UnlabelledWorth

    @classmethod
    def of(
        cls,
        judges: JudgesScores,
        sample: Sequence[Rating],
        every: Sequence[Rating],
        span: float,
        *,
        table: JuryTable | None = None,
    ) -> "JuryWorth":
        """Measure a jury on the labels of a random sample; on all labels where only these are enough.

        `span` is the width of the scale; with a `table` of all scores, `judges` may hold those of the labelled items alone.
        """
        drawn = labelled_worth(judges, sample, span)
        at_random = drawn.enough or len(every) == len(sample)
        return cls(
            judges=len(judges),
            labelled=drawn if at_random else labelled_worth(judges, every, span),
            at_random=at_random,
            unlabelled=unlabelled_worth(table or JuryTable.of(judges), span),
        )


def labelled_worth(judges: JudgesScores, ratings: Sequence[Rating], span: float) -> LabelledWorth:
    """Measure a jury on people's labels; scores are on the scale of the ratings, and `span` is its width, in points."""
    table = JuryTable.of(judges, ratings)
    if not ratings or not table.size:
        return LabelledWorth(items=0, units=0, labels=0, raters=0, twice=0, enough=False)
    is_labelled = ~np.isnan(table.labels)
    counted = LabelledWorth(
        items=table.size,
        units=len(table.items),
        labels=int(is_labelled.sum()),
        raters=len(table.raters),
        twice=int(np.unique(table.items[is_labelled.sum(axis=1) > 1]).size),
        enough=table.size >= FEWEST_ITEMS,
    )
    if not counted.enough:
        return counted
    return structs.replace(
        counted,
        effective=effective_judges(table),
        judges=judge_errors(table, span),
        best=best_judge(table, span),
        replacement=alternative_test(table),
    )


def unlabelled_worth(table: JuryTable, span: float) -> UnlabelledWorth:
    """What can be told of a jury without labels; `span` is the width of the scale, in points."""
    if not table.size:
        return UnlabelledWorth(items=0, at_most=None, judges=())
    permutations = max(_FEWEST_PERMUTATIONS, min(PERMUTATIONS, _CELLS // table.scores.size))
    manners = standing_apart(table.scores, span, permutations=permutations)
    beside: list[Beside] = []
    for at, judge in enumerate(table.judges if len(table.judges) > 1 else ()):
        others = np.delete(table.scores, at, axis=1)
        both = ~np.isnan(table.scores[:, at]) & ~np.isnan(others).all(axis=1)
        if both.any():
            apart = table.scores[both, at] - np.nanmean(others[both], axis=1)
            beside.append(
                Beside(
                    judge=judge,
                    units=int(both.sum()),
                    apart=mean_estimate(apart, table.items[both], span),
                    spread=spread_estimate(apart, table.items[both], table.criteria[both]),
                    stands_apart=manners.get(at, ()),
                )
            )
    return UnlabelledWorth(items=table.size, at_most=most_judges(table), judges=tuple(beside))
