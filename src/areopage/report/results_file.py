"""`results.json`: everything that a run found, for programs. `results_records` has its shape."""

import json
from pathlib import Path
from typing import Any

import msgspec

from areopage.bench.results import RunView
from areopage.report.record_results import record_results
from areopage.report.replacing import replacing
from areopage.report.results_records import SCHEMA_NAME, Results
from areopage.report.run_results import run_result

SCHEMA_FILE = Path(__file__).with_name("results.schema.json")


def results_of(view: RunView) -> Results:
    """All of `results.json` at once; `write_results` holds one record at a time instead."""
    return Results(schema=SCHEMA_NAME, run=run_result(view), records=tuple(record_results(view)))


def write_results(view: RunView, path: Path) -> None:
    """Write `results.json`, record by record, one to a line.

    Raises:
        StorageError: the file cannot be written.
    """
    encode = msgspec.json.encode
    with replacing(path) as place, place.open("wb") as stream:
        stream.write(b'{"schema":' + encode(SCHEMA_NAME) + b',\n"run":' + encode(run_result(view)) + b',\n"records":[')
        before = b"\n"
        for record in record_results(view):
            stream.write(before + encode(record))
            before = b",\n"
        stream.write(b"\n]}\n")


def schema_text() -> str:
    """The JSON schema of `results.json`, as it is kept in `results.schema.json`."""
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA_NAME}
    return json.dumps(schema | msgspec.json.schema(Results), indent=2, ensure_ascii=False) + "\n"
