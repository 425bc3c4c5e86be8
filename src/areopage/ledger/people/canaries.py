"""Rounds of canaries: what a judge said when it was asked about some rows of its exam again, and whether its scores moved.

A round is appended and never changed. `people.qualifications` computes from rounds and exams what is said of a judge.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import IntegrityError

from areopage.ledger.people.exam_rows import ExamRow
from areopage.ledger.tables.chain import append_sealed
from areopage.ledger.tables.connection import storage_errors
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import aware, chunks, json_text, naive, storable, storable_json
from areopage.ledger.tables.schema import canary_rounds
from areopage.scoring import Look, Said, Shift


class CanaryRound(ExamRow, frozen=True, kw_only=True):
    """What one round says of one judge on one criterion; other fields as of `ExamRow`.

    Args:
        round: the id of the round, shared by its criteria.
        exam: the id of the exam that it is compared with; `sequence` counts the rounds since then, from 1.
        at: when the round began.
        moved: the judge's scores moved, by this round or an earlier one since the exam; `found` is the number of that round.
        look: the evidence of all rounds so far.
        shift: how far the latest scores lie from those before; of a judge that moved as it was found.
        items: what the judge said of each row, pass by pass.
    """

    round: str
    sequence: int
    moved: bool
    found: int = 0
    look: Look
    shift: Shift
    items: dict[str, tuple[Said, ...]] = {}  # noqa: RUF012 - msgspec copies it


class _Result(Struct, frozen=True):
    look: Look
    shift: Shift
    found: int


class CanaryRounds(Store):
    """The table `canary_rounds`; rows are never changed or removed."""

    def add(self, found: Sequence[CanaryRound]) -> tuple[CanaryRound, ...]:
        """Append a round in one transaction; returns it with its numbers, or as another process stored it before."""
        rows = [
            {
                **{name: storable(getattr(one, name)) for name in _TEXTS},
                "path": storable(one.path),
                "sequence": one.sequence,
                "at": naive(one.at),
                "keys": json_text(one.keys),
                "moved": one.moved,
                "result": json_text(_Result(one.look, one.shift, one.found)),
                "items": storable_json(one.items),
            }
            for one in found
        ]
        with storage_errors(self._ledger.place):
            try:
                with self._ledger.engine.begin() as connection:
                    numbers = append_sealed(connection, canary_rounds, rows)
            except IntegrityError:
                known = self.list(round=found[0].round)
                if not known:
                    raise
                return tuple(known)
        return tuple(structs.replace(one, number=at) for one, at in zip(found, numbers, strict=True))

    def list(
        self, suite: str | None = None, *, round: str | None = None, judge: str | None = None, digest: str | None = None
    ) -> list[CanaryRound]:
        """Return rounds, oldest first, with their items."""
        wanted = {"suite": suite, "round": round, "judge": judge, "digest": digest}
        query = select(canary_rounds).order_by(canary_rounds.c.number)
        for name, value in wanted.items():
            query = query if value is None else query.where(canary_rounds.c[name] == storable(value))
        with self._ledger.reading() as connection:
            return [_round_of(row) for row in connection.execute(query)]


def drifts_by_path(connection: Connection, paths: set[str]) -> dict[str, list[CanaryRound]]:
    """The rounds on which a judge was found to have moved, by the criterion's path, oldest first and without their items.

    Of several rounds after one exam it is the first.
    """
    found: dict[str, list[CanaryRound]] = {}
    for part in chunks(sorted(paths)):
        columns = (column for column in canary_rounds.c if column.name != "items")
        query = select(*columns).where(canary_rounds.c.moved, canary_rounds.c.path.in_(part)).order_by(canary_rounds.c.number)
        for row in connection.execute(query):
            one, known = _round_of(row), found.setdefault(row.path, [])
            if not any((other.exam, other.judge, other.criterion) == (one.exam, one.judge, one.criterion) for other in known):
                known.append(one)
    return found


_TEXTS = ("round", "exam", "suite", "judge", "model", "digest", "criterion")


def _round_of(row: Row[Any]) -> CanaryRound:
    fields = dict(row._mapping)
    del fields["path"]
    result = msgspec.json.decode(fields.pop("result"), type=_Result)
    fields |= {
        "at": aware(fields["at"]),
        "keys": msgspec.json.decode(fields["keys"], type=tuple[str, ...]),
        "items": msgspec.json.decode(fields.get("items", "{}"), type=dict[str, tuple[Said, ...]]),
        "look": result.look,
        "shift": result.shift,
        "found": result.found,
    }
    return CanaryRound(**fields)
