"""Stored scores: export of runs; `rescore` of the benchmark, the monitor and the gate."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from areopage.app import find_config, open_ledger
from areopage.bench import (
    ExportOptions,
    exports,
    run_folder,
    terminal_report,
    view_run,
    with_calibration,
    with_history,
    write_criteria_file,
    write_run_files,
)
from areopage.cli.bench.places import opened_ledger
from areopage.cli.options import (
    CalibrationOption,
    CollectionOption,
    ConfigOption,
    LedgerOption,
    PlacesOptions,
    ProfileOption,
    ReparseOption,
    SinceOption,
    UntilOption,
    WeightsOption,
    WithoutJudgeOption,
    WriteOption,
    actor,
    made_by,
    one_of,
    tell,
    tell_cut,
)
from areopage.cli.progress.pace import PaceLine
from areopage.cli.run_options import PageLanguageOption, RunArgument, VerboseOption
from areopage.errors import ConfigError, UserError
from areopage.jury import GLOBAL, Rescored, Rescoring, gated, monitored, rescore
from areopage.ledger import EvaluationFilter, Judgment, Ledger
from areopage.locales import LANGUAGES
from areopage.report import Printer, Table, columns, print_report, report_locale, rows
from areopage.scoring import Profile, Weights
from areopage.suites import WeightsSection, checked_section
from areopage.yaml_document import read_yaml

IdOption = Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Use only this answer (repeatable).")]


class _Change(Rescoring, frozen=True, kw_only=True):
    """The changes of a rescoring, and whether what is read otherwise is stored."""

    write: bool = False


def _change(
    weights: WeightsOption = None,
    profile: ProfileOption = None,
    without_judge: WithoutJudgeOption = None,
    reparse: ReparseOption = False,
    write: WriteOption = False,
) -> _Change:
    if write and (not reparse or weights or profile or without_judge):
        raise UserError("--write stores what --reparse reads: give it with --reparse and no other change")
    return _Change(
        weights=_read_weights(weights) if weights else None,
        profile=Profile.named(profile) if profile else None,
        without_judges=tuple(without_judge or ()),
        reparse=reparse,
        write=write,
    )


ChangeOptions = Annotated[_Change, made_by(_change)]


def rescore_run(
    run: RunArgument = "latest",
    *,
    change: ChangeOptions,
    calibration: CalibrationOption = "",
    texts: Annotated[
        bool, typer.Option("--texts", help="Write every file of a run, with texts: results.json, the report, tables.")
    ] = False,
    places: PlacesOptions,
    verbose: VerboseOption = False,
) -> None:
    """Recompute the scores of a run from the ledger without calling a model; the run's own files do not change."""
    with opened_ledger(places) as opened:
        stored = opened.run(run)
        view = with_calibration(view_run(stored, opened, change), opened, calibration)
        parent = run_folder(stored, places.out, run)
        number = next(number for number in count(1) if not (parent / f"rescore-{number}").exists())
        folder = parent / f"rescore-{number}"
        if texts:
            write_run_files(view, folder)
        else:
            write_criteria_file(view, folder)
        for warning in view.scores.warnings:
            tell(f"note: {warning}")
        shown = terminal_report(view, folder, places.options(opened), whole=verbose)
        print_report(shown, short=not (verbose or calibration))
        more = "" if texts else "; --texts writes results.json, the report and the other files too"
        tell(f"written to {folder}{more}")
        if change.write:
            write_readings(opened, list(view.readings))


def export_run(
    run: RunArgument = "latest",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Judgments: csv, xlsx, parquet, jsonl (to replay). For CI: junit, sarif, markdown. inspect, huggingface.",
        ),
    ] = "csv",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Default: a file or folder in the run's folder.")
    ] = None,
    lang: PageLanguageOption = None,
    licence: Annotated[
        str, typer.Option("--licence", metavar="ID", help="Licence of the texts, for huggingface: cc-by-4.0, other, ...")
    ] = "",
    *,
    places: PlacesOptions,
) -> None:
    """Export a run: every judgment, its failures for CI, or all of it for another tool."""
    one_of("--format", form, tuple(exports()))
    options = ExportOptions(language=one_of("--lang", lang, LANGUAGES) or "", licence=licence)
    export = exports()[form]
    with opened_ledger(places) as opened:
        stored = opened.run(run)
        if licence and not export.licensed:
            raise UserError(
                f"--licence is for {', '.join(name for name, exporter in exports().items() if exporter.licensed)}: remove it"
            )
        view, place = view_run(stored, opened), file or run_folder(stored, places.out, run) / export.name
        tell_cut(export.write(with_history(view, opened) if export.history else view, place, options).cut)
        typer.echo(f"written to {place}")


def rescore_monitor(
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Use only this source. Golden questions are excluded unless named."),
    ] = None,
    id: IdOption = None,
    *,
    change: ChangeOptions,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Recompute scores with other weights, rules or judges, without model calls.

    The command shows the means before and after, and how many grades change. Stored scores do not change without --write.
    """
    from areopage.cli.gate.report import scope_of

    days = scope_of(since, until, None)
    wanted = EvaluationFilter(since=days.since, until=days.until, source=source, ids=tuple(id or ()))
    with open_ledger(find_config(config, ledger)) as opened:
        done = rescore(monitored(opened, wanted, texts=change.reparse), opened.panels("monitor"), change)
        _print_rescored(opened, done, change, "answers")


def rescore_gate(
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    id: IdOption = None,
    *,
    change: ChangeOptions,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Recompute the scores of the gate's judge, without model calls.

    The command shows the means before and after, and how many grades of judgments change. Decisions do not change.
    """
    from areopage.cli.gate.report import scope_of

    wanted = scope_of(since, until, collection)
    with open_ledger(find_config(config, ledger)) as opened:
        runs = opened.panels("gate")
        done = rescore(gated(opened, runs, wanted, id or ()), runs, change)
        _print_rescored(opened, done, change, "judgments")


def _print_rescored(ledger: Ledger, done: Rescored, change: _Change, what: str) -> None:
    for reason in done.unreadable.values():
        tell(f"left out, the scores of {reason}")
    if not done.answers:
        raise UserError(f"no {what} with judgments there: name other days, or none")
    printer = Printer(report_locale("en"))
    printer.say(f"scored again: {change.describe() or 'no change'}", "bold")
    heads = columns("scored before", "mean before", "scored after", "mean after", first="score of")
    cells: list[tuple[str, ...]] = []
    for criterion, shift in done.criteria.items():
        before, after = shift.means
        name = "all" if criterion == GLOBAL else criterion
        cells.append((name, f"{shift.before:,}", _score(before), f"{shift.after:,}", _score(after)))
    printer.table(Table(columns=heads, rows=rows(cells)))
    moved = sorted(((grades, n) for grades, n in done.grades.items() if grades[0] != grades[1]), key=lambda pair: -pair[1])
    listed = "; ".join(f"{before} to {after} {n:,}" for (before, after), n in moved)
    printer.say(f"another grade: {done.changed:,} of {done.answers:,} {what}" + (f" ({listed})" if listed else ""))
    if change.reparse:
        printer.say(f"judgments read otherwise: {len(done.readings):,}; texts not stored in full: {done.unread:,}")
    if change.write:
        write_readings(ledger, done.readings)


def _score(score: float | None) -> str:
    return "unscored" if score is None else f"{score:.2f}"


def write_readings(ledger: Ledger, readings: Sequence[Judgment]) -> None:
    """Store what was read, and compute the stored scores again."""
    from areopage.app import count_stored, store_readings

    if not readings:
        tell("nothing was read otherwise: nothing is written")
        return
    pace = PaceLine("rebuilt", count_stored(ledger))
    done = store_readings(ledger, readings, actor(), pace.moved)
    pace.finish()
    tell(f"judgments written: {len(readings):,}; evaluations changed: {done.written:,}")


class _Levels(WeightsSection, extra="forbid"):
    """The three levels of weights, in a file of their own."""


def _read_weights(path: Path) -> Weights:
    document = read_yaml(path)
    keys = ["weights"] if isinstance(document.data.get("weights"), dict) else []
    data = document.data["weights"] if keys else document.data
    example = "such as criteria: {quality.answer: {exactitude: 0.7}}"
    if not set(data) & set(_Levels.model_fields):
        levels = ", ".join(_Levels.model_fields)
        raise ConfigError(f"gives no weights by level ({levels}): write them {example}", path=path)
    for level, prefix in (("subcategories", "category"), ("criteria", "category.subcategory")):
        for name, weight in data[level].items() if isinstance(data.get(level), dict) else ():
            if isinstance(weight, int | float):
                message = f"this weight stands under no {prefix}: write it {example}"
                raise document.error(message, *keys, level, name)
    return checked_section(document, _Levels, data, *keys).weights()
