"""Keys in a configuration: written out, or better named as `env:VARIABLE`."""

from collections.abc import Mapping

from areopage.rag.config import RagConfig

FROM_ENVIRONMENT = "env:"


def secret(config: RagConfig, environment: Mapping[str, str], text: str, *keys: str) -> str:
    """A key's value; `keys` is where the configuration has it.

    Raises:
        ConfigError: the variable that it names is not set.
    """
    if not text.startswith(FROM_ENVIRONMENT):
        return text
    name = text.removeprefix(FROM_ENVIRONMENT)
    value = environment.get(name, "").strip()
    if not value:
        raise config.fault(f"names the environment variable {name}, which is not set", *keys)
    return value
