"""A row as a reader hands it over, before anybody knows what its columns mean."""

from typing import Any

from msgspec import Struct

MAX_RECORD = 4 * 1024 * 1024
"""The longest record that a reader accepts: characters in CSV and Parquet, bytes in JSON Lines."""

MAX_CONTENT = 1_000
"""How many characters of a bad row are kept to show."""


class Row(Struct, frozen=True):
    """A row that could be read. `number` is 1-based and counts the header where there is one.

    `names` are the headers (or an object's keys) as written; `cells` has one value per name.
    """

    number: int
    names: tuple[str, ...]
    cells: tuple[Any, ...]


class BadRow(Struct, frozen=True):
    """A row that could not be read; the rows around it can."""

    number: int
    reason: str
    content: str


def clip(text: str, limit: int = MAX_CONTENT) -> str:
    """Shorten `text` to `limit` characters; an ellipsis says that something is missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
