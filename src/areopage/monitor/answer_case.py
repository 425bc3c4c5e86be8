"""Conversion of submitted answers to cases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from areopage.cases.documents import read_documents
from areopage.cases.records import Case, Document, Turn
from areopage.criteria.prompts import case_content
from areopage.digest import digest_of
from areopage.errors import DatasetError

Prompt = str | Sequence[Turn | Mapping[str, Any]]
"""What the user asked: a text, or the messages of a conversation (`role` and `content`: a text or a list of parts)."""

Documents = Iterable[Document | Mapping[str, Any] | str] | str | None
"""Documents as records, as objects (`doc_titre`, `text` and the other spellings of `cases.documents`) or as bare texts."""

ID_LENGTH = 32


def case_of(prompt: Prompt, response: str, documents: Documents = (), *, id: str = "") -> Case:
    """Build the case of an answer.

    Args:
        prompt: what the user asked: a text, or the turns of a conversation.
        response: the answer.
        documents: what it should rest on, the best first.
        id: what the answer is called; "" makes a name of its content.

    Raises:
        DatasetError: a document has no text, or is none; the prompt or the response is neither text nor turns.
    """
    if not isinstance(response, str):
        raise DatasetError(f"response: give a text, not {type(response).__name__}")
    case = Case(id=id, prompt=prompt_of(prompt), response=writable(response), documents=_documents_of(documents))
    return case if id else msgspec.structs.replace(case, id=digest_of(case_content(case))[:ID_LENGTH])


def prompt_of(prompt: Prompt) -> str | tuple[Turn, ...]:
    """Convert a prompt to records. Of a list of messages the turns of the user and the assistant count.

    Instructions to the model (system, developer) and calls of tools are no part of the question, and are left out.

    Raises:
        DatasetError: it is neither a text nor turns, or no turn is the user's.
    """
    if isinstance(prompt, str):
        return writable(prompt)
    try:
        turns = [turn for given in prompt for turn in _turns_of(given)]
    except TypeError:
        raise DatasetError(f"{_TURNS}, not {type(prompt).__name__}") from None
    if not any(turn.role == "user" for turn in turns):
        raise DatasetError(f"{_TURNS}: none of them is the user's")
    return tuple(turns)


_TURNS = "prompt: give a text, or turns with role (user, assistant, system, tool...) and content"
_ROLES: Mapping[str, Literal["user", "assistant"]] = MappingProxyType(
    {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
)
_LEFT_OUT = ("system", "developer", "tool", "function")


def _turns_of(given: Any) -> Iterator[Turn]:
    """The turn of a message: a record, an object of a JSON body, or a framework's message; none if it is left out."""
    if isinstance(given, str):
        raise DatasetError(f"{_TURNS}: {given!r:.40} has no role")
    names = ("role", "type", "content")
    fields = given if isinstance(given, Mapping) else {name: getattr(given, name, None) for name in names}
    role = fields.get("role") or fields.get("type")
    role = str(getattr(role, "value", role)).lower()
    if role in _LEFT_OUT:
        return
    if role not in _ROLES:
        raise DatasetError(f"{_TURNS}: Invalid enum value {role!r:.40}")
    text = message_text(fields.get("content"))
    if text is None:
        raise DatasetError(f"{_TURNS}: the content of a turn is {type(fields.get('content')).__name__}")
    if text or _ROLES[role] == "user":  # a turn of the assistant without a text calls a tool
        yield Turn(role=_ROLES[role], content=writable(text))


def message_text(content: Any) -> str | None:
    """The text of a message's content: a text, nothing, or a list of parts, of which images and others are named.

    Returns:
        None if it is something else.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list | tuple):
        return None
    texts = [text for part in content if (text := _part_text(part)) is not None]
    return "\n".join(text for text in texts if text) if len(texts) == len(content) else None


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    fields = part if isinstance(part, Mapping) else {name: getattr(part, name, None) for name in ("text", "type")}
    text, kind = fields.get("text"), fields.get("type")
    if isinstance(text, str):
        return text
    return f"[{kind}]" if isinstance(kind, str) else None


def writable(text: str) -> str:
    """Replace lone surrogates, which JSON may hold, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _documents_of(documents: Documents) -> tuple[Document, ...]:
    """Documents as records."""
    if isinstance(documents, Document | Mapping):
        documents = (documents,)
    try:
        items: Any = documents if isinstance(documents, str | None) else [plain(item) for item in documents]
        found = read_documents(items)
    except TypeError:
        raise DatasetError(f"documents: give a list of texts or objects, not {type(documents).__name__}") from None
    except ValueError as fault:
        raise DatasetError(str(fault)) from None
    return tuple(
        msgspec.structs.replace(
            one, id=writable(one.id), title=writable(one.title), text=writable(one.text), source=writable(one.source)
        )
        for one in found
    )


def plain(item: Document | Mapping[str, Any] | str) -> Any:
    """Convert a document for `read_documents`."""
    if isinstance(item, Document):
        return msgspec.structs.asdict(item)
    return dict(item) if isinstance(item, Mapping) else item
