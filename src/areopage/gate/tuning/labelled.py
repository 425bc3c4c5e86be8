"""Answers that people have labelled: what thresholds are chosen by and the grounding model is fitted on."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from areopage.cases import Case, Document, fold_name

Label = Literal["yes", "partly", "no"]

_WORDS: Mapping[str, Label] = {
    **dict.fromkeys(["yes", "oui", "true", "vrai", "1", "grounded", "fondé", "fondée", "y", "o"], "yes"),
    **dict.fromkeys(["partly", "partial", "partially", "en partie", "partiellement"], "partly"),
    **dict.fromkeys(["no", "non", "false", "faux", "0", "ungrounded", "infondé", "infondée", "n"], "no"),
}
_NOT: Mapping[Label, Label] = {"yes": "no", "partly": "partly", "no": "yes"}
# Folded, as `fold_name` leaves them.
_COLUMNS: Mapping[str, frozenset[str]] = {
    "grounded": frozenset(["grounded", "fonde", "fondee"]),
    "hallucinated": frozenset(["hallucinated", "hallucination", "hallucine", "hallucinee"]),
    "unsupported": frozenset(["unsupported", "spans", "unsupportedspans"]),
    "group": frozenset(["group", "groupe", "sourceid"]),
}
_BLANKS = re.compile(r"\s+")


class Labelled(Struct, frozen=True, kw_only=True):
    """An answer with what people say of it.

    Args:
        grounded: whether the documents hold all that it says; `partly` counts as ungrounded where there are two kinds.
        unsupported: the pieces that no document holds, as (start, end) in the response.
        sentences: the same as indexes of sentences, where they were labelled so.
        group: what it shares with rows that are no independent witnesses (the same documents, say); see `unit`.
        place: where it was read, for messages.
    """

    id: str
    prompt: str
    response: str
    documents: tuple[Document, ...]
    grounded: Label
    unsupported: tuple[tuple[int, int], ...] = ()
    sentences: tuple[int, ...] = ()
    group: str = ""
    place: str = ""

    @property
    def ungrounded(self) -> bool:
        """Whether it should not be delivered."""
        return self.grounded != "yes"

    @property
    def unit(self) -> str:
        """The group; where none is named, the question with its documents: asked again, they are no second witness."""
        if self.group:
            return f"group {self.group}"
        return f"question {_digest(self.prompt, *(document.text for document in self.documents))}"

    @property
    def content(self) -> str:
        """A digest of its texts (24 hexadecimal digits), independent of the file and of line breaks."""
        return _digest(self.prompt, self.response, *(document.text for document in self.documents))


def response_digest(response: str) -> str:
    """A digest of a response alone (24 hexadecimal digits), independent of line breaks and of how its documents were given."""
    return _digest(response)


def _digest(*texts: str) -> str:
    return hashlib.sha256(msgspec.json.encode([" ".join(text.split()) for text in texts])).hexdigest()[:24]


def labelled_of(case: Case, place: str = "") -> Labelled:
    """The labelled row that a case of a dataset is: its label stands in columns that no case has.

    Read are `grounded` (yes, partly, no) or `hallucinated` (true, false), `unsupported` or `spans` (a list of {start, end}, of
    [start, end] or of sentence indexes) and `group` or `source_id`.

    Raises:
        ValueError: there is no response or no label, or one that cannot be read; the message says what to write.
    """
    cells = _cells(case.metadata)
    if not case.response:
        raise ValueError("no response: a label requires a response")
    spans, sentences = _pieces(cells.get("unsupported"), len(case.response))
    group = cells.get("group")
    return Labelled(
        id=case.id,
        prompt=case.prompt_text,
        response=case.response,
        documents=case.documents,
        grounded=_label(cells),
        unsupported=spans,
        sentences=sentences,
        group="" if group is None else str(group).strip(),
        place=place,
    )


def _cells(metadata: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in metadata.items():
        folded = fold_name(name)
        for ours, theirs in _COLUMNS.items():
            if folded in theirs:
                fields.setdefault(ours, value)
    return fields


def _label(cells: Mapping[str, Any]) -> Label:
    for column in ("grounded", "hallucinated"):
        if column in cells:
            label = _WORDS.get(_BLANKS.sub(" ", str(cells[column])).strip().lower().removesuffix(".0"))
            if label is None:
                allowed = "yes, partly or no" if column == "grounded" else "true or false"
                raise ValueError(f"{column}: {str(cells[column])[:40]!r} is not a label: use {allowed}")
            return label if column == "grounded" else _NOT[label]
    raise ValueError("no label: add a column `grounded` (yes, partly, no) or `hallucinated` (true, false)")


def _pieces(value: Any, length: int) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    if not isinstance(value, list):
        return (), ()
    spans: list[tuple[int, int]] = []
    indexes: list[int] = []
    for item in value:
        if isinstance(item, int) and not isinstance(item, bool):
            indexes.append(item)
            continue
        ends = (item.get("start"), item.get("end")) if isinstance(item, dict) else tuple(item) if isinstance(item, list) else ()
        if len(ends) != 2 or not all(isinstance(end, int) for end in ends) or not 0 <= ends[0] < ends[1] <= length:
            raise ValueError("unsupported: write a list of {start, end} in the response, or of indexes of sentences")
        spans.append((ends[0], ends[1]))
    return tuple(spans), tuple(indexes)
