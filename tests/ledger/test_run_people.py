"""Sign-offs, and the review queue of runs, on both databases."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from areopage.ledger.people.labels import Labels, ReviewQueue, SignOffs
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Label, ReviewItem, SignedState, SignOff

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
STATE = SignedState(fingerprint="f", results="r", labels="l", counted=3, release="FAIL", heads=("1-2-abc",))
ONE = SignOff(run_id="r1", name="Anne\x00 \ud800", role="officer", verdict="approve", note="=1+1 é", signed_at=NOW, signed=STATE)


def faults(ledger: Ledger) -> list[str]:
    told: list[str] = []
    ledger.chains.check((), lambda fault: told.append(str(fault)))
    return told


def item(id: str, why: str, run_id: str = "r1") -> ReviewItem:
    return ReviewItem(answer_id=id, why=why, created_at=NOW, run_id=run_id)


def test_sign_offs_are_appended_and_read_as_they_were_signed(ledger: Ledger) -> None:
    first = SignOffs(ledger).add(ONE)
    second = SignOffs(ledger).add(ONE)
    assert SignOffs(ledger).of("r1") == (first, second) and SignOffs(ledger).of("r2") == ()
    assert SignOffs(ledger).of() == (first, second)
    assert first.name == "Anne\ufffd \ufffd" and first.signed == STATE
    assert first.digest == second.digest == first.content_digest
    assert faults(ledger) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE signoffs SET note = 'x'", "signoffs 1: altered (figures)"),
        ("UPDATE signoffs SET signed = '{}'", "signoffs 1: altered (figures)"),
        ("DELETE FROM signoffs", "signoffs 1: deleted"),
        (
            "INSERT INTO signoffs (number, run_id, name, role, verdict, note, signed_at, signed, digest) "
            "SELECT 9, run_id, 'Bruno', role, verdict, note, signed_at, signed, digest FROM signoffs",
            "signoffs 9: not in any chain: inserted",
        ),
    ],
)
def test_a_sign_off_that_is_altered_deleted_or_made_up_is_found(ledger: Ledger, change: str, told: str) -> None:
    SignOffs(ledger).add(ONE)
    with ledger.engine.begin() as connection:
        connection.execute(text(change))
    assert faults(ledger) == [told]


def test_an_answer_waits_for_each_of_its_runs_and_one_label_closes_all_items(ledger: Ledger) -> None:
    queue = ReviewQueue(ledger)
    assert queue.add([item("a", "failing"), item("a", "failing", "r2"), item("a", "alert", "")]) == 3
    assert queue.add([item("a", "disagreement")]) == 0
    queue.draw([item("a", "sample"), item("b", "sample")])
    assert {id: one.why for id, one in queue.items(["a", "b"], "r1").items()} == {"a": "sample", "b": "sample"}
    assert queue.items(["a"], "r2")["a"].why == "failing"
    assert [one.answer_id for one in queue.open_items()] == ["a", "b", "a", "a"]
    given = Label(answer_id="a", rater="Anne", criterion="c", score=1.0, origin="cli", created_at=NOW)
    Labels(ledger).add([given])
    assert [one.answer_id for one in queue.open_items()] == ["b"]
    found = ledger.signoffs.people_of("r1", ["a", "b"])
    assert (found.labels, found.unblind, set(found.items)) == ((given,), 0, {"a", "b"})


def test_a_label_that_is_not_blind_replaces_no_blind_one(ledger: Ledger) -> None:
    blind = Label(answer_id="a", rater="Anne", criterion="c", score=1.0, origin="cli", created_at=NOW)
    seen = Label(answer_id="a", rater="Anne", criterion="c", score=5.0, origin="cli", blind=False, created_at=NOW)
    other = Label(answer_id="a", rater="Bruno", criterion="c", score=5.0, origin="cli", blind=False, created_at=NOW)
    Labels(ledger).add([blind, seen, other])
    found = ledger.signoffs.people_of("r1", ["a"])
    assert (found.labels, found.unblind) == ((blind,), 1)
