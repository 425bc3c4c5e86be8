"""What tests of runs share."""

from collections.abc import Iterator
from unittest import mock

import pytest

from areopage.bench.execution import batch_creation
from servers.batch_runs import QUICK


@pytest.fixture
def quick_batches() -> Iterator[None]:
    """Let commands in the test's process look at batches often."""
    with mock.patch.object(batch_creation, "PACE", QUICK):
        yield
