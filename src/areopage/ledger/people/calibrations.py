"""Calibrations: what people's labels correct in judges' scores, each kept for good with the hash that names it."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import select

from areopage.errors import UserError, name_list
from areopage.ledger.tables.chain import append_sealed
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import row_of, storable
from areopage.ledger.tables.schema import calibrations


class StoredCalibration(Struct, frozen=True, kw_only=True):
    """A calibration as a row.

    Args:
        id: the beginning of `digest`.
        run_id: the run whose answers were labelled.
        body: the calibration as canonical JSON; it holds no text of an answer.
        digest: SHA-256 of the body.
    """

    id: str
    suite: str
    run_id: str
    created_at: datetime
    body: str
    digest: str


class Calibrations(Store):
    """The table `calibrations`; rows are never changed or removed."""

    def add(self, one: StoredCalibration) -> bool:
        """Append a calibration; returns whether it is new."""
        if any(known.digest == one.digest for known in self.all()):
            return False
        with self._ledger.writing() as connection:
            append_sealed(connection, calibrations, [row_of(one)])
        return True

    def all(self, suite: str | None = None) -> tuple[StoredCalibration, ...]:
        """Return all calibrations, or those of a suite, oldest first."""
        query = select(calibrations).order_by(calibrations.c.number)
        query = query if suite is None else query.where(calibrations.c.suite == storable(suite))
        return tuple(self._ledger.records(StoredCalibration, query))

    def find(self, id: str) -> StoredCalibration:
        """Return a calibration by its id, the beginning of it, or `latest`; a user error where there is none, or several."""
        known = self.all()
        found = list(known[-1:]) if id == "latest" else [one for one in known if id and one.digest.startswith(id)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"several calibrations begin with {id!r}: {name_list(one.id for one in found)}")
        has = f"it has {name_list(one.id for one in known)}" if known else "fit one: areopage calibrate fit RUN"
        raise UserError(f"no calibration {id[:64]!r} in {self._ledger.place}: {has}")
