"""Open models and judges once, and check them before the first paid call.

A judge is code or a recording where its provider is one of judges: built in, or registered by third parties through the entry
point group `areopage.judges`. Else it is a language model. A built-in provider goes before an installed one of its name.
"""

from contextlib import aclosing
from typing import cast

import msgspec

from areopage.errors import ModelError, name_list
from areopage.jury.judges import Judge, JudgeBackend, JudgeKind, JudgeStatus
from areopage.jury.model_judge import ModelJudge
from areopage.models import (
    JUDGE_ADAPTERS,
    MODEL_ADAPTERS,
    ModelReference,
    ModelSettings,
    ModelStatus,
    RecordedOrigin,
    Retrying,
    Traffic,
    open_model,
)


def answers_no_prompts(provider: str) -> bool:
    """Whether a provider is one of judges and none of language models."""
    return provider not in MODEL_ADAPTERS and is_judge_provider(provider)


def is_judge_provider(provider: str) -> bool:
    """Whether a provider's judges are no language models; what is installed is searched only for one that is not built in."""
    return provider in JUDGE_ADAPTERS.built_in or (provider not in MODEL_ADAPTERS.built_in and provider in JUDGE_ADAPTERS)


def expected_kind(reference: ModelReference) -> JudgeKind:
    """The kind of a judge by its provider, before its check."""
    if reference.provider == "replay":
        return "recording"
    return "code" if is_judge_provider(reference.provider) else "model"


def open_judge(reference: ModelReference, settings: ModelSettings, traffic: Traffic | None = None) -> JudgeBackend:
    """Open a judge without calling it.

    Args:
        traffic: the calls to its server are part of it; None: the judge's calls have limits of their own.

    Raises:
        ModelError: no such provider, or the reference does not fit it.
        MissingExtra: the judge needs a package that is not installed.
    """
    open_adapter = JUDGE_ADAPTERS.load(reference.provider) if is_judge_provider(reference.provider) else None
    if open_adapter is not None:
        return cast(JudgeBackend, open_adapter(reference, settings))
    if reference.provider not in MODEL_ADAPTERS:
        names = name_list(sorted({*MODEL_ADAPTERS.names(), *JUDGE_ADAPTERS.names()}), 30)
        raise ModelError(f"unknown provider {reference.provider!r} in {reference}: use one of {names}")
    return ModelJudge(Retrying(open_model(reference, settings)) if traffic is None else traffic.open(reference, settings))


async def check_model(reference: ModelReference, settings: ModelSettings) -> ModelStatus:
    """Open a model, check it and close it."""
    async with aclosing(Retrying(open_model(reference, settings))) as model:
        return await model.check()


async def check_judge(reference: ModelReference, settings: ModelSettings) -> JudgeStatus:
    """Open a judge, check it and close it."""
    async with aclosing(open_judge(reference, settings)) as judge:
        return await judge.check()


def settled_judge(judge: Judge, status: JudgeStatus, language: str) -> Judge:
    """A judge with the results of its check.

    Code reads a response by the run's language, which nothing else in a judgment's key depends on: it becomes part of the digest.
    """
    is_code = status.kind == "code"
    origin = status.origins.get(judge.name) or status.origins.get("") or RecordedOrigin()
    return msgspec.structs.replace(
        judge.first(1 if is_code else status.passes.get(judge.name)),
        kind=status.kind,
        digest=f"{status.digest}-{language}" if is_code else status.digest,
        unfit=status.unfit or origin.unfit,
        recorded_model=origin.model,
        criteria=judge.criteria or status.criteria or status.recorded.get(judge.name, ()),
    )
