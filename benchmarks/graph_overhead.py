"""What the pipeline adds to retrieval and generation, which take no time here: the graph alone, and the whole service around it.

`graph` is one run of the graph with a gate that takes no time either; `graph_and_gate` has the real gate over five documents of
1,000 characters and an answer of 600; `service` adds the ledger on disk, traces off, no cache; `cached` is an answer out of
memory. Milliseconds of a clock (`p50`, `p99`) and of the processor (`cpu`, the mean). One JSON line.
"""

import argparse
import asyncio
import gc
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from areopage.app.gate_rules import load_gate
from areopage.cases.documents import LooseDocuments
from areopage.cases.records import Document
from areopage.checking.checker import Checker
from areopage.checking.config import RagConfig, RagSection
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.records import Decision
from areopage.ledger.store import Ledger
from areopage.rag.answering.graph import Nodes, build_graph, run_graph
from areopage.rag.answering.state import RagState, texts_of
from areopage.rag.records import ChatPrompt, Generated
from areopage.rag.service import RagService

QUESTION = "Quel est le délai de rétractation pour un achat en ligne ?"
SENTENCE = "Pour un achat en ligne, le délai de rétractation est de 14 jours à compter de la livraison du bien commandé. "
DOCUMENTS = tuple(
    Document(id=f"d{number}", text=(SENTENCE.replace("14", str(14 + number)) * 20)[:1000], score=0.8, source="s")
    for number in range(5)
)
RESPONSE = (SENTENCE.strip() + " [d0] ") * 5


class InstantRetriever:
    async def retrieve(self, prompt: str, collection: str, sources_filter: tuple[str, ...]) -> tuple[Document, ...]:
        return DOCUMENTS

    async def revision(self, collection: str) -> str:
        return "1"

    async def aclose(self) -> None: ...


class InstantGenerator:
    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        return Generated(text=RESPONSE[:600], model="instant", seconds=0.0)

    async def aclose(self) -> None: ...


class InstantGate(Gate):
    """Gives the decision that the real gate gave once."""

    def __init__(self, real: Gate) -> None:
        super().__init__(GateConfig(profile="v1_1"))
        self.decision = real.decide(QUESTION, RESPONSE[:600], DOCUMENTS)

    def decide(self, prompt: str, response: str, documents: LooseDocuments) -> Decision:
        return self.decision


async def timed(count: int, work: Callable[[int], Awaitable[Any]]) -> dict[str, float]:
    for number in range(50):
        await work(-number - 1)
    gc.collect()
    times: list[float] = []
    spent = time.process_time()
    for number in range(count):
        began = time.perf_counter()
        await work(number)
        times.append((time.perf_counter() - began) * 1e3)
    cpu = (time.process_time() - spent) / count * 1e3
    times.sort()
    return {"p50": round(times[count // 2], 3), "p99": round(times[int(count * 0.99)], 3), "cpu": round(cpu, 3)}


async def measure(count: int, folder: Path) -> dict[str, Any]:
    real = load_gate()
    config = RagConfig(section=RagSection(), folder=folder)
    asked = ChatPrompt(prompt=QUESTION, collection="c")
    state: RagState = {"id": "0" * 32, "at": datetime.now(UTC), "asked": asked, "language": "fr"}

    def graph_with(gate: Gate) -> Callable[[int], Awaitable[None]]:
        nodes = Nodes(retriever=InstantRetriever(), generator=InstantGenerator(), checker=Checker(gate), texts=texts_of(config))
        graph = build_graph(nodes)

        async def run(number: int) -> None:
            async for _ in run_graph(graph, state):
                pass

        return run

    ledger = Ledger.open(folder / "ledger.db")
    service = RagService(config, ledger, real, InstantRetriever(), InstantGenerator(), lambda line: None)
    found: dict[str, Any] = {
        "graph_ms": await timed(count, graph_with(InstantGate(real))),
        "graph_and_gate_ms": await timed(count, graph_with(real)),
        "service_ms": await timed(count, lambda number: service.answer(ChatPrompt(prompt=QUESTION, no_cache=True))),
        "cached_ms": await timed(count, lambda number: service.answer(ChatPrompt(prompt=QUESTION))),
    }
    found["verdict"] = real.decide(QUESTION, RESPONSE[:600], DOCUMENTS).verdict
    await service.aclose()
    ledger.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(runs, Path(folder)))
    print(json.dumps({"runs": runs, "python": sys.version.split()[0], **found}))


if __name__ == "__main__":
    main()
