"""What users read instead of an answer, in their language."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from areopage.rag.config import RagConfig
from areopage.yaml_document import read_yaml

TEXTS_FILE = Path(__file__).with_name("texts.yml")


class Texts(Struct, frozen=True, kw_only=True):
    """The texts by language; `language` is the one for a language that has none."""

    fallback: Mapping[str, str]
    human_review: Mapping[str, str]
    language: str

    def no_answer(self, language: str) -> str:
        """What is said where the documents do not tell."""
        return self.fallback.get(language) or self.fallback[self.language]

    def held_back(self, language: str, id: str) -> str:
        """What is said where a person will look at the answer; `id` is what the user finds it under."""
        text = self.human_review.get(language) or self.human_review[self.language]
        return text.replace("{id}", id)


def texts_of(config: RagConfig) -> Texts:
    """The texts of a configuration, laid over those of the package.

    Raises:
        ConfigError: one that is given is empty.
    """
    own: Mapping[str, Any] = read_yaml(TEXTS_FILE).data
    section = config.section.texts
    for kind, given in (("fallback", section.fallback), ("human_review", section.human_review)):
        for language, text in given.items():
            if not text.strip():
                raise config.fault("is empty: write what users are to read, or leave it out", "texts", kind, language)
    return Texts(
        fallback=own["fallback"] | section.fallback,
        human_review=own["human_review"] | section.human_review,
        language=config.section.language,
    )
