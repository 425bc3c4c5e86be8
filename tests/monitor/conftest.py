"""A monitor whose judge is the fake server."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from areopage.ledger.store import Ledger

if TYPE_CHECKING:
    from servers.fake_llm import FakeServer
    from servers.monitored import Monitored


@pytest.fixture
def monitored(tmp_path: Path, server: "FakeServer", monkeypatch: pytest.MonkeyPatch) -> Iterator["Monitored"]:
    """A configured monitor on SQLite, judged by the fake server; its processes are killed in the end."""
    from servers.monitored import Monitored
    from servers.new_ledger import new_ledger_file

    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    made = Monitored(tmp_path, server, str(new_ledger_file(tmp_path / "ledger.db")))
    made.configure()
    yield made
    made.end()


@pytest.fixture
def kept(monitored: "Monitored") -> Iterator[Ledger]:
    """The monitor's ledger, open."""
    ledger = Ledger.open(monitored.location)
    yield ledger
    ledger.close()
