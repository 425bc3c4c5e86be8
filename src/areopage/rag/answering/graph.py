"""The LangGraph graph over the nodes.

retrieve → grade_documents → (relevant) generate → evaluate_response → (pass) end
                           → (not relevant) fallback                  → (escalate) human_review
                                                                      → (fail) fallback
"""

from collections.abc import AsyncIterator

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langsmith import tracing_context

from areopage.rag.answering.nodes import Nodes
from areopage.rag.answering.state import RagState

Graph = CompiledStateGraph[RagState, None, RagState, RagState]


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
    """Run the graph; gives each node's name and what it changed.

    LangGraph hands its runs to LangSmith, which sends texts away as soon as LANGSMITH_TRACING or LANGCHAIN_TRACING_V2 stands in
    the environment. Whoever deploys a chatbot has not asked this program for that: it is off for our runs. To be consumed in a
    task of its own, since what is set here holds for the whole context.
    """
    with tracing_context(enabled=False):
        async for update in graph.astream(state, stream_mode="updates"):
            changes: dict[str, RagState | None] = update
            for name, changed in changes.items():
                yield name, changed or {}
