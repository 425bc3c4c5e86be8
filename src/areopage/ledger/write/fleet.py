"""Benchmark runs that workers carry out: which are open, how far each of their phases is, and what workers say of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from sqlalchemy import Column, Connection, and_, delete, func, literal, select, update

from areopage.ledger.tables.answer_tables import answers, judgments, run_cases
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import insert_missing, insert_or_replace, naive, record_of, row_of, storable
from areopage.ledger.tables.schema import fleet_notes, fleet_phases, fleet_runs

FleetState = Literal["open", "stopped", "spent", "ended"]


class FleetRun(Struct, frozen=True, kw_only=True):
    """A run that workers carry out.

    "ended": they have done what they can; calls may be left that another try could bring. "spent": the next call does not fit
    into `budget`, which is in the currency of the run's prices; None: there is no limit.
    """

    run_id: str
    state: FleetState
    asked_at: datetime
    ended_at: datetime | None = None
    budget: float | None = None


class FleetPhase(Struct, frozen=True, kw_only=True):
    """The calls to the target or to one judge.

    `total` is an estimate until a worker begins the phase; `kept` of them were in the ledger then. `left_open`: calls are left
    that another try could bring.
    """

    name: str
    total: int
    kept: int = 0
    began_at: datetime | None = None
    ended_at: datetime | None = None
    left_open: bool = False


class FleetNote(Struct, frozen=True, kw_only=True):
    """What a worker says of a server of a run; "" of the run as a whole."""

    worker: str
    server: str
    text: str
    at: datetime


class CallSum(Struct, frozen=True, kw_only=True):
    """Stored calls to one model, with their tokens; calls that were made again count again.

    `cost` is that of calls to judges, as far as prices were known when they were made.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "CallSum") -> "CallSum":
        return CallSum(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=self.cost + other.cost,
        )


class CallCounts(Struct, frozen=True, kw_only=True):
    """The stored calls of a run: those to judges by name, and answers by their source. The numbers are those of the newest."""

    judged: Mapping[str, CallSum] = {}
    answered: Mapping[str, CallSum] = {}
    last_judgment: int = 0
    last_answer: int = 0


class Fleet(Store):
    """The tables of runs that workers carry out."""

    def ask(self, run_id: str, calls: Mapping[str, int], now: datetime, budget: float | None = None) -> None:
        """Let workers carry out a run of about so many `calls` by phase; of one that they ended, they try again what is left."""
        rows = [
            {"run_id": run_id, "position": at, "name": storable(name), "total": total, "kept": 0, "left_open": False}
            for at, (name, total) in enumerate(calls.items())
        ]
        again = update(fleet_phases).where(fleet_phases.c.run_id == run_id).values(began_at=None, ended_at=None, left_open=False)
        with self._ledger.writing() as connection:
            row = {"run_id": run_id, "state": "open", "asked_at": naive(now), "ended_at": None, "budget": budget}
            insert_or_replace(connection, fleet_runs, row)
            insert_missing(connection, fleet_phases, rows)
            connection.execute(again)
            connection.execute(delete(fleet_notes).where(fleet_notes.c.run_id == run_id))

    def close(self, run_id: str, state: FleetState, now: datetime) -> bool:
        """Stop or end an open run; returns whether this call did."""
        change = update(fleet_runs).where(fleet_runs.c.run_id == run_id, fleet_runs.c.state == "open")
        return self._ledger.change(change.values(state=state, ended_at=naive(now))) == 1

    def run(self, run_id: str) -> FleetRun | None:
        """Return what is known of a run; None where workers were never asked."""
        row = self._ledger.row(select(fleet_runs).where(fleet_runs.c.run_id == run_id))
        return None if row is None else record_of(FleetRun, row)

    def open_runs(self) -> Sequence[FleetRun]:
        """Return the open runs, oldest first."""
        query = select(fleet_runs).where(fleet_runs.c.state == "open").order_by(fleet_runs.c.asked_at, fleet_runs.c.run_id)
        return self._ledger.records(FleetRun, query)

    # --- phases

    def begin_phase(self, run_id: str, name: str, total: int, kept: int, now: datetime) -> None:
        """Note how many calls a phase has; `kept` counts only where no worker has begun it before."""
        here = and_(fleet_phases.c.run_id == run_id, fleet_phases.c.name == storable(name))
        last = select(func.count()).where(fleet_phases.c.run_id == run_id)
        with self._ledger.writing() as connection:
            row = {"run_id": run_id, "position": connection.execute(last).scalar_one(), "name": storable(name)}
            insert_missing(connection, fleet_phases, [row | {"total": total, "kept": kept, "left_open": False}])
            connection.execute(update(fleet_phases).where(here).values(total=total))
            first = here & fleet_phases.c.began_at.is_(None)
            connection.execute(update(fleet_phases).where(first).values(kept=kept, began_at=naive(now)))

    def end_phases(self, run_id: str, names: Sequence[str] | None, now: datetime, *, left_open: bool) -> None:
        """Note that workers have done what they can of phases; None: of all."""
        here = fleet_phases.c.run_id == run_id
        if names is not None:
            here = and_(here, fleet_phases.c.name.in_([storable(name) for name in names]))
        self._ledger.change(update(fleet_phases).where(here).values(ended_at=naive(now), left_open=left_open))

    def phases(self, run_id: str) -> Sequence[FleetPhase]:
        """Return the phases of a run, in order."""
        query = select(fleet_phases).where(fleet_phases.c.run_id == run_id).order_by(fleet_phases.c.position, fleet_phases.c.name)
        return self._ledger.records(FleetPhase, query)

    def answers_are_due(self, run_id: str) -> bool:
        """Whether cases of a run have no answer of the target yet, not even a failed one."""
        due = select(run_cases.c.position).where(run_cases.c.run_id == run_id, run_cases.c.answer.is_(None)).limit(1)
        return self._ledger.row(due) is not None

    def counts(self, run_id: str, before: CallCounts | None = None) -> CallCounts:
        """Count the calls of a run that are stored, or add newer ones to an earlier count."""
        before = before or CallCounts()
        with self._ledger.reading() as connection:
            judged, judgment = _summed(connection, judgments.c.judge, judgments.c.id, run_id, before.judged, before.last_judgment)
            answered, answer = _summed(
                connection, answers.c.source, answers.c.number, run_id, before.answered, before.last_answer
            )
        return CallCounts(judged=judged, answered=answered, last_judgment=judgment, last_answer=answer)

    # --- notes

    def note(self, run_id: str, note: FleetNote) -> bool:
        """Keep a worker's note on a server; returns whether it is new."""
        here = and_(
            fleet_notes.c.run_id == run_id,
            fleet_notes.c.worker == storable(note.worker),
            fleet_notes.c.server == storable(note.server),
        )
        row = row_of(note) | {"run_id": run_id}
        with self._ledger.writing() as connection:
            if connection.execute(select(fleet_notes.c.text).where(here)).scalar() == row["text"]:
                return False
            insert_or_replace(connection, fleet_notes, row)
        return True

    def notes(self, run_id: str) -> Sequence[FleetNote]:
        """Return what workers said of a run, oldest first."""
        query = select(fleet_notes).where(fleet_notes.c.run_id == run_id).order_by(fleet_notes.c.at, fleet_notes.c.worker)
        return self._ledger.records(FleetNote, query)


def _summed(
    connection: Connection, name: Column[str], number: Column[int], run_id: str, before: Mapping[str, CallSum], since: int
) -> tuple[dict[str, CallSum], int]:
    """The calls of a run by a name, those after a number added to earlier ones; and the newest number."""
    columns = name.table.c
    summed = [columns.prompt_tokens, columns.completion_tokens, columns.cost if "cost" in columns else literal(0.0)]
    sums = [func.coalesce(func.sum(column), 0) for column in summed]
    query = select(name, func.count(), *sums, func.max(number)).group_by(name)
    by_name = dict(before)
    for asked, calls, prompt, completion, cost, newest in connection.execute(
        query.where(columns.run_id == run_id, number > since)
    ):
        newer = CallSum(calls=calls, prompt_tokens=int(prompt), completion_tokens=int(completion), cost=float(cost))
        by_name[asked] = by_name.get(asked, CallSum()) + newer
        since = max(since, newest)
    return by_name, since
