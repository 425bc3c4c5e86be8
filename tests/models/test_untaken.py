"""Refusals of options in the words of many providers: what they name is left out, and a limit is no refusal."""

from typing import Any

import pytest

from areopage.errors import CallRejected
from areopage.models.untaken import SYSTEM_ROLE, Untaken

BODY: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Text."}],
    "temperature": 0,
    "top_p": 1,
    "seed": 1,
    "max_tokens": 100,
}


def learnt(message: str) -> dict[str, Any]:
    """The body that is sent after a refusal; the same one where nothing was learnt."""
    untaken = Untaken()
    untaken.learn(CallRejected(message, status=400), BODY)
    return untaken.applied(BODY)


@pytest.mark.parametrize(
    ("message", "option"),
    [
        ("This model doesn't accept the parameter seed", "seed"),
        ("seed isn't supported", "seed"),
        ("Parameter 'seed' is invalid for this model", "seed"),
        ("invalid parameter: seed", "seed"),
        ("seed is unavailable for this model", "seed"),
        ("Le paramètre seed n’est pas pris en charge", "seed"),
        ("Temperature must be 1 for this model", "temperature"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("`temperature` has to be a strictly positive float", "temperature"),
        ("temperature: Input should be greater than 0", "temperature"),
        ("`top_p` must be > 0.0 and < 1.0", "top_p"),
        ("top_p must be less than 1", "top_p"),
    ],
)
def test_the_option_that_a_refusal_names_is_left_out(message: str, option: str) -> None:
    assert BODY.keys() - learnt(message).keys() == {option}


@pytest.mark.parametrize(
    "message", ["max_tokens: Extra inputs are not permitted", "This model only supports `max_completion_tokens`"]
)
def test_the_limit_gets_its_newer_name(message: str) -> None:
    sent = learnt(message)
    assert (sent.get("max_completion_tokens"), "max_tokens" in sent) == (100, False)


@pytest.mark.parametrize(
    "message",
    [
        "Only user, assistant and tool roles are supported, got system.",
        "unexpected role: system",
        "Invalid role: system",
        "Unknown role 'system'",
        "messages.0.role: Input should be 'user' or 'assistant'",
        "'system' is not one of ['user', 'assistant'] - 'messages.0.role'",
    ],
)
def test_a_system_role_that_is_refused_is_folded_into_the_user_s_turn(message: str) -> None:
    assert [turn["role"] for turn in learnt(message)["messages"]] == ["user"], SYSTEM_ROLE


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100. This model supports at most 50 completion tokens",
        "This model's maximum context length is 10 tokens",
        "temperature: 5 is above 2",
    ],
)
def test_a_limit_that_the_call_exceeds_is_no_refusal(message: str) -> None:
    assert learnt(message) == BODY
