"""The gate's migration: a ledger of the monitor keeps its data, its keys stay valid, and are confined to nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, column, create_engine, insert, table, text

from areopage.ledger.access import ApiKeys, key_hash
from areopage.ledger.connection import MIGRATIONS, url_of
from areopage.ledger.exchange_rows import exchange_row, text_row
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import ExchangeFilter, Release
from areopage.ledger.gate_tables import exchange_texts
from areopage.ledger.people import ReviewQueue
from areopage.ledger.store import Ledger
from servers.made_exchanges import held_exchange

Opener = Callable[[str | Path], Ledger]
MOMENT = "2026-01-02 03:04:05"


def made_by(engine: Engine, revision: str) -> None:
    """A ledger as a revision made it."""
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def second_revision(location: str) -> None:
    """A ledger as the second revision made it, with a key and an item in the review queue."""
    engine = create_engine(url_of(location))
    made_by(engine, "0002")
    with engine.begin() as connection:
        hashed = key_hash("areo_secret")
        columns = "id, name, hash, role, created_at"
        connection.execute(text(f"INSERT INTO api_keys ({columns}) VALUES ('k1', 'site', '{hashed}', 'write', '{MOMENT}')"))
        item = f"('a1', 'alert', '{MOMENT}', 'open', 1)"
        connection.execute(text(f"INSERT INTO review_items (submission_id, why, created_at, state, wanted) VALUES {item}"))
    engine.dispose()


def test_a_ledger_of_the_second_revision_keeps_what_it_holds_and_takes_exchanges(location: str, open_ledger: Opener) -> None:
    second_revision(location)
    ledger = open_ledger(location)
    key = ApiKeys(ledger).find("areo_secret")
    assert key is not None
    assert (key.name, key.role, key.collections) == ("site", "write", ())
    Exchanges(ledger).add([held_exchange(1)])
    assert [(one.submission_id, one.why) for one in ReviewQueue(ledger).open_items()] == [
        ("a1", "alert"),
        (held_exchange(1).id, "held"),
    ]
    assert Exchanges(ledger).summary(ExchangeFilter()).exchanges == 1


def test_an_answer_that_waits_in_a_ledger_of_the_third_revision_is_settled_by_itself(location: str, open_ledger: Opener) -> None:
    engine = create_engine(url_of(location))
    made_by(engine, "0003")
    waiting = {name: value for name, value in exchange_row(held_exchange(1)).items() if name != "held_key"}
    with engine.begin() as connection:
        connection.execute(insert(table("exchanges", *(column(name) for name in waiting))), waiting)
        texts = text_row(1, held_exchange(1))
        connection.execute(insert(exchange_texts), texts)
    engine.dispose()
    store = Exchanges(open_ledger(location))
    store.add([held_exchange(2), held_exchange(3)])
    assert store.waiting([held_exchange(number).id for number in (1, 2)]) == {held_exchange(1).id: 1, held_exchange(2).id: 2}
    settled = Release(exchange_id=held_exchange(1).id, state="refused", rater="Anne", at=held_exchange(1).at)
    assert store.settle(settled) == 1
    assert store.release(held_exchange(1).id) == settled


def test_a_key_is_confined_to_its_collections(location: str, open_ledger: Opener) -> None:
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
