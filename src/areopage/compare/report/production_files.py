"""The files of a comparison of a run with production."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from areopage.compare.league.text import beside
from areopage.compare.report.production import production_report
from areopage.compare.report.text import node_name
from areopage.compare.runs.production import ProductionComparison
from areopage.compare.statistics.levels import UnpairedOutcomes
from areopage.ledger import make_folder
from areopage.report import render, report_locale, write_report, write_table

PRODUCTION_PAGE, FIGURES, TABLE, SLICES = "production.html", "production.json", "production.csv", "production_slices.csv"

_DIFFERENCE = (
    *("run_cases", "production_answers", "score_run", "score_production", "score_difference", "score_difference_low"),
    *("score_difference_high", "score_p", "score_p_corrected", "score_conclusion", "failed_run", "failed_production"),
    *("failure_cases_run", "failure_cases_production", "failure_share_run", "failure_share_production", "failure_difference"),
    *("failure_difference_low", "failure_difference_high", "failure_p", "failure_p_corrected", "failure_conclusion"),
)
LEVEL_COLUMNS = ("run", "level", "node", "name", *_DIFFERENCE)
SLICE_COLUMNS = ("run", "kind", "column", "value", "covered", *_DIFFERENCE)


def write_production(found: ProductionComparison, folder: Path, report: Path | None, language: str = "") -> list[Path]:
    """Write the page, the figures and the tables of a comparison with production; each is replaced whole or not at all."""
    make_folder(folder)
    made = production_report(found, language, link=beside(report, folder) if report else "")
    write_report(made, "html", folder / PRODUCTION_PAGE)
    write_report(made, "json", folder / FIGURES)
    write_table(folder / TABLE, LEVEL_COLUMNS, _level_rows(found))
    write_table(folder / SLICES, SLICE_COLUMNS, _slice_rows(found))
    return [folder / name for name in (PRODUCTION_PAGE, FIGURES, TABLE, SLICES)]


def production_pull_request(found: ProductionComparison, language: str = "") -> str:
    """The short form of a comparison with production, in Markdown."""
    return render(production_report(found, language, brief=True), "md")


def _level_rows(found: ProductionComparison) -> Iterator[list[Any]]:
    locale = report_locale("en")
    for one in found.levels:
        node = one.path[-1] if one.level == "criterion" else ".".join(one.path)
        yield [found.run.run.id, one.level, node, node_name(one, found.run.spec, locale), *_cells(one.difference)]


def _slice_rows(found: ProductionComparison) -> Iterator[list[Any]]:
    for whole in found.standardised:
        yield [found.run.run.id, "standardised", whole.column, ", ".join(whole.values), whole.covered, *_cells(whole.difference)]
    for one in found.slices:
        yield [found.run.run.id, "slice", one.column, one.value, None, *_cells(one.difference)]


def _cells(found: UnpairedOutcomes) -> list[Any]:
    score, failures = found.score, found.failures
    counted = (
        (*failures.cases, *failures.means, failures.difference, failures.low, failures.high) if failures else (0, 0, *[None] * 5)
    )
    return [
        *(*score.cases, *score.means, score.difference, score.low, score.high),
        *(found.by_score.p_value, found.by_score.corrected, found.by_score.direction),
        *(*found.failed, *counted),
        *(found.by_failures.p_value, found.by_failures.corrected, found.by_failures.direction),
    ]
