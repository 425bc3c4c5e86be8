"""The judges of a run whose calls go through batch services: all their batches are out at the same time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from tempfile import gettempdir

from areopage.bench.execution import batch_creation
from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.batch_creation import BatchCreation
from areopage.bench.execution.batch_phase import BatchCalls, BatchPhase
from areopage.bench.execution.context import RunContext
from areopage.bench.passes import RunPasses
from areopage.bench.spec import RunSpec
from areopage.errors import CallError, CallRejected, ModelError, ServerDown, StorageError
from areopage.jury import Judge, ModelJudge, run_concurrently
from areopage.ledger import Ledger, RunWriter, SentBatch, SentBatches
from areopage.models import BATCH_PROVIDERS, BatchService, ModelReference, ModelSettings, Traffic, has_batches, open_service
from areopage.work import exclusive, try_exclusive


async def carry_out_batches(
    context: RunContext, judges: Sequence[Judge], answered: AnsweredCases, passes: RunPasses, writer: RunWriter
) -> None:
    """Send the calls of judges to batch services, and store what comes back; other processes of the run wait meanwhile.

    Batches that are out are waited for, whether or not the run still sends batches: their calls are paid.
    """
    cases, numbers = answered.judged, answered.numbers
    async with exclusive(context.ledger, f"batches {context.run_id}"):
        batched: list[tuple[Judge, BatchCalls]] = []
        for judge in judges:
            calls = BatchCalls(context, judge, writer, cases, numbers, passes)
            kept = await asyncio.to_thread(calls.look_up)
            context.observer.phase(judge.name, calls.total, kept)
            batched.append((judge, calls))
        await run_concurrently("batches", batched, partial(_carry_out, context), len(batched))


async def _carry_out(context: RunContext, batched: tuple[Judge, BatchCalls]) -> None:
    judge, calls = batched
    try:
        async with _service_of(judge.name, judge.reference, context.settings, context.traffic) as service:
            model = ModelJudge(context.traffic.open(judge.reference, context.settings))
            try:
                await BatchPhase(context, judge, calls, service, model, sends=judge.name in context.spec.batch).carry_out()
            finally:
                await model.aclose()
    except OSError as fault:
        message = f"judge {judge.name}: the calls of a batch cannot be written: {fault.strerror or fault}"
        raise StorageError(f"{message}: make room in {gettempdir()}") from fault


@asynccontextmanager
async def _service_of(
    name: str, reference: ModelReference, settings: ModelSettings, traffic: Traffic
) -> AsyncIterator[BatchService]:
    """The batch service of a judge, whose faults name it."""
    service = open_service(reference, settings, traffic.calls(reference, settings))
    try:
        yield service
    except CallRejected as fault:
        raise ModelError(f"judge {name}: {fault}") from fault
    except CallError as fault:
        raise ServerDown(f"judge {name}: {fault}") from fault
    finally:
        await service.aclose()


async def cancel_batches(ledger: Ledger, run_id: str, settings: ModelSettings) -> list[SentBatch]:
    """Ask providers to cancel the batches of a run that are out; what they have brought so far is stored when the run goes on.

    Args:
        settings: how the run's judges are reached.

    Returns:
        The batches as they are then.

    Raises:
        ModelError, ServerDown: a provider cannot be asked.
    """
    stored, traffic = ledger.batches, Traffic()
    with try_exclusive(ledger, f"batches {run_id}") as mine:
        for batch in stored.open_in(run_id):
            async with _service_of(batch.phase, ModelReference.parse(batch.model), settings, traffic) as service:
                if mine:
                    await BatchCreation(service, stored, batch_creation.PACE).recover(batch, waits=False)
                for created in [other for other in stored.open_in(run_id) if other.token == batch.token and other.batch_id]:
                    await _cancel(service, stored, created)
    return list(stored.of_run(run_id))


async def _cancel(service: BatchService, stored: SentBatches, batch: SentBatch) -> None:
    try:
        state = await service.state(batch.batch_id)
        if not state.ended:
            state = await service.cancel(batch.batch_id)
    except CallRejected as fault:
        if fault.status != HTTPStatus.NOT_FOUND:
            raise
        stored.ended(batch.token)
        return
    stored.seen(batch.token, state.status, state.completed, state.failed, state.message)


async def check_batches(spec: RunSpec, settings: ModelSettings) -> None:
    """Make sure that the judges whose calls go through batch services have one."""
    traffic = Traffic()
    for judge in spec.judges:
        if judge.name not in spec.batch:
            continue
        name = f"{judge.name} ({judge.reference})"
        if not has_batches(judge.reference):
            providers = ", ".join(BATCH_PROVIDERS)
            message = f"{judge.reference.provider} has no batch service (--batch is for {providers}): leave out --batch"
            raise ModelError(f"judge {name}: {message}")
        async with _service_of(name, judge.reference, settings, traffic) as service:
            try:
                await service.check()
            except ModelError as fault:
                raise ModelError(f"judge {name}: {fault}") from fault
