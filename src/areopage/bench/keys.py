"""Keys and ids of a run's answers and judgments, computed from the run."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from areopage.bench.spec import RunCase, RunSpec, Target
from areopage.bench.target_prompts import build_prompt
from areopage.cases.records import Case
from areopage.digest import digest_of
from areopage.jury.plan import JudgedCase
from areopage.ledger.records import Answer
from areopage.models.port import Message


class AnswerCall(Struct, frozen=True, kw_only=True):
    """One call to the target."""

    key: str
    case: Case
    messages: tuple[Message, ...]
    target: Target


def open_cases(cases: Sequence[RunCase], erased: Collection[int]) -> list[RunCase]:
    """The cases whose answers are not erased.

    Args:
        erased: the positions of the others.
    """
    return [item for position, item in enumerate(cases) if position not in erased]


def answer_calls(spec: RunSpec, cases: Sequence[RunCase]) -> list[AnswerCall]:
    """The calls to the target: one for each case without a response."""
    target = spec.target
    if target is None:
        return []
    calls: list[AnswerCall] = []
    who = [str(target.reference), target.digest, target.options, target.single_prompt, target.judge_thinking, spec.salt]
    for item in cases:
        if item.case.response is None:
            persona = spec.personas.get(item.case.maturity)
            messages = build_prompt(item.case, spec.mode, persona, spec.language, target.system_prompt)
            calls.append(AnswerCall(key=digest_of([who, messages]), case=item.case, messages=messages, target=target))
    return calls


def judged_cases(
    spec: RunSpec, cases: Sequence[RunCase], calls: Sequence[AnswerCall], answers: Mapping[str, Answer]
) -> list[JudgedCase]:
    """The cases with a response, from the dataset or the target."""
    keys = {call.case.id: call.key for call in calls}
    criteria = spec.criteria_by_id()
    judged: list[JudgedCase] = []
    for item in cases:
        case = item.case
        if case.response is None and item.answer_id:
            continue
        if case.response is None:
            answer = answers.get(keys[case.id])
            if answer is None or answer.state != "answered" or answer.erased:
                continue
            case = msgspec.structs.replace(case, response=answer.case.response)
        judged.append(JudgedCase(case=case, criteria=tuple(criteria[key] for key in item.criteria)))
    return judged


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


def answer_ids(cases: Sequence[RunCase], calls: Sequence[AnswerCall], answers: Mapping[str, Answer]) -> dict[str, str]:
    """The answer ids of the cases that have an answer, by case id.

    Args:
        answers: the target's, by key.
    """
    given = [item for item in cases if item.answer_id or item.case.response is not None]
    recorded = {item.case.id: item.answer_id or recorded_id(item.case) for item in given}
    return recorded | {call.case.id: answers[call.key].id for call in calls if call.key in answers}
