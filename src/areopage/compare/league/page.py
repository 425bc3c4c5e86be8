"""The league table of several targets: the page, its figures and the files of both."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from areopage.bench import part_facts, part_notices
from areopage.compare.league.table import EntryPair, League, LeagueEntry, SliceCell, Slices, Use
from areopage.compare.league.text import (
    ANSWER_STATES,
    column_name,
    count_notes,
    failed_text,
    interval_notes,
    p_text,
    percent_difference,
    refusal_notes,
    score_difference,
    slice_value,
    standing_cell,
    target_names,
    uncounted,
)
from areopage.compare.report.files import write_page
from areopage.criteria import Criterion
from areopage.locales import MISSING, Locale, sentence_case
from areopage.report import (
    Badge,
    Block,
    Cell,
    Column,
    Facts,
    Line,
    Listing,
    Notice,
    Paragraph,
    Report,
    Row,
    Section,
    Span,
    Table,
    columns,
    count_cell,
    qualification_text,
    report_locale,
    rows,
    verdict_name,
)
from areopage.scoring import FailureCount, Interval
from areopage.version import __version__

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
        "harmless_refused",
        "harmless_known",
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

SHOWN_VALUES = 40
"""Of a column; the CSV file has all."""
ON_CONSOLE = 20


def league_report(league: League, links: Mapping[str, str], language: str = "") -> Report:
    """Build the page of a league table."""
    first = league.entries[0]
    locale = report_locale(language or first.spec.language)
    spec, names = first.spec, target_names(league, locale)
    title = locale.count("league_title", len(league.entries))
    sizes = (("cases", len(first.cases)), ("criteria", len(spec.criteria)), ("judges_count", len(spec.judges)))
    dates = sorted(entry.run.created_at for entry in league.entries)
    facts = [
        *part_facts(spec, locale),
        (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
        *([(locale.say("mode"), locale.say(f"mode_{spec.mode}"))] if spec.target else []),
        (locale.say("size"), ", ".join(locale.count(key, n) for key, n in sizes)),
        (locale.say("date"), locale.date(dates[-1])),
        (locale.say("qualification"), qualification_text(locale, first.qualification)),
    ]
    sections = (
        _ranking(league, names, links, locale),
        _differences(league, names, locale),
        _criteria(league, names, locale),
        _states(league, names, locale),
        _use(league, names, locale),
        *(_slices(slices, place, league, names, locale) for place, slices in enumerate(league.slices)),
        _method(league, names, locale),
    )
    return Report(
        locale=locale,
        kind=locale.say("league"),
        title=title,
        window=f"{locale.say('league')} · {spec.suite} · {locale.date(dates[-1])}",
        facts=tuple(facts),
        notices=tuple(_notices(league, names, locale)),
        headline=None,
        sections=tuple(section for section in sections if section is not None),
        footer=(f"areopage {__version__}",),
        figures=league_figures(league),
    )


def _notices(league: League, names: Mapping[str, str], locale: Locale) -> Iterator[Notice]:
    yield from part_notices(league.entries[0].spec, locale)
    if unfit := dict.fromkeys(judge for entry in league.entries for judge in entry.unfit):
        yield Notice(title=locale.say("league_unfit"), blocks=(Listing(items=tuple(unfit)),), alarm=True)
    if league.absent:
        lines = tuple(locale.say("pair", name=absence.target, value=absence.reason) for absence in league.absent)
        yield Notice(title=locale.say("league_absent"), blocks=(Listing(items=lines),), alarm=True)
    doubts = [entry for entry in league.entries if entry.doubt]
    if doubts:
        lines = tuple(locale.say("pair", name=names[entry.run.id], value=locale.say(f"doubt_{entry.doubt}")) for entry in doubts)
        yield Notice(title=locale.say("league_inconclusive"), blocks=(Listing(items=lines),))
    if ties := tuple(_tie(league, pair, names, locale) for pair in league.pairs if not pair.better):
        yield Notice(title=locale.say("league_ties"), blocks=(Listing(items=ties),))


def _tie(league: League, pair: EntryPair, names: Mapping[str, str], locale: Locale) -> str:
    """Two targets that no test tells apart, with their verdicts where these differ, or with the one that hardly answers."""
    tie = locale.say("tie", one=names[pair.first], other=names[pair.second])
    entries = {entry.run.id: entry for entry in league.entries}
    first, second = entries[pair.first], entries[pair.second]
    if first.standing == second.standing:
        refusing = [entry for entry in (first, second) if entry.is_refuser]
        if len(refusing) != 1:
            return tie
        name = names[refusing[0].run.id]
        return locale.say("tie_refuses", tie=tie, name=name, refusals="; ".join(refusal_notes(refusing[0], locale)))
    one, other = (verdict_name(entry.standing, locale) for entry in (first, second))
    return locale.say("tie_verdicts", tie=tie, one=one, other=other)


def _ranking(league: League, names: Mapping[str, str], links: Mapping[str, str], locale: Locale) -> Section:
    spec = league.entries[0].spec.in_language(locale.code)
    labels = ", ".join(spec.labels.get(name) for name in league.entries[0].categories)

    def row(place: int, entry: LeagueEntry) -> Row:
        level = league.level_with(entry)
        under = [locale.say("level_with", names=", ".join(names[id] for id in level))] if level else []
        under += refusal_notes(entry, locale)
        weakest, name = MISSING, names[entry.run.id]
        if entry.weakest is not None:
            id, score = entry.weakest
            title = entry.spec.in_language(locale.code).titles([id])[0]
            weakest = locale.say("pair", name=title, value=locale.number(score))
        shown = Span(name, "link", links[entry.run.id]) if links.get(entry.run.id) else Span(name, "strong")
        cells = (
            Cell(text=(f"{place}. " if entry.is_ranked else f"{MISSING} ", shown), under=tuple(under)),
            standing_cell(entry, locale),
            Cell(text=failed_text(entry.failures, locale), under=tuple(uncounted(entry.failures, locale))),
            MISSING if entry.failures.high is None else locale.percent(entry.failures.high),
            weakest,
            Cell(text=locale.number(entry.score), under=interval_notes(entry, locale)),
            locale.percent(entry.coverage),
        )
        return Row(cells=cells, css="alarm" if entry.standing == "FAIL" else "")

    heads = (
        *(Column(heading=locale.say(key), kind="text") for key in ("target", "verdict")),
        *(Column(heading=locale.say(key)) for key in ("failed_of", "could_fail")),
        Column(heading=locale.say("weakest"), kind="text"),
        *(Column(heading=locale.say(key)) for key in ("score", "coverage")),
    )
    targets = [entry.target for entry in league.entries]
    absent = tuple(
        Row(cells=(f"{MISSING} {absence.target}", locale.say("no_run"), *[MISSING] * 5))
        for absence in league.absent
        if absence.target not in targets
    )
    table = Table(
        columns=heads,
        rows=(*(row(place, entry) for place, entry in enumerate(league.entries, 1)), *absent),
        css="league",
        never_cut=True,
    )
    lead = Paragraph(text=locale.say("league_lead", categories=labels), look="soft")
    return Section(id="league", title=locale.say("league"), blocks=(lead, table), console=True, brief=True)


def _differences(league: League, names: Mapping[str, str], locale: Locale) -> Section | None:
    if not league.pairs:
        return None

    def row(pair: EntryPair) -> Row:
        failures, score = pair.failures, pair.score
        alone = (locale.whole(len(ids)) for ids in (failures.first, failures.second))
        conclusion = locale.say(f"better_{pair.by}", name=names[pair.better]) if pair.better else locale.say("not_separable")
        lone = len(score.only_first) + len(score.only_second)
        pairing = [locale.count("one_side", lone)] if lone else []
        pairing += [locale.count("clusters_noted", score.clusters)] if score.clusters < score.pairs else []
        p = [] if failures.p_value is None else [p_text(failures.p_value, locale)]
        cells = (
            Cell(text=locale.say("against", one=names[pair.first], other=names[pair.second]), under=tuple(pairing)),
            locale.whole(score.pairs),
            locale.say("fails_alone_text", first=next(alone), second=next(alone)),
            Cell(text=percent_difference(failures.difference, locale), under=tuple(p)),
            score_difference(score, locale),
            Cell(text=Span(conclusion, "strong")),
        )
        return Row(cells=cells)

    heads = (
        Column(heading=locale.say("compared_pair"), kind="text"),
        *(Column(heading=locale.say(key)) for key in ("shared_cases", "fails_alone", "failure_difference", "score_paired")),
        Column(heading=locale.say("conclusion"), kind="text"),
    )
    blocks = (
        Paragraph(text=locale.say("differences_lead"), look="soft"),
        Table(columns=heads, rows=tuple(map(row, league.pairs)), css="league"),
    )
    return Section(id="differences", title=locale.say("differences"), blocks=blocks, console=True, brief=True)


def _criteria(league: League, names: Mapping[str, str], locale: Locale) -> Section:
    """The criteria that a target fails: those of the categories that count first, then most failures first."""
    first = league.entries[0]
    spec = first.spec.in_language(locale.code)
    most = {criterion.id: max(entry.by_criterion[criterion.id].failed for entry in league.entries) for criterion in spec.criteria}
    failing = sorted(
        (criterion for criterion in spec.criteria if most[criterion.id]),
        key=lambda criterion: (criterion.category not in first.categories, -most[criterion.id]),
    )
    heads = columns(*(names[entry.run.id] for entry in league.entries), first=locale.say("criterion"))

    def row(criterion: Criterion) -> tuple[Cell | str, ...]:
        counts = [entry.by_criterion[criterion.id] for entry in league.entries]
        under = (spec.labels.get(criterion.category),)
        return Cell(text=criterion.title, title=criterion.id, under=under), *(_count(count, locale) for count in counts)

    block: Block = Table(columns=heads, rows=rows(map(row, failing)), css="league")
    if not failing:
        block = Paragraph(text=locale.say("no_criterion_failure"))
    return Section(id="criteria", title=locale.say("criteria_failures"), blocks=(block,), console=True, brief=True)


def _count(count: FailureCount, locale: Locale) -> Cell:
    return Cell(
        text=failed_text(count, locale),
        under=count_notes(count, locale),
        css="failed" if count.failed else "zero",
    )


def _states(league: League, names: Mapping[str, str], locale: Locale) -> Section | None:
    shown = [state for state in ANSWER_STATES if any(state in entry.answer_states for entry in league.entries)]
    if not shown:
        return None
    heads = columns(*(sentence_case(locale.say(f"said_{state}")) for state in shown), first=locale.say("target"))
    table = Table(
        columns=heads,
        rows=rows(
            (names[entry.run.id], *(count_cell(locale, entry.answer_states.get(state, 0)) for state in shown))
            for entry in league.entries
        ),
        css="league",
    )
    lead = Paragraph(text=locale.say("answer_states_lead"), look="soft")
    return Section(id="answers", title=locale.say("answer_states"), blocks=(lead, table), console=True)


def _use(league: League, names: Mapping[str, str], locale: Locale) -> Section:
    def row(entry: LeagueEntry) -> tuple[Cell | str, ...]:
        answering, judging = entry.target_use, entry.judges_use
        return (
            names[entry.run.id],
            locale.whole(answering.calls),
            locale.say("seconds_unit", n=locale.number(answering.seconds / answering.calls, 1)) if answering.calls else MISSING,
            locale.say("seconds_unit", n=locale.number(answering.seconds, 1)) if answering.calls else MISSING,
            _tokens(answering, locale),
            locale.costs(answering.costs) or MISSING,
            _tokens(judging, locale),
            locale.costs(judging.costs) or MISSING,
        )

    keys = ("answers_asked", "seconds_an_answer", "seconds_in_all", "tokens", "cost", "judging_tokens", "judging_cost")
    heads = columns(*map(locale.say, keys), first=locale.say("target"))
    table = Table(columns=heads, rows=rows(map(row, league.entries)), css="league")
    lead = Paragraph(text=locale.say("use_lead"), look="soft")
    return Section(id="use", title=locale.say("use"), blocks=(lead, table), console=True)


def _tokens(use: Use, locale: Locale) -> str:
    return f"{locale.whole(use.prompt_tokens)} / {locale.whole(use.completion_tokens)}"


def _slices(slices: Slices, place: int, league: League, names: Mapping[str, str], locale: Locale) -> Section:
    labels = league.entries[0].spec.labels
    heads = columns(
        locale.say("shared_cases"), *(names[entry.run.id] for entry in league.entries), first=locale.say("slice_value")
    )

    def shown(cell: SliceCell) -> Cell:
        under = (*count_notes(cell.failures, locale), locale.say("slice_score", score=locale.number(cell.score)))
        small = (Badge(text=locale.say("few_cases")),) if cell.is_small else ()
        css = "failed" if cell.failures.failed else ""
        return Cell(text=failed_text(cell.failures, locale), under=(*under, *small), css=css)

    table = Table(
        columns=heads,
        rows=rows(
            (
                slice_value(slices.column, row.value, labels, locale),
                locale.whole(row.cases),
                *map(shown, row.cells),
            )
            for row in slices.rows[:SHOWN_VALUES]
        ),
        css="league slices",
        console=ON_CONSOLE,
    )
    blocks: list[Block] = [Paragraph(text=locale.say("slices_lead", n=locale.whole(Interval.MIN_CASES)), look="soft"), table]
    if len(slices.rows) > SHOWN_VALUES:
        blocks.append(Paragraph(text=locale.count("more_values", len(slices.rows) - SHOWN_VALUES), look="note"))
    title = locale.say("slices_by", column=column_name(slices.column, locale))
    return Section(id=f"slices-{place}", title=title, blocks=tuple(blocks), console=True, brief=True)


def _method(league: League, names: Mapping[str, str], locale: Locale) -> Section:
    items: tuple[tuple[str, Line], ...] = tuple((names[entry.run.id], Span(entry.run.id, "code")) for entry in league.entries)
    judges = tuple((locale.say("judge"), f"{judge.name}: {judge.reference}") for judge in league.entries[0].spec.judges)
    blocks = (Paragraph(text=locale.say("league_method_text")), Facts(items=(*items, *judges), small=True))
    return Section(id="how", title=locale.say("league_method"), blocks=blocks)


def league_figures(league: League) -> dict[str, Any]:
    """What `league.json` holds: numbers are not rounded, null where there is none."""
    return {
        "schema": "areopage-league-1",
        "part": league.entries[0].spec.part,
        "verdict": league.standing,
        "targets": [_figures(place, entry, league) for place, entry in enumerate(league.entries, 1)],
        "absent": league.absent,
        "differences": league.pairs,
        "slices": [
            {"column": slices.column, "rows": slices.rows, "runs": [entry.run.id for entry in league.entries]}
            for slices in league.slices
        ],
    }


def _figures(place: int, entry: LeagueEntry, league: League) -> dict[str, Any]:
    return {
        "rank": place if entry.is_ranked else None,
        "run": entry.run.id,
        "target": entry.target,
        "digest": entry.spec.target.digest if entry.spec.target else "",
        "created_at": entry.run.created_at,
        "complete": entry.run.finished_at is not None,
        "verdict": entry.standing,
        "reason": entry.doubt,
        "failures": entry.failures,
        "failures_by_criterion": entry.by_criterion,
        "weakest": entry.weakest and {"criterion": entry.weakest[0], "score": entry.weakest[1]},
        "score": entry.score,
        "interval": entry.interval,
        "coverage": entry.coverage,
        "cases": len(entry.cases),
        "answer_states": entry.answer_states,
        "over_refusal": entry.refusals and {"refused": entry.refusals.refused, "known": entry.refusals.known},
        "reused_answers": entry.reused,
        "not_separable_from": league.level_with(entry),
        "answers": entry.target_use,
        "judging": entry.judges_use,
        "unfit_judges": entry.unfit,
        "qualification": entry.qualification,
    }


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
        count, answering, judging = entry.failures, entry.target_use, entry.judges_use
        yield [
            *(place if entry.is_ranked else None, entry.target or names[entry.run.id], entry.run.id, entry.standing, entry.doubt),
            *(count.failed, count.scored, count.cases, count.not_applicable, count.low, count.high),
            *(entry.weakest or (None, None)),
            *(entry.score, entry.interval and entry.interval.low, entry.interval and entry.interval.high, entry.coverage),
            ", ".join(names[id] for id in league.level_with(entry)),
            *(entry.answer_states.get(state, 0) for state in ANSWER_STATES),
            *(answering.calls, answering.seconds, answering.prompt_tokens, answering.completion_tokens, _money(answering.costs)),
            *(judging.calls, judging.seconds, judging.prompt_tokens, judging.completion_tokens, _money(judging.costs)),
            ", ".join(entry.unfit),
            entry.qualification,
            *((entry.refusals.refused, entry.refusals.known) if entry.refusals else (None, None)),
        ]
    targets = [entry.target for entry in league.entries]
    for absence in league.absent:
        if absence.target in targets:
            continue
        yield [None, absence.target, "", "INCONCLUSIVE", absence.reason, *[None] * (len(_LEAGUE_COLUMNS) - 5)]


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
    entries: tuple[LeagueEntry, ...] = league.entries
    for slices in league.slices:
        for row in slices.rows:
            for entry, cell in zip(entries, row.cells, strict=True):
                count = cell.failures
                yield [
                    *(slices.column, row.value, names[entry.run.id], entry.run.id, row.cases, count.failed, count.scored),
                    *(count.not_applicable, count.low, count.high, cell.score, cell.scored),
                    "true" if cell.is_small else "false",
                ]
