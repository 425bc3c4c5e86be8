"""Exchanges on their way into the ledger: in a thread, those that come at the same time in one transaction."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import Exchange
from areopage.ledger.store import Ledger
from areopage.rag.logs.traces import Traces


class Notes:
    """Appends exchanges, and writes the files beside the ledger where they are wanted. May be used from any event loop."""

    def __init__(self, ledger: Ledger, traces: Traces | None, reduce: Callable[[Exchange], Exchange] | None = None) -> None:
        """Args:
        traces: the files beside the ledger; None: none are written.
        reduce: what stays of an exchange, by the storage policy; None: all of it.
        """
        self._reduce = reduce
        self._exchanges = Exchanges(ledger)
        self._traces = traces
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchanges")
        self._guard = threading.Lock()
        self._waiting: list[tuple[Exchange, Future[None]]] = []

    async def add(self, exchange: Exchange) -> None:
        """Append an exchange; it is on disk when this returns, even where the caller did not wait.

        Raises:
            StorageError: the ledger cannot be written.
        """
        done: Future[None] = Future()
        kept = self._reduce(exchange) if self._reduce else exchange
        with self._guard:
            self._waiting.append((kept, done))
        # whoever comes while a transaction runs goes with the next one: its turn finds the list empty then
        self._worker.submit(self._flush)
        await asyncio.wrap_future(done)

    def close(self) -> None:
        """Write what waits, and stop."""
        self._worker.shutdown(wait=True)

    def _flush(self) -> None:
        with self._guard:
            batch, self._waiting = self._waiting, []
        if not batch:
            return
        try:
            self._exchanges.add([exchange for exchange, _ in batch])
        except BaseException as fault:  # noqa: BLE001 - it is raised to each of those who wait
            for _, done in batch:
                settle(done, fault)
            return
        for exchange, done in batch:
            self._trace(exchange)
            settle(done, None)

    def _trace(self, exchange: Exchange) -> None:
        """Write the files. A cached answer was neither generated nor evaluated anew: it has none."""
        if self._traces is None or exchange.mode == "cached":
            return
        self._traces.append_metrics(exchange)
        if exchange.generation:
            self._traces.append_response(exchange)
            if exchange.verdict != "deliver":
                self._traces.write_snapshot(exchange)


def settle(done: "Future[None]", fault: BaseException | None) -> None:
    """End somebody's wait, unless he waits no more."""
    if not done.set_running_or_notify_cancel():
        return
    if fault is None:
        done.set_result(None)
    else:
        done.set_exception(fault)
