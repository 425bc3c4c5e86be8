"""The calls to the target that the run has no answer of, conversations with simulated children among them."""

import asyncio
import secrets
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from functools import partial

import msgspec

from areopage.bench.conversations.children import CHILD_SOURCE
from areopage.bench.conversations.turns import Conversations, most_turns
from areopage.bench.execution.answered import AnsweredCases
from areopage.bench.execution.blocks import blocks_of
from areopage.bench.execution.context import RunContext
from areopage.bench.execution.phases import CHILD_PHASE, TARGET_PHASE
from areopage.bench.keys import AnswerCall
from areopage.bench.spec import Target
from areopage.bench.target_prompts import to_single_prompt
from areopage.errors import CallError, CallRejected, CallTimedOut
from areopage.jury import FailureStreak, run_concurrently
from areopage.ledger import REPLIED, WITHHELD, Answer, AnswerState, CaseAnswer, RunWriter, Thoughts
from areopage.models import ONLY_THOUGHTS, Completion, KeptPlaces, LanguageModel, Message, Options, Traffic, cut_text
from areopage.text import MARKERS, split_thoughts, withheld_content


class TargetPhase:
    """The calls to the target, in blocks.

    Identical cases share one call.
    """

    def __init__(
        self, context: RunContext, target: Target, calls: Sequence[AnswerCall], answered: AnsweredCases, writer: RunWriter
    ) -> None:
        # in blocks by their positions in the run, so that a call is in the same block in every process
        self._positions = positions = answered.positions
        self._context, self._target, self._stored = context, target, context.ledger.answers
        self._answered_cases = answered
        self._cases: dict[str, list[AnswerCall]] = {}
        for call in calls:
            self._cases.setdefault(call.key, []).append(call)
        self._calls: dict[int, list[AnswerCall]] = {}
        blocks = blocks_of(len(positions), context.block_calls)
        for first, *_ in self._cases.values():
            self._calls.setdefault(positions[first.case.id] * blocks // len(positions), []).append(first)
        self._before = 0
        self._blocks: list[int] = []
        self._models: list[_OpenModel] = []
        self._writer = writer
        self._has_talks = any(call.case.child is not None for call in calls)
        self.complete = False

    async def prepare(self) -> None:
        """Look up the open calls in the ledger."""
        total, kept = await asyncio.to_thread(self._look_up)
        self._context.observer.phase(TARGET_PHASE, total, kept)

    def _look_up(self) -> tuple[int, int]:
        """Find the blocks with open calls; returns how many calls there are, and how many have their final answer."""
        firsts = [first for first, *_ in self._cases.values()]
        answers = self._stored_answers(firsts)
        if self._context.spec.reuse_answers:  # of a conversation each turn is looked up when it is its turn
            keys = [call.key for call in firsts if call.case.child is None and call.key not in answers]
            earlier = self._stored.by_key(keys).items()
            answers = {key: answer for key, answer in earlier if _is_final(answer) and not answer.erased} | answers
        self._stored.append_judged([link for key, answer in answers.items() for link in self._assigned(key, answer)])
        numbers = (answer.number for answer in answers.values())
        self._before = self._stored.last_number() if self._has_talks else max(numbers, default=0)
        self._blocks = [
            number for number, block in self._calls.items() if any(not _is_final(answers.get(call.key)) for call in block)
        ]
        turns = {call.key: most_turns(call.case, self._context.spec) for call in firsts}
        return sum(turns.values()), sum(turns[key] for key, answer in answers.items() if _is_final(answer))

    async def more(self) -> list[int]:
        """Return all blocks with open calls, the first time, and open the target and the model that plays children for them."""
        if self.complete:
            return []
        self.complete = True
        if self._blocks:
            self._models.append(self._opened(self._target))
            if self._has_talks and self._context.spec.child is not None:
                self._models.append(self._opened(self._context.spec.child))
        await self._answered_cases.read_given()
        await self._answered_cases.read_blocks(self._calls.keys() - set(self._blocks))
        return self._blocks

    async def ended(self, numbers: Collection[int]) -> None:
        """Read the answers of blocks that have ended, so that judges are asked about them."""
        await self._answered_cases.read_blocks(numbers)

    async def close(self) -> None:
        """Commit received answers and close the models."""
        self._answered_cases.closed = True
        try:
            await self._writer.flush()
        finally:
            for asked in self._models:
                await asked.model.aclose()

    def has_left(self, number: int) -> bool:
        """Whether a block has calls without an answer or an attempt in this phase."""
        return bool(self._left(number))

    async def ask(self, number: int, all_begun: Callable[[], None]) -> None:
        """Make a block's open calls; on return the answers are in the ledger."""
        left = await asyncio.to_thread(self._left, number)
        if self._models:
            ask_one = partial(self._ask_one, self._conversations())
            await run_concurrently(f"target {self._target.reference}", left, ask_one, self._models[0].limit, all_begun)
        await self._writer.flush()

    def give_up(self, number: int, reason: str) -> None:
        """Record a block's open calls as failed."""
        failed = [(call.key, record_of(call, self._context.run_id, None, "unreachable", reason)) for call in self._left(number)]
        self._stored.append_judged([answer for _, answer in failed])
        self._stored.append_judged([link for key, answer in failed for link in self._assigned(key, answer)])

    def _opened(self, target: Target) -> "_OpenModel":
        spec = self._context.spec
        model = self._context.traffic.open(target.reference, self._context.settings)
        begun = Traffic.BEGUN_FOR_EACH * spec.concurrency
        return _OpenModel(model, min(begun, model.max_concurrency or begun), spec.concurrency)

    def _conversations(self) -> Conversations:
        target, *children = self._models
        return Conversations(
            self._context.spec,
            self._context.run_id,
            self._stored,
            partial(self._committed, target),
            partial(self._committed, children[0]) if children else None,
            secret=self._context.ledger.secret(),
            before=self._before,
        )

    def _assigned(self, key: str, answer: Answer) -> list[CaseAnswer]:
        run_id = self._context.run_id
        return [CaseAnswer(run_id, self._positions[call.case.id], answer.id) for call in self._cases[key]]

    def _stored_answers(self, calls: Sequence[AnswerCall]) -> dict[str, Answer]:
        """The answers that the run has, by the key of the call; of a conversation that has ended the last reply."""
        keys = {self._positions[call.case.id]: call.key for call in calls}
        return {keys[place]: answer for place, answer in self._stored.given_in(self._context.run_id, list(keys)).items()}

    def _left(self, number: int) -> list[AnswerCall]:
        block = self._calls[number]
        answers = self._stored_answers(block)
        tried = {key for key, answer in answers.items() if _is_final(answer) or answer.number > self._before}
        return [call for call in block if call.key not in tried]

    async def _ask_one(self, conversations: Conversations, call: AnswerCall) -> None:
        if call.case.child is None:
            with KeptPlaces() as places:
                answer = await self._answered(self._models[0], call)
                self._writer.write_soon([answer, *self._assigned(call.key, answer)], settled=places.free)
            self._models[0].note(answer)
        elif last := await conversations.hold(call):
            self._writer.write_soon(self._assigned(call.key, last))

    async def _committed(self, asked: "_OpenModel", call: AnswerCall) -> Answer:
        """A turn that is in the ledger before its conversation goes on."""
        with KeptPlaces() as places:
            answer = await self._answered(asked, call)
            self._writer.write_soon([answer], settled=places.free)
            await self._writer.flush()
        asked.note(answer)
        return answer

    async def _answered(self, asked: "_OpenModel", call: AnswerCall) -> Answer:
        async with asked.in_flight:
            answer = await answered(asked.model, call, self._context.run_id, self._context.spec.language)
        self._context.observer.answered(answer)
        return answer


class _OpenModel:
    def __init__(self, model: LanguageModel, limit: int, concurrency: int) -> None:
        self.model, self.limit = model, limit
        self.in_flight = asyncio.Semaphore(limit)
        self._streak = FailureStreak(concurrency)

    def note(self, answer: Answer) -> None:
        reached, turned_away = answer.state != "unreachable", answer.state in ("refused", "empty")
        timed_out = answer.state == "timed_out"
        name = CHILD_PHASE if answer.source.startswith(CHILD_SOURCE) else TARGET_PHASE
        self._streak.note(name, answer.reason, reached=reached, turned_away=turned_away, timed_out=timed_out)


def _is_final(answer: Answer | None) -> bool:
    return answer is not None and answer.state in REPLIED


async def answered(model: LanguageModel, call: AnswerCall, run_id: str, language: str) -> Answer:
    """Make one call.

    In a conversation a reply with sexual content or means of self-harm is withheld: a marker takes its place before it is stored.
    """
    messages: Sequence[Message] = call.messages
    if call.target.single_prompt:
        messages = [Message("user", to_single_prompt(call.messages, language))]
    options: Options = call.target.options
    try:
        completion = await model.generate(messages, options, case=call.case)
    except CallError as fault:
        if fault.hopeless:
            raise
        failed: AnswerState = "refused" if isinstance(fault, CallRejected) else "unreachable"
        failed = "timed_out" if isinstance(fault, CallTimedOut) else failed
        return record_of(call, run_id, None, failed, str(fault))
    only_thoughts = completion.only_thoughts
    completion, thinking, place = _without_thoughts(completion, judged=call.target.judge_thinking)
    thoughts: Thoughts = "in_text" if "in_text" in (place, call.thoughts) else place or call.thoughts
    state, reason = _state_of(completion, call.target, only_thoughts=only_thoughts)
    if call.conversation and (harm := withheld_content(completion.text)):
        thinking, state, reason = "", "answered", f"withheld: {harm}"
        completion = msgspec.structs.replace(completion, text=MARKERS[harm], finish_reason=WITHHELD)
    elif call.conversation and withheld_content(thinking):
        thinking = ""
    answer = record_of(call, run_id, completion, state, reason)
    return msgspec.structs.replace(answer, thinking=thinking, thoughts=thoughts)


def _without_thoughts(completion: Completion, *, judged: bool) -> tuple[Completion, str, Thoughts]:
    """A reply without the thoughts that judges do not read, these, and where they came."""
    if judged:
        read = f"<think>{completion.reasoning}</think>\n{completion.text}" if completion.reasoning else completion.text
        return msgspec.structs.replace(completion, text=read), "", ""
    parts = split_thoughts(completion.text)
    bare = msgspec.structs.replace(completion, text=parts.answer if parts.state == "none" else parts.answer.strip())
    if parts.thoughts.strip():
        return bare, parts.thoughts, "in_text"
    return bare, completion.reasoning, "apart" if completion.reasoning.strip() else ""


def record_of(call: AnswerCall, run_id: str, completion: Completion | None, state: AnswerState, reason: str) -> Answer:
    """The ledger's record of a call."""
    now, target = datetime.now(UTC), str(call.target.reference)
    reply = completion or Completion(text="", finish_reason="")
    return Answer(
        id=secrets.token_hex(16),
        origin="bench",
        case=msgspec.structs.replace(call.case, response=None if completion is None else completion.text),
        state=state,
        reason=reason,
        finish_reason=reply.finish_reason,
        key=call.key,
        run_id=run_id,
        source=call.source or target,
        model=target,
        session=call.conversation,
        received_at=now,
        answered_at=now,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        seconds=reply.seconds,
    )


def _state_of(completion: Completion, target: Target, *, only_thoughts: bool) -> tuple[AnswerState, str]:
    """The state of a reply, without its thinking, and what is to be said of it."""
    if completion.finish_reason == "content_filter":
        return "filtered", "; ".join(("a content filter ended the answer", *completion.notes))
    if not completion.text.strip():
        limit = " before the limit of tokens" if completion.finish_reason == "length" else ""
        thoughts = f": {ONLY_THOUGHTS}" if only_thoughts else ""
        return "empty", f"no text came{limit}{thoughts}"
    if completion.finish_reason == "length":
        return "cut", "the limit of tokens ended the answer"
    cut = (cut_text(target.reference.provider, target.options),) if completion.prompt_cut else ()
    return "answered", "; ".join((*cut, *completion.notes))
