"""One server process, from its configuration to a clean stop."""

import asyncio
import gc
import logging
import os
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.concurrency import run_in_threadpool

from areopage.app import AppConfig, open_gate, open_judge, open_ledger, open_worker
from areopage.errors import AreopageError, UserError, counted
from areopage.extensions import required
from areopage.ledger import Answer
from areopage.models import room_for
from areopage.monitor import Intake, QualityJudge
from areopage.server.app import create_app
from areopage.server.connections import RESERVED_FILES, ConnectionLimits, limited
from areopage.server.context import ServerContext
from areopage.server.guards import is_loopback
from areopage.server.telemetry import open_telemetry, traced
from areopage.work import Worker

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

WATCH_SECONDS = 1.0
TICK_SECONDS = 0.5
TICKS_OF_UVICORN = 5
"""In the same time: uvicorn ticks ten times a second, and renews the date of its replies at each tenth tick."""
BACKLOG = 2048
GRACE_SECONDS = 20
SWITCH_SECONDS = 0.0002
"""After so long a thread that waits to run interrupts the one that runs. With Python's own 5 ms, the thread that writes to the
ledger got a turn far too seldom beside a busy loop: it needs one after each of its many short waits for the database."""
LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

Say = Callable[[str], None]


class Server(uvicorn.Server):
    """Stops at a signal and returns; after a second signal it waits for nothing."""

    def __init__(self, config: uvicorn.Config, hurry: Callable[[], None]) -> None:
        super().__init__(config)
        self._hurry = hurry

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle SIGINT or SIGTERM."""
        if self.should_exit:
            self.force_exit = True
            self._hurry()
        self.should_exit = True

    async def main_loop(self) -> None:
        """Wait for the end, and look for it less often than uvicorn does: an idle server is to sleep."""
        tick = 0
        while not await self.on_tick(tick):
            tick += TICKS_OF_UVICORN
            await asyncio.sleep(TICK_SECONDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the requests and then the application, also where nothing is waited for."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()


def run_server(config: AppConfig, say: Say, *, worker: bool = True) -> None:
    """Serve until SIGTERM or Ctrl-C, then drain requests, stop the worker and print the number of waiting answers.

    Args:
        config: also says where to listen, and whether questions are answered.
        say: shows a line to the user who started the server.
        worker: evaluate answers in this process; else other processes do.

    Raises:
        UserError: the port is taken, a public address has no keys, or the suite, ledger or judges cannot be used.
    """
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT)
    sys.setswitchinterval(SWITCH_SECONDS)
    server, monitor = config.server, config.monitor
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(config, create=True))
        if not is_loopback(server.host) and not ledger.api_keys.any():
            create = shlex.join(["areopage", "keys", "create", "NAME", "--role", "admin", *config.options()])
            raise UserError(
                f"others can reach {server.host}, and there is no API key yet: run `{create}`, or listen on 127.0.0.1"
            )
        listener = stack.enter_context(listener_at(server.host, server.port))
        provider = open_telemetry(os.environ)
        if provider is not None:
            stack.callback(provider.shutdown)
        suite = monitor.load_suite()
        monitor.thresholds(suite.scale)
        judge = open_judge(config, ledger)
        if judge is not None and (remark := judge.exam_remark()):
            say(remark)
        judges = traced(provider) if provider is not None else QualityJudge
        own_worker = open_worker(ledger, config, judges) if worker else None
        intake = Intake(ledger, monitor.section.sampling)

        async def submit(answers: Sequence[Answer]) -> Sequence[bool]:
            new = await intake.submit_async(answers)
            if own_worker is not None:
                own_worker.wake()
            return new

        context = ServerContext(
            ledger=ledger,
            config=config,
            suite=suite,
            submit=submit,
            now=lambda: datetime.now(UTC),
            gate=open_gate(config),
            judge=judge,
            rag=(
                required("services", "answers", "answering questions (section rag)")(config, ledger, say, judge)
                if config.answers_questions
                else None
            ),
        )

        def ready() -> None:
            gc.collect()
            gc.freeze()  # what is loaded stays: looking through it again and again held requests up for 50 ms each time
            say(f"serving {_address_of(listener)} (Ctrl-C stops)")

        Process(context, listener, own_worker, ready).run(provider)
        backlog = ledger.evaluations.backlog()
        left = backlog.waiting
        say(
            f"stopped: {counted(left, 'answer')} {'waits' if left == 1 else 'wait'} to be evaluated; kept in the ledger"
            if left
            else "stopped: nothing is left to evaluate"
        )


class Process:
    """A server and its worker, from start to end."""

    def __init__(self, context: ServerContext, listener: socket.socket, worker: Worker | None, ready: Callable[[], None]) -> None:
        self._context, self._listener, self._worker, self._ready = context, listener, worker, ready
        self._fault: Exception | None = None
        self._watch: asyncio.Task[None] | None = None
        self._hurried: list[threading.Thread] = []

    def run(self, provider: "TracerProvider | None" = None) -> None:
        """Serve until a signal comes or the worker fails: a server without its worker must not look healthy."""
        app = create_app(
            self._context,
            on_start=[self._begin],
            on_stop=[self._end],
            checks=[self._worker_fault] if self._worker else [],
            tracing=provider,
        )
        server = self._context.config.server
        limits = ConnectionLimits(
            room_for(server.connections, RESERVED_FILES), server.connections_per_client, server.head_seconds
        )
        config = uvicorn.Config(
            app,
            http=limited(limits),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self._server = Server(config, self._hurry)
        self._server.run(sockets=[self._listener])
        for thread in self._hurried:
            thread.join(GRACE_SECONDS)
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Stop `run` from another thread after open requests end."""
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
        """Stop the server when the worker has ended, so that the supervisor restarts it."""
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
        except Exception as fault:  # noqa: BLE001 - the worker's error is raised once the server has stopped
            self._fault = self._fault or fault

    def _worker_fault(self) -> str:
        return "" if self._worker and self._worker.alive else "the worker has stopped: the log says why"


def listener_at(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 takes a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as fault:
        reason = os.strerror(fault.errno) if fault.errno and fault.errno > 0 else fault.strerror or str(fault)
        raise UserError(f"cannot listen on {host}:{port}: {reason.lower()}: choose another --port or --host") from None


def _address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
