"""The judge of exact checks: those of every prompt and those of one, and what it refuses."""

from typing import Any

import pytest

from areopage.cases.records import Case
from areopage.criteria.records import Scale, prompt_digest
from areopage.errors import ModelError
from areopage.jury.opening import open_judge
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.scoring.outcome import Outcome, Refused, Scored

from .rule_calls import asked, criterion_of

CRITERION = criterion_of("form.checks.polite__v1_0", Scale(min=0, max=1))
NO_REFUSAL = {"type": "is-refusal", "negated": True}
PARIS = {"type": "contains", "values": ["Paris"]}


def judged(checks: dict[str, Any], prompt: str, response: str) -> Outcome:
    rules = {"checks": {"criteria": {CRITERION.path: checks}}}
    judge = open_judge(ModelReference.parse("rules:checks"), ModelSettings(rules=rules))
    case = Case(id="1", prompt=prompt, response=response)
    return asked(judge, case, CRITERION, language="en").outcomes[CRITERION.id]


def test_checks_of_every_prompt_are_made_beside_those_of_one() -> None:
    checks = {"every": [NO_REFUSAL], prompt_digest("Capital?"): [PARIS]}
    for prompt, response, score in (
        ("Capital?", "It is Paris.", 1.0),
        ("Capital?", "It is Rome.", 0.0),
        ("Capital?", "I cannot help with that.", 0.0),
        ("Another?", "It is Rome.", 1.0),
        ("Another?", "I cannot help with that.", 0.0),
    ):
        outcome = judged(checks, prompt, response)
        assert isinstance(outcome, Scored)
        assert outcome.score == score


def test_without_checks_of_every_prompt_others_have_no_verdict() -> None:
    checks = {prompt_digest("Capital?"): [PARIS]}
    assert isinstance(judged(checks, "Capital?", "Paris"), Scored)
    assert judged(checks, "Another?", "Paris") == Refused(reason="there is no check for this prompt")


@pytest.mark.parametrize("key", ["all", "Every", "Capital?", "0123"])
def test_a_key_that_no_prompt_has_is_refused(key: str) -> None:
    with pytest.raises(ModelError, match=f"has checks for .*{key[:3]}.*: write `every` or the digest of a prompt"):
        judged({key: [PARIS]}, "Capital?", "Paris")
