"""The JSON schemas of what areopage reads and writes, by name, generated from the records in code.

They are kept in `docs/schemas`, which the documentation publishes.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from pydantic import BaseModel

import areopage
from areopage.app.sections import AppSection
from areopage.bench import SCHEMA_NAME, results_type
from areopage.cases import Case
from areopage.extensions import imported, registered
from areopage.models import RecordedLine
from areopage.report import COLUMNS, column_types
from areopage.suites import SuiteConfig

DRAFT = "https://json-schema.org/draft/2020-12/schema"


RECORDS = ("Case", "Turn", "Document", "Criterion", "Judge", "Panel", "Judgment", "Evaluated", "Decision")
"""Public records that have a JSON form; a test holds this list against `areopage.__all__`."""


class Published(Struct, frozen=True):
    """A schema: what it describes, in Markdown, and what makes it, as JSON."""

    of: str
    text: Callable[[], str]


def schema_text(name: str) -> str:
    """The schema of a name in `published_schemas()`, as JSON."""
    return published_schemas()[name].text()


def schema_file(name: str) -> str:
    """The name of the file that a schema is published in."""
    return f"{name}.schema.json"


def _text(title: str, schema: Mapping[str, Any]) -> str:
    return json.dumps({"$schema": DRAFT, "title": title, **schema}, indent=2, ensure_ascii=False) + "\n"


def _case() -> str:
    """A line of a dataset: only the prompt is required, null is an empty cell, other keys go to the metadata."""
    schema = msgspec.json.schema(Case)
    case = schema["$defs"]["Case"]
    properties = {name: schema for name, schema in case["properties"].items() if name != "metadata"}
    documents = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Document"}]}
    properties["documents"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": documents}]}
    properties["tags"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    properties["id"] = {"type": ["string", "number"]}
    properties["maturity"] = {"type": ["string", "number"]}
    case["properties"] = {
        name: schema
        if name == "prompt"
        else {"anyOf": [{key: value for key, value in schema.items() if key != "default"}, {"type": "null"}]}
        for name, schema in properties.items()
    }
    case["required"] = ["prompt"]
    case["description"] = "A line of a dataset in JSON Lines. Other spellings of the names are accepted; other keys are metadata."
    document = schema["$defs"]["Document"]
    document["required"] = ["text"]
    return _text("areopage case", schema)


def record_schema(title: str, record: type[Struct]) -> str:
    """The schema of a record, as JSON."""
    return _text(title, msgspec.json.schema(record))


def _section(title: str, model: type[BaseModel]) -> str:
    return _text(title, {key: value for key, value in model.model_json_schema().items() if key != "title"})


def _records() -> str:
    (_, parts) = msgspec.json.schema_components([getattr(areopage, name) for name in RECORDS], ref_template="#/$defs/{name}")
    return _text("areopage records", {"$defs": parts})


def _exported(name: str) -> str:
    record = msgspec.defstruct(name.capitalize(), [*zip(COLUMNS[name], column_types(name), strict=True)], kw_only=True)
    return record_schema(f"areopage ledger export: {name}", record)


def published_schemas() -> dict[str, Published]:
    """The published schemas, by name."""
    return {
        "results": Published("`results.json` of a run", lambda: record_schema(SCHEMA_NAME, results_type())),
        **{name: imported(place) for name, place in registered("schemas").items()},
        "case": Published("a line of a dataset in JSON Lines", _case),
        "recording": Published("a line of a recording", partial(record_schema, "areopage recording", RecordedLine)),
        "records": Published("the records of `import areopage`", _records),
        "suite": Published("`config.yml` of a suite", partial(_section, "areopage suite", SuiteConfig)),
        "areopage": Published("`areopage.yml`", partial(_section, "areopage.yml", AppSection)),
        **{
            f"ledger-{name}": Published(f"a line of `{name}.jsonl` of `ledger export --format jsonl`", partial(_exported, name))
            for name in COLUMNS
        },
    }
