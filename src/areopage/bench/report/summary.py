"""A run in short, as Markdown for a pull request: verdict, failures, scores, what changed, costs; no texts of cases."""

from pathlib import Path

from msgspec import structs

from areopage.bench.commands import command_span, run_command
from areopage.bench.report.page import bench_report
from areopage.bench.results.run_view import RunView
from areopage.locales import Locale
from areopage.report import Facts, Line, Report, Section, Span, render, replacing

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
    known = {section.id: section for section in whole.sections}
    kept = [known[id] for id in _SECTIONS if id in known]
    cut = False
    while True:
        text = render(_with(whole, view, kept, cut=cut), "md")
        if len(text) <= MOST_CHARACTERS or not kept:
            return _cut(text, whole.locale)
        kept.pop()
        cut = True


def _with(whole: Report, view: RunView, sections: list[Section], *, cut: bool) -> Report:
    locale = whole.locale
    items: tuple[tuple[str, Line], ...] = (
        (locale.say("summary_more"), command_span(run_command(view, "bench", "report"))),
        *(((locale.say("summary_cut"), locale.say("summary_cut_text")),) if cut else ()),
    )
    facts = tuple(fact for fact in whole.facts if not (isinstance(fact[1], Span) and fact[1].style == "link"))
    last = Section(id="more", title=locale.say("summary_details"), blocks=(Facts(items=items),))
    return structs.replace(whole, facts=facts, sections=(*sections, last))


def _cut(text: str, locale: Locale) -> str:
    """A text that is too long even without sections, up to the end of a line."""
    if len(text) <= MOST_CHARACTERS:
        return text
    note = f"\n\n{locale.say('summary_cut_text')}\n"
    head = text[: MOST_CHARACTERS - len(note)]
    return head[: head.rfind("\n") + 1].rstrip("\n") + note
