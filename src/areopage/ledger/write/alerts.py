"""Alerts: opened once, counted while they hold, closed afterwards, sent until delivery succeeds."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, text, update

from areopage.ledger.tables.answer_tables import answers
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import insert_into, naive, row_of, storable
from areopage.ledger.tables.schema import alerts
from areopage.ledger.write.operations import Alert


class Alerts(Store):
    """The table `alerts`."""

    def open(self, alert: Alert) -> bool:
        """Open an alert, or increment the open alert of its rule and subject; returns whether it is new."""
        with self._ledger.writing() as connection:
            return open_alert(connection, alert)

    def close(self, rule: str, subject: str, at: datetime) -> bool:
        """Close the open alert of a rule and subject; return whether it existed."""
        change = _CLOSING.where(alerts.c.rule == rule, alerts.c.subject == storable(subject))
        return self._ledger.change(change.values(closed_at=naive(at))) > 0

    def accept(self, number: int, by: str, reason: str, at: datetime) -> bool:
        """Close an open alert because a person accepts what it reports; return whether it was open."""
        values = {"closed_at": naive(at), "accepted_by": storable(by), "accepted_note": storable(reason)}
        return self._ledger.change(_CLOSING.where(alerts.c.number == number).values(**values)) > 0

    def describe(self, number: int, situation: str) -> None:
        """Say how an alert stands."""
        self._ledger.change(update(alerts).where(alerts.c.number == number).values(situation=storable(situation)))

    def is_open(self, rule: str, subject: str) -> bool:
        """Whether a rule and subject have an open alert."""
        query = select(alerts.c.number).where(alerts.c.state == "open", alerts.c.rule == rule)
        return self._ledger.row(query.where(alerts.c.subject == storable(subject))) is not None

    def join(self, numbers: Sequence[int], incident: int, due: datetime) -> None:
        """Put alerts, and those of the incidents that they name, into an incident; those not sent yet are due at a moment."""
        joining = or_(alerts.c.number.in_(numbers), and_(alerts.c.incident.in_(numbers), alerts.c.incident != 0))
        change = update(alerts).where(joining, alerts.c.number != incident).values(incident=incident)
        waiting = update(alerts).where(alerts.c.number.in_(numbers), alerts.c.delivery == "pending", alerts.c.attempts == 0)
        with self._ledger.writing() as connection:
            connection.execute(change)
            connection.execute(waiting.values(next_attempt_at=naive(due)))

    def of_incident(self, number: int, rules: Sequence[str]) -> Sequence[Alert]:
        """Return an incident's alerts of some rules: first the one that names it, then the others, oldest first."""
        query = select(alerts).where(_of_incident(number), alerts.c.rule.in_(rules))
        return self._ledger.records(Alert, query.order_by(alerts.c.incident, alerts.c.number))

    def members(self, numbers: Sequence[int]) -> dict[int, dict[str, int]]:
        """Count the further alerts of incidents, by rule, open and closed."""
        counted = select(alerts.c.incident, alerts.c.rule, func.count()).group_by(alerts.c.incident, alerts.c.rule)
        members: dict[int, dict[str, int]] = {}
        for number, rule, count in self._ledger.rows(counted.where(alerts.c.incident.in_(numbers), alerts.c.incident != 0)):
            members.setdefault(number, {})[rule] = count
        return members

    def undelivered(self, now: datetime, limit: int = 50) -> Sequence[Alert]:
        """Return alerts due for delivery, oldest first."""
        query = select(alerts).where(alerts.c.delivery == "pending", alerts.c.next_attempt_at <= naive(now))
        return self._ledger.records(Alert, query.order_by(alerts.c.number).limit(limit))

    def delivered(self, number: int) -> None:
        """Record a successful delivery."""
        self._ledger.change(_PENDING.where(alerts.c.number == number).values(delivery="sent", delivery_error=""))

    def not_delivered(self, number: int, error: str, next_attempt_at: datetime | None) -> None:
        """Record a failed delivery; None stops further attempts."""
        outcome = {"next_attempt_at": naive(next_attempt_at)} if next_attempt_at else {"delivery": "given_up"}
        change = _PENDING.where(alerts.c.number == number).values(attempts=alerts.c.attempts + 1, **outcome)
        self._ledger.change(change.values(delivery_error=storable(error)))

    def list(
        self,
        *,
        state: str | None = None,
        rule: str = "",
        incident: int | None = None,
        folded: bool = False,
        sources: Sequence[str] = (),
        first: Sequence[str] = (),
        before: int | None = None,
        skip: int = 0,
        limit: int = 100,
    ) -> Sequence[Alert]:
        """Return the newest alerts; by default of all states, rules, incidents and sources.

        Args:
            incident: only the alerts of this one; 0: only those that belong to no other alert's incident.
            folded: without alerts whose incident is named by an alert of the same state: they stand under that one.
            sources: only alerts about these and their answers.
            first: rules whose alerts come before all others, in this order.
            before: only those with a smaller number.
        """
        conditions = _of_sources(sources)
        conditions += [alerts.c.state == state] if state is not None else []
        conditions += [alerts.c.rule == rule] if rule else []
        conditions += [_of_incident(incident)] if incident is not None else []
        conditions += [_NOT_UNDER_ANOTHER] if folded else []
        conditions += [alerts.c.number < before] if before is not None else []
        places = [case({name: place for place, name in enumerate(first)}, value=alerts.c.rule, else_=len(first))] if first else []
        query = select(alerts).where(*conditions).order_by(*places, alerts.c.number.desc())
        return self._ledger.records(Alert, query.limit(limit).offset(skip))

    def counts(self, state: str = "open", sources: Sequence[str] = (), *, folded: bool = False) -> dict[str, int]:
        """Count the alerts of each rule; those about some sources and their answers, () for all alerts; `folded`: see `list`."""
        conditions = [alerts.c.state == state, *_of_sources(sources), *([_NOT_UNDER_ANOTHER] if folded else [])]
        query = select(alerts.c.rule, func.count()).where(*conditions).group_by(alerts.c.rule)
        return dict(map(tuple, self._ledger.rows(query.order_by(alerts.c.rule))))

    def count_undelivered(self, sources: Sequence[str] = ()) -> int:
        """Count the open alerts whose delivery fails; those about some sources and their answers, () for all alerts."""
        failing = or_(alerts.c.delivery == "given_up", and_(alerts.c.delivery == "pending", alerts.c.delivery_error != ""))
        query = select(func.count()).where(alerts.c.state == "open", failing, *_of_sources(sources))
        return int(self._ledger.value(query))

    def of(self, answer_id: str) -> Sequence[Alert]:
        """Return the alerts of one answer, oldest first."""
        query = select(alerts).where(alerts.c.answer_id == storable(answer_id))
        return self._ledger.records(Alert, query.order_by(alerts.c.number))

    def get(self, number: int) -> Alert | None:
        """Return one alert."""
        return next(iter(self._ledger.records(Alert, select(alerts).where(alerts.c.number == number))), None)

    # --- what keeps alerts from becoming a storm, or from being sent twice

    def opened_since(self, rule: str, since: datetime, most: int) -> int:
        """How many of the `most` newest alerts of a rule that belong to no incident were opened at or after a moment.

        Only these are read, so that a large table does not slow it down.
        """
        query = select(alerts.c.opened_at).where(alerts.c.rule == rule, alerts.c.incident == 0)
        newest = self._ledger.values(query.order_by(alerts.c.number.desc()).limit(most))
        return sum(opened_at >= naive(since) for opened_at in newest)

    def close_before(self, rule: str, before: datetime, at: datetime) -> int:
        """Close a rule's alerts opened before a moment; return how many."""
        closing = _CLOSING.where(alerts.c.rule == rule, alerts.c.opened_at < naive(before))
        return self._ledger.change(closing.values(closed_at=naive(at)))

    def reserve(self, alert: Alert, until: datetime) -> bool:
        """Reserve a due alert for this process until a moment; False where another process was first.

        If the process dies while sending, the alert is due again at that moment.
        """
        due = (alerts.c.delivery == "pending", alerts.c.next_attempt_at == naive(alert.next_attempt_at))
        reserving = update(alerts).where(alerts.c.number == alert.number, *due).values(next_attempt_at=naive(until))
        return self._ledger.change(reserving) == 1


def open_alert(connection: Connection, alert: Alert) -> bool:
    """Open an alert, or increment the open one, in the caller's transaction; returns whether it is new."""
    insert = insert_into(connection, alerts)
    again = insert.on_conflict_do_update(
        index_elements=["rule", "subject"],
        index_where=text("state = 'open'"),
        set_={"times": alerts.c.times + 1, "last_seen_at": insert.excluded.last_seen_at},
    )
    times = connection.execute(again.returning(alerts.c.times), row_of(alert, "number")).scalar_one()
    return bool(times == alert.times)


_PENDING = update(alerts).where(alerts.c.delivery == "pending")
_CLOSING = update(alerts).where(alerts.c.state == "open").values(state="closed")
_heads = alerts.alias("heads")
_NOT_UNDER_ANOTHER = or_(
    alerts.c.incident == 0,
    ~select(_heads.c.number).where(_heads.c.number == alerts.c.incident, _heads.c.state == alerts.c.state).exists(),
)


def _of_incident(number: int) -> ColumnElement[bool]:
    return or_(alerts.c.number == number, alerts.c.incident == number) if number else alerts.c.incident == 0


def _of_sources(sources: Sequence[str]) -> list[ColumnElement[bool]]:
    names = [storable(source) for source in sources]
    theirs = select(answers.c.id).where(answers.c.source.in_(names))
    subjects = [f"source:{name}" for name in names]
    return [or_(alerts.c.answer_id.in_(theirs), alerts.c.subject.in_(subjects))] if sources else []
