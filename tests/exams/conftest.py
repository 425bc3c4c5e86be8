"""A judge on the server that a test can make drift."""

import pytest

from servers.drifting import DriftingJudge
from servers.fake_llm import FakeServer


@pytest.fixture
def drifting(server: FakeServer) -> DriftingJudge:
    """What the server says as a judge; the same each time until `by` is set."""
    judge = DriftingJudge()
    server.judge = judge
    return judge
