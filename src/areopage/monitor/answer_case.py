"""The case of an answer: what a user asked, what was answered, and what the answer rests on."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from areopage.cases import Case, Document, read_documents
from areopage.criteria import case_content
from areopage.digest import digest_of
from areopage.errors import DatasetError
from areopage.monitor.hook.messages import Prompt, prompt_of, writable

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


def _documents_of(documents: Documents) -> tuple[Document, ...]:
    """Documents as records."""
    if isinstance(documents, Document | Mapping):
        documents = (documents,)
    try:
        items: Any = documents if isinstance(documents, str | None) else [plain(item) for item in documents]
        records = read_documents(items)
    except TypeError:
        raise DatasetError(f"documents: give a list of texts or objects, not {type(documents).__name__}") from None
    except ValueError as fault:
        raise DatasetError(str(fault)) from None
    return tuple(
        msgspec.structs.replace(
            record,
            id=writable(record.id),
            title=writable(record.title),
            text=writable(record.text),
            source=writable(record.source),
        )
        for record in records
    )


def plain(item: Document | Mapping[str, Any] | str) -> Any:
    """Convert a document for `read_documents`."""
    if isinstance(item, Document):
        return msgspec.structs.asdict(item)
    return dict(item) if isinstance(item, Mapping) else item
