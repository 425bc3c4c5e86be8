"""What stays of a text that is stored, by the user's policy."""

from typing import Any, Literal

Policy = Literal["full", "truncated", "redacted", "none"]
CUT = "…"


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

        return redact(text)
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
        return [_stored_value(one, policy, max_chars) for one in value]
    return value
