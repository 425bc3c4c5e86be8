"""The keys under which the ledger holds a run's answers and judgments, worked out anew from the run alone."""

from collections.abc import Mapping, Sequence

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


def answer_calls(spec: RunSpec, cases: Sequence[RunCase]) -> list[AnswerCall]:
    """The calls to the target: one for each case that brings no response."""
    target = spec.target
    if target is None:
        return []
    calls: list[AnswerCall] = []
    who = [str(target.reference), target.digest, target.options, target.single_prompt, spec.salt]
    for item in cases:
        if item.case.response is None:
            persona = spec.personas.get(item.case.maturity)
            messages = build_prompt(item.case, spec.mode, persona, spec.language, target.system_prompt)
            calls.append(AnswerCall(key=digest_of([who, messages]), case=item.case, messages=messages, target=target))
    return calls


def judged_cases(
    spec: RunSpec, cases: Sequence[RunCase], calls: Sequence[AnswerCall], answers: Mapping[str, Answer]
) -> list[JudgedCase]:
    """The cases that have a response, the target's filled in; those without an answer are left out."""
    keys = {call.case.id: call.key for call in calls}
    criteria = spec.criteria_by_id()
    judged: list[JudgedCase] = []
    for item in cases:
        case = item.case
        if case.response is None:
            answer = answers.get(keys[case.id])
            if answer is None or answer.state != "answered":
                continue
            case = msgspec.structs.replace(case, response=answer.text)
        judged.append(JudgedCase(case=case, criteria=tuple(criteria[key] for key in item.criteria)))
    return judged
