"""A ledger of another version, and one that is damaged: one line and exit code 2, before anything is paid."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_llm import FakeServer

OLDER = "DELETE FROM ledger_meta WHERE name = 'tables'"
NEWER = "UPDATE alembic_version SET version_num = '9999'"
UNKNOWN = "UPDATE alembic_version SET version_num = '0000abc'"
COMMANDS = [
    ("monitor", "worker"),
    ("monitor", "report"),
    ("gate", "report"),
    ("verify",),
    ("ledger", "rebuild"),
    ("serve", "--port", "0"),
]


def altered(place: str | Path, statement: str) -> None:
    """Change a ledger behind the program's back."""
    with closing(sqlite3.connect(place)) as ledger, ledger:
        ledger.execute(statement)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_ledger_of_another_version_is_refused_by_every_application(
    command: Command, server: FakeServer, seeded_file: str, arguments: tuple[str, ...]
) -> None:
    command.environment["AREOPAGE_LEDGER"] = seeded_file
    for change, said in ((OLDER, "by another version"), (NEWER, "by a newer version"), (UNKNOWN, "unknown revision")):
        altered(seeded_file, change)
        assert said in command(*arguments).refused()
    assert not server.calls


def test_a_benchmark_asks_no_model_where_the_ledger_is_of_another_version(
    command: Command, server: FakeServer, suite: Path
) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--yes").code == 0
    paid = len(server.calls)
    altered(command.outputs / "ledger.db", OLDER)
    assert "by another version" in command("bench", "run", "--suite", suite, "--limit", "2", "--yes").refused()
    assert "by another version" in command("bench", "resume", "--yes").refused()
    assert len(server.calls) == paid


def test_a_run_whose_specification_is_of_another_version_is_refused(command: Command, server: FakeServer, suite: Path) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--yes").code == 0
    change = """UPDATE runs SET finished_at = NULL, spec = replace(spec, '"format":1', '"format":2')"""
    altered(command.outputs / "ledger.db", change)
    for name in ("resume", "show", "rescore"):
        assert "written by another version of areopage (format 2, not 1)" in command("bench", name).refused()


def test_a_ledger_from_elsewhere_does_not_say_where_files_are_written(command: Command, suite: Path) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--yes").code == 0
    place, elsewhere = command.outputs / "ledger.db", command.folder / "elsewhere"
    (run,) = command.run_folders()
    altered(place, f"UPDATE runs SET folder = '{elsewhere}/x'")
    for name in ("rescore", "export"):
        ended = command("bench", name)
        assert ended.code == 0, ended.err
    assert not elsewhere.exists()
    assert (run / "rescore-1").is_dir() and (run / "judgments.csv").is_file()
    altered(place, "UPDATE runs SET finished_at = NULL")
    assert command("bench", "resume", "--yes").code == 0
    assert not elsewhere.exists()


_ALL = ("show", "rescore", "report", "export")
_OF_TEXTS = ("report", "export")  # scores are read without texts


@pytest.mark.parametrize(
    ("change", "said", "names"),
    [
        ("UPDATE verdicts SET outcome = 'wonderful'", "unknown outcome 'wonderful'", _ALL),
        ("UPDATE verdicts SET explanation = CAST(x'ff41' AS TEXT)", "UTF-8", _OF_TEXTS),
        ("UPDATE judgments SET raw_text = CAST(x'ff41' AS TEXT)", "UTF-8", _OF_TEXTS),
        ("UPDATE runs SET spec = CAST(x'ff41' AS TEXT)", "UTF-8", _ALL),
        ("UPDATE run_cases SET \"case\" = CAST(x'ff41' AS TEXT)", "UTF-8", _ALL),
    ],
)
def test_a_damaged_ledger_is_one_line(command: Command, suite: Path, change: str, said: str, names: tuple[str, ...]) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "1", "--yes").code == 0
    altered(command.outputs / "ledger.db", change)
    for name in names:
        assert said in command("bench", name, *(("--file", "x.csv") if name == "export" else ())).refused(), name
    command.environment["AREOPAGE_LEDGER"] = str(command.outputs / "ledger.db")
    verified = command("verify")
    assert verified.code in (1, 2) and "Traceback" not in verified.err
