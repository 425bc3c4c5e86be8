"""The files of comparisons: pages, figures and tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from areopage.compare.report.page import CASES, comparison_report
from areopage.compare.report.production import production_report
from areopage.compare.report.text import node_name, run_names
from areopage.compare.runs.production import ProductionComparison
from areopage.compare.runs.records import Compared, Comparison
from areopage.compare.statistics.levels import Difference, UnpairedOutcomes
from areopage.ledger import make_folder
from areopage.report import Report, report_locale, write_report, write_table

TableRows = Iterable[list[Any]]

_DIFFERENCE = (
    *("score_first", "score_other", "score_difference", "score_difference_low", "score_difference_high", "score_cases"),
    *("score_p", "score_p_corrected", "score_conclusion", "newly_failing", "fixed", "failure_difference"),
    *("failure_difference_low", "failure_difference_high", "failure_cases", "failure_p", "failure_p_corrected"),
    "failure_conclusion",
)
_LEVEL_COLUMNS = ("target", "run", "first_run", "level", "node", "name", *_DIFFERENCE)
_SLICE_COLUMNS = ("target", "run", "first_run", "column", "value", "cases", "part", "part_share", *_DIFFERENCE)
_CASE_COLUMNS = ("target", "run", "first_run", "case", "score_first", "score_other", "part", "newly_fails", "fixed", "prompt")
_UNPAIRED = (
    *("run_cases", "production_answers", "score_run", "score_production", "score_difference", "score_difference_low"),
    *("score_difference_high", "score_p", "score_p_corrected", "score_conclusion", "failed_run", "failed_production"),
    *("failure_cases_run", "failure_cases_production", "failure_share_run", "failure_share_production", "failure_difference"),
    *("failure_difference_low", "failure_difference_high", "failure_p", "failure_p_corrected", "failure_conclusion"),
)
_PRODUCTION_LEVELS = ("run", "level", "node", "name", *_UNPAIRED)
_PRODUCTION_SLICES = ("run", "kind", "column", "value", "covered", *_UNPAIRED)


def write_page(report: Report, folder: Path, name: str, tables: Mapping[str, tuple[Sequence[str], TableRows]]) -> list[Path]:
    """Write a page, its figures where it has some, and its tables; each file is replaced whole or not at all."""
    make_folder(folder)
    written = [folder / f"{name}.html"]
    write_report(report, "html", written[0])
    if report.figures:
        written.append(folder / f"{name}.json")
        write_report(report, "json", written[1])
    for file, (columns, rows) in tables.items():
        written.append(folder / file)
        write_table(written[-1], columns, rows)
    return written


def write_comparison(comparison: Comparison, folder: Path, links: Mapping[str, str], language: str = "") -> list[Path]:
    """Write the page, the figures and the tables of a comparison."""
    tables = {
        "comparison.csv": (_LEVEL_COLUMNS, _level_rows(comparison)),
        "comparison_slices.csv": (_SLICE_COLUMNS, _slice_rows(comparison)),
        CASES: (_CASE_COLUMNS, _case_rows(comparison)),
    }
    return write_page(comparison_report(comparison, links, language), folder, "comparison", tables)


def write_production(comparison: ProductionComparison, folder: Path, link: str, language: str = "") -> list[Path]:
    """Write the page, the figures and the tables of a comparison with production."""
    tables = {
        "production.csv": (_PRODUCTION_LEVELS, _production_levels(comparison)),
        "production_slices.csv": (_PRODUCTION_SLICES, _production_slices(comparison)),
    }
    return write_page(production_report(comparison, language, link=link), folder, "production", tables)


def _difference_cells(difference: Difference) -> list[Any]:
    score, failures = difference.score, difference.failures
    shares = failures.difference if failures else None
    return [
        *(reversed(difference.means) if difference.means else (None, None)),
        *(score.difference, score.low, score.high, score.pairs, difference.by_score.p_value, difference.by_score.corrected),
        *(difference.by_score.direction, len(failures.first) if failures else None, len(failures.second) if failures else None),
        *((shares.difference, shares.low, shares.high, shares.pairs) if shares else (None, None, None, 0)),
        *(difference.by_failures.p_value, difference.by_failures.corrected, difference.by_failures.direction),
    ]


def _heads(comparison: Comparison) -> Iterator[tuple[Compared, list[Any]]]:
    """Each run that is compared, with the cells that its rows begin with."""
    names = run_names(comparison, report_locale("en"))
    for compared in comparison.others:
        yield compared, [names[compared.other.run.id], compared.other.run.id, comparison.first.run.id]


def _level_rows(comparison: Comparison) -> Iterator[list[Any]]:
    spec, locale = comparison.first.spec, report_locale("en")
    for compared, head in _heads(comparison):
        for level in compared.levels:
            node = level.path[-1] if level.level == "criterion" else ".".join(level.path)
            yield [*head, level.level, node, node_name(level, spec, locale), *_difference_cells(level.difference)]


def _slice_rows(comparison: Comparison) -> Iterator[list[Any]]:
    for compared, head in _heads(comparison):
        for cut in compared.slices:
            yield [*head, cut.column, cut.value, cut.cases, cut.amount, cut.share, *_difference_cells(cut.difference)]


def _case_rows(comparison: Comparison) -> Iterator[list[Any]]:
    for compared, head in _heads(comparison):
        for change in compared.changed:
            ids = (", ".join(change.newly), ", ".join(change.mended))
            yield [*head, change.case.id, *change.scores, change.amount, *ids, change.case.prompt_text]


def _production_levels(comparison: ProductionComparison) -> Iterator[list[Any]]:
    locale = report_locale("en")
    for level in comparison.levels:
        node = level.path[-1] if level.level == "criterion" else ".".join(level.path)
        yield [
            comparison.run.run.id,
            level.level,
            node,
            node_name(level, comparison.run.spec, locale),
            *_unpaired_cells(level.difference),
        ]


def _production_slices(comparison: ProductionComparison) -> Iterator[list[Any]]:
    for whole in comparison.standardised:
        yield [
            comparison.run.run.id,
            "standardised",
            whole.column,
            ", ".join(whole.values),
            whole.covered,
            *_unpaired_cells(whole.difference),
        ]
    for cut in comparison.slices:
        yield [comparison.run.run.id, "slice", cut.column, cut.value, None, *_unpaired_cells(cut.difference)]


def _unpaired_cells(outcomes: UnpairedOutcomes) -> list[Any]:
    score, failures = outcomes.score, outcomes.failures
    counted = (
        (*failures.cases, *failures.means, failures.difference, failures.low, failures.high) if failures else (0, 0, *[None] * 5)
    )
    return [
        *(*score.cases, *score.means, score.difference, score.low, score.high),
        *(outcomes.by_score.p_value, outcomes.by_score.corrected, outcomes.by_score.direction),
        *(*outcomes.failed, *counted),
        *(outcomes.by_failures.p_value, outcomes.by_failures.corrected, outcomes.by_failures.direction),
    ]
