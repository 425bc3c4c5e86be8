"""More connections than the system lets a process open are refused before a run is stored."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from areopage.models.open_files import room_for
from servers.command import Command
from servers.drifting import write_examined_suite
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

resource = pytest.importorskip("resource", reason="the system has no limit of open files")


def limited(files: int, command: Command, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that may open so many files."""
    script = f'ulimit -n {files}; exec "$0" -m areopage "$@"'
    return subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, *arguments],
        cwd=command.folder, env=dict(command.full_environment()), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_run_with_more_calls_at_once_than_files_may_be_open_is_refused_and_not_stored(command: Command, tmp_path: Path) -> None:
    suite = str(write_suite(tmp_path / "suite"))
    with FakeServer() as server:
        command.environment["OLLAMA_HOST"] = server.address
        refused = limited(64, command, "bench", "run", "--suite", suite, "--concurrency", "100", "--yes")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
        assert refused.stderr.startswith("areopage: 100 calls at once to each model need up to ")
        assert "raise the limit with `ulimit -n " in refused.stderr and "(--concurrency)" in refused.stderr
        assert "no runs" in command("bench", "list").out + command("bench", "list").err or not command.outputs.exists()
        lower = refused.stderr.partition("make at most ")[2].split()[0]
        done = limited(64, command, "bench", "run", "--suite", suite, "--concurrency", lower, "--yes")
        assert done.returncode == 0, done.stderr


def test_an_exam_with_more_calls_at_once_than_files_may_be_open_is_refused(command: Command, tmp_path: Path) -> None:
    with FakeServer() as server:
        suite = str(write_examined_suite(tmp_path / "small", server.port))
        refused = limited(64, command, "qualify", suite, "--judge", "alpha", "--concurrency", "100", "--yes")
    assert refused.returncode == 2 and "raise the limit with `ulimit -n " in refused.stderr, refused.stderr


def test_a_worker_of_the_monitor_with_more_answers_at_once_than_files_may_be_open_is_refused(command: Command) -> None:
    monitor = {"judges": ["ollama:fake-a"], "worker": {"concurrency": 50}}
    (command.folder / "areopage.yml").write_text(json.dumps({"ledger": "ledger.db", "monitor": monitor}), encoding="utf-8")
    with FakeServer() as server:
        command.environment["OLLAMA_HOST"] = server.address
        refused = limited(64, command, "monitor", "worker")
    assert refused.returncode == 2, refused.stderr
    says = "raise the limit with `ulimit -n 90`, or make at most 24 calls at once (monitor.worker.concurrency)"
    assert says in refused.stderr.splitlines()[-1]


def test_the_limit_of_open_files_is_raised_as_far_as_the_system_lets() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowered = len(list(Path("/dev/fd").iterdir())) + 64
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowered, hard))
    try:
        assert room_for(lowered, 40) == lowered
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == lowered + 40
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
