"""What reading a folder gives: files that were found, the texts in them, and what could not be read."""

from pathlib import Path
from typing import Any

from msgspec import Struct


class Part(Struct, frozen=True, kw_only=True):
    """A piece of a text that no chunk may straddle: a section under its headings, a page.

    `headings` lead to it, outermost first; `page` counts from 1, None where there are no pages.
    """

    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None


class SourceText(Struct, frozen=True, kw_only=True):
    """One document to ingest.

    `item` tells documents of one file apart ("" where the file is one); `id` is its own id, "" where it has none.
    `source` is "" where the document names none.
    """

    parts: tuple[Part, ...]
    title: str = ""
    id: str = ""
    item: str = ""
    source: str = ""
    metadata: dict[str, Any] = {}


class Unread(Struct, frozen=True, kw_only=True):
    """What could not be read, and why: a file, a row of it (from 1), or some of its pages."""

    file: str
    reason: str
    row: int | None = None


class Found(Struct, frozen=True, kw_only=True):
    """A file to read: `name` is its path under the folder, with slashes; `size` in bytes."""

    path: Path
    name: str
    size: int
