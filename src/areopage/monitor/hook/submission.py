"""Make and check the records of submitted answers.

Nothing here needs more than the base install or opens a database: a chatbot's process may do it.
"""

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from areopage.cases import Case, Document, Turn, normalise_maturity, read_documents
from areopage.errors import DatasetError, SubmissionError
from areopage.ledger import Answer
from areopage.monitor.hook.language_codes import is_language
from areopage.monitor.hook.messages import prompt_of, writable

FIRST_YEAR, LAST_YEAR = 1970, 9998
CLOCKS_DIFFER = timedelta(days=1)
"""How far ahead of this computer's clock a client's may be, with a wrong time zone."""
MAX_ID = 128
MAX_SOURCE = 128
MAX_VARIANT = 64
MAX_LANGUAGE = 16
MAX_TRACE_ID = 128
MAX_TEXT = 500_000
MAX_DOCUMENTS = 500
MAX_DOCUMENT_TEXT = 2_000_000
MAX_METADATA = 65_536


def new_id() -> str:
    """Create an id that sorts by time (UUID version 7)."""
    milliseconds = time.time_ns() // 1_000_000
    drawn = secrets.randbits(74)
    return str(UUID(int=milliseconds << 80 | 0x7 << 76 | drawn >> 62 << 64 | 0b10 << 62 | drawn & (1 << 62) - 1))


def submission_of(
    prompt: str | Sequence[Turn | Mapping[str, Any]],
    response: str,
    documents: Iterable[Document | Mapping[str, Any] | str] = (),
    *,
    id: str = "",
    source: str = "",
    variant: str = "",
    language: str = "",
    age: str | int = "",
    answered_at: datetime | None = None,
    trace_id: str = "",
    metadata: Mapping[str, Any] | None = None,
    api_key: str = "",
) -> Answer:
    """Build and check a submission.

    Args:
        prompt: the question, or the turns of a conversation that ends with it (`role` user or assistant, `content`).
        response: the answer.
        documents: what it should rest on: records, texts, or objects with `text` and maybe `title`, `id`, `score`, `source`
            (also under the specification's names: `doc_titre`, `texte`…).
        id: the client's; the same id is evaluated once, however often it is submitted. "": one is made.
        source: where the answer comes from, e.g. the name of the bot.
        variant: its side of an A/B test.
        language: of the answer, as a code of ISO 639; "": the monitor's.
        age: of the reader, such as 10, "9-12" or "teen": judges of a suite with personas are told; "": not known.
        answered_at: when it was given; None: now. Without a zone it counts as UTC.
        trace_id: of the call in the bot's own tracing, such as the trace id of a W3C `traceparent`.
        metadata: anything that JSON can hold.
        api_key: the id of the API key that submits it; "" where none does.

    Raises:
        SubmissionError: something is missing, of the wrong kind, or too large.
    """
    if not isinstance(metadata, Mapping | None):
        raise SubmissionError(f"metadata: give an object, not {type(metadata).__name__}")
    if answered_at is not None and not FIRST_YEAR < answered_at.year < LAST_YEAR:
        raise SubmissionError(f"answered_at: give a year after {FIRST_YEAR}")
    try:
        content = prompt_of(prompt)
    except DatasetError as fault:
        raise SubmissionError(str(fault)) from None
    try:
        maturity = normalise_maturity(age) or ""
    except ValueError as fault:
        raise SubmissionError(f"age: {fault}") from None
    now = datetime.now(UTC)
    case = Case(
        id=_text(id, "id") or new_id(),
        prompt=content,
        response=_text(response, "response"),
        documents=_documents(documents),
        maturity=maturity,
        metadata=dict(metadata or {}),
    )
    moment = answered_at or now
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > now + CLOCKS_DIFFER:
        raise SubmissionError(f"answered_at: {moment:%Y-%m-%d %H:%M} UTC is in the future")
    return checked(
        Answer(
            id=case.id,
            origin="monitor",
            case=case,
            source=_text(source, "source"),
            variant=_text(variant, "variant"),
            language=_text(language, "language"),
            trace_id=_text(trace_id, "trace_id"),
            api_key=api_key,
            received_at=now,
            answered_at=moment,
        )
    )


def checked(answer: Answer) -> Answer:
    """Return the answer if it can be stored."""
    case = answer.case
    counts = (answer.prompt_tokens, answer.completion_tokens)  # of a call that this program makes itself
    if answer.origin != "monitor" or answer.id != case.id or answer.erased or answer.key or answer.run_id or any(counts):
        raise SubmissionError(f"id {answer.id[:40]!r}: is not an answer as it is submitted")
    if not case.id or len(case.id) > MAX_ID or not case.id.isprintable():
        raise SubmissionError(f"id {case.id[:40]!r}: give 1 to {MAX_ID} printable characters, or none to have one made")
    labels = (("source", answer.source, MAX_SOURCE), ("variant", answer.variant, MAX_VARIANT))
    codes = (("language", answer.language, MAX_LANGUAGE), ("trace_id", answer.trace_id, MAX_TRACE_ID))
    for name, text, limit in (*labels, *codes):
        if len(text) > limit or not (text.isprintable() or not text):
            raise SubmissionError(f"{name} {text[:40]!r}: give at most {limit} printable characters")
    if answer.language and not is_language(answer.language):
        raise SubmissionError(f"language {answer.language!r}: give a code of ISO 639 such as fr, fra or fr-CA")
    for name, text in (("prompt", case.prompt_text), ("response", case.response or "")):
        if not text.strip():
            raise SubmissionError(f"{name}: is empty: there is nothing to evaluate")
        if len(text) > MAX_TEXT:
            raise SubmissionError(f"{name}: has {len(text):,} characters, more than {MAX_TEXT:,}: shorten it")
    characters = sum(len(document.text) for document in case.documents)
    if len(case.documents) > MAX_DOCUMENTS or characters > MAX_DOCUMENT_TEXT:
        raise SubmissionError(
            f"documents: {len(case.documents):,} of {characters:,} characters in all, more than {MAX_DOCUMENTS:,} or "
            f"{MAX_DOCUMENT_TEXT:,}: submit only those that the answer rests on"
        )
    try:
        size = len(msgspec.json.encode([case.metadata, [document.metadata for document in case.documents]]))
    except (TypeError, ValueError, RecursionError) as fault:
        raise SubmissionError(f"metadata: is not what JSON can hold: {fault}") from None
    if size > MAX_METADATA:
        raise SubmissionError(f"metadata: has {size:,} bytes as JSON, more than {MAX_METADATA:,}: submit less")
    return answer


def _documents(documents: Iterable[Document | Mapping[str, Any] | str]) -> tuple[Document, ...]:
    try:
        items = [documents] if isinstance(documents, str | Mapping | Document) else list(documents)
    except TypeError:
        raise SubmissionError(f"documents: give a list of texts or objects, not {type(documents).__name__}") from None
    try:
        others = [dict(item) if isinstance(item, Mapping) else item for item in items if not isinstance(item, Document)]
        read = iter(read_documents(others))
    except ValueError as fault:
        raise SubmissionError(str(fault)) from None
    records = [item if isinstance(item, Document) else next(read) for item in items]
    return tuple(
        msgspec.structs.replace(
            record,
            id=_text(record.id, "documents"),
            title=_text(record.title, "documents"),
            text=_text(record.text, "documents"),
            source=_text(record.source, "documents"),
        )
        for record in records
    )


def _text(value: object, name: str) -> str:
    """A text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise SubmissionError(f"{name}: give a text, not {type(value).__name__}")
    return writable(value)
