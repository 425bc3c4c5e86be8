"""Command `areopage agreement`: agreement between judges and human labels."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from areopage.app import AppConfig, find_config, open_ledger
from areopage.cases import CSV_ENCODING
from areopage.cli.options import ConfigOption, actor, one_of, tell
from areopage.errors import UserError
from areopage.locales import LANGUAGES
from areopage.report import agreement_csv, agreement_json, agreement_text, replacing, report_locale
from areopage.review import AgreementReport, Rubric, table_agreement
from areopage.suites import load_suite

FORMATS = ("text", "json", "csv")


def agreement(
    config: ConfigOption = None,
    days: Annotated[
        int | None, typer.Option("--days", metavar="N", min=1, max=36_500, help="Use only labels of the last N days.")
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            "--judge", metavar="NAME", help="Measure one judge instead of the jury; with --ratings, the name of the judge."
        ),
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Use all labelled answers, not only the random sample; they settle nothing.")
    ] = False,
    ratings: Annotated[
        Path | None,
        typer.Option(
            "--ratings", metavar="FILE", help="Measure a table of ratings instead of the ledger (CSV, XLSX, JSON Lines, Parquet)."
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option("--suite", metavar="NAME|FOLDER", help="Suite whose criteria were scored; default: the monitor's suite."),
    ] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="en|fr", help="Language; default: the monitor's.")] = None,
    form: Annotated[str, typer.Option("--format", metavar="text|json|csv", help="Output format.")] = "text",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the output to FILE.")] = None,
) -> None:
    """Compare judges with human labels: correlation, weighted kappa, bias, and whether the correlation exceeds 0.8.

    A table of ratings is wide (item, criterion, judge, human1, human2, ...) or long (item, rater, criterion, score; --judge names
    the rater that is the judge). The column `criterion` is optional.
    """
    one_of("--format", form, FORMATS)
    one_of("--lang", lang, LANGUAGES)
    if ratings is not None:
        if days is not None or everything:
            raise UserError("--days and --all apply to labels of the ledger: remove them, or remove --ratings")
        report, language = table_agreement(ratings, judge), report_locale(lang or "en")
    else:
        report, spoken = _measured(find_config(config), days, judge, lang, suite, sample_only=not everything)
        language = report_locale(spoken)
    text = {"json": agreement_json, "csv": agreement_csv}.get(form, lambda measured: agreement_text(measured, language))(report)
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    with replacing(out) as place:
        place.write_text(text, encoding=CSV_ENCODING if form == "csv" else "utf-8", newline="")
    tell(f"written: {out}")


def _measured(
    config: AppConfig, days: int | None, judge: str, lang: str | None, named: str | None, *, sample_only: bool
) -> tuple[AgreementReport, str]:
    suite = load_suite(named) if named else config.monitor.load_suite()
    language = lang or config.monitor.section.language or suite.own_language
    since = datetime.now(UTC) - timedelta(days=days) if days is not None else None
    with open_ledger(config) as ledger:
        report = AgreementReport.of_ledger(
            ledger,
            Rubric.of_suite(suite),
            language,
            since=since,
            judge=judge,
            sample_only=sample_only,
            policy=config.storage.export_text,
            max_chars=config.storage.max_chars,
        )
        if any(report.questions.values()):
            ledger.audit.note(actor(), "read", "", f"agreement with {len(report.questions)} questions")
    return report, language
