"""Submit answers for evaluation: store them, one by one or from the rows of a dataset; on return they are stored."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases import Case, Dataset, fold_name, is_deep
from areopage.errors import SubmissionError
from areopage.ledger import GOLDEN_SOURCE, Answer, Batch, Ledger, is_golden, is_reserved
from areopage.monitor.hook.submission import checked, submission_of

MOST_AT_ONCE = 1000
"""Answers in one commit, unless one caller brings more."""
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "variant": ("variant", "variante", "ab_variant"),
        "language": ("language", "lang", "langue"),
        "age": ("age", "âge", "age_group", "age_range", "maturity", "tranche d'âge"),
        "answered_at": ("answered_at", "timestamp"),
        "trace_id": ("trace_id",),
        "metadata": ("metadata",),
    }
)
"""The spellings of each column that a dataset's cases do not have; other columns go to the answer's metadata."""


class Intake:
    """Stores submitted answers. Callers in any thread and event loop share commits."""

    def __init__(self, ledger: Ledger, sampling: float = 1.0) -> None:
        """Accept submissions; `sampling` is the share in [0, 1] that is evaluated.

        The rest is stored as left out, without its texts, and counted.
        """
        self._batch: Batch[Answer, bool] = Batch(ledger.evaluations.submit, what="submissions", at_once=MOST_AT_ONCE)
        self._sampling = sampling

    def submit(self, answers: Sequence[Answer]) -> Sequence[bool]:
        """Store answers; on return they are on disk. For each, whether it is new: one whose id is known changes nothing."""
        return self._batch.write([self._by_share(checked(answer)) for answer in answers])

    async def submit_async(self, answers: Sequence[Answer]) -> Sequence[bool]:
        """Store answers like `submit`, without blocking the event loop."""
        return await self._batch.write_async([self._by_share(checked(answer)) for answer in answers])

    def _by_share(self, answer: Answer) -> Answer:
        if is_golden(answer.source) or is_sampled(answer.id, self._sampling):
            return answer
        # it is not judged, so no text of it is kept under any storage policy
        reason = f"not in the sample of {self._sampling:g}"
        return msgspec.structs.replace(
            answer, case=Case(id=answer.id, prompt=""), session="", trace_id="", reason=reason, erased=True
        )

    @staticmethod
    def clashing(ledger: Ledger, submitted: Sequence[Answer], new: Sequence[bool]) -> list[Answer]:
        """Those that were not new because another answer of their source is stored under their id, whatever the storage policy.

        What is erased or was left out is no other answer.
        """
        stored = [answer for answer, fresh in zip(submitted, new, strict=True) if not fresh]
        return ledger.answers.differing(stored) if stored else []


def is_sampled(id: str, share: float) -> bool:
    """Whether an answer is in the sample, decided by its id alone."""
    drawn = int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "big")
    return drawn < share * 2.0**64


class SubmittedFile(Struct, frozen=True, kw_only=True):
    """The usable rows, the reasons of the others, and the columns that are kept as metadata."""

    submissions: list[Answer]
    refused: list[str]
    metadata_columns: list[str]


def submissions_of(dataset: Dataset, *, source: str, variant: str, language: str) -> SubmittedFile:
    """Convert a dataset's rows. What a row says itself counts before `source`, `variant` and `language`."""
    submissions, refused = [], [f"{row.file} row {row.row}: {row.reason}" for row in dataset.rejected]
    for case in dataset.cases:
        path, row = dataset.places[case.id]
        try:
            submissions.append(_submission_of_case(case, Path(path).name, source, variant, language))
        except SubmissionError as fault:
            refused.append(f"{path} row {row}: {fault}")
    others = [name for name in dataset.unread_columns if fold_name(name) not in _BY_NAME]
    return SubmittedFile(submissions=submissions, refused=refused, metadata_columns=others)


_BY_NAME = {fold_name(name): field for field, names in COLUMNS.items() for name in names}


def _submission_of_case(case: Case, file: str, source: str, variant: str, language: str) -> Answer:
    """A row without a source of its own has the dataset's name, `file`, as its source."""
    fields: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, value in case.metadata.items():
        field = _BY_NAME.get(fold_name(name))
        if field is None:
            metadata[name] = value
        elif field in fields:
            raise SubmissionError(f"two columns mean {field}: remove one of them")
        else:
            fields[field] = value
    if is_reserved(case.source):
        raise SubmissionError(f"source: `{GOLDEN_SOURCE}` is reserved for golden questions")
    return submission_of(
        case.prompt,
        case.response or "",
        case.documents,
        id=case.id,
        source=source if source and case.source == file else case.source,
        variant=_label(fields, "variant") or variant,
        language=_label(fields, "language") or language,
        age=_label(fields, "age"),
        answered_at=_moment(fields.get("answered_at")),
        trace_id=_label(fields, "trace_id"),
        metadata=_object(fields.get("metadata")) | metadata,
    )


def _label(fields: Mapping[str, Any], field: str) -> str:
    value = fields.get(field, "")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise SubmissionError(f"{field}: give a text, not {value!r:.40}")
    return str(value).strip()


def _moment(value: object) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise SubmissionError(f"answered_at {value!r:.40}: give a moment such as 2026-03-01T09:30:00Z") from None


def _object(value: object) -> dict[str, Any]:
    try:
        decoded = msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        decoded = value
    if decoded is not None and (not isinstance(decoded, dict) or is_deep(decoded)):
        raise SubmissionError(f"metadata {value!r:.40}: give a JSON object")
    return decoded or {}
