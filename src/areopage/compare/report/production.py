"""A comparison of a run with production: the page, its short form for a pull request, and its figures."""

from collections.abc import Iterator, Mapping
from typing import Any

from areopage.compare.league.text import column_name, score_difference, slice_value
from areopage.compare.report.page import Sections, run_figures
from areopage.compare.report.text import differing_part_text, failures_text, level_findings, run_verdict_text
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


def production_report(comparison: ProductionComparison, language: str = "", *, link: str = "", brief: bool = False) -> Report:
    """Build the page of a comparison with production."""
    locale = report_locale(language or comparison.run.spec.language)
    page, name = _Page(comparison, locale, link, brief=brief), run_name(comparison, locale)
    return Report(
        locale=locale,
        kind=locale.say("comparison"),
        title=locale.say("production_title", run=name),
        window=f"{locale.say('comparison')} · {comparison.run.spec.suite}",
        facts=(
            (locale.say("outcome"), locale.say(f"outcome_{comparison.outcome}")),
            (locale.say("suite"), f"{comparison.run.spec.suite} {comparison.run.spec.suite_version}"),
            (locale.say("production"), period_text(comparison, locale)),
            (locale.say("production_source"), comparison.production.source or locale.say("production_all_sources")),
        ),
        notices=tuple(_notices(comparison, locale)),
        headline=None,
        sections=tuple(page.sections()),
        footer=(f"areopage {__version__}",),
        figures=production_figures(comparison),
    )


def run_name(comparison: ProductionComparison, locale: Locale) -> str:
    """What the run is called: its target, else that its answers came with the cases."""
    return comparison.run.name or locale.say("given_responses")


def period_text(comparison: ProductionComparison, locale: Locale) -> str:
    """The days of production, first and last."""
    return locale.period(comparison.production.period.start, comparison.production.period.last)


def failed_texts(outcomes: UnpairedOutcomes, locale: Locale, *, counted: bool = True) -> tuple[str, str]:
    """How many cases fail on each side, of those that are known; a standardised share is of no count: not `counted`."""
    if outcomes.failures is None:
        return MISSING, MISSING
    made = []
    for failed, cases, share in zip(outcomes.failed, outcomes.failures.cases, outcomes.failures.means, strict=True):
        shown = locale.percent(share or 0.0, 1)
        text = locale.say("failures_of", failed=locale.whole(failed), scored=locale.whole(cases))
        made.append(f"{text} ({shown})" if counted else locale.say("production_fail_share", share=shown))
    return made[0], made[1]


def _notices(comparison: ProductionComparison, locale: Locale) -> Iterator[Notice]:
    if comparison.run.unfit:
        yield Notice(title=locale.say("comparison_unfit"), blocks=(Listing(items=comparison.run.unfit),), alarm=True)
    blocks: list[Paragraph | Listing] = []
    if comparison.outcome == "too_little":
        blocks.append(Paragraph(text=locale.say("production_too_little")))
    texts = list(level_findings(comparison.levels, comparison.run.spec, locale))
    if comparison.levels[0].difference.is_telling:
        for key, keeps in (("explains", False), ("keeps", True)):
            if names := [
                column_name(standardised.column, locale)
                for standardised in comparison.standardised
                if standardised.difference.is_telling == keeps
            ]:
                texts.append(locale.say(f"production_mix_{key}", columns=", ".join(names)))
    if texts:
        blocks.append(Listing(items=tuple(texts), never_cut=True))
    title = locale.say("pair", name=run_name(comparison, locale), value=locale.say(f"outcome_{comparison.outcome}"))
    yield Notice(title=title, blocks=tuple(blocks), alarm=comparison.outcome == "regression")
    lines = [locale.say("anyway_differs", part=differing_part_text(difference, locale)) for difference in comparison.differs]
    if comparison.left_out:
        lines.append(locale.say("left_out_criteria", names=", ".join(comparison.left_out)))
    if lines:
        yield Notice(title=locale.say("production_anyway_title"), blocks=(Listing(items=tuple(lines), never_cut=True),))
    differs = Paragraph(text=locale.say("production_differs_text"))
    yield Notice(title=locale.say("production_differs_title"), blocks=(differs,))


class _Page(Sections):
    """The sections of the page."""

    untested = "production_not_tested"

    def __init__(self, comparison: ProductionComparison, locale: Locale, link: str, *, brief: bool) -> None:
        super().__init__((run_name(comparison, locale), locale.say("production")), comparison.run.spec, locale, brief=brief)
        self._comparison, self._link = comparison, link
        self._columns = (
            *(Column(heading=name) for name in self.heads),
            Column(heading=locale.say("score_paired")),
            Column(heading=locale.say("failure_difference")),
            Column(heading=locale.say("conclusion"), kind="text"),
        )
        """The columns that all tables have in common; see `_compared`."""

    def sections(self) -> Iterator[Section]:
        """All that have something to show."""
        comparison, locale, side = self._comparison, self.locale, self._comparison.production
        left_out = (("production_other_panels", side.other_panels), ("production_not_sampled", side.not_sampled))
        notes = [locale.count(key, number) for key, number in left_out if number]
        notes += [locale.say("production_weighted")] if side.weighted else []
        if comparison.missing:
            notes.append(
                locale.say("production_missing", columns=", ".join(column_name(column, locale) for column in comparison.missing))
            )
        remarks = [Paragraph(text=text, look="note", console=True) for text in notes]
        levels = self.levels(comparison.levels, "production_levels_lead", self._columns, self._compared)
        yield self.section("levels", [self._beside(), *remarks, *levels])
        if comparison.mixes:
            yield self.section("production_mix", self._mixes())
            yield self.section("production_standardised", self._standardised())
        if slices := [cut for cut in comparison.slices if not self.brief or cut.difference.is_telling]:
            blocks = self.slices(slices, "production_slices_lead", self._columns, lambda cut: self._compared(cut.difference))
            yield self.section("comparison_slices", blocks)
        ids = zip(self.heads, (comparison.run.run.id, comparison.production.panel), strict=True)
        yield self.method("production_method_text", ids)

    def _beside(self) -> Table:
        locale, comparison = self.locale, self._comparison
        whole = comparison.levels[0].difference
        heads = (
            Column(heading="", kind="text"),
            *(Column(heading=name, kind="text") for name in self.heads),
            Column(heading=locale.say("difference"), kind="text"),
        )
        groups = [(locale.count("production_groups", number),) for number in whole.score.clusters]
        failed = failed_texts(whole, locale)
        run = Span(comparison.run.run.id, "link", self._link) if self._link else comparison.run.run.id
        listed: list[tuple[Cell | str, ...]] = [
            (locale.say("run_id"), Cell(text=run), period_text(comparison, locale), ""),
            (
                locale.say("production_size"),
                Cell(text=locale.count("cases", comparison.cases), under=groups[0]),
                Cell(text=locale.count("production_answers", comparison.production.answers), under=groups[1]),
                "",
            ),
            (locale.say("release"), run_verdict_text(comparison.run, locale), "", ""),
            (locale.say("failures"), *failed, self.difference(failures_text(whole, locale), whole.by_failures)),
            (
                locale.say("final_score"),
                *(locale.number(mean) for mean in whole.score.means),
                self.difference(score_difference(whole.score, locale), whole.by_score),
            ),
        ]
        return Table(columns=heads, rows=rows(listed), css="beside")

    def _compared(self, outcomes: UnpairedOutcomes, *, counted: bool = True) -> tuple[Cell | str, ...]:
        """Means, differences and conclusion: the cells that all tables have in common."""
        failed = failed_texts(outcomes, self.locale, counted=counted)
        means = (
            Cell(text=self.locale.number(mean), under=(text,)) for mean, text in zip(outcomes.score.means, failed, strict=True)
        )
        return (*means, *self.differences(outcomes), self.conclusion(outcomes))

    def _mixes(self) -> Iterator[Block]:
        locale = self.locale
        yield Paragraph(text=locale.say("production_mix_lead"), look="soft")
        for mix in self._comparison.mixes:
            yield Heading(text=locale.say("production_mix_by", column=column_name(mix.column, locale)))
            totals = mix.totals
            shown, rest = mix.values[:_SHOWN_VALUES], mix.values[_SHOWN_VALUES:]
            listed = [(self._value(mix.column, value.value), value.run, value.production) for value in shown]
            if rest:
                sums = sum(value.run for value in rest), sum(value.production for value in rest)
                listed.append((locale.count("production_more_values", len(rest)), *sums))
            made = [
                (
                    name,
                    *(
                        locale.say("production_mix_cell", share=locale.percent(n / max(total, 1), 1), n=locale.whole(n))
                        for n, total in zip(counts, totals, strict=True)
                    ),
                )
                for name, *counts in listed
            ]
            heads = columns(*self.heads, first=locale.say("slice_value"))
            yield Table(columns=heads, rows=rows(made), css="amounts", stacked=False)

    def _value(self, column: str, value: str) -> str:
        return slice_value(column, value, self.spec.labels, self.locale)

    def _standardised(self) -> Iterator[Block]:
        locale, least = self.locale, self.locale.whole(IN_STRATUM)
        if not self._comparison.standardised:
            yield Paragraph(text=locale.say("production_standardised_none", n=least), look="soft")
            return
        yield Paragraph(text=locale.say("production_standardised_lead", n=least), look="soft")
        heads = (Column(heading=locale.say("production_column"), kind="text"), Column(heading=locale.say("production_covered")))
        made: list[Row] = []
        for standardised in self._comparison.standardised:
            values = ", ".join(self._value(standardised.column, value) for value in standardised.values[:_SHOWN_VALUES])
            first = Cell(text=Span(column_name(standardised.column, locale), "strong"), under=(values,))
            made.append(
                Row(
                    cells=(
                        first,
                        locale.percent(standardised.covered, 0),
                        *self._compared(standardised.difference, counted=False),
                    )
                )
            )
        yield Table(columns=(*heads, *self._columns), rows=tuple(made), css="league slices")


def production_figures(comparison: ProductionComparison) -> Mapping[str, Any]:
    """What `production.json` holds: numbers are not rounded, null where there is none; no texts."""
    return {
        "schema": "areopage-production-1",
        "outcome": comparison.outcome,
        "run": run_figures(comparison.run),
        "production": comparison.production,
        "cases": comparison.cases,
        "criteria": comparison.criteria,
        "left_out": comparison.left_out,
        "differs": comparison.differs,
        "levels": comparison.levels,
        "mixes": comparison.mixes,
        "standardised": comparison.standardised,
        "slices": comparison.slices,
        "missing": comparison.missing,
    }
