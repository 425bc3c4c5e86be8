"""Citations as a reader of an answer sees them: numbers in square brackets instead of ids."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from areopage.cases import Document
from areopage.gate.reading.citations import citations_of
from areopage.text import Span

_LEADING = re.compile(
    r"\b(?:voir|cf|see|id|et|and|documents?|docs?|sources?|passages?|extraits?|excerpts?|chunks?|r[ée]f(?:[ée]rences?|erences?)?)\b",
    re.IGNORECASE,
)
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
    spans = list(_spans(text, documents))
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
    shown = "".join([*parts, text[at:]])
    for id, number in numbers.items():  # beyond the first citations, of which the places are known
        shown = shown.replace(f"[{id}]", f"[{number}]")
    return shown, sources


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
    rest = inside = text[1:-1]
    for document in cited:
        for name in (document.id, document.title if square else ""):
            rest = re.sub(re.escape(name), "", rest, flags=re.IGNORECASE) if name else rest
        number = str(numbers[document.id])
        inside = re.sub(re.escape(document.id), number if square else f"[{number}]", inside, flags=re.IGNORECASE)
    if not any(map(str.isalnum, _LEADING.sub("", _NUMBERS.sub("", rest)))):
        return mark
    if inside == text[1:-1]:
        return f"{text} {mark}" if square else text
    return text[0] + inside + text[-1]
