"""Workers that are killed: every item is done, and what they had begun is run again at most."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import areopage
from servers import PATIENCE

if TYPE_CHECKING:
    from servers.forked import Forked

COUNT, CONCURRENCY = 60, 4
SOURCE = Path(areopage.__file__).parents[1]
WORKER = """
import asyncio, os, sys
from pathlib import Path
from areopage.ledger.store import Ledger
from areopage.work.handlers import Backoff, Finished, Handler, Pending
from areopage.work.signals import stop_signals
from areopage.work.worker import Work, Worker, WorkerPace, WorkerPool

location, folder = sys.argv[1], Path(sys.argv[2])

class Files(Work):
    jobs = ()

    @property
    def handlers(self):
        paces = {"backoff": Backoff(first=0.05, longest=0.2), "suspects_polling": 0.1}
        return [Handler(name="file", run=self.run, gave_up=self.gave_up, pending=self.pending, concurrency=4, **paces)]

    async def run(self, item, attempt):
        with (folder / "begun").open("a") as file:
            file.write(item + "\\n")
        if item == sys.argv[3]:
            os._exit(9)
        await asyncio.sleep(0.05)
        (folder / item).rename(folder / (item + ".done"))
        return Finished()

    def gave_up(self, item, reason):
        (folder / item).rename(folder / (item + ".given_up"))

    def pending(self, after, limit):
        numbers = sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())
        return [Pending(number, str(number)) for number in numbers if number > after][:limit]

    async def open(self): ...
    async def close(self): ...

ledger = Ledger.open(location)
pace = WorkerPace(heartbeat=0.5)
worker = Worker(ledger, Files(), WorkerPool(name="files", folder=folder / "locks", dead_after=60.0, pace=pace))
with stop_signals(worker.hurry) as stop:
    worker.start()
    stop.wait()
    worker.stop()
ledger.close()
"""


def start(location: str, folder: Path, killer: str = "") -> "Forked":
    from servers.forked import Forked

    return Forked(WORKER, location, folder, killer)


def with_its_own_interpreter(location: str, folder: Path) -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    return subprocess.Popen([sys.executable, "-c", WORKER, location, str(folder), ""], env=environment)


def check(location: str, folder: Path) -> None:
    """Two workers begin together on a new queue; one is killed; the other does all."""
    from servers.monitored import wait_until

    folder.mkdir()
    for number in range(1, COUNT + 1):
        (folder / str(number)).touch()

    def done() -> int:
        return len(list(folder.glob("*.done")))

    first, second = start(location, folder), start(location, folder)
    try:
        wait_until(lambda: done() >= COUNT // 4)
        first.send_signal(signal.SIGKILL)
        wait_until(lambda: done() == COUNT)
        second.terminate()
        assert second.wait(PATIENCE) == 0
    finally:
        for process in (first, second):
            process.kill()
            process.communicate()
    # what the dead worker was doing, and what it had just done and could not record any more
    assert len((folder / "begun").read_text().split()) <= COUNT + 2 * CONCURRENCY


def test_a_live_worker_does_what_a_dead_one_had_begun(tmp_path: Path) -> None:
    from servers.new_ledger import new_ledger_file

    check(str(new_ledger_file(tmp_path / "ledger.db")), tmp_path / "files")


def test_a_live_worker_does_what_a_dead_one_had_begun_on_postgresql(postgres_ledger: str, tmp_path: Path) -> None:
    check(postgres_ledger, tmp_path / "files")


def test_an_item_that_ends_its_worker_is_given_up_and_the_others_are_done(tmp_path: Path) -> None:
    from servers.monitored import wait_until
    from servers.new_ledger import new_ledger_file

    location, folder = str(new_ledger_file(tmp_path / "ledger.db")), tmp_path / "files"
    folder.mkdir()
    for number in range(1, 9):
        (folder / str(number)).touch()
    given_up, deaths = folder / "3.given_up", 0
    while not given_up.exists():
        process = start(location, folder, "3")
        wait_until(lambda: process.poll() is not None or given_up.exists())  # noqa: B023 - called at once
        if process.poll() is not None:
            process.communicate()
        deaths += process.poll() == 9
        assert deaths <= 5
    wait_until(lambda: len(list(folder.glob("*.done"))) == 7)
    process.terminate()
    process.communicate(PATIENCE)
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_after_what_it_has_begun(tmp_path: Path, number: signal.Signals) -> None:
    from servers.monitored import wait_until
    from servers.new_ledger import new_ledger_file

    location, folder = str(new_ledger_file(tmp_path / "ledger.db")), tmp_path / "files"
    folder.mkdir()
    for name in range(1, 201):
        (folder / str(name)).touch()
    process = with_its_own_interpreter(location, folder)
    wait_until(lambda: len(list(folder.glob("*.done"))) >= 5)
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    done = len(list(folder.glob("*.done")))
    assert len((folder / "begun").read_text().split()) == done < 200
