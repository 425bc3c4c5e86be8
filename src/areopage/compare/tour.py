"""The step of the demonstration that compares its two runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from areopage.bench import RunView, compare_runs
from areopage.demo import TourComparison
from areopage.ledger import Ledger
from areopage.report import COMPARISON_PAGE, findings, report_locale, write_comparison


def show_comparison(
    ledger: Ledger, runs: Sequence[RunView], folder: Path, pages: Mapping[str, Path], language: str
) -> TourComparison:
    """Compare the runs and write the page.

    Args:
        pages: of the runs, by id.

    Raises:
        StorageError: the folder cannot be written.
    """
    comparison = compare_runs(ledger, [view.run for view in runs])
    write_comparison(comparison, folder, pages, language)
    compared = comparison.others[0]
    return TourComparison(
        outcome=compared.outcome,
        findings=tuple(findings(compared, comparison.first.spec, report_locale(language))),
        page=folder / COMPARISON_PAGE,
    )
