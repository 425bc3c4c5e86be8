"""A judge that is a Python function of a case and a criterion."""

import time
from collections.abc import Callable

from areopage.cases import Case
from areopage.criteria import Criterion, Scale, Scope
from areopage.jury.judges import CallContext, CallResult, JudgeStatus, PlannedCall
from areopage.models import ModelReference
from areopage.scoring import NotApplicable, Outcome, Refused, Scored, Unparsed

REPLY: tuple[Scope, ...] = ("response", "reply", "turn")

JudgeFunction = Callable[[Case, Criterion, str], Outcome]
"""From a case, one criterion and the run's language ("en", "fr") to an outcome, its score on the criterion's own scale.

Of a criterion on each reply of a conversation, the case ends with the reply that is judged.
"""


class CodeJudge:
    """Judges by a function; see `areopage.jury.judges.JudgeBackend`.

    The function is deterministic: the same case gives the same outcome, so it is called once for any number of passes.
    """

    max_concurrency: int | None = None

    def __init__(
        self,
        reference: ModelReference,
        function: JudgeFunction,
        *,
        digest: str,
        criteria: tuple[str, ...] = (),
        scopes: tuple[Scope, ...] = REPLY,
    ) -> None:
        """Args:
        digest: changes with everything that can move a score: the version of the code and its parameters.
        criteria: what the function judges, as paths without version; empty: anything.
        scopes: those of the criteria that it can judge; most functions read one response, and no whole conversation.
        """
        self.reference = reference
        self._function = function
        self._digest = digest
        self._criteria = criteria
        self._scopes = scopes

    async def check(self) -> JudgeStatus:
        """Return the digest and the supported criteria."""
        return JudgeStatus(digest=self._digest, criteria=self._criteria, kind="code")

    async def judge(self, call: PlannedCall, context: CallContext) -> CallResult:
        """Judge each criterion of the call separately; a criterion without a rule is refused."""
        started = time.perf_counter()
        outcomes = {criterion.id: self._outcome(call.case, criterion, context.language) for criterion in call.criteria}
        seconds = time.perf_counter() - started
        return CallResult(outcomes=outcomes, prompt_tokens=0, completion_tokens=0, seconds=seconds)

    async def aclose(self) -> None:
        """Do nothing."""

    def _outcome(self, case: Case, criterion: Criterion, language: str) -> Outcome:
        if self._criteria and criterion.path not in self._criteria:
            paths = ", ".join(self._criteria)
            return Refused(reason=f"{self.reference} has no rule for the criterion {criterion.id!r}: it judges {paths}")
        if criterion.scope not in self._scopes:
            return Refused(reason=f"{self.reference} reads one reply: give {criterion.id!r} the scope turn, or another judge")
        return permitted(self._function(case, criterion, language), criterion)


def permitted(outcome: Outcome, criterion: Criterion) -> Outcome:
    """Return an outcome that the criterion permits: a score on its scale, and "not applicable" only where it declares that."""
    scale = criterion.scale
    if isinstance(outcome, NotApplicable) and not criterion.may_not_apply:
        return Unparsed(reason=f"not applicable, which the criterion {criterion.id!r} does not declare")
    if isinstance(outcome, Scored) and not scale.contains(outcome.score):
        return Unparsed(reason=f"the score {outcome.score:g} is outside {scale.min:g} to {scale.max:g}")
    return outcome


def rescaled(outcome: Scored, scale: Scale, asked: Scale) -> Scored:
    """Map the score from the judge's scale to the criterion's, rounded to one decimal."""
    score = round(scale.map_to(outcome.score, asked), 1)
    return Scored(score=score, explanation=outcome.explanation, evidence=outcome.evidence)
