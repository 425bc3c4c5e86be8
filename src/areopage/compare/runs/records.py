"""Records of a comparison of runs."""

from typing import Literal

from msgspec import Struct

from areopage.bench import Doubt, PartDifference, RunSpec
from areopage.cases import Case
from areopage.compare.statistics.contributions import Contribution, Drivers
from areopage.compare.statistics.levels import Difference, LevelDifference
from areopage.ledger import Run
from areopage.scoring import FailureCount, Interval, Verdict

ComparisonOutcome = Literal["regression", "improvement", "no_difference", "too_little"]
"""What came of a comparison: something is worse beyond the corrected level, or the release verdict is no longer PASS; something
is better and nothing worse; nothing is either; so little could be compared that no difference could have been found."""


LOST: tuple[Doubt, ...] = ("incomplete", "none_applies", "no_score", "coverage", "unscored_first")
"""The doubts about a run that leave too little to conclude anything."""


class ComparedRun(Struct, frozen=True, kw_only=True):
    """A run in a comparison, with its own figures over all of its cases.

    Args:
        name: the target, or "" where the answers come with the cases.
        verdict: by the floors of its own suite; None where that sets none.
        verdict_by_scores: the same as if every judge were qualified.
        failures: the cases that fail a criterion of the primary test.
        doubt: why it settles nothing; "" where it does.
        costs: of its target and judges together, by currency; empty without a price, and of a part of the cases.
    """

    run: Run
    spec: RunSpec
    name: str
    verdict: Verdict | None
    verdict_by_scores: Verdict | None
    doubt: Doubt
    coverage: float
    score: float | None
    interval: Interval | None
    failures: FailureCount
    unfit: tuple[str, ...]
    costs: dict[str, float] = {}


class SliceDifference(Struct, frozen=True, kw_only=True):
    """The difference on the cases with one value in a column.

    Args:
        amount: what these cases add to the difference of final scores; the values of a column add up to it.
    """

    column: str
    value: str
    cases: int
    amount: float
    share: float | None
    difference: Difference


class ChangedCase(Struct, frozen=True, kw_only=True):
    """A case on both sides, for those that change most.

    Args:
        scores, responses: of the first run and of the other one.
        newly, mended: the ids of the criteria that it fails in the other run alone, and in the first alone.
    """

    case: Case
    scores: tuple[float | None, float | None]
    responses: tuple[str | None, str | None]
    amount: float
    newly: tuple[str, ...]
    mended: tuple[str, ...]


class Shared(Struct, frozen=True, kw_only=True):
    """What two runs have in common, and so what is compared.

    Args:
        cases, criteria, judges: how many are compared.
        left_out: what is not, as the ids of cases, the ids of criteria and the names of judges.
        differs: in what the panels differ, where this was allowed; empty where they are the same.
    """

    cases: int
    criteria: int
    judges: int
    left_out: dict[str, tuple[str, ...]]
    differs: tuple[PartDifference, ...]


class Compared(Struct, frozen=True, kw_only=True):
    """A run against the first one; all differences are this run − the first.

    Args:
        levels: the nodes of the tree, the whole run first.
        verdicts: the release verdicts, first and this one; None where they cannot be compared: a run has none, or other floors.
        verdict_fell: by the scores of the first run alone it passes, and by those of this one it does not; what exams say of the
            judges, who are the same, is left aside.
        failure_parts: what each criterion adds to the change of the number of failing cases.
        changed: the cases that change, those that newly fail first, then by what they add to the difference.
        unknown: the ids of the cases of which it is not known whether they newly fail: a criterion that had a score has none.
    """

    other: ComparedRun
    shared: Shared
    outcome: ComparisonOutcome
    levels: tuple[LevelDifference, ...]
    verdicts: tuple[Verdict, Verdict] | None
    verdict_fell: bool
    slices: tuple[SliceDifference, ...]
    drivers: Drivers | None
    failure_parts: tuple[Contribution, ...]
    changed: tuple[ChangedCase, ...]
    unknown: tuple[str, ...] = ()

    @property
    def newly_failing(self) -> tuple[ChangedCase, ...]:
        """The cases that fail a criterion which they did not fail in the first run."""
        return tuple(case for case in self.changed if case.newly)

    @property
    def mended(self) -> tuple[ChangedCase, ...]:
        """The cases that newly fail nothing, and no longer fail a criterion."""
        return tuple(case for case in self.changed if case.mended and not case.newly)

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The ids of the cases of which it is not known whether they newly fail; those that are left out among them."""
        return (*self.unknown, *self.shared.left_out.get("cases", ()))

    @property
    def clusters(self) -> int:
        """How many independent cases both have, with scores or with failures."""
        whole = self.levels[0].difference
        return max(whole.score.clusters, whole.failures.difference.clusters if whole.failures else 0)

    @property
    def possible_rise(self) -> float | None:
        """The most by which the share of failing cases may have risen: the upper end of the interval of its difference.

        In [−1, 1]; None where no failures were compared.
        """
        failures = self.levels[0].difference.failures
        return failures.difference.high if failures else None

    def levels_that_are(self, direction: str) -> tuple[LevelDifference, ...]:
        """The nodes whose failures or scores are worse, or better, beyond the corrected level."""
        return tuple(level for level in self.levels if direction in level.difference.directions)


class Comparison(Struct, frozen=True, kw_only=True):
    """Runs against a first one; the tests of all of them are one family."""

    first: ComparedRun
    others: tuple[Compared, ...]

    @property
    def outcome(self) -> ComparisonOutcome:
        """The worst of all runs: a regression, else too little to tell, else an improvement."""
        outcomes = [compared.outcome for compared in self.others]
        order: tuple[ComparisonOutcome, ...] = ("regression", "too_little", "improvement", "no_difference")
        return next(outcome for outcome in order if outcome in outcomes)
