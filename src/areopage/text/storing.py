"""What stays of a text that is stored, by the user's policy."""

import re
from collections.abc import Sequence
from typing import Any, Literal, cast

Policy = Literal["full", "truncated", "redacted", "none"]
CUT = "…"


class _OwnRedaction(str):
    patterns: tuple[re.Pattern[str], ...] = ()


def policy_with(policy: Policy, patterns: Sequence[re.Pattern[str]]) -> Policy:
    """A policy under which redaction also takes out what matches patterns; other policies stay as they are."""
    if policy != "redacted" or not patterns:
        return policy
    redaction = _OwnRedaction(policy)
    redaction.patterns = tuple(patterns)
    return cast(Policy, redaction)


def stored_text(text: str, policy: Policy, max_chars: int) -> str:
    """What stays of one text.

    Args:
        policy: `full`; `truncated` to `max_chars` characters, the last one "…" where something was cut; `redacted`: all of it,
            personal data replaced by tags; `none`: "".
        max_chars: at least 1.
    """
    if policy == "truncated":
        return text if len(text) <= max_chars else text[: max_chars - 1] + CUT
    if policy == "redacted":
        from areopage.text.personal import redact  # its patterns take 0.01 s to compile

        return redact(text, policy.patterns if isinstance(policy, _OwnRedaction) else ())
    return text if policy == "full" else ""


def stored_values(metadata: dict[str, Any], policy: Policy, max_chars: int) -> dict[str, Any]:
    """Metadata with what stays of each text in it, however deep."""
    return {key: _stored_value(value, policy, max_chars) for key, value in metadata.items()}


def _stored_value(value: Any, policy: Policy, max_chars: int) -> Any:
    if isinstance(value, str):
        return stored_text(value, policy, max_chars)
    if isinstance(value, dict):
        return stored_values(value, policy, max_chars)
    if isinstance(value, list | tuple):
        return [_stored_value(item, policy, max_chars) for item in value]
    return value
