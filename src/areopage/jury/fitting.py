"""Cases that are too long for a judge: their documents are cut, the last ones first, so that the prompt fits into the window.

The rule is that of `ContextBudget.fit`: whole documents in order, up to the first that does not fit; the very first one is cut.
All criteria of a judge are shown the same documents, those that fit beside the longest of its prompts. A case that does not fit
without its documents keeps them all; its calls are not sent, and each is an outcome that says why.
"""

from collections.abc import Mapping, Sequence

from msgspec import structs

from areopage.cases import Case, Document, Persona
from areopage.criteria import Criterion, PromptSizer
from areopage.jury.judges import Judge
from areopage.models import Gauge, answer_limit
from areopage.text import byte_length

ANSWER_TOKENS = 512
"""Tokens that are left for an answer where documents are cut and no option limits it."""
_AROUND = 80  # bytes of a document's markers


class Fitting:
    """Cuts the documents of cases for one judge; a judge whose window is not known is shown all of them."""

    def __init__(
        self, judge: Judge, gauge: Gauge | None, personas: Mapping[str, Persona], sizer: PromptSizer | None = None
    ) -> None:
        """Find what the judge's window holds, in the pass where that is least."""
        room = [
            size
            for options in judge.pass_options
            if gauge is not None and (size := gauge.holds(options, min(answer_limit(options) or ANSWER_TOKENS, ANSWER_TOKENS)))
        ]
        self._holds = min(room, default=None)
        self._judge, self._sizer = judge, sizer or PromptSizer(personas)

    @property
    def is_needed(self) -> bool:
        """Whether any case may have to be cut."""
        return self._holds is not None

    def fitted(self, case: Case, criteria: Sequence[Criterion], *, joint: bool = False) -> Case:
        """The case with as many of its documents as fit; the case itself where all do."""
        judged = [criterion for criterion in criteria if self._judge.may_judge(criterion)]
        if self._holds is None or not case.documents or not judged:
            return case
        bare = structs.replace(case, documents=())
        sizer, scopes = self._sizer, {criterion.scope for criterion in judged}
        if joint:
            sizes = [sizer.size(tuple(each for each in judged if each.scope == scope), bare) for scope in scopes]
        else:
            sizes = [sizer.constant((each,), bare.maturity).size + sizer.case_size(bare, each) for each in judged]
        left = self._holds - max(sizes)
        if left <= 0 or sum(map(_document_size, case.documents)) <= left:
            return case
        return structs.replace(case, documents=within(case.documents, left))


def within(documents: Sequence[Document], room: float) -> tuple[Document, ...]:
    """The documents that fit into some bytes, in order, up to the first that does not; the first one is cut if it is that one."""
    shown: list[Document] = []
    for document in documents:
        size = _document_size(document)
        if size > room:
            if not shown:
                text = document.text.encode("utf-8", "replace")[: max(0, int(room) - size + byte_length(document.text))]
                shown.append(structs.replace(document, text=text.decode("utf-8", "ignore")))
            break
        shown.append(document)
        room -= size
    return tuple(shown)


def _document_size(document: Document) -> int:
    return byte_length(document.title) + byte_length(document.text) + _AROUND
