"""Fixtures that several rooms' tests share; each test has a folder, a server and a suite of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `servers`; imported in the fixtures, so that other tests need not wait

if TYPE_CHECKING:
    from servers.command import Command
    from servers.fake_llm import FakeServer


@pytest.fixture
def server() -> Iterator["FakeServer"]:
    """A server of Ollama's and OpenAI's protocol on a free port."""
    from servers.fake_llm import FakeServer

    with FakeServer() as running:
        yield running


@pytest.fixture
def command(tmp_path: Path, server: "FakeServer") -> "Command":
    """The command `areopage`, which finds the server by OLLAMA_HOST and OPENAI_BASE_URL."""
    from servers.command import Command

    return Command(tmp_path, {"OLLAMA_HOST": server.address, "OPENAI_BASE_URL": server.openai_url})


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The folder of a small suite: 5 cases, 4 criteria, 2 judges, 2 passes; 85 calls in all."""
    from servers.small_suite import write_suite

    return write_suite(tmp_path / "small")
