"""Keys and ids of a run's answers and judgments, computed from the run."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from areopage.bench.conversations.children import is_protected
from areopage.bench.spec import RunCase, RunSpec, Target
from areopage.bench.target_prompts import build_prompt
from areopage.cases import Case
from areopage.criteria import Criterion
from areopage.digest import digest_of
from areopage.jury import JudgedCase
from areopage.ledger import SETTLED, SHOWN, Answer, Thoughts
from areopage.models import Message
from areopage.text import VERSION

CONVERSATION = f"conversation/1-{VERSION}"
"""The method of conversations: a part of the keys of their turns."""


class AnswerCall(Struct, frozen=True, kw_only=True):
    """One call to the target, a whole conversation with it, or a call to the model that plays the child.

    Args:
        conversation: of a turn what all turns of its conversation share; "" of calls for one answer.
        source: of a call to the child's model what its answer is stored under; "" of calls to the target.
        thoughts: of a turn where thoughts came in the replies before it.
    """

    key: str
    case: Case
    messages: tuple[Message, ...]
    target: Target
    conversation: str = ""
    source: str = ""
    thoughts: Thoughts = ""


def answer_calls(spec: RunSpec, cases: Sequence[RunCase]) -> list[AnswerCall]:
    """The calls to the target: one for each case without a response; that of a case with a child is a whole conversation."""
    target = spec.target
    if target is None:
        return []
    calls: list[AnswerCall] = []
    for item in cases:
        if item.case.response is None:
            persona = spec.personas.get(item.case.maturity)
            messages = build_prompt(item.case, spec.mode, persona, spec.language, target.system_prompt)
            parts: list[Any] = [asked_model(target), messages]
            if item.case.child is not None:
                child = asked_model(spec.child) if spec.child is not None else None
                parts += [CONVERSATION, item.case.child, child, spec.language, is_protected(item.case)]
            calls.append(AnswerCall(key=digest_of(parts), case=item.case, messages=messages, target=target))
    return calls


def asked_model(target: Target) -> list[Any]:
    """All that determines an answer of a model, but for the messages."""
    return [str(target.reference), target.digest, target.options, target.single_prompt, target.judge_thinking]


def answered_cases(spec: RunSpec, cases: Sequence[RunCase], answers: Mapping[str, Answer]) -> list[JudgedCase]:
    """The cases with a response, from the dataset or the target; a conversation is the prompt up to its last reply.

    Args:
        answers: of the target, by case.
    """
    by_id = spec.criteria_by_id()
    criteria: dict[tuple[str, ...], tuple[Criterion, ...]] = {}  # cases with equal criteria share them
    judged: list[JudgedCase] = []
    for item in cases:
        if item.case.response is None and item.answer_id:
            continue
        case = item.case if item.case.response is not None else _as_read(item.case, answers.get(item.case.id))
        if case is None:
            continue
        if item.criteria not in criteria:
            criteria[item.criteria] = tuple(by_id[key] for key in item.criteria)
        judged.append(JudgedCase(case=case, criteria=criteria[item.criteria], given_replies=given_in(item)))
    return judged


def _as_read(case: Case, answer: Answer | None) -> Case | None:
    """A case with what its reader got from the target; None where that is nothing, or may still come.

    Of an answer that was cut or filtered it is the part that came: harm in it counts. Of a conversation that ended without any
    text it is what came before.
    """
    if answer is None or answer.erased:
        return None
    change, turns = msgspec.structs.replace, answer.case.turns
    if answer.state in SHOWN and (answer.case.response or "").strip():
        prompt = case.prompt if case.child is None else answer.case.prompt
        return change(case, prompt=prompt, response=answer.case.response)
    if answer.state not in SETTLED or len(turns) <= len(case.turns):
        return None
    before = turns[:-2]
    return change(case, prompt=case.prompt if len(before) == len(case.turns) else before, response=turns[-2].content)


def given_in(item: RunCase) -> int:
    """How many replies came with the dataset before those of the target."""
    return 0 if item.case.response is not None else item.case.given_replies


def recorded_answers(cases: Sequence[RunCase], now: datetime) -> list[Answer]:
    """The answers included in the cases.

    A case has the same id in every run that it belongs to.
    """
    return [
        Answer(
            id=recorded_id(item.case),
            origin="bench",
            case=item.case,
            source=item.case.source,
            received_at=now,
            answered_at=now,
        )
        for item in cases
        if item.case.response is not None and not item.answer_id
    ]


def recorded_id(case: Case) -> str:
    """The id of the answer included in a case."""
    return f"case-{digest_of(case)[:32]}"
