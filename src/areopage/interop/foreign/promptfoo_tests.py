"""One test of promptfoo: its variables, assertions and metadata, from a configuration or from a row of a table."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

_EXPECTED = re.compile(r"__expected\d*")
_CODE = ("file://", "javascript:", "python:", "fn:", "eval:")
_TYPES = (
    *("equals", "contains", "icontains", "contains-any", "contains-all", "icontains-any", "icontains-all", "starts-with"),
    *("regex", "is-json", "is-refusal", "is-html", "is-sql", "is-xml", "contains-html", "contains-json", "contains-sql"),
    *("contains-xml", "is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call", "word-count"),
    *("llm-rubric", "grade", "g-eval", "model-graded-closedqa", "factuality", "model-graded-factuality", "search-rubric"),
    *("similar", "similar:cosine", "similar:dot", "similar:euclidean", "answer-relevance", "conversation-relevance"),
    *("context-recall", "context-relevance", "context-faithfulness", "classifier", "moderation", "guardrails", "pi"),
    *("bleu", "gleu", "meteor", "levenshtein", "rouge-n", "rouge-l", "rouge-s", "perplexity", "perplexity-score"),
    *("latency", "cost", "finish-reason", "javascript", "python", "ruby", "webhook", "human", "select-best", "max-score"),
    *("tool-call-f1", "trace-error-spans", "trace-span-count", "trace-span-duration"),
)
_NAMES = "|".join(map(re.escape, sorted(_TYPES, key=len, reverse=True)))
_TYPED = re.compile(rf"(not-)?({_NAMES})(?:\(([0-9.]+)\))?(?::\s*(.*))?", re.DOTALL)


class Assertion(Struct, frozen=True):
    """An assertion; `options` are the names of what else it sets."""

    type: str
    value: Any = None
    options: tuple[str, ...] = ()

    @property
    def is_code(self) -> bool:
        """Whether the value is code or a file, or the response is transformed by code before."""
        return (isinstance(self.value, str) and self.value.startswith(_CODE)) or bool({"transform", "assert"} & {*self.options})

    @property
    def described(self) -> str:
        """Its type, and the kind of its value where that is why it has no counterpart."""
        if self.type.removeprefix("not-") == "equals" and isinstance(self.value, dict | list):
            return f"{self.type} with an object or a list"
        return self.type


class Test(Struct, frozen=True):
    """A test."""

    values: dict[str, Any] = {}
    assertions: tuple[Assertion, ...] = ()
    metadata: dict[str, Any] = {}
    description: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Test":
        """The test of an entry of a configuration."""
        values, metadata, asserted = entry.get("vars"), entry.get("metadata"), entry.get("assert")
        return cls(
            values={str(name): value for name, value in values.items()} if isinstance(values, dict) else {},
            assertions=tuple(_assertions(asserted)) if isinstance(asserted, list) else (),
            metadata={str(name): value for name, value in metadata.items()} if isinstance(metadata, dict) else {},
            description=str(entry.get("description") or ""),
        )

    def under(self, test: "Test") -> "Test":
        """A test with these defaults."""
        return Test(
            values=self.values | test.values,
            assertions=(*self.assertions, *test.assertions),
            metadata=self.metadata | test.metadata,
            description=test.description,
        )


def _assertions(entries: Sequence[Any]) -> Iterator[Assertion]:
    """The assertions of a test; those of a set that has no threshold must all pass, as if there were no set."""
    for entry in entries:
        inner = (
            entry.get("assert")
            if isinstance(entry, dict) and entry.get("type") == "assert-set" and "threshold" not in entry
            else None
        )
        if isinstance(inner, list):
            options = tuple(str(name) for name in entry if name not in ("type", "assert"))
            yield from (structs.replace(made, options=(*made.options, *options)) for made in map(_assertion, inner))
        else:
            yield _assertion(entry)


def _assertion(entry: Any) -> Assertion:
    if not isinstance(entry, dict):
        return Assertion(type="unknown")
    options = tuple(str(name) for name in entry if name not in ("type", "value"))
    return Assertion(type=str(entry.get("type", "unknown")), value=entry.get("value"), options=options)


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
    typed = _TYPED.fullmatch(text.strip())
    if typed is None:
        return Assertion(type="equals", value=text)
    kind = f"{typed[1] or ''}{'llm-rubric' if typed[2] == 'grade' else typed[2]}"
    return Assertion(type=kind, value=typed[4] or None, options=("threshold",) if typed[3] else ())
