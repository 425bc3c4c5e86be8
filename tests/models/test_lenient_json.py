"""Replies with a broken field: the rest is kept, and what is no reply stays an error."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.models.lenient_json import decode_reply
from areopage.models.openai_replies import Reply, text_of
from areopage.text.whole_json import decode_any, whole_characters

WHOLE: dict[str, Any] = {
    "choices": [{"message": {"content": '{"score": 4}'}, "finish_reason": "stop", "logprobs": None}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 5},
}


def read(reply: dict[str, Any]) -> Reply:
    return decode_reply(json.dumps(reply).encode(), Reply)


def answer_of(reply: Reply) -> str:
    assert reply.choices and reply.choices[0].message
    return text_of(reply.choices[0].message)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": "twelve"},
        {"prompt_tokens": 12.5},
        {"prompt_tokens": [1]},
        "none",
        [],
        {"prompt_tokens": {"cached": 1}, "completion_tokens": 5},
        {"prompt_tokens": math.nan},
    ],
)
def test_a_usage_that_cannot_be_read_costs_no_answer(usage: object) -> None:
    reply = read({**WHOLE, "usage": usage})
    assert answer_of(reply) == '{"score": 4}'
    assert reply.usage is None or reply.usage.prompt_tokens in (None, 12)


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_reason": 7},
        {"finish_reason": {"type": "stop"}},
        {"logprobs": {"content": "odd"}},
        {"logprobs": {"content": [{"logprob": -math.inf}]}},
        {"content_filter_results": []},
        {"error": None},
        {"message": {"content": '{"score": 4}', "refusal": 0}},
        {"message": {"content": '{"score": 4}', "reasoning": ["x"]}},
    ],
)
def test_a_field_of_a_choice_that_cannot_be_read_costs_no_answer(choice: dict[str, Any]) -> None:
    assert answer_of(read({**WHOLE, "choices": [{**WHOLE["choices"][0], **choice}]})) == '{"score": 4}'


def test_half_of_a_character_and_bytes_that_are_no_text_are_replaced() -> None:
    content = b'{"choices": [{"message": {"content": "{\\"score\\": 4} half \\ud83d and \xff"}}]}'
    assert answer_of(decode_reply(content, Reply)) == '{"score": 4} half \ufffd and \ufffd'


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'"text"', b"<html>", b'{"choices": {}}x'])
def test_what_is_no_reply_stays_an_error(content: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_reply(content, Reply)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_json_object_is_read_or_refused_and_no_half_of_a_character_is_left(value: object) -> None:
    content = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": value, "provider": value}).encode()
    assert answer_of(decode_reply(content, Reply)) == "x"
    json.dumps(whole_characters(decode_any(content)), ensure_ascii=False).encode()
