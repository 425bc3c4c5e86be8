"""Streams of model clients and web frameworks: they reach the caller as they are, and what was read is recorded."""

import asyncio
import gc
import io
import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from areopage.monitor.hook.counts import Losses
from areopage.monitor.hook.functions import monitored
from servers.bots import Thing, drained

QUESTION, ANSWER = "How many days of leave?", "Thirty days a year."
TOKENS = ["Thirty", " days", " a year."]


def listening(folder: Path, result_of: Callable[[], Any]) -> Any:
    @monitored(folder)
    def reply(question: str) -> Any:
        return result_of()

    return reply


def recorded(folder: Path) -> list[tuple[str, list[str]]]:
    return [(str(one.case.response), [document.text for document in one.case.documents]) for one in drained(folder)]


# --- OpenAI's client


def frames(*events: dict[str, Any], end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(event)}\n\n" for event in events) + end).encode()


def chunk(text: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


CHUNKS = frames(*(chunk(text) for text in TOKENS))


def delta(text: str) -> dict[str, Any]:
    kept = {"item_id": "i", "output_index": 0, "content_index": 0, "sequence_number": 1, "logprobs": []}
    return kept | {"type": "response.output_text.delta", "delta": text}


def stream_of(body: bytes, *, events: bool = False) -> Any:
    """A stream of the real client, whose transport answers with a body."""
    import httpx2
    import openai

    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body, headers={"content-type": "text/event-stream"}))
    client = openai.OpenAI(api_key="x", http_client=openai.DefaultHttpxClient(transport=transport))
    if events:
        return client.responses.create(model="m", input=QUESTION, stream=True)
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": QUESTION}], stream=True)


async def asynchronous() -> Any:
    import httpx2
    import openai

    class Body(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield CHUNKS

        async def aclose(self) -> None:
            return None

    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, stream=Body(), headers={"content-type": "text/event-stream"}))
    client = openai.AsyncOpenAI(api_key="x", http_client=openai.DefaultAsyncHttpxClient(transport=transport))
    return await client.chat.completions.create(model="m", messages=[{"role": "user", "content": QUESTION}], stream=True)


@pytest.mark.parametrize("way", ["for", "next", "with"])
def test_a_stream_of_openai_s_client_stays_one_and_is_recorded_once(tmp_path: Path, way: str) -> None:
    from openai import Stream

    reply = listening(tmp_path, lambda: stream_of(CHUNKS))
    stream = reply(QUESTION)
    assert isinstance(stream, Stream) and type(stream).__name__ == "Stream" and stream.response.status_code == 200
    pieces = []
    if way == "with":
        with stream as entered:
            assert entered is stream
            pieces = list(entered)
    elif way == "next":
        pieces = [next(stream), *stream]
    else:
        pieces = list(stream)
    assert [piece.choices[0].delta.content for piece in pieces] == TOKENS and list(stream) == []
    assert recorded(tmp_path) == [(ANSWER, [])] and vars(reply)["counts"] == {"recorded": 1}


def test_the_events_of_the_responses_api_are_recorded(tmp_path: Path) -> None:
    body = frames(*map(delta, TOKENS), end="")
    assert len(list(listening(tmp_path, lambda: stream_of(body, events=True))(QUESTION))) == 3
    assert recorded(tmp_path) == [(ANSWER, [])]


def test_the_helper_of_openai_s_client_is_recorded_once(tmp_path: Path) -> None:
    from openai import omit
    from openai.lib.streaming.chat import ChatCompletionStream

    def helper() -> Any:
        return ChatCompletionStream(raw_stream=stream_of(CHUNKS), response_format=omit, input_tools=omit)

    assert listening(tmp_path, helper)(QUESTION).get_final_completion().choices[0].message.content == ANSWER
    assert recorded(tmp_path) == [(ANSWER, [])]


def test_a_stream_that_is_closed_dropped_or_broken_off_is_unfinished(tmp_path: Path) -> None:
    reply = listening(tmp_path, lambda: stream_of(CHUNKS))
    closed = reply(QUESTION)
    with closed:
        next(closed)
    assert vars(reply)["counts"] == {"unfinished": 1} and closed.response.is_closed
    reply(QUESTION)  # nothing reads it
    gc.collect()
    assert vars(reply)["counts"] == {"unfinished": 2}
    failing = listening(tmp_path, lambda: stream_of(CHUNKS[:-14] + frames({"error": {"message": "overloaded"}})))
    with pytest.raises(Exception, match="overloaded"):
        list(failing(QUESTION))
    assert vars(failing)["counts"] == {"unfinished": 1} and drained(tmp_path) == []
    assert "broke off: APIError" in Losses.of(tmp_path).reason


def test_an_asynchronous_stream_of_openai_s_client_is_recorded(tmp_path: Path) -> None:
    from openai import AsyncStream

    @monitored(tmp_path)
    async def reply(question: str) -> Any:
        return await asynchronous()

    async def waiting(stream: Any) -> None:
        async for _ in stream:
            await asyncio.sleep(60)

    async def read() -> None:
        whole = await reply(QUESTION)
        assert isinstance(whole, AsyncStream)
        async with whole as entered:
            assert len([piece async for piece in entered]) == 3
        left = await reply(QUESTION)
        async with left:
            await anext(left)
        assert vars(reply)["counts"] == {"recorded": 1, "unfinished": 1}
        stopped = await reply(QUESTION)
        task = asyncio.create_task(waiting(stopped))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await stopped.close()

    asyncio.run(read())
    assert recorded(tmp_path) == [(ANSWER, [])] and vars(reply)["counts"] == {"recorded": 1, "unfinished": 2}


def test_an_iterator_of_a_client_is_kept_once_however_it_is_read(tmp_path: Path) -> None:
    class Events:
        def __init__(self) -> None:
            self._events = iter(TOKENS)

        def __next__(self) -> str:
            return next(self._events)

        def __iter__(self) -> Iterator[str]:
            while True:
                try:
                    yield next(self)
                except StopIteration:
                    return

    inner = listening(tmp_path, Events)
    outer = listening(tmp_path, lambda: inner(QUESTION))
    assert list(outer(QUESTION)) == TOKENS
    assert recorded(tmp_path) == [(ANSWER, [])] * 2 and vars(inner)["counts"] == vars(outer)["counts"] == {"recorded": 1}


@pytest.mark.parametrize("result_of", [lambda: map(str, TOKENS), lambda: io.StringIO("Thirty\ndays\na year.")])
def test_what_cannot_be_read_reaches_the_caller_and_is_named(tmp_path: Path, result_of: Callable[[], Any]) -> None:
    reply = listening(tmp_path, result_of)
    result = reply(QUESTION)
    assert len(list(result)) >= 3
    assert vars(reply)["counts"] == {"not_found": 1} and f"type {type(result).__name__}" in Losses.of(tmp_path).reason


# --- shapes of LlamaIndex


NODES = [Thing(node=Thing(text="Article 45.", metadata={"file_name": "ccn.pdf"}), score=0.8)]


def tokens() -> Generator[str]:
    yield from TOKENS


async def asynchronous_tokens() -> AsyncIterator[str]:
    for token in TOKENS:
        yield token


@dataclass
class StreamingResponse:
    """LlamaIndex's response of a query engine."""

    response_gen: Any
    source_nodes: list[Any] = field(default_factory=lambda: list(NODES))
    response_txt: str | None = None

    def __str__(self) -> str:
        self.response_txt = self.response_txt or "".join(self.response_gen)
        return self.response_txt

    async def async_response_gen(self) -> AsyncIterator[str]:
        async for token in self.response_gen:
            yield token


@dataclass
class StreamingAgentChatResponse:
    """LlamaIndex's response of a chat engine, which makes its generators when it is read."""

    source_nodes: list[Any] = field(default_factory=lambda: list(NODES))
    response: str = ""

    @property
    def response_gen(self) -> Iterator[str]:
        yield from TOKENS

    async def async_response_gen(self) -> AsyncIterator[str]:
        for token in TOKENS:
            yield token


async def joined(response: Any) -> str:
    return "".join([token async for token in response.async_response_gen()])


@pytest.mark.parametrize(
    ("result_of", "read"),
    [
        (lambda: StreamingResponse(tokens()), lambda found: "".join(found.response_gen)),
        (lambda: StreamingResponse(tokens()), str),
        (lambda: StreamingResponse(asynchronous_tokens()), lambda found: asyncio.run(joined(found))),
        (StreamingAgentChatResponse, lambda found: "".join(found.response_gen)),
        (StreamingAgentChatResponse, lambda found: hasattr(found, "response_gen") and "".join(found.response_gen)),
        (StreamingAgentChatResponse, lambda found: asyncio.run(joined(found))),
    ],
)
def test_a_stream_of_llamaindex_is_recorded_with_its_documents(tmp_path: Path, result_of: Any, read: Any) -> None:
    reply = listening(tmp_path, result_of)
    found = reply(QUESTION)
    assert isinstance(found, type(result_of())) and found.source_nodes == NODES
    assert read(found) == ANSWER
    (one,) = drained(tmp_path)
    assert (one.case.response, [(text.title, text.text) for text in one.case.documents]) == (ANSWER, [("ccn.pdf", "Article 45.")])
    assert vars(reply)["counts"] == {"recorded": 1}


def test_pieces_that_come_with_the_whole_so_far_are_not_doubled(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(question: str) -> Iterator[Any]:
        yield Thing(delta="Thirty days", message=Thing(role="assistant", content="Thirty days"))
        yield Thing(delta=" a year.", message=Thing(role="assistant", content=ANSWER))

    list(reply(QUESTION))
    assert recorded(tmp_path) == [(ANSWER, [])]


def test_the_components_of_a_haystack_pipeline_are_read(tmp_path: Path) -> None:
    document = Thing(content="Article 45.", meta={"title": "Code"}, id="d1", score=0.7)
    found = {"retriever": {"documents": [document]}, "llm": {"replies": [Thing(text=ANSWER), Thing(text="Another.")]}}
    listening(tmp_path, lambda: found)(QUESTION)
    assert recorded(tmp_path) == [(ANSWER, ["Article 45."])]


# --- web frameworks


class FlaskResponse:
    """A response as Werkzeug keeps it: a list of bytes, or an iterable that the server reads and closes."""

    direct_passthrough = False

    def __init__(self, response: Any, mimetype: str = "text/html", status: int = 200) -> None:
        self.response, self.mimetype, self.status_code = response, mimetype, status
        self.headers = {"Content-Type": mimetype}

    def close(self) -> None:
        if hasattr(self.response, "close"):
            self.response.close()


def events() -> Iterator[str]:
    yield from (f"data: {json.dumps({'token': token})}\n\n" for token in TOKENS)


JSON = "application/json"
BODY = json.dumps({"answer": ANSWER, "documents": ["Article 45."]})


@pytest.mark.parametrize(
    ("result_of", "documents"),
    [
        (lambda: FlaskResponse([BODY.encode()], JSON), ["Article 45."]),
        (lambda: FlaskResponse([ANSWER.encode()]), []),
        (lambda: (FlaskResponse([BODY.encode()], JSON), 201, {"X-Id": "1"}), ["Article 45."]),
        (lambda: ({"answer": ANSWER}, 200), []),
        (lambda: FlaskResponse(events(), "text/event-stream"), []),
        (lambda: FlaskResponse(iter(TOKENS), "text/plain"), []),
        (lambda: FlaskResponse(iter([BODY[:9], BODY[9:]]), JSON), ["Article 45."]),
        (lambda: (FlaskResponse(iter(TOKENS), "text/plain"), ["Article 45."]), ["Article 45."]),
    ],
)
def test_a_response_of_flask_is_recorded_when_it_was_sent(tmp_path: Path, result_of: Any, documents: list[str]) -> None:
    result = listening(tmp_path, result_of)(QUESTION)
    response = result[0] if isinstance(result, tuple) else result
    if isinstance(response, FlaskResponse):
        list(response.response)
        response.close()
    assert recorded(tmp_path) == [(ANSWER, documents)]


@pytest.mark.parametrize(
    ("result_of", "why"),
    [
        (lambda: FlaskResponse([b'{"message": "broken"}'], JSON, 500), "failed"),
        (lambda: (FlaskResponse([b'{"message": "no such"}'], JSON), 404), "refused"),
        (lambda: ({"message": "no such"}, 404), "refused"),
        (lambda: FlaskResponse([b"<!doctype html><p>x</p>"]), "not_found"),
        (lambda: FlaskResponse(iter([b"\x89PNG\xff"]), "image/png"), "not_found"),
    ],
)
def test_an_error_a_page_or_a_picture_is_no_answer(tmp_path: Path, result_of: Any, why: str) -> None:
    reply = listening(tmp_path, result_of)
    result = reply(QUESTION)
    list(result.response if isinstance(result, FlaskResponse) else ())
    assert vars(reply)["counts"] == {why: 1} and drained(tmp_path) == []


def test_a_client_that_leaves_a_flask_stream_is_counted_and_the_generator_closed(tmp_path: Path) -> None:
    ended: list[float] = []

    def watched() -> Iterator[str]:
        try:
            yield from events()
        finally:
            ended.append(time.monotonic())

    reply = listening(tmp_path, lambda: FlaskResponse(watched(), "text/event-stream"))
    response = reply(QUESTION)
    next(response.response)
    response.close()
    assert ended and vars(reply)["counts"] == {"unfinished": 1} and drained(tmp_path) == []


def test_responses_of_starlette_are_recorded_when_they_were_sent(tmp_path: Path) -> None:
    from starlette.responses import JSONResponse
    from starlette.responses import StreamingResponse as Streaming

    class Tokens:
        def __aiter__(self) -> AsyncIterator[str]:
            return asynchronous_tokens()

    made: dict[str, Callable[[], Any]] = {
        "generator": lambda: Streaming(tokens()),
        "iterable": lambda: Streaming(Tokens()),
        "json": lambda: Streaming(iter([BODY[:9], BODY[9:]]), media_type=JSON),
        "error": lambda: JSONResponse({"message": "down"}, 503),
    }

    @monitored(tmp_path)
    async def reply(question: str, kind: str) -> Any:
        return made[kind]()

    async def send(message: Any) -> None:
        return None

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def read() -> None:
        for kind in made:
            response = await reply(QUESTION, kind)
            await response({"type": "http", "asgi": {"spec_version": "2.4"}, "method": "GET"}, receive, send)

    asyncio.run(read())
    assert recorded(tmp_path) == [(ANSWER, []), (ANSWER, []), (ANSWER, ["Article 45."])]
    assert vars(reply)["counts"] == {"recorded": 3, "failed": 1}
