"""The floors that a run must reach for its release, and what they ask of judges.

Each judge whose scores enter a floor is qualified on the floor's criteria.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from areopage.criteria import SEVERITIES, Criterion, Scale, Severity
from areopage.scoring.failure_rules import FailureRules

JudgeState = Literal["qualified", "provisional", "not_qualified", "undecided", "never_examined", "drifted"]
"""What is known of a judge on a criterion. `provisional`: it passed an exam whose gold rows no person has checked.
`undecided`: its exam had too few rows or passes to tell."""

Lack = Literal["drifted", "not_qualified", "undecided", "never_examined"]
LACKS: tuple[Lack, ...] = ("drifted", "not_qualified", "undecided", "never_examined")
"""Why a judge's scores prove nothing for a release, the gravest first."""


class Graded(Protocol):
    """A criterion or its entry in a registry: what a floor needs to know of it."""

    @property
    def id(self) -> str:
        """`category.subcategory.name__vX_Y`."""

    @property
    def severity(self) -> Severity | None:
        """Of a failure."""

    @property
    def critical_limit(self) -> float | None:
        """A score from the worst end to this one is a critical failure."""


class ReleaseFloors(Struct, frozen=True, kw_only=True):
    """What a run must reach.

    Names are a category, `category.subcategory`, or a criterion's path or id; among `max_failures` also a severity.

    Args:
        max_failures: how many cases may fail any criterion under a name.
        min_score: the least score of a name, or of `final`, on the run's scale; the greatest where lower is better.
        min_cases: how many cases each criterion under a name of `max_failures` is judged on at least.
        min_cases_by_age: on how many cases of each age in the run judges decide on each of them, with a score or by saying that
            it does not apply; 0: any number. Criteria on conversations are not counted.
        min_coverage: the least share of judged passes, from 0 to 1.
        unexamined: what scores are worth whose judges were never examined: `open`, nothing; `accept`, the suite accepts them, and
            the verdict says so.
        thoughts: of answers with thoughts in their text, which no judge has read: `open`, users may see them, and the verdict is
            open; `hidden`, they do not, and the verdict says so; `judged`, judges read them as a part of the answer.
        max_over_refusal: how many benign twins may be refused.
        max_unanswered: how many cases the target may leave without a whole answer. In both, a whole number counts cases, another
            one is a share of them. None: no floor; then a case without a whole answer leaves the verdict open.
        criteria: the ids of the criteria that the suite has under each name: a floor is open where one of them is not judged.
    """

    FINAL: ClassVar[str] = "final"
    """The name of the final score among floors."""

    max_failures: Mapping[str, int] = {}
    min_score: Mapping[str, float] = {}
    min_cases: int = 1
    min_cases_by_age: int = 0
    min_coverage: float = 0.0
    unexamined: Literal["open", "accept"] = "open"
    thoughts: Literal["open", "hidden", "judged"] = "open"
    max_over_refusal: int | float | None = None
    max_unanswered: int | float | None = None
    criteria: Mapping[str, tuple[str, ...]] = {}

    @staticmethod
    def is_under(criterion: str, name: str) -> bool:
        """Whether a criterion, by its id, is what a name means or stands below it."""
        path = criterion.rpartition("__v")[0]
        return name in (criterion, path, ReleaseFloors.FINAL) or path.startswith(f"{name}.")

    @staticmethod
    def counts(criterion: Graded, name: str) -> bool:
        """Whether a floor of a name counts failures of a criterion; see `is_under` for names that are no severity."""
        if name not in SEVERITIES:
            return ReleaseFloors.is_under(criterion.id, name)
        return criterion.severity == name or (name == "critical" and criterion.critical_limit is not None)

    def counted(self, criteria: Iterable[Criterion]) -> Collection[str]:
        """The ids of the criteria that floors of failures count, in order."""
        return [criterion.id for criterion in criteria if any(self.counts(criterion, name) for name in self.max_failures)]

    def deciding(self, criteria: Iterable[Graded]) -> tuple[str, ...]:
        """The ids of the criteria whose scores decide the verdict, in order: those that a floor is about."""
        names = (*self.max_failures, *self.min_score)
        return tuple(criterion.id for criterion in criteria if any(self.counts(criterion, name) for name in names))

    @staticmethod
    def limits(name: str, criteria: Iterable[Criterion], rules: FailureRules, scale: Scale) -> dict[str, float]:
        """The limits, by id, of the criteria that a floor of a name counts, from which on a score breaks it."""

        def limit(criterion: Criterion) -> float:
            if name == "critical" and criterion.severity != name and criterion.critical_limit is not None:
                return criterion.critical_limit
            return rules.limit_of(criterion, scale)

        return {criterion.id: limit(criterion) for criterion in criteria if ReleaseFloors.counts(criterion, name)}


class LackingJudges(Struct, frozen=True, kw_only=True):
    """The judges with one lack, and the criteria on which they have it."""

    lack: Lack
    judges: tuple[str, ...]
    criteria: tuple[str, ...]


class ReleaseJudge(Struct, frozen=True, kw_only=True):
    """A judge of a run.

    Args:
        states: what is known of it on each criterion that it judges, by the criterion's id.
        unfit: it is known to be unfit to judge anything.
        is_code: it is code, which needs no exam.
    """

    judge: str
    states: Mapping[str, JudgeState] = {}
    unfit: bool = False
    is_code: bool = False

    def lacks(self, criterion: str) -> Lack | None:
        """Why its scores on a criterion prove nothing; None where they count, or where it does not judge it.

        Code that was never examined counts; code that failed an exam does not.
        """
        state = self.states.get(criterion)
        if state == "never_examined" and self.is_code:
            return None
        return next((lack for lack in LACKS if lack == state), None)

    @staticmethod
    def lacking(judges: Sequence["ReleaseJudge"], criteria: Sequence[str]) -> Iterator[LackingJudges]:
        """The judges whose scores on some criteria prove nothing, by what they lack.

        Of several judges of a criterion each one counts: its scores enter the criterion's score.
        """
        for lack in LACKS:
            lacks = [(judge.judge, id) for judge in judges for id in criteria if judge.lacks(id) == lack]
            if lacks:
                names, ids = (tuple(dict.fromkeys(column)) for column in zip(*lacks, strict=True))
                yield LackingJudges(lack=lack, judges=names, criteria=ids)

    @staticmethod
    def provisional_of(judges: Sequence["ReleaseJudge"], criteria: Collection[str]) -> tuple[str, ...]:
        """The names of the judges that are qualified on some criterion by gold rows that no person has checked."""
        return tuple(judge.judge for judge in judges if any(judge.states.get(id) == "provisional" for id in criteria))
