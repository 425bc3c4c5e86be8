"""A run's report on a terminal: that of the page, with why verdicts are missing, what to do next, and the places of the files."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import structs

from areopage.bench.commands import command_span
from areopage.bench.report.files import REJECTED, REPORT
from areopage.bench.report.page import bench_report
from areopage.bench.results.run_view import RunView
from areopage.bench.trust.page import TRUST
from areopage.bench.words import count_of
from areopage.ledger import exam_words
from areopage.locales import NAMES_SHOWN, Locale, one_line
from areopage.report import Block, Facts, Line, Listing, Report, Section, Span, line
from areopage.scoring import FailureCount

SHOWN_REASONS = 5
WORST_SHOWN = 3
REASON_LENGTH = 200
_NUMBER = re.compile(r"[\d.,]+")


def terminal_report(view: RunView, folder: Path, place: tuple[str, ...] | None = None, *, whole: bool = True) -> Report:
    """Build the report of a run for a terminal, in the run's language.

    Args:
        folder: of the run's files; those that are not there are not named.
        place: the options that name the ledger in commands; None: the folder of the run's folder.
        whole: for the whole console: no list of names is cut, and every page is named.
    """
    place = place or ("--out", str(Path(view.run.folder).parent))
    report = bench_report(view, place=place, whole=whole)
    locale = report.locale
    steps, files = _next_steps(view, place, locale), _files(view, folder, locale, whole=whole)
    last = (
        (*_section("next", steps, locale), *_section("files", files, locale))
        if whole
        else _section("next", [*files, *steps], locale)
    )
    added = (_reasons(view, locale, whole=whole), *last)
    notices = sorted(report.notices, key=lambda notice: notice.css == "cases")  # what takes scores back, before single cases
    headline = report.headline
    if headline and not whole and (fact := _by_criterion(view, locale)):
        headline = structs.replace(headline, facts=(*headline.facts, fact), brief=(*headline.brief, fact[0]))
    sections = (*report.sections, *(section for section in added if section))
    return structs.replace(report, notices=tuple(notices), headline=headline, sections=sections)


def _by_criterion(view: RunView, locale: Locale) -> tuple[str, Line] | None:
    """The criteria that cases fail, the gravest first; where none fails, those with the lowest scores."""
    counts, titles = view.failures.by_criterion, {criterion.id: criterion.title for criterion in view.spec.criteria}
    failing = sorted(
        (criterion for criterion in view.spec.criteria if counts[criterion.id].failed),
        key=lambda criterion: (criterion.gravity, -counts[criterion.id].failed),
    )
    if failing:
        return locale.say("fails_by_criterion"), locale.names(
            [f"{criterion.title} {_failed(counts[criterion.id], locale)}" for criterion in failing]
        )
    scores = {node.name: node.score for _, node in view.scores.tree.paths if node.name in titles and node.score is not None}
    worst = sorted(scores, key=lambda id: scores[id], reverse=not view.spec.scale.higher_is_better)[:WORST_SHOWN]
    names = ", ".join(f"{titles[id]} {locale.number(scores[id])}" for id in worst)
    return (locale.say("worst_by_criterion"), names) if names else None


def _failed(count: FailureCount, locale: Locale) -> str:
    return count_of(locale, count.failed, count.scored)


def _reasons(view: RunView, locale: Locale, *, whole: bool) -> Section | None:
    """The most frequent reasons for which answers and verdicts are missing, with their cases or the number of these."""
    cases: dict[tuple[str, str], dict[str, None]] = {}
    judges: dict[tuple[str, str], dict[str, None]] = {}
    reasons: dict[str, str] = {}  # reasons that differ only in what they are about count as one
    for verdict in view.missing:
        if verdict.state != "not_run":
            reason = reasons.setdefault(_without(verdict.reason, verdict.case_id, *verdict.criteria), verdict.reason)
            cases.setdefault((verdict.state, reason), {})[verdict.case_id] = None
            judges.setdefault((verdict.state, reason), {})[verdict.judge or locale.say("target")] = None
    if not cases:
        return None
    by_count = sorted(cases.items(), key=lambda pair: -len(pair[1]))

    def items() -> Iterator[Line]:
        for (state, reason), ids in by_count[:SHOWN_REASONS]:
            who = f"{locale.names([*judges[state, reason]])} – {locale.say(f'said_{state}')}"
            text = one_line(reason, REASON_LENGTH) or locale.say("reason_unknown")
            named = locale.count("cases", len(ids))
            if whole or len(ids) <= NAMES_SHOWN:
                named = locale.say("pair", name=named, value=locale.names([*ids]))
            yield f"{locale.say('pair', name=who, value=text)} ({named})"
        if len(by_count) > SHOWN_REASONS:
            yield locale.count("more_reasons", len(by_count) - SHOWN_REASONS)

    listing = Listing(items=tuple(items()), more=max(0, len(by_count) - SHOWN_REASONS))
    return Section(id="reasons", title=locale.say("reasons"), blocks=(listing,), console=True, brief=True)


def _without(reason: str, *names: str) -> str:
    for name in names:
        reason = reason.replace(name, "")
    return _NUMBER.sub("", reason)


def _section(id: str, blocks: Sequence[Block], locale: Locale) -> tuple[Section, ...]:
    """A section of the console with some blocks; none without any."""
    title = locale.say("files" if id == "files" else "next_steps")
    return (Section(id=id, title=title, blocks=tuple(blocks), console=True, brief=True),) if blocks else ()


def _next_steps(view: RunView, place: tuple[str, ...], locale: Locale) -> list[Block]:
    """The commands that tell more of how far the scores can be trusted."""
    models = {judge.name: judge.reference for judge in view.spec.judges}
    unexamined = [
        (standing.judge, standing.model)
        for standing in view.standings
        if standing.state == "never_examined" and models[standing.judge].provider != "replay"
    ]
    steps: list[Line] = []
    if view.spec.release is None and (words := exam_words(view.spec.suite, unexamined, joint=view.spec.joint)):
        steps.append(line(locale.say("next_examine"), command_span((*words, *place))))
    if view.worth.judges > 1 and not view.worth.labelled.enough:
        steps.append(line(locale.say("next_label"), command_span(("areopage", "bench", "review", view.run.id, *place))))
    return [Listing(items=tuple(steps))] if steps else []


def _files(view: RunView, folder: Path, locale: Locale, *, whole: bool) -> list[Block]:
    places = {"report": folder / REPORT}
    if whole:
        places["trust_title"] = folder / TRUST
    if view.rejected:
        places["rejected"] = folder / REJECTED
    items = tuple((locale.say(key), Span(str(path), "code")) for key, path in places.items() if path.is_file())
    runs: list[tuple[str, Line]] = [(locale.say("run_id"), Span(view.run.id, "code"))] if whole or not items else []
    if view.spec.reassessed is not None:
        runs.append((locale.say("reassessed"), Span(view.spec.reassessed.run, "code")))
    return [Facts(items=(*runs, *items))]
