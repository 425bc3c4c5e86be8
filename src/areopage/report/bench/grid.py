"""The failures of a benchmark run by criterion and age, and by groups of cases, in its report."""

from collections.abc import Iterator, Sequence

from areopage.bench import Dimension, RunView
from areopage.locales import MISSING, Locale
from areopage.report.bench.case import audience
from areopage.report.bench.case_index import CaseIndex
from areopage.report.model import Block, Cell, Column, Paragraph, Row, Section, Span, Table
from areopage.report.results.run_results import criterion_label
from areopage.scoring import FailureCount, GroupFailures

FEW = 10
"""With fewer cases a count says little: with no failure among nine, a third of other cases could still fail."""

_GROUPED: tuple[Dimension, ...] = ("category", "language", "mode")
_SHADES = ((0.3, "h3"), (0.1, "h2"), (0.0, "h1"))


def failures_section(view: RunView, locale: Locale) -> Section:
    """Build the grid of failures by criterion and age, and the table by groups of cases."""
    lead = locale.say("failures_lead_high" if view.spec.scale.higher_is_better else "failures_lead_low")
    blocks: list[Block] = [Paragraph(text=lead, look="soft"), _criteria_grid(view, locale)]
    blocks.append(Paragraph(text=locale.say("grid_legend", n=locale.whole(_few(view))), look="note", console=True))
    if pairs := sum(count.by_rule for count in view.failures.by_criterion.values()):
        blocks.append(Paragraph(text=locale.count("ruled_out_pairs", pairs), look="soft", console=True))
    first = view.failures.first
    if first.if_missing is not None:
        low, high = (locale.percent(share, 0) for share in first.if_missing)
        blocks.append(Paragraph(text=locale.count("failures_if_missing", first.cases - first.scored, low=low, high=high)))
    groups = _groups_grid(view, locale)
    blocks += [groups] if groups.rows else []
    return Section(id="failures", title=locale.say("failures"), blocks=tuple(blocks), console=True)


def _few(view: RunView) -> int:
    """Under how many cases a cell is marked as too small."""
    release = view.spec.release
    return release.min_cases_by_age if release and release.min_cases_by_age else FEW


def _criteria_grid(view: RunView, locale: Locale) -> Table:
    """A row for each category and criterion, a column for each age; the categories that count first lead."""
    found, index, spec = view.failures, CaseIndex(view=view), view.spec
    ages = [(age, view.failure_groups["maturity"][age]) for age in index.ages]
    order = sorted(found.by_category, key=lambda name: name not in found.categories)

    def row(name: str, title: str, css: str, counts: Sequence[FailureCount], limit: float | None) -> Row:
        classes = [(css,), *((css, index.age_class(age)) for age, _ in ages)]
        cells = (_cell(view, count, index.only(*own), locale) for count, own in zip(counts, classes, strict=True))
        return Row(
            cells=(Cell(text=name, title=title), *cells, "" if limit is None else locale.short(limit)),
            css="l1" if css.startswith("g") else "l2",
        )

    def listed() -> Iterator[Row]:
        for category in order:
            counts = [found.by_category[category], *(own.by_category[category] for _, own in ages)]
            yield row(spec.labels.get(category), category, index.category_class(category), counts, None)
            for one in spec.criteria:
                if one.category == category:
                    counts = [found.by_criterion[one.id], *(own.by_criterion[one.id] for _, own in ages)]
                    yield row(criterion_label(one), one.id, index.criterion_class(one.id), counts, counts[0].limit)

    heads = [
        locale.say("all_ages" if ages else "failed_of"),
        *(age_name(view, age, locale) for age, _ in ages),
        locale.say("limit"),
    ]
    columns = (Column(heading=locale.say("part_short"), kind="text"), *(Column(heading=head) for head in heads))
    return Table(columns=columns, rows=tuple(listed()), css="grid", stacked=False)


def age_name(view: RunView, age: str, locale: Locale) -> str:
    """What people call an age, with its years where the suite has them."""
    persona = view.spec.personas.get(age)
    return f"{audience(locale, age)} {persona.maturity_band.replace('-', '–')}" if persona else audience(locale, age)


def _groups_grid(view: RunView, locale: Locale) -> Table:
    """A row for each group of cases, a column for each category, and one for those that count first together."""
    categories, first = list(view.failures.by_category), view.failures.categories
    together = [locale.say("fail_any", categories=", ".join(map(view.spec.labels.get, first)))] if len(first) > 1 else []
    index = CaseIndex(view=view)

    def row(dimension: Dimension, name: str, own: GroupFailures) -> Row:
        place = index.group_class(name) if dimension == "category" else ""

        def cell(category: str) -> Cell:
            address = index.only(index.category_class(category), *([place] if place else []))
            return _cell(view, own.by_category[category], address, locale)

        counted = [_cell(view, own.first, "", locale)] if together else []
        return Row(cells=(_group_name(view, dimension, name, locale), *counted, *map(cell, categories)), css="l2")

    def listed() -> Iterator[Row]:
        for dimension in _GROUPED:
            groups = view.failure_groups[dimension]
            if len(groups) > 1:
                blanks = [""] * len([*together, *categories])
                yield Row(cells=(Cell(text=locale.say(f"groups_{dimension}")), *blanks), css="l1")
                yield from (row(dimension, name, own) for name, own in groups.items())

    heads = (*together, *(view.spec.labels.get(name) for name in categories))
    columns = (Column(heading=locale.say("groups"), kind="text"), *(Column(heading=head) for head in heads))
    return Table(columns=columns, rows=tuple(listed()), css="grid groups", stacked=False)


def _group_name(view: RunView, dimension: Dimension, name: str, locale: Locale) -> str:
    if not name:
        return locale.say("maturity_none")
    key = f"{dimension}_{name}"
    return locale.say(key) if dimension != "category" and key in locale.messages else view.spec.labels.get(name)


def _cell(view: RunView, count: FailureCount, address: str, locale: Locale) -> Cell:
    """How many fail of how many, with the bound; the class and the sign say whether the cell is too small."""
    if not count.cases:
        return Cell(text=MISSING, css="none")
    few = count.scored < _few(view)
    told = f"{locale.whole(count.failed)}/{locale.whole(count.scored)}{'*' if few else ''}"
    css = next((css for least, css in _SHADES if count.failed > least * count.scored), "")
    high = "" if count.high is None else locale.say("at_most", high=locale.percent(max(count.high, 0.01), 0))
    missing = f"+{locale.whole(count.cases - count.scored)}?" if count.scored < count.cases else ""
    text = Span(told, "link", address) if count.failed and address else told
    return Cell(text=text, under=(f"{high} {missing}".strip(),), css=" ".join(filter(None, (css, "few" if few else ""))))
