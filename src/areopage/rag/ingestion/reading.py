"""Select a folder's readable files and read their texts: Markdown, PDF, plain text and rows of JSON Lines."""

import os
import re
import stat
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct

from areopage.cases import BadRow, find_encoding, read_jsonl, refuse_binary
from areopage.errors import DatasetError
from areopage.rag.ingestion.chunking import SourceFile, SourceText, TextPart, Unread
from areopage.rag.ingestion.reading_pdf import read_pdf
from areopage.yaml_document import CoreLoader

_FRONT = re.compile(r"\A---[ \t]*\n(?:(.*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_NAMES = ("title", "source", "id")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
LONGEST_FRONT = 20_000  # characters: each chunk carries it
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


def read_markdown(text: str, file: SourceFile) -> SourceText:
    """A Markdown file as a document: `title`, `source` and `id` of the front matter are its own, other keys metadata."""
    front, body = _front_matter(text, file)
    parts = tuple(_sections(body))
    first = next((part.headings[0] for part in parts if part.headings), "")
    title, source, id = (str(front.pop(name, None) or "") for name in _NAMES)
    return SourceText(parts=parts, title=title or first, source=source, id=id, metadata=front)


def _front_matter(text: str, file: SourceFile) -> tuple[dict[str, Any], str]:
    matter = _FRONT.match(text[:LONGEST_FRONT])
    if matter is None:
        return {}, text
    try:
        front = matter[1] or ""
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(front, yaml.SafeLoader)):
            # a few lines of aliases of aliases stand for millions of values
            raise DatasetError(f"{file.path}: the front matter has aliases (*name): write the values out")
        data = yaml.load(front, CoreLoader)  # noqa: S506 - a safe loader
        written = yaml.load(front, yaml.BaseLoader)  # noqa: S506 - texts alone
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DatasetError(f"{file.path}: the front matter is not YAML ({reason})") from None
    if data is None:
        return {}, text[matter.end() :]
    if not isinstance(data, dict):
        return {}, text  # two rules with a text between them
    # what names a document is taken as it is written: `0123` is no number
    names = {name: written[name] for name in _NAMES if isinstance(written.get(name), str)}
    return {str(key): _plain(value) for key, value in data.items()} | names, text[matter.end() :]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _sections(text: str) -> list[TextPart]:
    """The sections in order; each keeps its own heading as its first line, and one without text is left out.

    A `#` inside a code block is no heading.
    """
    parts: list[TextPart] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence, titled = "", 0

    def close() -> None:
        if any(line.strip() for line in lines[titled:]):
            parts.append(TextPart(text="\n".join(lines).strip("\n"), headings=tuple(name for _, name in path)))
        lines.clear()

    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading is not None:
            close()
            name = heading[2].strip().rstrip("#").strip() or heading[2].strip()
            path[:] = [(level, above) for level, above in path if level < len(heading[1])]
            path.append((len(heading[1]), name))
            lines.append(name)
            titled = 1
        else:
            lines.append(line)
    close()
    return parts


class RowFields(Struct, frozen=True, kw_only=True):
    """The document's fields in a JSON object; others become metadata."""

    text: str = "text"
    id: str = "id"
    title: str = "title"
    source: str = "source"
    metadata: str = "metadata"


def find_files(folder: Path) -> tuple[list[SourceFile], list[Unread]]:
    """Find a folder's readable files by name, and others with reasons.

    Hidden ones are passed over. A link is followed to a file inside the folder alone, never to another folder: no circle, and
    nothing gets into a collection that was not put into the folder.
    """
    if folder.is_file():
        size = folder.stat().st_size
        reason = _unfit(folder, size)
        if reason:
            return [], [Unread(file=folder.name, reason=reason)]
        return [SourceFile(path=folder, name=folder.name, size=size)], []
    if not folder.is_dir():
        raise DatasetError(f"there is no folder {folder}: name one that holds documents")
    readable: list[SourceFile] = []
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
                readable.append(SourceFile(path=path, name=_name(path, folder), size=status.st_size))
    unread += [Unread(file=_name(Path(error.filename), folder), reason=f"cannot be read: {error.strerror}") for error in closed]
    return sorted(readable, key=lambda file: file.name), unread


def read_documents(file: SourceFile, fields: RowFields) -> Iterator[SourceText | Unread]:
    """Read a file's documents; JSON Lines use bounded memory."""
    kind = KINDS[file.path.suffix.lower()]
    if kind == ROWS:
        yield from _rows(file, fields)
    elif kind == PDF:
        yield from read_pdf(file)
    else:
        refuse_binary(file.path)
        if kind == HTML:
            from areopage.rag.ingestion.reading_html import declared_encoding, read_html

            encoding = declared_encoding(file.path.read_bytes()) or find_encoding(file.path)
            yield read_html(file.path.read_text(encoding=encoding))
            return
        text = file.path.read_text(encoding=find_encoding(file.path))
        yield read_markdown(text, file) if kind == MARKDOWN else SourceText(parts=(TextPart(text=text),))


def _rows(file: SourceFile, fields: RowFields) -> Iterator[SourceText | Unread]:
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
        part, number = TextPart(text=text), row.number
        yield SourceText(parts=(part,), id=id, title=title, source=source, item=item, row=number, metadata=metadata)


def _written(value: object) -> str:
    """A field's value as text: an id may be a number."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return str(value) if isinstance(value, int | float) else msgspec.json.encode(value).decode()


def _unfit(path: Path, size: int, mode: int | None = None) -> str:
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
