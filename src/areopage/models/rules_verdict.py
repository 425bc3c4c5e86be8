"""What every deterministic judge says, and how it is handed over."""

import msgspec
from msgspec import Struct

from areopage.criteria.records import Scale
from areopage.models.port import Completion


class Verdict(Struct, frozen=True, kw_only=True):
    """What a judge says: a score on its own scale and exact quotes from the response."""

    explanation: str
    score: float
    evidence_extracts: tuple[str, ...]


def completed(verdict: Verdict, own: Scale, asked: Scale, seconds: float) -> Completion:
    """The verdict as JSON, its score mapped from the judge's own scale to the one that is asked for, with one decimal."""
    score = round(own.map_to(verdict.score, asked), 1)
    text = msgspec.json.encode(msgspec.structs.replace(verdict, score=score)).decode()
    return Completion(text=text, prompt_tokens=0, completion_tokens=0, seconds=seconds)
