"""What a run cost, in its report: by the target and each judge, and in all."""

from areopage.bench import ModelCost, RunView, run_costs, totals
from areopage.locales import MISSING, Locale
from areopage.report.elements import columns, rows
from areopage.report.model import Block, Cell, Paragraph, Section, Span, Table


def costs_section(view: RunView, locale: Locale) -> Section | None:
    """Build the section; None where no model was asked."""
    found = run_costs(view)
    if not found:
        return None
    heads = columns(locale.say("tokens"), locale.say("cost"), first=locale.say("cost_of"))
    whole = locale.costs(totals(found)) or MISSING
    last = (Cell(text=Span(locale.say("cost_whole"), "strong")), "", Cell(text=Span(whole, "strong")))
    table = [*(_row(one, locale) for one in found), last]
    blocks: list[Block] = [Paragraph(text=locale.say("costs_lead"), look="soft"), Table(columns=heads, rows=rows(table))]
    if days := sorted({one.listed for one in found if one.listed}):
        blocks.append(Paragraph(text=locale.say("cost_listed", days=", ".join(days)), look="note"))
    if any(one.cost is None for one in found):
        blocks.append(Paragraph(text=locale.say("cost_unstated"), look="note", console=True))
    return Section(id="costs", title=locale.say("costs"), blocks=tuple(blocks), console=True)


def _row(one: ModelCost, locale: Locale) -> tuple[Cell | str, ...]:
    name = Cell(text=one.name, under=(locale.say(f"cost_role_{one.role}"),))
    tokens = f"{locale.whole(one.prompt_tokens)} / {locale.whole(one.completion_tokens)}"
    return (name, tokens, MISSING if one.cost is None else locale.money(one.cost, one.currency))
