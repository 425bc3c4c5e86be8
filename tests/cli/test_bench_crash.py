"""Nothing that was paid for is lost, whatever stops a run: a kill, Ctrl-C, a dead server, a full disk, a second process."""

import fcntl
import os
import pty
import random
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from areopage.jury.schedule import TIMED_OUT_IN_A_ROW
from servers import PATIENCE
from servers.command import Command, ended, scores_of
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_cases

if TYPE_CHECKING:
    from sqlalchemy import Engine

CONCURRENCY = CONFIG["execution"]["concurrency"]
CALLS = 85
DISK = 16 * 1024 * 1024
# Calls that were sent; until their answers are committed no others are.
IN_FLIGHT = CONCURRENCY


def times_noted(command: Command) -> int:
    """How often the chain of the ledger says that a case has its answer."""
    with closing(sqlite3.connect(command.folder / "outputs" / "ledger.db")) as connection:
        members = [text for (text,) in connection.execute("SELECT members FROM chain")]
    return sum(text.count('"run_cases"') for text in members if '"answered"' in text)


def resume_command(err: str) -> list[str]:
    """The arguments of the command that a stopped run says to go on with."""
    (line,) = [line for line in err.splitlines() if "areopage bench resume" in line]
    return shlex.split(line[line.index("areopage bench resume") :])[1:]


def test_after_kill_9_nothing_is_lost_and_only_what_was_in_flight_is_repeated(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.latency = 0.1
    moments = [random.randint(1, 35) for _ in range(2)]
    for number, moment in enumerate(moments):
        arguments = ("bench", "resume") if number == 1 else ("bench", "run", "--suite", suite)
        process = command.begin(*arguments)
        server.wait_for_calls(len(server.calls) + moment)
        process.kill()
        process.communicate()
    finished = command("bench", "run", "--suite", suite)
    assert finished.code == 0, finished.err
    assert "resuming the unfinished run" in finished.err
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= len(moments) * IN_FLIGHT, moments
    server.latency = 0.0
    assert command("bench", "run", "--suite", suite, "--fresh").code == 0
    interrupted, whole = command.run_folders()
    assert scores_of(command.results(interrupted)) == scores_of(command.results(whole))


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_keeps_what_has_arrived_and_says_how_to_go_on(
    command: Command, server: FakeServer, suite: Path, stop: signal.Signals
) -> None:
    if signal.getsignal(stop) is signal.SIG_IGN:
        pytest.skip(f"{stop.name} is ignored here, as under nohup")
    server.latency = 0.05
    process = command.begin("bench", "run", "--suite", suite, "--out", "my runs")
    server.wait_for_calls(20)
    process.send_signal(stop)
    stopped = ended(process)
    assert stopped.code == 130, stopped.err
    assert "Traceback" not in stopped.err
    with closing(sqlite3.connect(command.folder / "my runs" / "ledger.db")) as ledger:
        (judged,) = ledger.execute("SELECT COUNT(*) FROM judgments").fetchone()
        linked = "SELECT COUNT(*) FROM judgments WHERE key IN (SELECT key FROM answer_judgments)"
        assert ledger.execute(linked).fetchone() == (judged,)
    assert 0 < judged < CALLS
    assert command("bench", "list", "--out", "my runs").out.split()[-1] == str(judged)
    server.latency = 0.0
    resumed = command(*resume_command(stopped.err))
    assert resumed.code == 0, resumed.err
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= IN_FLIGHT
    assert "Coverage: 100% – " in resumed.out


def test_a_run_whose_terminal_is_lost_keeps_what_has_arrived(command: Command, server: FakeServer, suite: Path) -> None:
    server.latency = 0.05
    terminal, side = pty.openpty()
    run = [sys.executable, "-m", "areopage", "bench", "run", "--yes", "--suite", str(suite)]
    process = subprocess.Popen(
        run,
        cwd=command.folder,
        env=command.full_environment(),
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(side, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one call of the kernel
    )
    os.close(side)
    server.wait_for_calls(20)
    os.close(terminal)
    assert process.wait(PATIENCE) > 0  # it ended by itself
    server.latency = 0.0
    assert command("bench", "resume").code == 0
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= IN_FLIGHT


def test_a_run_in_the_background_of_a_script_which_ignores_ctrl_c_is_stopped_by_sigterm(
    command: Command, server: FakeServer, suite: Path
) -> None:
    server.latency = 0.05
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from areopage.cli.main import main; main()"
    process = command.start("bench", "run", "--suite", suite, interpreter=("-c", code))
    server.wait_for_calls(20)
    process.send_signal(signal.SIGTERM)
    stopped = ended(process)
    assert stopped.code == 130, stopped.err
    assert "what has arrived is kept" in stopped.err
    assert len(server.calls) < CALLS


def test_two_different_runs_into_one_new_ledger_at_once_both_complete(command: Command, server: FakeServer, suite: Path) -> None:
    processes = [command.begin("bench", "run", "--suite", suite, "--lang", language) for language in ("en", "fr")]
    ends = [ended(process) for process in processes]
    assert [end.code for end in ends] == [0, 0], ends
    listed = command("bench", "list").out
    assert listed.count("complete") == 2
    assert "unfinished" not in listed


def test_a_server_that_dies_in_the_middle_costs_nothing_that_was_done(command: Command, server: FakeServer, suite: Path) -> None:
    server.faults.stop_after = 30
    stopped = command("bench", "run", "--suite", suite)
    message = stopped.refused(3)
    assert server.address in message
    assert "what has arrived is kept" in message
    server.stop()
    server.faults.stop_after = 0
    server.start()
    resumed = command(*resume_command(stopped.err))
    assert resumed.code == 0, resumed.err
    assert "Coverage: 100% – " in resumed.out
    # A call whose connection broke was tried again before the server was given up.
    assert server.repeated() <= 2 * IN_FLIGHT
    assert server.answered == CALLS + server.repeated() - (len(server.calls) - server.answered)


def test_a_database_that_is_gone_in_the_middle_stops_the_run_with_one_line_and_resume_completes_it(
    command: Command, server: FakeServer, suite: Path, postgres: "Engine", postgres_ledger: str
) -> None:
    from servers.databases import gone

    server.latency = 0.05
    process = command.begin("bench", "run", "--suite", suite, "--ledger", postgres_ledger)
    server.wait_for_calls(30)
    with gone(postgres, postgres_ledger):
        stopped = ended(process)
    assert "what has arrived is kept, go on with: areopage bench resume " in stopped.refused(3)
    resumed = command("bench", "resume", "latest", "--ledger", postgres_ledger)
    assert resumed.code == 0, resumed.err
    assert "Coverage: 100% – " in resumed.out
    # what the database did not take is asked again: calls in flight, and those made until the fault was noticed
    assert len(server.calls) - server.repeated() == CALLS


def test_a_server_that_has_moved_is_found_by_running_again(command: Command, server: FakeServer, suite: Path) -> None:
    server.faults.stop_after = 30
    command("bench", "run", "--suite", suite)
    with FakeServer() as moved:
        command.environment["OLLAMA_HOST"] = moved.address
        again = command("bench", "run", "--suite", suite)
    assert again.code == 0, again.err
    assert "resuming the unfinished run" in again.err
    assert "Coverage: 100% – " in again.out
    assert len(moved.calls) < CALLS


def test_calls_that_time_out_are_no_scores_and_resume_tries_them_again(command: Command, server: FakeServer, suite: Path) -> None:
    text = (suite / "config.yml").read_text(encoding="utf-8").replace(f"call_timeout: {PATIENCE}", "call_timeout: 5")
    (suite / "config.yml").write_text(text, encoding="utf-8")
    dataset = write_cases(command.folder / "one.csv", [{"prompt": "Why?", "response": "Because."}])
    server.faults.hang = True
    timed_out = command(
        "bench", "run", "--suite", suite, "--dataset", dataset, "--judge", "alpha", "--criteria", "tone", "--passes", "1", "-v"
    )
    assert timed_out.code == 3, timed_out.err
    assert re.search(r"Planned +Scored +Timed out .*\nalpha .* 2 +0 +2 ", timed_out.out)
    assert "unscored" in timed_out.out
    assert "This run is not complete" in timed_out.out
    metadata = command.results()["run"]["metadata"]
    assert metadata["coverage"] == {"scored": 0, "not_applicable": 0, "planned": 2}
    assert metadata["judges"][0]["health"]["outcomes"]["timed_out"] == 2
    server.faults.hang = False
    before, noted = len(server.calls), times_noted(command)
    resumed = command(*resume_command(timed_out.err))
    assert resumed.code == 0, resumed.err
    assert len(server.calls) - before == 2
    assert "Coverage: 100% – " in resumed.out
    assert times_noted(command) == noted == 1, "the response that came with the case is stored once, whoever takes part later"


def test_a_server_that_never_answers_stops_the_run_after_a_few_calls(command: Command, server: FakeServer, suite: Path) -> None:
    server.faults.hang = True
    stopped = command("bench", "run", "--suite", suite, "--timeout", "0.3")
    message = stopped.refused(3)
    assert "calls in a row timed out" in message
    assert "--timeout" in message
    assert len(server.calls) <= 2 * (TIMED_OUT_IN_A_ROW + IN_FLIGHT)
    server.faults.hang = False
    resumed = command(*resume_command(stopped.err), "--timeout", str(PATIENCE))
    assert resumed.code == 0, resumed.err
    assert "Coverage: 100% – " in resumed.out


def test_a_judge_that_never_answers_stops_the_run(command: Command, server: FakeServer, suite: Path) -> None:
    rows = [{"prompt": f"Why {number}?", "response": "Because."} for number in range(40)]
    dataset = write_cases(command.folder / "answered.csv", rows)
    server.faults.hang = True
    stopped = command("bench", "run", "--suite", suite, "--dataset", dataset, "--judge", "alpha", "--timeout", "0.3")
    assert "alpha: 5 calls in a row timed out" in stopped.refused(3)
    assert len(server.calls) <= 2 * (TIMED_OUT_IN_A_ROW + IN_FLIGHT)


def test_resuming_a_run_whose_folder_is_gone_writes_it_anew_and_asks_nothing(
    command: Command, server: FakeServer, suite: Path
) -> None:
    command("bench", "run", "--suite", suite)
    (folder,) = command.run_folders()
    before, paid = command.results(), len(server.calls)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    shown = command("bench", "show")
    assert shown.code == 0, shown.err
    assert "Coverage: 100% – " in shown.out
    assert "report:" not in shown.out
    assert command("bench", "export").code == 0
    assert command("bench", "resume").code == 0
    assert len(server.calls) == paid
    assert scores_of(command.results()) == scores_of(before)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that holds a whole run, however many commits it is written in."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)], capture_output=True, check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("a small disk can only be mounted by root with the right to mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize(("left", "code"), [(40_000, 2), (600_000, 3)])
def test_a_full_disk_is_one_line_and_resume_completes_once_there_is_space(
    command: Command, server: FakeServer, suite: Path, small_disk: Path, left: int, code: int
) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (DISK - left - 4096))
    out = small_disk / "outputs"
    stopped = command.process("bench", "run", "--suite", suite, "--out", out)
    assert "no space left to write" in stopped.refused(code)
    filler.unlink()
    done = command("bench", "run", "--suite", suite, "--out", out)
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
