"""The rows of dataset files, readable and not, and the limits of all readers."""

from typing import Any

from msgspec import Struct

MAX_RECORD = 4 * 1024 * 1024
"""The longest record that a reader accepts: characters in CSV and Parquet, bytes in JSON Lines."""

MAX_DEPTH = 100
"""How deep lists and objects may lie in each other: what can just be read cannot always be written again."""

MAX_CONTENT = 1_000
"""How many characters of a bad row are kept to show."""

KEYED_SUFFIXES = (".jsonl", ".ndjson", ".json", ".eval")
"""Formats without a header: each row brings its own names."""

SUFFIXES = (".csv", ".tsv", ".xlsx", *KEYED_SUFFIXES, ".parquet")


class Row(Struct, frozen=True):
    """A row that could be read. `number` is 1-based and counts the header where there is one.

    `names` are the headers (or an object's keys) as written; `cells` has one value per name. `line` is the line of the file that
    it begins on, from 1; 0 where the format has no lines.
    """

    number: int
    names: tuple[str, ...]
    cells: tuple[Any, ...]
    line: int = 0


class BadRow(Struct, frozen=True):
    """A row that could not be read; the rows around it can."""

    number: int
    reason: str
    content: str


def clip(text: str, limit: int = MAX_CONTENT) -> str:
    """Shorten `text` to `limit` characters; an ellipsis says that something is missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def is_deep(value: Any) -> bool:
    """Say whether lists and objects lie in each other deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        groups = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        if not groups:
            return False
        level = [inner for group in groups for inner in group]
    return True
