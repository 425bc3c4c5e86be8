"""The messages of a conversation as records: what the user asked, and what a judge is not shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from areopage.cases import Turn
from areopage.errors import DatasetError
from areopage.monitor.hook.fields import field
from areopage.text import language_of

Prompt = str | Sequence[Turn | Mapping[str, Any]]
"""What the user asked: a text, or the messages of a conversation (`role` and `content`: a text or a list of parts)."""


def prompt_of(prompt: Prompt) -> str | tuple[Turn, ...]:
    """Convert a prompt to records. Of a list of messages the turns of the user and the assistant count.

    Instructions to the model (system, developer) and calls of tools are no part of the question, and are left out.
    """
    if isinstance(prompt, str):
        return writable(prompt)
    try:
        turns = [turn for item in prompt for turn in _turns_of(item)]
    except TypeError:
        raise DatasetError(f"{_TURNS}, not {type(prompt).__name__}") from None
    if not any(turn.role == "user" for turn in turns):
        raise DatasetError(f"{_TURNS}: none of them is the user's")
    return tuple(turns)


_TURNS = "prompt: give a text, or turns with role (user, assistant, system, tool...) and content"
_ROLES: Mapping[str, Literal["user", "assistant"]] = MappingProxyType(
    {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
)
_LEFT_OUT = ("system", "developer", "tool", "function")
_NO_TURN = re.compile(r".*_(call|output|approval_request|approval_response|list_tools)|reasoning|item_reference|compaction")
"""The items of OpenAI's Responses API that are no message."""
_UNSAID = re.compile(r".*(thinking|reasoning|tool_use|tool_call|tool_result|function_call).*|summary_text|refusal_details")
"""The parts of a message that are no part of what is said: thoughts, calls of tools and their results."""
_UNSEEN: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "image": "[an image that the judge does not see]",
            "audio": "[a recording that the judge does not hear]",
            "video": "[a video that the judge does not see]",
            "file": "[a file that the judge does not see]",
        },
        "fr": {
            "image": "[une image que le juge ne voit pas]",
            "audio": "[un enregistrement que le juge n’entend pas]",
            "video": "[une vidéo que le juge ne voit pas]",
            "file": "[un fichier que le juge ne voit pas]",
        },
    }
)
UNSEEN_TEXTS = frozenset(text for texts in _UNSEEN.values() for text in texts.values())
"""What stands in place of the parts of a message that a judge is not shown."""


def _turns_of(message: Any) -> Iterator[Turn]:
    """The turn of a message: a record, an object of a JSON body, or a framework's message; none if it is left out."""
    if isinstance(message, str):
        raise DatasetError(f"{_TURNS}: {message!r:.40} has no role")
    content = field(message, "content") or field(message, "parts")
    role = field(message, "role") or field(message, "type")
    role = str(getattr(role, "value", role)).lower()
    if role in _LEFT_OUT or (not field(message, "role") and _NO_TURN.fullmatch(role)):
        return
    if role not in _ROLES:
        raise DatasetError(f"{_TURNS}: Invalid enum value {role!r:.40}")
    text = message_text(content)
    if text is None:
        raise DatasetError(f"{_TURNS}: the content of a turn is {type(content).__name__}")
    # a turn of the assistant without a text calls a tool, one of the user that has parts and no text brings its result
    if text or (_ROLES[role] == "user" and not isinstance(content, list | tuple)):
        yield Turn(role=_ROLES[role], content=writable(text))


def message_text(content: Any) -> str | None:
    """The text of a message's content: a text, nothing, or a list of parts.

    In place of an image, a recording or a file it says that the judge does not see it, in the language of the texts beside it.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list | tuple):
        return None
    parts = [_part_of(part) for part in content]
    if None in parts:
        return None
    texts = "\n".join(text for kind, text in filter(None, parts) if not kind)
    unseen = _UNSEEN[language_of(texts) or "en"]
    return "\n".join(line for kind, text in filter(None, parts) if (line := unseen[kind] if kind else text))


def _part_of(part: Any) -> tuple[str, str] | None:
    """The kind of a part that judges do not see, "" for a text, and the text of a part; None if it is no part."""
    if isinstance(part, str):
        return "", part
    kind = field(part, "type")
    if isinstance(kind, str) and _UNSAID.fullmatch(kind):
        return "", ""
    text = next((text for name in ("text", "refusal") if isinstance(text := field(part, name), str)), None)
    if text is not None:
        return "", text
    if not isinstance(kind, str):
        return None
    return next((name for name in ("image", "audio", "video") if name in kind), "file"), ""


def writable(text: str) -> str:
    """Replace lone surrogates, which JSON may hold, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
