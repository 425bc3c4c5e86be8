"""`areopage bench`: run the benchmark, resume, look at runs, score them again, export them."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from areopage.cli.options import (
    OUTPUTS,
    CalibrationOption,
    ConfigOption,
    LedgerOption,
    OutOption,
    ProfileOption,
    ReparseOption,
    WeightsOption,
    WithoutJudgeOption,
    WriteOption,
    one_of,
)
from areopage.errors import UserError

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, the beginning of it, its folder, or `latest`.")]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=86_400, help="How long one call may take.")
]
AllowVariableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-variable", metavar="NAME", help="Environment variable whose value the suite's servers get; may be repeated."
    ),
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Also compare targets on the cases with each value of a column, e.g. age; may be repeated."
    ),
]
AUTO = "auto"
MOST_PASSES = 100
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Start without asking, even models that cost money.")]


def passes_wanted(text: str | None) -> int | None:
    """The number of passes that --passes gives; None where it says "auto" or is not given.

    Raises:
        UserError: it is neither.
    """
    if text is None or text == AUTO:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PASSES:
        raise UserError(f"--passes {text!r}: give a number from 1 to {MOST_PASSES}, or auto")
    return int(text)


def run(
    suite: Annotated[
        str, typer.Option(metavar="NAME|DIR", help="A bundled suite, or a folder with a config.yml.")
    ] = "child_safety",
    dataset: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="CSV, XLSX, JSONL, JSON or Parquet; may be repeated.")
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="REF", help="Model under test, e.g. ollama:gemma3:4b; several get a run each and one league table."),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            metavar="target|dataset",
            help="If the dataset has answers: let the target answer every prompt, or only those without an answer.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]REF",
            help="A judge of the suite by name, or a model, e.g. ollama:qwen3:8b or NAME=ollama:qwen3:8b; may be repeated.",
        ),
    ] = None,
    criteria: Annotated[
        str | None, typer.Option(metavar="SEL", help="Presets, categories or criteria, separated by commas.")
    ] = None,
    mode: Annotated[str | None, typer.Option(metavar="attack|defensive", help="How the prompts are sent to the target.")] = None,
    passes: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto", help="How often each judge is asked about a case; auto: more often where it changes a decision."
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(metavar="CALLS", min=1, help="Judge calls at most, with --passes auto.")] = None,
    limit: Annotated[int | None, typer.Option(help="Number of cases; -1 for all.")] = None,
    lang: Annotated[
        str | None, typer.Option(metavar="en|fr", help="Language of the judges' prompts, the personas and the report.")
    ] = None,
    profile: Annotated[str | None, typer.Option(metavar="default|v1_1", help="Scoring rules.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, max=1024, help="Number of parallel calls.")] = None,
    timeout: TimeoutOption = None,
    child: Annotated[
        str | None, typer.Option(metavar="REF", help="Model that plays simulated children, e.g. ollama:qwen3:8b.")
    ] = None,
    turns: Annotated[
        int | None, typer.Option(min=1, max=20, help="Turns of each simulated child, in place of its own number.")
    ] = None,
    allow_variable: AllowVariableOption = None,
    by: ByOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat every call, even if the ledger has its result.")] = False,
    only_qualified: Annotated[
        bool, typer.Option("--only-qualified", help="Refuse judges that have not passed `areopage qualify` on their criteria.")
    ] = False,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List all notes on the suite's configuration.")] = False,
) -> None:
    """Run a benchmark, or resume an interrupted run with the same options."""
    from areopage.bench.planning.prepare import AnswersFrom, RunWishes
    from areopage.cli.bench.league import run_league
    from areopage.cli.bench.run import Places, run_new

    if mode not in (None, "attack", "defensive"):
        raise UserError(f"--mode {mode!r}: use attack or defensive")
    targets = target or []
    if by and len(targets) < 2:
        raise UserError(
            "--by compares several targets: give --target twice or more, or areopage bench league RUN RUN --by COLUMN"
        )
    wishes = RunWishes(
        datasets=tuple(dataset or ()),
        target=targets[0] if len(targets) == 1 else None,
        answers=one_of("--answers", answers, get_args(AnswersFrom)),
        judges=tuple(judge or ()),
        criteria=criteria,
        mode=mode,  # type: ignore[arg-type]  # checked above
        passes=passes_wanted(passes),
        adaptive=passes == AUTO,
        budget=budget,
        limit=limit,
        language=lang,
        profile=profile,
        concurrency=concurrency,
        timeout=timeout,
        child=child,
        turns=turns,
        allowed_variables=tuple(allow_variable or ()),
    )
    places = Places(out=out, config=config, ledger=ledger, allowed_variables=wishes.allowed_variables)
    if len(targets) > 1:
        how = {"fresh": fresh, "yes": yes, "verbose": verbose, "only_qualified": only_qualified}
        raise typer.Exit(run_league(suite, wishes, targets, places, by=by or (), **how))
    raise typer.Exit(run_new(suite, wishes, places, fresh=fresh, yes=yes, verbose=verbose, only_qualified=only_qualified))


def league(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Two runs or more: ids, their beginnings, or folders.")],
    by: ByOption = None,
    cluster: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column that says which cases belong together; default: equal prompts do.")
    ] = "",
    lang: Annotated[str | None, typer.Option(metavar="en|fr", help="Language of the page; default: that of the runs.")] = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Compare runs of several targets that one panel judged on the same cases, without calling a model."""
    from areopage.cli.bench.league import compare_runs
    from areopage.cli.bench.run import Places
    from areopage.locales import LANGUAGES

    language = one_of("--lang", lang, LANGUAGES) or ""
    places = Places(out=out, config=config, ledger=ledger)
    raise typer.Exit(compare_runs(runs, places, by=by or (), cluster=cluster, language=language))


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="The run to compare with, then one or more: ids, folders, targets (newest run)."),
    ],
    by: ByOption = None,
    cluster: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column that says which cases belong together; default: equal prompts do.")
    ] = "",
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare what runs of different panels have in common, and say so.")
    ] = False,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", metavar="regression", help="Exit with code 1 if a run is worse than the first.")
    ] = None,
    markdown: Annotated[
        str, typer.Option("--md", metavar="FILE", help="Write Markdown for a pull request; - is the screen.")
    ] = "",
    lang: Annotated[str | None, typer.Option(metavar="en|fr", help="Language of the page; default: that of the runs.")] = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Compare runs with a first one: what got worse, what got better, and what drives it; calls no model."""
    from areopage.cli.bench.compare import compare as compare_named
    from areopage.cli.bench.run import Places
    from areopage.locales import LANGUAGES

    language = one_of("--lang", lang, LANGUAGES) or ""
    fails = one_of("--fail-on", fail_on, ("regression",)) is not None
    places = Places(out=out, config=config, ledger=ledger)
    code = compare_named(
        runs,
        places,
        by=by or (),
        cluster=cluster,
        anyway=anyway,
        fail_on_regression=fails,
        markdown=markdown,
        language=language,
    )
    raise typer.Exit(code)


def resume(
    run: RunArgument = "latest",
    timeout: TimeoutOption = None,
    allow_variable: AllowVariableOption = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
) -> None:
    """Resume a run and retry calls that timed out or found no server."""
    from areopage.cli.bench.run import Places, resume_run

    places = Places(out=out, config=config, ledger=ledger, allowed_variables=tuple(allow_variable or ()))
    raise typer.Exit(resume_run(run, places, yes=yes, timeout=timeout))


def list_runs(out: OutOption = OUTPUTS, config: ConfigOption = None, ledger: LedgerOption = None) -> None:
    """List the runs of a ledger, newest first."""
    from areopage.cli.bench.run import Places, opened_ledger
    from areopage.cli.bench.run_tables import print_runs

    with opened_ledger(Places(out=out, config=config, ledger=ledger)) as opened:
        print_runs(opened)


def show(
    run: RunArgument = "latest",
    calibration: CalibrationOption = "",
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Show what a run measures, its scores and the health of its judges."""
    from areopage.bench.results.history import with_history
    from areopage.bench.results.run_view import view_run
    from areopage.cli.bench.run import Places, opened_ledger
    from areopage.cli.bench.run_tables import print_facts, print_view
    from areopage.report.results.calibrated import with_calibration

    with opened_ledger(Places(out=out, config=config, ledger=ledger)) as opened:
        found = opened.run(run)
        view = with_calibration(with_history(view_run(found, opened), opened), opened, calibration)
        print_facts(view)
        print_view(view, Path(found.folder))


def rescore(
    run: RunArgument = "latest",
    weights: WeightsOption = None,
    profile: ProfileOption = None,
    without_judge: WithoutJudgeOption = None,
    reparse: ReparseOption = False,
    write: WriteOption = False,
    calibration: CalibrationOption = "",
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Recompute the scores of a run from the ledger without calling a model; the run's own files do not change."""
    from areopage.bench.execution.start import run_folder
    from areopage.cli.bench.run import Places, opened_ledger
    from areopage.cli.scores import rescore_run, variant_of, write_readings

    with opened_ledger(Places(out=out, config=config, ledger=ledger)) as opened:
        found = opened.run(run)
        change = variant_of(weights, profile, without_judge, reparse=reparse, write=write)
        readings = rescore_run(found, opened, change, run_folder(found, out, run), calibration)
        if write:
            write_readings(opened, readings)


def export(
    run: RunArgument = "latest",
    form: Annotated[
        str, typer.Option("--format", metavar="csv|jsonl", help="csv for spreadsheets; jsonl can be replayed.")
    ] = "csv",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Default: judgments.FORMAT in the run's folder.")
    ] = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Export every judgment of a run with its raw text."""
    from areopage.bench.execution.start import run_folder
    from areopage.cli.bench.run import Places, opened_ledger
    from areopage.cli.scores import export_run

    with opened_ledger(Places(out=out, config=config, ledger=ledger)) as opened:
        found = opened.run(run)
        export_run(found, opened, form, file or run_folder(found, out, run) / f"judgments.{form}")


def trend(
    target: Annotated[str, typer.Option(metavar="REF", help="The model under test; default: that of the newest run.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Number of runs, the newest.")] = 50,
    lang: Annotated[
        str | None, typer.Option(metavar="en|fr", help="Language of the page; default: that of the newest run.")
    ] = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Show the runs of one target in time order: failures, score, coverage and verdict; calls no model."""
    from areopage.cli.bench.league import show_trend
    from areopage.cli.bench.run import Places
    from areopage.locales import LANGUAGES

    language = one_of("--lang", lang, LANGUAGES) or ""
    places = Places(out=out, config=config, ledger=ledger)
    raise typer.Exit(show_trend(target, places, limit=limit, language=language))
