"""Which adapter serves which provider, and which servers its models are called at.

Third parties register an adapter through the entry point group `areopage.models`.
"""

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from areopage.errors import AreopageError, ModelError, name_list
from areopage.models.contacts import Agree, Contact, contact_of_bot, contact_of_endpoint, shown_address
from areopage.models.dialects import DIALECTS
from areopage.models.port import LanguageModel
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from areopage.models.servers import ListedModel

Open = Callable[[ModelReference, ModelSettings], Any]
ListModels = Callable[..., Awaitable[Sequence["ListedModel"]]]

ENTRY_POINT_GROUP = "areopage.models"
BUILT_IN = {
    **dict.fromkeys(DIALECTS, "areopage.models.openai:open_model"),
    "anthropic": "areopage.models.anthropic:open_model",
    "ollama": "areopage.models.ollama:open_model",
    "embedded": "areopage.embedded:open_model",
    "replay": "areopage.models.replay:open_model",
    "http": "areopage.models.http_bot:open_model",
}


def installed_names(group: str, built_in: Mapping[str, str]) -> list[str]:
    """The providers of an entry point group, built in or installed."""
    return sorted({*built_in, *(point.name for point in _installed(group, tuple(sys.path)))})


def is_provider(name: str, group: str, built_in: Mapping[str, str]) -> bool:
    """Whether a provider is built in or installed; what is installed is searched only for one that is not built in."""
    return name in built_in or any(point.name == name for point in _installed(group, tuple(sys.path)))


@lru_cache(maxsize=8)
def _installed(group: str, path: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """What is installed along a path; the search takes milliseconds."""
    from importlib.metadata import entry_points  # takes long, and built-in providers do without

    return tuple(entry_points(group=group))


def load_provider(name: str, group: str, built_in: Mapping[str, str]) -> Open | None:
    """The function that opens a provider's adapters, imported here; None where there is no such provider.

    Args:
        built_in: "module:function" by name, as an entry point is written; these win over installed ones.
    """
    if name in built_in:
        module, _, function = built_in[name].partition(":")
        return cast(Open, getattr(import_module(module), function))
    return next((cast(Open, one.load()) for one in _installed(group, tuple(sys.path)) if one.name == name), None)


def provider_names() -> list[str]:
    """Every provider of language models that can be named, built in or installed."""
    return installed_names(ENTRY_POINT_GROUP, BUILT_IN)


def serves_models(provider: str) -> bool:
    """Whether a provider is one of language models, built in or installed."""
    return is_provider(provider, ENTRY_POINT_GROUP, BUILT_IN)


def open_model(reference: ModelReference, settings: ModelSettings) -> LanguageModel:
    """Open the adapter of a reference; nothing is called yet.

    Raises:
        ModelError: no such provider, or the reference does not fit it.
        MissingExtra: the adapter needs a package that is not installed.
    """
    open_adapter = load_provider(reference.provider, ENTRY_POINT_GROUP, BUILT_IN)
    if open_adapter is None:
        names = name_list(provider_names(), 30)
        raise ModelError(f"unknown provider {reference.provider!r} in {reference}: use one of {names}")
    return cast(LanguageModel, open_adapter(reference, settings))


async def listed_models(provider: str, endpoint: str, settings: ModelSettings) -> "Sequence[ListedModel]":
    """The models that a provider's server offers.

    Args:
        endpoint: a named server, "" for the usual one.

    Raises:
        ModelError: the provider is unknown or has no list.
        ServerDown: nothing answers.
    """
    if not serves_models(provider):
        raise ModelError(f"unknown provider {provider!r}: use one of {name_list(provider_names(), 30)}")
    list_models = _function_of(provider, "list_models", "areopage.models.openai_server" if provider in DIALECTS else "")
    if list_models is None:
        raise ModelError(f"the provider {provider} cannot list models")
    if provider in DIALECTS:
        return await cast(ListModels, list_models)(settings, endpoint, provider)
    return await cast(ListModels, list_models)(settings, endpoint)


def pull_model(reference: ModelReference, environment: Mapping[str, str], progress: Callable[[str], None]) -> Path:
    """Fetch a model into the user's cache.

    Args:
        progress: told in a few words what happens.

    Raises:
        ModelError: models of this provider are not fetched this way, or this model cannot be had.
        StorageError: the cache cannot be written.
    """
    pull = _function_of(reference.provider, "pull_model")
    if pull is None:
        raise ModelError(f"`models pull` supports only embedded:smollm2; for models of Ollama run: ollama pull {reference.model}")
    return cast(Path, pull(reference, environment, progress))


def _function_of(provider: str, name: str, module: str = "") -> Callable[..., Any] | None:
    """A function beside the one that opens a built-in provider's models, or in another module; None where there is none."""
    module = module or BUILT_IN.get(provider, "").partition(":")[0]
    return getattr(import_module(module), name, None) if module else None


def contacts_of(references: Iterable[ModelReference], settings: ModelSettings) -> dict[ModelReference, Contact]:
    """The servers of some models; models in this process, and those of providers that do not tell, have none."""
    found = {reference: _contact_of(reference, settings) for reference in references}
    return {reference: contact for reference, contact in found.items() if contact is not None}


def agreed_variables(references: Iterable[ModelReference], settings: ModelSettings, agree: Agree | None) -> tuple[str, ...]:
    """The variables that the user agrees to send to foreign servers of some models.

    Args:
        settings: with the environment.
    """
    contacts = dict.fromkeys(contacts_of(references, settings).values())
    asked = [contact for contact in contacts if contact.not_allowed(settings)]
    if not asked or agree is None or not agree(asked):
        return ()
    return tuple(name for one in asked for name in one.variables)


def contact_lines(references: Iterable[ModelReference], settings: ModelSettings) -> list[str]:
    """One line for each server: its address, the variables whose values it gets, and the models that are called there."""
    by_contact: dict[Contact, list[str]] = {}
    for reference, contact in contacts_of(references, settings).items():
        by_contact.setdefault(contact, []).append(str(reference))
    lines = []
    for contact, models in by_contact.items():
        sent = contact.sent(settings.environment)
        key = f", with the value of {name_list(sent)}" if sent else ""
        lines.append(f"calls to {contact.address}{key}: {name_list(models)}")
    return lines


def _contact_of(reference: ModelReference, settings: ModelSettings) -> Contact | None:
    if reference.provider == "http":
        bot = settings.bots.get(reference.model)
        return contact_of_bot(bot) if bot is not None else None
    if reference.endpoint:
        named = settings.endpoints.get(reference.endpoint)
        return contact_of_endpoint(named) if named is not None else None
    try:
        if reference.provider in DIALECTS:
            from areopage.models import openai_server

            url = openai_server.server_address("", settings, reference.provider).url
            return Contact(address=shown_address(url), variables=(DIALECTS[reference.provider].key_variable,))
        if reference.provider == "anthropic":
            from areopage.models import anthropic

            url = anthropic.server_address("", settings).url
            return Contact(address=shown_address(url), variables=(anthropic.KEY_VARIABLE,))
        if reference.provider == "ollama":
            from areopage.models import ollama

            return Contact(address=shown_address(ollama.server_address("", settings).url))
    except AreopageError:  # an address is none: opening the model says so
        return None
    return None
