"""What tests of the server share: what it serves from, and its two clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from areopage.server import ServerContext

from .live import Live, live
from .seeded import context_for, local_client


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServerContext]:
    """What a server over an empty ledger shares."""
    made = context_for(tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture
def site(context: ServerContext) -> Iterator[Live]:
    """The server, listening."""
    with live(context) as running:
        yield running


@pytest.fixture
def client(context: ServerContext) -> TestClient:
    """A browser on the same computer, without keys."""
    return local_client(context)
