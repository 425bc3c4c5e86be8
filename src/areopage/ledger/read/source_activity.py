"""When answers of each source came."""

from datetime import date, datetime

from sqlalchemy import select

from areopage.ledger.read.queries import Period
from areopage.ledger.tables.answer_tables import answers
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import is_golden
from areopage.ledger.tables.rows import aware, naive, storable
from areopage.ledger.tables.schema import days


class SourceActivity(Store):
    """When answers of each source came. Golden questions are no source."""

    def received_since(self, since: datetime) -> frozenset[str]:
        """The sources of the answers received since a moment."""
        columns = answers.c
        query = select(columns.source).distinct().where(columns.received_at >= naive(since), columns.origin == "monitor")
        with self._ledger.reading() as connection:
            return frozenset(one for one in connection.execute(query).scalars() if not is_golden(one))

    def last_received(self, source: str) -> datetime | None:
        """When the last answer of a source was received; None without any."""
        columns = answers.c
        query = select(columns.received_at).where(columns.source == storable(source), columns.origin == "monitor")
        with self._ledger.reading() as connection:
            return aware(connection.execute(query.order_by(columns.received_at.desc()).limit(1)).scalar())

    def days(self, period: Period) -> dict[str, list[date]]:
        """The days of a period on which each source had evaluated answers, in order."""
        columns = days.c
        query = select(columns.source, columns.day).distinct().where(columns.kind == "evaluation")
        query = query.where(columns.day >= period.start, columns.day < period.end).order_by(columns.source, columns.day)
        found: dict[str, list[date]] = {}
        with self._ledger.reading() as connection:
            for source, day in connection.execute(query):
                if not is_golden(source):
                    found.setdefault(source, []).append(day)
        return found
