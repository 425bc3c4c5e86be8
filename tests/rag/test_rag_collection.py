"""Ingestion and retrieval, on a folder and on a server's REST calls."""

import asyncio
import json
import pickle
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from areopage.cases.records import Document
from areopage.checking.config import FieldsSection, IngestionSection, RagConfig, RagSection, RetrievalSection, VectorStoreSection
from areopage.errors import DatasetError, StorageError, UnknownCollection
from areopage.rag.ingestion.ingest import Ingestion, IngestReport
from areopage.rag.retrieval.collection import VectorStore, open_store
from areopage.rag.retrieval.embedding import EmbedderIdentity
from areopage.rag.retrieval.retriever import QdrantRetriever
from servers.fake_embedder import DIMENSION, WordEmbedder, vectors_of
from servers.fake_qdrant import FakeQdrant

PAGES = {
    "carte.md": "# Carte perdue\nPour une carte perdue, appelez le numéro vert. L’opposition est gratuite.\n",
    "pret.md": "# Prêt\nLe délai de réflexion est de dix jours pour un prêt immobilier.\n",
    "livret.txt": "Le plafond du livret est de 22 950 €. Le taux est de 2,4 %.",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "aide"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def qdrant() -> Iterator[FakeQdrant]:
    with FakeQdrant(api_key="k") as server:
        yield server


def config(folder: Path, url: str = "", retrieval: dict[str, Any] | None = None, **fields: str) -> RagConfig:
    store = VectorStoreSection(
        path="store", url=url, api_key="env:QKEY" if url else "", fields=FieldsSection(**fields), timeout=60
    )
    return RagConfig(section=RagSection(store=store, retrieval=RetrievalSection(**(retrieval or {}))), folder=folder)


def opened(given: RagConfig) -> VectorStore:
    return open_store(given, {"QKEY": "k"})


async def ingested(given: RagConfig, folder: Path, embedder: WordEmbedder, **options: Any) -> IngestReport:
    store = opened(given)
    try:
        return await Ingestion(given, store, embedder, **options).run(folder)
    finally:
        await store.aclose()


async def retrieved(
    given: RagConfig,
    question: str,
    sources: tuple[str, ...] = (),
    said: list[str] | None = None,
    embedder: WordEmbedder | None = None,
) -> tuple[Document, ...]:
    retriever = QdrantRetriever(given, opened(given), embedder or WordEmbedder(), (said if said is not None else []).append)
    try:
        return await retriever.retrieve(question, "", sources)
    finally:
        await retriever.aclose()


@pytest.fixture(params=["folder", "server"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RagConfig]:
    """The same store twice: in a folder, and behind a URL."""
    if request.param == "folder":
        yield config(tmp_path)
        return
    with FakeQdrant(api_key="k") as server:
        yield config(tmp_path, server.url)


def test_what_was_ingested_is_found_with_its_id_title_source_and_score(given: RagConfig, docs: Path) -> None:
    report = asyncio.run(ingested(given, docs, WordEmbedder()))
    assert (report.files, report.embedded, report.chunks, report.unread) == (3, 3, 3, ())
    found = asyncio.run(retrieved(given, "Quel est le délai de réflexion pour un prêt ?"))
    best = found[0]
    assert best.id.startswith("pret-")
    assert (best.title, best.source, best.metadata["headings"]) == ("Prêt", "pret.md", ["Prêt"])
    assert best.score is not None
    assert best.score > 0.5 > max(document.score or 0 for document in found[1:])
    assert [document.score for document in found] == sorted((document.score or 0 for document in found), reverse=True)


def test_sources_limit_what_is_found(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    found = asyncio.run(retrieved(given, "délai prêt carte", ("carte.md", "livret.txt")))
    assert {document.source for document in found} == {"carte.md", "livret.txt"}
    assert asyncio.run(retrieved(given, "délai", ("autre.md",))) == ()


def test_a_second_run_embeds_only_what_changed(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    embedder = WordEmbedder()
    again = asyncio.run(ingested(given, docs, embedder))
    assert (again.unchanged, again.embedded, again.kept, embedder.embedded) == (3, 0, 3, [])
    (docs / "livret.txt").write_text("Le plafond est de 30 000 €.", encoding="utf-8")
    changed = asyncio.run(ingested(given, docs, embedder))
    assert (changed.unchanged, changed.embedded, changed.removed, changed.chunks) == (2, 1, 1, 3)
    assert "30 000" in asyncio.run(retrieved(given, "plafond du livret"))[0].text


def test_a_section_added_on_top_leaves_the_others_embedded_and_their_ids_as_they_were(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    before = asyncio.run(retrieved(given, "carte perdue numéro vert"))[0].id
    embedder = WordEmbedder()
    (docs / "carte.md").write_text("Avant-propos.\n\n" + PAGES["carte.md"], encoding="utf-8")
    report = asyncio.run(ingested(given, docs, embedder))
    assert (report.embedded, report.removed, report.chunks) == (1, 0, 4)
    assert asyncio.run(retrieved(given, "carte perdue numéro vert"))[0].id == before


def test_chunks_of_a_file_that_is_gone_stay_unless_pruned(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    (docs / "carte.md").unlink()
    kept = asyncio.run(ingested(given, docs, WordEmbedder()))
    assert (kept.gone, kept.removed, kept.chunks) == (("aide/carte.md",), 0, 3)
    pruned = asyncio.run(ingested(given, docs, WordEmbedder(), prune=True))
    assert (pruned.removed, pruned.chunks) == (1, 2)


def test_a_file_that_cannot_be_read_any_more_loses_nothing(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    (docs / "carte.md").write_bytes(b"\0")
    report = asyncio.run(ingested(given, docs, WordEmbedder(), prune=True))
    assert (report.gone, report.chunks, [one.file for one in report.unread]) == ((), 3, ["carte.md"])


def test_a_full_disk_is_one_line(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("qdrant_client.local.persistence.CollectionPersistence.persist", full)
    with pytest.raises(StorageError, match=r"disk is full\): free some space"):
        asyncio.run(ingested(config(tmp_path), docs, WordEmbedder()))


@pytest.mark.parametrize("file", ["meta.json", "collection/knowledge_base_main/storage.sqlite"])
def test_a_damaged_folder_is_one_line(tmp_path: Path, docs: Path, file: str) -> None:
    given = config(tmp_path)
    asyncio.run(ingested(given, docs, WordEmbedder()))
    path = given.path(given.section.store.path) / file
    path.write_bytes(b"{not a database" * 1000)
    with pytest.raises(StorageError, match="is damaged"):
        opened(given)


def test_a_run_that_was_broken_off_is_taken_up(given: RagConfig, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": f"Règle numéro {n} du recueil.", "id": f"r{n}"}) + "\n" for n in range(150)))
    stopped = WordEmbedder()
    stopped.fail_after = 130
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(ingested(given, rows, stopped))
    assert len(stopped.embedded) == 128
    embedder = WordEmbedder()
    report = asyncio.run(ingested(given, rows, embedder))
    assert (len(embedder.embedded), report.kept, report.chunks) == (22, 128, 150)
    assert asyncio.run(retrieved(given, "règle numéro 77"))[0].id == "r77"


async def revision(given: RagConfig) -> str:
    retriever = QdrantRetriever(given, opened(given), WordEmbedder(), lambda _: None)
    try:
        return await retriever.revision("")
    finally:
        await retriever.aclose()


def test_each_ingestion_that_changes_anything_gives_the_collection_another_revision(given: RagConfig, docs: Path) -> None:
    seen = []
    for change in (
        lambda: None,
        lambda: None,
        lambda: (docs / "livret.txt").write_text("Le plafond est de 30 000 €.", encoding="utf-8"),
        (docs / "carte.md").unlink,
    ):
        change()
        asyncio.run(ingested(given, docs, WordEmbedder(), prune=True))
        seen.append(asyncio.run(revision(given)))
    first, again, *others = seen
    assert first == again
    assert len({first, *others, ""}) == 4


def test_a_collection_that_is_being_filled_or_was_left_half_filled_has_no_revision(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    before = asyncio.run(revision(given))
    (docs / "neu.txt").write_text("Un texte nouveau.", encoding="utf-8")
    seen: list[str] = []

    async def broken_off() -> None:
        store = opened(given)
        put = store.put

        async def noted(name: str, points: Any) -> None:
            seen.append(await store.revision(name))
            await put(name, points)
            raise StorageError("broken off")

        store.put = noted  # type: ignore[method-assign]
        try:
            await Ingestion(given, store, WordEmbedder()).run(docs)
        finally:
            await store.aclose()

    with pytest.raises(StorageError, match="broken off"):
        asyncio.run(broken_off())
    assert (seen, asyncio.run(revision(given))) == ([""], "")
    assert asyncio.run(ingested(given, docs, WordEmbedder())).embedded <= 1
    assert asyncio.run(revision(given)) not in ("", before)


def test_a_question_after_an_ingestion_does_not_use_the_old_background(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    store = opened(given)
    retriever = QdrantRetriever(given, store, WordEmbedder(), lambda _: None)

    async def look() -> list[int]:
        seen = []
        for number in range(2):
            await retriever.revision("")
            await retriever.retrieve("délai", "", ())
            state, _ = await retriever._look(given.section.store.collection)
            seen.append(state.chunks)
            if not number:
                (docs / "neu.txt").write_text("Un texte nouveau.", encoding="utf-8")
                await Ingestion(given, store, WordEmbedder()).run(docs)
        await retriever.aclose()
        return seen

    assert asyncio.run(look()) == [3, 4]


def test_ids_are_never_shared_and_equal_rows_are_one_chunk(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": text, "id": "same"}) + "\n" for text in ("Un.", "Deux.", "Deux.")))
    given = config(tmp_path)
    report = asyncio.run(ingested(given, rows, WordEmbedder()))
    assert report.chunks == 2
    ids = {document.id for document in asyncio.run(retrieved(given, "un deux"))}
    assert len(ids) == 2
    assert "same" in ids
    assert asyncio.run(ingested(given, rows, WordEmbedder())).unchanged == 1


@pytest.mark.parametrize("text", ["&amp" * 9_000, "<a " * 3_000, "<p>Dix jours.</p>" * 900])
def test_a_document_of_too_many_chunks_is_named_and_none_of_them_embedded(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "aide"
    folder.mkdir()
    (folder / "junk.html").write_text(text)
    (folder / "good.txt").write_text("Dix jours.")
    (folder / "rows.jsonl").write_text(json.dumps({"text": "Un mot. " * 2_000, "id": "a"}) + '\n{"text": "Deux."}\n')
    given = config(tmp_path)
    section = given.section.model_copy(update={"ingestion": IngestionSection(max_chunks=5)})
    limited = msgspec.structs.replace(given, section=section)
    report = asyncio.run(ingested(limited, folder, WordEmbedder()))
    assert report.embedded == report.chunks == 2
    assert [(one.file, one.row) for one in report.unread] == [("junk.html", None), ("rows.jsonl", 1)]
    for one in report.unread:
        assert re.fullmatch(r"[\d,]+ chunks, more than 5: split it, or raise rag\.ingestion\.max_chunks", one.reason)


def test_bad_rows_are_told_by_every_run_and_the_good_ones_embedded_once(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "Un."}\n{bad\n{"text": "Deux."}\n')
    given = config(tmp_path)
    for embedded in (2, 0):
        report = asyncio.run(ingested(given, rows, WordEmbedder()))
        assert (report.embedded, report.chunks, [one.row for one in report.unread]) == (embedded, 2, [2])


def test_another_embedder_is_refused_by_ingestion_and_by_retrieval(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    (docs / "new.md").write_text("# New\nA text.\n", encoding="utf-8")
    for other in (WordEmbedder("other"), WordEmbedder("words", 32)):
        with pytest.raises(StorageError, match=r"was embedded by fake words \(64 dimensions\), and fake"):
            asyncio.run(ingested(given, docs, other))
        assert other.embedded == []
        with pytest.raises(StorageError, match="another collection"):
            asyncio.run(retrieved(given, "délai", embedder=other))


class Server(WordEmbedder):
    """An embedder that is not to be called or loaded."""

    async def identity(self) -> EmbedderIdentity:
        raise AssertionError("the server was called")


def test_where_no_chunk_is_new_the_embedder_is_neither_called_nor_loaded(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    report = asyncio.run(ingested(given, docs, Server()))
    assert (report.unchanged, report.embedded, report.kept, report.chunks) == (3, 0, 3, 3)


def test_an_embedder_of_another_collection_is_neither_called_nor_loaded(given: RagConfig, docs: Path) -> None:
    asyncio.run(ingested(given, docs, WordEmbedder()))
    says = r"was embedded by fake words \(64 dimensions\), and fake other is configured"
    with pytest.raises(StorageError, match=says):
        asyncio.run(ingested(given, docs, Server("other")))
    with pytest.raises(StorageError, match=says):
        asyncio.run(retrieved(given, "délai", embedder=Server("other")))


def test_a_collection_that_is_not_there_is_told_with_those_that_are(given: RagConfig, docs: Path) -> None:
    with pytest.raises(UnknownCollection, match="it has none"):
        asyncio.run(retrieved(given, "délai"))
    asyncio.run(ingested(given, docs, WordEmbedder(), collection="regles"))
    with pytest.raises(UnknownCollection, match=r"no collection 'knowledge_base_main' \(it has regles\)"):
        asyncio.run(retrieved(given, "délai"))


def test_a_collection_of_another_system_is_read_with_its_own_fields_and_one_warning(tmp_path: Path) -> None:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.http.models import Distance, PointStruct, VectorParams

    async def fill(path: Path) -> None:
        client = AsyncQdrantClient(path=str(path))
        await client.create_collection(
            "knowledge_base_main", vectors_config={"dense": VectorParams(size=DIMENSION, distance=Distance.COSINE)}
        )
        texts = ["Le délai est de dix jours.", "La carte est gratuite."]
        points = [
            PointStruct(
                id=number,
                vector={"dense": vectors_of([text], DIMENSION)[0].tolist()},
                payload={"page_content": text, "meta": {"origin": "cfpb"}, "ref": number},
            )
            for number, text in enumerate(texts)
        ]
        await client.upsert("knowledge_base_main", [*points, PointStruct(id=9, vector={"dense": [0.1] * DIMENSION}, payload={})])
        await client.close()

    asyncio.run(fill(tmp_path / "store"))
    given = config(tmp_path, content="page_content", id="ref", source="meta.origin", title="meta.name")
    said: list[str] = []
    found = asyncio.run(retrieved(given, "Quel est le délai ?", ("cfpb",), said))
    assert [(document.id, document.source, document.title) for document in found] == [("0", "cfpb", ""), ("1", "cfpb", "")]
    assert len(said) == 1
    assert "does not say who embedded it" in said[0]
    with pytest.raises(StorageError, match=r"set store\.fields\.content \(the first one holds meta, page_content, ref\)"):
        asyncio.run(retrieved(config(tmp_path), "Quel est le délai ?"))
    with pytest.raises(StorageError, match="dimensions"):
        asyncio.run(retrieved(given, "délai", embedder=WordEmbedder("words", 32)))


def test_scores_under_the_threshold_and_beyond_top_k_are_left_out(tmp_path: Path, docs: Path) -> None:
    given = config(tmp_path, retrieval={"top_k": 2, "score_threshold": 0.5})
    asyncio.run(ingested(given, docs, WordEmbedder()))
    assert len(asyncio.run(retrieved(given, "délai de réflexion prêt"))) == 1
    assert asyncio.run(retrieved(given, "astronomie")) == ()


class Planted:
    """Unpickled, it calls a function of its choice."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the client leaves its lock file open
def test_a_folder_with_code_in_place_of_a_point_is_refused_and_runs_nothing(tmp_path: Path, docs: Path) -> None:
    given, ran = config(tmp_path), tmp_path / "ran"
    asyncio.run(ingested(given, docs, WordEmbedder()))
    (place,) = (tmp_path / "store").rglob("storage.sqlite")
    with closing(sqlite3.connect(place)) as points, points:
        points.execute("INSERT INTO points VALUES ('x', ?)", (pickle.dumps(Planted(ran)),))
    with pytest.raises(StorageError, match="holds what is no point"):
        opened(given)
    assert not ran.exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the client leaves its lock file open
def test_a_folder_belongs_to_one_process_at_a_time(tmp_path: Path) -> None:
    given = config(tmp_path)
    store = opened(given)
    try:
        with pytest.raises(StorageError, match=r"another process uses the vector store .* set store\.url"):
            opened(given)
    finally:
        asyncio.run(store.aclose())


def test_a_server_that_is_down_refuses_the_key_or_fails_is_one_line(tmp_path: Path, qdrant: FakeQdrant) -> None:
    async def names(given: RagConfig, environment: dict[str, str]) -> list[str]:
        store = open_store(given, environment)
        try:
            return await store.names()
        finally:
            await store.aclose()

    with pytest.raises(StorageError, match=r"no Qdrant server answers at http://127\.0\.0\.1:9: start it"):
        asyncio.run(names(config(tmp_path, "http://127.0.0.1:9"), {"QKEY": "k"}))
    with pytest.raises(StorageError, match=r"rejects the API key: correct store\.api_key"):
        asyncio.run(names(config(tmp_path, qdrant.url), {"QKEY": "wrong"}))
    qdrant.status = 500
    with pytest.raises(StorageError, match=r"answered 500: .*told to fail"):
        asyncio.run(names(config(tmp_path, qdrant.url), {"QKEY": "k"}))


def test_a_server_too_old_to_keep_the_embedder_is_refused(tmp_path: Path, docs: Path) -> None:
    with FakeQdrant(keeps_metadata=False) as server, pytest.raises(StorageError, match=r"use version 1\.16 or later"):
        asyncio.run(ingested(config(tmp_path, server.url), docs, WordEmbedder()))


def test_the_background_is_measured_once_and_again_when_the_collection_grew(tmp_path: Path, docs: Path) -> None:
    given = config(tmp_path)
    first = asyncio.run(ingested(given, docs, WordEmbedder())).backgrounds
    assert first["fr"].pairs == 30 * 3
    assert asyncio.run(ingested(given, docs, WordEmbedder())).backgrounds == first
    (docs / "neuf.md").write_text("Une page toute neuve sur la succession.", encoding="utf-8")
    assert asyncio.run(ingested(given, docs, WordEmbedder())).backgrounds["fr"].pairs == 30 * 4


def test_a_folder_without_anything_to_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.docx").write_text("x")
    with pytest.raises(DatasetError, match=r"holds no file that can be read: x\.docx"):
        asyncio.run(ingested(config(tmp_path), tmp_path, WordEmbedder()))
