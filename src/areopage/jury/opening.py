"""Models, opened once and checked before anything is paid for."""

import msgspec

from areopage.jury.judges import Judge
from areopage.models.port import LanguageModel, ModelStatus
from areopage.models.providers import open_model
from areopage.models.reference import ModelReference
from areopage.models.retry import Retrying
from areopage.models.settings import ModelSettings


async def check_model(reference: ModelReference, settings: ModelSettings) -> ModelStatus:
    """Open a model, check it, close it."""
    model = open_model(reference, settings)
    try:
        return await model.check()
    finally:
        await model.aclose()


def settled_judge(judge: Judge, status: ModelStatus, language: str) -> Judge:
    """A judge with what its model says of itself.

    Rules read a response by the run's language, which nothing else in a judgment's key tells: it becomes part of their digest.
    """
    return msgspec.structs.replace(
        judge,
        digest=f"{status.digest}-{language}" if status.deterministic else status.digest,
        standing=status.standing,
        criteria=judge.criteria or status.criteria or status.recorded.get(judge.name, ()),
        passes=judge.passes[:1] if status.deterministic else judge.passes,
    )


def open_retrying(reference: ModelReference, settings: ModelSettings, outage_seconds: float) -> Retrying:
    """A model whose transient faults are tried again."""
    return Retrying(open_model(reference, settings), outage=outage_seconds)


def crew_size(model: LanguageModel, concurrency: int) -> int:
    """How many calls may be in flight."""
    return min(concurrency, model.max_concurrency or concurrency)
