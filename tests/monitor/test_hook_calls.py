"""How bots use their functions: what they are given changes, decorators are stacked, processes and mounts are many."""

import asyncio
import concurrent.futures
import functools
import gc
import pickle
import types
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from areopage.monitor.hook.endpoints import QualityHook
from areopage.monitor.hook.exchange import Exchange
from areopage.monitor.hook.functions import monitored
from areopage.monitor.hook.spool import Spool
from servers.bots import application, call, drained

QUESTION, ANSWER = "How many days of leave?", "Thirty days a year."


def recorded(folder: Path) -> list[tuple[list[str], str | None]]:
    return [([turn.content for turn in answer.case.turns], answer.case.response) for answer in drained(folder)]


def asked() -> list[dict[str, str]]:
    return [{"role": "user", "content": QUESTION}]


@pytest.mark.parametrize("whole", [True, False], ids=["messages", "body"])
@pytest.mark.parametrize("kind", ["function", "coroutine", "generator", "asynchronous generator"])
def test_the_question_is_recorded_as_it_was_asked(tmp_path: Path, kind: str, whole: bool) -> None:
    def extend(given: Any) -> None:
        messages = given if whole else given["messages"]
        messages.append({"role": "assistant", "content": ANSWER})
        messages[0]["content"] = "Changed."

    @monitored(tmp_path)
    def function(messages: Any) -> str:
        extend(messages)
        return ANSWER

    @monitored(tmp_path)
    async def coroutine(messages: Any) -> str:
        extend(messages)
        return ANSWER

    @monitored(tmp_path)
    def generator(messages: Any) -> Iterator[str]:
        yield ANSWER
        extend(messages)

    @monitored(tmp_path)
    async def asynchronous(messages: Any) -> Any:
        yield ANSWER
        extend(messages)

    async def listen(given: Any) -> None:
        async for _ in asynchronous(given):
            pass

    given: Any = asked() if whole else {"messages": asked()}
    match kind:
        case "function":
            function(given)
        case "coroutine":
            asyncio.run(coroutine(given))
        case "generator":
            list(generator(given))
        case _:
            asyncio.run(listen(given))
    assert recorded(tmp_path) == [([QUESTION], ANSWER)]
    messages = given if whole else given["messages"]
    assert [message["content"] for message in messages] == ["Changed.", ANSWER]  # the bot's own list


def test_documents_that_a_function_fills_are_recorded(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(question: str, documents: list[str]) -> str:
        documents.append("Staff have thirty days.")
        return ANSWER

    reply(QUESTION, [])
    (answer,) = drained(tmp_path)
    assert [document.text for document in answer.case.documents] == ["Staff have thirty days."]


def test_an_extraction_gets_the_arguments_themselves(tmp_path: Path) -> None:
    def extract(arguments: Any, result: Any) -> Exchange:
        return Exchange(prompt=arguments["messages"][-2]["content"], response=result)

    @monitored(tmp_path, extract=extract)
    def reply(messages: list[dict[str, str]]) -> str:
        messages.append({"role": "assistant", "content": ANSWER})
        return ANSWER

    reply(asked())
    assert recorded(tmp_path) == [([QUESTION], ANSWER)]


def test_a_mapping_that_is_filled_again_and_again_is_recorded_piece_by_piece(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(question: str) -> Iterator[dict[str, str]]:
        piece: dict[str, str] = {}
        for text in ("Thirty", " days", " a year."):
            piece["response"] = text
            yield piece

    assert len(list(reply(QUESTION))) == 3
    assert recorded(tmp_path) == [([QUESTION], ANSWER)]


def test_static_and_class_methods_stay_what_they_are(tmp_path: Path) -> None:
    class Bot:
        @monitored(tmp_path)
        @staticmethod
        def static(question: str) -> str:
            return ANSWER

        @monitored(tmp_path)
        @classmethod
        def of_class(cls, question: str) -> str:
            return f"{cls.__name__}: {ANSWER}"

    assert (Bot.static(QUESTION), Bot().static(QUESTION)) == (ANSWER, ANSWER)
    assert (Bot.of_class(QUESTION), Bot().of_class(QUESTION)) == (f"Bot: {ANSWER}", f"Bot: {ANSWER}")
    assert [question for question, _ in recorded(tmp_path)] == [[QUESTION]] * 4


def test_a_spool_in_use_goes_to_other_processes(tmp_path: Path) -> None:
    def reply(question: str) -> str:
        return ANSWER

    spool = Spool(tmp_path)
    monitored(spool)(reply)(QUESTION)
    copy = pickle.loads(pickle.dumps(spool))
    monitored(copy)(reply)(QUESTION)
    assert (copy.folder, copy.lost) == (tmp_path, 0)
    copy.close()
    spool.close()
    assert recorded(tmp_path) == [([QUESTION], ANSWER)] * 2


@pytest.mark.parametrize(
    ("path", "root", "count"),
    [
        ("/api/chat", "/api", 1),
        ("/api/chat", "/api/", 1),
        ("/chat", "/api", 1),  # a proxy has taken the prefix away
        ("/apichat", "/api", 0),
        ("/api/chat", "", 0),
    ],
)
def test_a_path_below_a_mount_is_listened_to(tmp_path: Path, path: str, root: str, count: int) -> None:
    answering = application([b'{"response": "Thirty days."}'])

    async def mounted(scope: Any, receive: Any, send: Any) -> None:
        await hook(scope | {"root_path": root}, receive, send)

    hook = QualityHook(answering, tmp_path)
    mounted.counts = hook.counts  # type: ignore[attr-defined]
    asyncio.run(call(mounted, [b'{"prompt": "How many days of leave?"}'], path=path))  # type: ignore[arg-type]
    assert hook.counts["recorded"] == count


async def replied(question: str) -> str:
    await asyncio.sleep(0)
    if question != QUESTION:
        raise ValueError(question)
    return ANSWER


@types.coroutine
def old_coroutine(question: str) -> Generator[Any, Any, str]:
    return (yield from replied(question).__await__())


class Later:
    """An object of a client that a bot awaits, and reads fields of."""

    def __init__(self, question: str) -> None:
        self.question = question

    def __await__(self) -> Generator[Any, Any, str]:
        return replied(self.question).__await__()


def through(function: Callable[[str], Any]) -> Callable[[str], Any]:
    def reply(question: str) -> Any:
        return function(question)

    return reply


LATER: list[Callable[[str], Any]] = [
    through(replied),
    lambda question: asyncio.ensure_future(replied(question)),
    lambda question: asyncio.shield(replied(question)),
    lambda question: asyncio.get_running_loop().run_in_executor(None, asyncio.run, replied(question)),
    lambda question: asyncio.wrap_future(asyncio.run_coroutine_threadsafe(replied(question), asyncio.get_running_loop())),
    through(Later),
    old_coroutine,
    through(old_coroutine),
    functools.partial(old_coroutine),
    Later,
]


class Slotted:
    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, str]:
        return replied(QUESTION).__await__()


def test_an_object_that_cannot_be_listened_to_is_awaited_as_ever_and_counted(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def reply(question: str) -> Slotted:
        return Slotted()

    async def run() -> str:
        return await reply(QUESTION)

    assert asyncio.run(run()) == ANSWER
    assert not recorded(tmp_path)
    assert reply.counts == {"not_found": 1}  # type: ignore[attr-defined]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("function", LATER)
def test_an_answer_that_comes_later_is_recorded_when_it_is_there(
    tmp_path: Path, function: Callable[[str], Any], times: int
) -> None:
    decorated = monitored(tmp_path)(function)
    if times == 2:
        decorated = monitored(tmp_path / "second")(decorated)

    async def run(question: str) -> Any:
        plain, result = function(question), decorated(question)
        for made in (plain, result):
            assert isinstance(result, type(plain)) or asyncio.iscoroutine(result)
            assert getattr(made, "question", question) == question
        assert not recorded(tmp_path)
        first = await asyncio.gather(plain, return_exceptions=True)
        second = await asyncio.gather(result, return_exceptions=True)
        await asyncio.sleep(0)
        assert repr(first) == repr(second)

    asyncio.run(run(QUESTION))
    assert recorded(tmp_path) == [([QUESTION], ANSWER)]
    assert times == 1 or recorded(tmp_path / "second") == [([QUESTION], ANSWER)]
    asyncio.run(run("Another one?"))
    assert not recorded(tmp_path)
    assert decorated.counts == {"recorded": 1, "failed": 1}  # type: ignore[attr-defined]


def test_the_future_of_a_pool_is_the_callers_and_its_answer_is_recorded(tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:

        @monitored(tmp_path)
        def reply(question: str) -> concurrent.futures.Future[str]:
            return pool.submit(asyncio.run, replied(question))

        assert reply(QUESTION).result() == ANSWER
        assert type(reply("Another one?").exception()) is ValueError
    assert recorded(tmp_path) == [([QUESTION], ANSWER)]
    assert reply.counts == {"recorded": 1, "failed": 1}  # type: ignore[attr-defined]


def test_what_is_cancelled_or_never_awaited_is_unfinished(tmp_path: Path) -> None:
    @monitored(tmp_path)
    def task(question: str) -> "asyncio.Task[str]":
        return asyncio.ensure_future(replied(question))

    @monitored(tmp_path)
    def later(question: str) -> Later:
        return Later(question)

    async def run() -> None:
        task(QUESTION).cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(run())
    later(QUESTION)
    gc.collect()
    assert not recorded(tmp_path)
    for function in (task, later):
        assert vars(function)["counts"] == {"unfinished": 1}


def test_a_fault_that_nobody_asks_for_is_reported_as_ever(tmp_path: Path) -> None:
    reports: list[str] = []

    @monitored(tmp_path)
    def reply(question: str) -> "asyncio.Task[str]":
        return asyncio.ensure_future(replied(question))

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["message"]))
        reply("Another one?")
        await asyncio.sleep(0.01)
        gc.collect()

    asyncio.run(run())
    assert reports == ["Task exception was never retrieved"]


def test_generators_that_a_function_returns_are_recorded_at_their_end(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield from ANSWER.partition(" ")

    @monitored(tmp_path)
    def reply(question: str) -> Any:
        return pieces()

    assert isinstance(reply("Another one?"), types.GeneratorType)
    assert not recorded(tmp_path)
    assert "".join(reply(QUESTION)) == ANSWER
    assert recorded(tmp_path) == [([QUESTION], ANSWER)]
