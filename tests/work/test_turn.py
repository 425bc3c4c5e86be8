"""The turn of processes to open a queue: one at a time holds it, at SQLite ledgers."""

import threading
import time
from pathlib import Path

from sqlalchemy import make_url

from areopage.work.turn import Turn
from servers import PATIENCE


def turns(folder: Path, *pools: str) -> list[Turn]:
    return [Turn(make_url(f"sqlite:///{folder / 'ledger.db'}"), pool) for pool in pools]


def test_one_process_of_a_pool_holds_the_turn_until_it_passes_it_on(tmp_path: Path) -> None:
    one, two, other = turns(tmp_path, "run", "run", "another run")
    assert (one.take(), one.take(), two.take(), other.take()) == (True, True, False, True)
    one.pass_on()
    one.pass_on()
    assert (two.wait(), one.take()) == (True, False)
    two.pass_on()
    other.pass_on()
    assert list(tmp_path.iterdir()) == []


def test_who_waits_for_the_turn_can_give_up(tmp_path: Path) -> None:
    """A command that is stopped while another process opens its queue ends at once."""
    one, two = turns(tmp_path, "run", "run")
    assert one.take()
    waited: list[bool] = []
    waiting = threading.Thread(target=lambda: waited.append(two.wait()))
    waiting.start()
    two.give_up()
    waiting.join(PATIENCE)
    assert waited == [False]
    one.pass_on()


def test_who_holds_the_turn_learns_that_another_process_waits(tmp_path: Path) -> None:
    """A process that is alone opens no queue until then."""
    one, two, other = turns(tmp_path, "run", "run", "another run")
    assert (one.take(), other.take(), two.take()) == (True, True, False)
    assert (one.wanted, two.wanted) == (False, False)
    waiting = threading.Thread(target=two.wait)
    waiting.start()
    until = time.monotonic() + PATIENCE
    while not one.wanted and time.monotonic() < until:
        time.sleep(0.01)
    assert (one.wanted, other.wanted) == (True, False)
    one.pass_on()
    waiting.join(PATIENCE)
    assert two.take()
    two.pass_on()
    other.pass_on()
    assert list(tmp_path.iterdir()) == []


def test_at_postgresql_nobody_waits_and_nobody_is_first() -> None:
    turn = Turn(make_url("postgresql+psycopg://host/ledger"), "run")
    assert (turn.take(), turn.wait()) == (False, True)
    turn.pass_on()
