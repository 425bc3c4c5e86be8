"""What a comparison of variants says, in the words of a language; for the console and the server's page."""

from collections.abc import Mapping, Sequence

from areopage.compare.league.text import p_text
from areopage.compare.variants.comparison import VariantComparison, VariantTest
from areopage.locales import MISSING, Locale
from areopage.report import Block, Cell, Column, Paragraph, Row, Section, Span, Table, variant_name

_DECIMALS = 2


def variant_cells(test: VariantTest, labels: Mapping[str, str], locale: Locale) -> tuple[str, ...]:
    """A test in cells: the measure, then figures of the baseline / of the variant, the difference and what it says.

    Criteria have labels by path.
    """
    difference, (times, decimals) = test.difference, (100.0, 1) if test.kind == "weak" else (1.0, _DECIMALS)

    def shown(value: float | None) -> str:
        return locale.number(None if value is None else value * times, decimals)

    low, high = (locale.signed(end * times, decimals) for end in (difference.low, difference.high))
    return (
        measure_name(test, labels, locale),
        " / ".join(map(locale.whole, test.answers)),
        " / ".join(map(shown, test.means)),
        MISSING if difference.difference is None else locale.signed(difference.difference * times, decimals),
        locale.say("interval_text", low=low, high=high),
        p_text(test.corrected, locale),
        locale.say(f"conclusion_{test.direction}"),
    )


def measure_name(test: VariantTest, labels: Mapping[str, str], locale: Locale) -> str:
    """What a measure is called."""
    return labels.get(test.criterion, test.criterion) if test.kind == "criterion" else locale.say(f"variants_{test.kind}")


def variant_findings(comparison: VariantComparison, labels: Mapping[str, str], locale: Locale) -> tuple[str, ...]:
    """What is worse and what is better, in a sentence each; else that nothing is so far."""
    name, findings = variant_name(comparison.variant, locale), []
    for direction in ("worse", "better"):
        if measures := [measure_name(test, labels, locale) for test in comparison.tests if test.direction == direction]:
            findings.append(locale.say(f"variants_{direction}", name=name, measures=", ".join(measures)))
    return tuple(findings) or (locale.say("variants_unclear", name=name),)


def variant_sections(
    compared: Sequence[VariantComparison], baseline: str, labels: Mapping[str, str], locale: Locale
) -> tuple[Section, ...]:
    """A section for each variant."""
    keys = ("variants_answers", "variants_means", "difference", "variants_days", "corrected_p_head")
    heads = (
        Column(heading=locale.say("variants_measure"), kind="text"),
        *(Column(heading=locale.say(key)) for key in keys),
        Column(heading=locale.say("conclusion"), kind="text"),
    )
    made = []
    for place, comparison in enumerate(compared, 1):
        title = locale.say(
            "variants_against", name=variant_name(comparison.variant, locale), baseline=variant_name(baseline, locale)
        )
        blocks: list[Block] = [Paragraph(text=finding) for finding in variant_findings(comparison, labels, locale)]
        rows: list[Row] = []
        for test in comparison.tests:
            first, *figures, conclusion = variant_cells(test, labels, locale)
            name = Cell(text=first if test.kind == "criterion" else Span(first, "strong"))
            cells: tuple[Cell | str, ...] = (name, *figures, Cell(text=Span(conclusion, "strong")))
            rows.append(Row(cells=cells, css="alarm" if test.direction == "worse" else ""))
        blocks.append(Table(columns=heads, rows=tuple(rows), css="league"))
        made.append(Section(id=f"variant-{place}", title=title, blocks=tuple(blocks)))
    return tuple(made)
