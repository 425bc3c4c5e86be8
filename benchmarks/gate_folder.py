"""Right, cited answers over a small folder of mixed files: how many does the pipeline deliver? One JSON line; two minutes.

    python benchmarks/gate_folder.py [--seed 0] [--store FOLDER]

30 files are made of the sets in ../shared/data: 24 encyclopedia articles and 6 official texts, 9 of them as text, 9 as Markdown,
7 as HTML and 5 as PDF. They are ingested with the shipped retriever. Questions on the articles are asked until the model has had
100 of which a retrieved document holds the answer's sentence. The model is a program: it returns that sentence with the id of
its document, so every answer is right and cited. `delivered` counts the answers, `reasons` says why the others were kept back.
"""

import argparse
import asyncio
import html
import json
import random
import re
import sys
import tempfile
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

from gate_french import _sentence_at
from gate_labels import DATA, PAGES, PIAF, read

from areopage.app.gate_rules import load_gate
from areopage.cases.records import Document
from areopage.checking.config import RagConfig, RagSection, VectorStoreSection
from areopage.ledger.store import Ledger
from areopage.rag.ingestion.ingest import Ingestion
from areopage.rag.records import ChatPrompt, Generated
from areopage.rag.retrieval.collection import open_store
from areopage.rag.retrieval.embedders import open_embedder
from areopage.rag.retrieval.retriever import QdrantRetriever
from areopage.rag.service import RagService

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers.demo_pdf import pdf_bytes

ARTICLES, TEXTS, ASKED = 24, 6, 100
FORMATS = ("txt",) * 9 + ("md",) * 9 + ("html",) * 7 + ("pdf",) * 5
MOST_PAGES = 2  # of an official text
LINE, LINES = 88, 46  # characters of a line of a PDF, lines of a page


class Quoting:
    """A model that returns the sentence of a document that answers a question, with the document's id."""

    def __init__(self) -> None:
        self.sentences: dict[str, str] = {}
        self.answered: set[str] = set()

    async def generate(self, prompt: str, documents: tuple[Document, ...], language: str) -> Generated:
        """Quote the sentence."""
        sentence = self.sentences[prompt]
        found = holder(sentence, documents)
        text = f"{sentence} [{found.id}]" if found else "Les documents ne contiennent pas cette information."
        if found:
            self.answered.add(prompt)
        return Generated(text=text, model="quoting", seconds=0.0)

    async def aclose(self) -> None:
        """There is nothing to close."""


def flat(text: str) -> str:
    """A text without white space: a PDF breaks lines elsewhere."""
    return re.sub(r"\s+", "", text)


def holder(sentence: str, documents: tuple[Document, ...]) -> Document | None:
    """The first document that holds a sentence."""
    return next((one for one in documents if flat(sentence) in flat(one.text)), None)


def written(title: str, paragraphs: list[str], form: str) -> bytes:
    """A document in a format."""
    if form == "md":
        return "\n\n".join([f"# {title}", *paragraphs]).encode()
    if form == "html":
        body = "".join(f"<p>{html.escape(paragraph)}</p>\n" for paragraph in paragraphs)
        head = html.escape(title)
        return f"<html><head><title>{head}</title></head><body><h1>{head}</h1>{body}</body></html>".encode()
    if form == "pdf":
        lines = [line for paragraph in [title, *paragraphs] for line in [*textwrap.wrap(paragraph, LINE), ""]]
        latin = [line.encode("cp1252", "replace").decode("cp1252") for line in lines]
        return pdf_bytes(title, [latin[at : at + LINES] for at in range(0, len(latin), LINES)])
    return "\n\n".join([title, *paragraphs]).encode()


def made(folder: Path, draw: random.Random) -> list[dict[str, Any]]:
    """Write the files; the questions on them, in a drawn order."""
    rows = read(PIAF)
    contexts: dict[str, dict[str, str]] = {}
    for row in rows:
        contexts.setdefault(row["title"], {})[row["context_id"]] = row["context"]
    titles = draw.sample(sorted(contexts), ARTICLES)
    texts: dict[str, list[str]] = {title: list(contexts[title].values()) for title in titles}
    pages: dict[str, list[str]] = {}
    for page in read(PAGES):
        pages.setdefault(page["doc"], []).append(page["text"])
    texts |= {name: pages[name][:MOST_PAGES] for name in draw.sample(sorted(pages), TEXTS)}
    forms = list(FORMATS)
    draw.shuffle(forms)
    for number, ((title, paragraphs), form) in enumerate(zip(texts.items(), forms, strict=True)):
        (folder / f"{number:02}.{form}").write_bytes(written(title, paragraphs, form))
    asked = [row for row in rows if row["title"] in titles]
    draw.shuffle(asked)
    return asked


async def measure(folder: Path, seed: int) -> dict[str, Any]:
    """Ingest the folder, unless it is, and ask."""
    draw = random.Random(seed)
    documents = folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    asked = made(documents, draw)
    config = RagConfig(section=RagSection(store=VectorStoreSection(path="store")), folder=folder)
    store, embedder = open_store(config, {}), open_embedder(config, {})
    report = await Ingestion(config, store, embedder).run(documents)
    retriever, model = QdrantRetriever(config, store, embedder, print), Quoting()
    ledger = Ledger.open(folder / f"ledger-{random.SystemRandom().randrange(10**9)}.db")
    service = RagService(config, ledger, load_gate(), retriever, model, lambda line: None)
    counts, reasons = Counter[str](), Counter[str]()
    for row in asked:
        if counts["answers"] == ASKED:
            break
        model.sentences[row["question"]] = sentence = _sentence_at(row["context"], row["answers"][0]["answer_start"])
        counts["questions"] += 1
        found = await retriever.retrieve(row["question"], "", ())
        if holder(sentence, found) is None:
            counts["sentence not retrieved"] += 1
            continue
        trace = await service.answer(ChatPrompt(prompt=row["question"], no_cache=True))
        counts["answers"] += 1
        counts["delivered"] += trace.mode == "generated"
        if trace.mode != "generated" and trace.decision is not None:
            reasons[", ".join(sorted({one.code for one in trace.decision.reasons if one.decisive}))] += 1
    await service.aclose()
    ledger.close()
    return {"files": report.files, "chunks": report.chunks, **counts, "reasons": dict(reasons)}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="which articles and questions")
    parser.add_argument("--store", type=Path, default=None, help="a folder that keeps the ingested files for the next run")
    wishes = parser.parse_args()
    if not (DATA / PIAF).exists():
        sys.exit(f"{DATA} is not there: the labelled sets lie beside the repository")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(wishes.store or Path(folder), wishes.seed)), ensure_ascii=False))


if __name__ == "__main__":
    main()
