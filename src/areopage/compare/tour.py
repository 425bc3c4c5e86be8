"""The step of the demonstration that compares its two runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from areopage.bench import RunView
from areopage.compare.league.text import beside
from areopage.compare.report.files import write_comparison
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
    links = {id: beside(path, folder) for id, path in pages.items()}
    page = write_comparison(comparison, folder, links, language)[0]
    compared = comparison.others[0]
    return TourComparison(
        outcome=compared.outcome,
        findings=tuple(findings(compared, comparison.first.spec, report_locale(language))),
        page=page,
    )
