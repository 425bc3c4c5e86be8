"""Start or resume a run on the console: show the plan, ask, show progress, write the results."""

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
import typer

from areopage.app import find_config
from areopage.bench import (
    Observers,
    PreparedRun,
    RunCase,
    RunOptions,
    RunSpec,
    begin_run,
    budget_of,
    carry_on,
    fingerprint_of,
    prepare_benchmark,
    reopen_run,
    resumed_since,
    run_folder,
    settle,
    spent_by,
    with_measures,
)
from areopage.cli.asking import ask_to_send, asking_display, confirm, ended_like_ctrl_c
from areopage.cli.bench.missing_exam import missing_exam_lines
from areopage.cli.bench.places import configured, opened_ledger
from areopage.cli.bench.run_plan import print_plan
from areopage.cli.exit_codes import BUDGET_SPENT, DONE, FAILED, INCONCLUSIVE, INTERRUPTED
from areopage.cli.options import Places, PlacesOptions, tell
from areopage.cli.progress.run_log import RunLog
from areopage.cli.run_options import (
    AllowVariableOption,
    BudgetOption,
    FleetOption,
    RunArgument,
    TimeoutOption,
    VerboseOption,
    YesOption,
)
from areopage.errors import BudgetSpent, DamagedLedger, ServerDown, StorageError, UnknownRun, UserError, counted
from areopage.ledger import CallCounts, Ledger, LedgerOutage, Run, SentBatch
from areopage.suites import load_suite

if TYPE_CHECKING:
    from areopage.bench import Doubt, RunView

LOOK_EVERY = 1.0
LOOK_SHARE = 10
"""Of the follower's time at most one part in this number goes into reading the ledger."""


def run_new(
    suite: str,
    options: RunOptions,
    places: Places,
    *,
    fresh: bool,
    yes: bool,
    new: bool = False,
    verbose: bool = False,
    only_qualified: bool = False,
    fleet: bool = False,
    budget: float | None = None,
) -> int:
    """Prepare a run, then begin it, or resume the unfinished run that has the same specification.

    Args:
        new: no unfinished run is resumed.
        fleet: workers carry it out, and this process follows it.
        budget: what the run may cost; None: no limit.

    Returns:
        The exit code: 0 done, 1 the release verdict is FAIL, 3 it is INCONCLUSIVE, too little could be scored, or a server
        or the disk gave out half way, 4 the budget is spent, 130 stopped.

    Raises:
        UserError: a model, the ledger or a folder cannot be used; paid calls are kept.
    """
    with suppress(UnknownRun), opened_ledger(places):
        pass  # a ledger that cannot be used is refused before a model is asked
    loaded = load_suite(suite).with_shared(configured(places).shared)
    prepared = prepare_benchmark(loaded, options, fresh=fresh, agree=None if yes else ask_to_send)
    with opened_ledger(places, create=True) as ledger:
        (prepared,) = accepted([prepared], ledger, only_qualified=only_qualified, budget=budget)
        since = resumed_since(prepared.spec, new=new)
        fingerprint = fingerprint_of(prepared.spec, prepared.cases)
        if ledger.unfinished_run(fingerprint, since) is None:
            tell_of_older(ledger.unfinished_run(fingerprint), ledger, places)
            exam = missing_exam_lines(loaded, prepared.spec, ledger, places.options(ledger))
            print_plan([(prepared.spec, prepared.cases)], ledger, verbose=verbose, budget=budget, exam=exam)
            confirm([prepared.spec], yes=yes)
        run, is_new = begin_run(prepared, ledger, places.out, since)
        if not is_new:
            tell(f"resuming the unfinished run {run.id} (--new starts anew)")
        if fleet:
            return follow_run(run, ledger, places, verbose=verbose, ask=(prepared.spec, prepared.cases, budget))
        _refuse_if_open(run, ledger, places)
        spec, cases = prepared.spec, len(prepared.cases)
        del prepared  # the run reads its cases from the ledger: their texts are held once
        return _go_on(run, spec, cases, ledger, places, budget=budget, verbose=verbose)


def accepted(prepared: Sequence[PreparedRun], ledger: Ledger, *, only_qualified: bool, budget: float | None) -> list[PreparedRun]:
    """Runs of one panel, with what earlier calls tell; judges without an exam, and a budget that cannot be kept, are refused."""
    spec = prepared[0].spec
    if only_qualified:
        ledger.qualifications.require(spec.suite, spec.judges, spec.criteria, joint=spec.joint)
    if budget is not None:
        budget_of(budget, [run.spec for run in prepared], ledger)  # before anything is written
    return [msgspec.structs.replace(run, spec=with_measures(run.spec, ledger)) for run in prepared]


def tell_of_older(run: Run | None, ledger: Ledger, places: Places) -> None:
    """Say that an unfinished run with the same options is there, which a new run does not go on with."""
    if run is not None:
        message = f"a new run begins; that of {run.created_at:%Y-%m-%d %H:%M} UTC is unfinished"
        tell(f"{message}, go on with it by: {places.command(ledger, 'resume', run.id)}")


def try_run(suite: str, options: RunOptions, config: Path | None, *, yes: bool) -> "RunView":
    """Carry out a small run in a folder that is gone afterwards: no ledger and no outputs of the user are touched."""
    shared = find_config(config, None).shared
    prepared = prepare_benchmark(load_suite(suite).with_shared(shared), options, agree=None if yes else ask_to_send)
    # a trial is over in a moment, and a batch may take a day
    prepared = msgspec.structs.replace(prepared, spec=msgspec.structs.replace(prepared.spec, batch=()))
    print_plan([(prepared.spec, prepared.cases)])
    confirm([prepared.spec], yes=yes)
    with TemporaryDirectory(prefix="areopage-") as place, Ledger.open(Path(place) / "ledger.db") as ledger:
        run, _ = begin_run(prepared, ledger, Path(place))
        with ended_like_ctrl_c(), asking_display(prepared.spec) as display:
            open_calls = carry_on(run, prepared.spec, ledger, display, run_folder(run, Path(place)))
            return settle(run, open_calls, ledger)


def resume(
    run: RunArgument = "latest",
    timeout: TimeoutOption = None,
    budget: BudgetOption = None,
    allow_variable: AllowVariableOption = None,
    fleet: FleetOption = False,
    *,
    places: PlacesOptions,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Resume a run with the suite and dataset it began with, and retry calls that timed out or found no server."""
    # from the ledger alone: neither suite nor dataset is read again, and of a complete run only the files are written again
    places = msgspec.structs.replace(places, allowed_variables=tuple(allow_variable or ()))
    with opened_ledger(places) as opened:
        stored = opened.run(run)
        begun = f"{stored.created_at:%Y-%m-%d %H:%M} UTC"
        tell(f"suite and dataset are those of {begun}, when {stored.id} began: later changes of their files need a new run")
        if fleet and stored.finished_at is None:
            from areopage.bench import load_run_cases

            spec, cases = RunSpec.of(stored), load_run_cases(opened, stored.id)
            if budget is not None:
                budget_of(budget, [spec], opened, [stored])  # one that cannot be kept is refused
            print_plan([(spec, cases)], budget=budget)
            confirm([spec], yes=yes)
            raise typer.Exit(follow_run(stored, opened, places, run, verbose=verbose, ask=(spec, cases, budget)))
        _refuse_if_open(stored, opened, places)
        allowed, agree = places.allowed_variables, None if yes else ask_to_send
        spec, cases = reopen_run(stored, opened, configured(places).shared, allowed=allowed, agree=agree)
        spec = msgspec.structs.replace(spec, settings=spec.settings.with_timeout(timeout))
        if stored.finished_at is None:
            print_plan([(spec, cases)], opened, budget=budget)
            confirm([spec], yes=yes)
        number = len(cases)
        del cases  # the run reads them again: what is shown and asked here takes no memory meanwhile
        raise typer.Exit(_go_on(stored, spec, number, opened, places, run, budget=budget, verbose=verbose))


def _refuse_if_open(run: Run, ledger: Ledger, places: Places) -> None:
    submitted = ledger.fleet.run(run.id)
    if submitted is not None and submitted.state == "open":
        follow, stop = (places.command(ledger, name, run.id) for name in ("follow", "stop"))
        raise UserError(f"workers carry out {run.id}: follow it with `{follow}`, or stop it first with `{stop}`")


def follow_run(
    run: Run,
    ledger: Ledger,
    places: Places,
    named: str = "",
    *,
    verbose: bool = False,
    ask: tuple[RunSpec, tuple[RunCase, ...], float | None] | None = None,
) -> int:
    """Show how far workers are with a run until they have ended it, then write its files; `ask` lets them carry it out first.

    Ctrl-C ends this and leaves the run going.

    Returns:
        As `run_new`; 130 where the run, or following it, was stopped.
    """
    hint, follow = places.command(ledger, "resume", run.id), places.command(ledger, "follow", run.id)
    try:
        if ask is not None:
            from areopage.bench import planned_phases, run_size

            spec, cases, budget = ask
            ledger.fleet.ask(run.id, planned_phases(spec, run_size(spec, cases)), datetime.now(UTC), budget)
        tell(f"run {run.id}: workers (`areopage worker`) carry it out; Ctrl-C leaves it going")
        view = _await_end(run, ledger)
    except KeyboardInterrupt:
        stop = places.command(ledger, "stop", run.id)
        tell(f"\nthe run goes on. Follow it with: {follow}\nStop it with: {stop}\nGo on after a stop with: {hint} --fleet")
        return INTERRUPTED
    except BudgetSpent as fault:
        tell(f"areopage: {fault}; everything is kept, go on with: {hint} --fleet --budget AMOUNT")
        return BUDGET_SPENT
    except DamagedLedger:
        raise  # following the run meets it again
    except StorageError as fault:
        raise StorageError(f"{fault}; workers may go on with the run, follow it with: {follow}") from fault
    if view is None:
        tell(f"the run was stopped; what has arrived is kept. Go on with: {hint} --fleet")
        return INTERRUPTED
    folder = run_folder(run, places.out, named)
    with RunLog(folder / "run.log", view.spec.log_level) as log:
        log.write("INFO", f"run {run.id}: carried out by workers")
        write_files(view, folder, log)
    return _shown(view, folder, f"{hint} --fleet", places.options(ledger), verbose=verbose)


def _await_end(run: Run, ledger: Ledger) -> "RunView | None":
    from areopage.bench import progress_of, view_run, with_history
    from areopage.cli.progress.live_display import FleetDisplay

    spec = RunSpec.of(run)
    counts: CallCounts | None = None
    outage = LedgerOutage(tell, patience=spec.outage_seconds)
    with ended_like_ctrl_c(), FleetDisplay() as display:
        while True:
            began = time.monotonic()
            try:
                progress = progress_of(ledger, run.id, spec, datetime.now(UTC), counts)
            except DamagedLedger:
                raise  # no waiting mends it
            except StorageError as fault:
                time.sleep(outage.met(fault))
                continue
            outage.over()
            if progress is None or progress.state == "stopped":
                return None
            counts = progress.counts
            display.show(progress)
            if progress.state == "spent":
                raise BudgetSpent("the budget of the run is spent")
            if progress.state == "ended":
                break
            time.sleep(max(LOOK_EVERY, LOOK_SHARE * (time.monotonic() - began)))
    return with_history(view_run(ledger.run(run.id), ledger), ledger)


def _go_on(
    run: Run,
    spec: RunSpec,
    cases: int,
    ledger: Ledger,
    places: Places,
    named: str = "",
    *,
    budget: float | None = None,
    verbose: bool = False,
) -> int:
    hint = places.command(ledger, "resume", run.id)
    limit = budget_of(budget, [spec], ledger, [run]) if budget is not None else None
    spent = limit.costs if limit is not None else spent_by(run, spec, ledger)
    folder = run_folder(run, places.out, named)
    with RunLog(folder / "run.log", spec.log_level) as log:
        log.write("INFO", f"run {run.id}: suite {spec.suite} {spec.suite_version}, {counted(cases, 'case')}")
        for remark in (*spec.remarks, *spec.idle):
            log.write("WARNING", str(remark))
        try:
            with ended_like_ctrl_c(), asking_display(spec, spent) as display:
                view = settle(run, carry_on(run, spec, ledger, Observers([display, log]), folder, limit), ledger)
            write_files(view, folder, log)
        except KeyboardInterrupt:
            log.write("WARNING", "stopped by the user or the system")
            tell(f"\nstopped; what has arrived is kept. Go on with: {hint}")
            tell_of_open_batches(run.id, ledger, places)
            return INTERRUPTED
        except BudgetSpent as fault:
            log.write("WARNING", f"stopped: {fault}")
            tell(f"areopage: {fault}; everything is kept, go on with: {hint} --budget AMOUNT")
            tell_of_open_batches(run.id, ledger, places)
            return BUDGET_SPENT
        except DamagedLedger as fault:
            log.write("ERROR", f"stopped: {fault}")
            raise  # resuming the run meets it again
        except (ServerDown, StorageError) as fault:
            with suppress(StorageError):
                log.write("ERROR", f"stopped: {type(fault).__name__}: {fault}")
            tell(f"areopage: {' '.join(str(fault).split())}; what has arrived is kept, go on with: {hint}")
            tell_of_open_batches(run.id, ledger, places)
            return INCONCLUSIVE
        except UserError as fault:
            raise UserError(f"{fault}; what has arrived is kept, go on with: {hint}") from fault
    return _shown(view, folder, hint, places.options(ledger), verbose=verbose)


def tell_of_open_batches(run_id: str, ledger: Ledger, places: Places) -> None:
    """Say which batches of a run go on at their providers; nothing where the ledger cannot be read."""
    out: Sequence[SentBatch] = ()
    with suppress(StorageError):
        out = ledger.batches.open_in(run_id)
    if out:
        calls = counted(sum(batch.calls for batch in out), "call")
        go = "goes" if len(out) == 1 else "go"
        message = (
            f"{counted(len(out), 'batch', 'batches')} of {calls} {go} on at the provider; the command above stores the results"
        )
        tell(f"{message}; cancel them with: {places.command(ledger, 'batches', run_id)} --cancel")


def write_files(view: "RunView", folder: Path, log: RunLog) -> None:
    """Write the files of a run, and what there is to say of it into its log."""
    from areopage.bench import write_run_files

    for path in write_run_files(view, folder):
        log.write("INFO", f"wrote {path.name}")
    for warning in view.scores.warnings:
        log.write("WARNING", str(warning))
    log.write("INFO", f"final score {view.scores.tree.score}, coverage {view.coverage.share:.4f}")


def _shown(view: "RunView", folder: Path, hint: str, place: tuple[str, ...], *, verbose: bool) -> int:
    from areopage.bench import terminal_report
    from areopage.report import print_report

    print_report(terminal_report(view, folder, place, whole=verbose), short=not verbose)
    if view.release is not None and view.release.verdict == "FAIL":
        return FAILED
    doubt = view.doubt
    if doubt and doubt != "release":
        tell(doubt_text(view, doubt, hint))
    return INCONCLUSIVE if doubt else DONE


def doubt_text(view: "RunView", doubt: "Doubt", hint: str) -> str:
    """Why a run is inconclusive, in its language, with the command that may bring what is missing."""
    from areopage.ledger import REPLIED
    from areopage.report import report_locale

    locale = report_locale(view.spec.language)
    if doubt == "coverage":
        share, least = locale.percent(view.coverage.share), locale.percent(view.spec.min_coverage, 0)
        return locale.say("ending_coverage", share=share, least=least)
    if doubt == "unscored_first":
        titles = view.spec.titles(view.failures.unscored)
        return locale.count("ending_unscored_first", len(titles), names=locale.names(titles))
    if doubt != "no_score":
        return locale.say(f"ending_{doubt}", hint=hint)
    states = set(view.states_of_asked.values())
    if states and states <= set(REPLIED) - {"answered"}:
        return locale.say("ending_no_answer")
    return locale.say("ending_no_score" if states == {"answered"} or not states else "ending_mend", hint=hint)
