"""Which adapter serves which provider. Third parties register one through the entry point group `areopage.models`."""

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from areopage.errors import ModelError, name_list
from areopage.extensions import imported, registered
from areopage.models.known_providers import KNOWN_PROVIDERS
from areopage.models.port import LanguageModel
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.metadata import EntryPoint

    from areopage.models.servers import ListedModel

Open = Callable[[ModelReference, ModelSettings], Any]


class Adapters(Struct, frozen=True, kw_only=True):
    """What opens the models, or the judges, of each provider.

    Args:
        group: the entry point group under which third parties register theirs.
        built_in: "module:function" by name, as an entry point is written; these win over installed ones.
    """

    group: str
    built_in: Mapping[str, str]

    def names(self) -> list[str]:
        """Every provider, built in or installed."""
        return sorted({*self.built_in, *(point.name for point in _installed(self.group, tuple(sys.path)))})

    def __contains__(self, name: str) -> bool:
        """Whether there is such a provider; what is installed is searched only for one that is not built in."""
        return name in self.built_in or any(point.name == name for point in _installed(self.group, tuple(sys.path)))

    def load(self, name: str) -> Open | None:
        """The function that opens a provider's adapters, imported here; None where there is no such provider."""
        if name in self.built_in:
            return cast(Open, imported(self.built_in[name]))
        points = (point for point in _installed(self.group, tuple(sys.path)) if point.name == name)
        return next((cast(Open, point.load()) for point in points), None)


MODEL_ADAPTERS = Adapters(
    group="areopage.models",
    built_in={
        **{name: f"areopage.models.{provider.protocol}:open_model" for name, provider in KNOWN_PROVIDERS.items()},
        "replay": "areopage.models.replay:open_model",
        "http": "areopage.models.http_bot:open_model",
        **registered("models"),
    },
)
"""The adapters of language models."""

JUDGE_ADAPTERS = Adapters(
    group="areopage.judges",
    built_in={"rules": "areopage.jury.rules:open_judge", "replay": "areopage.jury.replay_judge:open_judge"},
)
"""The adapters of judges that are not language models."""


@lru_cache(maxsize=8)
def _installed(group: str, path: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """What is installed along a path; the search takes milliseconds."""
    from importlib.metadata import entry_points  # takes long, and built-in providers do without

    return tuple(entry_points(group=group))


def open_model(reference: ModelReference, settings: ModelSettings) -> LanguageModel:
    """Open the adapter of a reference; nothing is called yet.

    Raises:
        ModelError: no such provider, or the reference does not fit it.
        MissingExtra: the adapter needs a package that is not installed.
    """
    open_adapter = MODEL_ADAPTERS.load(reference.provider)
    if open_adapter is None:
        names = name_list(MODEL_ADAPTERS.names(), 30)
        raise ModelError(f"unknown provider {reference.provider!r} in {reference}: use one of {names}")
    return cast(LanguageModel, open_adapter(reference, settings))


async def listed_models(provider: str, endpoint: str, settings: ModelSettings) -> "Sequence[ListedModel]":
    """The models that a provider's server offers.

    Raises:
        ModelError: the provider is unknown or has no list.
        ServerDown: nothing answers.
    """
    if provider not in MODEL_ADAPTERS:
        raise ModelError(f"unknown provider {provider!r}: use one of {name_list(MODEL_ADAPTERS.names(), 30)}")
    if provider not in KNOWN_PROVIDERS:
        raise ModelError(f"the provider {provider} cannot list models")
    if not KNOWN_PROVIDERS[provider].lists:
        raise ModelError(f"{provider} does not list what can be called there: name a deployment, as in {provider}:NAME")
    from areopage.models.servers import ModelServer

    server = ModelServer(provider, endpoint, settings)
    try:
        models = await import_module(f"areopage.models.{server.provider.protocol}").listed(server)
    finally:
        await server.http.aclose()
    if models is None:
        raise ModelError(f"{server.address} does not list models: correct the base URL, which usually ends in /v1")
    return cast("Sequence[ListedModel]", models)


def pull_model(reference: ModelReference, environment: Mapping[str, str], progress: Callable[[str], None]) -> Path:
    """Fetch a model into the user's cache.

    Args:
        progress: told in a few words what happens.
    """
    place = registered("downloads").get(reference.provider)
    if place is None:
        raise ModelError(f"`models pull` supports only embedded:smollm2; for models of Ollama run: ollama pull {reference.model}")
    return cast(Path, imported(place)(reference, environment, progress))
