"""A run's report on a terminal: that of the page, with why verdicts are missing, what to do next, and the places of the files."""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from areopage.bench.commands import command_span
from areopage.bench.report.files import REJECTED, REPORT
from areopage.bench.report.page import bench_report
from areopage.bench.results.run_view import RunView
from areopage.bench.trust.page import TRUST
from areopage.ledger import exam_words
from areopage.locales import Locale, one_line
from areopage.report import Facts, Line, Listing, Report, Section, Span, line

SHOWN_REASONS = 5
REASON_LENGTH = 200
_NUMBER = re.compile(r"[\d.,]+")


def terminal_report(view: RunView, folder: Path, place: tuple[str, ...] | None = None) -> Report:
    """Build the report of a run for a terminal, in the run's language.

    Args:
        folder: of the run's files; those that are not there are not named.
        place: the options that name the ledger in commands; None: the folder of the run's folder.
    """
    place = place or ("--out", str(Path(view.run.folder).parent))
    report = bench_report(view, place=place)
    locale = report.locale
    added = (_reasons(view, locale), _next_steps(view, place, locale), _files(view, folder, locale))
    notices = sorted(report.notices, key=lambda notice: notice.css == "cases")  # what takes scores back, before single cases
    return structs.replace(
        report, notices=tuple(notices), sections=(*report.sections, *(section for section in added if section))
    )


def _reasons(view: RunView, locale: Locale) -> Section | None:
    """The most frequent reasons for which answers and verdicts are missing, with their cases."""
    cases: dict[tuple[str, str, str], dict[str, None]] = {}
    reasons: dict[str, str] = {}  # reasons that differ only in what they are about count as one
    for verdict in view.missing:
        if verdict.state != "not_run":
            reason = reasons.setdefault(_without(verdict.reason, verdict.case_id, *verdict.criteria), verdict.reason)
            cases.setdefault((verdict.judge, verdict.state, reason), {})[verdict.case_id] = None
    if not cases:
        return None
    by_count = sorted(cases.items(), key=lambda pair: -len(pair[1]))

    def items() -> Iterator[Line]:
        for (judge, state, reason), ids in by_count[:SHOWN_REASONS]:
            who = f"{judge or locale.say('target')} – {locale.say(f'said_{state}')}"
            text = one_line(reason, REASON_LENGTH) or locale.say("reason_unknown")
            named = locale.say("pair", name=locale.count("cases", len(ids)), value=locale.names([*ids]))
            yield f"{locale.say('pair', name=who, value=text)} ({named})"
        if len(by_count) > SHOWN_REASONS:
            yield locale.count("more_reasons", len(by_count) - SHOWN_REASONS)

    return Section(id="reasons", title=locale.say("reasons"), blocks=(Listing(items=tuple(items())),), console=True)


def _without(reason: str, *names: str) -> str:
    for name in names:
        reason = reason.replace(name, "")
    return _NUMBER.sub("", reason)


def _next_steps(view: RunView, place: tuple[str, ...], locale: Locale) -> Section | None:
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
    if not steps:
        return None
    return Section(id="next", title=locale.say("next_steps"), blocks=(Listing(items=tuple(steps)),), console=True)


def _files(view: RunView, folder: Path, locale: Locale) -> Section:
    places = {"report": folder / REPORT, "trust_title": folder / TRUST}
    if view.rejected:
        places["rejected"] = folder / REJECTED
    items = tuple((locale.say(key), Span(str(path), "code")) for key, path in places.items() if path.is_file())
    runs: list[tuple[str, Line]] = [(locale.say("run_id"), Span(view.run.id, "code"))]
    if view.spec.reassessed is not None:
        runs.append((locale.say("reassessed"), Span(view.spec.reassessed.run, "code")))
    return Section(id="files", title=locale.say("files"), blocks=(Facts(items=(*runs, *items)),), console=True)
