"""The pipeline as one object: a prompt becomes a stored trace."""

import asyncio
import os
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from areopage.app import AppConfig, open_gate, open_judge
from areopage.checking import MOST_PROMPT, Checker, RagConfig, SentenceJudge, TraceExport
from areopage.errors import MissingExtra, StorageError, SubmissionError, TooManyAnswers
from areopage.gate import Gate
from areopage.ledger import Batch, Ledger, Trace, stored_trace
from areopage.rag.answering.answer_cache import CachePlace, KeptAnswers
from areopage.rag.answering.state import RagState, repeated_trace, texts_of, trace_of
from areopage.rag.generation import open_generator
from areopage.rag.records import ChatPrompt, Generator, Retriever
from areopage.rag.retrieval.retriever import open_retriever
from areopage.text import language_of

if TYPE_CHECKING:
    from areopage.server import Pipeline

Tell = Callable[[str, RagState], None]
Flight = asyncio.Task[Trace]
FlightPlace = tuple[asyncio.AbstractEventLoop, CachePlace | str]
"""Equal prompts in the same event loop share a flight; with an id instead of a place a flight is one prompt's own."""


class RagService:
    """Answers prompts through the graph, with cache and ledger; safe for concurrent use. Use it from one event loop at a time."""

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
        reduce: Callable[[Trace], Trace] | None = None,
    ) -> None:
        try:
            from areopage.rag.answering.graph import Nodes, build_graph, run_graph
        except ModuleNotFoundError:
            raise MissingExtra("the answering pipeline", "rag") from None
        self._config = config
        self._say = say
        self.retriever, self._generator = retriever, generator
        self._checker = Checker(gate, ledger=ledger, judge=judge)
        self._texts = texts_of(config)
        nodes = Nodes(
            retriever=retriever,
            generator=generator,
            checker=self._checker,
            texts=self._texts,
            shadow=config.section.shadow,
        )
        self._graph, self._run_graph = build_graph(nodes), run_graph
        self._kept = KeptAnswers(config, gate.version, ledger, retriever, say)
        self._reduce = reduce
        self._export = TraceExport(ledger, config.section.traces, config.path(config.section.traces.folder))

        def store(traces: Sequence[Trace]) -> None:
            ledger.traces.append(traces)

        self._batch: Batch[Trace, None] = Batch(store, what="traces")
        self._flights: dict[FlightPlace, Flight] = {}
        self._per_key = Counter[str]()

    # --- prompts

    async def answer(self, prompt: ChatPrompt) -> Trace:
        """Answer a prompt; on return its trace is in the ledger.

        Where the caller does not wait to the end, what is under way is finished and stored all the same: it is paid for.
        """
        return await self._answer(prompt, None)

    async def stream(self, prompt: ChatPrompt) -> AsyncIterator[dict[str, Any]]:
        """The same, as events: {"node": name, "state": what the node changed} for each node, at last {"trace": Trace}.

        A cached answer, and one that is under way for another caller, has no events of nodes. What `generate` changes is the
        response before the gate: it is not for the user.
        """
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

        def tell(node: str, changed: RagState) -> None:
            events.put_nowait({"node": node, "state": changed})

        task = asyncio.create_task(self._answer(prompt, tell))
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield {"trace": await task}
        finally:
            task.cancel()

    async def forget(self, trace: Trace) -> None:
        """Remove the cached answer to a trace's prompt.

        Where a storage policy changed the prompt, the cache's entry is not found; it is not used once the trace is erased.
        """
        asked = ChatPrompt(prompt=trace.prompt, collection=trace.collection, sources_filter=trace.sources_filter)
        await self._kept.forget_prompt(asked, self._language(trace.prompt))

    async def export_traces(self) -> None:
        """Update the trace files from the ledger."""
        await asyncio.to_thread(self._export.run)

    async def aclose(self) -> None:
        """Cancel open prompts, close everything and export traces."""
        loop = asyncio.get_running_loop()
        flights = [flight for (place, _), flight in self._flights.items() if place is loop]
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        for part in (self.retriever, self._generator, self._checker, self._kept):
            await part.aclose()
        await asyncio.to_thread(self._batch.close, None)
        try:
            await self.export_traces()
        except StorageError as fault:
            self._say(f"traces: {fault}")

    # --- one prompt

    async def _answer(self, prompt: ChatPrompt, tell: Tell | None) -> Trace:
        """Answer from the cache, from what is under way, or by a run of the graph."""
        started = time.perf_counter()
        state = self._begin(prompt)
        loop = asyncio.get_running_loop()
        if prompt.no_cache or not self._kept.enabled:
            return await asyncio.shield(self._fly((loop, state["id"]), state, None, started, tell))
        place = await self._kept.place(prompt, state["language"])
        if (loop, place) not in self._flights:
            entry = await self._kept.find(place)
            if entry is not None:
                return await self._repeat(entry.trace, state, started)
        flight = self._flights.get((loop, place))
        if flight is None:
            return await asyncio.shield(self._fly((loop, place), state, place, started, tell))
        return await self._repeat(await asyncio.shield(flight), state, started)

    def _begin(self, prompt: ChatPrompt) -> RagState:
        """The state that the graph begins with."""
        if not prompt.prompt.strip():
            raise SubmissionError("the question is empty: write one")
        if len(prompt.prompt) > MOST_PROMPT:
            raise SubmissionError(f"the question is longer than {MOST_PROMPT:,} characters: shorten it")
        section = self._config.section
        asked = replace(
            prompt,
            collection=prompt.collection or section.store.collection,
            sources_filter=prompt.sources_filter or tuple(section.retrieval.sources),
        )
        return {"id": uuid.uuid4().hex, "at": datetime.now(UTC), "asked": asked, "language": self._language(prompt.prompt)}

    def _language(self, prompt: str) -> str:
        """The language that a prompt is answered in."""
        return language_of(prompt) or self._config.section.language

    def _fly(self, shared: FlightPlace, state: RagState, place: CachePlace | None, started: float, tell: Tell | None) -> Flight:
        """Run the graph in a task of its own, which goes on where no caller waits any more."""
        key, most = state["asked"].api_key, self._config.section.generation.per_key
        if key and self._per_key[key] >= most:
            raise TooManyAnswers(f"{most} answers are being generated for the API key {key}: wait until one has ended")
        self._per_key[key] += 1
        flight = asyncio.create_task(self._run(state, place, started, tell))
        self._flights[shared] = flight

        def landed(task: Flight) -> None:
            self._flights.pop(shared, None)
            self._per_key[key] -= 1
            if not task.cancelled():
                task.exception()  # seen: callers that wait get it, and without any it is not reported

        flight.add_done_callback(landed)
        return flight

    async def _run(self, state: RagState, place: CachePlace | None, started: float, tell: Tell | None) -> Trace:
        """One run of the graph, stored, and kept in the cache in a place (None: not at all)."""
        async for node, changed in self._run_graph(self._graph, state):
            state |= changed
            if tell is not None:
                tell(node, changed)
        trace = await self._note(trace_of(state, time.perf_counter() - started))
        if place is not None:
            await self._kept.keep(place, trace)
        return trace

    async def _repeat(self, trace: Trace, state: RagState, started: float) -> Trace:
        return await self._note(repeated_trace(trace, state, self._texts, time.perf_counter() - started))

    async def _note(self, trace: Trace) -> Trace:
        """Put a trace into the ledger, and say its line. It is stored even where the caller does not wait."""
        await self._batch.write_async([self._reduce(trace) if self._reduce else trace])
        self._say(_console_line(trace))
        return trace


def _console_line(trace: Trace) -> str:
    """The line of one answer; the sources come from the user, so they are written as JSON, which has no line breaks."""
    confidence = "none" if trace.confidence is None else f"{trace.confidence:.3f}"
    sources = msgspec.json.encode(list(trace.sources_filter)).decode()
    judge = f" judge={trace.judge_standing}" if trace.judge_standing else ""
    line = f"chosen_mode={trace.mode} confidence={confidence} response_lang={trace.language} sources_filter={sources}"
    return f"[chatbot] {line}{judge}"


def open_service(config: AppConfig, ledger: Ledger, say: Callable[[str], None], judge: SentenceJudge | None) -> "Pipeline":
    """The pipeline of a server; see `open_pipeline`."""
    from areopage.server import Pipeline  # only a server needs the web

    section = config.rag.section
    service = open_pipeline(config, ledger, say, judge=judge)
    return Pipeline(service=service, collection=section.store.collection, language=section.language)


def open_pipeline(
    config: AppConfig,
    ledger: Ledger,
    say: Callable[[str], None],
    *,
    secret: bytes | None = None,
    judge: SentenceJudge | None = None,
) -> RagService:
    """The answering pipeline; `storage` says what stays of questions and answers."""
    environment = dict(os.environ)
    rag, storage = config.rag, config.storage

    def reduced(trace: Trace) -> Trace:
        return stored_trace(trace, storage.text, storage.max_chars)

    generator = open_generator(rag, ledger.secret() if secret is None else secret, environment)
    judge = judge or open_judge(config, ledger)
    retriever = open_retriever(rag, say, environment)
    return RagService(rag, ledger, open_gate(config), retriever, generator, say, judge=judge, reduce=reduced)
