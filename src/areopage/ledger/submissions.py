"""Answers handed over for evaluation, and how far each has come."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select, update

from areopage.ledger.connection import storage_errors
from areopage.ledger.counting import PLACE, Additions, count_failed
from areopage.ledger.inserts import insert_into
from areopage.ledger.monitor_tables import submissions
from areopage.ledger.quality_records import Backlog, Submission
from areopage.ledger.rows import KEYS_PER_QUERY, aware, case_of, case_text, chunks, naive, storable
from areopage.ledger.sqlite_turn import begin_soon
from areopage.ledger.store import Ledger

OPEN_STATES = ("waiting", "queued")
Conditions = tuple[ColumnElement[bool], ...]


class Submissions:
    """The table `submissions`. Each method is one transaction and may be called from any thread."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, submissions: Sequence[Submission]) -> list[bool]:
        """Append submissions; on return they are on the disk, whatever happens to power (SQLite: synchronous=FULL here).

        Those that sampling left out are counted for their day.

        Returns:
            For each whether it is new; one whose id is already there (or came earlier in the sequence) changes nothing.
        """
        rows = [submission_row(submission) for submission in submissions]
        new = self._insert(rows) if rows else set()
        answers = []
        for row in rows:
            answers.append(row["id"] in new)
            new.discard(row["id"])
        return answers

    def _insert(self, rows: list[dict[str, Any]]) -> set[str]:
        if self._ledger.engine.dialect.name == "postgresql":
            # workers that hand over the same ids at once wait for each other in one order
            rows = sorted(rows, key=lambda row: str(row["id"]))
        with storage_errors(self._ledger.place), durable(self._ledger) as connection:
            statement = insert_into(connection, submissions).on_conflict_do_nothing().returning(submissions.c.id)
            new = set(connection.execute(statement, rows).scalars())
            count_left_out(connection, rows, new)
            return new

    def due(self, now: datetime, limit: int) -> list[tuple[str, int]]:
        """Ids and attempt counts of waiting submissions whose next attempt is due, the one that has been due longest first."""
        query = select(submissions.c.id, submissions.c.attempts).where(
            submissions.c.state == "waiting", submissions.c.next_attempt_at <= naive(now)
        )
        return self._attempts(query.order_by(submissions.c.next_attempt_at, submissions.c.number).limit(limit))

    def queued(self, ids: Sequence[str]) -> None:
        """Note that waiting submissions have gone to the queue."""
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            for part in chunks(ids):
                change_locked(connection, (submissions.c.id.in_(part), submissions.c.state == "waiting"), {"state": "queued"})

    def still_queued(self, before: datetime, limit: int) -> list[tuple[str, int]]:
        """Ids and attempt counts of submissions that went to the queue and were received before a moment (to find lost ones)."""
        query = select(submissions.c.id, submissions.c.attempts).where(
            submissions.c.state == "queued", submissions.c.received_at < naive(before)
        )
        return self._attempts(query.order_by(submissions.c.received_at, submissions.c.number).limit(limit))

    def _attempts(self, query: Select[Any]) -> list[tuple[str, int]]:
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return [(row.id, row.attempts) for row in connection.execute(query)]

    def retry(self, id: str, at: datetime, reason: str) -> None:
        """Count a failed attempt and let the submission wait until `at`; one that is evaluated or given up stays so."""
        change = update(submissions).where(submissions.c.id == id, submissions.c.state.in_(OPEN_STATES))
        values = {"state": "waiting", "next_attempt_at": naive(at), "reason": storable(reason)}
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            connection.execute(change.values(attempts=submissions.c.attempts + 1, **values))

    def give_up(self, id: str, reason: str) -> None:
        """Note that no further attempt is made, and count it in the day's totals; once, however often it is called."""
        change = update(submissions).where(submissions.c.id == id, submissions.c.state.in_(OPEN_STATES))
        change = change.values(state="failed", attempts=submissions.c.attempts + 1, reason=storable(reason))
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            places = connection.execute(change.returning(*PLACE)).all()
            count_failed(connection, places, 1)

    def reopen(self, ids: Sequence[str] | None = None) -> int:
        """Let given-up submissions (all: None) wait again with no attempts counted; returns how many.

        They are due at once, and leave the days' totals of what was given up.
        """
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            if ids is not None:
                return sum(reopen_failed(connection, (submissions.c.id.in_(part),)) for part in chunks(ids))
            reopened = 0
            while portion := reopen_failed(connection, ()):
                reopened += portion
            return reopened

    def get(self, id: str) -> Submission | None:
        """A submission by its id."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            row = connection.execute(select(submissions).where(submissions.c.id == storable(id))).one_or_none()
        return submission_of(row) if row else None

    def failed(self, limit: int) -> list[Submission]:
        """The given-up submissions, the last received first."""
        query = select(submissions).where(submissions.c.state == "failed")
        newest = query.order_by(submissions.c.received_at.desc(), submissions.c.number.desc()).limit(limit)
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return [submission_of(row) for row in connection.execute(newest)]

    def backlog(self) -> Backlog:
        """How much is not evaluated yet."""
        counts = select(submissions.c.state, func.count()).where(submissions.c.state.in_((*OPEN_STATES, "failed")))
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            found = {row[0]: row[1] for row in connection.execute(counts.group_by(submissions.c.state))}
            oldest = [
                connection.execute(select(func.min(submissions.c.received_at)).where(submissions.c.state == state)).scalar()
                for state in OPEN_STATES
            ]
        known = [moment for moment in oldest if moment is not None]
        return Backlog(
            waiting=found.get("waiting", 0),
            queued=found.get("queued", 0),
            failed=found.get("failed", 0),
            oldest_at=aware(min(known)) if known else None,
        )


@contextmanager
def durable(ledger: Ledger) -> Iterator[Connection]:
    """A transaction that is on the disk once it is committed; every other one of SQLite is so a moment later."""
    with ledger.engine.connect() as connection:
        if connection.dialect.name != "sqlite":
            with connection.begin():
                yield connection
            return
        connection.exec_driver_sql("PRAGMA synchronous=FULL")
        try:
            begin_soon(connection)
            yield connection
            connection.commit()
        finally:
            connection.rollback()  # SQLite takes no such setting inside of a transaction
            connection.exec_driver_sql("PRAGMA synchronous=NORMAL")


def change_locked(connection: Connection, conditions: Conditions, values: dict[str, Any]) -> list[Row[Any]]:
    """Change a portion of the rows that meet conditions, locked in their order first: no two workers wait in a circle.

    Returns:
        When each was answered, its source and its variant.
    """
    numbers = select(submissions.c.number).where(*conditions).order_by(submissions.c.number).limit(KEYS_PER_QUERY)
    found = list(connection.execute(numbers.with_for_update()).scalars())
    if not found:
        return []
    # the conditions once more: SQLite has no locks on rows, and another process may have come in between
    change = update(submissions).where(submissions.c.number.in_(found), *conditions).values(**values)
    return list(connection.execute(change.returning(*PLACE)))


def reopen_failed(connection: Connection, conditions: Conditions) -> int:
    """Let a portion of the given-up submissions wait again; returns how many."""
    values = {"state": "waiting", "attempts": 0, "next_attempt_at": submissions.c.received_at}
    places = change_locked(connection, (submissions.c.state == "failed", *conditions), values)
    count_failed(connection, places, -1)
    return len(places)


def count_left_out(connection: Connection, rows: Sequence[dict[str, Any]], new: set[str]) -> None:
    """Count those of the rows that are new and left out by sampling; of rows with one id the first is the new one."""
    additions = Additions()
    firsts = {row["id"]: row for row in reversed(rows) if row["id"] in new}
    for row in firsts.values():
        if row["state"] == "left_out":
            additions.leave_out(row["answered_at"], row["source"], row["variant"])
    additions.write(connection)


def submission_row(submission: Submission) -> dict[str, Any]:
    """A submission as a row."""
    next_attempt_at = submission.next_attempt_at or submission.received_at
    return {
        "id": storable(submission.id),
        "received_at": naive(submission.received_at),
        "answered_at": naive(submission.answered_at),
        "state": submission.state,
        "attempts": submission.attempts,
        "next_attempt_at": naive(next_attempt_at),
        "reason": storable(submission.reason),
        "language": storable(submission.language),
        "source": storable(submission.case.source),
        "variant": storable(submission.variant),
        "case": case_text(submission.case),
    }


def submission_of(row: Row[Any]) -> Submission:
    """A row as a submission."""
    return Submission(
        case=case_of(row.case),
        received_at=aware(row.received_at),
        answered_at=aware(row.answered_at),
        language=row.language,
        variant=row.variant,
        state=row.state,
        attempts=row.attempts,
        next_attempt_at=aware(row.next_attempt_at),
        reason=row.reason,
    )
