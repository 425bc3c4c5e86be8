"""Published schemas: they are what the code says, and real files hold to them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from areopage.app.schemas import published_schemas, schema_file, schema_text
from areopage.bench.report.files import write_judgments_jsonl
from areopage.ledger.store import Ledger
from areopage.report.export import COLUMNS, export_ledger
from areopage.suites.loader import BUNDLED
from report.report_runs import case, view_of
from servers.command import Command

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


def checked(name: str, rows: list[Any]) -> int:
    schema = json.loads(schema_text(name))
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    for row in rows:
        validator.validate(row)
    return len(rows)


@pytest.mark.parametrize("name", published_schemas())
def test_the_committed_schema_is_what_the_code_says(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(name)))
    file = FOLDER / schema_file(name)
    assert file.read_text(encoding="utf-8") == schema_text(name), f"make schemas, or areopage schema {name} > {file}"


def test_no_other_schema_is_published() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(map(schema_file, published_schemas()))
    repository = FOLDER.parents[1]
    others = [path for part in ("src", "docs") for path in (repository / part).rglob("*.schema.json") if path.parent != FOLDER]
    assert not others


def test_the_lines_of_bundled_datasets_hold_to_the_schema_of_cases() -> None:
    rows = [
        json.loads(line)
        for path in BUNDLED.glob("*/data/*.jsonl")
        if not path.name.startswith("gold")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    made = [
        {
            "prompt": [{"role": "user", "content": "a"}],
            "documents": ["x", {"id": "d", "text": "y"}],
            "age": 8,
            "id": 7,
            "response": None,
        }
    ]
    assert checked("case", [*rows, *made]) > 0
    for wrong in ({}, {"prompt": 3}, {"prompt": "a", "child": {"turns": 99}}):
        with pytest.raises(jsonschema.ValidationError):
            checked("case", [wrong])


def test_the_lines_of_a_recording_hold_to_its_schema(tmp_path: Path) -> None:
    write_judgments_jsonl(view_of(tmp_path, cases=[case(1, response=None), case(2)]), tmp_path / "r.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert checked("recording", lines) > 4
    with pytest.raises(jsonschema.ValidationError):
        checked("recording", [{"case_id": "1", "text": "x", "unknown": 1}])


def test_every_file_of_a_ledgers_export_holds_to_its_schema(seeded_file: str, tmp_path: Path) -> None:
    ledger = Ledger.open(seeded_file)
    try:
        export_ledger(ledger, tmp_path / "export", "jsonl")
    finally:
        ledger.close()
    counts = {}
    for name in COLUMNS:
        lines = (tmp_path / "export" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        counts[name] = checked(f"ledger-{name}", [json.loads(line) for line in lines])
    assert min(counts[name] for name in ("answers", "evaluations", "judgments", "labels", "decisions")) > 0, counts


def test_the_command_lists_and_prints_schemas(command: Command) -> None:
    assert command("schema").out.split() == list(published_schemas())
    assert json.loads(command("schema", "case").out)["title"] == "areopage case"
    done = command("schema", "nothing")
    assert (done.code, done.err.count("\n")) == (2, 1)
