"""Scores from log-probabilities in readings of judges' answers.

A score that is read from an answer is replaced by its expectation; an outcome of another kind stays. The judge's own score stands
where the server gives no log-probabilities, where the place of the score in them is in doubt, and where less than half of the
probability is on valid scores. A step of the judgment says which.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from areopage.criteria import Criterion, short_names
from areopage.errors import CallRejected
from areopage.jury.expected_score import MIN_MASS, NumberPlace, expected_score
from areopage.jury.parsing import VERDICT_KEYS, Unopened, open_answer
from areopage.jury.reader import Reading
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


_SPACE = re.compile(r"[ \t\r\n]*+")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,3}", re.ASCII)
_DECODER = json.JSONDecoder(strict=False)


def score_places(text: str, finish_reason: str, criteria: Sequence[Criterion]) -> dict[str, NumberPlace]:
    """Where the scores of an answer stand, by the criterion's id.

    Only a place beyond doubt counts: the answer holds one object with verdicts, complete, no key of it stands twice, and the
    score is a whole number as JSON writes it. These are the rules of `jury.reader`, but for repaired answers: they have no place.
    """
    names = short_names(criteria)
    keys = VERDICT_KEYS if len(criteria) == 1 else frozenset(names)
    opened = open_answer(text, finish_reason, VERDICT_KEYS | keys)
    if isinstance(opened, Unopened) or opened.broken or not text.endswith(opened.bare):
        return {}
    starts = [start for start, answer in zip(opened.starts, opened.objects, strict=True) if keys & answer.keys()]
    if len(starts) != 1:
        return {}
    try:
        members = _members(text, len(text) - len(opened.bare) + starts[0])
        if len(criteria) == 1:
            members = {names[0]: members["score"]} if "score" in members else {}
        places = {
            criterion.id: _score_place(text, members[name])
            for name, criterion in zip(names, criteria, strict=True)
            if name in members
        }
    except (ValueError, LookupError, RecursionError):
        return {}
    return {id: place for id, place in places.items() if place is not None}


def _score_place(text: str, place: NumberPlace) -> NumberPlace | None:
    """The place of the score that a value is, or that it holds."""
    if text.startswith("{", place[0]):
        inner = _members(text, place[0]).get("score")
        if inner is None:
            return None
        place = inner
    return place if _WHOLE.fullmatch(text, *place) else None


def _members(text: str, start: int) -> dict[str, NumberPlace]:
    """The places of an object's values by key; nothing of an object with a key that stands twice."""
    places: dict[str, NumberPlace] = {}
    at = _after_space(text, start + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        colon = _after_space(text, end)
        if not isinstance(key, str) or text[colon] != ":":
            raise ValueError("no member of an object")
        begin = _after_space(text, colon + 1)
        _, end = _DECODER.raw_decode(text, begin)
        if key in places:
            return {}
        places[key] = (begin, end)
        at = _after_space(text, end)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return places


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
