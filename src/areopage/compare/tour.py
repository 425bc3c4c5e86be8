"""The step of the demonstration that compares its two runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from areopage.bench import RunView
from areopage.compare.report.files import COMPARISON_PAGE, write_comparison
from areopage.compare.report.text import findings
from areopage.compare.runs.compare import compare_runs
from areopage.demo import TourComparison
from areopage.ledger import Ledger
from areopage.report import report_locale


def show_comparison(
    ledger: Ledger, runs: Sequence[RunView], folder: Path, pages: Mapping[str, Path], language: str
) -> TourComparison:
    """Compare the runs and write the page."""
    comparison = compare_runs(ledger, [view.run for view in runs])
    write_comparison(comparison, folder, pages, language)
    compared = comparison.others[0]
    return TourComparison(
        outcome=compared.outcome,
        findings=tuple(findings(compared, comparison.first.spec, report_locale(language))),
        page=folder / COMPARISON_PAGE,
    )
