"""Markdown: sections under their headings, and front matter."""

import re
from datetime import date
from typing import Any

import yaml

from areopage.errors import DatasetError
from areopage.rag.ingestion.chunking import Found, Part, SourceText

_FRONT = re.compile(r"\A---[ \t]*\n(?:(.*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
LONGEST_FRONT = 20_000  # characters: each chunk carries it


def read_markdown(text: str, file: Found) -> SourceText:
    """A Markdown file as a document: `title`, `source` and `id` of the front matter are its own, other keys metadata.

    Raises:
        DatasetError: the front matter is no YAML.
    """
    front, body = _front_matter(text, file)
    parts = tuple(_sections(body))
    first = next((part.headings[0] for part in parts if part.headings), "")
    title, source, id = (str(front.pop(name, None) or "") for name in ("title", "source", "id"))
    return SourceText(parts=parts, title=title or first, source=source, id=id, metadata=front)


def _front_matter(text: str, file: Found) -> tuple[dict[str, Any], str]:
    """What stands between two lines of dashes at the very beginning, and the rest."""
    found = _FRONT.match(text[:LONGEST_FRONT])
    if found is None:
        return {}, text
    try:
        front = found[1] or ""
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(front, yaml.SafeLoader)):
            # a few lines of aliases of aliases stand for millions of values
            raise DatasetError(f"{file.path}: the front matter has aliases (*name): write the values out")
        data = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DatasetError(f"{file.path}: the front matter is not YAML ({reason})") from None
    if data is None:
        return {}, text[found.end() :]
    if not isinstance(data, dict):
        return {}, text  # two rules with a text between them
    return {str(key): _plain(value) for key, value in data.items()}, text[found.end() :]


def _plain(value: object) -> object:
    """A value of YAML as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(inner) for inner in value]
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _sections(text: str) -> list[Part]:
    """The sections in order; each keeps its own heading as its first line, and one without text is left out.

    A `#` inside a code block is no heading.
    """
    parts: list[Part] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence, titled = "", 0

    def close() -> None:
        if any(line.strip() for line in lines[titled:]):
            parts.append(Part(text="\n".join(lines).strip("\n"), headings=tuple(name for _, name in path)))
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
