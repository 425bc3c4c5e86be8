"""The state of a prompt in the graph, its trace, and the users' texts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from areopage.cases import Case, Document
from areopage.checking import RagConfig
from areopage.gate import Decision
from areopage.ledger import Answer, Mode, Trace, decided_trace
from areopage.rag.records import ChatPrompt, Generated
from areopage.yaml_document import read_yaml

TEXTS_FILE = Path(__file__).with_name("texts.yml")


NOT_DELIVERED: tuple[Mode, ...] = ("fallback", "human_review")
"""Modes in which the user reads a text of the configuration in place of the response."""


class Texts(Struct, frozen=True, kw_only=True):
    """Texts by language; `language` is the default."""

    fallback: Mapping[str, str]
    human_review: Mapping[str, str]
    language: str

    def no_answer(self, language: str) -> str:
        """The text for questions that the documents do not answer."""
        return self.fallback.get(language) or self.fallback[self.language]

    def held_back(self, language: str, id: str) -> str:
        """The text for an answer under human review; `id` identifies the answer."""
        text = self.human_review.get(language) or self.human_review[self.language]
        return text.replace("{id}", id)


def texts_of(config: RagConfig) -> Texts:
    """Merge a configuration's texts with the package's texts."""
    shipped: Mapping[str, Any] = read_yaml(TEXTS_FILE).data
    section = config.section.texts
    for kind, texts in (("fallback", section.fallback), ("human_review", section.human_review)):
        for language, text in texts.items():
            if not text.strip():
                raise config.fault("is empty: write what users are to read, or leave it out", "texts", kind, language)
    return Texts(
        fallback=shipped["fallback"] | section.fallback,
        human_review=shipped["human_review"] | section.human_review,
        language=config.section.language,
    )


class RagState(TypedDict, total=False):
    """The state of one prompt.

    `id`, `at`, `asked` (with the configuration's values filled in) and `language` (what to answer in) are there from the start.

    - `retrieve` adds `documents`,
    - `grade_documents` adds `relevant` and, where they are not, the `decision`,
    - `generate` adds `generated`,
    - `evaluate_response` adds `response` (as the gate read it: with the ids that the model cited apart from its text),
      `decision`, `panel` and `judgments` (the keys of what a judge said), `gate_seconds` and, where the response is delivered,
      `delivered` and `mode`,
    - `fallback` and `human_review` add `delivered` and `mode`.
    """

    id: str
    at: datetime
    asked: ChatPrompt
    language: str
    documents: tuple[Document, ...]
    relevant: bool
    generated: Generated
    response: str
    decision: Decision
    panel: str
    judgments: tuple[str, ...]
    gate_seconds: float
    delivered: str
    mode: Mode


def trace_of(state: RagState, seconds: float) -> Trace:
    """Build the trace of a complete graph run, with its length in seconds."""
    asked, decision, generated = state["asked"], state["decision"], state.get("generated")
    mode, language = state["mode"], state["language"]
    answer = Answer(
        id=state["id"],
        origin="gate",
        case=Case(id=state["id"], prompt=asked.prompt, response=state.get("response"), documents=state["documents"]),
        source=asked.collection,
        language=decision.response_lang,
        model=generated.model if generated else "",
        session=asked.session,
        api_key=asked.api_key,
        delivered=state["delivered"],
        received_at=state["at"],
        answered_at=state["at"] + timedelta(seconds=seconds),
        prompt_tokens=generated.prompt_tokens if generated else None,
        completion_tokens=generated.completion_tokens if generated else None,
        seconds=seconds,
    )
    return decided_trace(
        decision,
        answer,
        channel="chat",
        sources_filter=asked.sources_filter,
        mode=mode,
        language=language if mode in NOT_DELIVERED else decision.response_lang or language,
        gate_seconds=state.get("gate_seconds"),
        panel=state.get("panel", ""),
        judgments=state.get("judgments", ()),
    )


def repeated_trace(trace: Trace, state: RagState, texts: Texts, seconds: float) -> Trace:
    """Build the trace of a prompt answered earlier or concurrently."""
    asked, is_held = state["asked"], trace.mode == "human_review"
    answer = replace(
        trace.answer,
        id=state["id"],
        case=replace(trace.answer.case, id=state["id"], prompt=asked.prompt),
        session=asked.session,
        api_key=asked.api_key,
        delivered=texts.held_back(state["language"], state["id"]) if is_held else trace.answer.delivered,
        received_at=state["at"],
        answered_at=state["at"] + timedelta(seconds=seconds),
        prompt_tokens=None,
        completion_tokens=None,
        seconds=seconds,
    )
    mode: Mode = "cached" if trace.mode == "generated" else trace.mode
    return replace(trace, answer=answer, sources_filter=asked.sources_filter, mode=mode, gate_seconds=None)
