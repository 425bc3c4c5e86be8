"""The score of an answer's sources: precise citations that the documents contain.

A citation is precise where it says where to look: an article, section, law, ruling, numbered or named document, or link. It is
held where a document has the same reference, or the document itself is meant (by its number, id or title). The first part of a
title (Code civil, article 45) names a work that is held. u is the share of the answer's figures (percentages, amounts, durations,
dates) that neither a document nor the question holds; figures inside a citation do not count.

    nothing cited                                            0
    only that there is a source (selon la loi)               2
    cited, and none of the precise ones (of all, where none is precise) is in the documents    3
    a Sources section in which no reference is known         4
    named without precision, and held                        5 - u
    precise, and not all citations are held                  7 + share of citations that are held - 2 * u, at least 7
    precise and all held; an article without its work        8 - 2 * u, at least 7
    precise and all held                                     10 - 2 * u

Without documents nothing can be verified: 7 for precise citations, 5 for named ones. Whether a reference that is held concerns
the matter is not seen.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from areopage.cases import Case, Document
from areopage.jury.rules.heading_lines import sections
from areopage.jury.rules.parameters import AnswerQualityRules
from areopage.scoring import Scored
from areopage.text import Reference, TextFigure, figures, plain, references, supports

# A letter may be written with its accents apart (NFD).
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*+)++")


class PlainText:
    """A text in its plain form that keeps the positions of its words."""

    def __init__(self, text: str) -> None:
        """Make the plain form; linear in the text."""
        words: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._offsets: list[int] = []
        offset = 1
        for match in _WORD.finditer(text):
            for word in plain(match.group()).split():
                words.append(word)
                self._spans.append(match.span())
                self._offsets.append(offset)
                offset += len(word) + 1
        self._text = f" {' '.join(words)} "

    def find(self, phrase: str, start: int = 0) -> tuple[int, int] | None:
        """The span (start, end) of a phrase as whole words; None where the text has no such phrase."""
        wanted = plain(phrase)
        first = bisect_right(self._spans, (start, -1))
        if not wanted or first == len(self._spans):
            return None
        at = self._text.find(f" {wanted} ", self._offsets[first] - 1)
        if at < 0:
            return None
        begin = bisect_right(self._offsets, at + 1) - 1
        return self._spans[begin][0], self._spans[begin + wanted.count(" ")][1]

    def __contains__(self, phrase: str) -> bool:
        return self.find(phrase) is not None


_NO_SOURCE = re.compile(r"(?:aucune?|neant|none|nothing|no|non|n a|sans|inconnue?s?|unknown|not)\b")
_TITLE_PARTS = re.compile(r"[,:;(–—]|[ \u00a0]-[ \u00a0]|\b(?:articles?|arts?\.|sections?)\b", re.IGNORECASE)


class SourceCitation(Struct, frozen=True, kw_only=True):
    """What an answer cites: `text` is exactly `response[start:end]`; `supported` says whether a document has it.

    `named` is false where only the existence of a source is said (selon la loi); `names_work` is false where a number stands
    for a part of a work that is not told (article 45).
    """

    name: str
    precise: bool
    named: bool
    names_work: bool
    supported: bool
    text: str
    start: int
    end: int


class Holdings:
    """The references and figures in a case's documents, normalised for comparison."""

    def __init__(self, documents: Sequence[Document], question: str) -> None:
        """Read the documents; figures of the question need no source."""
        self._documents = documents
        texts = [f"{document.title}\n{document.text}" for document in documents]
        self._references = {(reference.kind, reference.normalised) for text in texts for reference in references(text)}
        self._plain = [
            PlainText(f"{text}\n{document.id}\n{document.source}") for text, document in zip(texts, documents, strict=True)
        ]
        self._figures: dict[tuple[str, str], list[TextFigure]] = {}
        for text in (*texts, question):
            for figure in figures(text):
                self._figures.setdefault((figure.kind, figure.unit), []).append(figure)

    def hold(self, reference: Reference) -> bool:
        """Whether a document contains a reference or is the cited document."""
        name = reference.normalised
        if reference.kind == "marker":  # such as "doc 2": a document's id, or its number, counted from 1
            number = re.fullmatch(r"(?:doc|document|source|ref)? ?(?:n|no|number)? ?([0-9]{1,4})", name)
            is_number = number is not None and 1 <= int(number[1]) <= len(self._documents)
            return is_number or any(name == plain(document.id) for document in self._documents)
        if reference.kind == "link":
            return any(name in document.source.lower() or name in document.text.lower() for document in self._documents)
        if reference.kind == "source":
            return any(name in text for text in self._plain)
        if reference.kind == "agreement":
            # Who writes "CCN" without more means the one that is spoken of.
            agreements = {agreement for kind, agreement in self._references if kind == "agreement"}
            return bool(agreements) and (name in agreements or name == "agreement" or "agreement" in agreements)
        # The text of section 12 holds section 12(3).
        return {(reference.kind, name), (reference.kind, name.partition("(")[0])} & self._references != set()

    def support(self, figure: TextFigure) -> bool:
        """Whether a document or the question contains a figure."""
        return any(supports(source_figure, figure) for source_figure in self._figures.get((figure.kind, figure.unit), ()))


def judge_sources(case: Case, response: str, language: str, rules: AnswerQualityRules) -> Scored:
    """Judge the citations of a response, quoted in its order.

    Args:
        case: its documents are what citations are looked up in.
        response: a text with at least one word.
        language: "fr" or "en", of the explanation.
        rules: which headings open the section of the sources.
    """
    holdings = Holdings(case.documents, case.prompt_text)
    present = sections(response, {section.name: section.aliases for section in rules.sections})
    ranges = [(section.heading.body, section.end) for section in present if section.name == rules.sources_section]
    listed = ranges[0] if ranges else (len(response), len(response))
    citations = tuple(_citations(response, case.documents, holdings, listed))
    cited = [citation for citation in citations if citation.named]
    places = [(citation.start, citation.end) for citation in citations]
    stated = [
        figure for figure in figures(response) if not any(figure.start < end and start < figure.end for start, end in places)
    ]
    bare = [figure for figure in stated if not holdings.support(figure)] if case.documents else []
    share = len(bare) / len(stated) if stated else 0.0
    content = plain(response[listed[0] : listed[1]])
    names_some = bool(content) and _NO_SOURCE.match(content) is None  # and does not say that there is none
    score = _score(citations, share, listed=names_some, documents=bool(case.documents))
    return Scored(
        explanation=_explain(cited, bare, score, language, documents=bool(case.documents)),
        score=round(score, 1),
        evidence=tuple(dict.fromkeys(citation.text for citation in citations))[: rules.extracts],
    )


def _score(citations: Sequence[SourceCitation], bare_share: float, *, listed: bool, documents: bool) -> float:
    """The score, 0 to 10, by the table in the module's docstring."""
    cited = [citation for citation in citations if citation.named]
    precise = [citation for citation in cited if citation.precise]
    if not cited:
        return 4.0 if listed else 2.0 if citations else 0.0
    if not documents:
        return 7.0 if precise else 5.0
    if not any(citation.supported for citation in precise or cited):
        return 3.0
    if not precise:
        return 5 - bare_share
    share = sum(citation.supported for citation in cited) / len(cited)
    if share < 1:
        return max(7.0, 7 + share - 2 * bare_share)
    return max(7.0, (10 if any(citation.names_work for citation in cited) else 8) - 2 * bare_share)


def _citations(
    response: str, documents: Sequence[Document], holdings: Holdings, listed: tuple[int, int]
) -> Iterator[SourceCitation]:
    """The citations of a response in order, each once."""
    citations = []
    for reference in references(response):
        is_supported = holdings.hold(reference)
        citations.append(
            SourceCitation(
                name=f"{reference.kind} {reference.normalised}",
                # A named source is as good as an article where it is one of the documents.
                precise=reference.precise or (reference.kind == "source" and is_supported),
                named=reference.kind != "mention",
                names_work=reference.kind not in ("article", "section", "mention"),
                supported=is_supported,
                text=reference.text,
                start=reference.start,
                end=reference.end,
            )
        )
    citations += _titles(response, documents, listed)
    seen: set[str] = set()
    for citation in sorted(citations, key=lambda place: (place.start, place.end)):
        if citation.name not in seen:
            seen.add(citation.name)
            yield citation


def _titles(response: str, documents: Sequence[Document], listed: tuple[int, int]) -> Iterator[SourceCitation]:
    """The documents that a response cites by their title or id, and the works that it names by the first part of a title."""
    text = PlainText(response)
    for document in documents:
        work = _TITLE_PARTS.split(document.title, maxsplit=1)[0]
        names = [(document.title, True), (document.id, True)]
        names += [(work, False)] if work != document.title and len(plain(work).split()) > 1 else []
        for name, precise in names:
            # A short name without a digit may be a phrase like another: it counts only where the sources are listed.
            telling = len(plain(name).split()) > 2 or (len(name) > 2 and any(map(str.isdigit, name)))
            place = text.find(name, 0 if telling else listed[0])
            if place is not None and (telling or place[1] <= listed[1]):
                start, end = place
                yield SourceCitation(
                    name=f"title {plain(name)}",
                    precise=precise,
                    named=True,
                    names_work=True,
                    supported=True,
                    text=response[start:end],
                    start=start,
                    end=end,
                )


def _explain(cited: Sequence[SourceCitation], bare: Sequence[TextFigure], score: float, language: str, *, documents: bool) -> str:
    precise = sum(citation.precise for citation in cited)
    lost = _quoted([citation.text for citation in cited if not citation.supported])
    figures_lost = _quoted([figure.text for figure in bare])
    if language == "fr":
        if not cited:
            return "Aucune source n'est citée." if score == 0 else "Des sources sont évoquées, sans référence."
        parts = [f"Références citées\u00a0: {len(cited)}, dont {precise} précises."]
        if not documents:
            return f"{parts[0]} Aucun document n'est fourni\u00a0: elles ne peuvent pas être vérifiées."
        parts.append(f"Introuvables dans les documents\u00a0: {lost}." if lost else "Toutes se trouvent dans les documents.")
        parts += [f"Chiffres absents des documents\u00a0: {figures_lost}."] if bare else []
    else:
        if not cited:
            return "No source is cited." if score == 0 else "Sources are mentioned without a reference."
        parts = [f"References cited: {len(cited)}, of which {precise} precise."]
        if not documents:
            return f"{parts[0]} No documents are given: they cannot be verified."
        parts.append(f"Not found in the documents: {lost}." if lost else "All are found in the documents.")
        parts += [f"Figures that no document holds: {figures_lost}."] if bare else []
    return " ".join(parts)


def _quoted(texts: Sequence[str], limit: int = 5) -> str:
    """The first of several quotes, each once; how many more there are."""
    quotes = list(dict.fromkeys(texts))
    more = f" (+{len(quotes) - limit})" if len(quotes) > limit else ""
    return ", ".join(quotes[:limit]) + more
