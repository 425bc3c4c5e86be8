"""`areopage monitor export`, `erase` and `init`."""

import codecs
import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow.parquet
import pytest

from areopage.ledger.people.access import Audit
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Evaluation
from areopage.ledger.write.evaluations import Evaluations
from areopage.monitor.hook.submission import submission_of
from servers.command import Command
from servers.evaluated import submitted
from servers.quality_ledger import TODAY, answered, filled

PERSONAL = "Bonjour, M. Jean Dupont (jean@exemple.fr, 06 12 34 56 78) : article L. 123-4 ?"
REDACTED = "Bonjour, M. [NAME] ([EMAIL], [PHONE]) : article L. 123-4 ?"
FORMULA = '=HYPERLINK("http://evil.example")'


@pytest.fixture
def monitor(command: Command) -> Command:
    """A monitor with four answers."""
    scores = [
        answered(1, 2.0, prompt=PERSONAL, source="mail", weaknesses=("one", "two")),
        answered(2, 7.0, days_ago=1, response=FORMULA, variant="b", feedback="+1"),
        answered(3, None, days_ago=2, reason="timed out"),
        answered(4, 9.0, days_ago=40),
        answered(5, 5.0, source="golden:bot"),
    ]
    filled(command.outputs / "ledger.db", scores).close()
    return command


@contextmanager
def ledger_of(monitor: Command) -> Iterator[Ledger]:
    opened = Ledger.open(monitor.outputs / "ledger.db")
    yield opened
    opened.close()


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_column_for_each_criterion_of_the_suite(monitor: Command) -> None:
    ended = monitor("monitor", "export", "--out", "a.csv")
    assert ended.err == "4 answers written to a.csv\n"
    rows = table((monitor.folder / "a.csv").read_text(encoding="utf-8-sig"))
    assert [row["id"] for row in rows] == ["a-4", "a-3", "a-2", "a-1"]
    first = rows[-1]
    assert (first["exactitude"], first["completude"], first["format"], first["sources"]) == ("2.0", "", "8.0", "")
    assert (first["score_global"], first["grade"], first["weaknesses"]) == ("2.0", "weak", "one\ntwo")
    assert first["timestamp"] == TODAY.isoformat()
    assert rows[1]["score_global"] == ""


def test_an_export_holds_nothing_personal_unless_asked_for(monitor: Command) -> None:
    for arguments, expected in (([], REDACTED), (["--text", "full"], PERSONAL), (["--text", "none"], "")):
        out = monitor("monitor", "export", "--format", "csv", "--out", "-", *arguments).out
        assert table(out)[-1]["prompt"] == expected
    (monitor.folder / "areopage.yml").write_text("storage: {export_text: truncated, max_chars: 8}\n", encoding="utf-8")
    assert table(monitor("monitor", "export", "--format", "csv", "--out", "-").out)[-1]["prompt"] == "Bonjour…"


def test_no_cell_of_the_csv_runs_as_a_formula(monitor: Command) -> None:
    row = table(monitor("monitor", "export", "--format", "csv", "--out", "-").out)[2]
    assert (row["response"], row["feedback"]) == (f"'{FORMULA}", "+1")
    text = monitor("monitor", "export", "--format", "csv", "--out", "-", "--text", "full").out
    assert not [cell for one in table(text) for cell in one.values() if cell.startswith(("=", "@"))]


@pytest.mark.parametrize(("options", "delimiter"), [([], ","), (["--semicolons"], ";")])
def test_a_text_with_a_bare_carriage_return_stays_in_its_cell(monitor: Command, options: list[str], delimiter: str) -> None:
    with ledger_of(monitor) as ledger:
        hostile = submission_of("q", "Merci.\r=1+1;=2+2", id="cr")
        Evaluations(ledger).submit([hostile])
        Evaluations(ledger).finish(Evaluation(id="cr", timestamp=TODAY, response="Merci.\r=1+1;=2+2", score_global=6.5), [])
    assert monitor("monitor", "export", "--out", "a.csv", "--text", "full", *options).code == 0
    whole = (monitor.folder / "a.csv").read_bytes()
    assert whole.startswith(codecs.BOM_UTF8) and b'"Merci.\r=1+1;=2+2"' in whole
    rows = list(csv.reader(io.StringIO(whole.decode("utf-8-sig"), newline=""), delimiter=delimiter))
    assert {len(row) for row in rows} == {len(rows[0])} and not [row for row in rows if row[0].startswith("=")]


def test_semicolons_are_for_csv_only(monitor: Command) -> None:
    ended = monitor("monitor", "export", "--out", "a.jsonl", "--semicolons")
    assert ended.code == 2 and "--semicolons is for CSV" in ended.err


def test_json_lines_hold_the_record_with_its_criteria(monitor: Command) -> None:
    assert monitor("monitor", "export", "--out", "a.jsonl").code == 0
    records = [json.loads(line) for line in (monitor.folder / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["id"] for record in records] == ["a-4", "a-3", "a-2", "a-1"]
    assert records[-1]["criteria"]["quality.answer.exactitude"] == {"score": 2.0, "grade": "weak", "agreement": None}
    assert (records[-1]["prompt"], records[2]["response"], records[1]["score_global"]) == (REDACTED, FORMULA, None)


def test_parquet_keeps_types(monitor: Command) -> None:
    assert monitor("monitor", "export", "--out", "a.parquet").code == 0
    found = pyarrow.parquet.read_table(monitor.folder / "a.parquet")
    rows: list[dict[str, Any]] = found.to_pylist()
    assert rows[-1]["timestamp"] == TODAY
    assert (rows[-1]["weaknesses"], rows[-1]["exactitude"], rows[-1]["scored"]) == (["one", "two"], 2.0, 2)
    assert rows[1]["score_global"] is None
    assert rows[-1]["prompt"] == REDACTED


def test_an_export_of_no_answers_is_a_file_with_its_columns(monitor: Command) -> None:
    for name in ("a.csv", "a.parquet", "a.jsonl"):
        assert monitor("monitor", "export", "--out", name, "--source", "nobody").code == 0
    assert (monitor.folder / "a.csv").read_text(encoding="utf-8-sig").startswith("id,timestamp,")
    assert pyarrow.parquet.read_table(monitor.folder / "a.parquet").num_rows == 0
    assert (monitor.folder / "a.jsonl").read_text(encoding="utf-8") == ""


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["--source", "mail"], ["a-1"]),
        (["--source", "golden:bot"], ["a-5"]),
        (["--variant", "b"], ["a-2"]),
        (["--grade", "weak"], ["a-1"]),
        (["--grade", "unscored"], ["a-3"]),
        (["--days", "2", "--until", "2026-11-21"], ["a-2", "a-1"]),
        (["--until", "2026-10-31"], ["a-4"]),
        (["--find", "article"], ["a-1"]),
    ],
)
def test_filters_choose_the_answers(monitor: Command, arguments: list[str], ids: list[str]) -> None:
    out = monitor("monitor", "export", "--format", "jsonl", "--out", "-", *arguments).out
    assert [json.loads(line)["id"] for line in out.splitlines()] == ids


def test_every_export_is_in_the_audit_log(monitor: Command) -> None:
    monitor("monitor", "export", "--out", "a.csv", "--grade", "weak", "--text", "full")
    with ledger_of(monitor) as ledger:
        (entry,) = Audit(ledger).list()
    assert (entry.action, entry.subject) == ("export", "a.csv")
    assert entry.actor.startswith("cli")
    assert entry.detail == "csv, text full, all days, grade 'weak'"


def test_the_audit_log_keeps_no_words_of_a_search(monitor: Command) -> None:
    monitor("monitor", "export", "--out", "a.csv", "--find", "Dupont")
    with ledger_of(monitor) as ledger:
        (entry,) = Audit(ledger).list()
    assert entry.detail == "csv, text redacted, all days, only answers with words that were searched for"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "a.doc"], "the ending says no format; give --format: use one of csv, jsonl, parquet"),
        (["--out", "a", "--format", "xml"], "--format 'xml': use one of csv, jsonl, parquet"),
        (["--out", "-", "--format", "parquet"], "parquet goes to a file only"),
        (["--out", "a.csv", "--grade", "bad"], "--grade 'bad': use one of excellent, acceptable, weak, unscored"),
        (["--out", "a.csv", "--text", "some"], "--text 'some': use one of full, truncated, redacted, none"),
        (["--out", "no/where/a.csv"], "cannot be written"),
    ],
)
def test_a_wrong_export_is_refused_in_one_line(monitor: Command, arguments: list[str], words: str) -> None:
    assert words in monitor("monitor", "export", *arguments).refused()
    assert not list(monitor.folder.glob(".*.tmp"))


def test_erasing_by_id_removes_the_answers_and_is_noted(monitor: Command) -> None:
    ended = monitor("monitor", "erase", "--id", "a-1", "--id", "a-2", "--id", "nobody")
    assert ended.out == "answers erased: 2; not there: 1\n"
    with ledger_of(monitor) as ledger:
        assert [n for n in range(1, 6) if not Evaluations(ledger).get(f"a-{n}").erased] == [3, 4, 5]  # type: ignore[union-attr]
        noted = [(entry.action, entry.subject) for entry in Audit(ledger).list()]
    assert sorted(noted) == [("erase", "a-1"), ("erase", "a-2"), ("erase", "nobody")]
    assert b"Jean Dupont" not in (monitor.outputs / "ledger.db").read_bytes()


def test_the_audit_log_is_shown_newest_first_and_for_programs(monitor: Command) -> None:
    with ledger_of(monitor) as ledger:
        Audit(ledger).note("Ada", "read", "a-1", "the\nscores", key_id="k1")
        Audit(ledger).note("Bea", "erase", "a-2")
    first, second = monitor("ledger", "audit").out.splitlines()
    assert first.endswith("  Bea  erase  a-2")
    assert second.endswith("  Ada (key k1)  read  a-1  the scores")
    (entry,) = monitor("ledger", "audit", "--subject", "a-1", "--limit", "5", "--format", "jsonl").out.splitlines()
    assert json.loads(entry) | {"at": ""} == {
        "at": "",
        "actor": "Ada",
        "key_id": "k1",
        "action": "read",
        "subject": "a-1",
        "detail": "the\nscores",
    }


def test_erasing_by_age_goes_by_when_answers_were_received(monitor: Command) -> None:
    now = datetime.now(UTC)
    with ledger_of(monitor) as ledger:
        for name, days in (("new", 1), ("old", 400)):
            moment = now - timedelta(days=days)
            Evaluations(ledger).submit([submitted(name, received_at=moment, answered_at=moment)])
    assert monitor("monitor", "erase", "--older-than", "365").out == "answers erased: 1\n"
    with ledger_of(monitor) as ledger:
        erased = [found.erased for name in ("new", "old") if (found := Evaluations(ledger).get(name))]
        assert erased == [False, True]


@pytest.mark.parametrize("arguments", [[], ["--id", "a", "--older-than", "3"]])
def test_erasing_needs_to_be_told_what(monitor: Command, arguments: list[str]) -> None:
    assert "say what to erase" in monitor("monitor", "erase", *arguments).refused()
