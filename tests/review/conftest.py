"""A ledger with judged answers, and the criteria they were judged by."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from areopage.ledger.store import Ledger
from areopage.review.rubric import Rubric
from server.samples import SAMPLES
from servers.judged_answers import NOW, SUITE, judged, run_of
from servers.new_ledger import ledger_file


@pytest.fixture
def rubric() -> Rubric:
    """The criteria of the bundled suite."""
    return Rubric.of_suite(SUITE)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Thirty answers of the three days before `NOW`: a00 to a29, five questions in turn; each third one is weak."""
    opened = Ledger.open(ledger_file(tmp_path / "ledger.db", fill))
    yield opened
    opened.close()


def fill(ledger: Ledger) -> None:
    ledger.create_run(run_of(NOW), [])
    for number in range(30):
        at = (NOW - timedelta(days=1 + number // 10)).replace(hour=8) + timedelta(minutes=number)
        judged(ledger, f"a{number:02d}", at, SAMPLES[2 if number % 3 == 0 else number % 2])
