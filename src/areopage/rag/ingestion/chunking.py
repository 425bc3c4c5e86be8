"""Source texts and their chunks: whole sentences with headings and citable ids."""

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec import Struct

from areopage.text import plain, sentences

VERSION = 3  # of the way texts are read and cut; part of what tells an unchanged file
SHORTEST_MARK = 4  # characters of the hash in an id
LONGEST_STEM = 32
OWN_ID = re.compile(r"[\w.:/#@+-]{1,64}")
# The article that a line of a law opens: "Article 12", "Article L. 123-4 -", "Art. 3 bis". French and English write it alike.
ARTICLE = re.compile(
    r"(?m)^[ \t*_>«\"“]{0,8}(?:Article|ARTICLE|Art\.|ART\.)[ \t\u00a0]{1,3}"
    r"(?:[LRDA]\.?[ \t\u00a0*]{0,2})?(?:\d|(?:[Pp]remier|PREMIER|[Uu]nique|UNIQUE|[IVXLC]{1,7})\b)"
)
LONGEST_HEADING = 120
# What stands before an article and is no text of its own: the head of a page, the title of a section.
LEAD = re.compile(r"[\s\S]{0,80}[^\s.;:!?»”)]\s*")
_SPACES = re.compile(r"[ \t\u00a0\u202f]{2,}")
_BREAKS = re.compile(r"(?:[ \t]*\n){3,}")


class TextPart(Struct, frozen=True, kw_only=True):
    """A part of a text that chunks do not cross: a section or a page.

    `headings` lead to it, outermost first; `page` counts from 1, None where there are no pages.
    """

    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None


class SourceText(Struct, frozen=True, kw_only=True):
    """One document to ingest.

    `item` tells documents of one file apart ("" where the file is one), `row` is where it stands in it (from 1); `id` is its own
    id, "" where it has none.
    `source` is "" where the document names none.
    """

    parts: tuple[TextPart, ...]
    title: str = ""
    id: str = ""
    item: str = ""
    row: int | None = None
    source: str = ""
    metadata: dict[str, Any] = {}


class Unread(Struct, frozen=True, kw_only=True):
    """An unreadable file, row (from 1) or pages of a file, with the reason."""

    file: str
    reason: str
    row: int | None = None


class SourceFile(Struct, frozen=True, kw_only=True):
    """A file to read. `name` is its path under the folder, with slashes; `size` is in bytes."""

    path: Path
    name: str
    size: int


class Chunk(Struct, frozen=True, kw_only=True):
    """A part of a document that is retrieved, shown and cited as a unit.

    `key` identifies it for good (a hash of its file, its text, and which of several equal texts there it is), `id` is what an
    answer cites; `position` counts from 0 in the document, `page` from 1.
    """

    key: str
    id: str
    text: str
    title: str
    source: str
    position: int
    page: int | None = None
    headings: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}

    @property
    def point(self) -> str:
        """The id of the chunk's point in the vector store."""
        return str(UUID(self.key[:32]))

    @property
    def embedded(self) -> str:
        """The text to embed: title, headings and text."""
        path = [name for name in dict.fromkeys((self.title, *self.headings)) if name and not self.text.startswith(name)]
        return f"{' > '.join(path)}\n{self.text}" if path else self.text


class Cutting(Struct, frozen=True, kw_only=True):
    """How texts are cut: `size` and `overlap` in characters, overlap < size; `language` "fr" or "en"."""

    size: int
    overlap: int
    language: str


def cut(document: SourceText, file: str, stem: str, cutting: Cutting) -> Iterator[Chunk]:
    """Cut a document into chunks, in order; `stem`, the file's name without its ending, begins the ids of its chunks."""
    pieces = list(_pieces(document.parts, cutting))
    own_id = document.id if OWN_ID.fullmatch(document.id) else ""
    seen: Counter[str] = Counter()
    for position, (text, part, headings) in enumerate(pieces):
        seen[text] += 1
        key = sha256("\0".join((file, document.item, str(seen[text]), text)).encode("utf-8", "replace")).hexdigest()
        mark = key[:SHORTEST_MARK]
        yield Chunk(
            key=key,
            id=own_id if own_id and len(pieces) == 1 else f"{own_id or slug(document.id or stem)}-{mark}",
            text=text,
            title=document.title or stem,
            source=document.source or file,
            position=position,
            page=part.page,
            headings=headings,
            metadata=document.metadata,
        )


def slug(name: str) -> str:
    """Convert a name to an id prefix: plain words with hyphens."""
    words = plain(name).encode("ascii", "ignore").decode().split()
    short = ""
    for word in words:
        longer = f"{short}-{word}" if short else word[:LONGEST_STEM]
        if len(longer) > LONGEST_STEM:
            break
        short = longer
    return short or "doc"


def _pieces(parts: tuple[TextPart, ...], cutting: Cutting) -> Iterator[tuple[str, TextPart, tuple[str, ...]]]:
    """The texts of all parts with the headings that lead to them; an article begins a new one, and goes on over pages."""
    article = ""
    for part in parts:
        if part.page is None:
            article = ""
        text = _BREAKS.sub("\n\n", _SPACES.sub(" ", part.text.replace("\r\n", "\n").replace("\r", "\n")))
        starts = [match.start() for match in ARTICLE.finditer(text)]
        led = bool(starts) and LEAD.fullmatch(text[: starts[0]].lstrip()) is not None
        cuts = [0, *starts[led:]]
        for place, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(text)], strict=True)):
            body = text[start:end]
            if place or led:
                line = text[starts[place - (not led)] :].lstrip().partition("\n")[0].strip(' \t*_>«"“»”')
                article = line if len(line) <= LONGEST_HEADING else ""
            headings = (*part.headings, article) if article and article not in part.headings else part.headings
            for piece in _filled(_units(body, cutting), cutting):
                yield piece, part, headings


def _units(text: str, cutting: Cutting) -> Iterator[str]:
    """The sentences of a text with the marks between them, none longer than a chunk; put together they are the text."""
    begin = 0
    for span in sentences(text, cutting.language):
        yield from _short(text[begin : span.end], cutting.size)
        begin = span.end
    if text[begin:].strip():
        yield from _short(text[begin:], cutting.size)


def _short(unit: str, size: int) -> Iterator[str]:
    """A sentence in pieces of at most `size` characters, cut between words; a longer run without spaces is no word."""
    begin = 0
    while len(unit) - begin > size:
        space = max(unit.rfind(mark, begin + 1, begin + size + 1) for mark in (" ", "\n", "\t"))
        end = space if space > begin else begin + size
        yield unit[begin:end]
        begin = end
    yield unit[begin:]


def _filled(units: Iterator[str], cutting: Cutting) -> Iterator[str]:
    """Chunks of as many units as there is room for, each beginning with the end of the one before it."""
    text = ""
    fresh = False
    for unit in units:
        if fresh and len(text) + len(unit) > cutting.size:
            yield text.strip()
            text = _tail(text, min(cutting.overlap, cutting.size - len(unit)), cutting.language)
            fresh = False
        text += unit
        fresh = fresh or bool(unit.strip())
    if fresh:
        yield text.strip()


def _tail(text: str, room: int, language: str) -> str:
    """The last sentences of a text that fit into `room` characters; where none does, its last words; "" without room."""
    if room <= 0:
        return ""
    end = text.rstrip()
    for span in sentences(end[-2 * room :], language)[1:]:
        if span.end - span.start <= room and len(end) - (max(0, len(end) - 2 * room) + span.start) <= room:
            return end[max(0, len(end) - 2 * room) + span.start :]
    tail = end[-room:]
    space = re.search(r"\s", tail)
    return tail[space.end() :] if space else ""
