"""Prepare, start and resume benchmark runs: the library entry `run_benchmark`, and the steps that the command line shows."""

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout
from msgspec import structs

from areopage.bench.pool import check_models, same_models
from areopage.bench.prepare import PreparedRun, RunWishes, prepare_run
from areopage.bench.results import RunView, load_run_cases, store_evaluations, view_run
from areopage.bench.run import Observer, RunContext, Silent, carry_out
from areopage.bench.spec import RunCase, RunSpec, encode_spec, fingerprint_of, spec_of
from areopage.errors import StorageError, UserError
from areopage.ledger.connection import make_folder
from areopage.ledger.records import Run
from areopage.ledger.store import Ledger
from areopage.models.settings import ModelSettings
from areopage.suites.loader import Suite, load_suite

_RUN_LOCK = "run.lock"
_START_LOCK = "start.lock"


def run_benchmark(
    suite: Suite | str,
    wishes: RunWishes | None = None,
    *,
    ledger: Ledger,
    out: Path = Path("outputs"),
    fresh: bool = False,
    observer: Observer | None = None,
) -> RunView:
    """Run a benchmark to its end, or resume the unfinished run with the same specification.

    Args:
        suite: a loaded suite, a bundled suite's name or a folder.
        out: the folder that gets the run's folder.
        fresh: ask every question again, even where the ledger has the answer.
        observer: is told about each call.

    Raises:
        UserError: the suite, the dataset or a model cannot be used; paid calls are kept.
    """
    prepared = prepare_benchmark(suite, wishes or RunWishes(), fresh=fresh)
    run, _ = begin_run(prepared, ledger, out)
    with run_lock(run):
        return carry_on(run, prepared.spec, prepared.cases, ledger, observer or Silent())


def prepare_benchmark(suite: Suite | str, wishes: RunWishes, *, fresh: bool = False) -> PreparedRun:
    """Read the suite and the dataset, and check the models; nothing is written or paid for.

    Raises:
        UserError: the suite, the dataset or a model cannot be used.
    """
    if fresh:
        wishes = structs.replace(wishes, salt=secrets.token_hex(8))
    prepared = prepare_run(load_suite(suite) if isinstance(suite, str) else suite, wishes)
    spec = asyncio.run(check_models(prepared.spec, _with_environment(prepared.spec.settings)))
    return structs.replace(prepared, spec=spec)


def unfinished_run(prepared: PreparedRun, ledger: Ledger) -> Run | None:
    """The unfinished run with the same specification and cases."""
    return ledger.unfinished_run(fingerprint_of(prepared.spec, prepared.cases))


def begin_run(prepared: PreparedRun, ledger: Ledger, out: Path) -> tuple[Run, bool]:
    """The unfinished run with the same specification and cases, or else a new one; and whether it is new.

    Raises:
        StorageError: the folder cannot be written.
    """
    # Two processes with the same wishes must not both find nothing and begin.
    with _start_lock(ledger, out):
        run = unfinished_run(prepared, ledger)
        return (run, False) if run else (_create_run(prepared, ledger, out), True)


def reopen_run(run: Run, ledger: Ledger) -> tuple[RunSpec, tuple[RunCase, ...]]:
    """What the ledger holds of a run; the models of an unfinished run are checked, those of a complete run are not needed.

    Raises:
        UserError: a model cannot be asked, or is another one than at the start.
    """
    spec = spec_of(run)
    if run.finished_at is None:
        same_models(spec, asyncio.run(check_models(spec, _with_environment(spec.settings))))
    return spec, load_run_cases(ledger, run.id)


def carry_on(run: Run, spec: RunSpec, cases: tuple[RunCase, ...], ledger: Ledger, observer: Observer) -> RunView:
    """Make the calls that are left of a run, and compute its results; hold `run_lock` meanwhile.

    Raises:
        ServerDown, ModelError, StorageError: the run stops; what arrived is kept.
    """
    context = RunContext(run_id=run.id, spec=spec, settings=_with_environment(spec.settings), ledger=ledger, observer=observer)
    asyncio.run(carry_out(context, cases))
    view = view_run(ledger.run(run.id), ledger)
    store_evaluations(view, ledger)
    return view


@contextmanager
def run_lock(run: Run) -> Iterator[Path]:
    """Keep other processes from working on a run; gives its folder. The system frees the lock when its holder dies.

    Raises:
        UserError: another process holds it.
        StorageError: the folder cannot be written.
    """
    folder = Path(run.folder)
    make_folder(folder)
    lock = FileLock(folder / _RUN_LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        message = f"run {run.id} is being carried out by another process: wait for it, or start anew with --fresh"
        raise UserError(message) from None
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield folder
    finally:
        lock.release()


def _create_run(prepared: PreparedRun, ledger: Ledger, out: Path) -> Run:
    """Append a new run; its folder is named after the suite and the time."""
    spec = prepared.spec
    now = datetime.now(UTC)
    name = f"{spec.suite}-{now:%Y-%m-%d_%H%M%S}-{secrets.token_hex(2)}"
    folder = (out / name).resolve()
    make_folder(folder)
    run = Run(
        id=name,
        suite=spec.suite,
        fingerprint=fingerprint_of(spec, prepared.cases),
        folder=str(folder),
        created_at=now,
        finished_at=None,
        spec=encode_spec(spec),
    )
    cases, rejected = ([msgspec.json.encode(one).decode() for one in part] for part in (prepared.cases, prepared.rejected))
    ledger.create_run(run, cases, rejected)
    return run


@contextmanager
def _start_lock(ledger: Ledger, out: Path) -> Iterator[None]:
    """Let one process at a time look for an unfinished run and create one; others wait.

    The lock lies beside a SQLite ledger, which is what it guards; for a database server it lies in the folder of the runs, and
    holds for this machine.
    """
    make_folder(out)
    is_file = ledger.engine.dialect.name == "sqlite"
    lock = FileLock(f"{ledger.place}.start.lock" if is_file else out / _START_LOCK)
    try:
        lock.acquire()
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def _with_environment(settings: ModelSettings) -> ModelSettings:
    """Settings with the process's environment, which is never stored."""
    return structs.replace(settings, environment=dict(os.environ))
