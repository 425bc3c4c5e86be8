"""A ledger: runs, answers, judgments, and what is said of them."""

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, Engine, Row, Select, bindparam, delete, exists, func, insert, select, update

from areopage.errors import UnknownRun, name_list
from areopage.ledger.people.access import ApiKeys, Audit, Sessions
from areopage.ledger.people.disagreements import Disagreements
from areopage.ledger.people.erasure import Erasure
from areopage.ledger.people.exams import Calibrations, CanaryRounds, Qualifications
from areopage.ledger.people.labels import Labels, ReviewQueue, SignOffs
from areopage.ledger.read.caches import Caches
from areopage.ledger.read.chain_check import Chains
from areopage.ledger.read.contents import Content, contents_of
from areopage.ledger.read.days import Days
from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.spending import Spending
from areopage.ledger.read.streams import Streams
from areopage.ledger.tables.answer_tables import answer_judgments, evaluations, judgments, run_cases, run_rejected, runs, verdicts
from areopage.ledger.tables.chain import Head, heads, seal
from areopage.ledger.tables.database import Database
from areopage.ledger.tables.records import Judgment, Run, RunKind, RunUse, StoredOutcome
from areopage.ledger.tables.rows import (
    aware,
    chunks,
    insert_into,
    insert_missing,
    insert_rows,
    json_text,
    naive,
    record_of,
    row_of,
    storable,
    valid_places,
    verdict_row,
)
from areopage.ledger.tables.schema import ledger_meta
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.answers import Answers
from areopage.ledger.write.evaluations import Evaluations
from areopage.ledger.write.fleet import Fleet
from areopage.ledger.write.judgments import attempts_of, insert_judgments, judgments_of, whole_judgments
from areopage.ledger.write.operations import GoldenRuns, HookCounts, Workers
from areopage.ledger.write.sent_batches import SentBatches
from areopage.ledger.write.shares import EndpointShares
from areopage.ledger.write.traces import Traces
from areopage.scoring import GIVEN_NAMES

if TYPE_CHECKING:
    from areopage.ledger.read.verdict_columns import Verdicts

_BEGIN_LOCK = 0x0A5E0B
"""PostgreSQL's advisory lock that processes take in turn to begin a run."""

SECRET = "secret"  # noqa: S105 - the row's name, not its value
_OUTCOME = msgspec.json.Decoder(StoredOutcome)
_CASES_AT_ONCE = 1_000
"""Cases of a run that are written or read together: texts of many are never in memory at once."""
_USE_COUNTS = ("evaluated", "scored", "not_applicable", "planned")
# made once: a condition on many keys that is made for one query keeps them in a reference cycle
_NUMBERED = select(judgments).where(judgments.c.id.in_(bindparam("numbers", expanding=True)))
_OF_KEYS = judgments.c.key.in_(bindparam("keys", expanding=True))
_KEYS_AFTER = select(judgments.c.key).where(_OF_KEYS, judgments.c.id > bindparam("number"))
_SAID = select(verdicts.c.judgment_id).where(verdicts.c.judgment_id == judgments.c.id)
_WHOLE = select(judgments.c.key).where(_OF_KEYS, _SAID.exists(), ~_SAID.where(verdicts.c.outcome.not_in(GIVEN_NAMES)).exists())


class Ledger(Database):
    """An open ledger: runs and judgments, and by attributes all else that it holds.

    Methods are synchronous and may be called from any thread; each is one transaction.
    """

    def __init__(self, engine: Engine, place: str = "") -> None:
        super().__init__(engine, place)
        self.answers = Answers(self)
        self.evaluations = Evaluations(self)
        self.lists = EvaluationLists(self)
        self.streams = Streams(self)
        self.caches = Caches(self)
        self.spending = Spending(self)
        self.days = Days(self)
        self.traces = Traces(self)
        self.labels = Labels(self)
        self.disagreements = Disagreements(self)
        self.review_queue = ReviewQueue(self)
        self.signoffs = SignOffs(self)
        self.qualifications = Qualifications(self)
        self.canaries = CanaryRounds(self)
        self.calibrations = Calibrations(self)
        self.fleet = Fleet(self)
        self.batches = SentBatches(self)
        self.workers = Workers(self)
        self.endpoint_shares = EndpointShares(self)
        self.alerts = Alerts(self)
        self.golden_runs = GoldenRuns(self)
        self.hook_counts = HookCounts(self)
        self.api_keys = ApiKeys(self)
        self.sessions = Sessions(self)
        self.audit = Audit(self)
        self.erasure = Erasure(self)
        self.chains = Chains(self)

    @cached_property
    def verdicts(self) -> "Verdicts":
        """The verdicts of a run as arrays."""
        from areopage.ledger.read.verdict_columns import Verdicts  # numpy, which the first call does not need

        return Verdicts(self)

    def secret(self) -> bytes:
        """The ledger's secret for prompt nonces, created at the first call."""
        query = select(ledger_meta.c.value).where(ledger_meta.c.name == SECRET)
        value = self.value(query)
        if value is None:
            with self.writing() as connection:  # where another process is first, its secret counts
                insert_missing(connection, ledger_meta, [{"name": SECRET, "value": secrets.token_hex(32)}])
                value = connection.execute(query).scalar_one()
        return bytes.fromhex(value)

    def heads(self) -> tuple[Head, ...]:
        """Return the last link of each hash chain."""
        with self.reading() as connection:
            return heads(connection)

    # --- runs

    def create_run(self, run: Run, cases: Iterable[str], rejected: Iterable[str] = ()) -> None:
        """Append a run with its cases and rejected rows (as JSON), in order."""
        with self.writing() as connection:
            _insert_run(connection, run, cases, rejected)

    def begin_run(self, run: Run, cases: Iterable[str], rejected: Iterable[str] = (), *, since: datetime | None = None) -> Run:
        """Append a run unless an unfinished benchmark run, created since a time, has its fingerprint; returns the one there.

        Of several processes that begin equal runs at the same time, one appends its run and all get that one.
        """
        with self.exclusive() as connection:
            if not self.is_sqlite:
                connection.execute(select(func.pg_advisory_xact_lock(_BEGIN_LOCK)))
            unfinished = connection.execute(_newest(_unfinished(run.fingerprint, since))).first()
            if unfinished is not None:
                return _run_of(unfinished)
            _insert_run(connection, run, cases, rejected)
            return run

    def finish_run(self, run_id: str, at: datetime | None) -> None:
        """Record when a run was completed; None reopens it."""
        self.change(update(runs).where(runs.c.id == run_id).values(finished_at=naive(at) if at else None))

    def put_outcome(self, run_id: str, outcome: StoredOutcome) -> None:
        """Store what a list says of a run's results; replaces what was stored."""
        self.change(update(runs).where(runs.c.id == run_id).values(outcome=json_text(outcome)))

    def contents(self) -> frozenset[Content]:
        """Return whose rows it holds, for menus."""
        with self.reading() as connection:
            return contents_of(connection)

    def runs(self) -> list[Run]:
        """Return all benchmark runs, newest first."""
        return self.panels("bench")

    def unfinished_run(self, fingerprint: str, since: datetime | None = None) -> Run | None:
        """Return the newest unfinished benchmark run with a fingerprint, created at a time or later."""
        return next(iter(self._runs(_unfinished(fingerprint, since))), None)

    def put_panel(self, run: Run) -> None:
        """Insert a panel of the monitor or the gate; an existing panel is kept."""
        with self.writing() as connection:
            row = row_of(run)
            statement = insert_into(connection, runs).on_conflict_do_nothing().returning(runs.c.id)
            if connection.execute(statement, [row]).all():
                seal(connection, "added", "runs", [row])

    def panel(self, run_id: str, kind: RunKind = "monitor") -> Run | None:
        """Return a panel of a kind by its id."""
        return next(iter(self._runs(select(runs).where(runs.c.kind == kind, runs.c.id == run_id))), None)

    def panels(self, kind: RunKind) -> list[Run]:
        """Return all panels of a kind, newest first."""
        return self._runs(select(runs).where(runs.c.kind == kind))

    def run(self, name: str) -> Run:
        """Find a benchmark run by id, unambiguous prefix, folder, or `latest`.

        Raises:
            UnknownRun: there is none; the newest are listed.
        """
        runs = self.runs()
        folder = str(Path(os.path.expanduser(name)).resolve())  # noqa: PTH111 - a `~name` of an unknown user is kept
        matching = [run for run in runs if name == run.id or folder == run.folder]
        if not matching and name == "latest":
            matching = runs[:1]
        matching = matching or [run for run in runs if run.id.startswith(name)]
        if len(matching) == 1:
            return matching[0]
        ids = name_list((run.id for run in matching or runs), 5)
        if matching:
            raise UnknownRun(f"{name!r} is the beginning of several runs: {ids}")
        raise UnknownRun(f"no run {name!r} in {self.place}: " + (f"there are {ids}" if runs else "it holds no run yet"))

    def _runs(self, query: Select[Any]) -> list[Run]:
        return [_run_of(row) for row in self.rows(_newest(query))]

    def run_cases(self, run_id: str) -> Iterator[str]:
        """Return the cases of a run in order, read as they are asked for."""
        query = select(run_cases.c.case).where(run_cases.c.run_id == run_id).order_by(run_cases.c.position)
        first = 0
        while cases := self.values(query.where(run_cases.c.position.between(first, first + _CASES_AT_ONCE - 1))):
            yield from cases
            first += _CASES_AT_ONCE

    def run_rejected(self, run_id: str) -> list[str]:
        """Return the rejected rows of a run in order."""
        query = select(run_rejected.c.row).where(run_rejected.c.run_id == run_id).order_by(run_rejected.c.position)
        return self.values(query)

    # --- judgments

    def append(self, judged: Sequence[Judgment]) -> None:
        """Commit judgments in one transaction."""
        with self.writing() as connection:
            insert_judgments(connection, judged)

    def judgments(self, keys: Sequence[str]) -> dict[str, Judgment]:
        """Return the valid judgment of each key: see `valid_places`."""
        valid: dict[str, Judgment] = {}
        with self.reading() as connection:
            for attempts in attempts_of(connection, keys):
                places = valid_places((judgment.key, judgment.is_whole) for judgment in attempts)
                valid |= {key: attempts[place] for key, place in places.items()}
        return valid

    def judgments_numbered(self, numbers: Sequence[int]) -> dict[int, Judgment]:
        """Return judgments by number."""
        with self.reading() as connection:
            rows = [row for part in chunks(numbers) for row in connection.execute(_NUMBERED, {"numbers": part})]
            return dict(zip((row.id for row in rows), judgments_of(connection, rows), strict=True))

    def reasons(self, numbers: Sequence[int]) -> dict[tuple[int, str], str]:
        """Return why verdicts of judgments, by number, are missing, by number and criterion."""
        query = select(verdicts.c.judgment_id, verdicts.c.criterion, verdicts.c.reason)
        rows = self.rows_in(query, verdicts.c.judgment_id, numbers)
        return {(row.judgment_id, row.criterion): row.reason for row in rows}

    def last_judged(self, run_id: str, others: Sequence[int] = ()) -> dict[str, datetime]:
        """Return when each judge gave its latest judgment in a run, or among others (by number), by its name."""
        latest: dict[str, datetime] = {}
        query = select(judgments.c.judge, func.max(judgments.c.created_at)).group_by(judgments.c.judge)
        conditions = [judgments.c.run_id == run_id, *(judgments.c.id.in_(part) for part in chunks(others))]
        with self.reading() as connection:
            for condition in conditions:
                for judge, at in connection.execute(query.where(condition)):
                    latest[judge] = max(aware(at), latest.get(judge, aware(at)))
        return latest

    def judgments_under(self, places: Sequence[tuple[int, str]]) -> dict[tuple[int, str], list[Judgment]]:
        """Return the judgments that the scores of answers (by number) under panels rest on, in order.

        Of an answer that was not evaluated yet these are the valid judgments of the keys that it is linked to.
        """
        rows = self.rows_in(select(answer_judgments), answer_judgments.c.answer, [number for number, _ in places])
        wanted = set(places)
        links = [row for row in rows if (row.answer, row.run_id) in wanted]
        valid = self.judgments([link.key for link in links if link.judgment is None])
        numbered = self.judgments_numbered([link.judgment for link in links if link.judgment is not None])
        under: dict[tuple[int, str], list[Judgment]] = {}
        for link in links:
            judgment = valid.get(link.key) if link.judgment is None else numbered.get(link.judgment)
            under.setdefault((link.answer, link.run_id), []).extend([] if judgment is None else [judgment])
        return {place: sorted(judged, key=lambda judgment: judgment.created_at) for place, judged in under.items()}

    def reread(self, judged: Sequence[Judgment]) -> None:
        """Replace the verdicts of judgments read again, in one transaction; one that was erased meanwhile stays erased."""
        with self.writing() as connection:
            for judgment in judged:
                same = (judgments.c.key == judgment.key, judgments.c.run_id == judgment.run_id)
                same_judgment = select(judgments.c.id).where(*same, judgments.c.created_at == naive(judgment.created_at))
                id = connection.execute(same_judgment.order_by(judgments.c.id.desc()).limit(1).with_for_update()).scalar()
                if id is None:
                    continue
                row = row_of(judgment, "verdicts")
                changed = {name: row[name] for name in ("steps", "repair")}
                connection.execute(update(judgments).where(judgments.c.id == id).values(**changed))
                connection.execute(delete(verdicts).where(verdicts.c.judgment_id == id))
                connection.execute(insert(verdicts), [verdict_row(id, verdict) for verdict in judgment.verdicts])
                seal(connection, "reread", "judgments", whole_judgments(connection, [id]))

    def last_judgment(self) -> int:
        """Return the newest judgment's number; 0 without judgments."""
        return self.value(select(func.max(judgments.c.id))) or 0

    def judged_after(self, keys: Sequence[str], number: int) -> set[str]:
        """Return the keys with judgments, failed attempts included, after a number."""
        return {row.key for part in chunks(keys) for row in self.rows(_KEYS_AFTER, {"keys": part, "number": number})}

    def judgment_counts(self) -> dict[str, int]:
        """Count the paid judgments of each benchmark run."""
        query = select(judgments.c.run_id, func.count()).join(runs, runs.c.id == judgments.c.run_id)
        return dict(map(tuple, self.rows(query.where(runs.c.kind == "bench").group_by(judgments.c.run_id))))

    def run_uses(self) -> dict[str, RunUse]:
        """Return what each benchmark run rests on; runs without a judged case are left out."""
        of_case = (run_cases.c.answer == answer_judgments.c.answer) & (run_cases.c.run_id == answer_judgments.c.run_id)
        used = select(run_cases.c.run_id, func.count(answer_judgments.c.key.distinct())).join(answer_judgments, of_case)
        used = used.join(runs, runs.c.id == run_cases.c.run_id)
        # calls are linked before they are made: where a run has ended, all of them were
        used = used.where(runs.c.finished_at.is_not(None) | exists().where(judgments.c.key == answer_judgments.c.key))
        made = (run_cases.c.answer == evaluations.c.answer) & (run_cases.c.run_id == evaluations.c.run_id)
        sums = [func.sum(column) for column in (evaluations.c.scored, evaluations.c.not_applicable, evaluations.c.planned)]
        scored = select(run_cases.c.run_id, func.count(), *sums).join(evaluations, made).group_by(run_cases.c.run_id)
        with self.reading() as connection:
            judged = {row[0]: row[1] for row in connection.execute(used.group_by(run_cases.c.run_id))}
            passes = {row[0]: dict(zip(_USE_COUNTS, row[1:], strict=True)) for row in connection.execute(scored)}
        return {
            run_id: RunUse(judgments=count, **passes.get(run_id, dict.fromkeys(_USE_COUNTS, 0)))
            for run_id, count in judged.items()
        }

    def attempts(self, keys: Sequence[str]) -> list[Judgment]:
        """Return every judgment of these keys in order, failed attempts included."""
        with self.reading() as connection:
            return list(chain.from_iterable(attempts_of(connection, sorted(keys))))

    def judged_wholly(self, keys: Sequence[str]) -> set[str]:
        """Return the keys whose valid judgment has a verdict on every criterion; no texts are read."""
        return {row.key for part in chunks(keys) for row in self.rows(_WHOLE, {"keys": part})}


def _unfinished(fingerprint: str, since: datetime | None) -> Select[Any]:
    query = select(runs).where(runs.c.kind == "bench", runs.c.finished_at.is_(None), runs.c.fingerprint == fingerprint)
    return query if since is None else query.where(runs.c.created_at >= naive(since))


def _newest(query: Select[Any]) -> Select[Any]:
    return query.order_by(runs.c.created_at.desc(), runs.c.id.desc())


def _run_of(row: Row[Any]) -> Run:
    """A run; of one with a damaged outcome, that is computed again."""
    try:
        outcome = None if row.outcome is None else _OUTCOME.decode(row.outcome)
    except msgspec.MsgspecError:
        outcome = None
    return record_of(Run, row, outcome=outcome)


def _insert_run(connection: Connection, run: Run, cases: Iterable[str], rejected: Iterable[str]) -> None:
    added = row_of(run)
    connection.execute(insert(runs), [added])
    seal(connection, "added", "runs", [added])
    for table, column, texts in ((run_cases, "case", cases), (run_rejected, "row", rejected)):
        rows = ({"run_id": run.id, "position": at, column: storable(text)} for at, text in enumerate(texts))
        while portion := list(islice(rows, _CASES_AT_ONCE)):
            insert_rows(connection, table, portion)
            if table is run_cases:
                seal(connection, "added", "run_cases", portion)
