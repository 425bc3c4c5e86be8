"""Look for model servers on this computer, at the ports that they use by default; asked only where the user wants it."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from areopage.errors import UserError
from areopage.models import Endpoint, ModelSettings, Timeouts, listed_models

_PORTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Ollama": ("ollama", "http://127.0.0.1:11434"),
        "llama.cpp": ("openai", "http://127.0.0.1:8080/v1"),
        "LM Studio": ("openai", "http://127.0.0.1:1234/v1"),
        "vLLM": ("openai", "http://127.0.0.1:8000/v1"),
    }
)
_TIMEOUTS = Timeouts(pool=2.0, connect=0.5, read=2.0, total=2.0)


class LocalServer(Struct, frozen=True, kw_only=True):
    """A model server on this computer, named by the program that usually listens at its address; it has one model at least."""

    name: str
    provider: str
    address: str
    models: tuple[str, ...]

    @property
    def reference(self) -> str:
        """The first model, as commands name it."""
        return f"{self.provider}:{self.models[0]}"

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """The environment variables by which commands find the server."""
        return () if self.provider == "ollama" else (("OPENAI_BASE_URL", self.address),)


async def local_servers() -> tuple[LocalServer, ...]:
    """The servers that answer and have a model."""
    servers = await asyncio.gather(*(_server(name, *place) for name, place in _PORTS.items()))
    return tuple(server for server in servers if server is not None)


async def _server(name: str, provider: str, address: str) -> LocalServer | None:
    endpoint = Endpoint(provider=provider, base_url=address)
    try:
        models = await listed_models(provider, "here", ModelSettings(endpoints={"here": endpoint}, timeouts=_TIMEOUTS))
    except UserError:
        return None  # nothing listens there, or something else
    names = tuple(model.name for model in models)
    return LocalServer(name=name, provider=provider, address=address, models=names) if names else None
