"""Which adapter serves which provider. Third parties register one through the entry point group `areopage.models`."""

from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from areopage.errors import ModelError, name_list
from areopage.models.port import LanguageModel
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

if TYPE_CHECKING:
    from areopage.models.servers import ListedModel

OpenModel = Callable[[ModelReference, ModelSettings], LanguageModel]
ListModels = Callable[[ModelSettings, str], Awaitable[Sequence["ListedModel"]]]

ENTRY_POINT_GROUP = "areopage.models"
BUILT_IN = {
    "ollama": "areopage.models.ollama",
    "openai": "areopage.models.openai",
    "embedded": "areopage.models.embedded",
    "replay": "areopage.models.replay",
    "rules": "areopage.models.rules",
    "http": "areopage.models.http_bot",
}


def provider_names() -> list[str]:
    """Every provider that can be named, built in or installed."""
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))})


def open_model(reference: ModelReference, settings: ModelSettings) -> LanguageModel:
    """Open the adapter of a reference; nothing is called yet.

    Each adapter module has a function `open_model(reference, settings)`; it is imported here, when it is wanted.

    Raises:
        ModelError: no such provider, or the reference does not fit it.
        MissingExtra: the adapter needs a package that is not installed.
    """
    module = BUILT_IN.get(reference.provider)
    if module is not None:
        return cast(OpenModel, import_module(module).open_model)(reference, settings)
    for point in entry_points(group=ENTRY_POINT_GROUP, name=reference.provider):
        return cast(OpenModel, point.load())(reference, settings)
    raise ModelError(f"unknown provider {reference.provider!r} in {reference}: use one of {name_list(provider_names(), 20)}")


async def listed_models(provider: str, endpoint: str, settings: ModelSettings) -> "Sequence[ListedModel]":
    """The models that a provider's server offers.

    Args:
        endpoint: a named server, "" for the usual one.

    Raises:
        ModelError: the provider is unknown or has no list.
        ServerDown: nothing answers.
    """
    if provider not in provider_names():
        raise ModelError(f"unknown provider {provider!r}: use one of {name_list(provider_names(), 20)}")
    list_models = getattr(import_module(BUILT_IN[provider]), "list_models", None) if provider in BUILT_IN else None
    if list_models is None:
        raise ModelError(f"the provider {provider} has no list of models")
    return await cast(ListModels, list_models)(settings, endpoint)
