"""Commands that meet a row of the ledger that cannot be read name it on one line."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite


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
