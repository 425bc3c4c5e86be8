"""Start or resume a run: prepare, check the models, show the plan, carry out, write the results."""

import asyncio
import os
import secrets
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import typer
from filelock import FileLock, Timeout
from msgspec import Struct
from rich.console import Console

from areopage.bench.estimate import estimate
from areopage.bench.pool import check_models, same_models, with_competent_jury
from areopage.bench.prepare import PreparedRun, RunWishes, prepare_run
from areopage.bench.results import load_run_cases, view_run
from areopage.bench.run import Observer, RunContext, carry_out
from areopage.bench.spec import RunCase, RunSpec, decode_spec, encode_spec, fingerprint_of
from areopage.cli.bench_show import print_view
from areopage.cli.progress import LiveProgress, Observers, PlainProgress, RunLog
from areopage.errors import ServerDown, StorageError, UserError
from areopage.ledger.connection import make_folder
from areopage.ledger.records import Run
from areopage.ledger.store import Ledger
from areopage.models.settings import ModelSettings
from areopage.report.run_files import write_run_files
from areopage.suites.loader import load_suite

COMPLETE, INCOMPLETE, INTERRUPTED = 0, 1, 130
LOCK_FILE = "run.lock"
START_LOCK_FILE = "start.lock"


class Places(Struct, frozen=True, kw_only=True):
    """Where the user wants runs and their ledger; `ledger` is None unless it was named."""

    out: Path
    ledger: str | None

    def resume_command(self, run_id: str, ledger: Ledger) -> str:
        """The command that goes on with a run; a database's password is not repeated."""
        named = ["--ledger", ledger.place if "://" in self.ledger else self.ledger] if self.ledger else []
        return shlex.join(["areopage", "bench", "resume", run_id, "--out", str(self.out), *named])


def want_run(suite: str, wishes: RunWishes, *, fresh: bool) -> PreparedRun:
    """Read the suite and the dataset, and check the models.

    Raises:
        UserError: whatever the user can mend; nothing was written or paid for yet.
    """
    if fresh:
        wishes = msgspec.structs.replace(wishes, salt=secrets.token_hex(8))
    prepared = prepare_run(load_suite(suite), wishes)
    spec = asyncio.run(check_models(prepared.spec, with_environment(prepared.spec.settings)))
    return msgspec.structs.replace(prepared, spec=with_competent_jury(spec))


def start_run(prepared: PreparedRun, ledger: Ledger, places: Places, *, yes: bool) -> int:
    """Begin a run, or go on with the unfinished one that has the same specification.

    Returns:
        The exit code: 0 complete, 1 some calls brought no verdict, 130 interrupted.

    Raises:
        UserError: whatever the user can mend; what was paid for is kept.
    """
    spec, cases = prepared.spec, prepared.cases
    fingerprint = fingerprint_of(spec, cases)
    if ledger.unfinished_run(fingerprint) is None:
        print_plan(spec, cases)
        confirm(yes)
    # Two processes with the same wishes must not both find nothing and begin.
    with start_lock(ledger, places.out):
        run = ledger.unfinished_run(fingerprint)
        if run is None:
            run = create_run(prepared, fingerprint, ledger, places.out)
        else:
            typer.echo(f"resuming the unfinished run {run.id} (--fresh starts anew)", err=True)
    return go_on(run, spec, cases, ledger, places)


def resume_run(run: Run, ledger: Ledger, places: Places, *, yes: bool) -> int:
    """Go on with a run from the ledger alone; its suite and dataset are not read again.

    Of a complete run only the files are written again; no model needs to be there.

    Returns, raises:
        As `start_run`.
    """
    spec = decode_spec(run.spec, f"run {run.id}")
    cases = load_run_cases(ledger, run.id)
    if run.finished_at is None:
        same_models(spec, asyncio.run(check_models(spec, with_environment(spec.settings))))
        print_plan(spec, cases)
        confirm(yes)
    return go_on(run, spec, cases, ledger, places)


def go_on(run: Run, spec: RunSpec, cases: tuple[RunCase, ...], ledger: Ledger, places: Places) -> int:
    """Carry out what is left of a run, and write its results."""
    folder = Path(run.folder)
    make_folder(folder)
    hint = places.resume_command(run.id, ledger)
    with ExitStack() as stack:
        stack.enter_context(run_lock(folder, run.id))
        log = stack.enter_context(RunLog(folder / "run.log", spec.log_level))
        log.write("INFO", f"run {run.id}: suite {spec.suite} {spec.suite_version}, {len(cases)} cases")
        for remark in spec.remarks:
            log.write("WARNING", remark)
        try:
            with progress(spec) as display:
                context = RunContext(
                    run_id=run.id,
                    spec=spec,
                    settings=with_environment(spec.settings),
                    ledger=ledger,
                    observer=Observers([display, log]),
                )
                asyncio.run(carry_out(context, cases))
        except KeyboardInterrupt:
            log.write("WARNING", "interrupted by the user")
            typer.echo(f"\nstopped; what has arrived is kept. Go on with: {hint}", err=True)
            return INTERRUPTED
        except UserError as fault:
            raise type_of_stop(fault)(f"{fault}; what has arrived is kept, go on with: {hint}") from fault
        view = view_run(ledger.run(run.id), ledger)
        for path in write_run_files(view, folder):
            log.write("INFO", f"wrote {path.name}")
        for warning in view.scores.warnings:
            log.write("WARNING", warning)
        log.write("INFO", f"final score {view.scores.tree.score}, coverage {view.scores.tree.coverage:.4f}")
    print_view(view, folder)
    if not view.complete:
        typer.echo(f"some calls brought no verdict; try them again with: {hint}", err=True)
        return INCOMPLETE
    if view.scores.tree.score is None:
        typer.echo(f"nothing could be scored: run.log says why; after mending it: {hint}", err=True)
        return INCOMPLETE
    return COMPLETE


def type_of_stop(fault: UserError) -> type[UserError]:
    """The class to raise a fault again with, a hint added."""
    return type(fault) if type(fault) in (ServerDown, StorageError) else UserError


def create_run(prepared: PreparedRun, fingerprint: str, ledger: Ledger, out: Path) -> Run:
    """Append a new run; its folder is named after the suite and the time."""
    spec = prepared.spec
    now = datetime.now(UTC)
    name = f"{spec.suite}-{now:%Y-%m-%d_%H%M%S}-{secrets.token_hex(2)}"
    folder = (out / name).resolve()
    make_folder(folder)
    run = Run(
        id=name,
        suite=spec.suite,
        fingerprint=fingerprint,
        folder=str(folder),
        created_at=now,
        finished_at=None,
        spec=encode_spec(spec),
    )
    cases, rejected = ([msgspec.json.encode(one).decode() for one in part] for part in (prepared.cases, prepared.rejected))
    ledger.create_run(run, cases, rejected)
    return run


@contextmanager
def start_lock(ledger: Ledger, out: Path) -> Iterator[None]:
    """Let one process at a time look for an unfinished run and create one; others wait.

    The lock lies beside a SQLite ledger, which is what it guards; for a database server it lies in the folder of the runs, and
    holds for this machine.

    Raises:
        StorageError: the folder cannot be written.
    """
    make_folder(out)
    is_file = ledger.engine.dialect.name == "sqlite"
    lock = FileLock(f"{ledger.place}.start.lock" if is_file else out / START_LOCK_FILE)
    try:
        lock.acquire()
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def run_lock(folder: Path, run_id: str) -> Iterator[None]:
    """Keep two processes from working on one run; the system frees the lock when its holder dies.

    Raises:
        UserError: another process holds it.
        StorageError: the folder cannot be written.
    """
    lock = FileLock(folder / LOCK_FILE, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        message = f"run {run_id} is being carried out by another process: wait for it, or start anew with --fresh"
        raise UserError(message) from None
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def with_environment(settings: ModelSettings) -> ModelSettings:
    """Settings with the process's environment, which is never kept."""
    return msgspec.structs.replace(settings, environment=dict(os.environ))


@contextmanager
def progress(spec: RunSpec) -> Iterator[Observer]:
    """The display that fits where the output goes."""
    console = Console(stderr=True)
    if console.is_terminal:
        with LiveProgress(spec, console) as live:
            yield live
    else:
        yield PlainProgress(spec)


def print_plan(spec: RunSpec, cases: tuple[RunCase, ...]) -> None:
    """Say what the run will take, and what was remarked while preparing it."""
    size = estimate(spec, cases)
    for remark in spec.remarks:
        typer.echo(f"note: {remark}", err=True)
    target = f"target {spec.target.reference}, mode {spec.mode}" if spec.target else "responses come with the cases"
    typer.echo(f"suite {spec.suite} {spec.suite_version}, language {spec.language}; {target}", err=True)
    typer.echo(f"{size.cases} cases, {size.criteria} criteria, {len(spec.judges)} judges:", err=True)
    for judge in spec.judges:
        unfit = f" - NOT FIT TO JUDGE: {judge.standing}" if judge.standing else ""
        calls = f"{size.judge_calls[judge.name]} calls, {len(judge.passes)} passes"
        typer.echo(f"  {judge.name} ({judge.reference}): {calls}{unfit}", err=True)
    tokens = f"about {size.prompt_tokens:,} prompt and {size.completion_tokens:,} answer tokens"
    typer.echo(f"plan: {size.calls:,} calls ({size.answer_calls:,} answers), {tokens}, {size.loads} model loads", err=True)


def confirm(yes: bool) -> None:
    """Ask before the first call where somebody is there to answer.

    Raises:
        typer.Exit: the user says no.
    """
    if not yes and sys.stdin.isatty() and not typer.confirm("Go on?", default=True, err=True):
        raise typer.Exit(INTERRUPTED)
