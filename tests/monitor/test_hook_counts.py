"""What hooks lose or doubt reaches the ledger once, and lowers coverage."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from areopage.ledger.read.queries import Scope, last_days
from areopage.ledger.store import Ledger
from areopage.ledger.write.operations import HookCounts
from areopage.monitor.figures import PeriodFigures
from areopage.monitor.hook.counts import Losses
from areopage.monitor.hook.functions import monitored as hooked
from areopage.monitor.hook.spool import Spool
from areopage.monitor.hook.spool_files import drain
from areopage.monitor.hook.submission import submission_of
from areopage.monitor.intake import Intake
from areopage.monitor.worker import HookCarrier

if TYPE_CHECKING:
    from servers.monitored import Monitored


def test_losses_are_carried_into_the_ledger_once_and_lower_coverage(monitored: "Monitored", kept: Ledger) -> None:
    folder = monitored.config.spool
    for source, answer in (("a", None), ("a", 3.5), ("b", None), ("a", "[message]")):

        @hooked(folder, source=source)
        def reply(question: str, answer: object = answer) -> object:
            return answer

        reply("What is it?")

    @hooked(folder, source="a", extract=lambda _, __: None)
    def skipped(question: str) -> str:
        return question

    skipped("not to be judged")
    Intake(kept).submit([submission_of("Q ?", "A.", source="a")])
    for _ in range(2):
        HookCarrier(folder, kept).carry()
    suite, today = monitored.config.load_suite(), last_days(1, datetime.now(UTC).date())
    figures = PeriodFigures.of(kept, today, Scope(suite=suite.name), suite.scale, {})
    assert (figures.lost, figures.doubtful) == ({"not_found": 3}, {"placeholder": 1})
    assert (figures.planned, figures.coverage, figures.waiting) == (4, 0.0, 1)
    of_a = PeriodFigures.of(kept, today, Scope(suite=suite.name, source="a"), suite.scale, {})
    assert (of_a.lost, of_a.planned) == ({"not_found": 2}, 3)
    assert HookCounts(kept).lost(today, Scope(), ["b"]) == {"not_found": 1}


def test_lines_that_the_worker_rejects_are_losses_of_their_source(monitored: "Monitored", kept: Ledger) -> None:
    spool = Spool(monitored.config.spool)
    spool.append(submission_of("Q ?", "A.", id="one", source="a"))
    spool.append(submission_of("Q ?", "Another.", id="one", source="a"))
    drain(spool.folder, lambda given: given[1:])
    HookCarrier(monitored.config.spool, kept).carry()
    assert HookCounts(kept).lost(last_days(1, datetime.now(UTC).date()), Scope(source="a")) == {"rejected": 1}


def test_a_process_writes_another_file_where_one_has_many_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("areopage.monitor.hook.spool.MOST_ROWS", 2)
    spool = Spool(tmp_path)
    for number in range(5):
        spool.lose("reason", "lost", f"source-{number}")
    assert len(list((tmp_path / "losses").glob("*.json"))) == 3
    assert Losses.of(tmp_path).counts == {"lost": 5}
