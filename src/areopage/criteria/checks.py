"""Exact checks of a response, which code answers: what is checked, and for which prompt."""

from typing import Literal

from msgspec import Struct

from areopage.digest import digest_of

CheckType = Literal[
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "contains-all",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "is-json",
    "is-refusal",
]


class Check(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One exact check; `negated`: the response must not have what the check looks for."""

    type: CheckType
    values: tuple[str, ...] = ()
    negated: bool = False


def prompt_digest(prompt: str) -> str:
    """The key of a prompt's checks."""
    return digest_of(prompt)[:16]
