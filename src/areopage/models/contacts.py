"""Where calls to models go: addresses, and the environment variables whose values are sent there.

A suite or a stored run may come from a stranger. The endpoints and bots that it defines are foreign: a variable that one of them
names is sent only where the user allows it, or where it is the key of the very provider at that address.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from areopage.errors import ModelError, name_list
from areopage.models.known_providers import KNOWN_PROVIDERS

PROVIDER_KEYS = {
    provider.key_variable: provider.host for provider in KNOWN_PROVIDERS.values() if provider.needs_key and provider.host
}
"""The usual variables of providers' keys, and the host that each belongs to."""

FROM_ENVIRONMENT = "env:"
HIDDEN = "***"
_SECRET_NAME = re.compile(r"key|token|secret|passw|auth", re.IGNORECASE)
"""Names of a bot's fields whose values are not stored."""
_ADDRESS = re.compile(r"((?:[^/?#]*://)?)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(.*)", re.DOTALL)


class Contact(Struct, frozen=True, kw_only=True):
    """A server that models are called at.

    Args:
        address: without its credentials and its query.
        variables: the environment variables whose values are sent.
        foreign: see `Endpoint`.
        lacks_secret: it was read from a stored run, which has no secrets.
    """

    address: str
    variables: tuple[str, ...] = ()
    foreign: bool = False
    lacks_secret: bool = False

    def sent(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """The variables that have a value, so that it is sent."""
        return tuple(name for name in self.variables if environment.get(name, "").strip())

    def not_allowed(self, environment: Mapping[str, str], allowed: Collection[str]) -> tuple[str, ...]:
        """The variables whose values would be sent, and that the user has not allowed."""
        if not self.foreign:
            return ()
        parts = urlsplit(self.address)
        host = parts.netloc.rpartition("@")[2] if parts.scheme == "https" else ""
        sent = (name for name in self.sent(environment) if name not in allowed)
        return tuple(name for name in sent if not host or host != PROVIDER_KEYS.get(name))

    def check(self, environment: Mapping[str, str], allowed: Collection[str]) -> None:
        """Check that calls can be made.

        Raises:
            ModelError: a variable may not be sent, or a secret is missing.
        """
        if self.lacks_secret:
            raise ModelError(
                f"the secrets for {self.address} are not in the ledger: define the server under the same name in areopage.yml, "
                "or put the suite back where the run began"
            )
        if refused := self.not_allowed(environment, allowed):
            raise ModelError(
                f"the suite or the stored run would send the value of {name_list(refused)} to {self.address}: to allow it, list "
                f"the variable under allowed_variables in areopage.yml, or give a benchmark --allow-variable {refused[0]}"
            )


Agree = Callable[[Sequence[Contact]], bool]
"""Asks the user whether servers of a suite may be sent the variables that they name. Without it, or if not, they may not."""


def variable_of(header: str) -> str:
    """The variable that a bot's header names as its last word, "" for none."""
    last = header.rpartition(" ")[2]
    return last.removeprefix(FROM_ENVIRONMENT) if last.startswith(FROM_ENVIRONMENT) else ""


def shown_address(url: str) -> str:
    """An address without its secrets: its credentials and its query are hidden."""
    match = _ADDRESS.fullmatch(url.strip())
    if match is None:
        return HIDDEN
    scheme, credentials, host, path, rest = match.groups()
    return f"{scheme}{f'{HIDDEN}@' if credentials is not None else ''}{host}{path}{f'{rest[0]}{HIDDEN}' if rest else ''}"


def without_texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A bot's request without the texts in fields that are named like a secret; a text with a placeholder is none."""
    return {
        name: without_texts(value)
        if isinstance(value, Mapping)
        else HIDDEN
        if isinstance(value, str) and "{" not in value and _SECRET_NAME.search(name)
        else value
        for name, value in fields.items()
    }


def has_hidden(url: str, headers: Mapping[str, str]) -> bool:
    """Whether a secret was taken out of an address or of headers."""
    return f"{HIDDEN}@" in url or url.endswith((f"?{HIDDEN}", f"#{HIDDEN}")) or HIDDEN in headers.values()
