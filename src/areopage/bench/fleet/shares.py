"""The shares of a run: the calls to one server, which the workers that can reach it do together.

A worker does the phases of a server one after the other, so that a machine with one GPU loads each model once.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, structs

from areopage.bench.execution.phases import TARGET_PHASE, server_of, servers
from areopage.bench.execution.run import WHOLE, RunPart
from areopage.bench.execution.start import check_models, same_models
from areopage.bench.spec import RunSpec
from areopage.errors import ModelError
from areopage.jury import check_model, reached_by
from areopage.models import ModelReference, ModelSettings
from areopage.suites import SharedSections
from areopage.work import is_on_this_machine

CODE = ("rules", "replay")
"""Providers of judges that call no server."""


class ServerShare(Struct, frozen=True, kw_only=True):
    """The part of a run that the workers of one server do.

    Args:
        key: the same in all processes of the run; "" for all of it.
        name: of the server, as users write it: `provider[@endpoint]`.
        servers: the keys of all its servers.
        models: that are called.
        phases: the names of its phases; None: all of the run, which cannot be parted.
    """

    key: str
    name: str
    part: RunPart
    servers: tuple[str, ...]
    models: tuple[ModelReference, ...]
    phases: tuple[str, ...] | None = None


def shares_of(stored: RunSpec) -> tuple[ServerShare, ...]:
    """Part a run by the servers of its models; judges that are code go with the first.

    Adaptive passes depend on all judges: such a run is one share.

    Args:
        stored: the specification as the ledger has it, so that all processes part the run in the same way.
    """
    asked, models = [model.reference for model in stored.answering], stored.models
    of = {model: server_of(model, stored.settings) for model in models}
    code = list(dict.fromkeys(of[judge.reference] for judge in stored.judges if not judge.is_model))
    named = servers(stored, stored.settings)
    parted = [server for server in named if server not in code] or named[:1]
    if stored.adaptive is not None or len(parted) == 1:
        return (ServerShare(key="", name=_name_of(models), part=WHOLE, servers=tuple(named), models=models),)
    return tuple(_share(stored, (server, *code) if not place else (server,), asked, of) for place, server in enumerate(parted))


def _share(
    stored: RunSpec, servers_of_share: Sequence[str], asked: Sequence[ModelReference], of: Mapping[ModelReference, str]
) -> ServerShare:
    answers = bool(asked) and of[asked[0]] in servers_of_share
    judges = [judge for judge in stored.judges if of[judge.reference] in servers_of_share]
    names = tuple(judge.name for judge in judges)
    models = tuple(dict.fromkeys([*(asked if answers else ()), *(judge.reference for judge in judges)]))
    return ServerShare(
        key=servers_of_share[0],
        name=_name_of([model for model in models if of[model] == servers_of_share[0]]),
        part=RunPart(answers=answers, judges=names, servers=tuple(servers_of_share)),
        servers=tuple(servers_of_share),
        models=models,
        phases=(TARGET_PHASE, *names) if answers else names,
    )


def _name_of(models: Sequence[ModelReference]) -> str:
    return ", ".join(dict.fromkeys(model.server for model in models))


def takes(models: Collection[ModelReference], endpoints: Collection[str]) -> bool:
    """Whether a worker that is limited to endpoints may call models.

    Args:
        endpoints: names of endpoints, providers for their usual servers, or `provider@endpoint`; none: there is no limit.
    """
    allowed = set(endpoints)
    called = [model for model in models if model.provider not in CODE]
    return not allowed or all({model.endpoint or model.provider, model.server} & allowed for model in called)


def at_worker(spec: RunSpec, configured: SharedSections) -> RunSpec:
    """A stored run as a worker reaches its models: by the worker's own configuration and environment."""
    settings = reached_by(spec.settings, configured, ())
    if settings.ollama_base_url and not is_on_this_machine(settings.ollama_base_url):
        settings = structs.replace(settings, ollama_base_url="")  # the suite names a server that the worker does not
    return structs.replace(spec, settings=settings)


def strangers(models: Sequence[ModelReference], settings: ModelSettings) -> str:
    """Why a worker calls no server for a share: one is named by the stored run and not by the worker's configuration; or ""."""
    for model, contact in settings.contacts(models).items():
        if contact.foreign:
            name = model.endpoint or model.model
            return f"{contact.address} is not in this worker's areopage.yml: define {name!r} there"
    return ""


async def check_share(spec: RunSpec, share: ServerShare) -> None:
    """Check that a share's models can be called, and are those that the run began with."""
    judges = tuple(judge for judge in spec.judges if share.part.judges is None or judge.name in share.part.judges)
    asks = share.part.answers
    part = structs.replace(
        spec, judges=judges, target=spec.target if asks else None, child=spec.child if asks else None, remarks=()
    )
    if refused := strangers(share.models, part.settings):
        raise ModelError(refused)
    if judges:
        same_models(part, await check_models(part, part.settings.with_environment()))
    else:  # a panel without judges cannot be checked
        for model in part.answering:
            status = await check_model(model.reference, part.settings.with_environment())
            if status.digest != model.digest:
                raise ModelError(f"{model.reference} is not the model that the run began with: start a new run")
