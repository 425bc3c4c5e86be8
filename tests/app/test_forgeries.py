"""A forger who writes the database with the ledger's own functions is named, though every link of the chain fits."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from sqlalchemy import Connection, delete, insert, select, text, update

from areopage.app.rebuild import rebuild_ledger
from areopage.app.verify import verify_ledger
from areopage.ledger.people.access import Audit
from areopage.ledger.people.labels import Labels, ReviewQueue, SignOffs
from areopage.ledger.store import Ledger
from areopage.ledger.tables.answer_tables import answer_judgments, judgments, releases, verdicts
from areopage.ledger.tables.chain import EVIDENCE, append_sealed, seal
from areopage.ledger.tables.records import Label, ReviewItem, SignedState, SignOff
from areopage.ledger.tables.rows import naive, values_of
from areopage.ledger.tables.schema import audit, review_items
from areopage.ledger.tables.trace_records import Release
from areopage.ledger.write.judgments import whole_judgments
from areopage.ledger.write.traces import Traces

LONG_AGO = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """A ledger of all applications with a sign-off, a release, labels, a review item and entries of the audit log."""
    opened = Ledger.open(request.getfixturevalue("seeded_file" if request.param == "sqlite" else "seeded_postgres"))
    Audit(opened).note("ann", "read", "m-1")
    now = datetime.now(UTC)
    SignOffs(opened).add(_signed(opened, "reject", now))
    ReviewQueue(opened).add([ReviewItem(answer_id="m-3", why="sample", created_at=now, wanted=1)])
    with opened.engine.connect() as connection:
        held = connection.execute(
            text("SELECT id FROM answers JOIN decisions ON answer = number WHERE verdict = 'human_review' AND held_key != ''")
        ).scalar_one()
    Traces(opened).settle(Release(answer_id=held, state="refused", rater="Anne"), lambda trace: trace)
    yield opened
    opened.close()


def named(ledger: Ledger) -> list[str]:
    told: list[str] = []
    found = verify_ledger(ledger, (), lambda done: None, told.append, lambda one: told.append(f"{one.subject}: {one.field}"))
    assert found.intact == (not told)
    return told


def forged(ledger: Ledger, act: Callable[[Connection], None]) -> list[str]:
    """What is named once a forger has acted in one transaction, and has had all scores computed again."""
    assert named(ledger) == []
    with ledger.engine.begin() as connection:
        act(connection)
    rebuild_ledger(ledger, lambda done: None)
    return named(ledger)


@pytest.mark.parametrize("name", ["audit", "labels", "signoffs", "releases", "runs", "decisions"])
def test_rows_that_no_command_removes_are_named_though_their_removal_is_sealed(ledger: Ledger, name: str) -> None:
    evidence = EVIDENCE[name]

    def remove(connection: Connection) -> None:
        rows = [values_of(row) for row in connection.execute(select(evidence.table))]
        assert rows
        seal(connection, "removed", name, [row | {"decision": None} for row in rows])
        if name in ("runs", "decisions"):  # others refer to them
            return
        connection.execute(delete(evidence.table))

    told = forged(ledger, remove)
    assert any(re.fullmatch(rf"{name} .+: removed: no command of areopage does this to {name}", one) for one in told), told


def test_a_judgment_of_an_answer_that_is_removed_is_named_and_its_link_too(ledger: Ledger) -> None:
    linked = "SELECT min(id) FROM judgments WHERE raw_text != '' AND key IN (SELECT key FROM answer_judgments)"

    def remove(connection: Connection) -> None:
        id = connection.execute(text(linked)).scalar_one()
        key = connection.execute(select(judgments.c.key).where(judgments.c.id == id)).scalar_one()
        links = connection.execute(select(answer_judgments).where(answer_judgments.c.key == key)).all()
        seal(connection, "removed", "answer_judgments", [values_of(row) for row in links])
        seal(connection, "removed", "judgments", whole_judgments(connection, [id]))
        connection.execute(delete(answer_judgments).where(answer_judgments.c.key == key))
        connection.execute(delete(verdicts).where(verdicts.c.judgment_id == id))
        connection.execute(delete(judgments).where(judgments.c.id == id))

    told = forged(ledger, remove)
    assert any(re.fullmatch(r"answer_judgments .+: removed, though its judgment is not erased", one) for one in told), told
    assert any(re.fullmatch(r"judgments \d+: removed, though an answer is linked to it", one) for one in told), told


def test_scores_that_are_said_to_be_read_again_are_compared_with_the_raw_text(ledger: Ledger) -> None:
    def better(connection: Connection) -> None:
        ids = list(connection.execute(text("SELECT DISTINCT judgment_id FROM verdicts WHERE outcome = 'scored'")).scalars())
        connection.execute(update(verdicts).where(verdicts.c.outcome == "scored").values(score=5.0))
        seal(connection, "reread", "judgments", whole_judgments(connection, ids))

    told = forged(ledger, better)
    misread = [one for one in told if re.fullmatch(r"judgments \d+: altered \(its scores are not those of its raw text\)", one)]
    assert len(misread) > 5
    assert any(one.startswith("judgments ") and "raw text" in one for one in told)


def test_a_judge_that_gave_no_answer_cannot_be_read_again(ledger: Ledger) -> None:
    def scored(connection: Connection) -> None:
        row = connection.execute(select(verdicts).where(verdicts.c.outcome != "scored")).first()
        assert row is not None
        id, criterion = row.judgment_id, row.criterion
        of_it = (verdicts.c.judgment_id == id, verdicts.c.criterion == criterion)
        connection.execute(update(verdicts).where(*of_it).values(outcome="scored", score=5.0, reason=""))
        seal(connection, "reread", "judgments", whole_judgments(connection, [id]))

    assert any("its scores are not those of its raw text" in one for one in forged(ledger, scored))


def _signed(ledger: Ledger, verdict: Literal["approve", "reject"], at: datetime) -> SignOff:
    state = SignedState(fingerprint="f", results="r", labels="l", counted=0)
    return SignOff(run_id=ledger.run("latest").id, name="Director", role="", note="", verdict=verdict, signed=state, signed_at=at)


@pytest.mark.parametrize("kind", ["signoffs", "audit", "labels", "releases"])
def test_a_row_that_is_dated_before_earlier_ones_is_named(ledger: Ledger, kind: str) -> None:
    label = Label(answer_id="m-3", rater="Dr Expert", criterion="", score=9.0, origin="web", created_at=LONG_AGO)
    assert named(ledger) == []
    if kind == "signoffs":
        SignOffs(ledger).add(_signed(ledger, "approve", LONG_AGO))
    elif kind == "labels":
        Labels(ledger).add([label])
    else:
        with ledger.engine.begin() as connection:
            if kind == "audit":
                entry = {"at": naive(LONG_AGO), "actor": "Director", "key_id": "", "action": "read", "subject": "", "detail": ""}
                append_sealed(connection, audit, [entry])
            else:
                row = {"answer_id": "m-3", "state": "refused", "text": "", "rater": "Director", "at": naive(LONG_AGO)}
                connection.execute(insert(releases), [row])
                seal(connection, "added", "releases", [row])
    told = named(ledger)
    assert any(re.fullmatch(rf"{kind} .+: dated 2026-01-02 00:00:00, written after .+", one) for one in told), told
    if kind == "signoffs":
        assert any("before its run" in one for one in told)


def test_clocks_of_two_computers_may_differ_by_minutes(ledger: Ledger) -> None:
    Audit(ledger).note("ann", "read", "m-1")
    earlier = datetime.now(UTC) - timedelta(minutes=3)
    label = Label(answer_id="m-3", rater="Anne", criterion="", score=9.0, origin="web", created_at=earlier)
    Labels(ledger).add([label])
    assert named(ledger) == []


def test_a_judgment_is_erased_with_its_answer_only(ledger: Ledger) -> None:
    def blank(connection: Connection) -> None:
        query = "SELECT min(id) FROM judgments WHERE raw_text != '' AND key IN (SELECT key FROM answer_judgments)"
        id = connection.execute(text(query)).scalar_one()
        old, new = connection.execute(select(judgments.c.key).where(judgments.c.id == id)).scalar_one(), "erased-1"
        links = select(answer_judgments).where(answer_judgments.c.key.in_([old, new]))
        changed = {"key": new, "raw_text": "", "repair_text": "", "stored": "none"}
        connection.execute(update(judgments).where(judgments.c.id == id).values(**changed))
        connection.execute(update(verdicts).where(verdicts.c.judgment_id == id).values(explanation="", evidence="[]", reason=""))
        seal(connection, "erased", "judgments", whole_judgments(connection, [id]))
        seal(connection, "removed", "answer_judgments", connection.execute(links).all())
        connection.execute(update(answer_judgments).where(answer_judgments.c.key == old).values(key=new))
        seal(connection, "added", "answer_judgments", connection.execute(links).all())

    assert any(re.fullmatch(r"judgments \d+: erased, though its answer is not", one) for one in forged(ledger, blank))


def test_a_review_item_is_removed_with_its_answer_only(ledger: Ledger) -> None:
    def remove(connection: Connection) -> None:
        rows = connection.execute(select(review_items).where(review_items.c.answer_id == "m-3")).all()
        seal(connection, "removed", "review_items", [values_of(row) for row in rows])
        connection.execute(delete(review_items).where(review_items.c.answer_id == "m-3"))

    assert any("removed, though its answer is not erased" in one for one in forged(ledger, remove))


ALTERED = {
    "ids of two answers": [
        "UPDATE answers SET id = 'x' WHERE id = 'm-0'",
        "UPDATE answers SET id = 'm-0' WHERE id = 'm-1'",
        "UPDATE answers SET id = 'm-1' WHERE id = 'x'",
    ],
    "prompt": ["UPDATE answer_texts SET prompt = prompt || '?' WHERE answer = 1"],
    "response": ["UPDATE answer_texts SET response = 'another' WHERE answer = 1"],
    "documents": ['UPDATE answer_texts SET documents = \'[{"text": "x"}]\' WHERE answer = 1'],
    "what was delivered": ["UPDATE answer_texts SET delivered = 'x' WHERE answer = 1"],
    "source": ["UPDATE answers SET source = 'another' WHERE number = 1"],
    "variant": ["UPDATE answers SET variant = 'Z' WHERE number = 1"],
    "time": ["UPDATE answers SET answered_at = '2025-01-01 00:00:00.000000' WHERE number = 1"],
    "model": ["UPDATE answers SET model = 'another' WHERE number = 1"],
    "finish reason": ["UPDATE answers SET finish_reason = 'length' WHERE number = 1"],
    "key that submitted it": ["UPDATE answers SET api_key = 'another' WHERE number = 1"],
}


@pytest.mark.parametrize("what", ALTERED)
def test_an_answer_is_what_was_submitted(ledger: Ledger, what: str) -> None:
    with ledger.engine.begin() as connection:
        for statement in ALTERED[what]:
            connection.execute(text(statement))
    assert any(re.fullmatch(r"answers \d+: altered \(.+\)", one) for one in named(ledger))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE review_items SET why = 'failing' WHERE answer_id = 'm-3'",
        "UPDATE review_items SET state = 'done' WHERE answer_id = 'm-3'",
        "UPDATE review_items SET answer_id = 'm-4' WHERE answer_id = 'm-3'",
        "DELETE FROM review_items WHERE answer_id = 'm-3'",
    ],
)
def test_the_review_queue_is_what_it_was(ledger: Ledger, statement: str) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(text(statement))
    assert any(one.startswith("review_items ") for one in named(ledger))


def test_no_digest_of_an_erased_answer_can_be_guessed(ledger: Ledger) -> None:
    with ledger.engine.connect() as connection:
        salts = connection.execute(text("SELECT salt FROM answer_texts")).scalars().all()
    assert len(set(salts)) == len(salts) > 10
    assert {len(one) for one in salts} == {32}
