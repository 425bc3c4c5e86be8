"""Structured answers: the model's schema, and the parsing of its output.

strict JSON → fences and think-blocks stripped → json-repair (an answer that was cut) → the text as it is.
"""

from typing import Any

from json_repair import repair_json
from msgspec import Struct

from areopage.criteria.prompts import object_schema
from areopage.jury.parsing import MAX_REPAIRED, Opened, open_answer, without_thinking

MAX_IDS = 50
SCHEMA = object_schema(
    {"answer": {"type": "string"}, "cited_ids": {"type": "array", "items": {"type": "string"}}}, ["answer", "cited_ids"]
)


class Structured(Struct, frozen=True, kw_only=True):
    """A parsed answer; `cited_ids` is empty for plain text."""

    text: str
    cited_ids: tuple[str, ...] = ()


def read_structured(text: str, finish_reason: str) -> Structured:
    """Parse an answer; invalid JSON becomes plain text without thinking.

    Where several objects have an `answer`, the first one counts.
    """
    opened = open_answer(text, finish_reason, frozenset())
    if not isinstance(opened, Opened):
        return Structured(text=text.strip())
    for found in opened.objects:
        answer = found.get("answer")
        if isinstance(answer, str):
            return Structured(text=answer.strip(), cited_ids=_ids_of(found.get("cited_ids")))
    if opened.broken:
        repaired = _repaired_answer(opened.bare)
        if repaired is not None:
            return repaired
    return Structured(text=opened.bare.strip())


def _repaired_answer(bare: str) -> Structured | None:
    """What json-repair makes of an object that is broken or cut; None where it holds no answer."""
    start = bare.find("{")
    try:
        repaired = repair_json(bare[start : start + MAX_REPAIRED], return_objects=True)
    except (ValueError, RecursionError, AssertionError, LookupError, TypeError):
        return None  # see `jury.parsing`: json-repair gives up on some texts in these ways
    candidates = repaired if isinstance(repaired, list) else [repaired]
    for found in candidates:
        if isinstance(found, dict) and isinstance(found.get("answer"), str) and found["answer"].strip():
            return Structured(text=found["answer"].strip(), cited_ids=_ids_of(found.get("cited_ids")))
    return None


def _ids_of(value: Any) -> tuple[str, ...]:
    """The ids of a list, without the brackets that some models put around them; a single one will do."""
    items = value if isinstance(value, list) else [value]
    texts = (
        str(item).strip().strip("[]").strip() for item in items if isinstance(item, str | int) and not isinstance(item, bool)
    )
    return tuple(dict.fromkeys(text for text in texts if text))[:MAX_IDS]


def plain_answer(text: str) -> str:
    """Extract a plain-text answer without thinking."""
    return without_thinking(text).strip()
