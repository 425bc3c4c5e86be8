"""Prepare, start and resume benchmark runs; models are checked before the first paid call.

`run_benchmark` is the library entry; the command line calls the single steps.
"""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from areopage.bench.budget import Budget
from areopage.bench.execution.blocks import block_calls
from areopage.bench.execution.context import Observer, Observers, RunContext
from areopage.bench.execution.run import WHOLE, RunPart, carry_out
from areopage.bench.options import RunOptions
from areopage.bench.planning.budget import budget_of
from areopage.bench.planning.measures import gauge_of, with_measures
from areopage.bench.planning.pass_options import check_budget
from areopage.bench.planning.prepare import PreparedRun, prepare_run
from areopage.bench.spec import RunCase, RunSpec, Target, encode_spec, fingerprint_of, load_run_cases
from areopage.digest import short_digest
from areopage.errors import DamagedLedger, ModelError
from areopage.jury import Judge, check_model, reached_by
from areopage.ledger import Ledger, Run, json_text, make_folder
from areopage.locales import Note
from areopage.models import Agree, ModelReference, ModelSettings, Traffic, require_connections
from areopage.suites import SharedSections, Suite, load_suite

if TYPE_CHECKING:
    from areopage.bench.results.run_view import RunView


def run_benchmark(
    suite: Suite | str,
    options: RunOptions | None = None,
    *,
    ledger: Ledger,
    out: Path = Path("outputs"),
    fresh: bool = False,
    new: bool = False,
    only_qualified: bool = False,
    observer: Observer | None = None,
    budget: float | None = None,
) -> "RunView":
    """Run a benchmark, or resume the unfinished run with the same specification.

    Args:
        suite: a loaded suite, a bundled suite's name or a folder.
        out: the folder that gets the run's folder.
        fresh: ask judges again about answers of which the ledger has their judgments; begin a new run.
        new: begin a new run, even if one with the same specification is unfinished.
        only_qualified: refuse judges that have not passed the exam on every criterion that they judge.
        observer: is told about each call.
        budget: what the run may cost, in the currency of its models' prices; None: no limit.

    Raises:
        UserError: the suite, the dataset or a model cannot be used; paid calls are kept.
        BudgetSpent: the next call might cost more than is left; the run is resumed with a higher budget.
    """
    prepared = prepare_benchmark(suite, options or RunOptions(), fresh=fresh)
    if only_qualified:
        ledger.qualifications.require(
            prepared.spec.suite, prepared.spec.judges, prepared.spec.criteria, joint=prepared.spec.joint
        )
    prepared = structs.replace(prepared, spec=with_measures(prepared.spec, ledger))
    run, _ = begin_run(prepared, ledger, out, resumed_since(prepared.spec, new=new))
    limit = budget_of(budget, [prepared.spec], ledger, [run]) if budget is not None else None
    spec = prepared.spec
    del prepared  # the run reads its cases from the ledger: their texts are held once
    return settle(run, carry_on(run, spec, ledger, observer or Observers(), run_folder(run, out), limit), ledger)


def prepare_benchmark(suite: Suite | str, options: RunOptions, *, fresh: bool = False, agree: Agree | None = None) -> PreparedRun:
    """Read the suite and dataset, and check the models; writes nothing.

    Raises:
        UserError: the suite, the dataset or a model cannot be used.
    """
    if fresh:
        options = structs.replace(options, salt=secrets.token_hex(8))
    prepared = prepare_run(load_suite(suite) if isinstance(suite, str) else suite, options)
    spec = agreed(prepared.spec, agree)
    follow = options.concurrency is None
    checked = asyncio.run(check_models(spec, spec.settings.with_environment(), follow_slots=follow))
    check_budget(checked, prepared.cases)
    return structs.replace(prepared, spec=checked)


RESUMED_WITHIN = timedelta(hours=12)
"""A run that began earlier is resumed by its id only: the model may have changed since its target answered."""


def resumed_since(spec: RunSpec, *, new: bool = False) -> datetime | None:
    """When an unfinished run must have begun to be resumed by the command that began it; None: at any time.

    Batches take a day, and are paid for: a run with batches is resumed whenever it began.
    """
    now = datetime.now(UTC)
    if new:
        return now
    return None if spec.batch else now - RESUMED_WITHIN


def begin_run(prepared: PreparedRun, ledger: Ledger, out: Path, since: datetime | None = None) -> tuple[Run, bool]:
    """Return the matching unfinished run or a new run, and whether it is new.

    Processes that begin the same run at the same time get the same one. A new run's folder is named after the suite and the time.

    Raises:
        StorageError: the folder cannot be written.
    """
    spec, now = prepared.spec, datetime.now(UTC)
    make_folder(out)
    name = f"{spec.suite}-{now:%Y-%m-%d_%H%M%S}-{secrets.token_hex(2)}"
    run = Run(
        id=name,
        suite=spec.suite,
        fingerprint=fingerprint_of(spec, prepared.cases),
        folder=str((out / name).resolve()),
        created_at=now,
        finished_at=None,
        spec=encode_spec(spec),
    )
    begun = ledger.begin_run(run, map(json_text, prepared.cases), map(json_text, prepared.rejected), since=since)
    return begun, begun.id == run.id


def reopen_run(
    run: Run, ledger: Ledger, shared: SharedSections | None = None, *, allowed: Sequence[str] = (), agree: Agree | None = None
) -> tuple[RunSpec, tuple[RunCase, ...]]:
    """Load a run from the ledger; check the models unless it is complete.

    Args:
        shared: the user's configuration, whose endpoints and bots win over the stored ones.
        allowed: environment variables whose values the stored endpoints and bots may be sent.
        agree: see `Agree`.

    Raises:
        UserError: a model cannot be asked, or is another one than at the start.
    """

    spec = RunSpec.of(run)
    if run.finished_at is None:
        spec = agreed(structs.replace(spec, settings=reached_by(spec.settings, shared or SharedSections(), allowed)), agree)
        same_models(spec, asyncio.run(check_models(spec, spec.settings.with_environment())))
    return spec, load_run_cases(ledger, run.id)


def carry_on(
    run: Run,
    spec: RunSpec,
    ledger: Ledger,
    observer: Observer,
    folder: Path,
    budget: Budget | None = None,
    part: RunPart = WHOLE,
) -> int:
    """Make a run's open calls, or those of a part; return how many are left that another try could bring.

    Other processes may make calls of the run meanwhile: each call is made by one of them.

    Raises:
        ServerDown, ModelError, StorageError: the run stops; what arrived is kept.
        BudgetSpent: the run stops in the same way.
    """
    return asyncio.run(carry_out(context_of_run(run, spec, ledger, observer, budget), folder, part))


def context_of_run(run: Run, spec: RunSpec, ledger: Ledger, observer: Observer, budget: Budget | None = None) -> RunContext:
    """What the phases of a stored run share."""
    stored = RunSpec.of(run)
    spec = structs.replace(spec, gauges=stored.gauges)  # what a case is cut to decides the key of its judgments
    return RunContext(
        run_id=run.id,
        named_by=stored.settings,
        spec=spec,
        settings=spec.settings.with_environment(),
        traffic=Traffic(spec.outage_seconds, observer, budget, gauges=spec.gauges, at_once=spec.concurrency),
        ledger=ledger,
        block_calls=block_calls(stored.concurrency),
        observer=observer,
        budget=budget,
    )


def settle(run: Run, open_calls: int, ledger: Ledger) -> "RunView":
    """Record whether a run is complete, and compute its results.

    What computes them is imported here, or before while calls are out: the first call needs no part of it.
    """
    from areopage.bench.results.evaluations import store_evaluations
    from areopage.bench.results.history import with_history
    from areopage.bench.results.run_view import view_run

    ledger.finish_run(run.id, None if open_calls else datetime.now(UTC))
    view = view_run(ledger.run(run.id), ledger, linked=False)
    store_evaluations(view, ledger)
    return with_history(view, ledger)


def agreed(spec: RunSpec, agree: Agree | None) -> RunSpec:
    """The specification with the variables allowed that the user agrees to send to its foreign servers; see `Contact`."""
    variables = spec.settings.with_environment().agreed_variables(spec.models, agree)
    return structs.replace(spec, settings=spec.settings.allowing(variables))


async def check_models(spec: RunSpec, settings: ModelSettings, *, follow_slots: bool = False) -> RunSpec:
    """Check the target and judges; record digests, fitness and supported criteria.

    Args:
        follow_slots: make as many calls at once as the servers of all models work on at once, where all of them tell.

    Raises:
        ServerDown, ModelMissing, ModelError, MissingExtra: a model cannot be used, or the connections do not fit.
        CriteriaError: no judge may judge anything.
    """
    if spec.batch:
        from areopage.bench.execution.batch_judges import check_batches

        await check_batches(spec, settings)
    asked = {model.reference: await check_model(model.reference, settings) for model in spec.answering}
    target, child = [
        model and structs.replace(model, digest=asked[model.reference].digest) for model in (spec.target, spec.child)
    ]
    statuses = await spec.judge_statuses(settings)
    checked = spec.checked(statuses)
    if follow_slots:
        models = [*asked.values(), *(status for status in statuses.values() if status.kind == "model")]
        slots = [status.slots for status in models if status.slots is not None]
        if slots and len(slots) == len(models):
            settings = structs.replace(checked.settings, connections=min(slots))
            checked = structs.replace(checked, concurrency=min(slots), settings=settings)
    require_connections(checked.models, checked.concurrency, settings)
    left_out = Note("unjudged_criteria", {"criteria": tuple(checked.unjudged)})
    remarks = (*spec.remarks, left_out) if checked.unjudged else spec.remarks
    remarks += _shared_models(target, checked.judges)
    gauges = {str(reference): gauge_of(reference, status) for reference, status in (*asked.items(), *statuses.items())}
    return structs.replace(checked, target=target, child=child, remarks=remarks, gauges=gauges)


def _shared_models(target: Target | None, judges: Sequence[Judge]) -> tuple[Note, ...]:
    remarks: list[Note] = []
    seen: dict[tuple[str, str], str] = {}
    for judge in judges:
        if not judge.is_model:
            continue
        model = _model_of(judge.reference, judge.digest)
        if target is not None and model == _model_of(target.reference, target.digest):
            remarks.append(Note("judge_is_target", {"judge": judge.name, "model": str(judge.reference)}))
        if model in seen:
            names = {"first": seen[model], "second": judge.name, "model": str(judge.reference)}
            remarks.append(Note("judges_are_one_model", names))
        seen.setdefault(model, judge.name)
    return tuple(remarks)


def _model_of(reference: ModelReference, digest: str) -> tuple[str, str]:
    """The same for two names of the same weights at a server that tells their digest."""
    return ("", digest) if reference.provider == "ollama" and digest else (str(reference), "")


def same_models(before: RunSpec, now: RunSpec) -> None:
    """Check that a resumed run uses the models it began with."""
    digests = [(old.name, old.digest, new.digest) for old, new in zip(before.judges, now.judges, strict=True)]
    digests += [(str(old.reference), old.digest, new.digest) for old, new in zip(before.answering, now.answering, strict=True)]
    for name, old, new in digests:
        if old != new:
            change = f"(digest {short_digest(old)}, now {short_digest(new)})"
            raise ModelError(f"{name} is not the model that the run began with {change}: start a new run")


def run_folder(run: Run, out: Path, named: str = "") -> Path:
    """The folder of a run, created if missing; see `folder_of`."""
    folder = folder_of(run, out, named)
    make_folder(folder)
    return folder


def folder_of(run: Run, out: Path, named: str = "") -> Path:
    """The folder that a run's files belong to: the stored one if it is in `out`, else one of the run's name in `out`.

    A ledger may come from another user: what it says does not decide where files are written.

    Args:
        named: how the user named the run; the stored folder is taken if it is this one.
    """
    folder = Path(run.folder).resolve()
    if out.resolve() in folder.parents or Path(named).resolve() == folder:
        return folder
    if run.id in ("", ".", "..") or Path(run.id).name != run.id:
        raise DamagedLedger(f"{run.id!r} is not the id of a run")
    return out.resolve() / run.id
