"""Scores from log-probabilities in readings of judges' answers.

A score that is read from an answer is replaced by its expectation; an outcome of another kind stays. The judge's own score stands
where the server gives no log-probabilities, where the place of the score in them is in doubt, and where less than half of the
probability is on valid scores. A step of the judgment says which.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from areopage.criteria import Criterion
from areopage.errors import CallRejected
from areopage.jury.expected_score import MIN_MASS, expected_score
from areopage.jury.reader import Reading
from areopage.jury.score_places import score_places
from areopage.models import Completion
from areopage.scoring import Outcome, Scored

_STEPS = ("expected", "written:no_logprobs", "written:not_located", "written:low_mass")
EXPECTED, NO_LOGPROBS, NOT_LOCATED, LOW_MASS = _STEPS
"""Steps of a judgment: a score is an expectation, or as the judge wrote it and why."""

_OPTIONS = ("logprobs", "top_logprobs")


def with_expected_scores(reading: Reading, completion: Completion, criteria: Sequence[Criterion]) -> Reading:
    """A reading whose scores are expectations, where the completion's log-probabilities give them."""
    tokens = completion.logprobs or ()
    places = score_places(completion.text, completion.finish_reason, criteria) if tokens else {}
    outcomes, steps = dict(reading.outcomes), dict[str, None]()
    for criterion in criteria:
        outcome = outcomes[criterion.id]
        if not isinstance(outcome, Scored):
            continue
        if not tokens:
            steps[NO_LOGPROBS] = None
            continue
        place = places.get(criterion.id)
        expectation = None
        if place is not None and float(completion.text[slice(*place)]) == outcome.score:
            expectation = expected_score(tokens, completion.text, place, criterion.scale)
        if expectation is None:
            steps[NOT_LOCATED] = None
        elif expectation.mass < MIN_MASS:
            steps[LOW_MASS] = None
            outcomes[criterion.id] = structs.replace(outcome, mass=expectation.mass)
        else:
            steps[EXPECTED] = None
            outcomes[criterion.id] = structs.replace(
                outcome, score=expectation.score, written=outcome.score, mass=expectation.mass
            )
    return structs.replace(reading, outcomes=outcomes, steps=(*reading.steps, *(step for step in _STEPS if step in steps)))


def with_known_probabilities(outcome: Outcome, before: Outcome) -> Outcome:
    """An outcome that was read again, with the expectation of the reading before it where both read the same score."""
    if not isinstance(outcome, Scored) or not isinstance(before, Scored) or before.mass is None:
        return outcome
    written = before.score if before.written is None else before.written
    if outcome.score != written:
        return outcome
    return structs.replace(outcome, score=before.score, written=before.written, mass=before.mass)


def scoring_steps(steps: Sequence[str]) -> tuple[str, ...]:
    """The steps of a judgment that say how its scores were made from log-probabilities."""
    return tuple(step for step in steps if step in _STEPS)


def without_log_probabilities(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that ask for no log-probabilities."""
    return {name: value for name, value in options.items() if name not in _OPTIONS}


def refuses_log_probabilities(fault: CallRejected) -> bool:
    """Whether a server turned a call away because it gives no log-probabilities, or not as many."""
    return fault.status in (400, 403, 422) and "logprob" in str(fault).lower()
