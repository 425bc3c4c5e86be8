"""What the headers of an answer say of a server's limits of requests and tokens: those of OpenAI, Anthropic and Mistral.

Sources: "Rate limits" in the documentations of the OpenAI API (`x-ratelimit-remaining-requests`, `x-ratelimit-reset-requests`: a
duration such as `6m0s`) and of the Anthropic API (`anthropic-ratelimit-requests-remaining`,
`anthropic-ratelimit-requests-reset`: a moment as in RFC 3339). Groq, Azure and Together send those of OpenAI. Mistral names the
window in the header (`x-ratelimit-remaining-req-minute`) and states no reset. What cannot be read is ignored.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct

LimitKind = Literal["requests", "tokens"]

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)")
_DURATION = re.compile(f"(?:{_PART.pattern})+")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_OPENAI: tuple[LimitKind, ...] = ("requests", "tokens")
_ANTHROPIC: dict[str, LimitKind] = {
    "requests": "requests",
    "tokens": "tokens",
    "input-tokens": "tokens",
    "output-tokens": "tokens",
}
_PATTERNS: list[tuple[LimitKind, str]] = [
    *((kind, f"x-ratelimit-{{}}-{kind}") for kind in _OPENAI),
    *((kind, f"anthropic-ratelimit-{name}-{{}}") for name, kind in _ANTHROPIC.items()),
]
_NAMES = [(kind, name.format("remaining"), name.format("reset"), name.format("limit")) for kind, name in _PATTERNS]
_BY_MINUTE: list[tuple[LimitKind, str, str]] = [
    ("requests", "x-ratelimit-remaining-req-minute", "x-ratelimit-limit-req-minute"),
    ("tokens", "x-ratelimit-remaining-tokens-minute", "x-ratelimit-limit-tokens-minute"),
]
_MINUTE = "60s"
LONGEST_HEADER = 64


class Allowance(Struct, frozen=True, kw_only=True):
    """What is left of a limit.

    Args:
        kind: of what.
        left: how many, at least 0.
        seconds: until the limit is whole again, at least 0.
        limit: how many there are then, None where the server does not tell.
    """

    kind: LimitKind
    left: float
    seconds: float
    limit: float | None = None


def allowances(headers: Mapping[str, str], now: datetime) -> tuple[Allowance, ...]:
    """What an answer says is left, the scarcest of each kind."""
    limits: list[tuple[LimitKind, str, str, str]] = []
    for kind, remaining, reset, limit in _NAMES:
        if (left_text := headers.get(remaining)) and (moment := headers.get(reset)):
            limits.append((kind, left_text, moment, headers.get(limit, "")))
    for kind, remaining, limit in _BY_MINUTE if not limits else ():
        if left_text := headers.get(remaining):
            limits.append((kind, left_text, _MINUTE, headers.get(limit, "")))
    scarcest: dict[LimitKind, Allowance] = {}
    for kind, remaining, reset, limit in limits:
        left, seconds = _number(remaining), _until(reset, now)
        if left is None or seconds is None:
            continue
        allowance = Allowance(kind=kind, left=left, seconds=seconds, limit=_number(limit))
        if kind not in scarcest or _share(allowance) < _share(scarcest[kind]):
            scarcest[kind] = allowance
    return tuple(scarcest.values())


def seconds_of(duration: str) -> float | None:
    """A duration such as `1s`, `6m0s`, `20ms` or `1h2m3.5s` in seconds; None where it is none."""
    if len(duration) > LONGEST_HEADER or _DURATION.fullmatch(duration) is None:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(duration))


def _share(allowance: Allowance) -> float:
    return allowance.left / allowance.limit if allowance.limit else math.inf


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _until(text: str, now: datetime) -> float | None:
    """Seconds until a moment, or those of a duration, at least 0; None where the text is neither."""
    text = text.strip()
    seconds = seconds_of(text)
    if seconds is not None or len(text) > LONGEST_HEADER:
        return seconds
    try:
        moment = datetime.fromisoformat(text)
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
    except (ValueError, OverflowError):
        return None
