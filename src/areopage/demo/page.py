"""The page that leads through the demonstration."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from areopage.bench import TRUST, RunView, floor_lines
from areopage.demo.detect import LocalServer
from areopage.demo.material import SUITE
from areopage.demo.tour import Tour, TourComparison
from areopage.locales import Locale, locale_for
from areopage.report import (
    MESSAGE_FILES,
    Block,
    Cell,
    Column,
    Excerpt,
    Heading,
    Line,
    Listing,
    Notice,
    Paragraph,
    Report,
    Section,
    Span,
    Table,
    excerpt,
    explain,
    line,
    rows,
    verdict_name,
)
from areopage.suites import CONFIG_FILE
from areopage.version import __version__

WORDS = Path(__file__).with_name("words.yml")
_FINDINGS = 3


def tour_locale(language: str) -> Locale:
    """The messages of the demonstration and of all reports."""
    return locale_for(language, *MESSAGE_FILES, WORDS)


def tour_page(tour: Tour, servers: Sequence[LocalServer] | None) -> Report:
    """Build the page.

    Args:
        servers: the model servers on this computer; None: it was not searched.
    """
    locale = tour_locale(tour.language)
    made = Notice(
        title=locale.say("tour_made_title"),
        blocks=(
            Paragraph(text=locale.say("tour_made", time=locale.span(tour.seconds))),
            Paragraph(text=locale.say("tour_made_files")),
        ),
    )
    title = locale.say("tour_title")
    return Report(
        locale=locale,
        kind=locale.say("tour_kind"),
        title=title,
        window=f"{title} · areopage",
        facts=(),
        notices=(made,),
        headline=None,
        sections=(
            Section(id="before", title=locale.say("tour_before"), blocks=tuple(_before(tour, locale))),
            *_middle(tour, locale),
            Section(id="day", title=locale.say("tour_day"), blocks=tuple(_day(tour, locale))),
            Section(id="next", title=locale.say("tour_next"), blocks=tuple(_next(servers, locale))),
        ),
        footer=(f"areopage {__version__}", locale.say("tour_kind")),
        figures={},
    )


def console_lines(tour: Tour) -> Iterator[str]:
    """The same in a few lines: verdicts, the regression, the held answer, the day."""
    locale = tour_locale(tour.language)
    for view, name in zip(tour.runs, tour.places.material.targets, strict=True):
        yield locale.say(
            "tour_line", name=name, verdict=_verdict(view, locale), failed=_failed(view, locale), score=_score(view, locale)
        )
    if tour.comparison is not None:
        yield _worse_lead(tour, tour.comparison, locale)
    for answer in tour.held_answers[:1]:
        yield locale.say("pair", name=locale.say("tour_reason"), value=explain(answer.decision, tour.language)[0])
    yield _day_text(tour, locale)


def _before(tour: Tour, locale: Locale) -> Iterator[Block]:
    counts = {"cases": len(tour.places.material.cases), "safety": tour.runs[0].failures.first.scored}
    yield Paragraph(text=locale.say("tour_before_lead", **{key: locale.whole(n) for key, n in counts.items()}), look="lead")
    if tour.examined:
        yield Paragraph(text=locale.say("tour_exams"))
    heads = [locale.say(key) for key in ("tour_version", "tour_release", "tour_failed", "tour_score")]
    table: list[Sequence[Cell | str]] = []
    for view, name, report in zip(tour.runs, tour.places.material.targets, tour.reports, strict=True):
        links = line(
            _link(tour, report, locale.say("tour_report")), _link(tour, report.with_name(TRUST), locale.say("tour_trust"))
        )
        release = view.release
        css = "alarm" if release is not None and release.verdict == "FAIL" else ""
        cells = (_verdict(view, locale), _failed(view, locale), _score(view, locale))
        table.append((name, Cell(text=cells[0], css=css), *cells[1:], Cell(text=links)))
    columns = tuple(Column(heading=heading, kind="text") for heading in (*heads, ""))
    yield Table(columns=columns, rows=rows(table))
    for view, name in zip(tour.runs, tour.places.material.targets, strict=True):
        release = view.release
        if release is None or release.is_pass:
            continue
        failed = release.verdict == "FAIL"
        decisive = sum(floor.state == ("not_met" if failed else "open") for floor in release.floors)
        lines = tuple(floor_lines(view, release, locale))[:decisive]
        yield Listing(title=locale.say(f"tour_why_{release.verdict}", version=name), items=lines)
        if failed:
            yield from _failure(tour, name, min(id for floor in release.floors for id in floor.cases), locale)


def _failure(tour: Tour, target: str, case_id: str, locale: Locale) -> Iterator[Block]:
    material = tour.places.material
    case = next(case for case in material.cases if case.id == case_id)
    yield _text(locale, locale.say("tour_prompt"), case.prompt)
    yield _text(locale, locale.say("tour_failing", version=target), case.answers[target])
    said = [verdict.partition(" ") for verdict in case.verdicts[target]]
    by_judge = zip(material.judges, said, strict=True)
    yield Listing(
        items=tuple(locale.say("tour_said", judge=judge, score=score, reason=reason) for judge, (score, _, reason) in by_judge)
    )


def _middle(tour: Tour, locale: Locale) -> Iterator[Section]:
    if (comparison := tour.comparison) is not None:
        blocks = (
            Paragraph(text=_worse_lead(tour, comparison, locale), look="lead"),
            Listing(items=comparison.findings[:_FINDINGS]),
            Paragraph(text=_link(tour, comparison.page, locale.say("tour_comparison"))),
        )
        yield Section(id="worse", title=locale.say("tour_worse"), blocks=blocks)
    if not tour.held_answers:
        return
    answer = tour.held_answers[0]
    counts = {"held": locale.whole(len(tour.held_answers)), "checked": locale.whole(tour.checked)}
    named = {reason.document for reason in answer.decision.reasons if reason.decisive and reason.document}
    documents = [document for document in answer.case.documents if not named or document.id in named]
    excerpts: tuple[Block, ...] = (
        Paragraph(text=locale.say("tour_held_lead", **counts), look="lead"),
        _text(locale, locale.say("tour_prompt"), answer.case.prompt_text),
        _text(locale, locale.say("tour_response"), answer.case.response or ""),
        *(_text(locale, locale.say("tour_document", title=document.title), document.text) for document in documents),
        Listing(title=locale.say("tour_reason"), items=tuple(explain(answer.decision, tour.language))),
    )
    yield Section(id="held", title=locale.say("tour_held"), blocks=excerpts)


def _worse_lead(tour: Tour, comparison: TourComparison, locale: Locale) -> str:
    first, other = tour.places.material.targets
    return locale.say("tour_worse_lead", first=first, other=other, outcome=locale.say(f"outcome_{comparison.outcome}"))


def _day(tour: Tour, locale: Locale) -> Iterator[Block]:
    yield Paragraph(text=_day_text(tour, locale), look="lead")
    yield Paragraph(text=_link(tour, tour.day_page, locale.say("tour_quality")))
    install, serve = _code("pip", "install", '"areopage[server]"'), _code("areopage", "serve", "--config", CONFIG_FILE)
    yield Listing(title=locale.say("tour_live"), items=(install, serve), css="steps")


def _day_text(tour: Tour, locale: Locale) -> str:
    mean, weak = tour.day.figures.overall.mean, tour.day.figures.overall.grades[-1]
    ends = {"mean": locale.number(mean.mean), "low": locale.number(mean.low), "high": locale.number(mean.high)}
    return locale.say("tour_day_lead", answers=locale.whole(mean.answers), weak=locale.whole(weak), **ends)


def _next(servers: Sequence[LocalServer] | None, locale: Locale) -> Iterator[Block]:
    yield Paragraph(text=locale.say("tour_next_lead"), look="lead")
    for server in servers or ():
        yield Heading(text=locale.say("pair", name=locale.say("tour_found"), value=f"{server.name}, {server.address}"))
        yield _steps(server.reference, server.variables, locale)
    if servers is not None and not servers:
        yield Paragraph(text=locale.say("tour_nothing_found"))
    if not servers:
        yield _steps("ollama:gemma3:4b", (), locale)


def own_command(server: LocalServer | None) -> str:
    """The command that a user runs next."""
    variables = "".join(f"{name}={value} " for name, value in server.variables) if server else ""
    reference = server.reference if server else "ollama:gemma3:4b"
    return f"{variables}areopage suites try {SUITE} --target {reference} --judge {reference}"


def _steps(reference: str, variables: Sequence[tuple[str, str]], locale: Locale) -> Listing:
    assignments = tuple(f"{name}={value}" for name, value in variables)
    judges = [word for name in ("qwen3:8b", "phi4:14b", "gemma3:27b") for word in ("--judge", f"ollama:{name}")]
    tried = _code(*assignments, "areopage", "suites", "try", SUITE, "--target", reference, "--judge", reference)
    whole = _code(*assignments, "areopage", "bench", "run", "--suite", SUITE, "--target", reference, *judges)
    items: tuple[Line, ...] = (
        (f"{locale.say('tour_try')} ", tried),
        (f"{locale.say('tour_bench')} ", whole),
        (f"{locale.say('tour_own')} ", _code("areopage", "init")),
    )
    return Listing(items=items, css="steps")


def _verdict(view: RunView, locale: Locale) -> str:
    release = view.release
    return verdict_name(release.verdict if release is not None else None, locale)


def _failed(view: RunView, locale: Locale) -> str:
    first = view.failures.first
    return locale.say("tour_of", failed=locale.whole(first.failed), scored=locale.whole(first.scored))


def _score(view: RunView, locale: Locale) -> str:
    score, interval = locale.number(view.scores.tree.score), view.scores.interval
    return score if interval is None else f"{score} ({locale.interval(interval.low, interval.high)})"


def _text(locale: Locale, title: str, text: str) -> Excerpt:
    return excerpt(locale, title, text, "")


def _link(tour: Tour, page: Path, text: str) -> Span:
    return Span(text, "link", page.relative_to(tour.places.folder).as_posix())


def _code(*words: str) -> Span:
    return Span(" ".join(words), "code")
