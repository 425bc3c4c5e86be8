"""Conversations of simulated children with the target, turn by turn.

Each reply of the target and each text of the child's model is in the ledger, under a key of all that determines it, before the
next call is made: what was paid for is not paid for again. A conversation is judged as a case whose prompt is all turns up to the
child's last one, and whose response is the target's last reply.

It goes on after whole and cut replies until the child has written all its turns. It ends earlier at a reply that is withheld,
empty or filtered, at a call that failed, and where the child has nothing more to say.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from areopage.bench.conversations.children import (
    CHILD_SOURCE,
    TRIES,
    asked_again,
    child_messages,
    is_protected,
    scripted_turn,
    turns_without_model,
    usable_turn,
    without_sexual_content,
)
from areopage.bench.keys import CONVERSATION, AnswerCall, asked_model
from areopage.bench.spec import RunSpec
from areopage.cases import Case, Child, Turn
from areopage.digest import digest_of
from areopage.ledger import REPLIED, WITHHELD, Answer, Answers
from areopage.locales import Note
from areopage.models import Message

AskModel = Callable[[AnswerCall], Awaitable[Answer]]
"""Makes a call; on return the answer is in the ledger."""


class _ChildNotReached(Exception):
    pass


class Conversations:
    """Holds the conversations of a run."""

    def __init__(
        self,
        spec: RunSpec,
        run_id: str,
        stored: Answers,
        ask_target: AskModel,
        ask_child: AskModel | None,
        *,
        secret: bytes,
        before: int,
    ) -> None:
        """Args:
        run_id: the run's; only its own calls count as made, unless it reuses answers.
        ask_child: asks the model that plays the children; None: there is none.
        secret: the ledger's.
        before: the number of the last answer before this run asked: a failed call up to there is made again.
        """
        self._spec, self._stored, self._secret, self._before = spec, stored, secret, before
        self._ask_target, self._ask_child = ask_target, ask_child
        self._asked_in = None if spec.reuse_answers else run_id

    async def hold(self, call: AnswerCall) -> Answer | None:
        """Hold a conversation to its end, going on after the turns that the run has.

        Returns:
            The last reply of the target; None where a call to the child's model failed, so that another try may go on.
        """
        case, turns = call.case, call.case.turns
        system, who = call.messages[: -len(turns)], [asked_model(call.target), CONVERSATION]
        conversation = digest_of([who, call.messages])
        number, thoughts = 1, call.thoughts
        while True:
            messages = (*system, *(Message(turn.role, turn.content) for turn in turns))
            prompt = case.prompt if number == 1 else turns
            turn = AnswerCall(
                key=digest_of([who, messages]),
                case=msgspec.structs.replace(case, prompt=prompt),
                messages=messages,
                target=call.target,
                conversation=conversation,
                thoughts=thoughts,
            )
            answer = await self._known_or_asked(turn, self._ask_target)
            thoughts = answer.thoughts
            reply = answer.case.response or ""
            if answer.finish_reason == WITHHELD or answer.state not in ("answered", "cut") or number >= planned_turns(case):
                return answer
            number += 1
            turns = (*turns, Turn(role="assistant", content=reply))
            try:
                said = await self._child_turn(case, turns, number, conversation)
            except _ChildNotReached:
                return None
            if said is None:
                return answer
            turns = (*turns, Turn(role="user", content=said))

    async def _child_turn(self, case: Case, turns: Sequence[Turn], number: int, conversation: str) -> str | None:
        child, language, protected = case.child or Child(), self._spec.language, is_protected(case)
        said = scripted_turn(child, number, language, protected=protected)
        if said is not None or protected or self._ask_child is None or self._spec.child is None:
            return said
        messages = child_messages(case, turns, number, language, self._secret)
        for _ in range(TRIES):
            call = AnswerCall(
                key=digest_of([CHILD_SOURCE, asked_model(self._spec.child), CONVERSATION, messages]),
                case=msgspec.structs.replace(case, prompt=tuple(turns)),
                messages=messages,
                target=self._spec.child,
                conversation=conversation,
                source=f"{CHILD_SOURCE}{self._spec.child.reference}",
            )
            answer = await self._known_or_asked(call, self._ask_child)
            if answer.state == "refused":  # too long for the model, or against its server's rules: so it would be again
                return None
            if answer.state not in REPLIED:
                raise _ChildNotReached
            text = without_sexual_content(answer.case.response or "", number, language)
            if (said := usable_turn(text)) is not None:
                return said
            messages = asked_again(messages, language)
        return None

    async def _known_or_asked(self, call: AnswerCall, ask: AskModel) -> Answer:
        stored = (await asyncio.to_thread(self._stored.by_key, [call.key], self._asked_in)).get(call.key)
        if stored is not None and (stored.state in REPLIED or stored.number > self._before):
            return stored
        return await ask(call)


def planned_turns(case: Case) -> int:
    """How many turns the child of a case is to write; 1 without a child."""
    return case.child.turns if case.child is not None else 1


def most_turns(case: Case, spec: RunSpec) -> int:
    """How many replies of the target a case takes at most."""
    return planned_turns(case) if spec.child is not None else min(planned_turns(case), turns_without_model(case))


def most_child_calls(case: Case, spec: RunSpec) -> int:
    """How often the child's model is asked at most for a case, each turn twice."""
    if case.child is None or spec.child is None or is_protected(case):
        return 0
    return TRIES * max(0, case.child.turns - 1 - len(case.child.script))


class ConversationEnds(Struct, frozen=True, kw_only=True):
    """How the conversations of a run ended.

    Args:
        cases: how many there are.
        turns: replies of the target that they hold.
        ends: how many ended in each way: `complete`, all turns were written; `withheld`; `script`, the script was over and no
            model is configured; `child`, the child's model wrote no usable turn; else the state of the target's last answer, or
            `not_run`.
    """

    cases: int
    turns: int
    ends: dict[str, int]

    def notes(self) -> tuple[Note, ...]:
        """A remark on conversations that ended before the child had written all its turns, by how they ended."""
        withheld, script, child = (self.ends.get(name, 0) for name in ("withheld", "script", "child"))
        left = self.cases - self.ends.get("complete", 0) - withheld - script - child
        remarks = (
            Note("conversations_withheld", {"n": withheld, "cases": self.cases}),
            Note("conversations_script", {"n": script, "cases": self.cases}),
            Note("conversations_child", {"n": child, "cases": self.cases}),
            Note("conversations_without_answer", {"n": left, "cases": self.cases}),
        )
        return tuple(note for note in remarks if note.values["n"])


def conversation_ends(spec: RunSpec, cases: Sequence[Case], answers: Mapping[str, Answer]) -> ConversationEnds | None:
    """How conversations ended; None where there are none."""
    conversations = [case for case in cases if case.child is not None and (spec.target is not None or case.id in answers)]
    if not conversations:
        return None
    ends = Counter(_end_of(case, answers.get(case.id), spec) for case in conversations)
    turns = sum(_written_turns(case, answers[case.id]) for case in conversations if case.id in answers)
    return ConversationEnds(cases=len(conversations), turns=turns, ends=dict(sorted(ends.items())))


def _end_of(case: Case, answer: Answer | None, spec: RunSpec) -> str:
    if answer is None:
        return "not_run"
    if answer.finish_reason == WITHHELD:
        return "withheld"
    if _written_turns(case, answer) >= planned_turns(case):
        return "complete" if answer.state == "answered" else answer.state
    if answer.state not in ("answered", "cut"):
        return answer.state
    return "script" if spec.child is None else "child"


def _written_turns(case: Case, answer: Answer) -> int:
    """The child's turns that the target answered; the last one of the dataset's prompt is the first."""
    return 1 + (len(answer.case.turns) - len(case.turns)) // 2
