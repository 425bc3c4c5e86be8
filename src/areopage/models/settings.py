"""What an adapter needs to know of the user's configuration: servers, bots, keys and limits; built once at the edge."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from areopage.errors import AreopageError, ModelError, name_list
from areopage.models.contacts import HIDDEN, Agree, Contact, has_hidden, shown_address, variable_of, without_texts
from areopage.models.known_providers import KNOWN_PROVIDERS
from areopage.models.reference import ModelReference

_ONE_MODEL = ("ollama", "embedded")
"""Providers whose servers hold one model in memory unless the endpoint says otherwise."""

OLLAMA_PORT = 11434


class Timeouts(Struct, frozen=True, kw_only=True):
    """The four limits of one call, in seconds.

    `pool` waits for a free connection, `connect` for the server to accept, `read` for the next bytes
    (a model that does not stream sends none until it is done), `total` for all of it.
    """

    pool: float = 60.0
    connect: float = 5.0
    read: float = 600.0
    total: float = 900.0


class Endpoint(Struct, frozen=True, kw_only=True):
    """A server by name. The key is never in a file: `api_key_env` names the environment variable that holds it.

    `foreign`: a suite or a stored run names the server, not the user; see `areopage.models.contacts`.
    `concurrency` is how many calls may be open at once; None of the limits: none.
    `resident` is how many models the server holds in memory at once; None: one for Ollama, any number for others.
    `api_version` is that of Azure. `schema_mode` says how the server is told a JSON schema; "auto": as it is found out.
    """

    provider: str
    base_url: str
    api_key_env: str = ""
    headers: Mapping[str, str] = {}
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    resident: int | None = None
    api_version: str = ""
    schema_mode: Literal["auto", "json_schema", "json_object", "guided_json", "none"] = "auto"
    foreign: bool = False

    @property
    def contact(self) -> Contact:
        """Where its calls go."""
        return Contact(
            address=shown_address(self.base_url),
            variables=(self.api_key_env,) if self.api_key_env else (),
            foreign=self.foreign,
            lacks_secret=has_hidden(self.base_url, self.headers),
        )

    def without_secrets(self) -> Self:
        """The endpoint as a run stores it."""
        return replace(self, base_url=shown_address(self.base_url), headers=dict.fromkeys(self.headers, HIDDEN), foreign=True)


class Bot(Struct, frozen=True, kw_only=True):
    """A team's own bot: how it is asked, and where the answer stands in what it returns.

    `request` is the JSON body, or the query of a GET; "{prompt}" and "{id}" anywhere in its texts become the question and the
    case's id. `answer` and `documents` are dotted paths. A header's value, or its last word, may be `env:NAME`.
    `foreign` is as in `Endpoint`.
    """

    url: str
    method: Literal["POST", "GET"] = "POST"
    headers: Mapping[str, str] = {}
    request: Mapping[str, Any] = {}
    answer: str = "answer"
    documents: str = ""
    foreign: bool = False

    @property
    def contact(self) -> Contact:
        """Where its questions go."""
        variables = map(variable_of, self.headers.values())
        return Contact(
            address=shown_address(self.url),
            variables=tuple(name for name in variables if name),
            foreign=self.foreign,
            lacks_secret=has_hidden(self.url, self.headers) or repr(HIDDEN) in repr(self.request),
        )

    def without_secrets(self) -> Self:
        """The bot as a run stores it."""
        headers = {name: value if variable_of(value) else HIDDEN for name, value in self.headers.items()}
        request = without_texts(self.request)
        return replace(self, url=shown_address(self.url), headers=headers, request=request, foreign=True)


class ModelSettings(Struct, frozen=True, kw_only=True):
    """Everything an adapter may read.

    Args:
        endpoints: named servers, for references such as `openai@lab:model`.
        bots: bots by name, for references such as `http:support`.
        ollama_base_url: the server of the suite's active Ollama preset, "" where the suite names none.
        environment: the process's environment variables.
        allowed_variables: names of variables whose values foreign endpoints and bots may be sent.
        base_dir: the folder that relative paths of the suite start from.
        rules: the suite's `rules` section: parameters of the deterministic judges.
        personas: the personas of the run's language, by maturity, as plain objects.
        timeouts: limits of a call.
        connections: how many connections an adapter may hold open.
    """

    endpoints: Mapping[str, Endpoint] = {}
    bots: Mapping[str, Bot] = {}
    ollama_base_url: str = ""
    environment: Mapping[str, str] = {}
    allowed_variables: frozenset[str] = frozenset()
    base_dir: Path = Path()
    rules: Mapping[str, Any] = {}
    personas: Mapping[str, Any] = {}
    timeouts: Timeouts = Timeouts()
    connections: int = 64

    def allowing(self, variables: Iterable[str]) -> Self:
        """The settings with more variables that foreign servers may be sent."""
        return replace(self, allowed_variables=self.allowed_variables | {*variables})

    def with_environment(self) -> Self:
        """The settings with the environment of this process, which is never stored."""
        return replace(self, environment=dict(os.environ))

    def resident_models(self, reference: ModelReference) -> int | None:
        """How many models a model's server holds in memory at once; None: loading is not the caller's concern."""
        endpoint = self.endpoints.get(reference.endpoint)
        if endpoint is not None and endpoint.resident is not None:
            return endpoint.resident
        return 1 if reference.provider in _ONE_MODEL else None

    def with_timeout(self, seconds: float | None) -> Self:
        """The settings with another limit of a whole call; None: as they are."""
        if seconds is None:
            return self
        return replace(self, timeouts=replace(self.timeouts, read=seconds, total=seconds))

    # --- servers

    def endpoint_named(self, name: str, provider: str) -> Endpoint | None:
        """The endpoint of a name; None for no name.

        Raises:
            ModelError: no endpoint has the name, it belongs to another provider, or may not be sent the variable that it names.
        """
        if not name:
            return None
        endpoint = self.endpoints.get(name)
        if endpoint is None:
            names = name_list(sorted(self.endpoints)) or "none is defined"
            raise ModelError(
                f"unknown endpoint {name!r} in {provider}@{name}: use one of the configuration's endpoints ({names})"
            )
        if endpoint.provider != provider:
            raise ModelError(f"endpoint {name!r} belongs to {endpoint.provider}: write {endpoint.provider}@{name}:MODEL")
        endpoint.contact.check(self.environment, self.allowed_variables)
        return endpoint

    def address_of(self, provider_name: str, endpoint: str) -> tuple[str, str]:
        """Where a server is, and who named it: the named endpoint, else that of the provider's variable, else the provider's own.

        Ollama's is that of the suite's preset where OLLAMA_HOST names none.
        """
        provider, named = KNOWN_PROVIDERS[provider_name], self.endpoint_named(endpoint, provider_name)
        is_ollama = provider.protocol == "ollama"
        preset, variable = self.ollama_base_url if is_ollama else "", provider.url_variable
        if named is not None:
            url, source = named.base_url, f"endpoint {endpoint!r}"
        elif url := self.environment.get(variable, "").strip(" \t\r\n\"'"):
            source = f"{variable}; the suite's preset names {preset.rpartition('@')[2]}" if preset else variable
        elif preset:
            url, source = preset, f"the suite's active preset; {variable} would override it"
        elif provider.url:
            url, source = provider.url, f"the default; {variable} names another"
        else:
            raise ModelError(f"{provider_name} needs the address of your resource: set the environment variable {variable}")
        return ollama_url(url) if is_ollama else url, source

    def contact(self, reference: ModelReference) -> Contact | None:
        """The server of a model; None of a model in this process, and where the provider or the address is not known."""
        if reference.provider == "http":
            bot = self.bots.get(reference.model)
            return bot.contact if bot is not None else None
        if reference.endpoint:
            named = self.endpoints.get(reference.endpoint)
            return named.contact if named is not None else None
        if reference.provider not in KNOWN_PROVIDERS:
            return None
        key = KNOWN_PROVIDERS[reference.provider].key_variable
        try:
            address = shown_address(self.address_of(reference.provider, "")[0])
        except AreopageError:  # opening the model says so
            return None
        return Contact(address=address, variables=(key,) if key else ())

    def contacts(self, references: Iterable[ModelReference]) -> dict[ModelReference, Contact]:
        """The servers of some models, as far as there are any."""
        contacts = {reference: self.contact(reference) for reference in references}
        return {reference: contact for reference, contact in contacts.items() if contact is not None}

    def contact_lines(self, references: Iterable[ModelReference]) -> list[str]:
        """One line for each server: its address, the variables whose values it gets, and the models that are called there."""
        models: dict[Contact, list[str]] = {}
        for reference, contact in self.contacts(references).items():
            models.setdefault(contact, []).append(str(reference))
        lines = []
        for contact, names in models.items():
            sent = contact.sent(self.environment)
            key = f", with the value of {name_list(sent)}" if sent else ""
            lines.append(f"calls to {contact.address}{key}: {name_list(names)}")
        return lines

    def agreed_variables(self, references: Iterable[ModelReference], agree: Agree | None) -> tuple[str, ...]:
        """The variables that the user agrees to send to foreign servers of some models."""
        contacts, allowed = dict.fromkeys(self.contacts(references).values()), self.allowed_variables
        refused = [contact for contact in contacts if contact.not_allowed(self.environment, allowed)]
        if not refused or agree is None or not agree(refused):
            return ()
        return tuple(name for contact in refused for name in contact.variables)

    # --- what a run stores

    def without_secrets(self) -> Self:
        """The settings as a run stores them: no environment, no permissions, and no literal secret; see `with_secrets`."""
        return replace(
            self,
            environment={},
            allowed_variables=frozenset(),
            endpoints={name: endpoint.without_secrets() for name, endpoint in self.endpoints.items()},
            bots={name: bot.without_secrets() for name, bot in self.bots.items()},
            ollama_base_url=shown_address(self.ollama_base_url),
        )

    def with_secrets(self, configured: Self) -> Self:
        """Stored settings with those servers of others that differ from them in nothing but what is not stored."""
        bare = configured.without_secrets()
        endpoints = {
            name: configured.endpoints[name] for name, endpoint in bare.endpoints.items() if self.endpoints.get(name) == endpoint
        }
        bots = {name: configured.bots[name] for name, bot in bare.bots.items() if self.bots.get(name) == bot}
        same_ollama = bare.ollama_base_url == self.ollama_base_url
        return replace(
            self,
            endpoints={**self.endpoints, **endpoints},
            bots={**self.bots, **bots},
            ollama_base_url=configured.ollama_base_url if same_ollama else self.ollama_base_url,
        )


def ollama_url(host: str) -> str:
    """Read an address as Ollama's own tools do: `host`, `host:port`, `:port`, `http(s)://host[:port][/path]`.

    Without a scheme the port is 11434 by default; with one it is the scheme's. An address to listen on (0.0.0.0, ::)
    is taken as this machine.
    """
    scheme, separator, rest = host.strip().partition("://")
    if not separator:
        scheme, rest = "http", scheme
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError as error:
        raise ModelError(f"{host.rpartition('@')[2]!r} is not the address of an Ollama server: write host:port") from error
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104
    if ":" in name:
        name = f"[{name}]"
    if port is None and not separator:
        port = OLLAMA_PORT
    user_info, at, _ = parts.netloc.rpartition("@")
    return f"{scheme}://{user_info}{at}{name}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
