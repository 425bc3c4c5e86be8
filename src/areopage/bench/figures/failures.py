"""How many cases fail: beside the score, by criterion and age, and by groups of cases."""

from collections.abc import Iterator, Sequence
from typing import Literal

from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.bench.spec import RunSpec
from areopage.bench.words import count_of
from areopage.cases import Case
from areopage.locales import MISSING, Locale
from areopage.report import Block, Cell, Column, Listing, Notice, Paragraph, Row, Section, Span, Table, audience, line
from areopage.scoring import FailureCount, Failures, GroupFailures

Dimension = Literal["maturity", "category", "language", "mode"]
DIMENSIONS: tuple[Dimension, ...] = ("maturity", "category", "language", "mode")


def case_group(case: Case, spec: RunSpec, dimension: Dimension) -> str:
    """The group of a case: a dataset's columns `language` and `mode` replace those of the run."""
    if dimension == "maturity":
        return case.maturity
    if dimension == "category":
        return case.category
    group = case.metadata.get(dimension)
    return group if isinstance(group, str) and group else str(getattr(spec, dimension))


FEW = 10
"""With fewer cases a count says little: with no failure among nine, a third of other cases could still fail."""

_GROUPED: tuple[Dimension, ...] = ("category", "language", "mode")
_SHADES = ((0.3, "h3"), (0.1, "h2"), (0.0, "h1"))


def _failures(view: RunData) -> Failures:
    """The cases that fail, in all, by category and by criterion."""
    spec = view.spec
    return Failures.of(view.scores.criteria, spec.criteria, spec.scale, spec.failures)


def _failure_groups(view: RunData) -> dict[str, dict[str, GroupFailures]]:
    """The failures of groups of cases by `maturity` (age), the case's own `category`, `language` and `mode`."""
    spec = view.spec

    def counted(dimension: Dimension) -> dict[str, GroupFailures]:
        groups = {item.case.id: case_group(item.case, spec, dimension) for item in view.items}
        return GroupFailures.of(view.scores.criteria, spec.criteria, spec.scale, spec.failures, groups)

    return {dimension: counted(dimension) for dimension in DIMENSIONS}


def _facts(view: RunData, page: Page) -> Iterator[Fact]:
    failures, locale = FAILURES.of(view).first, page.locale
    counts = count_of(locale, failures.failed, len(view.items))
    text = locale.say("failures_first", categories=", ".join(view.spec.first_names))
    if failures.not_applicable:
        text += f"; {locale.count('not_concerned', failures.not_applicable)}"
    if failures.scored < failures.cases:
        text = locale.say("then", one=text, other=locale.count("without_score_long", failures.cases - failures.scored))
    if failures.high is not None:
        key = "failures_bound_small" if failures.high < 0.01 else "failures_bound"
        text = locale.say("then", one=text, other=locale.say(key, high=locale.percent(max(failures.high, 0.01), 0)))
    criteria, first = view.spec.criteria_by_id(), FAILURES.of(view).categories
    more = sum(not any(criteria[id].category in first for id in failed) for failed in FAILURES.of(view).by_case.values())
    elsewhere = Span(f"– {locale.count('failures_elsewhere', more)}" if more else "", "strong")
    yield locale.say("failures"), line(Span(counts, "strong"), Span(f"– {text}", "soft"), elsewhere)


def failures_title(view: RunData, locale: Locale) -> str:
    """How many cases fail a criterion of the categories that count first, which are named."""
    failures, categories = FAILURES.of(view).first, ", ".join(view.spec.first_names)
    return locale.count("failures_title", failures.failed, all=locale.whole(len(view.items)), categories=categories)


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    """What no judge could judge, of the categories that count first; nothing where there is nothing."""
    failures, criteria, locale = FAILURES.of(view), view.spec.criteria_by_id(), page.locale
    if failures.unscored:
        names = tuple(
            locale.say("pair", name=criteria[id].title, value=_failed_of(failures.by_criterion[id], locale))
            for id in failures.unscored
        )
        yield Notice(title=locale.count("unscored_first", len(names)), blocks=(Listing(items=names),), alarm=True)


def _failed_of(count: FailureCount, locale: Locale) -> str:
    text = count_of(locale, count.failed, count.scored)
    if count.not_applicable:
        text = locale.say("failures_of_applicable", failed=text, n=locale.whole(count.not_applicable))
    if count.by_rule:
        text = locale.say("failures_by_rule", told=text, n=locale.whole(count.by_rule))
    return text if count.scored == count.cases else f"{text} {locale.count('without_score', count.cases - count.scored)}"


def _section(view: RunData, page: Page) -> Section:
    locale = page.locale
    lead = locale.say("failures_lead_high" if view.spec.scale.higher_is_better else "failures_lead_low")
    blocks: list[Block] = [Paragraph(text=lead, look="soft"), _criteria_grid(view, page)]
    blocks.append(Paragraph(text=locale.say("grid_legend", n=locale.whole(_few(view))), look="note", console=True))
    if pairs := sum(count.by_rule for count in FAILURES.of(view).by_criterion.values()):
        blocks.append(Paragraph(text=locale.count("ruled_out_pairs", pairs), look="soft", console=True))
    first = FAILURES.of(view).first
    if first.if_missing is not None:
        low, high = (locale.percent(share, 0) for share in first.if_missing)
        blocks.append(Paragraph(text=locale.count("failures_if_missing", first.cases - first.scored, low=low, high=high)))
    groups = _groups_grid(view, page)
    blocks += [groups] if groups.rows else []
    return Section(id="failures", title=locale.say("failures"), blocks=tuple(blocks), console=True)


def _few(view: RunData) -> int:
    """Under how many cases a cell is marked as too small."""
    release = view.spec.release
    return release.min_cases_by_age if release and release.min_cases_by_age else FEW


def _criteria_grid(view: RunData, page: Page) -> Table:
    """A row for each category and criterion, a column for each age; the categories that count first lead."""
    failures, index, spec, locale = FAILURES.of(view), page.index, view.spec, page.locale
    ages = [(age, FAILURE_GROUPS.of(view)["maturity"][age]) for age in index.ages]
    order = sorted(failures.by_category, key=lambda name: name not in failures.categories)

    def row(name: str, title: str, css: str, counts: Sequence[FailureCount], limit: float | None) -> Row:
        classes = [(css,), *((css, index.age_class(age)) for age, _ in ages)]
        cells = (_cell(view, count, index.only(*names), locale) for count, names in zip(counts, classes, strict=True))
        return Row(
            cells=(Cell(text=name, title=title), *cells, "" if limit is None else locale.short(limit)),
            css="l1" if css.startswith("g") else "l2",
        )

    def listed() -> Iterator[Row]:
        for category in order:
            counts = [failures.by_category[category], *(group.by_category[category] for _, group in ages)]
            yield row(spec.labels.get(category), category, index.category_class(category), counts, None)
            for criterion in spec.criteria:
                if criterion.category == category:
                    counts = [failures.by_criterion[criterion.id], *(group.by_criterion[criterion.id] for _, group in ages)]
                    yield row(criterion.title, criterion.id, index.criterion_class(criterion.id), counts, counts[0].limit)

    years = {age: persona.maturity_band for age, persona in spec.personas.items()}
    heads = [
        locale.say("all_ages" if ages else "failed_of"),
        *(audience(locale, age, years.get(age, "")) for age, _ in ages),
        locale.say("limit"),
    ]
    columns = (Column(heading=locale.say("part_short"), kind="text"), *(Column(heading=head) for head in heads))
    return Table(columns=columns, rows=tuple(listed()), css="grid", stacked=False)


def _groups_grid(view: RunData, page: Page) -> Table:
    """A row for each group of cases, a column for each category, and one for those that count first together."""
    index, locale = page.index, page.locale
    categories, first = list(FAILURES.of(view).by_category), FAILURES.of(view).categories
    together = [locale.say("fail_any", categories=", ".join(map(view.spec.labels.get, first)))] if len(first) > 1 else []

    def row(dimension: Dimension, name: str, group: GroupFailures) -> Row:
        place = index.group_class(name) if dimension == "category" else ""

        def cell(category: str) -> Cell:
            address = index.only(index.category_class(category), *([place] if place else []))
            return _cell(view, group.by_category[category], address, locale)

        counted = [_cell(view, group.first, "", locale)] if together else []
        return Row(cells=(_group_name(view, dimension, name, locale), *counted, *map(cell, categories)), css="l2")

    def listed() -> Iterator[Row]:
        for dimension in _GROUPED:
            groups = FAILURE_GROUPS.of(view)[dimension]
            if len(groups) > 1:
                blanks = [""] * len([*together, *categories])
                yield Row(cells=(Cell(text=locale.say(f"groups_{dimension}")), *blanks), css="l1")
                yield from (row(dimension, name, group) for name, group in groups.items())

    heads = (*together, *(view.spec.labels.get(name) for name in categories))
    columns = (Column(heading=locale.say("groups"), kind="text"), *(Column(heading=head) for head in heads))
    return Table(columns=columns, rows=tuple(listed()), css="grid groups", stacked=False)


def _group_name(view: RunData, dimension: Dimension, name: str, locale: Locale) -> str:
    if not name:
        return locale.say("maturity_none")
    key = f"{dimension}_{name}"
    return locale.say(key) if dimension != "category" and key in locale.messages else view.spec.labels.get(name)


def _cell(view: RunData, count: FailureCount, address: str, locale: Locale) -> Cell:
    """How many fail of how many, with the bound; the class and the sign say whether the cell is too small."""
    if not count.cases:
        return Cell(text=MISSING, css="none")
    few = count.scored < _few(view)
    shown = f"{locale.whole(count.failed)}/{locale.whole(count.scored)}{'*' if few else ''}"
    css = next((css for least, css in _SHADES if count.failed > least * count.scored), "")
    high = "" if count.high is None else locale.say("at_most", high=locale.percent(max(count.high, 0.01), 0))
    missing = f"+{locale.whole(count.cases - count.scored)}?" if count.scored < count.cases else ""
    text = Span(shown, "link", address) if count.failed and address else shown
    return Cell(text=text, under=(f"{high} {missing}".strip(),), css=" ".join(filter(None, (css, "few" if few else ""))))


FAILURES: Figure[Failures] = Figure(
    id="failures", compute=_failures, stored="metadata", facts=_facts, brief=True, section=_section
)
UNSCORED_FIRST: Figure[tuple[str, ...]] = Figure(
    id="unscored_first", compute=lambda view: FAILURES.of(view).unscored, notices=_notices
)
FAILURE_GROUPS: Figure[dict[str, dict[str, GroupFailures]]] = Figure(
    id="failure_groups", compute=_failure_groups, stored="metadata"
)
