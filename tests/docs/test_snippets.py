"""The Python examples of the reference run as they stand there."""

import ast
import asyncio
import inspect
import json
import re
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

import pytest

from servers.examples import ROOT
from servers.fake_llm import FakeServer

REFERENCE = ROOT / "docs" / "reference"
SNIPPET = re.compile(r"^```python\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    pytest.param(match["body"], id=f"{page.stem}-{number}")
    for page in sorted(REFERENCE.glob("*.md"))
    for number, match in enumerate(SNIPPET.finditer(page.read_text(encoding="utf-8")), 1)
]
MODELS = ("qwen3:8b", "phi4:14b", "gemma3:27b", "gemma3:4b")
# one case and one judge in place of a whole benchmark
SHORTER = {'target="ollama:gemma3:4b"': 'target="ollama:gemma3:4b", judges=("ollama:qwen3:8b",), limit=1'}


def values_of_a_reader() -> dict[str, Any]:
    """What the examples take for granted."""
    prompt, response = "What does a return cost?", "The fee is 4 €."
    documents = [{"id": "terms", "text": "You may return a book within 30 days. The fee is 4 €."}]
    return {"prompt": prompt, "question": prompt, "response": response, "answer": response, "documents": documents}


class State(TypedDict, total=False):
    question: str
    generation: str
    documents: list[Any]
    verdict: str


def state_graph() -> dict[str, Any]:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State)
    for name in ("fallback", "escalate"):
        graph.add_node(name, lambda _: {})
    graph.add_edge(START, "gate")
    return {"graph": graph, "END": END}


def run_snippet(code: str, values: dict[str, Any]) -> dict[str, Any]:
    module = ModuleType("snippet")  # a judge in code is told by its module
    vars(module).update(values)
    result = eval(compile(code, "snippet", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), vars(module))
    if inspect.iscoroutine(result):
        asyncio.run(result)
    return vars(module)


@pytest.mark.parametrize("code", SNIPPETS)
def test_the_python_examples_of_the_reference_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = values_of_a_reader()
    if "graph." in code:
        if find_spec("langgraph") is None:
            pytest.skip('the example is of a graph: pip install "areopage[rag]"')
        values |= state_graph()
    for whole, part in SHORTER.items():
        code = code.replace(whole, part)
    monkeypatch.chdir(tmp_path)
    with FakeServer(models=MODELS) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        names = run_snippet(code, values)
    if "decision" in names:
        assert names["decision"].verdict == "deliver"
        assert json.dumps(names["decision"].to_dict())
    if "found" in names:
        assert json.dumps(names["found"].to_dict())
        assert names["found"].score_global is not None
    if "graph" in names:
        state = names["graph"].compile().invoke({"question": values["question"], "generation": "", "documents": []})
        assert state["verdict"] == "fallback"


def test_the_reference_has_python_examples() -> None:
    assert len(SNIPPETS) >= 6
