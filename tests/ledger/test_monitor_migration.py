"""The monitor's migration: an older ledger keeps its data, and a newer areopage will still know this one."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, inspect, text

from areopage.errors import StorageError, UnknownRun
from areopage.ledger.connection import MIGRATIONS, strangers, url_of
from areopage.ledger.records import Run
from areopage.ledger.store import Ledger

Opener = Callable[[str | Path], Ledger]
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def first_revision(location: str) -> Engine:
    """A ledger as the first revision made it, with one run."""
    engine = create_engine(url_of(location))
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with engine.begin() as connection:
        row = "('old', 's', 'f', '/x', '2026-01-02 03:04:05', NULL, '{}')"
        connection.execute(text(f"INSERT INTO runs (id, suite, fingerprint, folder, created_at, finished_at, spec) VALUES {row}"))
    return engine


def monitor_run(name: str = "m", spec: str = "{}") -> Run:
    return Run(id=name, kind="monitor", suite="s", fingerprint="f", folder="", created_at=MOMENT, finished_at=None, spec=spec)


def test_a_ledger_of_the_first_revision_keeps_its_runs_which_are_the_benchs(location: str, open_ledger: Opener) -> None:
    first_revision(location).dispose()
    ledger = open_ledger(location)
    old = Run(id="old", suite="s", fingerprint="f", folder="/x", created_at=MOMENT, finished_at=None, spec="{}")
    assert ledger.runs() == [old]
    assert old.kind == "bench"


def test_tables_of_the_index_of_words_are_no_strangers_when_a_later_migration_comes(location: str, open_ledger: Opener) -> None:
    engine = open_ledger(location).engine
    assert any(name.startswith("quality_search") for name in inspect(engine).get_table_names())
    assert strangers(engine) == []
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE quality (a INTEGER)"))
    assert strangers(engine) == ["quality"]


def test_the_migration_is_made_whole_or_not_at_all(location: str, open_ledger: Opener) -> None:
    engine = first_revision(location)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE labels (a INTEGER)"))  # the last table that the migration makes
    with pytest.raises(StorageError):
        open_ledger(location)
    assert sorted(inspect(engine).get_table_names()) == sorted(
        ["alembic_version", "answers", "judgments", "labels", "ledger_meta", "run_cases", "run_rejected", "runs", "verdicts"]
    )
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE labels"))
    engine.dispose()
    assert open_ledger(location).run("latest").id == "old"


def test_the_bench_does_not_see_the_monitors_runs(location: str, open_ledger: Opener) -> None:
    ledger = open_ledger(location)
    ledger.put_monitor_run(monitor_run())
    assert ledger.runs() == []
    assert ledger.unfinished_run("f") is None
    for name in ("latest", "m"):
        with pytest.raises(UnknownRun):
            ledger.run(name)


def test_the_monitors_run_is_put_once(location: str, open_ledger: Opener) -> None:
    ledger = open_ledger(location)
    ledger.put_monitor_run(monitor_run())
    ledger.put_monitor_run(monitor_run(spec='{"later": true}'))
    assert ledger.monitor_run("m") == monitor_run()
    assert ledger.monitor_run("n") is None
