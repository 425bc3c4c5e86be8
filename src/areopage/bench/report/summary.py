"""A run in short, as Markdown for a pull request: verdict, failures, scores, what changed, costs; no texts of cases."""

from pathlib import Path

from msgspec import structs

from areopage.bench.commands import command_span, run_command
from areopage.bench.report.page import bench_report
from areopage.bench.results.run_view import RunView
from areopage.report import Facts, Line, Section, Span, render, replacing

MOST_CHARACTERS = 65_000
"""GitHub accepts comments of under 65,536 characters."""

_SECTIONS = ("failures", "changes", "scores", "costs")
"""What is shown, the most important first: where it is too long, the last one is left out first."""


def write_summary(view: RunView, path: Path, language: str = "") -> None:
    """Write the file.

    Args:
        language: of the texts; the run's where it is "".

    Raises:
        StorageError: the file cannot be written.
    """
    with replacing(path) as place:
        place.write_text(run_summary(view, language), encoding="utf-8")


def run_summary(view: RunView, language: str = "") -> str:
    """The summary, of at most `MOST_CHARACTERS` characters; it says what is left out."""
    whole = bench_report(view, language)
    locale, known = whole.locale, {section.id: section for section in whole.sections}
    facts = tuple(fact for fact in whole.facts if not (isinstance(fact[1], Span) and fact[1].style == "link"))
    more: tuple[str, Line] = (locale.say("summary_more"), command_span(run_command(view, "bench", "report")))
    items: tuple[tuple[str, Line], ...] = (more,)
    kept = [known[id] for id in _SECTIONS if id in known]
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
