"""`run.log`: what it says, and what it does not let anybody say."""

import gc
from pathlib import Path
from queue import Queue

import pytest

from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import prepare_run
from areopage.cli.progress.run_display import Counting
from areopage.cli.progress.run_log import RunLog
from areopage.errors import ServerDown, StorageError
from areopage.suites.loader import load_suite
from servers import PATIENCE
from servers.small_suite import write_suite

FULL = Path("/dev/full")


def test_a_line_from_outside_cannot_forge_another_and_any_text_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    with RunLog(path) as log:
        log.write("INFO", "one\n2026 ERROR two\r\x85three \ud800 é")
        log.write("DEBUG", "not asked for")
    (line,) = path.read_text(encoding="utf-8").splitlines()
    assert line.endswith(" INFO one 2026 ERROR two three \\ud800 é")


def test_a_log_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    for number in range(2):
        with RunLog(path, "DEBUG") as log:
            log.write("DEBUG", f"begin {number}")
    assert [line[-7:] for line in path.read_text(encoding="utf-8").splitlines()] == ["begin 0", "begin 1"]


def test_a_server_that_says_nothing_is_mentioned_until_it_answers(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    spec = prepare_run(load_suite(str(suite)), RunOptions(judges=("alpha",), timeout=300.0)).spec
    said: Queue[str] = Queue()
    with Counting(spec, said.put, {}, after=0.05) as notice:
        notice.phase("alpha", 10, 0)
        assert said.get(timeout=PATIENCE) == "alpha: no answer for 0 s; a call is given up after 300 s and one retry"
        assert said.get(timeout=PATIENCE).startswith("alpha: no answer for")
        notice.phase("beta", 10, 10)
    assert not any("beta" in said.get() for _ in range(said.qsize()))


def test_what_stopped_a_run_is_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    with pytest.raises(ServerDown), RunLog(path):
        raise ServerDown("nobody there")
    assert path.read_text(encoding="utf-8").endswith(" ERROR stopped: ServerDown: nobody there\n")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_once_and_does_not_hide_what_stopped_the_run() -> None:
    with pytest.raises(StorageError, match="/dev/full cannot be written: No space left on device"), RunLog(FULL) as log:
        log.write("INFO", "hello")
    with pytest.raises(ServerDown), RunLog(FULL):
        raise ServerDown("nobody there")
    gc.collect()  # a file that is closed late would complain now


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"run\.log cannot be written"):
        RunLog(tmp_path / "none" / "run.log")
    assert not list(tmp_path.iterdir())
