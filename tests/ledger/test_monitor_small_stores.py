"""Alerts, rounds of golden questions, workers, keys and the audit log."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from areopage.ledger.people.access import ApiKeys, Audit
from areopage.ledger.store import Ledger
from areopage.ledger.write.alerts import Alerts
from areopage.ledger.write.operations import Alert, GoldenRun, GoldenRuns, Heartbeat, Workers

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
HOUR = timedelta(hours=1)
MakeAlert = Callable[..., Alert]


def alert(subject: str = "s", **fields: Any) -> Alert:
    known: dict[str, Any] = {
        "rule": "mean",
        "subject": subject,
        "state": "open",
        "opened_at": MOMENT,
        "last_seen_at": MOMENT,
        "title": "Low",
        "body": "Very low\x00",
        "next_attempt_at": MOMENT,
    }
    return Alert(**known | fields)


# --- alerts


def test_an_alert_comes_back_as_it_was(monitored: Ledger) -> None:
    alerts = Alerts(monitored)
    given = alert(answer_id="a", delivery="none", attempts=2, delivery_error="x", body="b")
    assert alerts.open(given)
    assert alerts.get(1) == replace(given, number=1)
    assert alerts.get(2) is None


def test_an_alert_that_is_open_is_counted_once_more(monitored: Ledger) -> None:
    alerts = Alerts(monitored)
    assert [alerts.open(alert()), alerts.open(alert("t")), alerts.open(alert(last_seen_at=MOMENT + HOUR))] == [True, True, False]
    found = alerts.get(1)
    assert found is not None
    assert (found.times, found.opened_at, found.last_seen_at) == (2, MOMENT, MOMENT + HOUR)
    assert [one.subject for one in alerts.list()] == ["t", "s"]


def test_a_closed_alert_opens_anew(monitored: Ledger) -> None:
    alerts = Alerts(monitored)
    assert not alerts.is_open("mean", "s")
    alerts.open(alert())
    assert alerts.is_open("mean", "s")
    assert not alerts.is_open("mean", "t")
    assert [alerts.close("mean", "s", MOMENT + HOUR), alerts.close("mean", "s", MOMENT + 2 * HOUR)] == [True, False]
    assert not alerts.is_open("mean", "s")
    assert alerts.open(alert())
    assert [(one.number, one.closed_at) for one in alerts.list(state="closed")] == [(1, MOMENT + HOUR)]
    assert [one.state for one in alerts.list(limit=1)] == ["open"]


def test_workers_that_see_a_condition_at_once_open_one_alert(monitored: Ledger) -> None:
    alerts, told, start = Alerts(monitored), list[bool](), Barrier(4)

    def see() -> None:
        start.wait()
        told.append(alerts.open(alert()))

    threads = [Thread(target=see) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == [False, False, False, True]
    assert [one.times for one in alerts.list()] == [4]


def test_an_alert_is_due_until_somebody_got_it_or_it_is_given_up(monitored: Ledger) -> None:
    alerts = Alerts(monitored)
    for number, subject in enumerate("abcd"):
        alerts.open(alert(subject, next_attempt_at=MOMENT + number * HOUR, delivery="none" if subject == "c" else "pending"))
    assert [one.subject for one in alerts.undelivered(MOMENT + HOUR)] == ["a", "b"]
    alerts.not_delivered(1, "refused\ud83d", MOMENT + 9 * HOUR)
    alerts.delivered(2)
    assert [one.subject for one in alerts.undelivered(MOMENT + 3 * HOUR)] == ["d"]
    assert [one.subject for one in alerts.undelivered(MOMENT + 9 * HOUR, 1)] == ["a"]
    alerts.not_delivered(1, "again", None)
    assert [one.subject for one in alerts.undelivered(MOMENT + 9 * HOUR)] == ["d"]
    first, second = alerts.get(1), alerts.get(2)
    assert first is not None and second is not None
    assert (first.delivery, first.attempts, first.delivery_error) == ("given_up", 2, "again")
    assert (second.delivery, second.delivery_error) == ("sent", "")
    alerts.delivered(1)
    assert alerts.get(1) == first


# --- rounds of golden questions


def test_a_round_is_replaced_by_what_is_saved_later(monitored: Ledger) -> None:
    rounds = GoldenRuns(monitored)
    begun = GoldenRun(id="r1", suite="s", started_at=MOMENT, asked=3)
    rounds.save(begun)
    assert rounds.list() == [begun]
    ended = replace(begun, finished_at=MOMENT + HOUR, answered=3, scored=2, mean=7.5, change=-0.5, verdict="drop", reason="é")
    rounds.save(ended)
    assert rounds.list() == [ended]


def test_the_last_good_round_is_finished_and_of_the_suite(monitored: Ledger) -> None:
    rounds = GoldenRuns(monitored)
    assert rounds.last_good("s") is None
    for number, (verdict, finished, suite) in enumerate(
        [("first", True, "s"), ("good", True, "s"), ("drop", True, "s"), ("good", False, "s"), ("good", True, "t")]
    ):
        moment = MOMENT + number * HOUR
        rounds.save(
            GoldenRun(id=f"r{number}", suite=suite, started_at=moment, finished_at=moment if finished else None, verdict=verdict)
        )
    found = rounds.last_good("s")
    assert found is not None and found.id == "r1"
    assert [one.id for one in rounds.list("s", 2)] == ["r3", "r2"]
    assert [one.id for one in rounds.list()] == ["r4", "r3", "r2", "r1", "r0"]


# --- workers


def test_a_worker_is_silent_when_it_sent_no_heartbeat_for_long(monitored: Ledger) -> None:
    workers = Workers(monitored)
    one = Heartbeat(id="a", host="h", process=1, started_at=MOMENT, seen_at=MOMENT, state="alive")
    workers.beat(one)
    workers.beat(replace(one, id="b", seen_at=MOMENT + HOUR))
    assert [worker.id for worker in workers.silent(MOMENT + HOUR / 2)] == ["a"]
    workers.beat(replace(one, seen_at=MOMENT + HOUR, process=2))
    assert workers.silent(MOMENT + HOUR / 2) == []
    assert [(worker.id, worker.process) for worker in workers.list()] == [("a", 2), ("b", 1)]
    workers.mark("a", "taken_over")
    assert [worker.id for worker in workers.silent(MOMENT + 2 * HOUR)] == ["b"]
    workers.beat(replace(one, seen_at=MOMENT + 3 * HOUR))
    assert [(worker.id, worker.state) for worker in workers.list()] == [("a", "alive"), ("b", "alive")]


# --- keys and the audit log


def test_a_key_is_found_by_itself_and_kept_as_a_hash_only(monitored: Ledger) -> None:
    keys = ApiKeys(monitored)
    assert not keys.any()
    record, key = keys.create("ci", "write")
    assert key.startswith("areo_") and len(key) == 48
    assert keys.find(key) == record
    assert (record.name, record.role, record.revoked_at) == ("ci", "write", None)
    for wrong in ("", "areo_", key[:-1], key + "a", key.upper(), hashlib.sha256(key.encode()).hexdigest(), "\x00\ud83d"):
        assert keys.find(wrong) is None
    with monitored.engine.connect() as connection:
        (row,) = connection.execute(text("SELECT * FROM api_keys")).all()
    assert key[5:] not in str(row)
    assert hashlib.sha256(key.encode()).hexdigest() in str(row)


def test_a_revoked_key_is_listed_and_lets_nobody_in(monitored: Ledger) -> None:
    keys = ApiKeys(monitored)
    first, key = keys.create("a", "admin")
    second, other = keys.create("b", "read")
    assert [keys.revoke(first.id), keys.revoke(first.id), keys.revoke("nobody's")] == [True, False, False]
    assert (keys.find(key), keys.find(other)) == (None, second)
    assert [(one.id, one.revoked_at is None) for one in keys.list()] == [(second.id, True), (first.id, False)]
    assert keys.any()
    keys.revoke(second.id)
    assert keys.any()  # it was made: without keys the door would be open


@pytest.mark.parametrize("subject", ["a", "b\x00"])
def test_the_audit_log_tells_who_did_what_the_newest_first(monitored: Ledger, subject: str) -> None:
    audit = Audit(monitored)
    before = datetime.now(UTC)
    audit.note("ann", "read", subject)
    audit.note("bob", "erase", "other", "2 answers")
    audit.note("ann", "label", subject, "é\ud83d")
    entries = audit.list()
    assert [(one.actor, one.action, one.detail) for one in entries] == [
        ("ann", "label", "é\ufffd"),
        ("bob", "erase", "2 answers"),
        ("ann", "read", ""),
    ]
    assert all(before <= one.at <= datetime.now(UTC) for one in entries)
    assert [one.action for one in audit.list(subject=subject)] == ["label", "read"]
    assert [one.action for one in audit.list(limit=1)] == ["label"]


def test_a_key_is_confined_to_its_collections(location: str, open_ledger: Callable[[str], Ledger]) -> None:
    keys = ApiKeys(open_ledger(location))
    record, text = keys.create("site", "write", ["faq", "actes notariés", "faq"])
    assert record.collections == ("faq", "actes notariés")
    assert keys.find(text) == record
    assert keys.list() == [record]
    free, other = keys.create("admin", "admin")
    found = keys.find(other)
    assert found is not None
    assert found.collections == free.collections == ()
    assert record.created_at <= datetime.now(UTC)
