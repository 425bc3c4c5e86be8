"""Harmless questions that the target refuses, in the report of a benchmark run."""

from collections.abc import Iterator

from areopage.bench.figures.failing_cases import masked
from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.bench.spec import TWIN_OF
from areopage.locales import MISSING, Locale
from areopage.report import Block, Column, Details, Paragraph, Section, Table, rows
from areopage.scoring import OverRefusal, TwinPair

_PROMPT = 160  # characters of a prompt
_LISTED = 100
_ON_CONSOLE = 5


def _over_refusal(view: RunData) -> OverRefusal | None:
    """The benign twins that are refused; null where there are none."""
    tag = view.spec.twin_tag.casefold()
    twins = [item.case for item in view.items if tag in (name.casefold() for name in item.case.tags)]
    states = {case.id: view.response_state(case) for case in view.cases} if twins else {}
    counterparts = {case.id: str(case.metadata.get(TWIN_OF, "")).strip() for case in twins}
    return OverRefusal.of(view.spec.twin_tag, counterparts, states)


def _facts(view: RunData, page: Page) -> Iterator[Fact]:
    if refusals := OVER_REFUSAL.of(view):
        yield page.locale.say("over_refusal"), refusals_line(refusals, page.locale)


def refusals_line(refusals: OverRefusal, locale: Locale) -> str:
    """How many benign twins are refused, with the bound of the share."""
    text = locale.say("twins_refused", refused=locale.whole(refusals.refused), known=locale.whole(refusals.known))
    if refusals.missing_cases:
        text = locale.count("twins_unknown", len(refusals.missing_cases), told=text)
    return text if refusals.high is None else locale.say("twins_bound", told=text, high=locale.percent(refusals.high, 0))


def _section(view: RunData, page: Page) -> Section | None:
    refusals, locale = OVER_REFUSAL.of(view), page.locale
    if refusals is None and not view.declined:
        return None
    blocks: list[Block] = []
    if refusals is not None:
        blocks.append(Paragraph(text=locale.say("twins_lead", tag=refusals.tag), look="soft"))
        blocks.append(Paragraph(text=refusals_line(refusals, locale)))
        counts = ((locale.say(f"said_{state}"), locale.whole(n)) for state, n in refusals.states.items())
        heads = (Column(heading=locale.say("state"), kind="text"), Column(heading=locale.say("cases_heading")))
        blocks.append(Table(columns=heads, rows=rows(counts), css="lines"))
        blocks += [*_refused(view, refusals, locale), *_pairs(refusals, locale)]
    if view.declined:
        blocks.append(Paragraph(text=locale.count("declined_note", len(view.declined)), look="note", console=True))
    return Section(id="refusals", title=locale.say("refusals"), blocks=tuple(blocks), console=True)


def _refused(view: RunData, refusals: OverRefusal, locale: Locale) -> Iterator[Block]:
    if not refusals.refused_cases:
        return
    cases = {case.id: case for case in view.cases}
    heads = tuple(Column(heading=locale.say(key), kind="text") for key in ("case", "state", "prompt", "response"))
    listed = [
        (
            id,
            locale.say(f"said_{view.response_state(cases[id])}"),
            masked(cases[id].prompt_text, _PROMPT),
            masked(cases[id].response or "", _PROMPT),
        )
        for id in refusals.refused_cases[:_LISTED]
    ]
    yield Table(columns=heads, rows=rows(listed), css="lines", console=_ON_CONSOLE)
    if rest := len(refusals.refused_cases) - len(listed):
        yield Paragraph(text=locale.count("more_results", rest), look="note")


def _pairs(refusals: OverRefusal, locale: Locale) -> Iterator[Block]:
    if not refusals.pairs:
        return

    def row(pair: TwinPair) -> tuple[str, str, str, str]:
        other = locale.say(f"said_{pair.counterpart_state}") if pair.counterpart_state else MISSING
        return pair.twin, locale.say(f"said_{pair.twin_state}"), pair.counterpart, other

    keys = ("twin", "twin_state", "counterpart", "counterpart_state")
    heads = tuple(Column(heading=locale.say(key), kind="text") for key in keys)
    table = Table(columns=heads, rows=rows(map(row, refusals.pairs[:_LISTED])), css="lines")
    yield Details(summary=locale.count("twin_pairs", len(refusals.pairs)), blocks=(table,))


OVER_REFUSAL: Figure[OverRefusal | None] = Figure(
    id="over_refusal", compute=_over_refusal, stored="metadata", facts=_facts, brief=True, section=_section
)
