"""How a run adds passes to its first ones, and what passes are told apart by."""

from msgspec import Struct

PassKey = tuple[str, str, str, int, int]
"""Case, criterion, judge, pass and turn; the turn is 0 where the case is judged as a whole."""
PassItem = tuple[str, str, str, int]
"""Case, criterion, judge and turn."""


class PassSettings(Struct, frozen=True, kw_only=True):
    """How passes are added.

    Args:
        start: passes that every item has, at least 1.
        most: passes that an item has at most.
        precision: half the width of the 95 % interval of a case's score on a criterion that is narrow enough, as far as the noise
            of the judges makes it; in units of the suite's scale, above 0.
        reliability: what is enough, in (0, 1), of the reliability that a criterion would have if all of its items had `most`
            passes: then no pass is added for its precision; None: only `precision` is enough. Reliability is the part of the
            variance between the scores of cases that is not noise; the correlation with anything else grows with its root.
        risk: the probability, in (0, 1), that a score that counts as settled would lie on the other side of its limit if the
            judges were asked without end; shared by all looks at it.
        calls: judge calls of the run at most, the first ones included; None: no bound.
        cost: what all of the run's judge calls may cost; None: no bound.
        seed: draws the items of the pilot.
    """

    start: int = 1
    most: int = 5
    precision: float
    reliability: float | None = None
    risk: float = 0.05
    calls: int | None = None
    cost: float | None = None
    seed: int = 0

    @property
    def decided_at(self) -> float:
        """How many standard errors from its limit a score is settled."""
        from statistics import NormalDist  # most runs have no adaptive passes

        looks = max(1, self.most - self.start + 1)
        return NormalDist().inv_cdf(1.0 - self.risk / (2 * looks))
