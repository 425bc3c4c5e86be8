"""One process of the server: from a configuration to a clean stop."""

import asyncio
import gc
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from msgspec import Struct, structs
from starlette.concurrency import run_in_threadpool

from areopage.errors import AreopageError, UserError
from areopage.ledger.access import ApiKeys
from areopage.ledger.evaluations import Evaluations
from areopage.ledger.storage import stored_trace
from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig, StorageSection
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.submit import Intake
from areopage.monitor.thresholds import check_thresholds
from areopage.monitor.worker import Worker
from areopage.server.app import create_app
from areopage.server.context import Pipeline, ServerContext
from areopage.server.origins import is_loopback
from areopage.server.telemetry import open_telemetry, traced
from areopage.suites.gate import load_gate
from areopage.suites.loader import load_suite

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from areopage.rag.config import RagConfig

WATCH_SECONDS = 1.0
BACKLOG = 2048
GRACE_SECONDS = 20
SWITCH_SECONDS = 0.0002
"""After so long a thread that waits to run interrupts the one that runs. With Python's own 5 ms, the thread that writes to the
ledger got a turn far too seldom beside a busy loop: it needs one after each of its many short waits for the database."""
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

Say = Callable[[str], None]
Hire = Callable[[Ledger, MonitorConfig, type[QualityJudge]], Worker]
"""Makes the worker of this process, which judges through the class that it is given."""


class Listening(Struct, frozen=True, kw_only=True):
    """Where the server listens; port 0 takes a free one."""

    host: str
    port: int


class Server(uvicorn.Server):
    """Stops at a signal and returns, so that the process can say what is left; after a second one nothing is waited for."""

    def __init__(self, config: uvicorn.Config, hurry: Callable[[], None]) -> None:
        """Args:
        hurry: called at the second signal; must not block.
        """
        super().__init__(config)
        self._hurry = hurry

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take SIGINT or SIGTERM."""
        if self.should_exit:
            self.force_exit = True
            self._hurry()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the requests and then the application, also where nothing is waited for."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()


def run_server(config: MonitorConfig, listening: Listening, hire: Hire | None, say: Say, rag: "RagConfig | None" = None) -> None:
    """Serve until SIGTERM or Ctrl-C: then requests are finished, the worker is stopped, and what is left is said.

    Args:
        hire: makes the worker of this process; None: others judge.
        rag: the answering pipeline's configuration; None: this server answers no questions, yet checks answers of others.
        say: shows one line to whoever started the server.

    Raises:
        UserError: the port is taken, a public address has no keys, or the suite, ledger or judges cannot be used.
    """
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT)
    sys.setswitchinterval(SWITCH_SECONDS)
    config = listening_at(config, listening)
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(Ledger.open(config.ledger)))
        check_keys(ledger, listening.host)
        listener = stack.enter_context(listener_at(listening))
        provider = open_telemetry(os.environ)
        if provider is not None:
            stack.callback(provider.shutdown)
        suite = load_suite(config.suite)
        check_thresholds(config, suite.scale)
        context = ServerContext(
            ledger=ledger,
            config=config,
            suite=suite,
            submit=Intake(ledger, config.section.sampling).submit_async,
            now=lambda: datetime.now(UTC),
            gate=load_gate(rag.gate if rag else None, clock=time.perf_counter),
            rag=pipeline(rag, ledger, config.section.storage, say) if rag else None,
        )
        worker = hire(ledger, config, traced(provider) if provider is not None else QualityJudge) if hire else None

        def ready() -> None:
            gc.collect()
            gc.freeze()  # what is loaded stays: looking through it again and again held requests up for 50 ms each time
            say(f"serving {address_of(listener)} (Ctrl-C stops)")

        Process(context, listener, worker, ready).run(provider)
        backlog = Evaluations(ledger).backlog()
        left = backlog.waiting + backlog.queued
        say(f"stopped: {left} answers wait to be evaluated; they are kept" if left else "stopped: nothing is left to evaluate")


def pipeline(rag: "RagConfig", ledger: Ledger, storage: StorageSection, say: Say) -> Pipeline:
    """The answering pipeline of a configuration; its heavy parts are loaded here and nowhere else.

    Args:
        storage: what stays of questions and answers.

    Raises:
        UserError: a value is wrong, or a part is not installed.
    """
    from areopage.rag.service import open_service

    service = open_service(rag, ledger, say, reduce=lambda one: stored_trace(one, storage.text, storage.max_chars))
    return Pipeline(service=service, collection=rag.section.store.collection, language=rag.section.language)


class Process:
    """A server and its worker, from their start to their end."""

    def __init__(self, context: ServerContext, listener: socket.socket, worker: Worker | None, ready: Callable[[], None]) -> None:
        """Args:
        listener: a listening socket.
        worker: judges in this process; None: others do.
        ready: called once requests are served.
        """
        self._context, self._listener, self._worker, self._ready = context, listener, worker, ready
        self._fault: Exception | None = None
        self._watch: asyncio.Task[None] | None = None
        self._hurried: list[threading.Thread] = []

    def run(self, provider: "TracerProvider | None" = None) -> None:
        """Serve until a signal comes, or the worker ends by itself: a server that judges no more must not look well.

        Raises:
            AreopageError: the worker cannot start, or had to end.
        """
        app = create_app(
            self._context,
            on_start=[self._begin],
            on_stop=[self._end],
            checks=[self._worker_fault] if self._worker else [],
            tracing=provider,
        )
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE_SECONDS
        )
        self._server = Server(config, self._hurry)
        self._server.run(sockets=[self._listener])
        for thread in self._hurried:
            thread.join(GRACE_SECONDS)
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Let `run` end, from another thread, once what is begun is served."""
        self._server.should_exit = True

    async def _begin(self) -> None:
        try:
            if self._worker:
                await run_in_threadpool(self._worker.start)
                self._watch = asyncio.create_task(self._watch_over(self._worker))
        except AreopageError as fault:  # the server would log a traceback: it ends instead, and the fault is raised after that
            self._fault = fault
            self._server.should_exit = True
            return
        self._ready()

    async def _watch_over(self, worker: Worker) -> None:
        """End the server where the worker has ended; whoever started the server starts it again."""
        while worker.alive:  # noqa: ASYNC110 - its thread cannot set an event of ours
            await asyncio.sleep(WATCH_SECONDS)
        self._server.should_exit = True

    async def _end(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        await run_in_threadpool(self._dismiss, 0.0 if self._server.force_exit else GRACE_SECONDS)

    def _hurry(self) -> None:
        if self._server.started:  # a worker that is about to start has nothing to finish
            self._hurried.append(threading.Thread(target=self._dismiss, args=(0.0,), daemon=True))
            self._hurried[-1].start()

    def _dismiss(self, seconds: float) -> None:
        try:
            if self._worker:
                self._worker.stop(seconds)
        except Exception as fault:  # noqa: BLE001 - whatever ended the worker is raised once the server has stopped
            self._fault = self._fault or fault

    def _worker_fault(self) -> str:
        return "" if self._worker and self._worker.alive else "the worker has stopped: the log says why"


def listening_at(config: MonitorConfig, listening: Listening) -> MonitorConfig:
    """The configuration with the address that was asked for: the server answers for that name."""
    server = config.section.server.model_copy(update={"host": listening.host, "port": listening.port})
    return structs.replace(config, section=config.section.model_copy(update={"server": server}))


def check_keys(ledger: Ledger, host: str) -> None:
    """Without a key only this computer may enter.

    Raises:
        UserError: the address is for others and there is no key.
    """
    if not is_loopback(host) and not ApiKeys(ledger).any():
        raise UserError(
            f"others can reach {host}, and there is no API key yet: run `areopage keys create NAME --role admin`, "
            "or listen on 127.0.0.1"
        )


def listener_at(listening: Listening) -> socket.socket:
    """A listening socket.

    Raises:
        UserError: the port is taken, or the address is not one of this computer's.
    """
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    try:
        return socket.create_server((listening.host, listening.port), family=family, backlog=BACKLOG)
    except OSError as fault:
        where = f"{listening.host}:{listening.port}"
        reason = os.strerror(fault.errno) if fault.errno and fault.errno > 0 else fault.strerror or str(fault)
        raise UserError(f"cannot listen on {where}: {reason.lower()}: choose another --port or --host") from None


def address_of(listener: socket.socket) -> str:
    """The address of a listening socket, for a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
