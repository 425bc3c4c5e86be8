"""Citations as a reader of an answer sees them: numbers in square brackets instead of ids."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from areopage.cases import Document
from areopage.gate.reading.citations import citations_of
from areopage.text import Span

_LEADING = re.compile(
    r"\b(?:voir|cf|see|id|et|and|documents?|docs?|sources?|passages?|extraits?|excerpts?|chunks?|r[ée]f(?:[ée]rences?|erences?)?)\b",
    re.IGNORECASE,
)
_BEFORE_ID = re.compile(rf"(?:\A|[,;:&+/–-]|{_LEADING.pattern})\s*\Z", re.IGNORECASE)
_NUMBERS = re.compile(r"[0-9]+")
_WITH_NUMBER = re.compile(r"[^\W\d_]+ ?(?:n° ?)?[0-9]{1,3}")
_OPENING, _ROUND = ("[", "【"), "("


class NumberedSource(Struct, frozen=True, kw_only=True):
    """A document with the number that stands for it in a text."""

    number: int
    document: Document

    @property
    def page(self) -> int | None:
        """The page of its file, from 1; None where it tells none."""
        page = self.document.metadata.get("page")
        return page if isinstance(page, int) and not isinstance(page, bool) else None

    @property
    def section(self) -> str:
        """The headings that lead to it; "" where it tells none."""
        headings = self.document.metadata.get("headings")
        return " › ".join(map(str, headings)) if isinstance(headings, list) else ""


def numbered(
    text: str, documents: Sequence[Document], ids: Sequence[str] | None = None
) -> tuple[str, tuple[NumberedSource, ...]]:
    """A text with `[n]` in place of each citation, and the documents that the numbers stand for; other words stay.

    A citation by the document's own source, or by its title outside of square brackets, is readable and stays.

    Args:
        ids: the documents to number, which need not be cited; None: those that the text cites. The text's order goes first.
    """
    by_id = {document.id: document for document in reversed(documents)}
    # Beyond the first citations, of which the places are known, and of ids that have brackets.
    alone = re.compile(rf"\[({_any_of(by_id)})\]")
    exact = [(Span(match[0], *match.span()), [match[1]]) for match in alone.finditer(text)] if by_id else []
    within = bytearray(len(text) + 1)
    for span, _ in exact:
        within[span.start + 1 : span.end] = b"\1" * (span.end - span.start - 1)
    others = [place for place in _spans(text, documents) if not within[place[0].start]]
    spans = sorted([*others, *exact], key=lambda place: (place[0].start, -place[0].end))
    in_order = dict.fromkeys(id for _, cited in spans for id in cited if ids is None or id in ids)
    ordered = filter(by_id.__contains__, dict.fromkeys([*in_order, *(ids or ())]))
    sources = tuple(NumberedSource(number=number, document=by_id[id]) for number, id in enumerate(ordered, start=1))
    numbers = {source.document.id: source.number for source in sources}
    if not numbers:
        return text, ()
    parts: list[str] = []
    at = 0
    for span, cited in spans:
        known = [by_id[id] for id in cited if id in numbers]
        if span.start >= at and known:
            parts += [text[at : span.start], _replaced(span, known, numbers)]
            at = span.end
    return "".join([*parts, text[at:]]), sources


def _spans(text: str, documents: Sequence[Document]) -> Iterator[tuple[Span, list[str]]]:
    """The places of citations in order, of two that begin alike the longer one first, each with the ids cited there."""
    places: dict[tuple[int, int], tuple[Span, list[str]]] = {}
    for id, span in citations_of(text, documents).existing:
        places.setdefault((span.start, -span.end), (span, []))[1].append(id)
    for place in sorted(places):
        yield places[place]


def _replaced(span: Span, cited: Sequence[Document], numbers: Mapping[str, int]) -> str:
    text, ids = span.text, {document.id for document in cited}
    mark = f"[{', '.join(str(numbers[id]) for id in dict.fromkeys(document.id for document in cited))}]"
    if text in {document.source for document in cited} - ids:
        return text
    if text[0] in (*_OPENING, _ROUND):
        return _in_brackets(text, cited, numbers, mark)
    if _WITH_NUMBER.fullmatch(text) and text not in ids:
        return _NUMBERS.sub(mark, text)  # "document 2"
    return mark if text[0].isalpha() or text[0].isdecimal() else f" {mark}"


def _in_brackets(text: str, cited: Sequence[Document], numbers: Mapping[str, int], mark: str) -> str:
    """Brackets with nothing but citations become a mark; in others the ids do. A title in round brackets may be plain words."""
    square = text[0] in _OPENING
    inside = text[1:-1]
    names = [name for document in cited for name in (document.id, document.title if square else "") if name]
    rest = re.sub(rf"(?<!\w)(?:{_any_of(names)})(?!\w)", "", inside, flags=re.IGNORECASE)
    if not any(map(str.isalnum, _LEADING.sub("", _NUMBERS.sub("", rest)))):
        return mark
    by_id = {document.id.lower(): str(numbers[document.id]) for document in cited}
    replaced = 0

    def number_of(match: re.Match[str]) -> str:
        nonlocal replaced
        if match[0].isdecimal() and not _BEFORE_ID.search(inside[: match.start()]):
            return match[0]  # a page, or an article
        replaced += 1
        number = by_id.get(match[0].lower(), match[0])
        return number if square else f"[{number}]"

    shown = re.sub(rf"(?<!\w)(?:{_any_of(document.id for document in cited)})(?!\w)", number_of, inside, flags=re.IGNORECASE)
    if not replaced:
        return f"{text} {mark}" if square else text
    return text[0] + shown + text[-1]


def _any_of(names: Iterable[str]) -> str:
    """An expression for any of some names, of which one may begin as another does."""
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
