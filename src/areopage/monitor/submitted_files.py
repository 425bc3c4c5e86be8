"""Submissions from the rows of a dataset: the columns that only a production answer has."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases import Case, Dataset, fold_name, is_deep
from areopage.errors import SubmissionError
from areopage.ledger import GOLDEN_SOURCE, Answer, is_golden
from areopage.monitor.submit import submission_of

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
    given: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for name, value in case.metadata.items():
        field = _BY_NAME.get(fold_name(name))
        if field is None:
            metadata[name] = value
        elif field in given:
            raise SubmissionError(f"two columns mean {field}: remove one of them")
        else:
            given[field] = value
    if is_golden(case.source):
        raise SubmissionError(f"source: `{GOLDEN_SOURCE}` is reserved for golden questions")
    return submission_of(
        case.prompt,
        case.response or "",
        case.documents,
        id=case.id,
        source=source if source and case.source == file else case.source,
        variant=_label(given, "variant") or variant,
        language=_label(given, "language") or language,
        age=_label(given, "age"),
        answered_at=_moment(given.get("answered_at")),
        trace_id=_label(given, "trace_id"),
        metadata=_object(given.get("metadata")) | metadata,
    )


def _label(given: Mapping[str, Any], field: str) -> str:
    value = given.get(field, "")
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
        found = msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        found = value
    if found is not None and (not isinstance(found, dict) or is_deep(found)):
        raise SubmissionError(f"metadata {value!r:.40}: give a JSON object")
    return found or {}
