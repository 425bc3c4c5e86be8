"""The gate as a node for any LangGraph graph. Needs no extra.

graph.add_node("gate", areopage.gate_node(areopage.load_gate()))
graph.add_node("gate", areopage.gate_node(areopage.open_checker(config, ledger=ledger)))  # with judge and labels
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import msgspec
from msgspec import Struct

from areopage.cases import Document, LooseDocuments, documents_of
from areopage.errors import SubmissionError
from areopage.gate import Decision, Gate, GateConfig, GateVerdict, Reason

if TYPE_CHECKING:  # it brings the judges
    from areopage.checking.checker import Checker

BEYOND_SCORES = 1.001  # a cosine may exceed 1 by rounding


class GateUpdate(TypedDict):
    """The node's changes. `decision` is plain JSON data, which every checkpointer accepts."""

    decision: dict[str, Any]
    verdict: GateVerdict


class GateNode(Protocol):
    """A node: maps the state to changes. LangGraph wants the name of its argument."""

    def __call__(self, state: Any) -> GateUpdate:
        """Decide on the state's answer."""
        ...


def decide(
    gate: "Gate | Checker",
    prompt: str,
    response: str | None,
    documents: LooseDocuments,
    *,
    collection: str = "",
    judge: bool = True,
) -> Decision:
    """Decide on documents in any form; see `areopage.check_answer`.

    Raises:
        DatasetError: one of the documents is none.
        SubmissionError: the prompt or the response is no text.
    """
    for name, text in (("prompt", prompt), ("response", response)):
        if not isinstance(text, str) and (text is not None or name == "prompt"):
            raise SubmissionError(f"the {name} must be a text, not {type(text).__name__}")
    read = foreign(documents_of(documents), (gate if isinstance(gate, Gate) else gate.gate).config)
    if isinstance(gate, Gate):
        decision = gate.decide(prompt, response or "", read.documents)
    else:
        decision = gate.check_sync(prompt, response or "", read.documents, collection=collection, judge=judge)
    return read.remark(decision)


class ForeignDocuments(Struct, frozen=True):
    """Documents of another retriever as the gate reads them. `unusable`: a score is no number, or on another scale."""

    documents: tuple[Document, ...]
    unusable: bool

    def remark(self, decision: Decision) -> Decision:
        """The decision, which says that scores were ignored where they are unusable."""
        reasons = (*decision.reasons, Reason(code="ignored_scores", decisive=False))
        return msgspec.structs.replace(decision, reasons=reasons) if self.unusable else decision


def foreign(documents: tuple[Document, ...], config: GateConfig) -> ForeignDocuments:
    """Documents of another retriever: without scores, unless the rules compare them and all of them can be compared.

    A score that is not compared is kept in the metadata. An ignored score may be a negative cosine.
    """
    compared = config.profile == "v1_1" or config.foreign_scores == "compared"
    lowest = 0.0 if compared and config.profile != "v1_1" else -BEYOND_SCORES
    unusable = any(
        not lowest <= document.score <= BEYOND_SCORES
        if document.score is not None
        else document.metadata.get("score") not in (None, "")
        for document in documents
    )
    usable = compared and not unusable
    left = (
        documents
        if usable
        else tuple(
            document
            if document.score is None
            else msgspec.structs.replace(document, score=None, metadata={**document.metadata, "score": document.score})
            for document in documents
        )
    )
    return ForeignDocuments(left, unusable)


def gate_node(
    gate: "Gate | Checker",
    *,
    prompt: str = "question",
    response: str = "generation",
    documents: str = "documents",
    collection: str = "",
    judge: bool = True,
    on_decision: Callable[[Decision], None] | None = None,
) -> GateNode:
    """Build a LangGraph node that writes `decision` and `verdict`.

    Route on the verdict (deliver, fallback, human_review) behind it.

    Args:
        gate: a gate, or a checker, which also asks the judge and looks up labels.
        prompt, response, documents: the state's keys; a state may be a mapping or an object.
        collection: labels of answers in this collection count.
        judge: whether a checker may ask its judge.
        on_decision: called with each decision, to note it.
    """

    def node(state: Any) -> GateUpdate:
        """Decide on the state's answer."""
        texts, passages = (_text_in(state, prompt), _text_in(state, response)), _value_in(state, documents)
        decision = decide(gate, *texts, passages, collection=collection, judge=judge)
        if on_decision is not None:
            on_decision(decision)
        return {"decision": decision.to_dict(), "verdict": decision.verdict}

    return node


def _value_in(state: Any, key: str) -> Any:
    value = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    if value is None:
        raise SubmissionError(
            f"the state has no {key!r}: name the key in gate_node(gate, prompt=..., response=..., documents=...)"
        )
    return value


def _text_in(state: Any, key: str) -> str:
    """A text of the state; a message of a chat counts by its content."""
    value = _value_in(state, key)
    text = value if isinstance(value, str) else getattr(value, "content", None)
    if not isinstance(text, str):
        raise SubmissionError(f"the state's {key!r} is no text, but {type(value).__name__}")
    return text
