"""Start or resume a run on the console: show the plan, ask, show progress, write the results."""

import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import typer
from msgspec import Struct
from rich.console import Console

from areopage.app.config import AppConfig, find_config
from areopage.app.ledger import open_ledger
from areopage.bench.context import Observer
from areopage.bench.estimate import estimate, paid_models
from areopage.bench.prepare import RunWishes
from areopage.bench.release import run_release
from areopage.bench.results import RunView
from areopage.bench.spec import RunCase, RunSpec
from areopage.bench.start import begin_run, calls_of, carry_on, prepare_benchmark, reopen_run, run_folder, unfinished_run
from areopage.cli.exit_codes import DONE, FAILED, INCONCLUSIVE, INTERRUPTED
from areopage.cli.progress import LiveProgress, Observers, PlainProgress, RunLog, SilenceNotice
from areopage.cli.run_tables import print_view, unscored_first
from areopage.errors import ServerDown, StorageError, UnknownRun, UserError, counted, name_list
from areopage.ledger.records import Run
from areopage.ledger.store import Ledger
from areopage.models.contacts import Contact
from areopage.report.elements import report_locale
from areopage.report.run_files import write_run_files
from areopage.suites.loader import load_suite


class Places(Struct, frozen=True, kw_only=True):
    """Where the user wants runs and their ledger; `config` and `ledger` are None unless they were named."""

    out: Path
    config: Path | None
    ledger: str | None
    allowed_variables: tuple[str, ...] = ()

    def resume_command(self, run_id: str, ledger: Ledger) -> str:
        """The command that resumes a run, without a database's password."""
        named = ["--config", str(self.config)] if self.config else []
        named += ["--ledger", ledger.place if "://" in self.ledger else self.ledger] if self.ledger else []
        named += [part for name in self.allowed_variables for part in ("--allow-variable", name)]
        return shlex.join(["areopage", "bench", "resume", run_id, "--out", str(self.out), *named])


@contextmanager
def opened_ledger(places: Places, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger that is named (by an option, the environment or the configuration), else the one in the folder of the runs.

    Args:
        create: make it where it is missing; else a missing one is an error, so that a wrong folder is noticed.

    Raises:
        UnknownRun: there is no ledger.
        StorageError, MissingExtra: it cannot be opened.
    """
    with open_ledger(_configured(places), create=create, advice="give --out DIR or --ledger of the runs") as ledger:
        yield ledger


def _configured(places: Places) -> AppConfig:
    config = find_config(places.config, places.ledger)
    return config if config.section.ledger else config.on_ledger(str(places.out / "ledger.db"))


def run_new(suite: str, wishes: RunWishes, places: Places, *, fresh: bool, yes: bool, verbose: bool = False) -> int:
    """Prepare a run, then begin it, or resume the unfinished run that has the same specification.

    Returns:
        The exit code: 0 done, 1 the release verdict is FAIL, 3 it is INCONCLUSIVE, too little could be scored, or a server
        or the disk gave out half way, 130 stopped.

    Raises:
        UserError: a model, the ledger or a folder cannot be used; paid calls are kept.
    """
    with suppress(UnknownRun), opened_ledger(places):
        pass  # a ledger that cannot be used is refused before a model is asked
    own = _configured(places).section
    prepared = prepare_benchmark(load_suite(suite).with_shared(own), wishes, fresh=fresh, agree=None if yes else _agree)
    with opened_ledger(places, create=True) as ledger:
        if unfinished_run(prepared, ledger) is None:
            _print_plan(prepared.spec, prepared.cases, verbose=verbose)
            _confirm(prepared.spec, yes=yes)
        run, is_new = begin_run(prepared, ledger, places.out)
        if not is_new:
            typer.echo(f"resuming the unfinished run {run.id} (--fresh starts anew)", err=True)
        return _go_on(run, prepared.spec, prepared.cases, ledger, places)


def try_run(suite: str, wishes: RunWishes, config: Path | None, *, yes: bool) -> RunView:
    """Carry out a small run in a folder that is gone afterwards: no ledger and no outputs of the user are touched.

    Raises:
        UserError: the suite or a model cannot be used.
        ServerDown: a server gave out half way.
    """
    own = find_config(config, None).section
    prepared = prepare_benchmark(load_suite(suite).with_shared(own), wishes, agree=None if yes else _agree)
    _print_plan(prepared.spec, prepared.cases, verbose=False)
    _confirm(prepared.spec, yes=yes)
    with TemporaryDirectory(prefix="areopage-") as place, Ledger.open(Path(place) / "ledger.db") as ledger:
        run, _ = begin_run(prepared, ledger, Path(place))
        with _ended_like_ctrl_c(), progress(prepared.spec) as display:
            return carry_on(run, prepared.spec, prepared.cases, ledger, display, run_folder(run, Path(place)))


def resume_run(named: str, places: Places, *, yes: bool, timeout: float | None = None) -> int:
    """Resume a run from the ledger alone; its suite and dataset are not read again.

    Of a complete run only the files are written again; no model needs to be there.

    Args:
        timeout: seconds for one call, in place of the run's.

    Returns, raises:
        As `run_new`.
    """
    with opened_ledger(places) as ledger:
        run = ledger.run(named)
        allowed, agree = places.allowed_variables, None if yes else _agree
        spec, cases = reopen_run(run, ledger, _configured(places).section, allowed=allowed, agree=agree)
        spec = msgspec.structs.replace(spec, settings=spec.settings.with_timeout(timeout))
        if run.finished_at is None:
            _print_plan(spec, cases, verbose=False)
            _confirm(spec, yes=yes)
        return _go_on(run, spec, cases, ledger, places, named)


def _go_on(run: Run, spec: RunSpec, cases: tuple[RunCase, ...], ledger: Ledger, places: Places, named: str = "") -> int:
    hint = places.resume_command(run.id, ledger)
    with ExitStack() as stack:
        folder = run_folder(run, places.out, named)
        log = stack.enter_context(RunLog(folder / "run.log", spec.log_level))
        log.write("INFO", f"run {run.id}: suite {spec.suite} {spec.suite_version}, {len(cases)} cases")
        for remark in (*spec.remarks, *spec.idle):
            log.write("WARNING", str(remark))
        try:
            with _ended_like_ctrl_c(), progress(spec) as display:
                view = carry_on(run, spec, cases, ledger, Observers([display, log]), folder)
            _write_files(view, folder, log)
        except KeyboardInterrupt:
            log.write("WARNING", "stopped by the user or the system")
            typer.echo(f"\nstopped; what has arrived is kept. Go on with: {hint}", err=True)
            return INTERRUPTED
        except (ServerDown, StorageError) as fault:
            with suppress(StorageError):
                log.write("ERROR", f"stopped: {type(fault).__name__}: {fault}")
            typer.echo(f"areopage: {' '.join(str(fault).split())}; what has arrived is kept, go on with: {hint}", err=True)
            return INCONCLUSIVE
        except UserError as fault:
            raise UserError(f"{fault}; what has arrived is kept, go on with: {hint}") from fault
    print_view(view, folder)
    return _exit_code(view, hint)


def _write_files(view: RunView, folder: Path, log: RunLog) -> None:
    for path in write_run_files(view, folder):
        log.write("INFO", f"wrote {path.name}")
    for warning in view.scores.warnings:
        log.write("WARNING", str(warning))
    log.write("INFO", f"final score {view.scores.tree.score}, coverage {view.coverage.share:.4f}")


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """SIGTERM stops the run as Ctrl-C does: what has arrived is stored, and the user is told how to go on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit_code(view: RunView, hint: str) -> int:
    release = run_release(view)
    if release is not None and release.verdict == "FAIL":
        return FAILED
    if not view.complete:
        typer.echo(f"some calls brought no verdict; try them again with: {hint}", err=True)
        return INCONCLUSIVE
    if view.coverage.none_applies:
        typer.echo("no criterion applies to any case: nothing is scored", err=True)
        return INCONCLUSIVE
    if view.scores.tree.score is None:
        typer.echo(f"nothing could be scored: run.log says why; after mending it: {hint}", err=True)
        return INCONCLUSIVE
    coverage, least = view.coverage.share, view.spec.min_coverage
    if coverage < least:
        typer.echo(f"inconclusive: coverage {coverage:.1%} is below {least:.0%} (execution.min_coverage)", err=True)
        return INCONCLUSIVE
    for told in unscored_first(view):
        typer.echo(f"inconclusive: {told}", err=True)
        return INCONCLUSIVE
    return INCONCLUSIVE if release is not None and release.verdict == "INCONCLUSIVE" else DONE


@contextmanager
def progress(spec: RunSpec) -> Iterator[Observer]:
    """The display that fits where the output goes."""
    console = Console(stderr=True)
    with ExitStack() as stack:
        shown: Observer = stack.enter_context(LiveProgress(spec, console)) if console.is_terminal else PlainProgress(spec)
        notice = stack.enter_context(SilenceNotice(spec, lambda line: console.print(line, markup=False, highlight=False)))
        yield Observers([shown, notice])


def _print_plan(spec: RunSpec, cases: tuple[RunCase, ...], *, verbose: bool) -> None:
    size = estimate(spec, cases)
    for remark in (*spec.remarks, *(spec.idle if verbose else ())):
        typer.echo(f"note: {remark}", err=True)
    if spec.idle and not verbose:
        keys = counted(len(spec.idle), "key")
        typer.echo(f"note: {keys} of the configuration without a meaning here (--verbose and run.log list them)", err=True)
    target = f"target {spec.target.reference}, mode {spec.mode}" if spec.target else "responses come with the cases"
    typer.echo(f"suite {spec.suite} {spec.suite_version}, language {spec.language}; {target}", err=True)
    criteria, judges = counted(size.criteria, "criterion", "criteria"), counted(len(spec.judges), "judge")
    typer.echo(f"{counted(size.cases, 'case')}, {criteria}, {judges}:", err=True)
    for judge in spec.judges:
        unfit = f" - NOT FIT TO JUDGE: {judge.unfit}" if judge.unfit else ""
        calls = f"{counted(size.judge_calls[judge.name], 'call')}, {counted(len(judge.passes), 'pass', 'passes')}"
        recorded = f", recorded from {judge.recorded_model}" if judge.recorded_model else ""
        typer.echo(f"  {judge.name} ({judge.reference}{recorded}): {calls}{unfit}", err=True)
    for line in calls_of(spec):
        typer.echo(line, err=True)
    if size.ruled_out:
        pairs = counted(size.ruled_out, "pair")
        saved = counted(size.saved_calls, "call")
        typer.echo(f"rules (applies_to) leave out {pairs} of case and criterion: {saved} saved", err=True)
    tokens = f"about {size.prompt_tokens:,} prompt and {size.completion_tokens:,} answer tokens"
    for warning in size.warnings:
        typer.echo(f"warning: {warning}", err=True)
    calls = f"{counted(size.calls, 'call')} ({counted(size.answer_calls, 'answer')})"
    cost = report_locale("en").costs(size.costs)
    money = f", about {cost}" if cost else ""
    typer.echo(f"plan: {calls}, {tokens}{money}, {counted(size.loads, 'model load')}", err=True)


def _agree(asked: Sequence[Contact]) -> bool:
    """Whether the user agrees, on a terminal, to send variables to servers that a suite or a stored run defines."""
    if not sys.stdin.isatty():
        return False
    for contact in asked:
        typer.echo(f"the suite sends the value of {name_list(contact.variables)} to {contact.address}", err=True)
    if not typer.confirm("Send it?", default=False, err=True):
        raise typer.Exit(INTERRUPTED)
    return True


def _confirm(spec: RunSpec, *, yes: bool) -> None:
    """Ask whether to begin.

    Raises:
        UserError: there is no terminal to ask on, and a model costs money.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        if paid := paid_models(spec, os.environ):
            raise UserError(
                f"{name_list(paid)}: these models cost money, and there is no terminal to ask on: give --yes to start"
            )
    elif not typer.confirm("Go on?", default=True, err=True):
        raise typer.Exit(INTERRUPTED)
