"""What an adapter needs to know of the user's configuration; built once at the edge."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from areopage.models.reference import ModelReference

_ONE_MODEL = ("ollama", "embedded")
"""Providers whose servers hold one model in memory unless the endpoint says otherwise."""


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
