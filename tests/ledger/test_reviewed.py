"""Which panel judged a period: of one suite, the newest."""

from datetime import timedelta
from pathlib import Path

from areopage.ledger.read.queries import Period, Scope
from areopage.ledger.store import Ledger
from servers.quality import MOMENT, quality_score, store_scores


def test_the_newest_panel_is_that_of_the_suite_even_after_a_change_of_suite(tmp_path: Path) -> None:
    day = Period(start=MOMENT.date(), end=MOMENT.date() + timedelta(days=1))
    with Ledger.open(tmp_path / "l.db") as ledger:
        assert ledger.lists.newest_panel(day, Scope()) == ""
        store_scores(
            ledger,
            [
                quality_score(id="a", run_id="old"),
                quality_score(id="b", run_id="new", evaluated_at=MOMENT + timedelta(seconds=1)),
                quality_score(id="c", run_id="other", suite="another", evaluated_at=MOMENT + timedelta(seconds=2)),
            ],
        )
        assert ledger.lists.newest_panel(day, Scope(suite="answer_quality")) == "new"
        assert ledger.lists.newest_panel(day, Scope()) == "other"
