"""The calls to the target that have no answer in the ledger."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Self

import msgspec

from areopage.bench.blocks import blocks_of
from areopage.bench.context import RunContext
from areopage.bench.keys import AnswerCall
from areopage.bench.spec import Target
from areopage.bench.target_prompts import to_single_prompt
from areopage.errors import CallError, CallRejected, CallTimedOut
from areopage.jury.opening import open_retrying
from areopage.jury.parsing import split_thinking
from areopage.jury.schedule import UNREACHABLE_IN_A_ROW, OutageWatch, concurrency_of, run_concurrently, telling_the_last
from areopage.ledger.answers import Answers, CaseAnswer, Record
from areopage.ledger.batch import Batch
from areopage.ledger.records import REPLIED, Answer, AnswerState
from areopage.models.port import Completion, LanguageModel, Message, Options

TARGET_PHASE = "target"


class TargetPhase:
    """The calls to the target, in blocks; use as `async with`.

    Identical cases share one call.
    """

    name = TARGET_PHASE

    def __init__(self, context: RunContext, target: Target, calls: Sequence[AnswerCall], positions: Mapping[str, int]) -> None:
        """Look up the open calls in the ledger.

        Args:
            positions: of the cases in the run, by their ids: a call is in the same block in every process.
        """
        self._context, self._target, self._stored, self._positions = context, target, Answers(context.ledger), positions
        self._cases: dict[str, list[AnswerCall]] = {}
        for call in calls:
            self._cases.setdefault(call.key, []).append(call)
        self._calls: dict[int, list[AnswerCall]] = {}
        blocks = blocks_of(len(positions), context.block_calls)
        for first, *_ in self._cases.values():
            self._calls.setdefault(positions[first.case.id] * blocks // len(positions), []).append(first)
        held = self._stored.by_key(list(self._cases))
        self._stored.append_judged([one for answer in held.values() for one in self._assigned(answer)])
        self._before = max((answer.number for answer in held.values()), default=0)
        self.total = len(self._cases)
        self.kept = sum(answer.state in REPLIED for answer in held.values())
        self.blocks = [
            number
            for number, block in self._calls.items()
            if any(call.key not in held or held[call.key].state not in REPLIED for call in block)
        ]
        self._model: LanguageModel | None = None
        self._writer = Batch[Record, None](self._stored.append_judged, what="answers")
        self._watch = OutageWatch(max(UNREACHABLE_IN_A_ROW, context.spec.concurrency), context.spec.concurrency)
        self._in_flight = asyncio.Semaphore(1)

    async def __aenter__(self) -> Self:
        """Open the target if it has open calls."""
        if self.blocks:
            spec = self._context.spec
            self._model = open_retrying(self._target.reference, self._context.settings, spec.outage_seconds)
            self._limit = concurrency_of(self._model, spec.concurrency)
            self._in_flight = asyncio.Semaphore(self._limit)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Commit received answers and close the target."""
        try:
            await self._writer.__aexit__(kind, error, trace)
        finally:
            if self._model is not None:
                await self._model.aclose()

    def has_left(self, number: int) -> bool:
        """Whether a block has calls without an answer or an attempt in this phase."""
        return bool(self._left(number))

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make a block's open calls; on return the answers are in the ledger."""
        left = await asyncio.to_thread(self._left, number)
        if self._model is not None:
            ask_one = partial(self._ask_one, self._model)
            await run_concurrently(f"target {self._target.reference}", telling_the_last(left, all_begun), ask_one, self._limit)
        await asyncio.to_thread(self._writer.flush)

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        failed = [self._answer(call, None, "unreachable", reason) for call in self._left(number)]
        self._stored.append_judged([one for answer in failed for one in self._with_cases(answer)])

    def _with_cases(self, answer: Answer) -> list[Record]:
        return [answer, *self._assigned(answer)]

    def _assigned(self, answer: Answer) -> list[CaseAnswer]:
        """The cases of the run that have this answer."""
        run_id = self._context.run_id
        return [CaseAnswer(run_id, self._positions[call.case.id], answer.id) for call in self._cases[answer.key]]

    def _left(self, number: int) -> list[AnswerCall]:
        block = self._calls[number]
        held = self._stored.by_key([call.key for call in block])
        return [call for call in block if call.key not in held or self._is_left(held[call.key])]

    def _is_left(self, answer: Answer) -> bool:
        return answer.state not in REPLIED and answer.number <= self._before

    async def _ask_one(self, model: LanguageModel, call: AnswerCall) -> None:
        async with self._in_flight:
            answer = await self._answered(model, call)
        self._writer.write_soon(self._with_cases(answer))
        self._context.observer.answered(answer)
        reached, turned_away = answer.state != "unreachable", answer.state in ("refused", "empty")
        timed_out = answer.state == "timed_out"
        self._watch.note(TARGET_PHASE, answer.reason, reached=reached, turned_away=turned_away, timed_out=timed_out)

    async def _answered(self, model: LanguageModel, call: AnswerCall) -> Answer:
        """One call to the target.

        Raises:
            CallUnreachable, CallRejected: no call can succeed any more.
        """
        messages: Sequence[Message] = call.messages
        if call.target.single_prompt:
            messages = [Message("user", to_single_prompt(call.messages, self._context.spec.language))]
        options: Options = call.target.options
        try:
            completion = await model.generate(messages, options, case=call.case)
        except CallError as fault:
            if fault.hopeless:
                raise
            return self._answer(call, None, _state_after(fault), str(fault))
        thinking, text = ("", completion.text) if call.target.judge_thinking else split_thinking(completion.text)
        completion = msgspec.structs.replace(completion, text=text.strip() if thinking else text)
        state, reason = _state_of(completion)
        return self._answer(call, completion, state, reason, thinking)

    def _answer(
        self, call: AnswerCall, completion: Completion | None, state: AnswerState, reason: str, thinking: str = ""
    ) -> Answer:
        """The ledger's record of a call."""
        now, target = datetime.now(UTC), str(call.target.reference)
        given = completion or Completion(text="", finish_reason="")
        return Answer(
            id=secrets.token_hex(16),
            origin="bench",
            case=msgspec.structs.replace(call.case, response=None if completion is None else completion.text),
            state=state,
            reason=reason,
            finish_reason=given.finish_reason,
            thinking=thinking,
            key=call.key,
            run_id=self._context.run_id,
            source=target,
            model=target,
            received_at=now,
            answered_at=now,
            prompt_tokens=given.prompt_tokens,
            completion_tokens=given.completion_tokens,
            seconds=given.seconds,
        )


def _state_of(completion: Completion) -> tuple[AnswerState, str]:
    """The state of a reply, without its thinking, and what is to be said of it."""
    if completion.finish_reason == "content_filter":
        return "filtered", "a content filter ended the answer"
    if not completion.text.strip():
        limit = " before the limit of tokens" if completion.finish_reason == "length" else ""
        return "empty", f"no text came{limit}"
    if completion.finish_reason == "length":
        return "cut", "the limit of tokens ended the answer"
    return "answered", "the server cut the prompt: raise num_ctx" if completion.prompt_cut else ""


def _state_after(fault: CallError) -> AnswerState:
    """The state after a failed call to the target."""
    if isinstance(fault, CallTimedOut):
        return "timed_out"
    return "refused" if isinstance(fault, CallRejected) else "unreachable"
