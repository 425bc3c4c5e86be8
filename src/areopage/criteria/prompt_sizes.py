"""The size of judges' prompts, in bytes of UTF-8, without rendering each of them.

A prompt is a part that all cases of a reader share, and a part of the case that all criteria of a scope share: each is measured
once. The result is that of `judge_prompt`, to the byte.
"""

from collections.abc import Mapping

from msgspec import Struct

from areopage.cases import Case, Persona
from areopage.criteria.prompts import case_part, judge_prompt
from areopage.criteria.records import Criterion
from areopage.text import byte_length


class ConstantPart(Struct, frozen=True):
    """What prompts about some criteria share for one reader: how they begin, and their size without the case in bytes."""

    prefix: str
    size: int


class PromptSizer:
    """Measures prompts; it keeps the size of each part, so that one instance serves the cases of a run."""

    def __init__(self, personas: Mapping[str, Persona]) -> None:
        self._personas = personas
        self._constant: dict[tuple[tuple[str, ...], str], ConstantPart] = {}

    def size(self, criteria: tuple[Criterion, ...], case: Case) -> int:
        """The bytes of the prompt about criteria of one scope and a case."""
        return self.constant(criteria, case.maturity).size + self.case_size(case, criteria[0])

    def constant(self, criteria: tuple[Criterion, ...], maturity: str) -> ConstantPart:
        """What the prompts about criteria have in common for a reader; of the reader of no age where `maturity` is ""."""
        key = (tuple([criterion.id for criterion in criteria]), maturity)
        part = self._constant.get(key)
        if part is None:
            bare = Case(id="", prompt="", response="", maturity=maturity)
            prompt = judge_prompt(criteria, bare, self._personas.get(maturity), b"")
            whole = byte_length(prompt.system) + byte_length(prompt.user)
            part = ConstantPart(prompt.system, whole - self.case_size(bare, criteria[0]))
            self._constant[key] = part
        return part

    def case_size(self, case: Case, like: Criterion) -> int:
        """The bytes that a case adds to prompts about criteria of the scope and the language of one of them."""
        return byte_length(case_part(case, like))
