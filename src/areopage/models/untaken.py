"""Options that a model does not take: known beforehand, or learnt from the server's first refusal.

A reasoning model refuses `max_tokens` in favour of `max_completion_tokens`, and any temperature but its own; some models take no
`seed`. The server names the option in a 400. The call is made again without it, later calls leave it out at once, and each
judgment says so in its steps.
"""

import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from areopage.errors import CallRejected
from areopage.models.call_notes import NOT_SENT

_FIXED = frozenset(
    {"model", "messages", "stream", "system", "response_format", "guided_json", "output_config", "tools", "tool_choice"}
)
_ELSEWHERE = frozenset({"logprobs", "top_logprobs"})
"""A judge decides what a refusal of these means."""
_SIGNS = re.compile(
    r"unsupported|not supported|(?:does not|doesn't) support|deprecated|unrecognized|unknown (?:parameter|field|name)|"
    r"extra inputs are not permitted|not permitted|not allowed|unexpected (?:keyword|field)|only the default|may only be set",
    re.IGNORECASE,
)
_NEW_LIMIT, _OLD_LIMIT = "max_completion_tokens", "max_tokens"


class Untaken:
    """What one model does not take, as far as it is known."""

    def __init__(self) -> None:
        self._dropped: set[str] = set()
        self._new_limit = False

    def learn(self, fault: CallRejected, body: Mapping[str, Any]) -> bool:
        """Learn from a rejection; whether the same call is worth another try without what it names."""
        if fault.status not in (400, 422) or not _SIGNS.search(message := str(fault)):
            return False
        if _OLD_LIMIT in body and _NEW_LIMIT in message and not self._new_limit:
            self._new_limit = True
            return True
        candidates = body.keys() - _FIXED - _ELSEWHERE - {_OLD_LIMIT, _NEW_LIMIT}
        named = {name for name in candidates if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", message)} - self._dropped
        self._dropped |= named
        return bool(named)

    def applied(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request without what the model does not take."""
        if self._new_limit and _OLD_LIMIT in body:
            limit = body[_OLD_LIMIT]
            body = {**body, _NEW_LIMIT: body.get(_NEW_LIMIT, limit)}
            del body[_OLD_LIMIT]
        if self._dropped:
            return {name: value for name, value in body.items() if name not in self._dropped}
        return body

    def notes(self, asked: Iterable[str], known: frozenset[str]) -> tuple[str, ...]:
        """What is noted of a call: one line for each option that was asked for and not sent.

        Args:
            asked: the names of the options.
            known: those that the provider is known not to have.
        """
        if not self._dropped and not known:
            return ()
        return tuple(f"{NOT_SENT}{name}" for name in asked if name in self._dropped or name in known)


def renamed(body: MutableMapping[str, Any], names: Mapping[str, str], unsent: frozenset[str]) -> None:
    """Give options the names that a provider has for them, and leave out those that it does not have."""
    for name in unsent:
        body.pop(name, None)
    for name, other in names.items():
        if name in body:
            value = body.pop(name)
            body.setdefault(other, value)
