"""League tables and trends on the console."""

from rich.table import Table
from rich.text import Text

from areopage.bench import Entry, League, Pair, Trend, TrendGroup
from areopage.cli.console import plain_table, print_table, text_console
from areopage.cli.options import visible
from areopage.errors import counted
from areopage.locales import MISSING, WIDE, Locale
from areopage.report import (
    conclusion,
    conclusion_of_run,
    failed_text,
    group_title,
    p_text,
    part_text,
    percent_difference,
    report_locale,
    score_difference,
    slice_value,
    target_names,
    trend_conclusion,
    trend_remarks,
    verdict_name,
    version_text,
    weakest_text,
)
from areopage.scoring import Standing

SHOWN_VALUES = 20
STYLES: dict[Standing, str] = {"FAIL": "red", "INCONCLUSIVE": "yellow"}


def print_trend(trend: Trend) -> None:
    """The runs of a target, those of each panel in a table of their own."""
    console, locale = text_console(), report_locale("en")
    console.print(Text(f"runs of {visible(trend.target)}", style="bold"))
    told = trend_conclusion(trend, locale)
    console.print(Text(told, style="bold red" if trend.newest[1].outcome == "regression" else ""), soft_wrap=True)
    for remark in trend_remarks(trend, locale):
        console.print(Text(visible(remark)), soft_wrap=True)
    for place, group in enumerate(trend.groups, 1):
        title = visible(group_title(group, place, locale).replace(WIDE, " "))
        console.print(Text(title, style="bold"), soft_wrap=True)
        if group.nearest is not None:
            console.print(
                Text(f"not comparable with group {group.nearest + 1}: other {', '.join(group.differs)}"), soft_wrap=True
            )
        print_table(console, _trend_table(group, locale))


def _trend_table(group: TrendGroup, locale: Locale) -> Table:
    heads = ("run", "begun (UTC)", "verdict", "failed", "up to", "score", "interval", "coverage", "against the runs before")
    table = plain_table(*heads, "version")
    for entry, against in zip(group.entries, group.conclusions, strict=True):
        cells = (
            entry.run.id,
            f"{entry.run.created_at:%Y-%m-%d %H:%M}",
            *_common_cells(entry, locale),
            conclusion_of_run(against, locale),
            visible(version_text(entry.spec.target, locale)),
        )
        table.add_row(*(Text(cell, style=STYLES.get(entry.standing, "")) for cell in cells))
    return table


def print_league(league: League) -> None:
    """The ranking, the differences and the slices of a league."""
    console, locale = text_console(), report_locale("en")
    names = {id: visible(name) for id, name in target_names(league, locale).items()}
    if part := league.entries[0].spec.part:
        console.print(Text(f"part: {visible(part_text(part, locale))}", style="bold red"), soft_wrap=True)
    if unfit := dict.fromkeys(judge for entry in league.entries for judge in entry.unfit):
        console.print(Text(f"NOT VALID: unfit judges: {', '.join(unfit)}", style="bold red"))
    console.print(Text(f"judges: {league.entries[0].qualification}"), soft_wrap=True)
    print_table(console, _ranking(league, names, locale))
    for one in league.absent:
        console.print(Text(f"not run: {visible(one.target)}: {visible(one.reason)}", style="bold red"), soft_wrap=True)
    for pair in league.pairs:
        console.print(Text(_told(pair, names, locale), style="bold" if pair.better else ""), soft_wrap=True)
    for slices in league.slices:
        table = plain_table(f"by {visible(slices.column)}", "cases", *(names[entry.run.id] for entry in league.entries))
        for row in slices.rows[:SHOWN_VALUES]:
            cells = (f"{failed_text(one.failures, locale)}{' (few)' if one.is_small else ''}" for one in row.cells)
            table.add_row(
                *map(
                    Text,
                    (
                        visible(slice_value(slices.column, row.value, league.entries[0].spec.labels, locale)),
                        str(row.cases),
                        *cells,
                    ),
                )
            )
        print_table(console, table)


def _ranking(league: League, names: dict[str, str], locale: Locale) -> Table:
    table = plain_table(
        "rank",
        "target",
        "verdict",
        "failed",
        "up to",
        "score",
        "interval",
        "coverage",
        "weakest criterion",
        "answers",
        "s/answer",
        "tokens",
        "cost",
    )
    for place, entry in enumerate(league.entries, 1):
        whole, asked = entry.answer_states.get("answered", 0), sum(entry.answer_states.values())
        others = "".join(f", {n} {state}" for state, n in entry.answer_states.items() if state != "answered")
        use = entry.target_use
        cells = (
            str(place) if entry.is_ranked else MISSING,
            names[entry.run.id],
            *_common_cells(entry, locale),
            weakest_text(entry, locale),
            f"{whole} of {asked} whole{others}" if asked else "given",
            f"{use.seconds / use.calls:.2f}" if use.calls else "",
            f"{use.prompt_tokens + use.completion_tokens:,}",
            locale.costs(use.costs),
        )
        table.add_row(*(Text(cell, style=STYLES.get(entry.standing, "")) for cell in cells))
    return table


def _common_cells(entry: Entry, locale: Locale) -> tuple[str, ...]:
    """Verdict, failures, score and coverage of a run."""
    interval, high = entry.interval, entry.failures.high
    doubt = f" ({locale.say(f'doubt_{entry.doubt}')})" if entry.doubt else ""
    reused = f", answers of {entry.reused.oldest:%Y-%m-%d} and later" if entry.reused else ""
    return (
        verdict_name(entry.standing, locale) + doubt + reused,
        failed_text(entry.failures, locale),
        MISSING if high is None else locale.percent(high),
        locale.number(entry.score),
        f"{interval.low:.2f}-{interval.high:.2f}" if interval else "",
        locale.percent(entry.coverage),
    )


def _told(pair: Pair, names: dict[str, str], locale: Locale) -> str:
    failures, score = pair.failures, pair.score
    told = f"{names[pair.first]} against {names[pair.second]}: {conclusion(pair, names, locale)}"
    alone = f"only one fails {len(failures.first)} / {len(failures.second)}"
    p = "" if failures.p_value is None else f", {p_text(failures.p_value, locale)}"
    lone = len(score.only_first) + len(score.only_second)
    sides = f", {counted(lone, 'case')} scored on one side only" if lone else ""
    shares, scores = percent_difference(failures.difference, locale), score_difference(score, locale)
    return f"{told} ({alone}, failures {shares}{p}; score {scores}; {counted(score.pairs, 'case')}{sides})"
