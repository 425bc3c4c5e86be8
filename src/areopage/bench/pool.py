"""Checks of a run's models before the first paid call."""

import msgspec

from areopage.bench.spec import RunSpec
from areopage.errors import ModelError, name_list
from areopage.jury.opening import check_judge, check_model
from areopage.jury.panel import checked_panel
from areopage.models.settings import ModelSettings


async def check_models(spec: RunSpec, settings: ModelSettings) -> RunSpec:
    """Check the target and judges; record digests, fitness and supported criteria.

    Raises:
        ServerDown, ModelMissing, ModelError, MissingExtra: a model cannot be used.
        CriteriaError: no judge may judge anything.
    """
    target = spec.target
    if target is not None:
        target = msgspec.structs.replace(target, digest=(await check_model(target.reference, settings)).digest)
    references = dict.fromkeys(judge.reference for judge in spec.judges)
    checked = checked_panel(spec, {reference: await check_judge(reference, settings) for reference in references})
    left_out = f"left out, since no judge may judge it: {name_list(checked.unjudged)}"
    remarks = (*spec.remarks, left_out) if checked.unjudged else spec.remarks
    return msgspec.structs.replace(checked, target=target, remarks=remarks)


def same_models(before: RunSpec, now: RunSpec) -> None:
    """Check that a resumed run uses the models it began with.

    Raises:
        ModelError: the weights of one are others than when the run began.
    """
    pairs = [(old.name, old.digest, new.digest) for old, new in zip(before.judges, now.judges, strict=True)]
    if before.target is not None and now.target is not None:
        pairs.append((str(before.target.reference), before.target.digest, now.target.digest))
    for name, old, new in pairs:
        if old != new:
            message = f"{name} is not the model that the run began with (digest {old[:12]}, now {new[:12]}): start a new run"
            raise ModelError(message)
