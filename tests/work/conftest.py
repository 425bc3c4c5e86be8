"""Engines on a ledger of their own."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import URL

from areopage.ledger.store import Ledger
from areopage.models.own_loop import OwnLoop
from areopage.work.handlers import Handler, ScheduledJob

if TYPE_CHECKING:
    from areopage.work.engine import Engine
    from servers.work_items import Items


@pytest.fixture
def items() -> "Items":
    from servers.work_items import Items

    return Items()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    from servers.new_ledger import ledger_at, new_queue_file

    opened = ledger_at(tmp_path / "ledger.db")
    new_queue_file(tmp_path / "ledger.db")
    yield opened
    opened.close()


@pytest.fixture
def open_engine(ledger: Ledger, items: "Items") -> Iterator[Callable[..., "Engine"]]:
    """Opens an engine of this process; it is closed in the end."""
    from areopage.work.engine import Engine
    from servers.work_items import close

    own = OwnLoop("handlers")
    made: list[Engine] = []

    def opener(
        *handlers: Handler,
        executor: str = "me@1",
        jobs: Sequence[ScheduledJob] | None = None,
        pool: str = "test",
        location: URL | None = None,
    ) -> Engine:
        at = location or ledger.engine.url
        made.append(Engine(at, executor, handlers or [items.handler()], jobs, pool=pool, loop=own.loop))
        return made[-1]

    yield opener
    items.release()
    for one in made:
        close(one)

    async def nothing() -> None: ...

    own.stop(nothing)
