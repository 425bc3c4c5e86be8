"""Hand an answer over for evaluation: make the submission, store it, and only then return.

Nothing here needs more than the base install, and making a submission opens no database: a chatbot's process may do it.
"""

import asyncio
import hashlib
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from areopage.cases.documents import read_documents
from areopage.cases.records import Case, Document, Turn
from areopage.errors import AreopageError, DatasetError, StorageError, SubmissionError
from areopage.ledger.quality_records import Submission
from areopage.monitor.answer_case import prompt_of, writable

if TYPE_CHECKING:
    from areopage.ledger.store import Ledger

MAX_ID = 128
MAX_SOURCE = 128
MAX_VARIANT = 64
MAX_LANGUAGE = 16
MAX_TEXT = 500_000
MAX_DOCUMENTS = 500
MAX_DOCUMENT_TEXT = 2_000_000
MAX_METADATA = 65_536
GOLDEN = "golden:"
"""How the source of golden questions begins; they are never left out by sampling."""


class Intake:
    """Stores submissions. Callers of any thread share commits: who comes while one is under way waits for the next."""

    def __init__(self, ledger: "Ledger", sampling: float = 1.0) -> None:
        """Take submissions for a ledger.

        Args:
            ledger: where they are stored.
            sampling: the share in [0, 1] that is evaluated; the rest is stored as left out, without its texts, and counted.
        """
        from areopage.ledger.submissions import Submissions

        self._submissions = Submissions(ledger)
        self._sampling = sampling
        self._turn = threading.Lock()
        self._arrivals = threading.Lock()
        self._waiting: list[_Handed] = []

    def submit(self, submissions: Sequence[Submission]) -> list[bool]:
        """Store submissions; on return they are on the disk.

        Returns:
            For each whether it is new; one whose id is known changes nothing.

        Raises:
            SubmissionError: one of them cannot be stored as it is; none is stored then.
            StorageError: the ledger cannot be written.
        """
        mine = _Handed([self._by_share(checked(submission)) for submission in submissions])
        with self._arrivals:
            self._waiting.append(mine)
        with self._turn:
            if not mine.settled:
                with self._arrivals:
                    batch, self._waiting = self._waiting, []
                self._store(batch)
        return mine.result()

    async def submit_async(self, submissions: Sequence[Submission]) -> list[bool]:
        """Like `submit`, without holding up the event loop."""
        return await asyncio.to_thread(self.submit, submissions)

    def _store(self, batch: Sequence["_Handed"]) -> None:
        """Commit what several callers handed over; each of them hears how it went, not only the one whose thread does it."""
        fault: AreopageError = StorageError("the commit of submissions was interrupted: hand them over again")
        try:
            new = iter(self._submissions.add([submission for handed in batch for submission in handed.submissions]))
            for handed in batch:
                handed.new = [next(new) for _ in handed.submissions]
        except AreopageError as raised:
            fault = raised
        finally:
            for handed in batch:
                handed.fault = fault if handed.new is None else None
                handed.settled = True

    def _by_share(self, submission: Submission) -> Submission:
        if submission.case.source.startswith(GOLDEN) or is_sampled(submission.id, self._sampling):
            return submission
        # nobody will judge it, so nothing of what people wrote is kept, whatever the storage policy
        emptied = Case(id=submission.id, prompt="", source=submission.case.source)
        reason = f"not in the sample of {self._sampling:g}"
        return msgspec.structs.replace(submission, case=emptied, state="left_out", reason=reason)


class _Handed:
    """What one caller handed over, and what became of it."""

    def __init__(self, submissions: Sequence[Submission]) -> None:
        self.submissions = submissions
        self.new: list[bool] | None = None
        self.fault: AreopageError | None = None
        self.settled = False

    def result(self) -> list[bool]:
        if self.fault is not None:
            raise self.fault
        return self.new or []


def is_sampled(id: str, share: float) -> bool:
    """Whether an answer is in the sample: decided by its id alone, so that handing it over again changes nothing."""
    drawn = int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "big")
    return drawn < share * 2.0**64


def new_id() -> str:
    """An id that sorts by time (a UUID of version 7)."""
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
    answered_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Submission:
    """A submission, checked.

    Args:
        prompt: the question, or the turns of a conversation that ends with it (`role` user or assistant, `content`).
        response: the answer.
        documents: what it should rest on: records, texts, or objects with `text` and maybe `title`, `id`, `score`, `source`
            (also under the specification's names: `doc_titre`, `texte`…).
        id: the client's; the same id is evaluated once, however often it is handed over. "": one is made.
        source: where the answer comes from, e.g. the name of the bot.
        variant: its side of an A/B test.
        language: of the answer; "": the monitor's.
        answered_at: when it was given; None: now. Without a zone it counts as UTC.
        metadata: anything that JSON can hold.

    Raises:
        SubmissionError: something is missing, of the wrong kind, or too large.
    """
    if not isinstance(metadata, Mapping | None):
        raise SubmissionError(f"metadata: give an object, not {type(metadata).__name__}")
    now = datetime.now(UTC)
    case = Case(
        id=_text(id, "id") or new_id(),
        prompt=_prompt(prompt),
        response=_text(response, "response"),
        documents=_documents(documents),
        source=_text(source, "source"),
        metadata=dict(metadata or {}),
    )
    moment = answered_at or now
    return checked(
        Submission(
            case=case,
            received_at=now,
            answered_at=moment if moment.tzinfo else moment.replace(tzinfo=UTC),
            language=_text(language, "language"),
            variant=_text(variant, "variant"),
        )
    )


def checked(submission: Submission) -> Submission:
    """The submission, if it can be stored.

    Raises:
        SubmissionError: something is missing or too large.
    """
    case = submission.case
    if not case.id or len(case.id) > MAX_ID or not case.id.isprintable():
        raise SubmissionError(f"id {case.id[:40]!r}: give 1 to {MAX_ID} printable characters, or none to have one made")
    labels = (("source", case.source, MAX_SOURCE), ("variant", submission.variant, MAX_VARIANT))
    for name, text, limit in (*labels, ("language", submission.language, MAX_LANGUAGE)):
        if len(text) > limit or not (text.isprintable() or not text):
            raise SubmissionError(f"{name} {text[:40]!r}: give at most {limit} printable characters")
    for name, text in (("prompt", case.prompt_text), ("response", case.response or "")):
        if not text.strip():
            raise SubmissionError(f"{name}: is empty: there is nothing to evaluate")
        if len(text) > MAX_TEXT:
            raise SubmissionError(f"{name}: has {len(text):,} characters, more than {MAX_TEXT:,}: shorten it")
    held = sum(len(document.text) for document in case.documents)
    if len(case.documents) > MAX_DOCUMENTS or held > MAX_DOCUMENT_TEXT:
        raise SubmissionError(
            f"documents: {len(case.documents):,} of {held:,} characters in all, more than {MAX_DOCUMENTS:,} or "
            f"{MAX_DOCUMENT_TEXT:,}: hand over only those that the answer rests on"
        )
    try:
        size = len(msgspec.json.encode([case.metadata, [document.metadata for document in case.documents]]))
    except (TypeError, ValueError, RecursionError) as fault:
        raise SubmissionError(f"metadata: is not what JSON can hold: {fault}") from None
    if size > MAX_METADATA:
        raise SubmissionError(f"metadata: has {size:,} bytes as JSON, more than {MAX_METADATA:,}: hand over less")
    return submission


def _prompt(prompt: str | Sequence[Turn | Mapping[str, Any]]) -> str | tuple[Turn, ...]:
    try:
        return prompt_of(prompt)
    except DatasetError as fault:
        raise SubmissionError(str(fault)) from None


def _documents(documents: Iterable[Document | Mapping[str, Any] | str]) -> tuple[Document, ...]:
    try:
        given = [documents] if isinstance(documents, str | Mapping | Document) else list(documents)
    except TypeError:
        raise SubmissionError(f"documents: give a list of texts or objects, not {type(documents).__name__}") from None
    try:
        read = iter(read_documents([dict(one) if isinstance(one, Mapping) else one for one in given if not _is_record(one)]))
    except ValueError as fault:
        raise SubmissionError(str(fault)) from None
    records = [one if isinstance(one, Document) else next(read) for one in given]
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


def _is_record(one: object) -> bool:
    return isinstance(one, Document)


def _text(value: object, name: str) -> str:
    """A text that can be written as UTF-8.

    Raises:
        SubmissionError: it is no text.
    """
    if not isinstance(value, str):
        raise SubmissionError(f"{name}: give a text, not {type(value).__name__}")
    return writable(value)
