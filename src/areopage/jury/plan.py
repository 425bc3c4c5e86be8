"""The planned calls of a jury: judge, case, criteria, pass and key.

A judgment's key is the SHA-256 of the canonical JSON of everything that determines it: what the judge is shown of the case
(not its id), the texts and versions of the criteria, the prompt template, the reader, the judge with its model and digest, its
options, the method, the pass. A criterion that is judged on each reply of a conversation has calls for each: what the judge is
shown is then the conversation up to that reply. What has been paid for under a key is not paid for again.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.fence import HARDENED, Hardening
from areopage.criteria.prompts import TEMPLATE_VERSION, case_content, criterion_content
from areopage.criteria.reader import reader_content
from areopage.criteria.records import Criterion
from areopage.criteria.scopes import SCOPES, WHOLE, Scope, case_at, concerns, turns_to_judge
from areopage.digest import digest_of
from areopage.jury.judges import Judge, PlannedCall

METHOD = "json-verdict/1"


class JudgedCase(Struct, frozen=True, kw_only=True):
    """A case with a response and the criteria to judge it on; `given` is as in `turns_to_judge`."""

    case: Case
    criteria: tuple[Criterion, ...]
    given: int = 0


PassesOf = Callable[[str, str, Judge, int], int]
"""How many passes a judge makes over a case, by its id, on a criterion, by its id, and on a turn."""


def all_passes(case_id: str, criterion: str, judge: Judge, turn: int) -> int:
    """All passes of a judge."""
    return len(judge.passes)


def plan(
    judge: Judge,
    cases: Sequence[JudgedCase],
    personas: Mapping[str, Persona],
    salt: str = "",
    *,
    joint: bool = False,
    passes_of: PassesOf = all_passes,
    hardening: Hardening = HARDENED,
) -> Iterator[PlannedCall]:
    """Plan the calls of one judge, grouped by criteria.

    Grouping lets a server cache the constant part of the prompt.

    Args:
        personas: the readers by maturity.
        salt: "" or a text that sets the keys of a run apart from all others (to ask anew on purpose).
        joint: one call asks about all criteria of one scope that the judge may judge; else each criterion has a call of its own.
        passes_of: how many passes are planned; of a joint call by its first criterion.
        hardening: what an audit asks without; its judgments are under keys of their own.
    """
    positions: dict[tuple[Criterion, ...], list[int]] = {}
    for position, judged in enumerate(cases):
        for group in groups_of(judge, judged.criteria, judged.case, joint):
            positions.setdefault(group, []).append(position)
    shown: dict[tuple[int, Scope], list[_Shown]] = {}
    for group, places in positions.items():
        prefixes, scope = _pass_digests(judge, group, salt, hardening), group[0].scope
        for place in places:
            if (place, scope) not in shown:
                shown[place, scope] = list(_shown_cases(cases[place], scope, personas))
            for one in shown[place, scope]:
                count = passes_of(one.case.id, group[0].id, judge, one.turn)
                for number, prefix in enumerate(prefixes[:count], 1):
                    key = hashlib.sha256(f"{prefix}{one.digest}".encode()).hexdigest()
                    yield PlannedCall(
                        key=key,
                        case=one.case,
                        criteria=group,
                        judge=judge,
                        pass_index=number,
                        turn=one.turn,
                        hardening=hardening,
                    )


class _Shown(Struct, frozen=True):
    """A case as a judge is shown it, the number of the reply, and the digest of both."""

    case: Case
    turn: int
    digest: str


def groups_of(judge: Judge, criteria: Sequence[Criterion], case: Case, joint: bool) -> list[tuple[Criterion, ...]]:
    """The criteria that each call of a judge about a case asks about.

    Args:
        joint: as in `plan`.
    """
    own = tuple(one for one in criteria if judge.may_judge(one) and concerns(one.scope, case))
    return _by_scope(own) if joint else [(criterion,) for criterion in own]


def _by_scope(criteria: Sequence[Criterion]) -> list[tuple[Criterion, ...]]:
    groups = [tuple(one for one in criteria if one.scope == scope) for scope in SCOPES]
    return [group for group in groups if group]


def _shown_cases(judged: JudgedCase, scope: Scope, personas: Mapping[str, Persona]) -> Iterator[_Shown]:
    reader = {"reader": reader_content(judged.case, personas.get(judged.case.maturity))}
    for turn in turns_to_judge(scope, judged.case, judged.given):
        case = judged.case if turn == WHOLE else case_at(judged.case, turn)
        yield _Shown(case, turn, digest_of(case_content(case, scope) | reader))


def _pass_digests(judge: Judge, criteria: tuple[Criterion, ...], salt: str, hardening: Hardening) -> list[str]:
    """The part of the keys that all cases share, for each pass."""
    who = [judge.name, str(judge.reference), judge.digest]
    asked = digest_of([[criterion_content(criterion) for criterion in criteria], TEMPLATE_VERSION, METHOD])
    without = [] if hardening.asked == HARDENED else [hardening.asked]
    return [digest_of([who, asked, options, number, salt, *without]) for number, options in enumerate(judge.passes, 1)]
