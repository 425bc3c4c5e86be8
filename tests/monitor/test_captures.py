"""What hooks make of the bots that people have: the right texts, documents and labels, and doubts that are counted."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from areopage.ledger.tables.records import Answer
from areopage.monitor.hook.counts import Losses
from areopage.monitor.hook.endpoints import QualityHook
from areopage.monitor.hook.functions import monitored
from servers.bots import Thing, application, call, drained

QUESTION, ANSWER = "How many days of leave?", "Thirty days a year."


def captured(folder: Path, result: Any, *given: Any, **named: Any) -> Answer:
    @monitored(folder)
    def reply(question: str = QUESTION, **more: Any) -> Any:
        return result

    reply(*given, **named)
    (answer,) = drained(folder)
    return answer


# --- model clients


def responses_object() -> Any:
    from openai.types.responses import Response

    return Response.model_validate(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "gpt-x",
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "output": [
                {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "I think."}]},
                {
                    "id": "fs_1",
                    "type": "file_search_call",
                    "status": "completed",
                    "queries": ["leave"],
                    "results": [{"file_id": "f", "filename": "ccn.pdf", "score": 0.9, "text": "Article 45: thirty days."}],
                },
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
                },
            ],
        }
    )


@pytest.mark.parametrize("form", ["object", "dump"])
def test_a_response_of_openai_s_responses_api_is_recorded_with_what_its_file_search_found(tmp_path: Path, form: str) -> None:
    found = responses_object()
    one = captured(tmp_path, found if form == "object" else found.model_dump())
    assert (one.case.prompt, one.case.response) == (QUESTION, ANSWER)
    assert [(document.title, document.text) for document in one.case.documents] == [("ccn.pdf", "Article 45: thirty days.")]


def test_the_input_of_the_responses_api_is_the_question(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def create(*, model: str, input: Any) -> Any:
        return responses_object()

    items = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": "data:"}]},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "30"},
    ]
    create(model="gpt-x", input=items)
    (one,) = drained(tmp_path)
    assert [turn.content for turn in one.case.turns] == [f"{QUESTION}\n[an image that the judge does not see]"]
    assert vars(create)["doubts"] == {"unseen": 1}


def test_a_picture_in_a_french_question_is_said_in_french(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "Que dit cet acte ?"}, {"type": "image_url", "image_url": {"url": "x"}}]
    one = captured(tmp_path, ANSWER, [{"role": "user", "content": parts}])
    assert one.case.turns[0].content == "Que dit cet acte ?\n[une image que le juge ne voit pas]"


def responses_events() -> list[Any]:
    from openai.types.responses import ResponseCompletedEvent, ResponseTextDeltaEvent

    deltas = [
        ResponseTextDeltaEvent(
            content_index=0,
            delta=text,
            item_id="msg_1",
            logprobs=[],
            output_index=0,
            sequence_number=at,
            type="response.output_text.delta",
        )
        for at, text in enumerate(["Thirty", " days", " a year."])
    ]
    done = {"type": "response.output_text.done", "text": ANSWER}
    reasoning = {"type": "response.reasoning_text.delta", "delta": "Hm."}
    completed = ResponseCompletedEvent.model_construct(response=responses_object(), type="response.completed", sequence_number=9)
    return [{"type": "response.created"}, reasoning, *deltas, done, completed]


def completion_chunks() -> list[Any]:
    from openai.types.chat import ChatCompletionChunk

    def chunk(index: int = 0, **delta: Any) -> Any:
        choice = {"index": index, "delta": delta, "finish_reason": None}
        fields = {"id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": [choice]}
        return ChatCompletionChunk.model_validate(fields)

    usage = ChatCompletionChunk.model_validate(
        {"id": "chatcmpl-123", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices": []}
    )
    said = [chunk(content=text) for text in ("Thirty", " days", " a year.")]
    return [chunk(role="assistant", content=""), said[0], chunk(1, content="Another"), *said[1:], chunk(), usage]


def ollama_chunks() -> list[Any]:
    from ollama import ChatResponse

    return [ChatResponse(message={"role": "assistant", "content": text}) for text in ("Thirty", " days", " a year.")]  # type: ignore[arg-type]


def langchain_chunks() -> list[Any]:
    from langchain_core.messages import AIMessageChunk

    return [AIMessageChunk(content="Thirty days"), AIMessageChunk(content=[{"type": "text", "text": " a year.", "index": 0}])]


def anthropic_events() -> list[Any]:
    deltas = [
        Thing(type="content_block_delta", delta=Thing(type="text_delta", text=text)) for text in ("Thirty days", " a year.")
    ]
    thought = Thing(type="content_block_delta", delta=Thing(type="thinking_delta", thinking="Hm."))
    start = Thing(type="message_start", message=Thing(type="message", role="assistant", content=[]))
    return [start, thought, deltas[0], Thing(type="text", text="Thirty days", snapshot=""), deltas[1], Thing(type="message_stop")]


def sse(*events: Any, named: str = "") -> list[str]:
    frames = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return [f"event: {named}\ndata: {frame}\n\n" if named else f"data: {frame}\n\n" for frame in (*frames, "[DONE]")]


STREAMS: dict[str, Any] = {
    "responses api": responses_events,
    "responses api, only the end": lambda: responses_events()[-1:],
    "completions": completion_chunks,
    "ollama": ollama_chunks,
    "langchain": langchain_chunks,
    "anthropic": anthropic_events,
    "langgraph messages": lambda: [(piece, {"langgraph_node": "model"}) for piece in langchain_chunks()],
    "langgraph values": lambda: [
        {"messages": [Thing(type="human", content=QUESTION)]},
        {"messages": [Thing(type="human", content=QUESTION), Thing(type="ai", content=ANSWER)]},
    ],
    "events of langchain": lambda: [
        {"event": "on_chain_start", "data": {"input": "x"}},
        *({"event": "on_chat_model_stream", "data": {"chunk": piece}} for piece in langchain_chunks()),
        {"event": "on_chain_end", "data": {"output": "again"}},
    ],
    "frames of completions": lambda: sse(*(piece.model_dump() for piece in completion_chunks())),
    "frames of tokens": lambda: sse({"token": "Thirty days"}, {"token": " a year."}),
    "bytes of frames, cut anywhere": lambda: [
        b"".join(map(str.encode, sse({"token": ANSWER})))[at : at + 7] for at in range(0, 60, 7)
    ],
    "frames of text": lambda: sse("Thirty", " days", " a year."),
    "frames of words": lambda: sse("Thirty", "days", "a", "year."),
    "frames without a space": lambda: ["data:Thirty\n\n", "data: days\n\n", "data: a year.\n\n"],
    "named frames": lambda: [*sse("42", named="ping")[:1], *sse("Thirty days a year.", named="token")],
    "json lines": lambda: ['{"token": "Thirty days"}\n', '{"token": " a year."}\n'],
    "the whole at the end": lambda: [{"token": "Thirty days"}, {"token": " a year."}, {"type": "final", "answer": ANSWER}],
    "each time all so far": lambda: ["Thirty", "Thirty days", ANSWER],
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_of_any_usual_form_makes_the_answer(tmp_path: Path, name: str) -> None:
    pieces = STREAMS[name]()

    @monitored(tmp_path)
    def reply(question: str) -> Iterator[Any]:
        yield from pieces

    assert list(reply(QUESTION)) == pieces
    assert [(one.case.prompt, one.case.response) for one in drained(tmp_path)] == [(QUESTION, ANSWER)]
    assert not vars(reply)["doubts"]


EVENTS = [
    {"documents": [{"title": "Article 45", "text": "Thirty days a year."}], "variant": "B", "id": "a-1"},
    {"token": "Thirty days"},
    {"token": " a year."},
]


def test_documents_and_labels_in_a_stream_are_recorded(tmp_path: Path) -> None:
    @monitored(tmp_path)
    async def reply(question: str) -> AsyncIterator[str]:
        for frame in sse(*EVENTS):
            yield frame

    async def read() -> None:
        [_ async for _ in reply(QUESTION)]

    asyncio.run(read())
    (one,) = drained(tmp_path)
    assert (one.case.response, one.variant, one.id) == (ANSWER, "B", "a-1")
    assert [document.title for document in one.case.documents] == ["Article 45"]


def test_a_stream_that_reports_an_error_is_no_answer(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(question: str) -> Iterator[str]:
        yield from sse({"token": "Thirty"}, {"error": {"message": "overloaded"}})

    list(reply(QUESTION))
    assert drained(tmp_path) == [] and vars(reply)["counts"] == {"not_found": 1}
    assert "overloaded" in Losses.of(tmp_path).reason


# --- results of functions


def test_titles_of_framework_documents_are_shown_to_judges(tmp_path: Path) -> None:
    from langchain_core.documents import Document

    documents = [
        Document(page_content="Article 45.", metadata={"source": "/data/ccn.pdf", "page": 3}),
        Document(page_content="Article 46.", metadata={"title": "Code du travail", "source": "x.pdf"}),
        Thing(node=Thing(text="Article 47.", metadata={"file_name": "guide.docx"}), score=0.7),
        {"text": "Article 48.", "source": "C:\\texts\\code.txt"},
    ]
    one = captured(tmp_path, {"answer": ANSWER, "context": documents})
    assert [document.title for document in one.case.documents] == ["ccn.pdf", "Code du travail", "guide.docx", "code.txt"]


@pytest.mark.parametrize(
    "result",
    [
        (ANSWER, ["Article 45."]),
        (Thing(type="ai", content=ANSWER), [{"text": "Article 45."}]),
        ({"answer": ANSWER}, {"documents": ["Article 45."]}),
        {"messages": [Thing(type="human", content=QUESTION), Thing(type="ai", content=ANSWER)], "context": ["Article 45."]},
        {"reponse": ANSWER, "documents": ["Article 45."]},
        json.dumps({"answer": ANSWER, "documents": ["Article 45."]}).encode(),
        Thing(content=[Thing(type="thinking", thinking="Hm."), Thing(type="text", text=ANSWER)], documents=["Article 45."]),
    ],
)
def test_the_answer_and_its_documents_are_found_in_a_result(tmp_path: Path, result: Any) -> None:
    one = captured(tmp_path, result)
    assert (one.case.prompt, one.case.response) == (QUESTION, ANSWER)
    assert [document.text for document in one.case.documents] == ["Article 45."]


def test_an_object_of_a_framework_is_refused_and_its_method_is_decorated(tmp_path: Path) -> None:
    from langchain_core.runnables import RunnableLambda

    chain: Any = RunnableLambda(lambda question: {"answer": ANSWER})
    with pytest.raises(TypeError, match=r"object of type RunnableLambda: decorate `invoke` of it"):
        monitored(tmp_path)(chain)
    with pytest.raises(TypeError, match="object of type int: give a function"):
        monitored(tmp_path, evaluate=False)(5)  # type: ignore[type-var]
    monitored(tmp_path)(chain.invoke)(QUESTION)
    assert [(one.case.prompt, one.case.response) for one in drained(tmp_path)] == [(QUESTION, ANSWER)]


def test_responses_of_fastapi_are_recorded(tmp_path: Path) -> None:
    from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse

    async def tokens() -> AsyncIterator[str]:
        for frame in sse(*EVENTS[1:]):
            yield frame

    @monitored(tmp_path)
    async def reply(question: str, kind: str) -> Any:
        if kind == "stream":
            return StreamingResponse(tokens(), media_type="text/event-stream")
        return JSONResponse({"answer": ANSWER}) if kind == "json" else PlainTextResponse(ANSWER)

    async def read() -> None:
        for kind in ("json", "text"):
            await reply(QUESTION, kind)
        streamed = await reply(QUESTION, "stream")
        assert "".join([piece async for piece in streamed.body_iterator]) == "".join(sse(*EVENTS[1:]))

    asyncio.run(read())
    assert [one.case.response for one in drained(tmp_path)] == [ANSWER] * 3


def test_the_question_is_found_behind_other_arguments(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def answer(user_id: str, texte: str) -> str:
        return ANSWER

    @monitored(tmp_path)
    def by_order(user: str, session_id: str, words: str, system_prompt_text: str = "Be brief and kind.") -> str:
        return ANSWER

    @monitored(tmp_path)
    def by_body(user: str, body: Any) -> str:
        return ANSWER

    @monitored(tmp_path)
    def by_name(**fields: Any) -> str:
        return ANSWER

    answer("user-17", QUESTION)
    by_order("user-17", "s 1", QUESTION)
    by_body("user-17", Thing(question=QUESTION))
    by_name(user_id="user-17", question=QUESTION)
    assert [one.case.prompt for one in drained(tmp_path)] == [QUESTION] * 4


TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_the_labels_of_a_call_are_recorded_from_its_result_or_its_arguments(tmp_path: Path) -> None:
    labels = {"id": "a-1", "source": "notaires", "variant": "b", "language": "fr", "trace_id": TRACE}
    by_result = captured(tmp_path, {"answer": ANSWER} | labels)
    by_arguments = captured(tmp_path, ANSWER, **labels | {"id": "a-2", "trace_id": f"00-{TRACE}-b7ad6b7169203331-01"})
    for one, id in ((by_result, "a-1"), (by_arguments, "a-2")):
        assert (one.id, one.source, one.variant, one.language, one.trace_id) == (id, "notaires", "b", "fr", TRACE)


def test_a_label_that_cannot_be_stored_costs_no_answer_and_is_counted(tmp_path: Path) -> None:
    @monitored(tmp_path, language="fr")
    def reply(question: str) -> Any:
        return {"answer": ANSWER, "language": "a very unusual language", "source": "golden:mine"}

    reply(QUESTION)
    (one,) = drained(tmp_path)
    assert (one.language, one.source) == ("fr", "") and vars(reply)["doubts"] == {"label": 1}


def test_the_id_of_a_model_s_client_is_not_the_answer_s(tmp_path: Path) -> None:
    completion = {"id": "chatcmpl-123", "object": "chat.completion", "choices": [{"message": {"content": ANSWER}}]}
    assert captured(tmp_path, completion).id != "chatcmpl-123"


# --- doubts


@pytest.mark.parametrize(
    ("prompt", "response", "kind"),
    [
        (QUESTION, "[message]", "placeholder"),
        (QUESTION, "None", "placeholder"),
        (QUESTION, "<__main__.Bot object at 0x7f0>", "object"),
        (QUESTION, "<generator object reply at 0x7f0>", "object"),
        (QUESTION, "content='Thirty.' additional_kwargs={}", "object"),
        (QUESTION, "ChatCompletion(id='1', choices=[])", "object"),
        (QUESTION, '{"answer": "Thirty."}', "json"),
        ("user-17", ANSWER, "one_word"),
        (QUESTION, QUESTION, "echo"),
    ],
)
def test_a_doubtful_capture_is_recorded_and_counted(tmp_path: Path, prompt: str, response: str, kind: str) -> None:
    @monitored(tmp_path, source="bot")
    def reply(question: str) -> str:
        return response

    reply(prompt)
    (one,) = drained(tmp_path)
    assert vars(reply)["counts"] == {"recorded": 1} and vars(reply)["doubts"] == {kind: 1}
    found = Losses.of(tmp_path)
    assert found.doubts == {kind: 1} and found.total == 0 and (found.doubtful, "reply" in found.doubt) == (one.id, True)


@pytest.mark.parametrize("prompt", ["Pourquoi ?", "相続とは何ですか", "Is it 30?"])
def test_a_usual_question_is_not_doubtful(tmp_path: Path, prompt: str) -> None:
    @monitored(tmp_path)
    def reply(question: str) -> str:
        return "See [1]: data: thirty days (Article 45)."

    reply(prompt)
    assert not vars(reply)["doubts"]


# --- what is lost


def test_calls_without_an_answer_are_counted_by_kind(tmp_path: Path) -> None:
    @monitored(tmp_path, source="bot")
    def reply(question: str) -> Any:
        if question == "raise":
            raise ValueError("secret")
        return None

    @monitored(tmp_path, source="bot")
    async def slow(question: str) -> Any:
        await asyncio.sleep(60)

    @monitored(tmp_path, source="bot")
    def breaks(question: str) -> Iterator[str]:
        yield "Thirty"
        raise RuntimeError("secret")

    async def cancelled() -> None:
        task = asyncio.create_task(slow(QUESTION))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with pytest.raises(ValueError, match="secret"):
        reply("raise")
    assert reply(QUESTION) is None
    asyncio.run(cancelled())
    with pytest.raises(RuntimeError, match="secret"):
        list(breaks(QUESTION))
    found = Losses.of(tmp_path)
    assert found.counts == {"failed": 1, "not_found": 1, "unfinished": 2} and "secret" not in found.reason
    assert vars(breaks)["counts"] == {"unfinished": 1}


def test_a_decorated_function_stays_what_it_is(tmp_path: Path) -> None:
    def plain(question: str, *, more: int = 1) -> str:
        return ""

    async def coroutine(question: str) -> str:
        return ""

    def generator(question: str) -> Iterator[str]:
        yield ""

    async def stream(question: str) -> AsyncIterator[str]:
        yield ""

    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.isfunction)
    for function in (plain, coroutine, generator, stream):
        decorated = monitored(tmp_path)(function)
        assert [kind(decorated) for kind in kinds] == [kind(function) for kind in kinds]
        assert inspect.signature(decorated) == inspect.signature(function)


def test_a_decorated_generator_takes_values_and_exceptions_and_returns(tmp_path: Path) -> None:
    def generator(question: str) -> Any:
        got = yield "a"
        try:
            yield got
        except KeyError:
            yield "caught"
        return "end"

    def whole(function: Any) -> list[Any]:
        stream = function(QUESTION)
        said = [next(stream), stream.send("sent"), stream.throw(KeyError())]
        with pytest.raises(StopIteration) as end:
            next(stream)
        return [*said, end.value.value]

    assert whole(monitored(tmp_path)(generator)) == whole(generator) == ["a", "sent", "caught", "end"]

    async def agenerator(question: str) -> Any:
        got = yield "a"
        try:
            yield got
        except KeyError:
            yield "caught"

    async def awhole(function: Any) -> list[Any]:
        stream = function(QUESTION)
        said = [await anext(stream), await stream.asend("sent"), await stream.athrow(KeyError())]
        return [*said, [_ async for _ in stream]]

    assert asyncio.run(awhole(monitored(tmp_path)(agenerator))) == asyncio.run(awhole(agenerator)) == ["a", "sent", "caught", []]


# --- the middleware


BODY = json.dumps({"question": QUESTION, "bot": "from the body"}).encode()


def test_a_stream_under_the_middleware_has_its_documents_and_its_variant(tmp_path: Path) -> None:
    body = "".join(sse(*EVENTS)).encode()
    hook = QualityHook(
        application([body[:30], body[30:]], kind="text/event-stream"),
        tmp_path,
        prompt="question",
        stream="token",
        documents="documents",
        variant_path="variant",
        id="id",
    )
    asyncio.run(call(hook, [BODY]))
    (one,) = drained(tmp_path)
    assert (one.case.response, one.variant, one.id) == (ANSWER, "B", "a-1")
    assert [document.title for document in one.case.documents] == ["Article 45"]


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        (sse("Thirty", " days", " a year."), "text/event-stream"),
        (["Thirty days", " a year."], "text/plain; charset=utf-8"),
        (sse({"choices": [{"delta": {"content": ANSWER}}]}), "text/event-stream"),
    ],
)
def test_streams_of_text_are_recorded_without_a_path(tmp_path: Path, chunks: list[str], kind: str) -> None:
    hook = QualityHook(application([chunk.encode() for chunk in chunks], kind=kind), tmp_path, prompt="question")
    asyncio.run(call(hook, [BODY]))
    assert [one.case.response for one in drained(tmp_path)] == [ANSWER]


def test_a_path_with_parameters_is_heard_and_labels_come_from_any_place(tmp_path: Path) -> None:
    hook = QualityHook(
        application([json.dumps({"response": ANSWER, "lang": "fr"}).encode()]),
        tmp_path,
        path=["/tenants/{tenant}/chat", "/files/{rest:path}"],
        prompt="query:q",
        source_path="path:tenant",
        variant_path="header:X-Arm",
        language_path="lang",
    )
    headers = [(b"x-arm", b"b"), (b"traceparent", f"00-{TRACE}-b7ad6b7169203331-01".encode())]
    asyncio.run(call(hook, [b""], path="/tenants/notaires/chat", headers=headers, query=b"q=How+many%3F"))
    asyncio.run(call(hook, [b""], path="/tenants/a/b/chat", query=b"q=x"))
    asyncio.run(call(hook, [b""], path="/tenants.notaires/chat", query=b"q=x"))
    (one,) = drained(tmp_path)
    assert (one.case.prompt, one.source, one.variant, one.language, one.trace_id) == ("How many?", "notaires", "b", "fr", TRACE)


def test_requests_without_an_answer_are_counted_by_kind_and_source(tmp_path: Path) -> None:
    async def raises(scope: Any, receive: Any, send: Any) -> None:
        raise ConnectionError("the model is down")

    async def leaves(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})

    async def cancelled(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    apps = [raises, leaves, cancelled, application([b"{}"], status=500), application([b"{}"], status=422)]
    seen = []
    for app in apps:
        hook = QualityHook(app, tmp_path, source_path="bot")
        with suppress(ConnectionError, asyncio.CancelledError):
            asyncio.run(call(hook, [BODY]))
        seen += list(hook.counts)
    assert seen == ["failed", "unfinished", "unfinished", "failed", "refused"]
    found = Losses.of(tmp_path)
    assert found.counts == {"failed": 2, "unfinished": 2, "refused": 1} and found.total == 4
