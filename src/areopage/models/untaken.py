"""Options that a model does not take: known beforehand, or learnt from the server's first refusal.

A reasoning model refuses `max_tokens` in favour of `max_completion_tokens`, and any temperature but its own; some models take no
`seed`. The server names the option in a 400. The call is made again without it, later calls leave it out at once, and each
judgment says so in its steps.
"""

import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from areopage.errors import CallRejected
from areopage.models.port import NOT_SENT

_FIXED = frozenset(
    {"model", "messages", "stream", "system", "response_format", "guided_json", "output_config", "tools", "tool_choice"}
)
_ELSEWHERE = frozenset({"logprobs", "top_logprobs"})
"""A judge decides what a refusal of these means."""
_SIGNS = re.compile(
    r"unsupported|not supported|(?:does not|doesn't) support|deprecated|unrecognized|unknown (?:parameter|field|name)|"
    r"extra inputs are not permitted|not permitted|not allowed|unexpected (?:keyword|field)|was unexpected|"
    r"not a valid (?:parameter|option|field)|cannot both|can not both|mutually exclusive|only the default|may only be set|"
    r"(?:is|are)n['’]t (?:supported|allowed|available)|(?:does not|doesn['’]t) accept|unavailable|not available|"
    r"invalid parameter|is invalid for|pas (?:pris(?:e|es)? en charge|support[ée]e?s?|autoris[ée]e?s?)|"
    # a model that takes one value alone, or refuses the end of the usual range
    r"must be 1\b|only 1(?:\.0)?\b|strictly positive|greater than 0|less than 1\b|> ?0(?:\.0)?\b|< ?1(?:\.0)?\b|in \(0",
    re.IGNORECASE,
)
_NOT_BOTH = re.compile(r"cannot both|can not both|not both|mutually exclusive|only one of", re.IGNORECASE)
_NO_SYSTEM = re.compile(
    r"\b(?:system|developer)\b['\"`]?(?:[ _-](?:role|message|instruction|prompt)s?)?[^.]{0,40}"
    r"(?:not (?:be )?(?:supported|enabled|allowed|permitted|accepted)|unsupported|must be removed)|"
    r"(?:does not|doesn't|do not|don't) support (?:a |the )?['\"`]?(?:system|developer)\b|"
    r"only [^.]{0,60}\broles\b|roles must alternate|"
    r"(?:unexpected|invalid|unknown|unrecognized) role\W{0,4}(?:system|developer)\b|"
    r"\b(?:system|developer)['\"`]? is not one of|\brole\b[^.]{0,20}should be ['\"`]user['\"`] or ['\"`](?:assistant|model)\b",
    re.IGNORECASE,
)
SYSTEM_ROLE = "system_role"
"""The note of a system message that was put at the beginning of the user's first message."""
_NEW_LIMIT, _OLD_LIMIT = "max_completion_tokens", "max_tokens"


class Untaken:
    """What one model does not take, as far as it is known."""

    def __init__(self) -> None:
        self._dropped: set[str] = set()
        self._new_limit = False
        self._folds_system = False

    def learn(self, fault: CallRejected, body: Mapping[str, Any]) -> bool:
        """Learn from a rejection; whether the same call is worth another try without what it names."""
        message = str(fault)
        if fault.status not in (400, 422):
            return False
        if self.learn_system(message, body):
            return True
        refused = _SIGNS.search(message) is not None
        if _OLD_LIMIT in body and not self._new_limit and (_NEW_LIMIT in message or (refused and _names(_OLD_LIMIT, message))):
            self._new_limit = True
            return True
        if not refused:
            return False
        candidates = body.keys() - _FIXED - _ELSEWHERE - {_OLD_LIMIT, _NEW_LIMIT}
        named = {name for name in candidates if _names(name, message)} - self._dropped
        if len(named) > 1 and _NOT_BOTH.search(message):
            named -= {"temperature"}
        self._dropped |= named
        return bool(named)

    def learn_system(self, message: str, body: Mapping[str, Any]) -> bool:
        """Learn that the model has no system role; whether the same call is worth another try without one."""
        if self._folds_system or not _has_system(body) or not _NO_SYSTEM.search(message):
            return False
        self._folds_system = True
        return True

    def applied(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request without what the model does not take."""
        if self._new_limit and _OLD_LIMIT in body:
            limit = body[_OLD_LIMIT]
            body = {**body, _NEW_LIMIT: body.get(_NEW_LIMIT, limit)}
            del body[_OLD_LIMIT]
        if self._folds_system and _has_system(body):
            body = {**body, "messages": folded_system(body["messages"])}
        if self._dropped:
            return {name: value for name, value in body.items() if name not in self._dropped}
        return body

    def notes(self, asked: Iterable[str], unsent: frozenset[str]) -> tuple[str, ...]:
        """What is noted of a call: a line for each option asked for and not sent; the provider never has the `unsent` ones."""
        if not self._dropped and not unsent and not self._folds_system:
            return ()
        folded = (f"{NOT_SENT}{SYSTEM_ROLE}",) if self._folds_system else ()
        return (*folded, *(f"{NOT_SENT}{name}" for name in asked if name in self._dropped or name in unsent))


def _names(option: str, message: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(option)}(?!\w)", message, re.IGNORECASE) is not None


def _has_system(body: Mapping[str, Any]) -> bool:
    messages = body.get("messages")
    return isinstance(messages, list) and any(message.get("role") == "system" for message in messages)


def folded_system(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Messages whose system messages stand at the beginning of the first one of the user."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    first = next((message for message in others if message["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(system)}, *others]
    first["content"] = "\n\n".join([*system, first["content"]])
    return others


def renamed(body: MutableMapping[str, Any], names: Mapping[str, str], unsent: frozenset[str]) -> None:
    """Give options the names that a provider has for them, and leave out those that it does not have."""
    for name in unsent:
        body.pop(name, None)
    for name, other in names.items():
        if name in body:
            value = body.pop(name)
            body.setdefault(other, value)
