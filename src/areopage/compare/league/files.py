"""The files of a league table and of a trend."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from areopage.compare.league.page import league_report
from areopage.compare.league.table import Entry, League
from areopage.compare.league.text import ANSWER_STATES, target_names
from areopage.compare.report.files import write_page
from areopage.report import report_locale

_LEAGUE_COLUMNS = (
    *("rank", "target", "run", "verdict", "reason", "failed", "failures_of", "cases", "not_applicable"),
    *("failed_share_low", "failed_share_high", "weakest_criterion", "weakest_score", "score", "score_low", "score_high"),
    *("coverage", "not_separable_from", *(f"answers_{state}" for state in ANSWER_STATES)),
    *("answer_calls", "answer_seconds", "answer_prompt_tokens", "answer_completion_tokens", "answer_cost"),
    *(
        "judge_calls",
        "judge_seconds",
        "judge_prompt_tokens",
        "judge_completion_tokens",
        "judge_cost",
        "unfit_judges",
        "qualification",
    ),
)
_DIFFERENCE_COLUMNS = (
    *("first", "second", "first_run", "second_run", "better", "by", "failure_cases", "both_fail", "only_first_fails"),
    *("only_second_fails", "failure_difference", "failure_difference_low", "failure_difference_high", "failure_p_value"),
    *("score_cases", "score_groups", "score_difference", "score_difference_low", "score_difference_high"),
    *("only_first_scored", "only_second_scored", "cases_only_first_fails", "cases_only_second_fails"),
)
_SLICE_COLUMNS = (
    *("column", "value", "target", "run", "cases", "failed", "failures_of", "not_applicable", "failed_share_low"),
    *("failed_share_high", "score", "scored", "few_cases"),
)


def write_league(league: League, folder: Path, links: Mapping[str, str], language: str = "") -> list[Path]:
    """Write the page, the figures and the tables of a league; `league_slices.csv` only where there are slices."""
    names = target_names(league, report_locale("en"))
    tables = {
        "league.csv": (_LEAGUE_COLUMNS, _league_rows(league, names)),
        "league_differences.csv": (_DIFFERENCE_COLUMNS, _difference_rows(league, names)),
    }
    if league.slices:
        tables["league_slices.csv"] = (_SLICE_COLUMNS, _slice_rows(league, names))
    return write_page(league_report(league, links, language), folder, "league", tables)


def _league_rows(league: League, names: Mapping[str, str]) -> Iterator[list[Any]]:
    for place, entry in enumerate(league.entries, 1):
        count, own, judging = entry.failures, entry.target_use, entry.judges_use
        yield [
            *(place if entry.is_ranked else None, entry.target or names[entry.run.id], entry.run.id, entry.standing, entry.doubt),
            *(count.failed, count.scored, count.cases, count.not_applicable, count.low, count.high),
            *(entry.weakest or (None, None)),
            *(entry.score, entry.interval and entry.interval.low, entry.interval and entry.interval.high, entry.coverage),
            ", ".join(names[id] for id in league.level_with(entry)),
            *(entry.answer_states.get(state, 0) for state in ANSWER_STATES),
            *(own.calls, own.seconds, own.prompt_tokens, own.completion_tokens, _money(own.costs)),
            *(judging.calls, judging.seconds, judging.prompt_tokens, judging.completion_tokens, _money(judging.costs)),
            ", ".join(entry.unfit),
            entry.qualification,
        ]
    targets = [entry.target for entry in league.entries]
    for one in league.absent:
        if one.target in targets:
            continue
        yield [None, one.target, "", "INCONCLUSIVE", one.reason, *[None] * (len(_LEAGUE_COLUMNS) - 5)]


def _money(costs: Mapping[str, float]) -> float | str | None:
    """A number where there is one currency; several are named."""
    if len(costs) < 2:
        return next(iter(costs.values()), None)
    return ", ".join(f"{cost:.6f} {currency}" for currency, cost in sorted(costs.items()))


def _difference_rows(league: League, names: Mapping[str, str]) -> Iterator[list[Any]]:
    for pair in league.pairs:
        failures, shares, score = pair.failures, pair.failures.difference, pair.score
        yield [
            *(names[pair.first], names[pair.second], pair.first, pair.second, names.get(pair.better, ""), pair.by),
            *(shares.pairs, failures.both, len(failures.first), len(failures.second)),
            *(shares.difference, shares.low, shares.high, failures.p_value),
            *(score.pairs, score.clusters, score.difference, score.low, score.high),
            *(len(score.only_first), len(score.only_second), ", ".join(failures.first), ", ".join(failures.second)),
        ]


def _slice_rows(league: League, names: Mapping[str, str]) -> Iterator[list[Any]]:
    entries: tuple[Entry, ...] = league.entries
    for one in league.slices:
        for row in one.rows:
            for entry, cell in zip(entries, row.cells, strict=True):
                count = cell.failures
                yield [
                    *(one.column, row.value, names[entry.run.id], entry.run.id, row.cases, count.failed, count.scored),
                    *(count.not_applicable, count.low, count.high, cell.score, cell.scored),
                    "true" if cell.is_small else "false",
                ]
