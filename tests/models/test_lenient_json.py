"""Replies with a broken field: the rest is kept, and what is no reply stays an error."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.models.lenient_json import decode_reply
from areopage.models.openai_replies import ChatMessage, OpenAIReply, end_of, refusal_of, text_of
from areopage.text.whole_json import decode_any, whole_characters

WHOLE: dict[str, Any] = {
    "choices": [{"message": {"content": '{"score": 4}'}, "finish_reason": "stop", "logprobs": None}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 5},
}


def read(reply: dict[str, Any]) -> OpenAIReply:
    return decode_reply(json.dumps(reply).encode(), OpenAIReply)


def answer_of(reply: OpenAIReply) -> str:
    choice = next(filter(None, reply.choices or ()), None)
    assert choice and choice.message
    return text_of(choice.message)


SCORE = '{"score":4}'


@pytest.mark.parametrize(
    "content",
    [
        SCORE,
        [{"type": "text", "text": SCORE}],
        [{"text": SCORE}],
        [SCORE],
        [{"type": "output_text", "text": SCORE}],
        [None, {"type": "reasoning", "text": "no"}, {"type": "text", "text": None}, {"type": "text", "text": {"value": SCORE}}],
        {"type": "text", "text": SCORE},
        {"score": 4},
    ],
)
def test_a_content_is_read_in_every_form_that_servers_give_it(content: object) -> None:
    assert answer_of(read({"choices": [None, {"message": {"content": content}}]})) == SCORE


@pytest.mark.parametrize("message", [{"refusal": "I can't."}, {"content": [{"type": "refusal", "refusal": "I can't."}]}])
def test_a_refusal_is_read_from_its_field_or_its_part(message: dict[str, Any]) -> None:
    assert refusal_of(msgspec.convert(message, ChatMessage)) == "I can't."


def test_a_reply_that_begins_with_a_byte_order_mark_is_read() -> None:
    assert decode_reply(b"\xef\xbb\xbf" + json.dumps(WHOLE).encode(), OpenAIReply).usage is not None


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("STOP", "stop"),
        ("LENGTH", "length"),
        ("max_output_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("IMAGE_SAFETY", "content_filter"),
        ("other", "other"),
    ],
)
def test_the_end_of_an_answer_is_read_in_the_words_of_other_protocols(word: str, end: str) -> None:
    assert end_of(word) == end


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
    assert answer_of(decode_reply(content, OpenAIReply)) == '{"score": 4} half \ufffd and \ufffd'


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'"text"', b"<html>", b'{"choices": {}}x'])
def test_what_is_no_reply_stays_an_error(content: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_reply(content, OpenAIReply)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_json_object_is_read_or_refused_and_no_half_of_a_character_is_left(value: object) -> None:
    content = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": value, "provider": value}).encode()
    assert answer_of(decode_reply(content, OpenAIReply)) == "x"
    json.dumps(whole_characters(decode_any(content)), ensure_ascii=False).encode()


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def piece(content: str, end: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": end}]}


DONE = b"data: [DONE]\n\n"
COUNTED: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 5}}


@pytest.mark.parametrize(
    "content",
    [
        event(piece("")) + event(piece('{"sco')) + event(piece('re": 4}')) + event(piece("", "stop")) + event(COUNTED) + DONE,
        b": keep-alive\n\n" + event(piece('{"score": 4}', "stop")) + b"event: usage\n" + event(COUNTED),
        json.dumps(WHOLE).encode() + b"\n\n" + DONE,
        json.dumps(WHOLE, indent=2).encode() + b"\n\n" + DONE,
        event(WHOLE),
        b": OPENROUTER PROCESSING\n\n" + json.dumps(WHOLE).encode(),
        event(piece('{"score"')) + event(piece(": 4}")) + event(COUNTED) + DONE,
    ],
)
def test_a_stream_that_was_not_asked_for_is_joined(content: bytes) -> None:
    reply = decode_reply(content, OpenAIReply)
    choice = next(filter(None, reply.choices or ()))
    message = choice.delta or choice.message
    assert message and text_of(message) == '{"score": 4}'
    assert reply.usage and reply.usage.prompt_tokens == 12


@pytest.mark.parametrize(
    "content",
    [
        event(piece('{"score": 4')) + event(piece("}")),
        event(piece('{"score": 4')) + b'data: {"choices": [{"del',
        b"data: 1\n\ndata: 2\n\n" + DONE,
        b"Bad gateway",
        DONE,
    ],
)
def test_a_stream_that_is_cut_and_what_is_none_stay_errors(content: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_reply(content, OpenAIReply)


def test_an_error_in_a_stream_is_kept() -> None:
    assert decode_reply(event(piece("{")) + event({"error": {"message": "gone"}}), OpenAIReply).error == {"message": "gone"}


@pytest.mark.parametrize("reason", ["null", "None", "", None])
def test_no_reason_is_an_end(reason: str | None) -> None:
    assert end_of(reason) == "stop"
