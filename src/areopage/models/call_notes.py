"""What a call's notes begin with: see `areopage.models.port.Completion`. A judge's judgment has them among its steps."""

from collections.abc import Sequence

NOT_SENT = "not_sent:"
"""The name of an option that was left out follows."""
ANSWERED_BY = "answered_by:"
"""The provider that answered behind a gateway follows."""
FILTERED = "filtered:"
"""A category of a content filter follows."""
STOP_REASON = "stop_reason:"
"""The provider's own word for why the answer ended follows."""
_ALL = (NOT_SENT, ANSWERED_BY, FILTERED, STOP_REASON)


def call_notes_in(steps: Sequence[str]) -> tuple[str, ...]:
    """Of a judgment's steps those that are notes of its call."""
    return tuple(step for step in steps if step.startswith(_ALL))
