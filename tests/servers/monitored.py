"""A monitor as tests need it: its configuration in a folder, its ledger, and workers as processes that may be killed."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

import areopage
from areopage.app.monitor import open_quality_judge
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.config import MonitorConfig
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from areopage.monitor.quality_judge import QualityJudge
from servers import PATIENCE
from servers.configured import CONFIG, load_monitor, write_config
from servers.fake_llm import FakeServer
from servers.forked import Forked
from servers.new_ledger import QUEUE

SOURCE = Path(areopage.__file__).parents[1]
TESTS = Path(__file__).parents[1]

WORK = """
import logging, sys
from pathlib import Path
from areopage.ledger.store import Ledger
from areopage.app.config import load_config
from areopage.monitor.worker import MonitorWorker
from areopage.work.signals import stop_signals
from areopage.work.worker import WorkerPace
from servers.monitored import judge_of
logging.basicConfig(level=logging.WARNING)
config = load_config(Path(sys.argv[1])).monitor
ledger = Ledger.open(config.ledger)
worker = MonitorWorker(ledger, config, judge_of(config), pace=WorkerPace(heartbeat=float(sys.argv[2])))
with stop_signals(worker.hurry) as stop:
    worker.start()
    while worker.alive and not stop.wait(0.05):
        pass
    worker.stop()
ledger.close()
"""


def judge_of(config: MonitorConfig) -> QualityJudge:
    """The jury of a configuration."""
    return open_quality_judge(config)


@dataclass
class Monitored:
    """A monitor whose judge is the fake server."""

    folder: Path
    server: FakeServer
    location: str
    processes: list[Forked] = field(default_factory=list)
    # what workers' processes run first
    prelude: str = ""

    def configure(self, **fields: Any) -> MonitorConfig:
        """Write `areopage.yml`.

        A worker of a busy machine may send no heartbeat for seconds. The end of a process is seen at once, without heartbeats.
        """
        worker = {"concurrency": 8, "pause": 0.3, "dead_after": 60} | fields.pop("worker", {})
        known: dict[str, Any] = {"ledger": self.location, "judges": ["openai:fake-a"], "spool": "spool", "worker": worker}
        write_config(self.folder, **known | fields)
        return self.config

    @property
    def path(self) -> Path:
        """The configuration's file."""
        return self.folder / CONFIG

    @property
    def config(self) -> MonitorConfig:
        """The configuration."""
        return load_monitor(self.path)

    def environment(self) -> dict[str, str]:
        """What a worker's process finds."""
        places = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(TESTS)]), "OPENAI_BASE_URL": self.server.openai_url}
        return {**os.environ, **places, "PYTHONUNBUFFERED": "1"}

    def work(self, heartbeat: float = 1.0) -> Forked:
        """A worker as a process."""
        process = Forked(self.prelude + WORK, self.path, str(heartbeat), environment=self.environment())
        self.processes.append(process)
        return process

    def kill(self, process: Forked) -> None:
        """kill -9."""
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def stop_between_writes(self, process: Forked) -> None:
        """SIGSTOP, in a moment in which the process writes to no file of SQLite.

        A process that is stopped within a transaction keeps every other one from writing until it goes on.
        """
        end = time.monotonic() + PATIENCE
        while True:
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: all(state == "T" for state in thread_states(process.pid)), "the stop")
            if all(can_be_written(f"{self.location}{ending}") for ending in ("", QUEUE)):
                return
            process.send_signal(signal.SIGCONT)
            assert time.monotonic() < end, "the process never stops writing"
            time.sleep(0.02)

    def end(self) -> None:
        """Kill what is left."""
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)
            else:
                process.communicate()

    def submit(self, ledger: Ledger, count: int, start: int = 0) -> list[Answer]:
        """Hand answers over, each unlike the others."""
        given = [numbered(number) for number in range(start, start + count)]
        assert all(Intake(ledger).submit(given))
        return given


def numbered(number: int) -> Answer:
    """An answer unlike the others."""
    return submission_of(f"Question {number} ?", f"Réponse {number}. " * 5, [f"Texte {number}"], id=f"a{number}", source="bot")


def thread_states(process: int) -> list[str]:
    """The state of each thread of a process, as Linux names it; T is stopped."""
    files = Path(f"/proc/{process}/task").glob("*/stat")
    return [file.read_text(encoding="utf-8").rpartition(")")[2].split()[0] for file in files]


def can_be_written(file: str) -> bool:
    """Whether nobody writes to a SQLite file now."""
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
        return True


def counted(ledger: Ledger, query: str, **values: Any) -> int:
    """What a query counts."""
    with ledger.engine.connect() as connection:
        return int(connection.execute(text(query), values).scalar_one())


def evaluated(ledger: Ledger) -> int:
    """How many answers have a score's row."""
    return counted(ledger, "SELECT count(*) FROM quality_scores")


def wait_until(condition: Callable[[], bool], what: str = "it") -> None:
    """Wait for something that happens elsewhere; what takes long is looked for less often."""
    end, pause = time.monotonic() + PATIENCE, 0.02
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} has not come")
        time.sleep(pause)
        pause = min(1.1 * pause, 0.05)


def states(ledger: Ledger, ids: Sequence[str]) -> list[str]:
    """The states of submissions."""
    found = [Evaluations(ledger).get(id) for id in ids]
    return [one.state if one else "" for one in found]


@contextmanager
def opened(location: str) -> Iterator[Ledger]:
    """An open ledger."""
    ledger = Ledger.open(location)
    try:
        yield ledger
    finally:
        ledger.close()
