"""Commands `areopage monitor report`, `export` and `erase`."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, get_args

import typer

from areopage.app import find_config, open_ledger
from areopage.checking import trace_export
from areopage.cli.options import STDOUT, CalibrationOption, ConfigOption, actor, harmless, last_day, one_of, tell, tell_cut
from areopage.errors import StorageError, UserError, counted
from areopage.ledger import Filters, Grade, Period, last_days
from areopage.locales import LANGUAGES
from areopage.monitor import criterion_labels, erase_older
from areopage.report import (
    FORMS,
    FORMS_BY_SUFFIX,
    TableForm,
    export_answers,
    form_of_file,
    period_figures,
    quality_report,
    quality_report_name,
    render,
    write_report,
)
from areopage.text import Policy

ELSEWHERE = "trace files of other folders and computers, logs that were imported, exports, data sets and backups"


def report(
    config: ConfigOption = None,
    days: Annotated[
        int, typer.Option("--days", min=1, max=3660, metavar="N", help="Number of days, including the last day.")
    ] = 7,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="Last day (UTC). Default: today.")] = None,
    lang: Annotated[str, typer.Option("--lang", metavar="fr|en", help="Language. Default: the configuration's.")] = "",
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="html|md|json", help="Format. Default: from the extension of --out, else md."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Output file; - is the screen. Default: the screen for md and json, quality-report-DATE.html for html.",
        ),
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Use only answers of this source.")] = None,
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="Use only answers of this variant.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="NAME", help="Compare variants with it. Default: the most frequent one."),
    ] = None,
    calibration: CalibrationOption = "",
) -> None:
    """Write a quality report on the answers of a period.

    The report shows means with 95% intervals, grades, trend, change, the weakest answers, the health of the judges and the cost.
    """
    now = datetime.now(UTC)
    last = last_day(until, now)
    chosen = one_of("--format", form, FORMS) or form_of_file(out or "")
    language = one_of("--lang", lang or None, LANGUAGES) or ""
    settings = find_config(config)
    with open_ledger(settings, or_empty=tell) as ledger:
        figures = period_figures(
            ledger,
            settings.monitor,
            last_days(days, last),
            now=now,
            language=language,
            source=source,
            variant=variant,
            baseline=baseline,
            calibration=calibration,
        )
        place = out or (quality_report_name(last, chosen) if chosen == "html" else STDOUT)
        if figures.quotes:
            ledger.audit.note(actor(), "export", place, f"report, text {figures.text}")
    made = quality_report(figures)
    if place == STDOUT:
        typer.echo(render(made, chosen), nl=False)
        return
    write_report(made, chosen, Path(place))
    tell(f"written to {place}")


def export(
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="Output file; - is the standard output (csv and jsonl).")],
    config: ConfigOption = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="csv|jsonl|parquet|xlsx", help="Format. Default: from the extension of --out."),
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=3660, metavar="N", help="Export only the last N days. Default: all.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Last day of --days (UTC). Default: today.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Use only this source. Golden questions are excluded unless named."),
    ] = None,
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="Export only this variant.")] = None,
    grade: Annotated[
        str | None, typer.Option("--grade", metavar="GRADE", help="Export only excellent, acceptable, weak or unscored answers.")
    ] = None,
    find: Annotated[str, typer.Option("--find", metavar="TEXT", help="Export only answers with these words.")] = "",
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="POLICY",
            help="Texts: full, truncated, redacted or none. Default: storage.export_text.",
        ),
    ] = None,
    semicolons: Annotated[
        bool, typer.Option("--semicolons", help="Separate the cells of a CSV by semicolons, for spreadsheets in French.")
    ] = False,
) -> None:
    """Export answers with their scores to a file; personal data is redacted by default."""
    chosen, filters = _export_form_of(form, out, semicolons=semicolons), _filters_of(days, until, source, variant, grade, find)
    settings = find_config(config)
    policy, longest = (one_of("--text", text, get_args(Policy)) or settings.storage.export_text, settings.storage.max_chars)
    criteria = list(criterion_labels(settings.monitor.load_suite(), "en"))
    with open_ledger(settings, or_empty=tell) as ledger:
        # before the first row: nothing leaves without an entry
        ledger.audit.note(actor(), "export", out, f"{chosen}, text {policy}, {_described(filters)}")
        scores, answers = ledger.lists.stream(filters), ledger.answers.by_id
        place = harmless(sys.stdout) if out == STDOUT else Path(out)
        written = export_answers(scores, chosen, place, criteria, policy, longest, answers)
    if out == STDOUT:
        return
    tell_cut(written.cut)
    tell(f"{counted(written.rows, 'answer')} written to {out}")


def erase(
    config: ConfigOption = None,
    ids: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="ID of an answer (repeatable).")] = None,
    older_than: Annotated[
        int | None,
        typer.Option("--older-than", min=0, metavar="DAYS", help="Erase all answers received at least this many days ago."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Erase the texts of answers and the comments of judges and reviewers permanently. Scores remain.

    The command also erases them from trace files of the pipeline. Exit code 1: a trace file cannot be rewritten.
    """
    if bool(ids) == (older_than is not None):
        raise UserError("say what to erase: --id ID (several times for several answers), or --older-than DAYS")
    what = f"{counted(len(set(ids)), 'answer')}" if ids else f"all answers that are older than {older_than} days"
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        if not yes and sys.stdin.isatty():
            typer.confirm(f"Erase {what} from {ledger.place}? They cannot be had again.", abort=True)
        moment = datetime.now(UTC) - timedelta(days=older_than) if older_than is not None else None
        missing = 0
        if moment is not None:
            erased = erase_older(ledger, moment, actor())
        else:
            named = list(dict.fromkeys(ids or ()))
            missing = len(named) - len(ledger.answers.numbers(named))
            erased = ledger.erasure.erase(named)
            for id in named:
                ledger.audit.note(actor(), "erase", id)
        export, left = trace_export(settings.rag, ledger), ""
        try:
            done = export.run()
        except StorageError as fault:
            left = str(fault)
        else:
            said = f"{done.rewritten:,} lines rewritten, {done.removed:,} snapshots removed"
            tell(f"trace files in {export.folder}: {said}; not looked into: {ELSEWHERE}")
    typer.echo(f"answers erased: {erased:,}" + (f"; not there: {missing:,}" if missing else ""))
    if left:
        raise StorageError(left)


def _export_form_of(form: str | None, out: str, *, semicolons: bool) -> TableForm:
    chosen = FORMS_BY_SUFFIX.get(f".{form}" if form else Path(out).suffix.lower())
    if chosen is None or (form and form != chosen):
        option = f"--format {form!r}" if form else f"--out {out}: the ending says no format; give --format"
        raise UserError(f"{option}: use one of csv, jsonl, parquet, xlsx")
    if chosen in ("parquet", "xlsx") and out == STDOUT:
        raise UserError(f"--out -: {chosen} goes to a file only; name one, or use --format csv or jsonl")
    if semicolons and chosen != "csv":
        raise UserError("--semicolons is for CSV: remove it, or use --format csv")
    return "csv;" if semicolons else chosen


def _filters_of(
    days: int | None, until: str | None, source: str | None, variant: str | None, grade: str | None, find: str
) -> Filters:
    last = last_day(until, datetime.now(UTC))
    period: Period | None = None
    if days is not None:
        period = last_days(days, last)
    elif until is not None:
        period = Period(start=datetime.min.date(), end=last + timedelta(days=1))
    return Filters(period=period, grade=one_of("--grade", grade, get_args(Grade)), source=source, variant=variant, text=find)


def _described(filters: Filters) -> str:
    """What an export was about, for the audit log; the words of a search may name a person, and stay out of it."""
    parts = [f"{filters.period.start} to {filters.period.last}" if filters.period else "all days"]
    parts += [
        f"{name} {value!r}"
        for name, value in (("grade", filters.grade), ("source", filters.source), ("variant", filters.variant))
        if value is not None
    ]
    return ", ".join([*parts, "only answers with words that were searched for"] if filters.text else parts)
