"""Fixtures of the command line's tests; each test has a folder, a server and a suite of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `servers`, which several rooms' tests share

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A server on a free port."""
    with FakeServer() as running:
        yield running


@pytest.fixture
def command(tmp_path: Path, server: FakeServer) -> Command:
    """The command, which finds the server by OLLAMA_HOST and OPENAI_BASE_URL."""
    return Command(tmp_path, {"OLLAMA_HOST": server.address, "OPENAI_BASE_URL": server.openai_url})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A small suite: 5 cases, 4 criteria, 2 judges, 2 passes; 85 calls in all."""
    return write_suite(tmp_path / "small")
