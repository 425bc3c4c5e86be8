"""Records as rows and back: the one place that knows how a text, a time or an outcome stands in a column."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

import msgspec
from sqlalchemy import Row

from areopage.ledger.records import Judgment, Label, Run, Verdict
from areopage.scoring.outcome import Outcome, Refused, Scored, TimedOut, Unparsed, Unreachable, outcome_name

KEYS_PER_QUERY = 500
Key = TypeVar("Key", str, int)
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def chunks(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Keys in portions that a query can take."""
    distinct = list(dict.fromkeys(keys))
    for start in range(0, len(distinct), KEYS_PER_QUERY):
        yield distinct[start : start + KEYS_PER_QUERY]


def is_scored(judgment: Judgment) -> bool:
    """Whether every verdict of a judgment is a score."""
    return bool(judgment.verdicts) and all(isinstance(verdict.outcome, Scored) for verdict in judgment.verdicts)


def row_of(record: Judgment | Run) -> dict[str, Any]:
    """A record's fields, its texts as every database takes them."""
    fields = msgspec.structs.asdict(record)
    return {name: storable(value) if isinstance(value, str) else value for name, value in fields.items()}


def judgment_row(judgment: Judgment) -> dict[str, Any]:
    """A judgment as a row; its verdicts are rows of their own."""
    row = row_of(judgment)
    del row["verdicts"]
    return row | {"steps": json_text(judgment.steps), "created_at": naive(judgment.created_at)}


def judgment_of(row: Row[Any], said: tuple[Verdict, ...]) -> Judgment:
    """A row and its verdicts as a judgment."""
    fields = {name: value for name, value in row._mapping.items() if name != "id"}
    steps = msgspec.json.decode(row.steps, type=tuple[str, ...])
    return Judgment(**fields | {"steps": steps, "created_at": aware(row.created_at), "verdicts": said})


def label_of(row: Row[Any]) -> Label:
    """A row as a label; it may hold other columns, too."""
    return Label(
        answer_id=row.answer_id,
        rater=row.rater,
        criterion=row.criterion,
        score=row.score,
        sentences=msgspec.json.decode(row.sentences, type=tuple[int, ...]),
        note=row.note,
        origin=row.origin,
        created_at=aware(row.created_at),
    )


def verdict_row(judgment_id: int, verdict: Verdict) -> dict[str, Any]:
    """A verdict as a row; scores are a column, so that SQL can aggregate them."""
    outcome = verdict.outcome
    scored = isinstance(outcome, Scored)
    evidence = tuple(storable(extract) for extract in outcome.evidence) if isinstance(outcome, Scored) else ()
    return {
        "judgment_id": judgment_id,
        "criterion": verdict.criterion,
        "outcome": outcome_name(outcome),
        "score": outcome.score if isinstance(outcome, Scored) else None,
        "explanation": storable(outcome.explanation) if isinstance(outcome, Scored) else "",
        "evidence": json_text(evidence),
        "reason": "" if scored else storable(getattr(outcome, "reason", "")),
    }


FAILURES: dict[str, Callable[..., Outcome]] = {
    "unparsed": Unparsed,
    "refused": Refused,
    "timed_out": TimedOut,
    "unreachable": Unreachable,
}


def outcome_of(row: Row[Any]) -> Outcome:
    """The outcome of a verdict's row."""
    if row.outcome == "scored":
        evidence = msgspec.json.decode(row.evidence, type=tuple[str, ...])
        return Scored(score=row.score, explanation=row.explanation, evidence=evidence)
    return FAILURES[row.outcome](reason=row.reason)


def json_text(value: Any) -> str:
    """A value as JSON text."""
    return msgspec.json.encode(value).decode()


def storable(text: str) -> str:
    """A text that every database takes: NUL and lone surrogates become U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def naive(moment: datetime) -> datetime:
    """UTC without its zone, as the columns hold it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


@overload
def aware(moment: datetime) -> datetime: ...
@overload
def aware(moment: None) -> None: ...
def aware(moment: datetime | None) -> datetime | None:
    """A column's time with its zone."""
    return moment.replace(tzinfo=UTC) if moment else None


def storable_value(value: Any) -> Any:
    """A value of lists, dictionaries and texts with every text as databases take it."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_value(name): storable_value(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable_value(inner) for inner in value]
    return value


def storable_json(value: Any) -> str:
    """A record, or anything of records, as JSON text that every database takes."""
    try:
        text = json_text(value)
    except UnicodeEncodeError:  # half a character, which JSON has no form for
        return json_text(storable_value(msgspec.to_builtins(value)))
    return json_text(storable_value(msgspec.to_builtins(value))) if "\\u0000" in text else text
