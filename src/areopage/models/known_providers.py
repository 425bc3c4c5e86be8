"""Providers of model servers: where their servers are, how keys are sent, and how those of the OpenAI protocol differ from it.

Data and pure functions, no calls. Written from the providers' documentation as it stood in autumn 2026: Azure OpenAI (v1 API, and
dated API versions up to 2024-10-21), Mistral (chat completions), OpenRouter (chat completions), Anthropic (Messages API), and the
OpenAI-compatible interfaces of the others. A provider that is not here is an endpoint of the configuration, by its base URL and
the variable of its key.
"""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from msgspec import Struct

Protocol = Literal["openai", "anthropic", "ollama"]
SchemaMode = Literal["json_schema", "json_object", "guided_json", "tool", "none"]
"""How a server is told that the answer must fit a JSON schema.

`json_schema` and `json_object` are values of `response_format`, `guided_json` is the field of older versions of vLLM, `tool` is a
tool that the model must call, and `none` leaves it to the prompt.
"""
VERSION_VARIABLES = ("OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION")
_UNDATED = ("", "v1", "latest", "preview")
"""API versions of Azure that belong to its v1 API."""
_LOGPROBS = frozenset({"logprobs", "top_logprobs"})


class Provider(Struct, frozen=True, kw_only=True):
    """One provider.

    Args:
        name: what references begin with.
        protocol: the module of `areopage.models` that speaks it.
        kind: of its servers, for messages; `advice` says what to do where none answers.
        url: its usual base URL; "" where the user's account has one of its own.
        url_variable: the environment variable that names another base URL.
        key_variable: the environment variable that holds the key; "" where no key is sent.
        key_header: the header that carries the key; "" for `Authorization: Bearer KEY`.
        headers: of each request, beside the key.
        needs_key: whether its usual server, or every server where there is none, refuses calls without a key.
        renamed: options that have another name there.
        unsent: options that it does not have.
        added: fields of each request that names no other value for them.
        modes: the ways of stating a schema, in the order in which they are tried: older models do not take all of them.
        lists: whether it lists the models that can be called.
        hosted: whether it rejects a prompt that does not fit, and does not cut it.
    """

    name: str
    protocol: Protocol = "openai"
    kind: str = "OpenAI-compatible server"
    advice: str = "start it, or correct the address"
    url: str = ""
    url_variable: str = ""
    key_variable: str = ""
    key_header: str = ""
    headers: Mapping[str, str] = {}
    needs_key: bool = True
    renamed: Mapping[str, str] = {}
    unsent: frozenset[str] = frozenset()
    added: Mapping[str, Any] = {}
    modes: tuple[SchemaMode, ...] = ("json_schema", "json_object", "none")
    lists: bool = True
    hosted: bool = True

    @property
    def host(self) -> str:
        """The host of its usual server."""
        return urlsplit(self.url).hostname or ""


def _cloud(name: str, url: str, variable: str, **differences: Any) -> Provider:
    return Provider(name=name, url=url, url_variable=f"{name.upper()}_BASE_URL", key_variable=variable, **differences)


def _local(name: str, url: str) -> Provider:
    """A server on this machine, or wherever its variable says; it may have a key."""
    return _cloud(name, url, f"{name.upper()}_API_KEY", needs_key=False, hosted=False)


_ALL = (
    _cloud(
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        protocol="anthropic",
        kind="server of the Messages API",
        advice="correct the address",
        key_header="x-api-key",
        headers={"anthropic-version": "2023-06-01"},
        unsent=_LOGPROBS | {"seed", "frequency_penalty", "presence_penalty", "repeat_penalty", "min_p"},
        modes=("json_schema", "tool", "none"),
    ),
    Provider(
        name="ollama",
        protocol="ollama",
        kind="Ollama server",
        advice="start it with: ollama serve",
        url="http://localhost:11434",
        url_variable="OLLAMA_HOST",
        needs_key=False,
        modes=("json_schema",),
        hosted=False,
    ),
    _cloud("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Provider(
        name="azure",
        url_variable="AZURE_OPENAI_ENDPOINT",
        key_variable="AZURE_OPENAI_API_KEY",
        key_header="api-key",
        lists=False,  # the list has the models of the region, not the deployments
    ),
    _cloud(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        renamed={"seed": "random_seed", "max_completion_tokens": "max_tokens"},
        unsent=_LOGPROBS,
    ),
    # without `transforms` it may drop the middle of a prompt that does not fit
    _cloud("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", added={"transforms": []}),
    _cloud("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    _cloud("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", modes=("json_object", "none")),
    _cloud("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    _cloud("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    _cloud("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", unsent=_LOGPROBS),
    _cloud("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    _cloud("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
    _local("litellm", "http://127.0.0.1:4000/v1"),
    _local("llamacpp", "http://127.0.0.1:8080/v1"),
    _local("lmstudio", "http://127.0.0.1:1234/v1"),
    _local("vllm", "http://127.0.0.1:8000/v1"),
)
KNOWN_PROVIDERS: Mapping[str, Provider] = {provider.name: provider for provider in _ALL}
"""The providers by name."""


def may_cost(provider: str) -> bool:
    """Whether calls to a provider's models may cost money: a key is sent to its server."""
    return provider in KNOWN_PROVIDERS and bool(KNOWN_PROVIDERS[provider].key_variable)


def place_of(
    provider: Provider, url: str, api_version: str | None, environment: Mapping[str, str], model: str
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Where a model of a server is called: a base URL, and what follows each path behind a `?`.

    Azure differs: `https://NAME.openai.azure.com` has its v1 API under `/openai/v1`, and under a dated API version each
    deployment has a path of its own.

    Args:
        url: the base URL that the user gave; an API version in it goes before others.
        api_version: that of a named server, in place of the environment's.
    """
    if provider.protocol == "anthropic":
        return url.strip().rstrip("/").removesuffix("/v1"), ()
    if provider.name != "azure":
        return url, ()
    variables = (environment.get(name, "").strip() for name in VERSION_VARIABLES)
    version = next(filter(None, variables), "") if api_version is None else api_version
    parts = urlsplit(url.strip())
    asked = parse_qs(parts.query).get("api-version", [version])[0].strip()
    path = parts.path.partition("/openai")[0].rstrip("/")
    root = f"{parts.scheme}://{parts.netloc}{path}/openai"
    if asked in _UNDATED:
        query = (("api-version", asked),) if asked in ("latest", "preview") else ()
        return f"{root}/v1", query
    deployment = f"/deployments/{quote(model, safe='')}" if model else ""
    return root + deployment, (("api-version", asked),)
