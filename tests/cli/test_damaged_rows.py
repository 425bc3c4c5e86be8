"""Commands that meet a row of the ledger that cannot be read name it on one line."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

MODELS = ("--target", "ollama:fake-a", "--target", "ollama:fake-b")


def damage(command: Command, sql: str) -> None:
    with closing(sqlite3.connect(command.outputs / "ledger.db")) as ledger:
        assert ledger.execute(sql).rowcount
        ledger.commit()


@pytest.mark.parametrize("case", ["{", "{}"])
def test_a_list_of_runs_goes_on_after_a_damaged_case_and_names_it(command: Command, tmp_path: Path, case: str) -> None:
    suite = write_suite(tmp_path / "suite")
    with FakeServer() as server:
        command.environment["OLLAMA_HOST"] = server.address
        for _ in range(2):
            assert command("bench", "run", "--suite", suite, "--new").code == 0
    damaged, whole = (folder.name for folder in command.run_folders())
    damage(command, f"UPDATE run_cases SET \"case\" = '{case}' WHERE run_id = '{damaged}' AND position = 1")
    listed = command("bench", "list")
    assert listed.code == 0, listed.err
    assert listed.err.startswith(f"the ledger is damaged: run_cases {damaged} 1: case cannot be read (")
    lines = {line.split()[0]: line for line in listed.out.splitlines() if "complete" in line}
    assert "100.0%" in lines[whole] and "100.0%" not in lines[damaged]


@pytest.mark.parametrize("words", [("resume", "latest"), ("run", "--suite", "suite"), ("run", "--suite", "suite", *MODELS)])
def test_a_run_that_meets_a_damaged_row_names_it_and_advises_no_resume(command: Command, words: tuple[str, ...]) -> None:
    write_suite(command.folder / "suite")
    with FakeServer() as server:
        command.environment["OLLAMA_HOST"] = server.address
        options = MODELS if "--target" in words else ()
        assert command("bench", "run", "--suite", "suite", *options).code in (0, 1, 3)
        damage(command, "UPDATE runs SET finished_at = NULL")
        damage(command, "UPDATE judgments SET steps = '{' WHERE rowid = (SELECT max(rowid) FROM judgments)")
        ended = command("bench", *words, "--yes")
    told = ended.refused(2)
    assert told.startswith("the ledger is damaged: "), told
    assert "go on with" not in ended.err.lower(), ended.err
