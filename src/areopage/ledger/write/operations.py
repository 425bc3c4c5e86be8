"""What the programs around the ledger leave in it: workers, rounds of golden questions, alerts, API keys, the audit log."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from sqlalchemy import func, select, update

from areopage.ledger.read.queries import Period, Scope, midnight
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import NOT_PLANNED, HookCount
from areopage.ledger.tables.rows import insert_missing, insert_or_replace, naive, row_of, storable
from areopage.ledger.tables.schema import golden_questions, golden_runs, hook_counts, workers

Role = Literal["ingest", "ask", "read", "write", "admin"]
"""A key's permission. `ingest` allows submissions only, and `ask` questions and the releases of their answers only: no held
text."""


class Heartbeat(Struct, frozen=True, kw_only=True):
    """A worker's heartbeat. `state` is "alive" or "taken_over" or "stopped"; workers of a pool share their work."""

    id: str
    pool: str = "monitor"
    host: str
    process: int
    started_at: datetime
    seen_at: datetime
    state: str

    def state_at(self, now: datetime, dead_after: float) -> str:
        """Its state at a moment; "silent" after this number of seconds without a heartbeat."""
        quiet = (now - self.seen_at).total_seconds() > dead_after
        return "silent" if self.state == "alive" and quiet else self.state


class Alert(Struct, frozen=True, kw_only=True):
    """One condition that holds or held. `subject` tells one alert of a rule from another.

    `delivery` is "none" where no address is configured. `times` counts how often the condition was seen while the alert was open.

    Args:
        details: the JSON of what its rule must know to close it; "" for none.
        situation: how it stands, where it stays open for a reason.
        accepted_by, accepted_note: who accepted the new level, and why; "" where none did.
        incident: the number of the alert that names its incident; 0 if it names its own.
    """

    number: int = 0
    rule: str
    subject: str
    state: Literal["open", "closed"]
    opened_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None = None
    times: int = 1
    title: str
    body: str
    answer_id: str = ""
    delivery: Literal["pending", "sent", "given_up", "none"] = "pending"
    attempts: int = 0
    next_attempt_at: datetime
    delivery_error: str = ""
    details: str = ""
    situation: str = ""
    accepted_by: str = ""
    accepted_note: str = ""
    incident: int = 0


class GoldenRun(Struct, frozen=True, kw_only=True):
    """One round of golden questions. `verdict` is "running", "first", "good", "drop" or "incomplete"; `change` is in points.

    `asked_at` is when all its questions had been asked.
    """

    id: str
    suite: str
    started_at: datetime
    asked_at: datetime | None = None
    finished_at: datetime | None = None
    asked: int = 0
    answered: int = 0
    scored: int = 0
    mean: float | None = None
    compared_to: str = ""
    change: float | None = None
    verdict: str = "running"
    reason: str = ""


class ApiKey(Struct, frozen=True, kw_only=True):
    """A key's record; the key itself is never kept.

    `collections`: the only collections and sources that it gives access to; () for all.
    """

    id: str
    name: str
    role: Role
    created_at: datetime
    revoked_at: datetime | None = None
    collections: tuple[str, ...] = ()


class AuditEntry(Struct, frozen=True, kw_only=True):
    """Who did what to what (an answer, a key, a setting); `key_id` is that of the API key that acted, "" where none did."""

    at: datetime
    actor: str
    key_id: str = ""
    action: str
    subject: str
    detail: str = ""


# --- stores


class Workers(Store):
    """The table `workers`."""

    def beat(self, worker: Heartbeat) -> None:
        """Insert a worker or renew its heartbeat."""
        with self._ledger.writing() as connection:
            insert_or_replace(connection, workers, row_of(worker))

    def silent(self, since: datetime, pool: str = "monitor") -> Sequence[Heartbeat]:
        """Return "alive" workers of a pool without a heartbeat since a moment."""
        alive = select(workers).where(workers.c.pool == pool, workers.c.state == "alive", workers.c.seen_at < naive(since))
        return self._ledger.records(Heartbeat, alive.order_by(workers.c.seen_at.desc(), workers.c.id))

    def mark(self, id: str, state: str) -> None:
        """Set a worker's state."""
        self._ledger.change(update(workers).where(workers.c.id == id).values(state=state))

    def list(self, pool: str = "monitor") -> Sequence[Heartbeat]:
        """Return the workers of a pool, latest heartbeat first."""
        query = select(workers).where(workers.c.pool == pool)
        return self._ledger.records(Heartbeat, query.order_by(workers.c.seen_at.desc(), workers.c.id))


class GoldenRuns(Store):
    """The table `golden_runs`."""

    def save(self, run: GoldenRun) -> None:
        """Insert or replace a round."""
        with self._ledger.writing() as connection:
            insert_or_replace(connection, golden_runs, row_of(run))

    def note_questions(self, run_id: str, answer_ids: Mapping[str, str]) -> None:
        """Note the questions of a round with the ids that their answers get; those of an earlier call are kept."""
        rows = [{"golden_run": run_id, "question": storable(question), "answer_id": id} for question, id in answer_ids.items()]
        with self._ledger.writing() as connection:
            insert_missing(connection, golden_questions, rows)

    def questions(self, run_id: str) -> dict[str, str]:
        """Return the questions of a round with the ids of their answers."""
        query = select(golden_questions).where(golden_questions.c.golden_run == run_id)
        return {row.question: row.answer_id for row in self._ledger.rows(query)}

    def list(self, suite: str | None = None, limit: int | None = 50) -> Sequence[GoldenRun]:
        """Return the newest rounds; with limit None all."""
        query = _NEWEST_ROUNDS if suite is None else _NEWEST_ROUNDS.where(golden_runs.c.suite == suite)
        return self._ledger.records(GoldenRun, query.limit(limit))

    def last_good(self, suite: str) -> GoldenRun | None:
        """Return the newest finished round with the verdict "good" or "first"."""
        good = (golden_runs.c.finished_at.is_not(None), golden_runs.c.verdict.in_(("good", "first")))
        query = _NEWEST_ROUNDS.where(golden_runs.c.suite == suite, *good).limit(1)
        return next(iter(self._ledger.records(GoldenRun, query)), None)


_NEWEST_ROUNDS = select(golden_runs).order_by(golden_runs.c.started_at.desc(), golden_runs.c.id.desc())


class HookCounts(Store):
    """The table `hook_counts`."""

    def put(self, tally: str, rows: Sequence[HookCount]) -> None:
        """Store all counts of a tally, which replace earlier ones."""
        with self._ledger.writing() as connection:
            for row in rows:
                insert_or_replace(connection, hook_counts, row_of(row) | {"tally": tally})

    def lost(self, period: Period, scope: Scope, sources: Sequence[str] = ()) -> dict[str, int]:
        """The answers of a period that hooks did not submit, by kind; those that were not to be judged are not among them."""
        return self.lost_between(midnight(period.start), midnight(period.end), scope, sources)

    def lost_between(self, start: datetime, end: datetime, scope: Scope, sources: Sequence[str] = ()) -> dict[str, int]:
        """The same for the hours that begin in [start, end)."""
        counts = self._sums(start, end, scope, sources, recorded=False)
        return {why: count for why, count in counts.items() if why not in NOT_PLANNED}

    def doubtful(self, period: Period, scope: Scope, sources: Sequence[str] = ()) -> dict[str, int]:
        """The answers of a period that hooks submitted with a doubt, by kind; one answer may have several."""
        return self._sums(midnight(period.start), midnight(period.end), scope, sources, recorded=True)

    def _sums(self, start: datetime, end: datetime, scope: Scope, sources: Sequence[str], *, recorded: bool) -> dict[str, int]:
        columns = hook_counts.c
        query = select(columns.why, func.sum(columns.answers)).group_by(columns.why)
        query = query.where(columns.hour >= naive(start), columns.hour < naive(end), columns.recorded == recorded)
        if scope.source is not None:
            query = query.where(columns.source == storable(scope.source))
        if scope.variant is not None:
            query = query.where(columns.variant == storable(scope.variant))
        if sources:
            query = query.where(columns.source.in_(list(map(storable, sources))))
        return {why: int(count) for why, count in sorted(map(tuple, self._ledger.rows(query)))}
