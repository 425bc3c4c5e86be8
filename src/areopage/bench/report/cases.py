"""The page of the cases to read, beside the report of a benchmark run: all that fail, are disputed or lack a score.

It is written case by case, and can be filtered without a script.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from areopage.bench.figures.case_entry import CASE_TITLE, case_entry, entry_facts, thoughts_excerpt
from areopage.bench.figures.case_index import CASE_KINDS, CaseIndex
from areopage.bench.figures.worst import RANKED
from areopage.bench.results.run_view import RunView
from areopage.bench.trust.page import TRUST
from areopage.cases import Case
from areopage.locales import Locale, one_line
from areopage.report import (
    Block,
    Choice,
    Choices,
    Entry,
    Facts,
    Paragraph,
    Report,
    Section,
    Span,
    audience,
    excerpt,
    head_facts,
    report_locale,
)
from areopage.version import __version__


def cases_page(view: RunView, report_name: str) -> Report:
    """Build the page; its entries are made while it is written."""
    locale, index = report_locale(view.spec.language), view.case_index
    title = view.spec.target.reference.title if view.spec.target else locale.say("given_responses")
    counts = {"listed": locale.whole(len(index.listed)), "all": locale.whole(len(view.cases))}
    return Report(
        locale=locale,
        kind=locale.say("report"),
        title=title,
        window=f"{locale.say('cases_page')} · {view.spec.suite} · {title}",
        facts=(
            (locale.say("run_id"), view.run.id),
            (locale.say("back_to_report"), Span(report_name, "link", report_name)),
            (locale.say("trust_fact"), Span(locale.say("trust_title"), "link", TRUST)),
        ),
        sections=(Section(id="cases", title=locale.say("cases_page"), blocks=_blocks(index, counts, locale)),),
        footer=(f"areopage {__version__}", view.run.id),
    )


def _blocks(index: CaseIndex, counts: dict[str, str], locale: Locale) -> Iterator[Block]:
    if index.listed:
        yield Paragraph(text=locale.say("cases_lead", **counts), look="soft")
        yield _choices(index, locale)
        view = index.view
        cases = {case.id: case for case in view.cases}
        ranked = [case_id for case_id in RANKED.of(view) if case_id in index.failed]
        listed = list(dict.fromkeys([*ranked, *index.listed]))
        view.judgments.expect(listed)
        for case_id in listed:
            case, record = cases[case_id], view.scores.records.find(case_id)
            if case.response is None or record is None:
                yield _unanswered(index, case, locale)
            else:
                yield case_entry(index, case, record, locale)
    else:
        yield Paragraph(text=locale.say("cases_none"))
    yield Facts(items=head_facts(index.view.heads, locale), small=True)


def _unanswered(index: CaseIndex, case: Case, locale: Locale) -> Entry:
    answer, missing = index.view.answers.get(case.id), locale.say("empty_text")
    text = answer.case.response or "" if answer else ""
    reason = (Paragraph(text=one_line(answer.reason, 400), look="small"),) if answer and answer.reason else ()
    return Entry(
        score="",
        title=case.prompt_text[:CASE_TITLE],
        facts=entry_facts(index.view, case, locale, locale.say(f"said_{index.view.answer_state(case.id)}")),
        blocks=(
            excerpt(locale, locale.say("prompt"), case.prompt_text, missing, "cut"),
            *thoughts_excerpt(index.view, case, locale),
            *((excerpt(locale, locale.say("response"), text, missing, "cut"),) if text else ()),
            *reason,
        ),
        anchor=index.anchor(case.id),
        css=" ".join(index.classes(case)),
    )


def _choices(index: CaseIndex, locale: Locale) -> Choices:
    view, counts = index.view, Counter[str]()
    for case in view.cases:
        if case.id in index.listed:
            counts.update(index.classes(case))
    criteria, labels = view.spec.criteria, view.spec.labels
    groups = {
        "why_listed": {f"w{number}": locale.say(f"kind_{kind}") for number, kind in enumerate(CASE_KINDS)},
        "failed_criterion": {index.criterion_class(criterion.id): criterion.title for criterion in criteria},
        "audience": {index.age_class(age): audience(locale, age) for age in index.ages},
        "own_category": {index.group_class(name): labels.get(name) or locale.say("maturity_none") for name in index.groups},
    }
    offered = []
    for name, classes in groups.items():
        shown = [(css, label) for css, label in classes.items() if counts[css]]
        if len(shown) > 1:
            choices = (
                Choice(label=locale.say("choice", name=label, n=locale.whole(counts[css])), css=css) for css, label in shown
            )
            offered.append((locale.say(name), (Choice(label=locale.say("all")), *choices)))
    names = {css: label for classes in groups.values() for css, label in classes.items()}
    names |= {index.category_class(criterion.category): labels.get(criterion.category) for criterion in criteria}
    links = (
        ("-".join(classes), locale.say("only_these", names=", ".join(names[css] for css in classes)))
        for classes in _linked_classes(index)
    )
    return Choices(groups=tuple(offered), links=tuple(links), every=locale.say("show_all"))


def _linked_classes(index: CaseIndex) -> Iterable[tuple[str, ...]]:
    """The classes that the cells of the report's tables lead to."""
    view, criteria = index.view, index.view.spec.criteria_by_id()
    linked: dict[tuple[str, ...], None] = dict.fromkeys((f"w{number}",) for number in range(len(CASE_KINDS)))
    for case in view.cases:
        for id in index.failed.get(case.id, ()):
            for failed in (index.criterion_class(id), index.category_class(criteria[id].category)):
                linked[(failed,)] = None
                if index.ages:
                    linked[failed, index.age_class(case.maturity)] = None
                if index.groups:
                    linked[failed, index.group_class(case.category)] = None
    return linked
