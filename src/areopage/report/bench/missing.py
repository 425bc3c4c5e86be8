"""What has no verdict, in the report of a benchmark run: cases without an answer, and judgments without a score."""

from collections.abc import Sequence

from areopage.bench import RunView
from areopage.locales import Locale
from areopage.report.elements import rows
from areopage.report.model import Column, Details, Filter, Paragraph, Row, Section, Table
from areopage.report.results.run_results import criterion_label

LISTED = 100  # rows of a list of cases
MAX_REASON = 400
STATES = ("refused", "unparsed", "timed_out", "unreachable", "not_run")


def unanswered_section(view: RunView, locale: Locale) -> Section | None:
    """Build the list of the cases without a whole response; None where there is none."""
    without = set(view.without_response)
    cases = [case for case in view.cases if case.id in without]
    if not cases:
        return None

    def row(case_id: str) -> tuple[str, ...]:
        answer = view.answers.get(case_id)
        return case_id, locale.say(f"said_{view.answer_state(case_id)}"), answer.reason if answer else ""

    heads = [Column(heading=locale.say(key), kind="text") for key in ("case", "state", "reason")]
    listed = [row(case.id) for case in cases[:LISTED]]
    lead = Paragraph(text=locale.count("unanswered_lead", len(cases)))
    blocks = (lead, case_list(locale, heads, listed, "more_results", len(cases)))
    return Section(id="unanswered", title=locale.say("unanswered"), blocks=blocks)


def missing_section(view: RunView, locale: Locale) -> Section | None:
    """Build the list of judgments without a score, which can be filtered by outcome; None where there is none."""
    missing = [one for one in view.missing if one.judge]
    if not missing:
        return None
    criteria, states = view.spec.criteria_by_id(), [state for state in STATES if any(one.state == state for one in missing)]
    missing.sort(key=lambda one: (not one.counts_first, states.index(one.state)))
    shown = missing[:LISTED]

    def row(number: int) -> Row:
        one = shown[number]
        names = ", ".join(criterion_label(criteria[id]) for id in one.criteria)
        cells = (one.case_id, one.judge, locale.say(f"said_{one.state}"), names, one.reason[:MAX_REASON])
        return Row(cells=cells, css=f"of{states.index(one.state)}")

    heads = tuple(
        Column(heading=locale.say(key), kind="text") for key in ("case", "judge", "state", "criteria_heading", "reason")
    )
    table = Table(columns=heads, rows=tuple(map(row, range(len(shown)))), css="lines")
    counts = tuple((locale.say(f"outcome_{state}"), locale.whole(sum(one.state == state for one in missing))) for state in states)
    lead = [Paragraph(text=locale.count("missing_lead", len({one.case_id for one in missing})), look="soft")]
    if view.refused_first:
        names = ", ".join(view.spec.labels.get(name) for name in view.failures.categories)
        told = locale.count("refused_first", len(view.refused_first), categories=names)
        lead.append(Paragraph(text=f"{told} {locale.names(view.refused_first)}"))
    if view.unscored:
        lead.append(Paragraph(text=f"{locale.count('cases_unscored', len(view.unscored))} {locale.names(view.unscored)}"))
    rest = len(missing) - len(shown)
    note = (Paragraph(text=locale.count("more_results", rest), look="note"),) if rest else ()
    listed = Filter(name="missing", every=locale.say("all"), total=locale.whole(len(missing)), choices=counts, table=table)
    shown_list = Details(summary=locale.say("list"), blocks=(listed, *note))
    return Section(id="missing", title=locale.say("missing"), blocks=(*lead, shown_list), console=True)


def case_list(locale: Locale, heads: Sequence[Column], listed: Sequence[Sequence[str]], more: str, total: int) -> Details:
    """A table behind a summary, with a note of how many rows are left out."""
    table = Table(columns=tuple(heads), rows=rows(listed), css="lines")
    rest = total - len(listed)
    note = (Paragraph(text=locale.count(more, rest), look="note"),) if rest else ()
    return Details(summary=locale.say("list"), blocks=(table, *note))
