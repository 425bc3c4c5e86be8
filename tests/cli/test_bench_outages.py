"""A server that goes away in the middle of a run: the run waits for it, says so once and goes on by itself."""

import signal
import time
from pathlib import Path

import pytest

from servers import PATIENCE
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.forked import Forked
from servers.small_suite import CONFIG, write_cases, write_config

CALLS = 85
IN_FLIGHT = CONFIG["execution"]["concurrency"]
GONE = "does not answer: the run waits up to"


@pytest.fixture
def patient(suite: Path) -> Path:
    """The suite with a run that waits long for its server."""
    write_config(suite, execution={"outage_seconds": 600})
    return suite


def interrupted(command: Command, server: FakeServer, suite: Path) -> Forked:
    """A run whose server has gone away, and that has said so."""
    server.latency = 0.01
    process = command.begin("bench", "run", "--suite", suite)
    server.wait_for_calls(30)
    server.stop()
    wait_until_logged(command, GONE)
    return process


def wait_until_logged(command: Command, words: str) -> None:
    end = time.monotonic() + PATIENCE
    while not any(words in log.read_text(encoding="utf-8") for log in command.outputs.glob("*/run.log")):
        assert time.monotonic() < end, f"run.log does not say {words!r}"
        time.sleep(0.02)


def test_a_run_waits_for_a_server_that_is_started_again_and_completes(
    command: Command, server: FakeServer, patient: Path
) -> None:
    process = interrupted(command, server, patient)
    server.start()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Coverage: 100% – " in out
    assert len(server.calls) - server.repeated() == CALLS
    assert server.repeated() <= IN_FLIGHT
    (folder,) = command.run_folders()
    for told in (err, (folder / "run.log").read_text(encoding="utf-8")):
        assert told.count(f"server http://{server.address} {GONE} 10 min and goes on by itself") == 1
        assert told.count(f"server http://{server.address} answers again after") == 1


def test_ctrl_c_stops_a_run_that_waits_for_its_server_at_once(command: Command, server: FakeServer, patient: Path) -> None:
    process = interrupted(command, server, patient)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "areopage bench resume" in err
    server.start()
    assert command("bench", "resume").code == 0
    assert len(server.calls) - server.repeated() == CALLS


def test_a_server_that_is_gone_at_the_start_is_an_error_at_once(command: Command, server: FakeServer, patient: Path) -> None:
    server.stop()
    began = time.monotonic()
    assert "no Ollama server answers" in command("bench", "run", "--suite", patient).refused()
    assert time.monotonic() - began < 60


def test_a_server_that_only_says_503_pauses_the_run_too(command: Command, server: FakeServer, patient: Path) -> None:
    rows = [{"prompt": f"{number}?", "response": "Yes."} for number in range(3)]
    dataset = write_cases(command.folder / "answered.csv", rows)
    server.faults.status = 503
    process = command.begin("bench", "run", "--suite", patient, "--dataset", dataset)
    wait_until_logged(command, GONE)
    server.faults.status = 0
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Coverage: 100% – " in out
