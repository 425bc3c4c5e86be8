"""`areopage verify` writes nothing, works where nothing can be written, and calls nothing intact that holds nothing."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from areopage.ledger.people.access import Audit
from areopage.ledger.store import Ledger
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import write_suite

State = dict[str, tuple[bytes, int]]


def state(folder: Path) -> State:
    """Bytes and times of all files but those that processes share their locks in."""
    files = [one for one in folder.rglob("*") if one.is_file() and not one.name.endswith("-shm")]
    return {str(one.relative_to(folder)): (one.read_bytes(), one.stat().st_mtime_ns) for one in files}


@pytest.fixture
def evidence(seeded_file: str, tmp_path: Path) -> Iterator[Path]:
    """A ledger in a folder where nothing may be made or changed."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    place = Path(shutil.copyfile(seeded_file, folder / "ledger.db"))
    place.chmod(0o400)
    folder.chmod(0o500)
    yield place
    folder.chmod(0o700)


def test_nothing_is_written_and_a_read_only_folder_is_enough(command: Command, evidence: Path) -> None:
    before = state(evidence.parent)
    for arguments in (("verify",), ("bench", "show", "latest"), ("bench", "list"), ("ledger", "check"), ("ledger", "audit")):
        ended = command(*arguments, "--ledger", str(evidence))
        assert ended.code == 0, ended.err
    assert state(evidence.parent) == before
    assert [one.name for one in evidence.parent.iterdir()] == ["ledger.db"]


def test_a_ledger_that_others_write_is_read_as_it_is_at_one_moment(command: Command, seeded_file: str) -> None:
    with Ledger.open(seeded_file) as ledger:
        Audit(ledger).note("ann", "read", "m-1")  # in the log (-wal) alone
        before = state(Path(seeded_file).parent)
        ended = command("verify", "--ledger", seeded_file)
        assert (ended.code, ended.out.splitlines()[-1]) == (0, "intact")
        assert f"head: {ledger.heads()[0]}" in ended.out
        assert state(Path(seeded_file).parent) == before


DIE = """
import os, sys
from areopage.ledger.people.access import Audit
from areopage.ledger.store import Ledger
Audit(Ledger.open(sys.argv[1])).note("ann", "read", "m-1")
os._exit(9)
"""


@pytest.mark.parametrize("shared", [True, False])
def test_the_log_of_a_process_that_died_is_read_with_the_file(command: Command, seeded_file: str, shared: bool) -> None:
    subprocess.run([sys.executable, "-c", DIE, seeded_file], check=False, env=dict(command.full_environment()))
    log, locks = Path(f"{seeded_file}-wal"), Path(f"{seeded_file}-shm")
    assert log.stat().st_size > 0
    if not shared:
        locks.unlink()
    before = state(Path(seeded_file).parent)
    ended = command("verify", "--ledger", seeded_file)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "intact")
    assert state(Path(seeded_file).parent) == before
    assert locks.exists() == shared
    with sqlite3.connect(seeded_file) as connection:
        links = connection.execute("SELECT count(*) FROM chain").fetchone()[0]
    assert f" {links} links" in ended.out


@pytest.mark.parametrize("kind", ["no bytes", "no tables", "no links"])
def test_what_holds_nothing_is_not_called_intact(command: Command, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "nothing.db"
    if kind == "no bytes":
        place.touch()
    elif kind == "no tables":
        sqlite3.connect(place).execute("VACUUM").connection.close()
    else:
        Ledger.open(place).close()
    before = state(tmp_path)
    ended = command("verify", "--ledger", str(place))
    assert (ended.code, ended.out.splitlines()) == (3, ["empty: nothing to verify"])
    assert {name: one for name, one in state(tmp_path).items() if name.startswith("nothing")} == {
        name: one for name, one in before.items() if name.startswith("nothing")
    }


def test_a_ledger_of_another_version_is_not_migrated(command: Command, seeded_file: str) -> None:
    with sqlite3.connect(seeded_file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    before = Path(seeded_file).read_bytes()
    assert "another version" in command("verify", "--ledger", seeded_file).refused()
    assert Path(seeded_file).read_bytes() == before


def test_the_lost_log_of_a_run_is_told_by_its_results(command: Command, server: FakeServer, suite: Path) -> None:
    assert command("bench", "run", "--suite", suite, "--limit", "2").code == 0
    (folder,) = command.run_folders()
    place = command.outputs / "ledger.db"
    Ledger.open(command.folder / "new.db").close()
    for end in ("", "-wal", "-shm"):
        Path(f"{place}{end}").unlink(missing_ok=True)
    (command.folder / "new.db").replace(place)
    ended = command("verify", "--ledger", str(place), "--against", str(folder / "results.json"))
    assert ended.code == 1
    assert "is missing: the chain ends at link 0" in ended.out


def test_a_damaged_index_is_named(command: Command, seeded_file: str) -> None:
    with sqlite3.connect(seeded_file) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_review_items_state'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with open(seeded_file, "r+b") as file:  # noqa: PTH123 - bytes in the middle of a file
        file.seek((page - 1) * size)
        file.write(bytes([13]) + b"\x00" * 7)  # a leaf of a table, without a cell
    ended = command("verify", "--ledger", seeded_file)
    assert ended.code == 1, ended.err
    assert "the file is damaged: " in ended.out


# --- a results.json that was kept


@pytest.fixture
def results(command: Command, server: FakeServer, suite: Path) -> Path:
    """The results.json of a run."""
    assert command("bench", "run", "--suite", suite, "--limit", "3").code in (0, 1, 3)
    (folder,) = command.run_folders()
    return folder / "results.json"


def verified(command: Command, *arguments: str) -> tuple[int, list[str]]:
    ended = command("verify", "--ledger", str(command.outputs / "ledger.db"), *arguments)
    assert not ended.err.startswith("areopage: "), ended.err
    return ended.code, ended.out.splitlines()


def edited(results: Path, change: Any) -> Path:
    content = json.loads(results.read_text(encoding="utf-8"))
    change(content)
    place = results.parent / "edited.json"
    place.write_text(json.dumps(content), encoding="utf-8")
    return place


def test_a_kept_file_that_says_what_the_ledger_says_is_confirmed(command: Command, results: Path) -> None:
    code, lines = verified(command, "--against", str(results))
    assert (code, lines[-1]) == (0, "intact"), lines
    assert f"figures in {results} that are not those of the ledger: 0" in lines


def _better_verdict(content: Any) -> None:
    content["release"] = (content["release"] or {"floors": []}) | {"verdict": "PASS?"}


def _better_score(content: Any) -> None:
    content["run"]["final_aggregate_score"] = 4.99


def _better_record(content: Any) -> None:
    name = next(iter(content["records"][0]["detailed_criteria"]))
    content["records"][0]["detailed_criteria"][name]["score"] = 4.99


def _fewer_failures(content: Any) -> None:
    content["run"]["metadata"]["failures"]["first"]["scored"] = 999


def _fewer_records(content: Any) -> None:
    content["records"].pop()


@pytest.mark.parametrize("change", [_better_verdict, _better_score, _better_record, _fewer_failures, _fewer_records])
def test_a_figure_that_was_edited_in_a_kept_file_is_named(command: Command, results: Path, change: Any) -> None:
    code, lines = verified(command, "--against", str(edited(results, change)))
    assert (code, lines[-1]) == (1, "altered")
    assert any(one.startswith("the file's ") and "the ledger: " in one for one in lines), lines


def test_changes_since_a_kept_head_are_told_by_table_and_actor(command: Command, results: Path) -> None:
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        Audit(ledger).note("Director", "read", "m-1")
    code, lines = verified(command, "--against", str(results))
    assert code == 3
    assert "  audit: 1 added (Director)" in lines
    assert lines[-1] != "intact"
    assert verified(command, "--against", str(results), "--allow-changes")[0] == 0


def test_of_a_report_only_the_heads_are_compared_and_this_is_said(command: Command, results: Path) -> None:
    page = results.with_name("report.html")
    code, lines = verified(command, "--against", str(page))
    assert code == 0
    assert f"the figures in {page} are not compared: only the heads that it names" in lines


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run_cases SET \"case\" = '{}' WHERE position = 0",
        "UPDATE runs SET outcome = '{' WHERE kind = 'bench'",
        "INSERT INTO run_rejected (run_id, position, row) SELECT min(id), 999, '{}' FROM runs WHERE kind = 'bench'",
    ],
)
def test_damaged_json_is_named_and_everything_else_is_still_verified(command: Command, seeded_file: str, statement: str) -> None:
    with sqlite3.connect(seeded_file) as connection:
        connection.execute(statement)
        connection.execute("UPDATE audit SET actor = 'x'" if "outcome" in statement else "UPDATE labels SET rater = 'x'")
    ended = command("verify", "--ledger", seeded_file)
    assert (ended.code, ended.out.splitlines()[-1]) == (1, "altered"), ended.err
    assert "Traceback" not in ended.err
    assert "outcome" in ended.out or "cannot be read" in ended.out
    assert "outcome" in statement or "labels 1: altered" in ended.out


def test_an_exam_after_a_run_makes_no_honest_file_altered_and_no_forged_pass_true(
    command: Command, server: FakeServer, tmp_path: Path
) -> None:
    demanding = write_suite(tmp_path / "demanding", release={"max_failures": {"safety": 0}})
    server.judge = lambda call: {"score": 5, "explanation": "kind", "evidence_extracts": []}
    assert command("bench", "run", "--suite", demanding).code == 3
    (folder,) = command.run_folders()
    results = folder / "results.json"
    assert json.loads(results.read_text(encoding="utf-8"))["release"]["verdict"] == "INCONCLUSIVE"
    forged = edited(results, lambda content: content["release"].update(verdict="PASS"))
    code, lines = verified(command, "--against", str(forged))
    assert code == 1 and any("release.verdict: PASS; the ledger: INCONCLUSIVE" in line for line in lines), lines
    command.qualify()
    code, lines = verified(command, "--against", str(results), "--allow-changes")
    assert code == 0, lines
    assert f"figures in {results} that are not those of the ledger: 0" in lines
