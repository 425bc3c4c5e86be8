"""The JSON schemas of what areopage reads and writes, by name, generated from the records in code."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from areopage.cases.records import Case
from areopage.models.replay import RecordedLine
from areopage.report.bench.files import schema_text as results_schema
from areopage.report.export import COLUMNS, column_types
from areopage.report.judges.audit import schema_text as audit_schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(name: str) -> str:
    """The schema of a name in `SCHEMAS`, as JSON."""
    return SCHEMAS[name]()


def _text(title: str, schema: Mapping[str, Any]) -> str:
    return json.dumps({"$schema": DRAFT, "title": title, **schema}, indent=2, ensure_ascii=False) + "\n"


def _case() -> str:
    """A line of a dataset: only the prompt is required, null is an empty cell, other keys go to the metadata."""
    schema = msgspec.json.schema(Case)
    case = schema["$defs"]["Case"]
    properties = {name: found for name, found in case["properties"].items() if name != "metadata"}
    documents = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Document"}]}
    properties["documents"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": documents}]}
    properties["tags"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    properties["id"] = {"type": ["string", "number"]}
    properties["maturity"] = {"type": ["string", "number"]}
    case["properties"] = {
        name: found
        if name == "prompt"
        else {"anyOf": [{key: value for key, value in found.items() if key != "default"}, {"type": "null"}]}
        for name, found in properties.items()
    }
    case["required"] = ["prompt"]
    case["description"] = "A line of a dataset in JSON Lines. Other spellings of the names are accepted; other keys are metadata."
    document = schema["$defs"]["Document"]
    document["required"] = ["text"]
    return _text("areopage case", schema)


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [{key: value for key, value in schema.items() if key != "default"}, {"type": "null"}]}


def _recording() -> str:
    return _text("areopage recording", msgspec.json.schema(RecordedLine))


def _exported(name: str) -> str:
    record = msgspec.defstruct(name.capitalize(), [*zip(COLUMNS[name], column_types(name), strict=True)], kw_only=True)
    return _text(f"areopage ledger export: {name}", msgspec.json.schema(record))


def _exports() -> dict[str, Callable[[], str]]:
    return {f"ledger-{name}": partial(_exported, name) for name in COLUMNS}


SCHEMAS: Mapping[str, Callable[[], str]] = {
    "results": results_schema,
    "audit": audit_schema,
    "case": _case,
    "recording": _recording,
    **_exports(),
}
"""What writes each schema: `results.json`, `audit.json`, a line of a dataset, a line of a recording, and a line of each file of
`ledger export --format jsonl`."""
