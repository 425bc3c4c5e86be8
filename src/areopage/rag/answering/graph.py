"""The pipeline's graph in LangGraph: nodes take the state and return changes.

retrieve → grade_documents → (relevant) generate → evaluate_response → (pass) end
                           → (not relevant) fallback                  → (escalate) human_review
                                                                      → (fail) fallback
"""

import time
from collections.abc import AsyncIterator
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith import tracing_context
from msgspec import Struct

from areopage.checking import Checker, decided
from areopage.rag.answering.state import RagState, Texts
from areopage.rag.records import Generator, Retriever

Graph = CompiledStateGraph[RagState, None, RagState, RagState]

NOT_RELEVANT = frozenset({"no_documents", "not_relevant"})


class Nodes(Struct, frozen=True, kw_only=True):
    """The six nodes and two routes of the graph."""

    retriever: Retriever
    generator: Generator
    checker: Checker
    texts: Texts
    shadow: bool = False

    # --- nodes

    async def retrieve(self, state: RagState) -> RagState:
        """Retrieve documents."""
        asked = state["asked"]
        documents = await self.retriever.retrieve(asked.prompt, asked.collection, asked.sources_filter)
        return {"documents": documents}

    async def grade_documents(self, state: RagState) -> RagState:
        """Say whether any document is near enough to answer from; the gate's threshold decides.

        In shadow mode the model answers from all found documents: nothing may change for the user.
        """
        started = time.perf_counter()
        decision = await decided(self.checker.gate, state["asked"].prompt, "", state["documents"])
        relevant = not any(reason.decisive and reason.code in NOT_RELEVANT for reason in decision.reasons)
        if relevant or (self.shadow and state["documents"]):
            return {"relevant": True}
        return {"relevant": False, "decision": decision, "gate_seconds": time.perf_counter() - started}

    async def generate(self, state: RagState) -> RagState:
        """Generate an answer with the model."""
        return {"generated": await self.generator.generate(state["asked"].prompt, state["documents"], state["language"])}

    async def evaluate_response(self, state: RagState) -> RagState:
        """Apply the gate, with people's labels and, if the gate needs one, a judge; without a judge `unsettled` decides."""
        started = time.perf_counter()
        asked, generated = state["asked"], state["generated"]
        # ids that the model named apart from its text stand in brackets at its end
        missing = [f"[{id}]" for id in generated.cited_ids if f"[{id}]" not in generated.text]
        response = " ".join((generated.text, *missing)) if generated.text else ""
        checked = await self.checker.check(
            asked.prompt, response, state["documents"], collection=asked.collection, language=state["language"]
        )
        decision = checked.decision
        if decision.needs_judge:
            decision = self.checker.gate.resolve(decision, ())
        spent = time.perf_counter() - started
        changed: RagState = {
            "response": response,
            "decision": decision,
            "panel": checked.judged.panel,
            "judgments": checked.judged.keys,
            "gate_seconds": spent,
        }
        if decision.verdict == "deliver":
            changed |= {"delivered": state["generated"].text, "mode": "generated"}
        elif self.shadow:
            changed |= {"delivered": state["generated"].text, "mode": "shadow"}
        return changed

    async def fallback(self, state: RagState) -> RagState:
        """Return the fallback text."""
        return {"delivered": self.texts.no_answer(state["language"]), "mode": "fallback"}

    async def human_review(self, state: RagState) -> RagState:
        """Return the notice of a human review."""
        return {"delivered": self.texts.held_back(state["language"], state["id"]), "mode": "human_review"}

    # --- routes; coroutines, since LangGraph gives plain functions a thread of their own each time

    async def after_grading(self, state: RagState) -> Literal["relevant", "not_relevant"]:
        """Choose between generation and fallback."""
        return "relevant" if state["relevant"] else "not_relevant"

    async def after_evaluation(self, state: RagState) -> Literal["pass", "escalate", "fail"]:
        """Choose between delivery, human review and fallback."""
        if "delivered" in state:
            return "pass"
        return "escalate" if state["decision"].verdict == "human_review" else "fail"


def build_graph(nodes: Nodes) -> Graph:
    """Compile the graph."""
    graph: StateGraph[RagState, None, RagState, RagState] = StateGraph(RagState)
    graph.add_node("retrieve", nodes.retrieve)
    graph.add_node("grade_documents", nodes.grade_documents)
    graph.add_node("generate", nodes.generate)
    graph.add_node("evaluate_response", nodes.evaluate_response)
    graph.add_node("fallback", nodes.fallback)
    graph.add_node("human_review", nodes.human_review)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade_documents")
    graph.add_conditional_edges("grade_documents", nodes.after_grading, {"relevant": "generate", "not_relevant": "fallback"})
    graph.add_edge("generate", "evaluate_response")
    graph.add_conditional_edges(
        "evaluate_response", nodes.after_evaluation, {"pass": END, "escalate": "human_review", "fail": "fallback"}
    )
    graph.add_edge("fallback", END)
    graph.add_edge("human_review", END)
    return graph.compile()


async def run_graph(graph: Graph, state: RagState) -> AsyncIterator[tuple[str, RagState]]:
    """Run the graph; yield each node's name and changes.

    LangGraph hands its runs to LangSmith, which sends texts away as soon as LANGSMITH_TRACING or LANGCHAIN_TRACING_V2 stands in
    the environment. Users have not asked this program for that: it is off for our runs. Consume it in a separate task,
    since the setting holds for the whole context.
    """
    with tracing_context(enabled=False):
        async for update in graph.astream(state, stream_mode="updates"):
            changes: dict[str, RagState | None] = update
            for name, changed in changes.items():
                yield name, changed or {}
