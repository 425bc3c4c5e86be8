"""A comparison of a run with production: the page, its short form for a pull request, and its figures."""

from collections.abc import Iterator, Mapping
from typing import Any

from areopage.compare.league.text import column_name, score_difference, slice_value
from areopage.compare.report.page import Sections, run_figures
from areopage.compare.report.text import (
    differing_part_text,
    failures_text,
    level_findings,
    run_verdict_text,
)
from areopage.compare.runs.production import IN_STRATUM, ProductionComparison
from areopage.compare.statistics.levels import UnpairedOutcomes
from areopage.locales import MISSING, Locale
from areopage.report import (
    Block,
    Cell,
    Column,
    Heading,
    Listing,
    Notice,
    Paragraph,
    Report,
    Row,
    Section,
    Span,
    Table,
    columns,
    report_locale,
    rows,
)
from areopage.version import __version__

_SHOWN_VALUES = 12


def production_report(found: ProductionComparison, language: str = "", *, link: str = "", brief: bool = False) -> Report:
    """Build the page of a comparison with production."""
    locale = report_locale(language or found.run.spec.language)
    page, name = _Page(found, locale, link, brief=brief), run_name(found, locale)
    return Report(
        locale=locale,
        kind=locale.say("comparison"),
        title=locale.say("production_title", run=name),
        window=f"{locale.say('comparison')} · {found.run.spec.suite}",
        facts=(
            (locale.say("outcome"), locale.say(f"outcome_{found.outcome}")),
            (locale.say("suite"), f"{found.run.spec.suite} {found.run.spec.suite_version}"),
            (locale.say("production"), period_text(found, locale)),
            (locale.say("production_source"), found.production.source or locale.say("production_all_sources")),
        ),
        notices=tuple(_notices(found, locale)),
        headline=None,
        sections=tuple(page.sections()),
        footer=(f"areopage {__version__}",),
        figures=production_figures(found),
    )


def run_name(found: ProductionComparison, locale: Locale) -> str:
    """What the run is called: its target, else that its answers came with the cases."""
    return found.run.name or locale.say("given_responses")


def period_text(found: ProductionComparison, locale: Locale) -> str:
    """The days of production, first and last."""
    return locale.period(found.production.period.start, found.production.period.last)


def failed_texts(found: UnpairedOutcomes, locale: Locale, *, counted: bool = True) -> tuple[str, str]:
    """How many cases fail on each side, of those that are known.

    Args:
        counted: name the counts beside the shares, which are those of the counts unless answers weigh unequally; a standardised
            share is of no count.
    """
    if found.failures is None:
        return MISSING, MISSING
    made = []
    for failed, cases, share in zip(found.failed, found.failures.cases, found.failures.means, strict=True):
        shown = locale.percent(share or 0.0, 1)
        told = locale.say("failures_of", failed=locale.whole(failed), scored=locale.whole(cases))
        made.append(f"{told} ({shown})" if counted else locale.say("production_fail_share", share=shown))
    return made[0], made[1]


def _notices(found: ProductionComparison, locale: Locale) -> Iterator[Notice]:
    if found.run.unfit:
        yield Notice(title=locale.say("comparison_unfit"), blocks=(Listing(items=found.run.unfit),), alarm=True)
    blocks: list[Paragraph | Listing] = []
    if found.outcome == "too_little":
        blocks.append(Paragraph(text=locale.say("production_too_little")))
    told = list(level_findings(found.levels, found.run.spec, locale))
    if found.levels[0].difference.is_telling:
        for key, keeps in (("explains", False), ("keeps", True)):
            if names := [column_name(one.column, locale) for one in found.standardised if one.difference.is_telling == keeps]:
                told.append(locale.say(f"production_mix_{key}", columns=", ".join(names)))
    if told:
        blocks.append(Listing(items=tuple(told)))
    title = locale.say("pair", name=run_name(found, locale), value=locale.say(f"outcome_{found.outcome}"))
    yield Notice(title=title, blocks=tuple(blocks), alarm=found.outcome == "regression")
    lines = [locale.say("anyway_differs", part=differing_part_text(one, locale)) for one in found.differs]
    if found.left_out:
        lines.append(locale.say("left_out_criteria", names=", ".join(found.left_out)))
    if lines:
        yield Notice(title=locale.say("production_anyway_title"), blocks=(Listing(items=tuple(lines)),))
    differs = Paragraph(text=locale.say("production_differs_text"))
    yield Notice(title=locale.say("production_differs_title"), blocks=(differs,))


class _Page(Sections):
    """The sections of the page."""

    untested = "production_not_tested"

    def __init__(self, found: ProductionComparison, locale: Locale, link: str, *, brief: bool) -> None:
        super().__init__((run_name(found, locale), locale.say("production")), found.run.spec, locale, brief=brief)
        self._found, self._link = found, link
        self._columns = (
            *(Column(heading=name) for name in self.heads),
            Column(heading=locale.say("score_paired")),
            Column(heading=locale.say("failure_difference")),
            Column(heading=locale.say("conclusion"), kind="text"),
        )
        """The columns that all tables have in common; see `_compared`."""

    def sections(self) -> Iterator[Section]:
        """All that have something to show."""
        found, locale, side = self._found, self.locale, self._found.production
        left_out = (("production_other_panels", side.other_panels), ("production_not_sampled", side.not_sampled))
        notes = [locale.count(key, number) for key, number in left_out if number]
        notes += [locale.say("production_weighted")] if side.weighted else []
        if found.missing:
            notes.append(locale.say("production_missing", columns=", ".join(column_name(one, locale) for one in found.missing)))
        remarks = [Paragraph(text=text, look="note", console=True) for text in notes]
        levels = self.levels(found.levels, "production_levels_lead", self._columns, self._compared)
        yield self.section("levels", [self._beside(), *remarks, *levels])
        if found.mixes:
            yield self.section("production_mix", self._mixes())
            yield self.section("production_standardised", self._standardised())
        if slices := [one for one in found.slices if not self.brief or one.difference.is_telling]:
            blocks = self.slices(slices, "production_slices_lead", self._columns, lambda one: self._compared(one.difference))
            yield self.section("comparison_slices", blocks)
        ids = zip(self.heads, (found.run.run.id, found.production.panel), strict=True)
        yield self.method("production_method_text", ids)

    def _beside(self) -> Table:
        locale, found = self.locale, self._found
        whole = found.levels[0].difference
        heads = (
            Column(heading="", kind="text"),
            *(Column(heading=name, kind="text") for name in self.heads),
            Column(heading=locale.say("difference"), kind="text"),
        )
        groups = [(locale.count("production_groups", number),) for number in whole.score.clusters]
        failed = failed_texts(whole, locale)
        run = Span(found.run.run.id, "link", self._link) if self._link else found.run.run.id
        listed: list[tuple[Cell | str, ...]] = [
            (locale.say("run_id"), Cell(text=run), period_text(found, locale), ""),
            (
                locale.say("production_size"),
                Cell(text=locale.count("cases", found.cases), under=groups[0]),
                Cell(text=locale.count("production_answers", found.production.answers), under=groups[1]),
                "",
            ),
            (locale.say("release"), run_verdict_text(found.run, locale), "", ""),
            (locale.say("failures"), *failed, self.difference(failures_text(whole, locale), whole.by_failures)),
            (
                locale.say("final_score"),
                *(locale.number(mean) for mean in whole.score.means),
                self.difference(score_difference(whole.score, locale), whole.by_score),
            ),
        ]
        return Table(columns=heads, rows=rows(listed), css="beside")

    def _compared(self, own: UnpairedOutcomes, *, counted: bool = True) -> tuple[Cell | str, ...]:
        """Means, differences and conclusion: the cells that all tables have in common."""
        failed = failed_texts(own, self.locale, counted=counted)
        means = (Cell(text=self.locale.number(mean), under=(text,)) for mean, text in zip(own.score.means, failed, strict=True))
        return (*means, *self.differences(own), self.conclusion(own))

    def _mixes(self) -> Iterator[Block]:
        locale = self.locale
        yield Paragraph(text=locale.say("production_mix_lead"), look="soft")
        for mix in self._found.mixes:
            yield Heading(text=locale.say("production_mix_by", column=column_name(mix.column, locale)))
            totals = mix.totals
            shown, rest = mix.values[:_SHOWN_VALUES], mix.values[_SHOWN_VALUES:]
            listed = [(self._value(mix.column, one.value), one.run, one.production) for one in shown]
            if rest:
                sums = sum(one.run for one in rest), sum(one.production for one in rest)
                listed.append((locale.count("production_more_values", len(rest)), *sums))
            made = [
                (
                    name,
                    *(
                        locale.say("production_mix_cell", share=locale.percent(n / max(total, 1), 1), n=locale.whole(n))
                        for n, total in zip(own, totals, strict=True)
                    ),
                )
                for name, *own in listed
            ]
            heads = columns(*self.heads, first=locale.say("slice_value"))
            yield Table(columns=heads, rows=rows(made), css="amounts", stacked=False)

    def _value(self, column: str, value: str) -> str:
        return slice_value(column, value, self.spec.labels, self.locale)

    def _standardised(self) -> Iterator[Block]:
        locale, least = self.locale, self.locale.whole(IN_STRATUM)
        if not self._found.standardised:
            yield Paragraph(text=locale.say("production_standardised_none", n=least), look="soft")
            return
        yield Paragraph(text=locale.say("production_standardised_lead", n=least), look="soft")
        heads = (Column(heading=locale.say("production_column"), kind="text"), Column(heading=locale.say("production_covered")))
        made: list[Row] = []
        for one in self._found.standardised:
            values = ", ".join(self._value(one.column, value) for value in one.values[:_SHOWN_VALUES])
            first = Cell(text=Span(column_name(one.column, locale), "strong"), under=(values,))
            made.append(Row(cells=(first, locale.percent(one.covered, 0), *self._compared(one.difference, counted=False))))
        yield Table(columns=(*heads, *self._columns), rows=tuple(made), css="league slices")


def production_figures(found: ProductionComparison) -> Mapping[str, Any]:
    """What `production.json` holds: numbers are not rounded, null where there is none; no texts."""
    return {
        "schema": "areopage-production-1",
        "outcome": found.outcome,
        "run": run_figures(found.run),
        "production": found.production,
        "cases": found.cases,
        "criteria": found.criteria,
        "left_out": found.left_out,
        "differs": found.differs,
        "levels": found.levels,
        "mixes": found.mixes,
        "standardised": found.standardised,
        "slices": found.slices,
        "missing": found.missing,
    }
