"""`areopage agreement`: how far a judge agrees with people."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_config, monitor_ledger

if TYPE_CHECKING:
    from areopage.monitor.config import MonitorConfig
    from areopage.review.agreement import AgreementReport

FORMATS = ("text", "json", "csv")


def agreement(
    config: ConfigOption = None,
    days: Annotated[
        int | None, typer.Option("--days", metavar="N", min=1, max=36_500, help="Labels of the last N days only.")
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="One judge instead of the jury; with --ratings, who the judge is.")
    ] = "",
    sample_only: Annotated[bool, typer.Option("--sample-only", help="Only answers that were queued at random.")] = False,
    ratings: Annotated[
        Path | None, typer.Option("--ratings", metavar="FILE", help="Measure a table of ratings instead (CSV, XLSX, JSON Lines).")
    ] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="en|fr", help="Language; default: the monitor's.")] = None,
    form: Annotated[str, typer.Option("--format", metavar="text|json|csv", help="Form of the output.")] = "text",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Judge against people: correlation, weighted kappa, bias, and whether the correlation is over 0.8.

    A table of ratings is wide (item, criterion, judge, human1, human2, ...) or long (item, rater, criterion, score; --judge names
    the rater who is the judge); the column criterion may be missing.
    """
    from areopage.errors import UserError
    from areopage.locales import LANGUAGES
    from areopage.report.agreement import agreement_csv, agreement_json, agreement_text
    from areopage.report.model import report_locale
    from areopage.report.replacing import replacing

    if form not in FORMATS:
        raise UserError(f"--format {form!r}: use one of {', '.join(FORMATS)}")
    if lang is not None and lang not in LANGUAGES:
        raise UserError(f"--lang {lang!r}: use one of {', '.join(LANGUAGES)}")
    if ratings is not None:
        from areopage.review.ratings_table import table_agreement

        if days is not None or sample_only:
            raise UserError("--days and --sample-only go with a ledger's labels, not with --ratings")
        report, language = table_agreement(ratings, judge), report_locale(lang or "en")
    else:
        report, spoken = measured(monitor_config(config), days, judge, lang, sample_only=sample_only)
        language = report_locale(spoken)
    text = {"json": agreement_json, "csv": agreement_csv}.get(form, lambda one: agreement_text(one, language))(report)
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    with replacing(out) as place:
        place.write_text(text, encoding="utf-8")
    typer.echo(f"written: {out}", err=True)


def measured(
    config: "MonitorConfig", days: int | None, judge: str, lang: str | None, *, sample_only: bool
) -> "tuple[AgreementReport, str]":
    """The agreement over a ledger's labels, and the language to say it in."""
    from datetime import UTC, datetime, timedelta

    from areopage.review.agreement import ledger_agreement
    from areopage.review.rubric import rubric_of
    from areopage.suites.loader import load_suite

    suite = load_suite(config.suite)
    language = lang or config.section.language or suite.own_language
    since = datetime.now(UTC) - timedelta(days=days) if days is not None else None
    with monitor_ledger(config) as ledger:
        report = ledger_agreement(ledger, rubric_of(suite), language, since=since, judge=judge, sample_only=sample_only)
    return report, language
