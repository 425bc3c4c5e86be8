"""Imported by the server that processes of tests are forked from: it does once what each of them would do anew.

A small benchmark and a worker compile SQL, templates and patterns, and make what libraries make at their first use.
"""

import gc
import logging
import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from areopage.monitor.worker import MonitorWorker
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.monitored import Monitored, evaluated, judge_of, opened, wait_until
from servers.small_suite import write_suite
from servers.statements import share_compiled_statements


def _warm_up() -> None:
    """Run a benchmark of one case and evaluate one answer; no thread is left over that a fork would lose."""
    share_compiled_statements()
    with TemporaryDirectory() as folder, FakeServer() as server:
        _run_benchmark(Path(folder), server)
        logging.disable()  # of the answer, which is weak
        with mock.patch.dict(os.environ, {"OPENAI_BASE_URL": server.openai_url}):
            _evaluate(Path(folder), server)
        logging.disable(logging.NOTSET)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()


def _run_benchmark(folder: Path, server: FakeServer) -> None:
    command = Command(folder, {"OLLAMA_HOST": server.address})
    ended = command("bench", "run", "--suite", write_suite(folder / "small"), "--limit", "1", "--passes", "1")
    assert ended.code == 0, ended.err


def _evaluate(folder: Path, server: FakeServer) -> None:
    monitored = Monitored(folder, server, str(folder / "ledger.db"))
    config = monitored.configure()
    with opened(monitored.location) as ledger:
        monitored.submit(ledger, 1)
        worker = MonitorWorker(ledger, config, judge_of(config))
        worker.start()
        wait_until(lambda: evaluated(ledger) == 1)
        worker.stop()


_warm_up()
