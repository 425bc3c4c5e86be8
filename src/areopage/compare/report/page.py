"""A comparison of runs: the page, which shows answers side by side, its short form for a pull request, and its figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from areopage.bench import RunSpec, part_facts, part_notices
from areopage.compare.league.text import column_name, count_notes, failed_text, score_difference, slice_value
from areopage.compare.report.text import (
    conclusion_text,
    corrected_p_value,
    crossed_text,
    failures_text,
    findings,
    node_name,
    open_text,
    price_text,
    run_names,
    run_verdict_text,
    shared_lines,
)
from areopage.compare.runs.production import ProductionSlice
from areopage.compare.runs.records import ChangedCase, Compared, ComparedRun, Comparison, SliceDifference
from areopage.compare.statistics.contributions import ONE_SIDED, Contribution
from areopage.compare.statistics.levels import Difference
from areopage.compare.statistics.tested import D, Tested, TestedLevel, TwoTests
from areopage.digest import digest_of
from areopage.errors import name_list
from areopage.locales import MISSING, Locale, one_line
from areopage.report import (
    LONGEST_TEXT,
    Block,
    Cell,
    Column,
    Entries,
    Entry,
    Facts,
    Heading,
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
    excerpt,
    report_locale,
    rows,
)
from areopage.version import __version__

CASES = "comparison_cases.csv"
_SHOWN_CASES, _SHOWN_PARTS = 30, 12
_BRIEF_PARTS = 5
_NEWLY_NAMED = 10

S = TypeVar("S", SliceDifference, ProductionSlice)


def comparison_report(
    comparison: Comparison,
    links: Mapping[str, str],
    language: str = "",
    *,
    brief: bool = False,
    prompts: bool = True,
    more: str = CASES,
) -> Report:
    """Build the page of a comparison.

    Args:
        links: the address of what there is about each run, by the run's id; none for a run without.
        language: of the page; that of the first run where it is "".
        brief: the form for a console or a pull request: what changed, without answers.
        prompts: name newly failing cases with their prompts.
        more: where the cases are that the page does not show.
    """
    spec = comparison.first.spec
    locale = report_locale(language or spec.language)
    names = run_names(comparison, locale)
    first = names[comparison.first.run.id]
    others = [names[compared.other.run.id] for compared in comparison.others]
    title = (
        locale.say("comparison_title", other=others[0], first=first)
        if len(others) == 1
        else locale.count("comparison_titles", len(others), first=first)
    )
    parts = [
        _Part(comparison.first, compared, names, locale, _suffix(comparison, place), brief, more)
        for place, compared in enumerate(comparison.others, 1)
    ]
    sections = [section for part in parts for section in part.sections(links)]
    sections.append(parts[0].method("comparison_method_text", ((name, id) for id, name in names.items())))
    return Report(
        locale=locale,
        kind=locale.say("comparison"),
        title=title,
        window=f"{locale.say('comparison')} · {spec.suite}",
        facts=(
            *part_facts(spec, locale),
            (locale.say("outcome"), locale.say(f"outcome_{comparison.outcome}")),
            (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
            *_cost_fact(comparison, names, locale),
        ),
        notices=(*part_notices(spec, locale), *_notices(comparison, names, locale, brief=brief, prompts=prompts)),
        headline=None,
        sections=tuple(sections),
        footer=(f"areopage {__version__}",),
        figures=comparison_figures(comparison),
    )


def _cost_fact(comparison: Comparison, names: Mapping[str, str], locale: Locale) -> Iterator[tuple[str, str]]:
    runs = (comparison.first, *(compared.other for compared in comparison.others))
    costs = [locale.say("pair", name=names[run.run.id], value=locale.costs(run.costs)) for run in runs if locale.costs(run.costs)]
    if costs:
        yield locale.say("cost"), "; ".join(costs)


def _notices(comparison: Comparison, names: Mapping[str, str], locale: Locale, *, brief: bool, prompts: bool) -> Iterator[Notice]:
    runs = (comparison.first, *(compared.other for compared in comparison.others))
    if unfit := dict.fromkeys(judge for run in runs for judge in run.unfit):
        yield Notice(title=locale.say("comparison_unfit"), blocks=(Listing(items=tuple(unfit)),), alarm=True)
    for place, compared in enumerate(comparison.others, 1):
        suffix = _suffix(comparison, place)
        yield Notice(
            title=locale.say("pair", name=names[compared.other.run.id], value=locale.say(f"outcome_{compared.outcome}")),
            blocks=tuple(_outcome_blocks(comparison.first.spec, compared, suffix, locale, brief=brief, prompts=prompts)),
            alarm=compared.outcome == "regression" or bool(compared.newly_failing),
        )
        if compared.shared.differs:
            shared = Listing(items=tuple(shared_lines(compared.shared, locale)), never_cut=True)
            yield Notice(title=locale.say("anyway_title"), blocks=(shared,))


def _outcome_blocks(
    spec: RunSpec, compared: Compared, suffix: str, locale: Locale, *, brief: bool, prompts: bool
) -> Iterator[Paragraph | Listing]:
    """The cases that newly fail, then what the tests find, then what they leave open."""
    newly = compared.newly_failing
    numbers = {"newly": len(newly), "mended": len(compared.mended), "compared": compared.shared.cases}
    head = locale.say("newly_failing_head", **{name: locale.whole(number) for name, number in numbers.items()})
    if compared.not_compared:
        head = f"{head} {locale.count('newly_failing_unknown', len(compared.not_compared))}"
    yield Paragraph(text=head)
    items: list[Line] = []
    criteria = spec.in_language(locale.code).criteria_by_id()
    for changed in newly[:_NEWLY_NAMED]:
        case, names = changed.case, name_list(criteria[id].title for id in changed.newly)
        link = Span(case.id, "strong") if brief else Span(case.id, "link", f"#{_anchor(suffix, case.id)}")
        items.append((link, f" · {names} · {one_line(case.prompt_text)}" if prompts else f" · {names}"))
    if len(newly) > _NEWLY_NAMED:
        items.append(locale.count("newly_failing_more", len(newly) - _NEWLY_NAMED))
    if items:
        yield Listing(items=tuple(items))
    if lines := tuple(findings(compared, spec, locale)):
        yield Listing(items=lines, never_cut=True)
    for text in (open_text(compared, locale), price_text(compared, locale)):
        if text:
            yield Paragraph(text=text)


def _suffix(comparison: Comparison, place: int) -> str:
    """What the anchors of the sections about a run end with, where several are compared."""
    return f"-{place}" if len(comparison.others) > 1 else ""


def _anchor(suffix: str, id: str) -> str:
    return f"case{suffix}-{digest_of(id)[:10]}"


class Sections:
    """The sections of a page about a difference, for runs and for production."""

    untested = "not_tested"
    """The message in place of a p-value where a test takes part in no family."""

    def __init__(self, heads: tuple[str, str], spec: RunSpec, locale: Locale, *, brief: bool, suffix: str = "") -> None:
        """The sides are called `heads`; anchors end with `suffix`, where several runs are compared."""
        self.heads, self.locale, self.brief, self.suffix = heads, locale, brief, suffix
        self.spec = spec.in_language(locale.code)

    def section(self, key: str, blocks: Iterable[Block]) -> Section:
        """A section with a message as its name."""
        title = self.locale.say(key)
        if self.suffix:
            title = self.locale.say("pair", name=self.heads[1], value=title)
        name = f"{key}{self.suffix}".replace("_", "-")
        return Section(
            id=name, title=title, blocks=tuple(blocks), console=self.brief, brief=key not in ("drivers", "production_mix")
        )

    def difference(self, text: str, test: Tested) -> Cell:
        """A difference with the p-value of its test."""
        css = "failed" if test.direction == "worse" else ""
        return Cell(text=text, under=(corrected_p_value(test, self.locale, self.untested),), css=css)

    def differences(self, outcomes: TwoTests) -> tuple[Cell, Cell]:
        """The differences of the scores and of the failures."""
        score = score_difference(outcomes.measured[1], self.locale)
        return self.difference(score, outcomes.by_score), self.difference(
            failures_text(outcomes, self.locale), outcomes.by_failures
        )

    def conclusion(self, outcomes: TwoTests) -> Cell:
        """What failures and scores say."""
        return Cell(text=Span(conclusion_text(outcomes, self.locale), "strong"))

    def levels(
        self,
        levels: Sequence[TestedLevel[D]],
        lead: str,
        heads: Sequence[Column],
        cells: Callable[[D], Sequence[Cell | str]],
        css: str = "league",
    ) -> Iterator[Block]:
        """The nodes of the tree; the brief form leaves out sub-categories and criteria that say nothing."""
        locale = self.locale
        yield Paragraph(text=locale.say(lead), look="soft")
        shown = [node for node in levels if not self.brief or node.level in ("final", "category") or node.difference.is_telling]
        made: list[Row] = []
        for node in shown:
            name = node_name(node, self.spec, locale)
            first = Cell(text=name if node.level == "criterion" else Span(name, "strong"), title=".".join(node.path))
            made.append(self.row(node.difference, first, *cells(node.difference)))
        yield Table(columns=(Column(heading=locale.say("level"), kind="text"), *heads), rows=tuple(made), css=css)
        if len(shown) < len(levels):
            yield Paragraph(text=locale.count("levels_unchanged", len(levels) - len(shown)), look="note")

    def slices(
        self,
        slices: Sequence[S],
        lead: str,
        heads: Sequence[Column],
        cells: Callable[[S], Sequence[Cell | str]],
    ) -> Iterator[Block]:
        """A table for each column, with a row for each of its values."""
        locale = self.locale
        yield Paragraph(text=locale.say(lead), look="soft")
        for column in dict.fromkeys(cut.column for cut in slices):
            yield Heading(text=locale.say("slices_by", column=column_name(column, locale)))
            made = [
                self.row(cut.difference, slice_value(column, cut.value, self.spec.labels, locale), *cells(cut))
                for cut in slices
                if cut.column == column
            ]
            first = Column(heading=locale.say("slice_value"), kind="text")
            yield Table(columns=(first, *heads), rows=tuple(made), css="league slices")

    def row(self, outcomes: TwoTests, *cells: Cell | str) -> Row:
        """A row of a table, red where something is worse."""
        return Row(cells=cells, css="alarm" if "worse" in outcomes.directions else "")

    def method(self, text: str, items: Iterable[tuple[str, str]]) -> Section:
        """How it is compared: the ids of both sides by their names, and the judges."""
        judges = ((self.locale.say("judge"), f"{judge.name}: {judge.reference}") for judge in self.spec.judges)
        facts = Facts(items=(*((name, Span(id, "code")) for name, id in items), *judges), small=True)
        blocks = (Paragraph(text=self.locale.say(text)), facts)
        return Section(id="how", title=self.locale.say("comparison_method"), blocks=blocks)


class _Part(Sections):
    """The sections about one run against the first."""

    def __init__(
        self,
        first: ComparedRun,
        compared: Compared,
        names: Mapping[str, str],
        locale: Locale,
        suffix: str,
        brief: bool,
        more: str,
    ) -> None:
        heads = (names[first.run.id], names[compared.other.run.id])
        super().__init__(heads, first.spec, locale, brief=brief, suffix=suffix)
        self._first, self._other, self._more = first, compared, more

    def sections(self, links: Mapping[str, str]) -> Iterator[Section]:
        """All that have something to show."""
        if not self.brief:
            yield self.section("changed_cases", self._changed())
        yield self.section("levels", [self._beside(links), *self._levels()])
        if blocks := list(self._drivers()):
            yield self.section("drivers", blocks)
        slices = [cut for cut in self._other.slices if not self.brief or cut.difference.is_telling]
        if slices:
            yield self.section("comparison_slices", self._slices(slices))

    def _beside(self, links: Mapping[str, str]) -> Table:
        locale, runs = self.locale, (self._first, self._other.other)
        whole = self._other.levels[0].difference
        heads = [
            Column(heading="", kind="text"),
            *(Column(heading=name, kind="text") for name in self.heads),
            Column(heading=locale.say("difference"), kind="text"),
        ]
        ids = [Cell(text=Span(run.run.id, "link", links[run.run.id]) if links.get(run.run.id) else run.run.id) for run in runs]
        counted = [
            Cell(
                text=failed_text(run.failures, locale),
                under=count_notes(run.failures, locale),
                css="failed" if run.failures.failed else "",
            )
            for run in runs
        ]
        intervals = [(locale.interval(run.interval.low, run.interval.high),) if run.interval else () for run in runs]
        scores = [Cell(text=locale.number(run.score), under=interval) for run, interval in zip(runs, intervals, strict=True)]
        listed: list[tuple[Cell | str, ...]] = [
            (locale.say("run_id"), *ids, ""),
            (locale.say("release"), *(run_verdict_text(run, locale) for run in runs), ""),
            (locale.say("failing_primary"), *counted, self.difference(failures_text(whole, locale), whole.by_failures)),
            (locale.say("final_score"), *scores, self.difference(score_difference(whole.score, locale), whole.by_score)),
            (locale.say("coverage"), *(locale.percent(run.coverage) for run in runs), ""),
        ]
        return Table(columns=tuple(heads), rows=rows(listed), css="beside", never_cut=True)

    def _levels(self) -> Iterator[Block]:
        locale = self.locale
        heads = (
            Column(heading=locale.say("shared_cases")),
            *(Column(heading=name) for name in self.heads),
            Column(heading=locale.say("score_paired")),
            Column(heading=locale.say("newly_mended")),
            Column(heading=locale.say("failure_difference")),
            Column(heading=locale.say("conclusion"), kind="text"),
        )

        def cells(difference: Difference) -> tuple[Cell | str, ...]:
            means = [locale.number(mean) for mean in reversed(difference.means)] if difference.means else [MISSING, MISSING]
            score, failures = self.differences(difference)
            crossed = Cell(text=crossed_text(difference, locale))
            return (locale.whole(difference.score.pairs), *means, score, crossed, failures, self.conclusion(difference))

        yield from self.levels(self._other.levels, "levels_lead", heads, cells, "league levels")

    def _drivers(self) -> Iterator[Block]:
        locale, drivers = self.locale, self._other.drivers
        if drivers is None or not any(part.amount for part in drivers.cases):
            return
        sizes = {"cases": locale.count("cases", len(drivers.cases)), "difference": locale.signed(drivers.difference, 3)}
        yield Paragraph(text=locale.say("drivers_lead", **sizes), look="soft")
        for key, parts in (("criterion", drivers.criteria), ("judge", drivers.judges), ("case", drivers.cases)):
            if self.brief and key == "case":
                continue
            yield Heading(text=locale.say(f"drivers_by_{key}"))
            yield self._parts(key, parts)
        if self._other.failure_parts:
            yield Heading(text=locale.say("failure_parts"))
            yield self._parts("criterion", self._other.failure_parts)

    def _parts(self, key: str, parts: Sequence[Contribution]) -> Table:
        locale = self.locale
        most = _BRIEF_PARTS if self.brief else _SHOWN_PARTS
        shown = [part for part in parts if part.amount][:most]
        titles = {id: criterion.title for id, criterion in self.spec.criteria_by_id().items()} if key == "criterion" else {}
        titles[ONE_SIDED] = locale.say("one_sided")
        made: list[tuple[Cell | str, ...]] = [
            (titles.get(part.name, part.name), locale.signed(part.amount, 3), _share(part.share, locale)) for part in shown
        ]
        left = [part for part in parts if part.amount][most:]
        if left:
            amount = sum(part.amount for part in left)
            shares = [part.share for part in left if part.share is not None]
            name = locale.count("more_parts", len(left), amount=locale.signed(amount, 3))
            made.append((name, locale.signed(amount, 3), _share(sum(shares) if shares else None, locale)))
        heads = columns(locale.say("part_amount"), locale.say("part_share"), first=locale.say(key))
        return Table(columns=heads, rows=rows(made), css="amounts", stacked=False)

    def _slices(self, slices: Sequence[SliceDifference]) -> Iterator[Block]:
        locale = self.locale
        keys = ("shared_cases", "score_paired", "newly_mended", "part_amount")
        heads = (*(Column(heading=locale.say(key)) for key in keys), Column(heading=locale.say("conclusion"), kind="text"))

        def cells(cut: SliceDifference) -> tuple[Cell | str, ...]:
            difference = cut.difference
            return (
                locale.whole(cut.cases),
                self.difference(score_difference(difference.score, locale), difference.by_score),
                Cell(text=crossed_text(difference, locale), under=(corrected_p_value(difference.by_failures, locale),)),
                Cell(text=locale.signed(cut.amount, 3), under=(_share(cut.share, locale),)),
                self.conclusion(difference),
            )

        yield from self.slices(slices, "comparison_slices_lead", heads, cells)

    def _changed(self) -> Iterator[Block]:
        locale, changed = self.locale, self._other.changed
        yield Paragraph(text=locale.say("changed_cases_lead" if changed else "changed_none"), look="soft")
        yield Entries(items=tuple(self._entry(change) for change in changed[:_SHOWN_CASES]))
        if len(changed) > _SHOWN_CASES:
            yield Paragraph(text=locale.count("more_changed", len(changed) - _SHOWN_CASES, file=self._more), look="note")

    def _entry(self, change: ChangedCase) -> Entry:
        locale, criteria = self.locale, self.spec.criteria_by_id()
        shown = {key: locale.number(score) for key, score in zip(("first", "other"), change.scores, strict=True)}
        facts = [change.case.id, locale.say("score_from_to", **shown)]
        for key, ids in (("newly", change.newly), ("mended", change.mended)):
            if ids:
                facts.append(locale.say(f"changed_{key}", names=name_list(criteria[id].title for id in ids)))
        texts = tuple(
            Cell(text=(text or "")[:LONGEST_TEXT] or locale.say("no_text"), css="" if text else "zero")
            for text in change.responses
        )
        both = Table(
            columns=tuple(Column(heading=name, kind="text") for name in self.heads),
            rows=(Row(cells=texts),),
            css="texts",
            stacked=False,
        )
        prompt = excerpt(locale, locale.say("prompt"), change.case.prompt_text, locale.say("no_text"))
        return Entry(
            score=shown["other"],
            title=change.case.prompt_text,
            facts=tuple(facts),
            blocks=(prompt, both),
            alarm=bool(change.newly),
            anchor=_anchor(self.suffix, change.case.id),
        )


def _share(share: float | None, locale: Locale) -> str:
    return MISSING if share is None else locale.percent(share, 0)


def comparison_figures(comparison: Comparison) -> dict[str, Any]:
    """What `comparison.json` holds: numbers are not rounded, null where there is none; no texts of cases."""
    return {
        "schema": "areopage-comparison-1",
        "part": comparison.first.spec.part,
        "outcome": comparison.outcome,
        "first": run_figures(comparison.first),
        "others": [
            {
                **run_figures(compared.other),
                "outcome": compared.outcome,
                "verdicts": compared.verdicts,
                "shared": compared.shared,
                "levels": compared.levels,
                "slices": compared.slices,
                "drivers": compared.drivers,
                "failure_parts": compared.failure_parts,
                "newly_failing": [{"case": case.case.id, "criteria": case.newly} for case in compared.newly_failing],
                "not_compared": compared.not_compared,
                "changed": [
                    {
                        "case": case.case.id,
                        "scores": case.scores,
                        "amount": case.amount,
                        "newly": case.newly,
                        "mended": case.mended,
                    }
                    for case in compared.changed
                ],
            }
            for compared in comparison.others
        ],
    }


def run_figures(run: ComparedRun) -> dict[str, Any]:
    """What JSON says of a run in a comparison."""
    return {
        "run": run.run.id,
        "target": run.name,
        "created_at": run.run.created_at,
        "verdict": run.verdict,
        "reason": run.doubt,
        "score": run.score,
        "interval": run.interval,
        "failures": run.failures,
        "coverage": run.coverage,
        "unfit_judges": run.unfit,
    }
