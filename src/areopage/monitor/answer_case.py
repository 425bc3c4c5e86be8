"""An answer as a chatbot hands it over, as the case that is judged."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from areopage.cases.documents import read_documents
from areopage.cases.records import Case, Document, Turn
from areopage.criteria.rendering import case_content
from areopage.errors import DatasetError
from areopage.jury.plan import digest_of

Prompt = str | tuple[Turn, ...]
Documents = Iterable[Document | Mapping[str, Any] | str] | str | None
"""Documents as records, as objects (`doc_titre`, `text` and the other spellings of `cases.documents`) or as bare texts."""

ID_LENGTH = 32


def case_of(prompt: Prompt, response: str, documents: Documents = (), *, id: str = "") -> Case:
    """The case of an answer.

    Args:
        prompt: what the user asked: a text, or the turns of a conversation.
        response: the answer.
        documents: what it should rest on, the best first.
        id: what the answer is called; "" makes a name of its content.

    Raises:
        DatasetError: a document has no text, or is none.
    """
    case = Case(id=id, prompt=prompt, response=response, documents=documents_of(documents))
    return case if id else msgspec.structs.replace(case, id=digest_of(case_content(case))[:ID_LENGTH])


def documents_of(documents: Documents) -> tuple[Document, ...]:
    """Documents as records.

    Raises:
        DatasetError: one has no text, or is none.
    """
    if isinstance(documents, Document | Mapping):
        documents = (documents,)
    items: Any = documents if isinstance(documents, str | None) else [plain(item) for item in documents]
    try:
        return read_documents(items)
    except ValueError as fault:
        raise DatasetError(str(fault)) from None


def plain(item: Document | Mapping[str, Any] | str) -> Any:
    """A document as `read_documents` takes it."""
    if isinstance(item, Document):
        return msgspec.structs.asdict(item)
    return dict(item) if isinstance(item, Mapping) else item
