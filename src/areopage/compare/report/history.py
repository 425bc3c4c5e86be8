"""A run against the runs of its target before it: the page, its short form for a pull request, and its figures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from areopage.bench import part_facts, part_notices
from areopage.compare.league.table import LeagueEntry
from areopage.compare.runs.history import Conclusion, HistoryComparison, PassedOver
from areopage.errors import name_list
from areopage.locales import Locale, one_line
from areopage.report import Cell, Column, Line, Listing, Notice, Paragraph, Report, Row, Section, Span, Table, report_locale
from areopage.version import __version__

_NAMED = 20


def expected_text(conclusion: Conclusion, locale: Locale) -> str:
    """How many cases fail in a run, and how many would if nothing had changed."""
    failures = conclusion.failures
    if not conclusion.pool:
        return locale.say("history_first")
    return locale.say(
        "history_expected",
        failed=locale.whole(failures.failed),
        cases=locale.whole(failures.cases),
        low=locale.whole(failures.low),
        high=locale.whole(failures.high),
        mean=locale.number(failures.pool_failed, 1),
        runs=locale.count("trend_runs", failures.runs),
    )


def conclusion_of_run(conclusion: Conclusion, locale: Locale) -> str:
    """What follows from the runs before, in a few words."""
    if not conclusion.pool:
        return locale.say("history_first")
    return locale.say(f"history_{conclusion.outcome}")


def passed_lines(passed: Sequence[PassedOver], locale: Locale) -> Iterator[str]:
    """The earlier runs that are not compared: a line for each reason, with their number."""
    by_reason: dict[str, list[str]] = {}
    for passed_over in passed:
        parts = ", ".join(locale.say(f"part_{part}") for part in passed_over.differs)
        by_reason.setdefault(locale.say(f"passed_{passed_over.why}", parts=parts), []).append(passed_over.run)
    for reason, runs in by_reason.items():
        yield locale.count("history_left_out", len(runs), reason=reason, runs=locale.names(runs))
    if any(passed_over.why == "regression" for passed_over in passed):
        yield locale.say("history_accept")


def history_report(
    comparison: HistoryComparison, links: Mapping[str, str], language: str = "", *, prompts: bool = True
) -> Report:
    """Build the page of a run against the runs before it."""
    spec = comparison.entry.spec
    locale = report_locale(language or spec.language)
    outcome = locale.say(f"outcome_{comparison.conclusion.outcome}")
    name = spec.title or locale.say("given_responses")
    blocks: list[Paragraph | Listing] = [Paragraph(text=expected_text(comparison.conclusion, locale))]
    blocks.append(Paragraph(text=locale.say("history_new", n=locale.whole(len(comparison.conclusion.newly)))))
    items: list[Line] = []
    conclusion, criteria = comparison.conclusion, spec.in_language(locale.code).criteria_by_id()
    cases = {case.id: case.prompt_text for case in comparison.entry.cases}
    for id, failed in islice(conclusion.newly.items(), _NAMED):
        names, prompt = name_list(criteria[name].title for name in failed), one_line(cases.get(id, ""))
        items.append((Span(id, "strong"), f" · {names} · {prompt}" if prompts else f" · {names}"))
    if items:
        blocks.append(Listing(items=tuple(items)))
    remarks: list[str] = []
    if len(conclusion.newly) > _NAMED:
        remarks.append(locale.count("newly_failing_more", len(conclusion.newly) - _NAMED))
    if conclusion.failures.unknown:
        remarks.append(locale.count("history_unknown", len(conclusion.failures.unknown)))
    blocks += [Paragraph(text=text) for text in (*remarks, *passed_lines(conclusion.left_out, locale))]
    return Report(
        locale=locale,
        kind=locale.say("comparison"),
        title=locale.count("history_title", len(comparison.pool), name=name),
        window=f"{locale.say('comparison')} · {spec.suite}",
        facts=(
            *part_facts(spec, locale),
            (locale.say("outcome"), outcome),
            (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
        ),
        notices=(
            *part_notices(spec, locale),
            Notice(
                title=locale.say("pair", name=comparison.entry.run.id, value=outcome),
                blocks=tuple(blocks),
                alarm=comparison.conclusion.outcome == "regression" or bool(comparison.conclusion.newly),
            ),
        ),
        headline=None,
        sections=(
            Section(
                id="runs",
                title=locale.say("history_runs"),
                blocks=(_runs(comparison, links, locale), Paragraph(text=locale.say("history_method"), look="note")),
                console=True,
                brief=True,
            ),
        ),
        footer=(f"areopage {__version__}",),
        figures=history_figures(comparison),
    )


def _runs(comparison: HistoryComparison, links: Mapping[str, str], locale: Locale) -> Table:
    def row(entry: LeagueEntry) -> Row:
        link, failed = links.get(entry.run.id, ""), sum(map(bool, entry.fails_primary.values()))
        counted = sum(fails is not None for fails in entry.fails_primary.values())
        text: Line = Span(entry.run.id, "link", link) if link else entry.run.id
        return Row(
            cells=(
                Cell(text=text),
                locale.moment(entry.run.created_at),
                locale.say("failures_of", failed=locale.whole(failed), scored=locale.whole(counted)),
            )
        )

    heads = (
        Column(heading=locale.say("run_id"), kind="text"),
        Column(heading=locale.say("date"), kind="text"),
        Column(heading=locale.say("failing_primary")),
    )
    return Table(columns=heads, rows=tuple(map(row, (comparison.entry, *reversed(comparison.pool)))), css="league")


def history_figures(comparison: HistoryComparison) -> dict[str, Any]:
    """What `history.json` holds: numbers are not rounded; no texts of cases."""
    return {
        "schema": "areopage-history-1",
        "run": comparison.entry.run.id,
        "part": comparison.entry.spec.part,
        "outcome": comparison.conclusion.outcome,
        "failures": comparison.conclusion.failures,
        "pool": comparison.conclusion.pool,
        "left_out": comparison.conclusion.left_out,
        "newly_failing": comparison.conclusion.newly,
    }
