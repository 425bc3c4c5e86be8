"""The report of a benchmark run: its figures, each where it belongs."""

from pathlib import Path

from msgspec import structs

from areopage.bench.commands import command_span, run_command
from areopage.bench.figures.case_index import CASES
from areopage.bench.figures.figure import Page
from areopage.bench.figures.registry import all_figures
from areopage.bench.report.run_results import run_result
from areopage.bench.results.run_view import RunView
from areopage.bench.trust.page import TRUST
from areopage.bench.words import part_facts, reused_text
from areopage.report import Badge, Facts, Headline, Line, Report, Section, Span, render, replacing, report_locale, ruler
from areopage.version import __version__

ON_PAPER = ("failures", "scores", "changes", "modes", "disputes", "sign")
"""The sections of the summary that is printed, on two pages; all others are left out on paper."""


def bench_report(view: RunView, language: str = "", *, place: tuple[str, ...] | None = None, whole: bool = False) -> Report:
    """Build a run's report, in the run's language where none is named; `place` and `whole` are those of `Page`."""
    view = view.in_language(language)
    locale, spec, run = report_locale(language or view.spec.language), view.spec, view.run
    figures, page = all_figures(), Page(locale=locale, index=view.case_index, place=place, whole=whole)
    target = spec.answered_by or locale.say("given_responses")
    mode = locale.say(f"mode_{spec.mode}")
    sizes = (("cases", len(view.cases)), ("criteria", len(spec.criteria)), ("judges_count", len(spec.judges)))
    language = f"language_{spec.language}"
    facts: list[tuple[str, Line]] = [
        (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
        *([(locale.say("mode"), mode)] if spec.target else []),
        (locale.say("language"), locale.say(language) if language in locale.messages else spec.language),
        (locale.say("size"), ", ".join(locale.count(key, n) for key, n in sizes)),
        (locale.say("date"), locale.date(run.created_at)),
        *part_facts(spec, locale),
        *([(locale.say("reused_fact"), reused_text(view.reused, len(view.items), locale))] if view.reused else []),
        (locale.say("cases_fact"), Span(locale.say("cases_page"), "link", CASES)),
        (locale.say("trust_fact"), Span(locale.say("trust_title"), "link", TRUST)),
    ]
    tree, scale, interval, unfit = view.scores.tree, spec.scale, view.scores.interval, bool(view.unfit)
    sections = (figure.section(view, page) for figure in figures if figure.section)
    stated = [(figure.brief, fact) for figure in figures if figure.facts for fact in figure.facts(view, page)]
    return Report(
        locale=locale,
        kind=locale.say("report"),
        title=spec.title or target,
        window=f"{spec.suite} · {spec.title or target} · {mode} · {locale.date(run.created_at)}",
        facts=tuple(facts),
        notices=tuple(notice for figure in figures if figure.notices for notice in figure.notices(view, page)),
        headline=Headline(
            label=locale.say("final_score"),
            value=locale.number(tree.score),
            unit=locale.say("out_of", max=locale.short(scale.max)),
            missing=locale.say("no_score") if tree.score is None else "",
            why=locale.say("none_applies" if view.coverage.none_applies else "unscored_text"),
            badge=Badge(text=locale.say("not_valid_short"), alarm=True) if unfit else None,
            invalid=unfit,
            ruler=ruler(locale, scale, tree.score, None if interval is None else (interval.low, interval.high)),
            facts=tuple(fact for _, fact in stated),
            brief=tuple(name for is_brief, (name, _) in stated if is_brief),
        ),
        sections=tuple(
            section if section.id in ON_PAPER else structs.replace(section, place="screen") for section in sections if section
        ),
        footer=(f"areopage {__version__}", run.id),
        figures={"release": view.release, "people": view.reviewed, "run": run_result(view)},
    )


MOST_CHARACTERS = 65_000
"""GitHub accepts comments of under 65,536 characters."""

_SECTIONS = ("failures", "changes", "scores", "costs")
"""What is shown, the most important first: where it is too long, the last one is left out first."""


def write_summary(view: RunView, path: Path, language: str = "") -> None:
    """Write a run's summary to a file."""
    with replacing(path) as place:
        place.write_text(run_summary(view, language), encoding="utf-8")


def run_summary(view: RunView, language: str = "") -> str:
    """The summary, of at most `MOST_CHARACTERS` characters; it says what is left out."""
    whole = bench_report(view, language)
    locale, sections = whole.locale, {section.id: section for section in whole.sections}
    facts = tuple(fact for fact in whole.facts if not (isinstance(fact[1], Span) and fact[1].style == "link"))
    more: tuple[str, Line] = (locale.say("summary_more"), command_span(run_command(view, "bench", "report")))
    items: tuple[tuple[str, Line], ...] = (more,)
    kept = [sections[id] for id in _SECTIONS if id in sections]
    while True:
        last = Section(id="more", title=locale.say("summary_details"), blocks=(Facts(items=items),))
        text = render(structs.replace(whole, facts=facts, sections=(*kept, last)), "md")
        if len(text) <= MOST_CHARACTERS:
            return text
        if not kept:
            break
        kept.pop()
        items = (more, (locale.say("summary_cut"), locale.say("summary_cut_text")))
    note = f"\n\n{locale.say('summary_cut_text')}\n"
    head = text[: MOST_CHARACTERS - len(note)]
    return head[: head.rfind("\n") + 1].rstrip("\n") + note
