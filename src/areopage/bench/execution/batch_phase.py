"""The calls to one judge that go through its provider's batch service.

What a batch brings is stored as the judgments of its calls, under the keys that direct calls have. A batch is created once,
even if the process is killed at any moment: see `batch_creation`.
"""

import asyncio
import math
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import islice
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

import msgspec

from areopage.bench.execution import batch_creation
from areopage.bench.execution.batch_creation import BatchCreation
from areopage.bench.execution.context import RunContext
from areopage.bench.passes import RunPasses
from areopage.errors import CallError, CallRejected, ModelError
from areopage.jury import CallContext, Judge, JudgedCase, ModelJudge, PlannedCall, run_concurrently
from areopage.ledger import IN_BATCH, Judgment, Link, RunWriter, SentBatch
from areopage.models import TOO_MUCH_AT_ONCE, BatchLine, BatchService, BatchState
from areopage.text import byte_length, marked_as


class BatchCalls:
    """The calls to a judge about all cases that have an answer; identical cases share a call.

    The calls that batches leave are made by the judge's phase.
    """

    def __init__(
        self,
        context: RunContext,
        judge: Judge,
        writer: RunWriter,
        cases: Sequence[JudgedCase],
        numbers: Mapping[str, int],
        passes: RunPasses,
    ) -> None:
        self._context, self._judge, self._writer = context, judge, writer
        self._judged, self._numbers, self._passes = cases, numbers, passes
        self._missing: dict[str, PlannedCall] = {}
        self._links: dict[str, list[Link]] = {}
        self._cases: dict[int, list[str]] = {}  # by the number of their answer
        self.total = 0

    def look_up(self) -> int:
        """Plan the calls and look them up in the ledger; return the number of final judgments."""
        calls, links = dict[str, PlannedCall](), dict[str, list[Link]]()
        for judged in self._judged:
            self._cases.setdefault(self._numbers[judged.case.id], []).append(judged.case.id)
        for call in self._context.spec.call_plan(self._judged, self._judge, self._passes.of):
            calls.setdefault(call.key, call)
            links.setdefault(call.key, []).append(Link(self._numbers[call.case.id], self._context.run_id, call.key))
        judgments = self._context.ledger.judgments(list(calls))
        final = {key for key, judgment in judgments.items() if self._judge.is_final(judgment)}
        # a reply that is withheld is shown to no judge: the phase says what becomes of it
        self._missing = {key: call for key, call in calls.items() if key not in final and not marked_as(call.case.response)}
        self._links = {key: links[key] for key in self._missing}
        self.total = len(calls)
        return len(final)

    def missing(self) -> list[PlannedCall]:
        """The calls without a judgment."""
        return list(self._missing.values())

    def receive(self, judgment: Judgment) -> None:
        """Store the judgment of a call that was missing."""
        del self._missing[judgment.key]
        links = self._links.pop(judgment.key)
        self._writer.write_soon([judgment, *links])
        answers = dict.fromkeys(link.answer for link in links)
        self._context.observer.judged(judgment, [case for answer in answers for case in self._cases[answer]])

    async def flush(self) -> None:
        """Wait until all judgments so far are on the disk."""
        await self._writer.flush()


_PORTION = 500  # results that are read before they are committed


class _Written(NamedTuple):
    """A call in a batch's file, and where its line ends there."""

    call: PlannedCall
    end: int


class BatchPhase:
    """The batches of one judge in one run; one process at a time drives them."""

    def __init__(
        self, context: RunContext, judge: Judge, calls: BatchCalls, service: BatchService, model: ModelJudge, *, sends: bool
    ) -> None:
        self._context, self._judge, self._calls, self._sends = context, judge, calls, sends
        self._service, self._model, self._pace = service, model, batch_creation.PACE
        self._stored = context.ledger.batches
        self._creation = BatchCreation(service, self._stored, self._pace)
        self._asked = CallContext(
            run_id=context.run_id, secret=context.ledger.secret(), personas=context.spec.personas, language=context.spec.language
        )
        self._rounds = Counter[str]()
        self._reserved: dict[str, float] = {}  # of the budget, by token
        self._cost = 0.0  # of the answers of the batch that is stored
        self._direct: set[str] = set()  # the keys of calls that are left to direct calls
        self._reported: set[str] = set()  # the tokens of batches whose state the observer has
        self._with_schema = True
        self._at_once = math.inf
        self._most_calls = min(self._pace.calls, service.most_calls)
        self._most_bytes = min(self._pace.size, service.most_bytes)

    async def carry_out(self) -> None:
        """Send the calls that are missing and store what comes back; on return no batch of the judge is out.

        Calls that no batch could answer are left to direct calls.
        """
        pause = self._pace.first
        for batch in await asyncio.to_thread(self._stored.kept_in, self._context.run_id):
            if batch.phase == self._judge.name:  # a killed process has stored all its results, and not deleted its prompts
                await self._discard(batch)
        for batch in await asyncio.to_thread(self._open):
            await self._creation.recover(batch)
        self._set_aside(await asyncio.to_thread(self._open))
        while True:
            out = await asyncio.to_thread(self._open)
            out += await self._send(out)
            if not out:
                return
            changed = [await self._look(batch) for batch in out]
            if any(changed):
                pause = self._pace.first
                continue
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, self._pace.longest)

    def _open(self) -> list[SentBatch]:
        return [batch for batch in self._stored.open_in(self._context.run_id) if batch.phase == self._judge.name]

    async def _discard(self, batch: SentBatch) -> None:
        await self._service.discard(batch.token, batch.batch_id)
        await asyncio.to_thread(self._stored.discarded, batch.token)

    # --- sending

    async def _send(self, out: Sequence[SentBatch]) -> list[SentBatch]:
        """Send batches of the calls that are missing and not out."""
        if not self._sends:
            return []
        outside = {key for batch in out for key in batch.keys} | self._direct
        left = iter([call for call in self._calls.missing() if call.key not in outside])
        sent: list[SentBatch] = []
        while len(out) + len(sent) < self._at_once:
            with TemporaryFile() as file:
                written = await asyncio.to_thread(self._write, left, file)
                fitting = await self._within_budget(written, file, waits=bool(out or sent))
                if not fitting:
                    break
                sent.append(await self._created([line.call.key for line in fitting], file))
            self._set_aside(sent[-1:])
            if len(fitting) < len(written):
                break
        return sent

    def _write(self, left: Iterator[PlannedCall], file: BinaryIO) -> list[_Written]:
        """Write calls as the lines of a batch, as many as it may hold."""
        written, size = list[_Written](), 0
        for call in left:
            line = self._line(call)
            if not line:
                self._direct.add(call.key)
                continue
            size += len(line)
            written.append(_Written(call, size))
            file.write(line)
            if len(written) >= self._most_calls or size + 2 * len(line) > self._most_bytes:
                break
        file.flush()
        return written

    async def _within_budget(self, written: list[_Written], file: BinaryIO, *, waits: bool) -> list[_Written]:
        """The first calls of a batch, as far as the budget allows; the others are cut from its file.

        Args:
            waits: whether batches are out, which may cost less than was set aside.
        """
        budget = self._context.budget
        if budget is None or not written:
            return written
        if not waits:
            first = written[0].call
            await budget.wait_for(self._judge.reference, self._worst(first), first.options)
        left, count = budget.left, 0
        for line in written:
            left -= self._worst(line.call)
            if left < 0:
                break
            count += 1
        if count:
            file.truncate(written[count - 1].end)
        return written[:count]

    def _worst(self, call: PlannedCall) -> float:
        """What a call costs at most in a batch; 0 without a price."""
        if self._judge.price is None:
            return 0.0
        messages, _ = self._model.request(call, self._asked)
        return self._judge.price.in_batch().worst_of(messages, call.options)

    def _set_aside(self, batches: Sequence[SentBatch]) -> None:
        """Set aside what batches that are out cost at most."""
        if self._context.budget is None:
            return
        calls = {call.key: call for call in self._calls.missing()}
        for batch in batches:
            self._reserved[batch.token] = sum(self._worst(calls[key]) for key in batch.keys if key in calls)
            self._context.budget.take(self._reserved[batch.token])

    def _line(self, call: PlannedCall) -> bytes:
        """A call as a line of a batch; empty where only a direct call says what is wrong with it."""
        messages, schema = self._model.request(call, self._asked)
        gauge = self._context.spec.gauges.get(str(self._judge.reference))
        if gauge is not None and gauge.refusal(sum(byte_length(message.content) for message in messages), call.options):
            return b""
        try:
            line = self._service.line(call.key, messages, call.options, schema if self._with_schema else None)
        except CallRejected:
            return b""
        return line if len(line) <= self._most_bytes // 2 else b""

    async def _created(self, keys: Sequence[str], file: BinaryIO) -> SentBatch:
        batch = SentBatch(
            token=secrets.token_hex(16),
            run_id=self._context.run_id,
            phase=self._judge.name,
            model=str(self._judge.reference),
            calls=len(keys),
            keys=tuple(keys),
            created_at=datetime.now(UTC),
        )
        created = await self._creation.create(batch, file)
        self._rounds.update(keys)
        return created

    # --- results

    async def _look(self, batch: SentBatch) -> bool:
        """Look at a batch, and store what it brought if it has ended; whether there was news."""
        state = await self._service.state(batch.batch_id)
        waited = batch.token in self._reported
        before = (batch.status, batch.completed, batch.failed)
        if not state.ended and before == (state.status, state.completed, state.failed) and waited:
            return False
        self._reported.add(batch.token)
        await asyncio.to_thread(self._stored.seen, batch.token, state.status, state.completed, state.failed, state.message)
        seen = msgspec.structs.replace(batch, status=state.status, completed=state.completed, failed=state.failed)
        self._context.observer.batch(msgspec.structs.replace(seen, message=state.message))
        if state.ended:
            await self._store(batch, state, waited)
        return state.ended

    async def _store(self, batch: SentBatch, state: BatchState, waited: bool) -> None:
        calls = {call.key: call for call in self._calls.missing()}
        outside = {key: calls[key] for key in batch.keys if key in calls}
        refused, taught, self._cost = 0, set[str](), 0.0
        for file_id in state.files:
            with TemporaryFile() as file:
                lines = await self._results(file_id, file)
                while portion := await asyncio.to_thread(list, islice(lines, _PORTION)):
                    by_key = {line.key: line for line in portion if line.key in outside}  # the first of two would be as good
                    answers = {key: line for key, line in by_key.items() if line.fault is None}
                    rejected = [key for key, line in by_key.items() if isinstance(line.fault, CallRejected)]
                    taught |= self._learn([(outside[key], by_key[key]) for key in rejected], bool(taught))
                    await self._read({key: (outside.pop(key), line) for key, line in answers.items()})
                    refused += len(rejected)
                    self._direct.update(rejected)
        await self._calls.flush()
        await asyncio.to_thread(self._stored.ended, batch.token)
        if self._context.budget is not None:
            self._context.budget.settle(self._reserved.pop(batch.token), self._cost)
        await self._discard(batch)
        if state.status == "cancelled" and waited:
            raise ModelError(f"batch {state.id} of judge {self._judge.name} was cancelled at the provider")
        self._direct -= taught
        self._plan_again(batch, state, refused == batch.calls and not taught)
        left = {call.key for call in self._calls.missing()}
        self._direct.update(key for key in batch.keys if key in left and self._rounds[key] >= self._pace.rounds)

    def _learn(self, rejected: Sequence[tuple[PlannedCall, BatchLine]], taught: bool) -> set[str]:
        """The keys of rejected calls that another batch may answer, since the service learnt what was refused."""
        learnt = [
            self._service.learn(line.fault, call.options) for call, line in rejected if isinstance(line.fault, CallRejected)
        ]
        return {call.key for call, _ in rejected} if taught or any(learnt) else set()

    def _plan_again(self, batch: SentBatch, state: BatchState, all_refused: bool) -> None:
        """Decide how what a batch did not bring is sent."""
        if all_refused and self._with_schema:  # as a direct call does: only without the schema it is known what was refused
            self._with_schema = False
            self._direct.difference_update(batch.keys)
        if state.status != "failed":
            return
        if TOO_MUCH_AT_ONCE in state.codes and batch.calls > 1:
            self._at_once, self._most_calls = 1, max(1, batch.calls // 2)
            self._rounds.subtract(batch.keys)
            return
        raise ModelError(
            f"the provider did not begin batch {state.id} of judge {self._judge.name}: {state.message or 'no reason given'}"
        )

    async def _results(self, file_id: str, file: BinaryIO) -> Iterator[BatchLine]:
        """The lines of a file; none where the provider has deleted it, so that its calls are made again."""
        try:
            return await self._service.results(file_id, file)
        except CallRejected as fault:
            if fault.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
                raise
            return iter(())

    async def _read(self, answers: dict[str, tuple[PlannedCall, BatchLine]]) -> None:
        """Read answers as judgments; an answer that cannot be read is repaired by a direct call."""

        async def read_one(key: str) -> None:
            call, line = answers[key]
            judgment = await self._judgment(call, line)
            if judgment is not None:
                self._calls.receive(judgment)

        if answers:
            name = f"judge {self._judge.name} ({self._judge.reference})"
            await run_concurrently(name, answers, read_one, min(self._context.spec.concurrency, len(answers)))
            await self._calls.flush()

    async def _judgment(self, call: PlannedCall, line: BatchLine) -> Judgment | None:
        """The judgment that an answer gives; None where the answer is none."""
        messages, _ = self._model.request(call, self._asked)
        try:
            first = self._service.completion(line, messages, call.options)
        except CallError:
            return None
        judged = await self._model.judge(call, self._asked, first)
        judgment = msgspec.structs.replace(judged, steps=(IN_BATCH, *judged.steps)).judgment(call, self._context.run_id)
        price = call.judge.price
        if price is None or judgment.cost is None:
            return judgment
        cost = price.in_batch().of_completion(first)
        self._cost += cost
        return msgspec.structs.replace(judgment, cost=judgment.cost - price.of_completion(first) + cost)
