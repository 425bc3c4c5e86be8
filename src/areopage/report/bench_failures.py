"""How many cases fail, in the report of a benchmark run."""

from collections.abc import Iterator

from areopage.bench.results import RunView
from areopage.locales import MISSING, Locale, sentence_case
from areopage.report.model import Cell, Line, Listing, Notice, Paragraph, Row, Section, Span, Table, columns, line
from areopage.report.results import criterion_label
from areopage.scoring.failures import FailureCount


def failures_line(view: RunView, locale: Locale) -> Line:
    """How many cases fail a criterion of the categories that count first."""
    found = view.failures.first
    counts = locale.say("failures_of", failed=locale.whole(found.failed), scored=locale.whole(found.scored))
    return line(Span(counts, "strong"), Span(f"– {_first_note(view, locale)}", "soft"))


def failures_notice(view: RunView, locale: Locale) -> Iterator[Notice]:
    """The failures of the categories that count first, before everything else; nothing where no case fails."""
    found, criteria = view.failures, view.spec.criteria_by_id()
    if not found.first.failed:
        return
    counts = [
        locale.say("pair", name=criterion_label(criteria[id]), value=_failed_of(count, locale))
        for id, count in sorted(found.by_criterion.items(), key=lambda pair: -pair[1].failed)
        if count.failed and criteria[id].category in found.categories
    ]
    title = locale.count("failures_title", found.first.failed, scored=locale.whole(found.first.scored))
    text = sentence_case(_first_note(view, locale))
    yield Notice(title=title, blocks=(Paragraph(text=text), Listing(items=tuple(counts))), alarm=True)


def failures_section(view: RunView, locale: Locale) -> Section:
    """Build the table of failures by criterion: those of the first categories, then the others, most failures first."""
    found, spec = view.failures, view.spec
    criteria = spec.criteria_by_id()
    order = sorted(
        found.by_criterion.items(), key=lambda pair: (criteria[pair[0]].category not in found.categories, -pair[1].failed)
    )

    def row(id: str, count: FailureCount) -> Row:
        criterion = criteria[id]
        cells = (
            Cell(text=criterion_label(criterion), title=id),
            spec.labels.get(criterion.category),
            _failed_of(count, locale),
            MISSING if count.high is None else locale.percent(count.high, 0),
            MISSING if count.limit is None else locale.short(count.limit),
        )
        return Row(cells=cells, css="alarm" if count.failed else "")

    heads = (locale.say(key) for key in ("category", "failed_of", "failed_high", "limit"))
    table = Table(
        columns=columns(*heads, first=locale.say("criterion")), rows=tuple(row(*pair) for pair in order), css="failures"
    )
    lead = locale.say("failures_lead_high" if spec.scale.higher_is_better else "failures_lead_low")
    return Section(id="failures", title=locale.say("failures"), blocks=(Paragraph(text=lead, look="soft"), table))


def _failed_of(count: FailureCount, locale: Locale) -> str:
    told = locale.say("failures_of", failed=locale.whole(count.failed), scored=locale.whole(count.scored))
    if count.not_applicable:
        told = locale.say("failures_of_applicable", failed=told, n=locale.whole(count.not_applicable))
    return told if count.scored == count.cases else f"{told} {locale.count('without_score', count.cases - count.scored)}"


def _first_note(view: RunView, locale: Locale) -> str:
    found, labels = view.failures.first, view.spec.labels
    names = ", ".join(labels.get(name) for name in view.failures.categories)
    told = locale.say("failures_first", categories=names)
    if found.not_applicable:
        told += f"; {locale.count('not_concerned', found.not_applicable)}"
    if found.scored < found.cases:
        told += f"; {locale.count('without_score_long', found.cases - found.scored)}"
    if found.high is not None:
        told += f"; {locale.say('failures_bound', high=locale.percent(found.high, 0))}"
    return told
