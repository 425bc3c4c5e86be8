"""What the graph's nodes hand to each other."""

from typing import Literal, TypedDict

from areopage.cases.records import Document
from areopage.gate.records import Decision
from areopage.ledger.gate_records import Mode
from areopage.rag.records import Generated

NodeName = Literal["retrieve", "grade_documents", "generate", "evaluate_response", "fallback", "human_review"]
NODES: tuple[NodeName, ...] = ("retrieve", "grade_documents", "generate", "evaluate_response", "fallback", "human_review")


class RagState(TypedDict, total=False):
    """The state of one question.

    `id`, `question`, `collection`, `sources_filter` and `language` (what to answer in) stand there from the beginning.

    - `retrieve` adds `documents`,
    - `grade_documents` adds `relevant` and, where they are not, the `decision`,
    - `generate` adds `generated`,
    - `evaluate_response` adds `generation` (the response as the gate read it: with the ids that the model cited apart from its
      text), `decision`, `judgments` (the keys of what a judge said), `gate_seconds` and, where the answer leaves, `answer` and
      `mode`,
    - `fallback` and `human_review` add `answer` and `mode`.
    """

    id: str
    question: str
    collection: str
    sources_filter: tuple[str, ...]
    language: str
    documents: tuple[Document, ...]
    relevant: bool
    generated: Generated
    generation: str
    decision: Decision
    judgments: tuple[str, ...]
    gate_seconds: float
    answer: str
    mode: Mode
