"""Every score is a pure function of the ledger: what is stored is computed again, compared and written, on both databases."""

import csv
import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest
from sqlalchemy import text

from areopage.app.rebuild import LedgerComparison, check_ledger, rebuild_ledger
from areopage.ledger.read.caches import Orphans, StaleValue
from areopage.ledger.store import Ledger
from servers import PATIENCE
from servers.command import Command
from servers.forked import Forked
from servers.seeded_ledger import REDUCED, caches, wipe_caches


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """A ledger of all applications."""
    opened = Ledger.open(request.getfixturevalue("seeded_file" if request.param == "sqlite" else "seeded_postgres"))
    yield opened
    opened.close()


def compared(ledger: Ledger) -> tuple[LedgerComparison, list[StaleValue]]:
    found: list[StaleValue] = []
    return check_ledger(ledger, lambda done: None, found.append), found


def differences(ledger: Ledger) -> list[StaleValue]:
    return compared(ledger)[1]


def rebuild(ledger: Ledger) -> None:
    rebuild_ledger(ledger, lambda done: None)


def test_a_rebuild_reproduces_every_stored_score_and_count_of_all_applications(ledger: Ledger) -> None:
    stored = caches(ledger)
    rounds = stored.pop("golden_runs")
    assert {len(rows) > 10 for rows in stored.values()} == {True}
    stored["golden_runs"] = rounds
    assert len(rounds) == 2
    assert [row for row in rounds if None in row[5:11]] == rounds[:1]  # the first round is compared with none
    assert differences(ledger) == []
    rebuild(ledger)
    assert caches(ledger) == stored
    wipe_caches(ledger)
    assert caches(ledger) != stored
    rebuild(ledger)
    assert caches(ledger) == stored
    assert compared(ledger)[0].clean


CORRUPTIONS = {
    "score_global": "UPDATE evaluations SET score_global = score_global + 1 WHERE origin = 'monitor' AND scored > 0",
    "grade": "UPDATE evaluations SET grade = CASE grade WHEN 'weak' THEN 'excellent' ELSE 'weak' END WHERE origin = 'bench'",
    "spread": "UPDATE evaluations SET spread = 9 WHERE origin = 'bench'",
    "feedback": "UPDATE evaluations SET feedback = 'Excellent.' WHERE answer = (SELECT number FROM answers WHERE id = 'm-1')",
    "cost": "UPDATE evaluations SET prompt_tokens = 1, cost = 7, currency = 'EUR' WHERE state = 'evaluated'",
    "evaluation": "DELETE FROM evaluations WHERE origin = 'bench' AND NOT EXISTS "
    "(SELECT 1 FROM evaluation_scores WHERE evaluation = evaluations.number)",
    "answer.format": "DELETE FROM evaluation_scores WHERE criterion LIKE '%format'",
    "danger": "UPDATE evaluation_scores SET score = 5.5 WHERE criterion LIKE '%danger'",
    "agreement": "UPDATE evaluation_scores SET agreement = 0.5, grade = 'excellent' WHERE criterion LIKE '%warmth'",
    "words": "DELETE FROM evaluation_search",
    "days.count": "UPDATE days SET count = count + 1 WHERE kind = 'evaluation' AND value = 'scored'",
    "days.seconds": "DELETE FROM days WHERE kind IN ('judge', 'mode', 'reason')",
    "score_days.total": "UPDATE score_days SET total = total * 2",
    "golden_runs.mean": "UPDATE golden_runs SET mean = mean - 3",
    "golden_runs.change": "UPDATE golden_runs SET change = 0.25, scored = 3 WHERE compared_to != ''",
    "score_days.answers": "DELETE FROM score_days WHERE criterion = ''",
}


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_check_finds_each_corruption_and_a_rebuild_mends_it(ledger: Ledger) -> None:
    stored = caches(ledger)
    for expected, statement in CORRUPTIONS.items():
        with ledger.engine.begin() as connection:
            if expected == "evaluation":
                bench = "(SELECT number FROM evaluations WHERE origin = 'bench')"
                connection.execute(text(f"DELETE FROM evaluation_scores WHERE evaluation IN {bench}"))
            assert connection.execute(text(statement)).rowcount > 0
        damaged = caches(ledger)
        found = differences(ledger)
        assert found
        assert any(expected in one.field or expected in f"{one.stored} {one.computed}" for one in found) or (
            expected == "agreement" and found
        ), expected
        assert caches(ledger) == damaged  # a check writes nothing
        rebuild(ledger)
        if expected == "evaluation":  # the rows that were missing have new numbers
            stored = caches(ledger)
        assert caches(ledger) == stored, expected
    assert compared(ledger)[0].clean


KILLED = """
import os, signal, sys
from areopage.app.rebuild import rebuild_ledger
from areopage.ledger.read import streams
from areopage.ledger.store import Ledger
streams.PORTION = 3
rebuild_ledger(Ledger.open(sys.argv[1]), lambda done: done > 4 and os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_a_rebuild_that_is_killed_leaves_whole_portions_and_the_next_one_ends_it(ledger: Ledger) -> None:
    stored = caches(ledger)
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE evaluations SET score_global = NULL, scored = 0 WHERE state = 'evaluated'"))
    wrong = {one.subject for one in differences(ledger) if not one.field.startswith(("days", "score_days"))}
    process = Forked(KILLED, ledger.place)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    left = {one.subject for one in differences(ledger) if not one.field.startswith(("days", "score_days"))}
    assert len(wrong) - len(left) == 6  # two portions
    rebuild(ledger)
    assert caches(ledger) == stored


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_check_names_orphans_and_panels_that_cannot_be_read(ledger: Ledger) -> None:
    with ledger.engine.begin() as connection:
        number = connection.execute(text("SELECT number FROM answers WHERE id = 'm-1'")).scalar()
        keys = connection.execute(text(f"SELECT key FROM answer_judgments WHERE answer = {number}")).scalars().all()
        connection.execute(text(f"DELETE FROM answer_judgments WHERE answer = {number}"))
        connection.execute(text("UPDATE labels SET answer_id = 'nobody' WHERE answer_id = 'm-1'"))
    found, wrong = compared(ledger)
    assert found.orphans == Orphans(
        judgments=len(keys), judgment_keys=found.orphans.judgment_keys, labels=1, labelled=("nobody",), scores=1, scored=("m-1",)
    )
    assert set(found.orphans.judgment_keys) == set(keys)
    assert {one.field for one in wrong if one.subject == "m-1"} >= {"score_global", "scored", "prompt_tokens"}
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE runs SET spec = '{}' WHERE kind = 'monitor'"))
    before, (found, _) = caches(ledger), compared(ledger)
    assert found.unreadable and not found.clean
    assert "written by another version" in next(iter(found.unreadable.values()))
    rebuild(ledger)
    assert caches(ledger)["evaluations"] == before["evaluations"]  # what cannot be computed stays as it is


# --- the commands


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_the_commands_check_and_rebuild(ledger: Ledger, command: Command) -> None:
    place = ("--ledger", ledger.place)
    clean = command("ledger", "check", *place)
    assert clean.code == 0, clean.err
    assert "nothing differs" in clean.out
    with ledger.engine.begin() as connection:
        connection.execute(text("UPDATE evaluations SET score_global = 9.75 WHERE number = 1"))
        connection.execute(text("UPDATE labels SET answer_id = 'nobody' WHERE answer_id = 'm-1'"))
    found = command("ledger", "check", *place)
    assert found.code == 1
    assert "m-0: score_global: stored 9.75, computed " in found.out
    assert "labels of answers that are not there: 1 (nobody)" in found.out
    assert command("ledger", "rebuild", *place).code == 0
    assert "m-0" not in command("ledger", "check", *place).out


def rows_of_sheet(path: Path) -> list[dict[str, Any]]:
    """The rows of a worksheet by the names in its first row."""
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    header, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "xlsx"])
def test_an_export_holds_what_the_ledger_holds_and_is_there_whole_or_not_at_all(
    ledger: Ledger, command: Command, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "export"
    done = command("ledger", "export", "--out", out, "--format", form, "--ledger", ledger.place)
    assert done.code == 0, done.err
    names = ("answers", "evaluations", "judgments", "labels", "decisions", "signoffs", "calibrations")
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{name}.{form}" for name in names)
    if form == "jsonl":
        rows = {name: [json.loads(line) for line in (out / f"{name}.jsonl").read_text().splitlines()] for name in names}
    elif form == "parquet":
        rows = {name: pyarrow.parquet.read_table(out / f"{name}.parquet").to_pylist() for name in names}
    elif form == "xlsx":
        rows = {name: rows_of_sheet(out / f"{name}.xlsx") for name in names}
    else:
        rows = {
            name: list(csv.DictReader(io.StringIO((out / f"{name}.csv").read_text("utf-8-sig"), newline=""))) for name in names
        }
    with ledger.engine.connect() as connection:
        for name in names:
            assert len(rows[name]) == connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()
    by_id = {row["id"]: row for row in rows["answers"]}
    empty = None if form == "xlsx" else ""
    texts = (by_id["m-1"]["prompt"], by_id["m-2"]["prompt"] or empty, by_id[REDUCED]["response"])
    assert texts == ("Why 1?", empty, "A long response. A …")
    assert {row["stored"] for row in rows["judgments"]} == {"full", "truncated", "none"}
    assert all(row["answers"] for row in rows["judgments"])
    assert [label["criterion"] or "" for label in rows["labels"]] == ["", "", "", "grounding"]
    again = command("ledger", "export", "--out", out, "--format", form, "--ledger", ledger.place)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
