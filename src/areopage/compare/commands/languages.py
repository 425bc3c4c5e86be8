"""`areopage bench run --lang en,fr` and `bench show RUN RUN`: one verdict on runs of a target in several languages."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from areopage.bench import RunSpec, part_notices, view_run
from areopage.cli import NewRun, Places, opened_ledger, run_new
from areopage.compare.commands.league import EXIT_CODES
from areopage.compare.league.table import League, LeagueEntry, entry_of
from areopage.compare.league.text import failed_text, interval_notes, standing_cell, uncounted
from areopage.errors import UserError
from areopage.ledger import Ledger
from areopage.locales import MISSING
from areopage.report import (
    Cell,
    Column,
    Notice,
    Report,
    Row,
    Section,
    Table,
    print_report,
    qualification_text,
    report_locale,
    verdict_name,
)


def show_languages(ledger: Ledger, names: Sequence[str]) -> int:
    """Print the verdict on runs of one target in several languages: the worst of theirs.

    Returns:
        The exit code of that verdict.
    """
    entries = tuple(entry_of(view_run(ledger.run(name), ledger)) for name in names)
    first = entries[0]
    for entry in entries[1:]:
        facts = zip(_facts(first.spec), _facts(entry.spec), strict=True)
        if differs := [name for (name, value), (_, other) in facts if value != other]:
            parts = ", ".join(differs)
            raise UserError(f"{first.run.id} and {entry.run.id} have no common verdict, for they differ in: {parts}")
    languages = [entry.spec.language for entry in entries]
    if len(set(languages)) < len(languages):
        raise UserError(f"one verdict needs a run for each language, and these are in {', '.join(languages)}")
    league = League(entries=entries, pairs=(), slices=(), absent=())
    print_report(languages_report(league))
    return EXIT_CODES[league.standing]


def run_languages(suite: str, options: NewRun, places: Places, **how: bool) -> int:
    """Carry out a run in each language, then print the one verdict on all of them.

    Returns:
        The exit code of that verdict; of a run that does not come to its end its own, and no further one begins.
    """
    names: list[str] = []
    for language in options.languages:
        began = datetime.now(UTC)
        code = run_new(suite, msgspec.structs.replace(options, language=language), places, **how)
        with opened_ledger(places) as ledger:
            over = [run for run in ledger.runs() if run.kind == "bench" and run.finished_at and run.finished_at >= began]
        run = next((run for run in over if RunSpec.of(run).language == language), None)
        if run is None:
            return code
        names.append(run.id)
    with opened_ledger(places) as ledger:
        return show_languages(ledger, names)


def _facts(spec: RunSpec) -> tuple[tuple[str, object], ...]:
    return (
        ("suite", (spec.suite, spec.suite_version)),
        ("target", spec.answered_by),
        ("mode", spec.mode),
        ("judges", [(judge.name, str(judge.reference), judge.passes) for judge in spec.judges]),
        ("floors", (spec.release, spec.min_coverage)),
        ("criteria", sorted(criterion.path for criterion in spec.criteria)),
        ("part", spec.part.where if spec.part else ()),
    )


def languages_report(league: League, language: str = "en") -> Report:
    """Build the report, for a terminal."""
    locale, spec = report_locale(language), league.entries[0].spec

    def row(entry: LeagueEntry) -> Row:
        cells = (
            entry.spec.language,
            standing_cell(entry, locale),
            Cell(text=failed_text(entry.failures, locale), under=tuple(uncounted(entry.failures, locale))),
            MISSING if entry.failures.high is None else locale.percent(entry.failures.high),
            Cell(text=locale.number(entry.score), under=interval_notes(entry, locale)),
            locale.percent(entry.coverage),
            locale.whole(len(entry.cases)),
            qualification_text(locale, entry.qualification),
            entry.run.id,
        )
        return Row(cells=cells, css="alarm" if entry.standing == "FAIL" else "")

    heads = (
        *(Column(heading=locale.say(key), kind="text") for key in ("language", "verdict")),
        *(Column(heading=locale.say(key)) for key in ("failed_of", "could_fail", "score", "coverage", "cases_heading")),
        *(Column(heading=locale.say(key), kind="text") for key in ("qualification", "run_id")),
    )
    table = Table(columns=heads, rows=tuple(map(row, league.entries)))
    section = Section(id="languages", title=locale.say("languages"), blocks=(table,), console=True)
    title = locale.say("pair", name=locale.say("release"), value=verdict_name(league.standing, locale))
    return Report(
        locale=locale,
        kind=locale.say("report"),
        title=spec.answered_by or locale.say("given_responses"),
        window="",
        facts=(
            (locale.say("suite"), f"{spec.suite} {spec.suite_version}"),
            (locale.say("languages"), ", ".join(entry.spec.language for entry in league.entries)),
        ),
        notices=(*part_notices(spec, locale), Notice(title=title, blocks=(), alarm=league.standing == "FAIL")),
        headline=None,
        sections=(section,),
        footer=(),
        figures={},
    )
