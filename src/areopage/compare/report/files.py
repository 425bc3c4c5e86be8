"""The files of a comparison of runs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from areopage.compare.league.text import beside
from areopage.compare.report.page import CASES, comparison_report
from areopage.compare.report.text import node_name, run_names
from areopage.compare.runs.records import Comparison
from areopage.compare.statistics.levels import Difference
from areopage.ledger import make_folder
from areopage.report import render, report_locale, write_report, write_table

COMPARISON_PAGE, FIGURES, TABLE, SLICES = "comparison.html", "comparison.json", "comparison.csv", "comparison_slices.csv"

_DIFFERENCE = (
    *("score_first", "score_other", "score_difference", "score_difference_low", "score_difference_high", "score_cases"),
    *("score_p", "score_p_corrected", "score_conclusion", "newly_failing", "fixed", "failure_difference"),
    *("failure_difference_low", "failure_difference_high", "failure_cases", "failure_p", "failure_p_corrected"),
    "failure_conclusion",
)
LEVEL_COLUMNS = ("target", "run", "first_run", "level", "node", "name", *_DIFFERENCE)
SLICE_COLUMNS = ("target", "run", "first_run", "column", "value", "cases", "part", "part_share", *_DIFFERENCE)
CASE_COLUMNS = ("target", "run", "first_run", "case", "score_first", "score_other", "part", "newly_fails", "fixed", "prompt")


def write_comparison(comparison: Comparison, folder: Path, reports: Mapping[str, Path], language: str = "") -> list[Path]:
    """Write the page, the figures and the tables of a comparison; each file is replaced whole or not at all."""
    make_folder(folder)
    report = comparison_report(comparison, {id: beside(path, folder) for id, path in reports.items()}, language)
    names = run_names(comparison, report_locale("en"))
    write_report(report, "html", folder / COMPARISON_PAGE)
    write_report(report, "json", folder / FIGURES)
    write_table(folder / TABLE, LEVEL_COLUMNS, _level_rows(comparison, names))
    write_table(folder / SLICES, SLICE_COLUMNS, _slice_rows(comparison, names))
    write_table(folder / CASES, CASE_COLUMNS, _case_rows(comparison, names))
    return [folder / name for name in (COMPARISON_PAGE, FIGURES, TABLE, SLICES, CASES)]


def pull_request_text(comparison: Comparison, language: str = "") -> str:
    """The short form of a comparison, in Markdown: what changed, without texts of cases."""
    return render(comparison_report(comparison, {}, language, brief=True, prompts=False), "md")


def _difference_cells(found: Difference) -> list[Any]:
    score, failures = found.score, found.failures
    shares = failures.difference if failures else None
    return [
        *(reversed(found.means) if found.means else (None, None)),
        *(score.difference, score.low, score.high, score.pairs, found.by_score.p_value, found.by_score.corrected),
        *(found.by_score.direction, len(failures.first) if failures else None, len(failures.second) if failures else None),
        *((shares.difference, shares.low, shares.high, shares.pairs) if shares else (None, None, None, 0)),
        *(found.by_failures.p_value, found.by_failures.corrected, found.by_failures.direction),
    ]


def _level_rows(comparison: Comparison, names: Mapping[str, str]) -> Iterator[list[Any]]:
    spec, locale = comparison.first.spec, report_locale("en")
    for one in comparison.others:
        head = [names[one.other.run.id], one.other.run.id, comparison.first.run.id]
        for level in one.levels:
            node = level.path[-1] if level.level == "criterion" else ".".join(level.path)
            yield [*head, level.level, node, node_name(level, spec, locale), *_difference_cells(level.difference)]


def _slice_rows(comparison: Comparison, names: Mapping[str, str]) -> Iterator[list[Any]]:
    for one in comparison.others:
        head = [names[one.other.run.id], one.other.run.id, comparison.first.run.id]
        for own in one.slices:
            yield [*head, own.column, own.value, own.cases, own.amount, own.share, *_difference_cells(own.difference)]


def _case_rows(comparison: Comparison, names: Mapping[str, str]) -> Iterator[list[Any]]:
    for one in comparison.others:
        head = [names[one.other.run.id], one.other.run.id, comparison.first.run.id]
        for own in one.changed:
            ids = (", ".join(own.newly), ", ".join(own.mended))
            yield [*head, own.case.id, *own.scores, own.amount, *ids, own.case.prompt_text]
