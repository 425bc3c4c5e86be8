"""The pipeline as one object: a question in, an answer out, everything noted."""

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from areopage.errors import MissingExtra, SubmissionError
from areopage.gate.decide import Gate
from areopage.ledger.gate_records import Exchange
from areopage.ledger.store import Ledger
from areopage.models.own_loop import OwnLoop
from areopage.rag.answering.judging import SentenceJudge
from areopage.rag.answering.kept_answers import KeptAnswers, Place
from areopage.rag.answering.nodes import Nodes
from areopage.rag.answering.noting import Notes
from areopage.rag.answering.outcomes import Asked, Outcome, answer_of, cached_outcome, exchange_of, outcome_of, repeated
from areopage.rag.answering.state import RagState
from areopage.rag.answering.texts import texts_of
from areopage.rag.config import RagConfig
from areopage.rag.logs.erase_traces import erase_traces
from areopage.rag.logs.traces import Traces
from areopage.rag.records import MOST_QUESTION, ChatAnswer, ChatQuestion, Generator, Retriever
from areopage.text.language import language_of

Tell = Callable[[str, RagState], None]
Flight = asyncio.Task[tuple[Outcome, ChatAnswer]]
FlightPlace = tuple[asyncio.AbstractEventLoop, Place | str]
"""Whoever asks the same in the same event loop shares a flight; with an id instead of a place it is one's own."""


class RagService:
    """Answers questions through the graph, with cache, ledger and traces around it. Safe for many questions at once.

    Use it from one event loop at a time, or by `answer_sync`.
    """

    def __init__(
        self,
        config: RagConfig,
        ledger: Ledger,
        gate: Gate,
        retriever: Retriever,
        generator: Generator,
        say: Callable[[str], None],
        *,
        judge: SentenceJudge | None = None,
        reduce: Callable[[Exchange], Exchange] | None = None,
    ) -> None:
        """Args:
        say: gets one line for each answer (chosen_mode, confidence, response_lang, sources_filter), and warnings.
        judge: settles the grey band.
        reduce: what stays of an exchange in the ledger and in the traces, by a storage policy; None: all of it.

        Raises:
            ConfigError: a value is wrong.
            MissingExtra: LangGraph is not installed.
            StorageError: the ledger cannot be read.
        """
        try:
            from areopage.rag.answering.graph import build_graph, run_graph
        except ModuleNotFoundError:
            raise MissingExtra("the answering pipeline", "rag") from None
        self._config = config
        self._say = say
        self.retriever, self._generator, self._judge = retriever, generator, judge
        self._texts = texts_of(config)
        nodes = Nodes(
            retriever=retriever,
            generator=generator,
            gate=gate,
            texts=self._texts,
            judge=judge,
            shadow=config.section.shadow,
        )
        self._graph, self._run_graph = build_graph(nodes), run_graph
        self._kept = KeptAnswers(config, gate.version, ledger, retriever, say)
        self._notes = Notes(ledger, open_traces(config, say), reduce)
        self._flights: dict[FlightPlace, Flight] = {}
        self._guard = threading.Lock()
        self._own_loop: OwnLoop | None = None

    # --- questions

    async def answer(self, question: ChatQuestion) -> ChatAnswer:
        """Answer a question; the exchange is in the ledger when this returns.

        Where the caller does not wait to the end, what is under way is finished and noted all the same: it is paid for.

        Raises:
            SubmissionError: the question is empty or too long.
            UserError: unknown collection, or a store that cannot be reached.
            CallError: the model did not answer.
        """
        return await self._answer(question, None)

    async def stream(self, question: ChatQuestion) -> AsyncIterator[dict[str, Any]]:
        """The same, as events: {"node": name, "state": what the node changed} for each node, at last {"answer": ChatAnswer}.

        A cached answer, and one that somebody else is waiting for already, has no events of nodes. What `generate` changes is the
        response before the gate: it is not for the user.
        """
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

        def tell(node: str, changed: RagState) -> None:
            events.put_nowait({"node": node, "state": changed})

        task = asyncio.create_task(self._answer(question, tell))
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield {"answer": await task}
        finally:
            task.cancel()

    async def forget(self, exchange: Exchange) -> None:
        """Cache no answer to an exchange's question any more, and take its texts out of the files beside the ledger.

        Where a storage policy changed the question, the cache's entry is not found; it is not used once the exchange is erased.

        Raises:
            StorageError: a file cannot be rewritten, and still holds them.
        """
        asked, sources = exchange.question, exchange.sources_filter
        question = ChatQuestion(question=asked, collection=exchange.collection, sources_filter=sources)
        await self._kept.forget(question, self._language(asked))
        await asyncio.to_thread(erase_traces, self._config.path(self._config.section.traces.folder), {exchange.id})

    def answer_sync(self, question: ChatQuestion) -> ChatAnswer:
        """`answer` for programs without an event loop; never call it inside one."""
        with self._guard:
            if self._own_loop is None:
                self._own_loop = OwnLoop("rag-service")
            own = self._own_loop
        return own.wait_for(self.answer(question))

    async def aclose(self) -> None:
        """Let go of everything; what is under way is broken off."""
        with self._guard:
            own, self._own_loop = self._own_loop, None
        await self._break_off()
        if own is not None:
            await asyncio.to_thread(own.stop, self._close_parts)
        else:
            await self._close_parts()
        await asyncio.to_thread(self._notes.close)

    # --- one question

    async def _answer(self, question: ChatQuestion, tell: Tell | None) -> ChatAnswer:
        """Answer from the cache, from what is under way, or by a run of the graph."""
        started = time.perf_counter()
        asked = self._asked(question)
        loop = asyncio.get_running_loop()
        if question.no_cache or not self._kept.enabled:
            return (await asyncio.shield(self._fly((loop, asked.id), asked, None, started, tell)))[1]
        place = await self._kept.place(question, asked.language)
        if (loop, place) not in self._flights:
            entry = await self._kept.find(place)
            if entry is not None:
                return await self._note(asked, cached_outcome(entry), started)
        flight = self._flights.get((loop, place))
        if flight is None:
            return (await asyncio.shield(self._fly((loop, place), asked, place, started, tell)))[1]
        outcome, _ = await asyncio.shield(flight)
        return await self._note(asked, repeated(outcome, asked, self._texts), started)

    def _asked(self, question: ChatQuestion) -> Asked:
        """The question with everything filled in.

        Raises:
            SubmissionError: it is empty, or too long.
        """
        if not question.question.strip():
            raise SubmissionError("the question is empty: write one")
        if len(question.question) > MOST_QUESTION:
            raise SubmissionError(f"the question is longer than {MOST_QUESTION:,} characters: shorten it")
        section = self._config.section
        return Asked(
            id=uuid.uuid4().hex,
            at=datetime.now(UTC),
            question=question.question,
            collection=question.collection or section.store.collection,
            sources_filter=question.sources_filter or tuple(section.retrieval.sources),
            language=self._language(question.question),
            session=question.session,
            key=question.key,
        )

    def _language(self, question: str) -> str:
        """The language that a question is answered in."""
        return language_of(question) or self._config.section.language

    def _fly(self, shared: FlightPlace, asked: Asked, place: Place | None, started: float, tell: Tell | None) -> Flight:
        """Run the graph in a task of its own, which goes on where nobody waits any more."""
        flight = asyncio.create_task(self._run(asked, place, started, tell))
        self._flights[shared] = flight

        def landed(task: Flight) -> None:
            self._flights.pop(shared, None)
            if not task.cancelled():
                task.exception()  # seen: those who wait get it, and where nobody waits nobody is told

        flight.add_done_callback(landed)
        return flight

    async def _run(self, asked: Asked, place: Place | None, started: float, tell: Tell | None) -> tuple[Outcome, ChatAnswer]:
        """One run of the graph, noted, and kept in the cache in a place (None: not at all)."""
        label = await self._kept.latest_label() if place else 0
        state = asked.state()
        async for node, changed in self._run_graph(self._graph, state):
            state |= changed
            if tell is not None:
                tell(node, changed)
        outcome = outcome_of(state)
        answer = await self._note(asked, outcome, started)
        if place is not None:
            await self._kept.keep(place, asked, outcome, label)
        return outcome, answer

    async def _note(self, asked: Asked, outcome: Outcome, started: float) -> ChatAnswer:
        """Put the exchange into the ledger, say the line, and give the answer."""
        seconds = time.perf_counter() - started
        await self._notes.add(exchange_of(asked, outcome, seconds))
        answer = answer_of(asked, outcome, seconds)
        self._say(console_line(answer, asked.sources_filter))
        return answer

    # --- the end

    async def _break_off(self) -> None:
        """Cancel what is under way in the running event loop, and wait for its end."""
        loop = asyncio.get_running_loop()
        flights = [flight for (place, _), flight in self._flights.items() if place is loop]
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    async def _close_parts(self) -> None:
        await self.retriever.aclose()
        await self._generator.aclose()
        if self._judge is not None:
            await self._judge.aclose()
        await self._kept.aclose()


def console_line(answer: ChatAnswer, sources_filter: tuple[str, ...]) -> str:
    """The line of one answer; the sources come from the user, so they are written as JSON, which has no line breaks."""
    sources = msgspec.json.encode(list(sources_filter)).decode()
    return (
        f"[chatbot] chosen_mode={answer.mode} confidence={answer.confidence:.3f} "
        f"response_lang={answer.response_lang} sources_filter={sources}"
    )


def open_traces(config: RagConfig, warn: Callable[[str], None]) -> Traces | None:
    """The files beside the ledger; None where they are not wanted."""
    section = config.section.traces
    return Traces(section, config.path(section.folder), warn=warn) if section.enabled else None
