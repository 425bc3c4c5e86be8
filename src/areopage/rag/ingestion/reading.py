"""Select a folder's readable files and read their texts."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.readers import BadRow
from areopage.cases.text_files import find_encoding, read_jsonl, refuse_binary
from areopage.errors import DatasetError
from areopage.rag.ingestion.chunking import Found, Part, SourceText, Unread

LARGEST_TEXT = 50 * 1024 * 1024  # bytes of a file that is read at once
LARGEST_METADATA = 20_000  # bytes: each chunk carries it
LARGEST_ROWS = 4 * 1024 * 1024 * 1024  # bytes of a file that is read row by row
TEXT, MARKDOWN, HTML, PDF, ROWS = "text", "markdown", "html", "pdf", "rows"
KINDS = {
    ".txt": TEXT,
    ".text": TEXT,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".jsonl": ROWS,
    ".ndjson": ROWS,
}


class RowFields(Struct, frozen=True, kw_only=True):
    """The document's fields in a JSON object; others become metadata."""

    text: str = "text"
    id: str = "id"
    title: str = "title"
    source: str = "source"
    metadata: str = "metadata"


def find_files(folder: Path) -> tuple[list[Found], list[Unread]]:
    """Find a folder's readable files by name, and others with reasons.

    Hidden ones are passed over. A link is followed to a file inside the folder alone, never to another folder: no circle, and
    nothing gets into a collection that was not put into the folder.

    Raises:
        DatasetError: there is no such folder.
    """
    if folder.is_file():
        size = folder.stat().st_size
        reason = _unfit(folder, size)
        if reason:
            return [], [Unread(file=folder.name, reason=reason)]
        return [Found(path=folder, name=folder.name, size=size)], []
    if not folder.is_dir():
        raise DatasetError(f"there is no folder {folder}: name one that holds documents")
    found: list[Found] = []
    unread: list[Unread] = []
    inside = folder.resolve()
    closed: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=closed.append):
        linked = [name for name in folders if Path(place, name).is_symlink() and not name.startswith(".")]
        unread += [Unread(file=_name(Path(place, name), folder), reason="a link to a folder is not followed") for name in linked]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in names:
            path = Path(place, file)
            if file.startswith("."):
                continue
            try:
                status = path.stat()
            except OSError as error:
                unread.append(Unread(file=_name(path, folder), reason=f"cannot be read: {error.strerror}"))
                continue
            reason = _unfit(path, status.st_size, status.st_mode)
            if not reason and path.is_symlink() and not path.resolve().is_relative_to(inside):
                reason = "a link out of the folder is not followed"
            if reason:
                unread.append(Unread(file=_name(path, folder), reason=reason))
            else:
                found.append(Found(path=path, name=_name(path, folder), size=status.st_size))
    unread += [Unread(file=_name(Path(error.filename), folder), reason=f"cannot be read: {error.strerror}") for error in closed]
    return sorted(found, key=lambda file: file.name), unread


def read_documents(file: Found, fields: RowFields) -> Iterator[SourceText | Unread]:
    """Read a file's documents; JSON Lines use bounded memory.

    Raises:
        DatasetError: the file cannot be read at all; the message begins with its path.
    """
    kind = KINDS[file.path.suffix.lower()]
    if kind == ROWS:
        yield from _rows(file, fields)
    elif kind == PDF:
        from areopage.rag.ingestion.reading_pdf import read_pdf

        yield from read_pdf(file)
    else:
        yield _text(file, kind)


def _text(file: Found, kind: str) -> SourceText:
    """One text file as one document."""
    refuse_binary(file.path)
    text = file.path.read_text(encoding=find_encoding(file.path))
    if kind == MARKDOWN:
        from areopage.rag.ingestion.reading_markdown import read_markdown

        return read_markdown(text, file)
    if kind == HTML:
        from areopage.rag.ingestion.reading_html import read_html

        return read_html(text)
    return SourceText(parts=(Part(text=text),))


def _rows(file: Found, fields: RowFields) -> Iterator[SourceText | Unread]:
    """One document for each row of JSON Lines."""
    for row in read_jsonl(file.path):
        if isinstance(row, BadRow):
            yield Unread(file=file.name, row=row.number, reason=row.reason)
            continue
        values: dict[str, Any] = dict(zip(row.names, row.cells, strict=True))
        text = values.pop(fields.text, None)
        if not isinstance(text, str) or not text.strip():
            yield Unread(file=file.name, row=row.number, reason=f"the field {fields.text!r} holds no text")
            continue
        id, title, source = (_written(values.pop(name, "")) for name in (fields.id, fields.title, fields.source))
        inner = values.pop(fields.metadata, {})
        metadata = {**values, **inner} if isinstance(inner, dict) else {**values, fields.metadata: inner}
        if len(msgspec.json.encode(metadata)) > LARGEST_METADATA:
            reason = f"what it holds beside its text is larger than {LARGEST_METADATA:,} bytes: leave fields out"
            yield Unread(file=file.name, row=row.number, reason=reason)
            continue
        item = id or f"row {row.number}"
        yield SourceText(parts=(Part(text=text),), id=id, title=title, source=source, item=item, metadata=metadata)


def _written(value: object) -> str:
    """A field's value as text: an id may be a number."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return str(value) if isinstance(value, int | float) else msgspec.json.encode(value).decode()


def _unfit(path: Path, size: int, mode: int | None = None) -> str:
    """Why a file is not read; "" where it is."""
    if mode is not None and not stat.S_ISREG(mode):
        return "not a regular file"
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        return f"a file of another kind: give {', '.join(sorted(KINDS))}"
    limit = LARGEST_ROWS if kind == ROWS else LARGEST_TEXT
    if size > limit:
        return f"larger than {limit >> 20:,} MB: split it"
    return "" if size else "empty"


def _name(path: Path, folder: Path) -> str:
    """A path under the folder, with slashes; undecodable bytes are replaced."""
    return path.relative_to(folder).as_posix().encode("utf-8", "replace").decode("utf-8")
