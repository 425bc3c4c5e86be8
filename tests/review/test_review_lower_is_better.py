"""The worst answers on a suite whose low scores are the good ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from areopage.ledger.read.lists import EvaluationLists
from areopage.ledger.read.queries import Scope
from areopage.ledger.store import Ledger
from areopage.review.fill import FillSettings, day_of, weak
from servers.quality_ledger import TODAY, answered, filled


@pytest.fixture
def scored(tmp_path: Path) -> Iterator[Ledger]:
    """Three answers of today."""
    ledger = filled(tmp_path / "ledger.db", [answered(1, 1.0), answered(2, 5.0), answered(3, 9.0)])
    yield ledger
    ledger.close()


def test_where_lower_is_better_the_worst_answers_are_those_with_the_highest_scores(scored: Ledger) -> None:
    today = day_of(TODAY.date())
    lists = EvaluationLists(scored)
    assert [one.id for one in lists.worst(today, Scope(), 2)] == ["a-1", "a-2"]
    assert [one.id for one in lists.worst(today, Scope(), 2, higher_is_better=False)] == ["a-3", "a-2"]


def test_where_lower_is_better_answers_over_the_threshold_are_queued(scored: Ledger) -> None:
    assert weak(scored, TODAY.date(), FillSettings(threshold=6.0, higher_is_better=True, spread=3.0)) == ["a-1", "a-2"]
    assert weak(scored, TODAY.date(), FillSettings(threshold=4.0, higher_is_better=False, spread=3.0)) == ["a-3", "a-2"]
