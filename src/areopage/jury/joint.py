"""The joint call: one judge is asked once for all criteria that it may judge, and gives remarks on the whole."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.joint import JOINT_TEMPLATE_VERSION, joint_schema, render_joint_prompt, short_names
from areopage.criteria.records import Criterion
from areopage.criteria.rendering import case_content, criterion_content
from areopage.jury.call import CallContext, Question, Readings, material_of, put
from areopage.jury.joint_parsing import Remarks, read_joint, read_remarks
from areopage.jury.judges import Judge
from areopage.jury.plan import digest_of, reader_of
from areopage.ledger.records import Judgment, Repair
from areopage.models.port import LanguageModel, Message, Subject

JOINT_METHOD = "joint-verdict/1"
JOINT_REPAIR_REQUEST = {
    "en": "In your last answer this could not be read: {reason}. Answer again on all criteria, with the one JSON object of the "
    "output format and nothing else; keep each explanation under 40 words.",
    "fr": "Dans votre dernière réponse, ceci n’a pas pu être lu : {reason}. Répondez de nouveau sur tous les critères, par le "
    "seul objet JSON du format de sortie et rien d’autre ; chaque explication doit tenir en 40 mots.",
}


class JointCall(Struct, frozen=True, kw_only=True):
    """One call to one judge about several criteria. `pass_index` counts from 1."""

    key: str
    case: Case
    criteria: tuple[Criterion, ...]
    judge: Judge
    pass_index: int

    @property
    def options(self) -> dict[str, Any]:
        """The options of this pass."""
        return self.judge.passes[self.pass_index - 1]


def plan_jointly(
    judge: Judge, case: Case, criteria: Sequence[Criterion], personas: Mapping[str, Persona], salt: str = ""
) -> list[JointCall]:
    """The calls of one judge about one case, one for each pass; none where it may judge none of the criteria.

    The key is made as in `jury.plan`, of all criteria together and the joint prompt's template.
    """
    own = tuple(criterion for criterion in criteria if judge.may_judge(criterion))
    if not own:
        return []
    content = digest_of(case_content(case) | {"reader": reader_of(case, personas)})
    who = [judge.name, str(judge.reference), judge.digest]
    asked = digest_of([[criterion_content(criterion) for criterion in own], JOINT_TEMPLATE_VERSION, JOINT_METHOD])
    calls: list[JointCall] = []
    for number, options in enumerate(judge.passes, 1):
        prefix = digest_of([who, asked, options, number, salt])
        key = hashlib.sha256(f"{prefix}{content}".encode()).hexdigest()
        calls.append(JointCall(key=key, case=case, criteria=own, judge=judge, pass_index=number))
    return calls


async def ask_jointly(call: JointCall, model: LanguageModel, context: CallContext) -> Judgment:
    """Carry a joint call out: one judgment with a verdict for each criterion.

    Raises:
        CallUnreachable, CallRejected: no call can succeed any more; see `ask_judge`.
    """
    return await put(joint_question(call, context), call, model, context)


def joint_question(call: JointCall, context: CallContext) -> Question:
    """What a joint call asks, and how its answer is read."""
    criteria = call.criteria
    prompt = render_joint_prompt(criteria, call.case, context.personas.get(call.case.maturity), context.secret)
    ids = {name: criterion.id for name, criterion in zip(short_names(criteria), criteria, strict=True)}
    request = JOINT_REPAIR_REQUEST.get(criteria[0].language, JOINT_REPAIR_REQUEST["en"])

    def ask_again(readings: Readings) -> str:
        names = {key: name for name, key in ids.items()}
        return request.replace("{reason}", "; ".join(f"{names[key]} ({reason})" for key, reason in readings.unread.items()))

    return Question(
        messages=(Message("system", prompt.system), Message("user", prompt.user)),
        schema=joint_schema(criteria),
        subject=Subject(
            case=call.case,
            asked=call.judge.name,
            criterion=",".join(ids.values()),
            pass_index=call.pass_index,
            language=context.language,
            scale=criteria[0].scale,
        ),
        criteria=tuple(ids.values()),
        read=lambda text, finish_reason: joint_readings(text, finish_reason, criteria, material_of(call.case)),
        ask_again=ask_again,
    )


def joint_readings(text: str, finish_reason: str, criteria: Sequence[Criterion], material: str) -> Readings:
    """The outcomes of a joint answer by the criteria's ids; a pure function, by which raw texts can be read again."""
    names = short_names(criteria)
    reading = read_joint(text, finish_reason, {name: one.scale for name, one in zip(names, criteria, strict=True)}, material)
    repair: Repair = "heuristic" if reading.heuristic else "none"
    outcomes = {criterion.id: reading.outcomes[name] for name, criterion in zip(names, criteria, strict=True)}
    return Readings(outcomes=outcomes, steps=reading.steps, repair=repair)


def remarks_of(judgment: Judgment) -> Remarks:
    """The remarks of a joint judgment, from its raw texts; what the first answer lacks is taken from the repair call's."""
    first, second = read_remarks(judgment.raw_text), read_remarks(judgment.repair_text)
    return Remarks(
        feedback=first.feedback or second.feedback,
        strengths=first.strengths or second.strengths,
        weaknesses=first.weaknesses or second.weaknesses,
        suggestions=first.suggestions or second.suggestions,
    )
