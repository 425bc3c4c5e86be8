"""What the release verdict asks of judges: each judge whose scores enter a floor is qualified on the floor's criteria."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

JudgeState = Literal["qualified", "provisional", "not_qualified", "undecided", "never_examined", "drifted"]
"""What is known of a judge on a criterion. `provisional`: it passed an exam whose gold rows no person has checked.
`undecided`: its exam had too few rows or passes to tell."""

Lack = Literal["drifted", "not_qualified", "undecided", "never_examined"]
LACKS: tuple[Lack, ...] = ("drifted", "not_qualified", "undecided", "never_examined")
"""Why a judge's scores prove nothing for a release, the gravest first."""


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
