"""What a judge is told of the reader: the suite's persona of the case's age."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from areopage.cases import Case, Persona
from areopage.criteria.fence import defused

READER_PLACEHOLDERS = frozenset({"age_group", "maturity", "reading_level"})


class ReaderWords(Struct, frozen=True, kw_only=True):
    """The words about a reader in one language; each but `title`, `minor` and `adult` leads a line, its colon included."""

    title: str
    age: str
    minor: str
    adult: str
    reading_level: str
    tone: str
    safety: str
    never: str
    exceptions: str


def reader_values(case: Case, persona: Persona | None) -> dict[str, str]:
    """The values of the placeholders about the reader."""
    if persona is None:
        return {"age_group": "any age", "maturity": case.maturity or "any", "reading_level": "any"}
    return {
        "age_group": persona.judge_config.age_group_code,
        "maturity": case.maturity,
        "reading_level": persona.reading_level,
    }


def reader_content(case: Case, persona: Persona | None) -> dict[str, Any]:
    """Everything that a judge is told of the reader; a judgment's key depends on it."""
    return {**reader_values(case, persona), "profile": _facts(persona)}


@lru_cache(maxsize=64)  # a run has few readers
def reader_profile(persona: Persona | None, words: ReaderWords) -> str:
    """Describe the reader in lines; "" without a persona."""
    facts = _facts(persona)
    if not facts:
        return ""
    age = f"{facts['age']} ({words.minor if facts['is_minor'] else words.adult})"
    lines = [f"{words.age} {age}"]
    for name in ("reading_level", "tone", "safety", "never", "exceptions"):
        texts = [facts[name]] if isinstance(facts[name], str) else facts[name]
        if listed := ", ".join(text.replace("_", " ") for text in texts if text):
            lines.append(f"{getattr(words, name)} {listed}")
    return defused("\n".join([words.title, *(f"- {' '.join(line.split())}" for line in lines)]))


def _facts(persona: Persona | None) -> Mapping[str, Any]:
    if persona is None:
        return {}
    config = persona.judge_config
    return {
        "age": persona.maturity_band,
        "is_minor": config.is_minor,
        "reading_level": persona.reading_level,
        "tone": persona.tone,
        "safety": config.safety_threshold,
        "never": config.auto_block_risks,
        "exceptions": config.educational_exceptions,
    }
