"""One test of promptfoo: its variables, assertions and metadata, from a configuration or from a row of a table."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

_EXPECTED = re.compile(r"__expected\d*")
_TYPED = re.compile(r"(not-)?([a-z][a-z-]*)(?:\(([0-9.]+)\))?:\s*(.*)", re.DOTALL)
_LISTED = ("contains-any", "contains-all", "icontains-any", "icontains-all")
_CODE = ("file://", "javascript:", "python:", "fn:", "eval:")
_TYPES = frozenset(
    [
        *("equals", "contains", "icontains", *_LISTED, "starts-with", "regex", "is-json", "contains-json", "is-refusal"),
        *("llm-rubric", "g-eval", "model-graded-closedqa", "factuality", "model-graded-factuality", "similar", "javascript"),
        *("python", "webhook", "rouge-n", "bleu", "levenshtein", "latency", "cost", "perplexity", "answer-relevance"),
        *("context-recall", "context-relevance", "context-faithfulness", "classifier", "moderation", "is-sql", "is-xml", "grade"),
    ]
)


class Assertion(Struct, frozen=True):
    """An assertion; `options` are the names of what else it sets."""

    type: str
    value: Any = None
    options: tuple[str, ...] = ()

    @property
    def is_code(self) -> bool:
        """Whether the value is code or a file, or the response is transformed by code before."""
        return (isinstance(self.value, str) and self.value.startswith(_CODE)) or bool({"transform", "assert"} & {*self.options})


class Test(Struct, frozen=True):
    """A test."""

    values: dict[str, Any] = {}
    assertions: tuple[Assertion, ...] = ()
    metadata: dict[str, Any] = {}
    description: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Test":
        """The test of an entry of a configuration."""
        values, metadata, asserted = given.get("vars"), given.get("metadata"), given.get("assert")
        return cls(
            values={str(name): value for name, value in values.items()} if isinstance(values, dict) else {},
            assertions=tuple(_assertion(one) for one in asserted) if isinstance(asserted, list) else (),
            metadata={str(name): value for name, value in metadata.items()} if isinstance(metadata, dict) else {},
            description=str(given.get("description") or ""),
        )

    def under(self, test: "Test") -> "Test":
        """A test with these defaults."""
        return Test(
            values=self.values | test.values,
            assertions=(*self.assertions, *test.assertions),
            metadata=self.metadata | test.metadata,
            description=test.description,
        )


def _assertion(given: Any) -> Assertion:
    if not isinstance(given, dict):
        return Assertion(type="unknown")
    options = tuple(str(name) for name in given if name not in ("type", "value"))
    return Assertion(type=str(given.get("type", "unknown")), value=given.get("value"), options=options)


def tests_of_row(names: Sequence[str], cells: Sequence[Any], left_out: Counter[str]) -> Test:
    """The test of a row of a table: columns are variables, those with two underscores have a meaning of their own."""
    values: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    assertions: list[Assertion] = []
    description = ""
    for name, cell in zip(names, cells, strict=True):
        if name in ("vars", "assert", "metadata") and isinstance(cell, dict | list):
            return Test.of(dict(zip(names, cells, strict=True)))
        if cell in (None, ""):
            continue
        if _EXPECTED.fullmatch(name):
            assertions.append(_expected(str(cell)))
        elif name.startswith("__metadata:"):
            key = name.removeprefix("__metadata:")
            metadata[key.removesuffix("[]")] = [part.strip() for part in str(cell).split(",")] if key.endswith("[]") else cell
        elif name == "__description":
            description = str(cell)
        elif name.startswith("__"):
            left_out[f"column {name}"] += 1
        else:
            values[name] = cell
    return Test(values=values, assertions=tuple(assertions), metadata=metadata, description=description)


def _expected(text: str) -> Assertion:
    """The assertion of a cell: `type: value`, else the value that the response equals."""
    found = _TYPED.fullmatch(text.strip())
    if found is None or found[2] not in _TYPES:
        return Assertion(type="equals", value=text)
    kind, value = f"{found[1] or ''}{'llm-rubric' if found[2] == 'grade' else found[2]}", found[4]
    listed = [part.strip() for part in value.split(",")] if found[2] in _LISTED else value
    return Assertion(type=kind, value=listed or None, options=("threshold",) if found[3] else ())
