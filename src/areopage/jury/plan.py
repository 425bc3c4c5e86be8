"""The plan of a jury: which judge judges which case on which criterion, how often, and under which key.

A judgment's key is the SHA-256 of the canonical JSON of everything that determines it: what the judge is shown of the case
(not its id), the criterion's text and version, the prompt template, the reader, the judge with its model and digest, its
options, the method, the pass. Whatever has been paid for under a key is not paid for again.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.personas import Persona
from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.criteria.rendering import TEMPLATE_VERSION, case_content, criterion_content, reader_values
from areopage.jury.judges import Judge

METHOD = "json-verdict/1"


class JudgedCase(Struct, frozen=True, kw_only=True):
    """A case that has its response, with the criteria it is judged on."""

    case: Case
    criteria: tuple[Criterion, ...]


class PlannedCall(Struct, frozen=True, kw_only=True):
    """One call to one judge. `pass_index` counts from 1."""

    key: str
    case: Case
    criterion: Criterion
    judge: Judge
    pass_index: int

    @property
    def options(self) -> dict[str, Any]:
        """The options of this pass."""
        return self.judge.passes[self.pass_index - 1]


def digest_of(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value's canonical JSON (keys sorted, no white space)."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def plan_judge(
    judge: Judge, cases: Sequence[JudgedCase], personas: Mapping[str, Persona], salt: str = ""
) -> Iterator[PlannedCall]:
    """The calls of one judge, criterion by criterion, so that a server can keep the constant part of the prompt.

    Args:
        personas: the readers by maturity.
        salt: "" or a text that sets the keys of a run apart from all others (to ask anew on purpose).
    """
    contents = [digest_of(case_content(judged.case) | {"reader": reader_of(judged.case, personas)}) for judged in cases]
    by_criterion: dict[Criterion, list[int]] = {}
    for position, judged in enumerate(cases):
        for criterion in judged.criteria:
            if judge.may_judge(criterion):
                by_criterion.setdefault(criterion, []).append(position)
    who = [judge.name, str(judge.reference), judge.digest]
    for criterion, positions in by_criterion.items():
        asked = digest_of([criterion_content(criterion), TEMPLATE_VERSION, METHOD])
        options = [digest_of([who, asked, options, number, salt]) for number, options in enumerate(judge.passes, 1)]
        for position in positions:
            for number, prefix in enumerate(options, 1):
                key = hashlib.sha256(f"{prefix}{contents[position]}".encode()).hexdigest()
                case = cases[position].case
                yield PlannedCall(key=key, case=case, criterion=criterion, judge=judge, pass_index=number)


def reader_of(case: Case, personas: Mapping[str, Persona]) -> dict[str, str]:
    """What the prompt says of the reader."""
    return reader_values(case, personas.get(case.maturity))
