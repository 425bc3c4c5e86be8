"""Traces: answers with the gate's decisions, and the feed of their export."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder
from sqlalchemy import Connection, Row, Table, bindparam, func, insert, or_, select, text, update

from areopage.gate import Decision
from areopage.ledger.people.held import count_waiting, held_key, is_held, lock_waiting, queue_traces
from areopage.ledger.people.labels import Labels, set_done
from areopage.ledger.read.queries import TraceFilter, TraceSummary
from areopage.ledger.read.trace_counts import bin_of, conditions_of, count_traces, joined, summed
from areopage.ledger.tables.answer_tables import (
    LONGEST_NAME,
    answer_texts,
    answers,
    decision_reasons,
    decisions,
    releases,
    trace_changes,
)
from areopage.ledger.tables.chain import seal
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Label
from areopage.ledger.tables.rows import (
    RowValues,
    chunks,
    decoded,
    insert_into,
    insert_rows,
    naive,
    record_of,
    row_of,
    rows_in,
    storable,
    storable_json,
    values_of,
)
from areopage.ledger.tables.trace_records import Release, Trace
from areopage.ledger.write.answers import (
    TEXT_COLUMNS,
    Link,
    answer_of,
    insert_answers,
    insert_links,
    text_key,
    text_row,
    whole_answers,
)

PORTION = 200
"""Traces that `each` holds at a time: each may have some ten thousand characters."""


class Traces(Store):
    """The tables `decisions`, `decision_reasons` and `releases`, with their answers.

    Each method is one transaction but for `each` and `each_labelled`.
    """

    def append(self, traces: Sequence[Trace]) -> int:
        """Append traces in one transaction; those with the verdict human_review join the review queue unless imported.

        On return they are on disk and survive a power failure. A known trace is kept as it is. Returns how many are new.
        """
        if not traces:
            return 0
        with self._ledger.durable() as connection:
            return insert_traces(connection, traces)

    def get(self, id: str) -> Trace | None:
        """Return a trace by its answer's id; an erased trace has no texts."""
        row = self._ledger.row(_BY_ID, {"of": storable(id)})
        return _trace_of(row) if row else None

    def list(self, filter: TraceFilter, *, limit: int = 50, before: int | None = None) -> Sequence[Trace]:
        """Return traces, newest first; `before` is the answer's number of the previous page's last trace."""
        at, number = decisions.c.at, decisions.c.answer
        if filter.prompt is not None:  # the same values, in an index by the prompt
            at, number = answers.c.received_at, answers.c.number
        query = _WHOLE_TRACES.where(*conditions_of(filter)).order_by(at.desc(), number.desc()).limit(limit)
        if before is not None:
            moment = self._ledger.value(select(decisions.c.at).where(decisions.c.answer == before))
            if moment is None:
                return []
            query = query.where(at <= moment, or_(at < moment, number < before))  # the first part seeks in an index
        return [_trace_of(row) for row in self._ledger.rows(query)]

    def each(self, filter: TraceFilter) -> Iterator[Trace]:
        """Iterate over all matching traces in order, with bounded memory."""
        # along the key, once through the table: an index by time or verdict would be sorted by number for each portion again
        query = _WHOLE_TRACES.where(*conditions_of(filter, scan=filter.prompt is None))
        for rows in self._ledger.portions(query, decisions.c.answer, PORTION):
            yield from map(_trace_of, rows)

    def each_labelled(self, filter: TraceFilter) -> Iterator[tuple[Trace, Sequence[Label]]]:
        """Iterate over traces with their grounding labels; see `Labels.grounding`."""
        traces = self.each(filter)
        while portion := tuple(islice(traces, PORTION)):
            labels = Labels(self._ledger).grounding([trace.id for trace in portion])
            for trace in portion:
                yield trace, labels.get(trace.id, ())

    def count(self, filter: TraceFilter) -> int:
        """Count the traces that `each` gives."""
        query = joined(select(func.count()), filter).where(*conditions_of(filter))
        return int(self._ledger.value(query))

    def summary(self, filter: TraceFilter) -> TraceSummary:
        """Summarise a period; fast on a million rows."""
        with self._ledger.reading() as connection:
            return summed(connection, filter)

    def has_texts(self, answer_id: str) -> bool:
        """Whether an answer is known and not erased."""
        query = select(answer_texts.c.answer).join(answers).where(answers.c.id == storable(answer_id))
        return self._ledger.row(query) is not None

    # --- held answers

    def settle(self, release: Release, reduce: Callable[[Trace], Trace] | None = None) -> int:
        """Release or reject a held answer and its waiting duplicates; of two concurrent calls only one succeeds.

        Returns how many were settled; 0 where it was settled before, or is not held. `reduce` says what stays of the texts.
        """
        settled = row_of(release) | {"at": naive(release.at or datetime.now(UTC))}
        with self._ledger.durable() as connection:
            waiting = lock_waiting(connection, storable(release.answer_id))
            if not waiting:
                return 0
            statement = insert_into(connection, releases).on_conflict_do_nothing().returning(releases.c.answer_id)
            done = connection.execute(statement, [settled | {"answer_id": id} for id in waiting]).scalars().all()
            seal(connection, "added", "releases", [settled | {"answer_id": id} for id in done])
            if reduce is not None:
                numbers = [waiting[id] for id in done]
                for row in rows_in(connection, _WHOLE_TRACES, decisions.c.answer, numbers):
                    kept = reduce(_trace_of(row))
                    decision = None if kept.decision is None else storable_json(kept.decision)
                    texts = text_row(row.number, kept.answer) | {"decision": decision}
                    connection.execute(update(answer_texts).where(answer_texts.c.answer == row.number).values(**texts))
                for part in chunks(numbers):
                    seal(connection, "reduced", "answers", whole_answers(connection, part))
                    seal(connection, "reduced", "decisions", whole_decisions(connection, part))
                note_changes(connection, numbers)
            set_done(connection, [release.answer_id])
        return len(done)

    def waiting(self, answer_ids: Sequence[str]) -> dict[str, int]:
        """Count the answers of each pending release, the answer included; those that do not wait are skipped."""
        with self._ledger.reading() as connection:
            return count_waiting(connection, [storable(id) for id in answer_ids])

    def release(self, answer_id: str) -> Release | None:
        """Return a held answer's release, `waiting` until it is settled; None for unknown or unheld answers."""
        id = storable(answer_id)
        with self._ledger.reading() as connection:
            row = connection.execute(select(releases).where(releases.c.answer_id == id)).one_or_none()
            if row is not None:
                return record_of(Release, row)
            query = select(answers.c.id).join(decisions, decisions.c.answer == answers.c.number)
            row = connection.execute(query.where(answers.c.id == id, is_held())).first()
        return Release(answer_id=answer_id, state="waiting") if row else None


def insert_traces(connection: Connection, traces: Sequence[Trace]) -> int:
    """Insert traces with their answers, links, counts and review items; return how many are new."""
    by_id: dict[str, Trace] = {}
    for trace in traces:
        by_id.setdefault(storable(trace.id), trace)
    texts = {id: storable_json(trace.decision) for id, trace in by_id.items() if trace.decision is not None}
    numbers = insert_answers(connection, [trace.answer for trace in by_id.values()], texts)
    new = {number: by_id[id] for id, number in numbers.items()}
    if not new:
        return 0
    stored_texts = {number: texts.get(id) for id, number in numbers.items() if not by_id[id].erased}
    rows = [_decision_row(number, trace) for number, trace in new.items()]
    insert_rows(connection, decisions, rows)
    seal(connection, "added", "decisions", [row | {"decision": stored_texts.get(row["answer"])} for row in rows])
    reasons: list[RowValues] = []
    for row, trace in zip(rows, new.values(), strict=True):
        decisive = [reason.code for reason in trace.decision.reasons if reason.decisive] if trace.decision else []
        place = {name: row[name] for name in ("answer", "at", "verdict", "channel", "collection")}
        reasons += [{"code": code} | place for code in dict.fromkeys(decisive)]
    insert_rows(connection, decision_reasons, reasons)
    insert_links(connection, [Link(number, trace.panel, key) for number, trace in new.items() for key in trace.judgments])
    queue_traces(connection, new)
    count_traces(connection, rows, reasons)
    return len(new)


def whole_decisions(connection: Connection, numbers: Sequence[int]) -> list[RowValues]:
    """Return the rows of decisions by number of answer, with what is hashed of their texts."""
    return list(map(values_of, connection.execute(HASHED_DECISIONS.where(decisions.c.answer.in_(numbers)))))


def note_changes(connection: Connection, numbers: Sequence[int]) -> None:
    """Record lost texts for exports of traces; only pipeline answers count."""
    for part in chunks(numbers):
        of_chat = select(decisions.c.answer).where(decisions.c.answer.in_(part), decisions.c.channel == "chat")
        connection.execute(insert(trace_changes).from_select(["answer"], of_chat.order_by(decisions.c.answer)))


def _decision_row(number: int, trace: Trace) -> RowValues:
    row = row_of(trace, "answer", "decision", "panel", "judgments")
    return row | {
        "answer": number,
        "at": naive(trace.at),
        "collection": row["collection"][:LONGEST_NAME],
        "language": row["language"][:16],
        "profile": row["profile"][:32],
        "version": row["version"][:64],
        "confidence_bin": bin_of(trace.metrics.get("confidence")),
        "unsupported_bin": bin_of(trace.p_unsupported),
        "held_key": held_key(trace),
        "text_key": "" if trace.erased else trace.text_key or text_key(trace.collection, trace.response, trace.documents),
    }


HASHED_DECISIONS = select(decisions, answer_texts.c.decision).select_from(
    decisions.outerjoin(answer_texts, answer_texts.c.answer == decisions.c.answer)
)
"""Rows of decisions with the decision's JSON, which quotes texts and goes with them."""
_WHOLE_TRACES = select(
    answers,
    *TEXT_COLUMNS,
    *(column for column in decisions.c if column.name not in ("language", "held_key", "text_key")),
    decisions.c.language.label("read_language"),
).select_from(
    decisions.join(answers, answers.c.number == decisions.c.answer).outerjoin(
        answer_texts, answer_texts.c.answer == decisions.c.answer
    )
)
"""Decisions with their answers and texts; the texts of erased ones are NULL."""
_BY_ID = _WHOLE_TRACES.where(answers.c.id == bindparam("of"))
_DECISION = Decoder(Decision)


def _trace_of(row: Row[Any]) -> Trace:
    answer = answer_of(row)
    decision = None if row.decision is None else decoded(_DECISION, row.decision, f"answer {answer.id}", "decision")
    return record_of(Trace, row, answer=answer, decision=decision, language=row.read_language)


LOCK_SECONDS = 10


class TraceEnd(Struct, frozen=True, kw_only=True):
    """The number of the latest answer, and of the latest change of a trace's texts."""

    answer: int
    change: int


class TraceFeed(Store):
    """Traces of the channel `chat` and their changes, in append order."""

    def end(self) -> TraceEnd:
        """Return the current end for an export.

        PostgreSQL gives numbers before it commits: a lock waits up to `LOCK_SECONDS` for the transactions that hold lower ones.
        """
        return TraceEnd(change=self._last(trace_changes), answer=self._last(answers))

    def traces(self, after: int, until: int) -> Iterator[Sequence[Trace]]:
        """Iterate over traces by number of answer, in portions."""
        of_chat = func.coalesce(decisions.c.channel, "") == "chat"  # no index is sought in: it would be sorted by number
        query = _WHOLE_TRACES.where(of_chat, decisions.c.answer <= until)
        for rows in self._ledger.portions(query, decisions.c.answer, PORTION, after=after):
            yield [_trace_of(row) for row in rows]

    def changed(self, after: int, until: int) -> set[str]:
        """Return the ids of answers with changed texts."""
        query = select(answers.c.id).join(trace_changes, trace_changes.c.answer == answers.c.number)
        return set(self._ledger.values(query.where(trace_changes.c.number.between(after + 1, until))))

    def current(self, ids: Iterable[str]) -> Iterator[Trace]:
        """Iterate over current traces by id."""
        for part in chunks(list(ids)):
            rows = self._ledger.rows_in(_WHOLE_TRACES.order_by(decisions.c.answer), answers.c.id, part)
            yield from map(_trace_of, rows)

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of traces by id; unknown ids are skipped."""
        query = select(answers.c.id, answers.c.number).join(decisions, decisions.c.answer == answers.c.number)
        return dict(map(tuple, self._ledger.rows_in(query.where(decisions.c.channel == "chat"), answers.c.id, ids)))

    def _last(self, table: Table) -> int:
        with self._ledger.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
                connection.execute(text(f"LOCK TABLE {table.name} IN SHARE MODE"))
            return int(connection.execute(select(func.max(table.c.number))).scalar() or 0)
