"""One verdict on runs of a target in several languages: the worst of theirs."""

from areopage.bench import part_notices
from areopage.compare.league.table import Entry, League
from areopage.compare.league.text import failed_text, interval_notes, standing_cell, uncounted
from areopage.locales import MISSING
from areopage.report import Cell, Column, Notice, Report, Row, Section, Table, qualification_text, report_locale, verdict_name


def languages_report(league: League, language: str = "en") -> Report:
    """Build the report, for a terminal."""
    locale, spec = report_locale(language), league.entries[0].spec

    def row(entry: Entry) -> Row:
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
