"""Conversion of submitted answers to cases."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from areopage.cases.documents import read_documents
from areopage.cases.records import Case, Document, Turn
from areopage.criteria.prompts import case_content
from areopage.digest import digest_of
from areopage.errors import DatasetError

Prompt = str | Sequence[Turn | Mapping[str, Any]]
"""What the user asked: a text, or the turns of a conversation (`role` user or assistant, `content`)."""

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
    """Convert a prompt to records.

    Raises:
        DatasetError: it is neither a text nor turns.
    """
    if isinstance(prompt, str):
        return writable(prompt)
    try:
        turns = msgspec.convert([turn if isinstance(turn, Turn) else dict(turn) for turn in prompt], tuple[Turn, ...])
    except (msgspec.ValidationError, TypeError, ValueError) as fault:
        raise DatasetError(f"prompt: give a text, or turns with role (user, assistant) and content: {fault}") from None
    return tuple(Turn(role=turn.role, content=writable(turn.content)) for turn in turns)


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
