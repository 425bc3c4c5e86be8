"""Judgments whose raw texts were read again: the scores that are stored must be those that the raw texts hold."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from areopage.bench import spec_of
from areopage.cases import Case
from areopage.errors import StorageError
from areopage.jury import Panel, reparsed
from areopage.ledger import Judgment, Ledger, Run, chunks
from areopage.scoring import Scored


class RereadCheck(Struct, frozen=True, kw_only=True):
    """What a comparison of judgments with their raw texts found; `left` could not be compared."""

    faults: int
    left: int


def check_rereadings(ledger: Ledger, numbers: Sequence[int], found: Callable[[str], None]) -> RereadCheck:
    """Read the raw texts of judgments once more, and compare the verdicts; nothing is written.

    Args:
        numbers: of the judgments whose raw texts were read again.
        found: is told each judgment whose verdicts differ.
    """
    panels, faults, left = _Panels(ledger), 0, 0
    for part in chunks(numbers):
        judgments = ledger.judgments_numbered(part)
        cases = ledger.answers.cases_of([one.key for one in judgments.values()])
        for number, judgment in judgments.items():
            panel = panels.of(judgment.run_id)
            if panel is None or _is_expectation(judgment):
                left += 1
            elif not _is_as_read(judgment, panel, cases.get(judgment.key)):
                faults += 1
                found(f"judgments {number}: altered (its scores are not those of its raw text)")
    return RereadCheck(faults=faults, left=left)


class _Panels:
    """The panels of a ledger, each read once; None where another version stored it."""

    def __init__(self, ledger: Ledger) -> None:
        self._runs: dict[str, Run] = {one.id: one for kind in ("monitor", "gate") for one in ledger.panels(kind)}
        self._runs |= {one.id: one for one in ledger.runs()}
        self._panels: dict[str, Panel | None] = {}

    def of(self, run_id: str) -> Panel | None:
        if run_id not in self._panels:
            run = self._runs.get(run_id)
            try:
                self._panels[run_id] = None if run is None else spec_of(run) if run.kind == "bench" else Panel.of(run)
            except StorageError:
                self._panels[run_id] = None
        return self._panels[run_id]


def _is_expectation(judgment: Judgment) -> bool:
    """Whether a score was computed from log-probabilities, which no raw text holds."""
    return any(isinstance(one.outcome, Scored) and one.outcome.mass is not None for one in judgment.verdicts)


def _is_as_read(judgment: Judgment, panel: Panel, case: Case | None) -> bool:
    """Whether the verdicts are those of the raw text; only whole raw texts are read again."""
    known = panel.criteria_by_id()
    if judgment.stored != "full" or not judgment.raw_text or any(one.criterion not in known for one in judgment.verdicts):
        return False
    return reparsed(judgment, panel, case or Case(id="", prompt="")).outcomes == judgment.outcomes
