"""The tables of exams of judges, of rounds of canaries and of calibrations, and the standing of the judges of stored panels.

Rows are appended and never changed; `standing` computes from them what is said of a judge.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, Row, Select, select
from sqlalchemy.exc import IntegrityError

from areopage.criteria import Criterion
from areopage.errors import ModelError, UserError, name_list
from areopage.ledger.people.standing import (
    CanaryRound,
    ExaminedJudge,
    JudgeStanding,
    Qualification,
    compact_standings,
    exam_command,
    lack,
    standings,
)
from areopage.ledger.tables.answer_tables import runs
from areopage.ledger.tables.chain import append_sealed
from areopage.ledger.tables.connection import storage_errors
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Standing
from areopage.ledger.tables.rows import decoded, json_text, record_of, row_of, rows_in, storable
from areopage.ledger.tables.schema import calibrations, canary_rounds, qualifications
from areopage.models import ModelReference
from areopage.scoring import Look, Shift


class Qualifications(Store):
    """The table `qualifications`; rows are never changed or removed."""

    def add(self, results: Sequence[Qualification]) -> tuple[Qualification, ...]:
        """Append the results of an exam in one transaction; returns them with their numbers."""
        rows = [row_of(result, "number") | {"path": storable(result.path)} for result in results]
        with self._ledger.writing() as connection:
            numbers = append_sealed(connection, qualifications, rows)
        return tuple(msgspec.structs.replace(result, number=at) for result, at in zip(results, numbers, strict=True))

    def list(self, suite: str | None = None, exam: str | None = None) -> list[Qualification]:
        """Return the results, oldest first, with their items."""
        query = select(qualifications).order_by(qualifications.c.number)
        query = query if suite is None else query.where(qualifications.c.suite == storable(suite))
        query = query if exam is None else query.where(qualifications.c.exam == exam)
        return self._ledger.records(Qualification, query)

    def any_of(self, criteria: Sequence[Criterion]) -> bool:
        """Whether any judge was examined on one of these criteria; canaries follow exams."""
        paths = sorted({criterion.path for criterion in criteria})
        return bool(self._ledger.rows_in(select(qualifications.c.number), qualifications.c.path, paths))

    def standings(
        self,
        judges: Sequence[ExaminedJudge],
        criteria: Sequence[Criterion],
        judged_at: Mapping[str, datetime] = {},
        *,
        joint: bool = False,
    ) -> tuple[JudgeStanding, ...]:
        """What is known of each judge of a panel; see `standings`."""
        paths = {criterion.path for criterion in criteria}
        with self._ledger.reading() as connection:
            exams, drifts = exams_by_path(connection, paths), drifts_by_path(connection, paths)
        return standings(judges, criteria, exams, drifts, judged_at, joint=joint)

    def of_panel(self, id: str) -> tuple[JudgeStanding, ...]:
        """What is known now of each judge of a stored panel; () where the panel is not there, or cannot be read."""
        row = self._ledger.row(select(runs.c.spec).where(runs.c.id == id))
        panel = None if row is None else _panel_in(row.spec)
        return () if panel is None else self.standings(panel.judges, panel.criteria, joint=panel.joint)

    def require(self, suite: str, judges: Sequence[ExaminedJudge], criteria: Sequence[Criterion], *, joint: bool = False) -> None:
        """Refuse judges that are not qualified on every criterion that they may judge, by name and standing."""
        standings = self.standings(judges, criteria, joint=joint)
        lacking = [standing for standing in standings if standing.state != "qualified"]
        if lacking:
            reasons = "; ".join(f"judge {standing.judge} ({standing.model}) {lack(standing)}" for standing in lacking)
            command = exam_command(
                suite, ((standing.judge, standing.model) for standing in lacking if standing.state != "unfit"), joint=joint
            )
            raise ModelError(f"only qualified judges may judge: {reasons}{f' (examine with: {command})' if command else ''}")


_EXAMS: Select[Any] = select(*(column for column in qualifications.c if column.name != "items"))


def exams_by_path(connection: Connection, paths: set[str]) -> dict[str, list[Qualification]]:
    """The results of exams by the criterion's path, oldest first and without their items."""
    by_path: dict[str, list[Qualification]] = {}
    for row in rows_in(connection, _EXAMS.order_by(qualifications.c.number), qualifications.c.path, sorted(paths)):
        by_path.setdefault(row.path, []).append(record_of(Qualification, row))
    return by_path


# --- canaries


class _Result(Struct, frozen=True):
    look: Look
    shift: Shift
    found: int


_RESULT = msgspec.json.Decoder(_Result)


class CanaryRounds(Store):
    """The table `canary_rounds`; rows are never changed or removed."""

    def add(self, rounds: Sequence[CanaryRound]) -> tuple[CanaryRound, ...]:
        """Append a round in one transaction; returns it with its numbers, or as another process stored it before."""
        rows = [
            row_of(result, "number", "found", "look", "shift")
            | {"path": storable(result.path), "result": json_text(_Result(result.look, result.shift, result.found))}
            for result in rounds
        ]
        with storage_errors(self._ledger.place):
            try:
                with self._ledger.engine.begin() as connection:
                    numbers = append_sealed(connection, canary_rounds, rows)
            except IntegrityError:
                stored = self.list(round=rounds[0].round)
                if not stored:
                    raise
                return tuple(stored)
        return tuple(structs.replace(result, number=at) for result, at in zip(rounds, numbers, strict=True))

    def list(
        self, suite: str | None = None, *, round: str | None = None, judge: str | None = None, digest: str | None = None
    ) -> list[CanaryRound]:
        """Return rounds, oldest first, with their items."""
        wanted = {"suite": suite, "round": round, "judge": judge, "digest": digest}
        query = select(canary_rounds).order_by(canary_rounds.c.number)
        for name, value in wanted.items():
            query = query if value is None else query.where(canary_rounds.c[name] == storable(value))
        return [_round_of(row) for row in self._ledger.rows(query)]


def drifts_by_path(connection: Connection, paths: set[str]) -> dict[str, list[CanaryRound]]:
    """The rounds on which a judge was found to have moved, by the criterion's path, oldest first and without their items.

    Of several rounds after one exam it is the first.
    """
    firsts: dict[str, dict[tuple[str, str, str], CanaryRound]] = {}
    columns = (column for column in canary_rounds.c if column.name != "items")
    query = select(*columns).where(canary_rounds.c.moved).order_by(canary_rounds.c.number)
    for row in rows_in(connection, query, canary_rounds.c.path, sorted(paths)):
        firsts.setdefault(row.path, {}).setdefault((row.exam, row.judge, row.criterion), _round_of(row))
    return {path: list(rounds.values()) for path, rounds in firsts.items()}


def _round_of(row: Row[Any]) -> CanaryRound:
    result = decoded(_RESULT, row.result, f"round of canaries {row.number}", "result")
    return record_of(CanaryRound, row, **structs.asdict(result))


# --- stored panels


class _Judge(Struct, frozen=True):
    name: str
    reference: ModelReference
    digest: str = ""
    unfit: str = ""
    criteria: tuple[str, ...] = ()
    method: str = "sampled"
    kind: str = "model"

    @property
    def is_model(self) -> bool:
        """Whether a model is asked."""
        return self.kind == "model"


class _Panel(Struct, frozen=True):
    judges: tuple[_Judge, ...]
    criteria: tuple[Criterion, ...]
    joint: bool = False


def panel_standings(
    connection: Connection, judged: Iterable[tuple[str, datetime | None]]
) -> dict[tuple[str, datetime | None], tuple[Standing, ...]]:
    """What is known of the judges of panels for scores of a moment (None: now), by the panel's id and the moment.

    Panels that cannot be read are left out.
    """
    wanted = list(dict.fromkeys(judged))
    rows = rows_in(connection, select(runs.c.id, runs.c.spec), runs.c.id, sorted({id for id, _ in wanted if id}))
    panels = {row.id: panel for row in rows if (panel := _panel_in(row.spec)) is not None}
    paths = {criterion.path for panel in panels.values() for criterion in panel.criteria}
    exams, drifts = exams_by_path(connection, paths), drifts_by_path(connection, paths)
    times = [drift.at for rounds in drifts.values() for drift in rounds]
    between_drifts: dict[tuple[str, int], tuple[Standing, ...]] = {}
    by_moment: dict[tuple[str, datetime | None], tuple[Standing, ...]] = {}
    for id, at in wanted:
        if (panel := panels.get(id)) is not None:
            before = sum(at is None or time <= at for time in times)  # between two of them nothing changes
            if (id, before) not in between_drifts:
                judged_at = {} if at is None else {judge.name: at for judge in panel.judges}
                judges = standings(panel.judges, panel.criteria, exams, drifts, judged_at, joint=panel.joint)
                between_drifts[id, before] = compact_standings(judges)
            by_moment[id, at] = between_drifts[id, before]
    return by_moment


@lru_cache(maxsize=64)  # the judges and criteria of a stored panel never change
def _panel_in(spec: str) -> _Panel | None:
    try:
        return msgspec.json.decode(spec, type=_Panel)
    except msgspec.DecodeError:
        return None


class StoredCalibration(Struct, frozen=True, kw_only=True):
    """A calibration as a row: canonical JSON without any text of an answer, the hash of it, and an id that begins the hash."""

    id: str
    suite: str
    run_id: str
    created_at: datetime
    body: str
    digest: str


class Calibrations(Store):
    """The table `calibrations`; rows are never changed or removed."""

    def add(self, calibration: StoredCalibration) -> bool:
        """Append a calibration; returns whether it is new."""
        if any(stored.digest == calibration.digest for stored in self.all()):
            return False
        with self._ledger.writing() as connection:
            append_sealed(connection, calibrations, [row_of(calibration)])
        return True

    def all(self, suite: str | None = None) -> tuple[StoredCalibration, ...]:
        """Return all calibrations, or those of a suite, oldest first."""
        query = select(calibrations).order_by(calibrations.c.number)
        query = query if suite is None else query.where(calibrations.c.suite == storable(suite))
        return tuple(self._ledger.records(StoredCalibration, query))

    def find(self, id: str) -> StoredCalibration:
        """Return a calibration by its id, the beginning of it, or `latest`; a user error where there is none, or several."""
        stored = self.all()
        matching = stored[-1:] if id == "latest" else tuple(fit for fit in stored if id and fit.digest.startswith(id))
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise UserError(f"several calibrations begin with {id!r}: {name_list(calibration.id for calibration in matching)}")
        fit = shlex.join(["areopage", "calibrate", "fit", "RUN", "--ledger", self._ledger.place])
        has = f"it has {name_list(calibration.id for calibration in stored)}" if stored else f"fit one: {fit}"
        raise UserError(f"no calibration {id[:64]!r} in {self._ledger.place}: {has}")
