"""What a judge's verdict on one criterion came to. A failure is a type of its own and never a number.

`NotApplicable` is a verdict like a score: it is final, it is no failure and nothing is missing.
"""

from msgspec import Struct


class _Outcome(Struct, frozen=True, kw_only=True):
    @property
    def name(self) -> str:
        """The outcome's name as it stands in the ledger, in files and in reports."""
        return str(self.__struct_config__.tag)


class Scored(_Outcome, frozen=True, tag="scored", kw_only=True):
    """The judge gave a score that lies on the criterion's scale (in that scale's own units).

    Args:
        mass: the probability that the judge writes any score of the scale, by its log-probabilities, in [0, 1]; None where they
            were not asked for, or could not be used.
        written: the score that the judge wrote, where `score` is the expectation from its log-probabilities; None where `score`
            is what it wrote.
    """

    score: float
    explanation: str = ""
    evidence: tuple[str, ...] = ()
    mass: float | None = None
    written: float | None = None


class NotApplicable(_Outcome, frozen=True, tag="not_applicable", kw_only=True):
    """The judge says that the criterion does not apply to the case; only criteria that declare it offer this outcome."""

    explanation: str = ""


class Unparsed(_Outcome, frozen=True, tag="unparsed", kw_only=True):
    """The judge answered, and no score could be read from the answer."""

    reason: str


class Refused(_Outcome, frozen=True, tag="refused", kw_only=True):
    """The judge declined to judge."""

    reason: str


class TimedOut(_Outcome, frozen=True, tag="timed_out", kw_only=True):
    """No answer came in time."""

    reason: str


class Unreachable(_Outcome, frozen=True, tag="unreachable", kw_only=True):
    """The judge could not be asked: no connection, or the server turned the call away."""

    reason: str


Given = Scored | NotApplicable
"""The outcomes of a judge that has judged."""
Outcome = Given | Unparsed | Refused | TimedOut | Unreachable
GIVEN_NAMES = ("scored", "not_applicable")
FAILED_NAMES = ("unparsed", "refused", "timed_out", "unreachable")
OUTCOME_NAMES = (*GIVEN_NAMES, *FAILED_NAMES)


class PlannedPass(Struct, frozen=True, kw_only=True):
    """One planned verdict: a judge's pass over a case on one criterion. `outcome` is None while it was not run.

    `turn` is the number of the reply of a conversation that is judged; 0: the case as a whole.
    `by_rule`: no judge is asked, for a rule says that the criterion does not apply; then there is one such pass, of judge "".
    """

    case_id: str
    criterion: str
    judge: str
    pass_index: int
    turn: int = 0
    outcome: Outcome | None = None
    by_rule: bool = False
