"""The planned calls of a jury: judge, case, criteria, pass and key.

A judgment's key is the SHA-256 of the canonical JSON of everything that determines it: what the judge is shown of the case
(not its id), the texts and versions of the criteria, the prompt template, the reader, the judge with its model and digest, its
options, the method, the pass. What has been paid for under a key is not paid for again.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.prompts import TEMPLATE_VERSION, case_content, criterion_content
from areopage.criteria.reader import reader_content
from areopage.criteria.records import Criterion
from areopage.digest import digest_of
from areopage.jury.judges import Judge, PlannedCall

METHOD = "json-verdict/1"


class JudgedCase(Struct, frozen=True, kw_only=True):
    """A case with a response and the criteria to judge it on."""

    case: Case
    criteria: tuple[Criterion, ...]


def plan(
    judge: Judge, cases: Sequence[JudgedCase], personas: Mapping[str, Persona], salt: str = "", *, joint: bool = False
) -> Iterator[PlannedCall]:
    """Plan the calls of one judge, grouped by criteria.

    Grouping lets a server cache the constant part of the prompt.

    Args:
        personas: the readers by maturity.
        salt: "" or a text that sets the keys of a run apart from all others (to ask anew on purpose).
        joint: one call asks about all criteria of a case that the judge may judge; else each criterion has a call of its own.
    """
    positions: dict[tuple[Criterion, ...], list[int]] = {}
    for position, judged in enumerate(cases):
        own = tuple(criterion for criterion in judged.criteria if judge.may_judge(criterion))
        for group in [own] if joint and own else [(criterion,) for criterion in own]:
            positions.setdefault(group, []).append(position)
    contents = [_case_digest(judged.case, personas) for judged in cases]
    for group, places in positions.items():
        prefixes = _pass_digests(judge, group, salt)
        for place in places:
            for number, prefix in enumerate(prefixes, 1):
                key = hashlib.sha256(f"{prefix}{contents[place]}".encode()).hexdigest()
                yield PlannedCall(key=key, case=cases[place].case, criteria=group, judge=judge, pass_index=number)


def _case_digest(case: Case, personas: Mapping[str, Persona]) -> str:
    return digest_of(case_content(case) | {"reader": reader_content(case, personas.get(case.maturity))})


def _pass_digests(judge: Judge, criteria: tuple[Criterion, ...], salt: str) -> list[str]:
    """The part of the keys that all cases share, for each pass."""
    who = [judge.name, str(judge.reference), judge.digest]
    asked = digest_of([[criterion_content(criterion) for criterion in criteria], TEMPLATE_VERSION, METHOD])
    return [digest_of([who, asked, options, number, salt]) for number, options in enumerate(judge.passes, 1)]
