"""The hooks: answers pass through untouched, and are evaluated in the background."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from areopage.ledger.tables.records import Answer
from areopage.monitor.hook.counts import Losses
from areopage.monitor.hook.endpoints import AsgiReceive, AsgiSend, QualityHook, find
from areopage.monitor.hook.exchange import Exchange
from areopage.monitor.hook.functions import monitored
from areopage.monitor.hook.spool import Spool
from servers.bots import Thing, application, call, drained

# --- the decorator


def test_a_sync_function_answers_as_before_and_its_answer_is_recorded(tmp_path: Path) -> None:
    @monitored(tmp_path, source="bot", variant="b", language="fr")
    def reply(question: str, context_chunks: list[dict[str, str]]) -> str:
        """Doc."""
        return f"to {question}"

    assert reply("why?", [{"doc_titre": "T", "text": "since"}]) == "to why?"
    assert (reply.__name__, reply.__doc__) == ("reply", "Doc.")
    (one,) = drained(tmp_path)
    assert (one.case.prompt, one.case.response, one.source, one.variant, one.language) == (
        "why?",
        "to why?",
        "bot",
        "b",
        "fr",
    )
    assert [(document.title, document.text) for document in one.case.documents] == [("T", "since")]


def test_an_async_function_whose_result_is_an_object_is_recorded_with_its_documents(tmp_path: Path) -> None:
    @monitored(tmp_path)
    async def reply(text: str) -> dict[str, Any]:
        return {"answer": "yes", "documents": ["one", "two"], "seconds": 1}

    assert asyncio.run(reply("really?"))["answer"] == "yes"
    (one,) = drained(tmp_path)
    assert (one.case.prompt, one.case.response, len(one.case.documents)) == ("really?", "yes", 2)


def test_a_method_is_recorded_by_its_question_not_by_itself(tmp_path: Path) -> None:
    class Bot:
        @monitored(tmp_path)
        def reply(self, anything: str) -> str:
            return "fine"

    Bot().reply("how?")
    assert [one.case.prompt for one in drained(tmp_path)] == ["how?"]


def test_switched_off_it_is_the_function_itself(tmp_path: Path) -> None:
    def reply(prompt: str) -> str:
        return prompt

    assert monitored(tmp_path, evaluate=False)(reply) is reply


def test_an_exchange_is_found_as_the_user_says(tmp_path: Path) -> None:
    def extract(arguments: Mapping[str, Any], result: Any) -> Exchange | None:
        return Exchange(prompt=arguments["body"]["q"], response=result[0], id="mine") if result else None

    @monitored(tmp_path, extract=extract)
    def reply(body: dict[str, str]) -> list[str]:
        return ["a"] if body else []

    reply({"q": "x"})
    reply({})
    assert [(one.id, one.case.prompt) for one in drained(tmp_path)] == [("mine", "x")]
    assert vars(reply)["counts"] == {"recorded": 1, "skipped": 1}


@pytest.mark.parametrize("result", [{"answer": 3}, "", "x" * 600_000, object(), None])
def test_an_answer_that_cannot_be_recorded_reaches_the_caller_all_the_same(tmp_path: Path, result: Any) -> None:
    @monitored(tmp_path)
    def reply(prompt: str) -> Any:
        return result

    assert reply("q") is result
    assert drained(tmp_path) == [] and sum(vars(reply)["counts"].values()) == 1


def test_a_faulty_extraction_never_breaks_the_answer(tmp_path: Path) -> None:
    def extract(arguments: Mapping[str, Any], result: Any) -> Exchange:
        return Exchange(prompt=arguments["missing"], response=result)

    @monitored(tmp_path, extract=extract)
    def reply(prompt: str) -> str:
        return "a"

    assert reply("q") == "a" and vars(reply)["counts"] == {"lost": 1}


class OfABot(Exception):
    """A fault that knows no base but `Exception`, and cannot even say what it is."""

    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize("fault", [ZeroDivisionError, RuntimeError, OSError, AssertionError, BufferError, StopIteration, OfABot])
def test_whatever_an_extraction_raises_never_breaks_the_answer(tmp_path: Path, fault: type[Exception]) -> None:
    def extract(arguments: Mapping[str, Any], result: Any) -> Exchange:
        raise fault("x")

    @monitored(tmp_path, extract=extract)
    def reply(prompt: str) -> str:
        return "a"

    assert reply("q") == "a" and vars(reply)["counts"] == {"lost": 1}


@pytest.mark.parametrize("context", [object(), 5, True, 1.5, None])
def test_a_context_that_holds_no_documents_never_breaks_the_answer(tmp_path: Path, context: Any) -> None:
    @monitored(tmp_path)
    def reply(prompt: str, context: Any) -> str:
        return "a"

    assert reply("q", context) == "a" and vars(reply)["counts"] == {"recorded": 1}
    assert [one.case.documents for one in drained(tmp_path)] == [()]


def test_documents_that_fail_while_they_are_read_never_break_the_answer(tmp_path: Path) -> None:
    def lazy() -> Iterator[str]:
        yield "a document"
        raise RuntimeError("the connection is closed")

    @monitored(tmp_path)
    def reply(prompt: str, documents: Iterator[str]) -> str:
        return "a"

    assert reply("q", lazy()) == "a" and vars(reply)["counts"] == {"lost": 1}


def test_a_function_that_fails_fails_as_before_and_records_nothing(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(prompt: str) -> str:
        raise KeyError(prompt)

    with pytest.raises(KeyError):
        reply("q")
    assert drained(tmp_path) == []


def test_what_always_fails_is_logged_once_and_counted_each_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def extract(arguments: Mapping[str, Any], result: Any) -> Exchange:
        raise OfABot

    spool = Spool(tmp_path)

    @monitored(spool, extract=extract)
    def reply(prompt: str) -> str:
        return "a"

    with caplog.at_level(logging.WARNING):
        assert [reply("q") for _ in range(3)] == ["a"] * 3
    assert spool.lost == 3 and vars(reply)["counts"] == {"lost": 3}
    (said,) = caplog.messages
    assert "reply" in said and "OfABot" in said and "\n" not in said


def test_a_spool_that_breaks_never_breaks_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def append(self: Spool, submission: Answer) -> bool:
        raise OfABot

    monkeypatch.setattr(Spool, "append", append)

    @monitored(tmp_path)
    async def reply(prompt: str) -> str:
        return "a"

    assert asyncio.run(reply("q")) == "a" and vars(reply)["counts"] == {"lost": 1}
    hook = QualityHook(application([ANSWERED]), tmp_path)
    got = asyncio.run(call(hook, [ASKED.encode()]))
    assert got[-1][0]["body"] == ANSWERED and hook.counts == {"lost": 1}


# --- usual bots


def test_openai_messages_are_submitted_without_instructions_and_tool_calls(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(messages: list[dict[str, Any]]) -> str:
        return "Thirty."

    reply(
        [
            {"role": "system", "content": "You are a notary."},
            {"role": "user", "content": [{"type": "text", "text": "How many"}, {"type": "text", "text": "days?"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "tool_call_id": "1", "content": "30"},
        ]
    )
    (one,) = drained(tmp_path)
    assert [(turn.role, turn.content) for turn in one.case.turns] == [("user", "How many\ndays?")]


PAGE = Thing(page_content="Article 45.", metadata={"source": "code"})
NODE = Thing(node=Thing(text="Article 45.", metadata={}), score=0.8)
COMPLETION = Thing(choices=[Thing(message=Thing(role="assistant", content="Thirty."), finish_reason="stop")])


@pytest.mark.parametrize(
    ("result", "documents"),
    [
        ({"input": "q?", "context": [PAGE], "answer": "Thirty."}, ["Article 45."]),
        ({"query": "q?", "result": "Thirty.", "source_documents": [PAGE]}, ["Article 45."]),
        ({"answer": "Thirty.", "documents": [PAGE]}, ["Article 45."]),
        ({"answer": Thing(type="ai", content="Thirty.")}, []),
        ({"choices": [{"message": {"role": "assistant", "content": "Thirty."}}]}, []),
        (Thing(type="ai", content="Thirty."), []),
        (Thing(content=[Thing(type="text", text="Thirty.")]), []),
        (COMPLETION, []),
        (Thing(response="Thirty.", source_nodes=[NODE], metadata={}), ["Article 45."]),
    ],
)
def test_what_frameworks_return_is_submitted(tmp_path: Path, result: Any, documents: list[str]) -> None:
    @monitored(tmp_path)
    def reply(inputs: dict[str, str]) -> Any:
        return result

    assert reply({"input": "q?"}) is result
    (one,) = drained(tmp_path)
    assert (one.case.prompt, one.case.response) == ("q?", "Thirty.")
    assert [document.text for document in one.case.documents] == documents


PIECES = ["Thir", Thing(content="ty"), {"choices": [{"delta": {"content": "."}}]}, {"choices": [{"delta": {}}]}]


def test_a_stream_reaches_the_caller_piece_by_piece_and_is_submitted_at_its_end(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(prompt: str) -> Iterator[Any]:
        yield from PIECES

    stream = iter(reply("q?"))
    assert next(stream) is PIECES[0] and drained(tmp_path) == []
    assert list(stream) == PIECES[1:]
    assert [(one.case.prompt, one.case.response) for one in drained(tmp_path)] == [("q?", "Thirty.")]


def test_an_asynchronous_stream_is_submitted_at_its_end(tmp_path: Path) -> None:
    @monitored(tmp_path)
    async def reply(prompt: str) -> AsyncIterator[Any]:
        for piece in PIECES:
            yield piece

    async def read() -> list[Any]:
        return [piece async for piece in reply("q?")]

    assert asyncio.run(read()) == PIECES
    assert [one.case.response for one in drained(tmp_path)] == ["Thirty."]


def test_a_stream_that_is_left_is_no_answer_and_counted(tmp_path: Path) -> None:
    closed: list[bool] = []

    @monitored(tmp_path)
    def reply(prompt: str) -> Iterator[str]:
        try:
            yield "Thir"
            yield "ty."
        finally:
            closed.append(True)

    stream: Any = reply("q?")
    next(stream)
    stream.close()
    assert closed and drained(tmp_path) == [] and vars(reply)["counts"] == {"unfinished": 1}


def test_the_variant_of_a_call_counts_before_the_hook_s(tmp_path: Path) -> None:
    @monitored(tmp_path, variant="a")
    def reply(prompt: str) -> dict[str, str]:
        return {"answer": "x", **({"variant": "b"} if prompt == "two" else {})}

    reply("one")
    reply("two")
    hook = QualityHook(application([ANSWERED]), tmp_path, variant_path="arm")
    asyncio.run(call(hook, [json.dumps({"prompt": "three", "arm": "c"}).encode()]))
    assert sorted((one.case.prompt, one.variant) for one in drained(tmp_path)) == [("one", "a"), ("three", "c"), ("two", "b")]


def test_an_answer_that_is_not_recognised_is_logged_once_and_its_losses_are_kept_for_the_worker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @monitored(tmp_path)
    def reply(prompt: str) -> Any:
        return "fine" if prompt == "good" else 3.5

    with caplog.at_level(logging.WARNING):
        for prompt in ("a", "good", "b", "c"):
            reply(prompt)
    (said,) = caplog.messages
    assert "reply: the answer is not found in a result of type float" in said
    assert vars(reply)["counts"] == {"not_found": 3, "recorded": 1}
    found = Losses.of(tmp_path)
    assert found.counts == {"not_found": 3} and "type float" in found.reason


# --- the middleware


ASKED = json.dumps({"prompt": "why?", "messages": [{"content": "old"}, {"content": "new"}], "documents": ["from the request"]})
ANSWERED = json.dumps({"response": "since é", "data": {"sources": [{"titre": "T", "texte": "x"}]}, "id": 7}).encode()


def test_chunks_reach_the_client_at_once_and_unchanged(tmp_path: Path) -> None:
    chunks = [ANSWERED[:5], ANSWERED[5:20], ANSWERED[20:]]
    hook = QualityHook(application(chunks), tmp_path)
    got = asyncio.run(call(hook, [ASKED[:10].encode(), ASKED[10:].encode()]))
    assert [message.get("body") for message, _ in got] == [None, *chunks]
    assert [noted for _, noted in got] == [0, 0, 0, 0]  # noted after the last one had left
    (one,) = drained(tmp_path)
    assert (one.case.prompt, one.case.response) == ("why?", "since é")
    assert [document.text for document in one.case.documents] == ["from the request"]


def test_dotted_paths_find_what_is_nested(tmp_path: Path) -> None:
    hook = QualityHook(application([ANSWERED]), tmp_path, prompt="messages.-1.content", documents="data.sources", id="id")
    asyncio.run(call(hook, [ASKED.encode()]))
    (one,) = drained(tmp_path)
    assert (one.case.prompt, one.id, one.case.documents[0].title) == ("new", "7", "T")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            b'data: {"delta": {"text": "Hel"}}\n\ndata: {"delta": {"text": "lo"}}\r\n\ndata: [DONE]\n\n',
            "text/event-stream; charset=utf-8",
        ),
        (b'{"delta": {"text": "Hel"}}\n{"delta": {"text": "lo"}}\n{"done": true}\n', "application/x-ndjson"),
    ],
)
def test_a_stream_is_put_together_from_the_field_that_is_named(tmp_path: Path, body: bytes, kind: str) -> None:
    hook = QualityHook(application([body[:17], body[17:]], kind=kind), tmp_path, stream="delta.text")
    asyncio.run(call(hook, [ASKED.encode()]))
    assert [one.case.response for one in drained(tmp_path)] == ["Hello"]


@pytest.mark.parametrize(
    ("app", "request_body", "why"),
    [
        (application([b"data: [DONE]\n\n"], kind="text/event-stream"), ASKED.encode(), "not_found"),
        (application([ANSWERED], status=404), ASKED.encode(), "refused"),
        (application([ANSWERED], status=500), ASKED.encode(), "failed"),
        (application([ANSWERED], content_encoding="gzip"), ASKED.encode(), "encoded"),
        (application([b"<html>"], kind="text/html"), ASKED.encode(), "not_json"),
        (application([ANSWERED]), b"q=1", "not_json"),
        (application([ANSWERED]), b"", "not_json"),
        (application([b"[" * 5000]), ASKED.encode(), "not_json"),
        (application([ANSWERED, b" " * 3000]), ASKED.encode(), "too_large"),
        (application([ANSWERED]), b'{"prompt": 3}', "not_found"),
        (application([b'{"response": ""}']), ASKED.encode(), "not_found"),
        (application([b'{"response": " "}']), ASKED.encode(), "lost"),
    ],
)
def test_what_cannot_be_read_passes_through_and_is_counted(tmp_path: Path, app: Any, request_body: bytes, why: str) -> None:
    hook = QualityHook(app, tmp_path, max_bytes=6000 if why == "not_json" else 2000)
    got = asyncio.run(call(hook, [request_body]))
    assert got[-1][0]["type"] == "http.response.body"
    assert hook.counts == {why: 1} and drained(tmp_path) == []


def test_other_paths_and_other_protocols_are_left_alone(tmp_path: Path) -> None:
    hook = QualityHook(application([ANSWERED]), tmp_path, path=["/chat", "/ask"])
    asyncio.run(call(hook, [ASKED.encode()], path="/health"))
    assert not hook.counts
    asyncio.run(call(hook, [ASKED.encode()], path="/ask"))
    assert hook.counts == {"recorded": 1}


def test_an_application_that_fails_fails_as_before(tmp_path: Path) -> None:
    async def app(scope: Any, receive: AsgiReceive, send: AsgiSend) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(call(QualityHook(app, tmp_path), [ASKED.encode()]))


@pytest.mark.parametrize(
    ("path", "found"), [("a.0.b", 1), ("a.-1", 2), ("a.5", None), ("a.x", None), ("z.y", None), ("", {"a": [{"b": 1}, 2]})]
)
def test_a_dotted_path_finds_or_finds_nothing(path: str, found: Any) -> None:
    assert find({"a": [{"b": 1}, 2]}, path) == found
