"""The shares of a run: the calls to one server, which the workers that can reach it do together.

A worker does the phases of a server one after the other, so that a machine with one GPU loads each model once.
"""

from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from msgspec import Struct, structs

from areopage.bench.execution.run import WHOLE, RunPart
from areopage.bench.execution.start import check_models, same_models
from areopage.bench.execution.target_phase import TARGET_PHASE
from areopage.bench.spec import RunSpec
from areopage.digest import digest_of
from areopage.errors import ModelError
from areopage.jury.opening import check_model
from areopage.jury.options import reached_by
from areopage.models.contacts import contacts_of
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.suites.config_file import SharedSections

WHOLE_RUN = "*"
_THIS_COMPUTER = ("localhost", "127.0.0.1", "::1")


class ServerShare(Struct, frozen=True, kw_only=True):
    """The part of a run that the workers of one server do.

    Args:
        server: `provider[@endpoint]`; `WHOLE_RUN` where a run cannot be parted.
        models: that are called.
        phases: the names of its phases; None: all of the run.
    """

    server: str
    part: RunPart
    models: tuple[ModelReference, ...]
    phases: tuple[str, ...] | None = None


def shares_of(spec: RunSpec) -> tuple[ServerShare, ...]:
    """Part a run by the servers of its models.

    Adaptive passes depend on all judges: such a run is one share.
    """
    target = [one.reference for one in (spec.target, spec.child) if one is not None]
    models = tuple(dict.fromkeys([*target, *(judge.reference for judge in spec.judges)]))
    servers = list(dict.fromkeys(model.server for model in models))
    if spec.adaptive is not None or len(servers) < 2:
        server = servers[0] if len(servers) == 1 else WHOLE_RUN
        return (ServerShare(server=server, part=WHOLE, models=models),)
    shares = []
    for server in servers:
        answers = spec.target is not None and spec.target.reference.server == server
        judges = [judge for judge in spec.judges if judge.reference.server == server]
        if not answers and not judges:
            continue  # the model that plays children belongs to the target's share
        own = dict.fromkeys([*(target if answers else ()), *(judge.reference for judge in judges)])
        names = tuple(judge.name for judge in judges)
        part = RunPart(answers=answers, judges=names, name=digest_of([server])[:8])
        phases = (TARGET_PHASE, *names) if answers else names
        shares.append(ServerShare(server=server, part=part, models=tuple(own), phases=phases))
    return tuple(shares)


def takes(models: Collection[ModelReference], endpoints: Collection[str]) -> bool:
    """Whether a worker that is limited to endpoints may call models.

    Args:
        endpoints: names of endpoints, providers for their usual servers, or `provider@endpoint`; none: there is no limit.
    """
    own = set(endpoints)
    return not own or all({model.endpoint or model.provider, model.server} & own for model in models)


def at_worker(spec: RunSpec, own: SharedSections) -> RunSpec:
    """A stored run as a worker reaches its models: by the worker's own configuration and environment."""
    settings = reached_by(spec.settings, own, ())
    if settings.ollama_base_url and urlsplit(settings.ollama_base_url).hostname not in _THIS_COMPUTER:
        settings = structs.replace(settings, ollama_base_url="")  # the suite names a server that the worker does not
    return structs.replace(spec, settings=settings)


def strangers(models: Sequence[ModelReference], settings: ModelSettings) -> str:
    """Why a worker calls no server for a share: one is named by the stored run and not by the worker's configuration; or ""."""
    for model, contact in contacts_of(models, settings).items():
        if contact.foreign:
            name = model.endpoint or model.model
            return f"{contact.address} is not in this worker's areopage.yml: define {name!r} there"
    return ""


async def check_share(spec: RunSpec, share: ServerShare) -> None:
    """Check that a share's models can be called, and are those that the run began with.

    Raises:
        ServerDown: a server does not answer.
        ModelError, MissingExtra, CriteriaError: a model cannot be used here.
    """
    judges = tuple(judge for judge in spec.judges if share.part.judges is None or judge.name in share.part.judges)
    asks = share.part.answers
    own = structs.replace(
        spec, judges=judges, target=spec.target if asks else None, child=spec.child if asks else None, remarks=()
    )
    if refused := strangers(share.models, own.settings):
        raise ModelError(refused)
    if judges:
        same_models(own, await check_models(own, own.settings.with_environment()))
    else:  # a panel without judges cannot be checked
        await _check_targets(own)


async def _check_targets(spec: RunSpec) -> None:
    for one in (spec.target, spec.child):
        if one is not None:
            status = await check_model(one.reference, spec.settings.with_environment())
            if status.digest != one.digest:
                raise ModelError(f"{one.reference} is not the model that the run began with: start a new run")
