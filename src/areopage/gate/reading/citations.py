"""Find the documents that an answer cites in any form, and cited documents that do not exist.

| form | read as |
|---|---|
| `[doc1]` `(doc1)` `【doc1】` `[id: doc1]` `[doc1, doc2]` `[1][2]` `[1-3]` | an id, else a title, else a document's position |
| `[1]` `【1†source】` `[^1]` `^1` | the same; in round brackets a bare number is none, since (1) counts and (2019) dates |
| `[Document 2]` `(source 2)` `Document 2` | the same |
| `(voir doc-3)` `Source : doc-3` `{doc-3}` | an id that has letters and digits, anywhere |
| `[title](https://example.org/page)`, the link alone | the source of a document |
| `¹` | a document's position |

Letter case, accents, spaces and punctuation of ids and titles do not matter where no id is written exactly so.
A citation of what does not exist is only seen in a form that cannot be something else: a number in square brackets, `[id: ...]`,
a word such as document with a number in square brackets, or what is written like the ids of the documents at hand. One that
a document has in the same form was copied with the text around it. Links, `[sic]`, `[...]`, years and exponents are no citations.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from areopage.cases import Document
from areopage.text import Span, plain, starts_of, unaccented

_MOST_SPANS = 50
_MOST_LOOKED_UP = 50  # unknown ones that are looked for in the documents; further ones count as unknown
_MOST_LABELS = 2_000  # what is read of an answer that is nothing but citations
_LONGEST_RANGE = 20

_SQUARE = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")
_LENS = re.compile(r"【([^【】\n]{1,200})】")
_ROUND = re.compile(r"\(([^()\n]{1,200})\)")
_RAISED = re.compile(r"\^([0-9]{1,3})(?![\w^])")
_BEFORE_RAISED = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?»”)\]])\Z")
_WORDS = r"(?:documents?|docs?\.?|sources?|passages?|extraits?|excerpts?|chunks?|r[ée]f(?:[ée]rences?|erences?|\.)?)"
_BARE = re.compile(
    r"(?<![\[(【])\b(?:documents?|doc|passages?|sources?|extraits?|excerpts?) ?(?:n° ?)?([0-9]{1,3})\b", re.IGNORECASE
)
_LED = re.compile(rf"(?:(?P<id>(?:doc(?:ument)?[ _-]?)?id)\s*[:=]|{_WORDS}\s*(?:n°|no\.|#|:)?)\s*(?P<rest>\S.*)", re.IGNORECASE)
_RANGE = re.compile(r"(?P<first>[0-9]{1,3})\s?[-–]\s?(?P<last>[0-9]{1,3})")
_PARTED = re.compile(r"[,;&+]|\s(?:et|and)\s")
_NUMBER = re.compile(r"[1-9][0-9]{0,2}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_UUID_LENGTH = 36
_DIGITS = re.compile(r"[0-9]+")


_TOKEN = re.compile(r"(?<![\w./@-])(?=[\w.-]*[0-9])[^\W_][\w.-]{2,80}(?<=[^\W_])(?![\w/@]|[.-]\w)")
_DISTINCTIVE = re.compile(r"(?=.*[0-9])(?=.*[^\W\d_]{2}).{4,}", re.DOTALL)
_SHORTEST_SOURCE = 6  # characters of a source that is a citation wherever it stands
_SUPERSCRIPT = re.compile(r"[¹²³⁰⁴-⁹]{1,3}(?![\w¹²³⁰⁴-⁹])")


class Citations(Struct, frozen=True, kw_only=True):
    """What an answer cites: the ids in its order, every citation of a document, and what does not exist with its first span."""

    cited_ids: tuple[str, ...] = ()
    existing: tuple[tuple[str, Span], ...] = ()
    unknown: tuple[tuple[str, Span], ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        """The citations of documents that exist."""
        return tuple(span for _, span in self.existing)

    @property
    def known_share(self) -> float | None:
        """The share of the cited ids that exist; None where nothing is cited."""
        total = len(self.cited_ids) + len(self.unknown)
        return len(self.cited_ids) / total if total else None


class _Names:
    """The names that documents go by; what takes longer is only made ready when something is not found by its exact id."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self._exact = {document.id for document in documents}
        self.distinctive = {id for id in self._exact if distinctive(id)}
        self._plain: dict[str, str] | None = None
        self._shapes: set[str] | None = None

    def find(self, label: str) -> str | None:
        """The id of the document that goes by this id, title or position; None where none does."""
        if label in self._exact:
            return label
        if self._plain is None:
            self._plain = {}
            for document in self.documents:
                self._plain.setdefault(plain(document.id), document.id)
            for document in self.documents:
                self._plain.setdefault(plain(document.title), document.id)
            self._plain.pop("", None)
        id = self._plain.get(plain(label))
        if id is None and _NUMBER.fullmatch(label) and int(label) <= len(self.documents):
            id = self.documents[int(label) - 1].id
        return id

    def written_like_an_id(self, label: str) -> bool:
        """Whether a label differs from a document's id in its digits alone, or is a UUID where ids are."""
        if self._shapes is None:
            ids = [document.id for document in self.documents if _DIGITS.search(document.id) and not document.id.isdigit()]
            self._shapes = {_shape(id) for id in ids}
        return _shape(label) in self._shapes


def distinctive(id: str) -> bool:
    """Whether an id is no word or number of a text: it has letters and digits."""
    return _DISTINCTIVE.fullmatch(id) is not None


def _shape(label: str) -> str:
    return "a uuid" if len(label) == _UUID_LENGTH and _UUID.fullmatch(label) else _DIGITS.sub("0", label.casefold())


def citations_of(response: str, documents: Sequence[Document]) -> Citations:
    """The citations of an answer; linear in the answer, and in the documents where it cites what does not exist."""
    names = _Names(documents)
    existing: list[tuple[str, Span]] = []
    ids: dict[str, None] = {}
    unknown: dict[str, Span] = {}
    looked_up = 0
    for label, id, start, end in _labels(response, names):
        span = Span(response[start:end], start, end)
        if id is not None:
            ids[id] = None
            if len(existing) < _MOST_SPANS:
                existing.append((id, span))
        elif label not in unknown and len(unknown) < _MOST_SPANS:
            looked_up += 1
            if looked_up > _MOST_LOOKED_UP or not any(span.text in document.text for document in documents):
                unknown[label] = span
    return Citations(cited_ids=tuple(ids), existing=tuple(existing), unknown=tuple(unknown.items()))


def exact_ids(response: str, documents: Sequence[Document]) -> Citations:
    """The documented reading: a text in square brackets is an id if it is exactly the id of a document."""
    ids = {document.id for document in documents}
    cited = [match for match in re.finditer(r"\[([^\[\]]{1,200})\]", response) if match[1] in ids]
    existing = tuple((match[1], Span(match.group(), *match.span())) for match in cited[:_MOST_SPANS])
    return Citations(cited_ids=tuple(dict.fromkeys(match[1] for match in cited)), existing=existing)


def _labels(response: str, names: _Names) -> Iterator[tuple[str, str | None, int, int]]:
    """Each citation: how it is written, the id that it means (None: of nothing that exists), its span."""
    seen: dict[tuple[str, bool], list[tuple[str, str | None]]] = {}
    taken = bytearray(len(response))
    for sign, pattern, square in (("[", _SQUARE, True), ("【", _LENS, True), ("(", _ROUND, False)):
        for match in pattern.finditer(response) if sign in response else ():
            key = (match[1], square)
            if key not in seen:
                if len(seen) == _MOST_LABELS:
                    break
                seen[key] = _read(match[1].strip(), names, square=square)
            for label, id in seen[key]:
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
                yield label, id, match.start(), match.end()
    yield from (citation for citation in _anywhere(response, names) if not taken[citation[2]])
    for match in _SUPERSCRIPT.finditer(response) if not response.isascii() else ():
        if _BEFORE_RAISED.search(response[max(0, match.start() - 3) : match.start()]):
            number = str(int(unaccented(match.group())))
            yield number, names.find(number), match.start(), match.end()
    for match in _RAISED.finditer(response) if "^" in response else ():
        if _BEFORE_RAISED.search(response[max(0, match.start() - 3) : match.start()]):
            yield from _if_found(match, names)
    for match in _BARE.finditer(response):
        yield from _if_found(match, names)


def _anywhere(response: str, names: "_Names") -> Iterator[tuple[str, str | None, int, int]]:
    for document in names.documents:
        source = document.source
        for start in starts_of(source, response, _MOST_SPANS) if len(source) >= _SHORTEST_SOURCE else ():
            yield document.id, document.id, start, start + len(source)
    if not names.distinctive:
        return
    for match in _TOKEN.finditer(response):
        label = match.group()
        if label in names.distinctive:
            yield label, label, match.start(), match.end()
        elif distinctive(label) and names.written_like_an_id(label):
            yield label, names.find(label), match.start(), match.end()


def _if_found(match: re.Match[str], names: _Names) -> Iterator[tuple[str, str | None, int, int]]:
    id = names.find(match[1])
    if id is not None:
        yield match[1], id, match.start(), match.end()


def _read(content: str, names: _Names, *, square: bool) -> list[tuple[str, str | None]]:
    content = content.partition("†")[0].removeprefix("^").strip("\"'`«» \u00a0")
    whole = _one(content, names, square=square)
    if whole is not None and whole[1] is not None:
        return [whole]
    span = _RANGE.fullmatch(content) if square else None
    if span and 0 < int(span["first"]) < int(span["last"]) <= int(span["first"]) + _LONGEST_RANGE:
        numbers = map(str, range(int(span["first"]), int(span["last"]) + 1))
        return [(number, names.find(number)) for number in numbers]
    items = [item.strip() for item in _PARTED.split(content)]
    if len(items) == 1:
        return [whole] if whole is not None else []
    read = [_one(item, names, square=square) for item in items if item]
    if all(item.isdigit() for item in items) and None in read:
        return []  # [0, 1] is an interval
    return [label for label in read if label is not None]


def _one(label: str, names: _Names, *, square: bool) -> tuple[str, str | None] | None:
    if not label:
        return None
    if square or not label.isdigit():
        id = names.find(label)
        if id is not None:
            return label, id
    led = _LED.fullmatch(label)
    if led:
        rest = led["rest"].strip("\"'`«» ")
        id = names.find(rest)
        if id is not None:
            return label, id
        if square and (led["id"] or _NUMBER.fullmatch(rest)):
            return rest if led["id"] else label, None
    if names.written_like_an_id(label) or (square and _NUMBER.fullmatch(label)):
        return label, None
    return None
