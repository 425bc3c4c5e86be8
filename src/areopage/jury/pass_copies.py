"""Passes of a judge that repeat another one: equal options at temperature 0.

Such a pass is nearly always a copy of the first. It costs a call and says nothing of how far a judge repeats itself, so that it
is left out of a plan unless the user asks for it. Passes whose options differ in anything, a seed included, are different calls.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from areopage.digest import digest_of
from areopage.jury.judges import Judge
from areopage.locales import Note


class CopiedPasses(Struct, frozen=True, kw_only=True):
    """Passes of a judge that repeat an earlier one, by their numbers in the suite's plan, from 1."""

    judge: str
    first: int
    copies: tuple[int, ...]


def is_deterministic(options: Mapping[str, Any]) -> bool:
    """Whether a model that is sent these options always takes the likeliest token."""
    temperature = options.get("temperature")
    return isinstance(temperature, int | float) and not isinstance(temperature, bool) and temperature == 0


def copied_passes(judge: Judge) -> tuple[CopiedPasses, ...]:
    """The passes of a model that repeat another one."""
    groups: dict[str, list[int]] = {}
    for number, options in enumerate(judge.passes, 1):
        if judge.is_model and is_deterministic(options):
            groups.setdefault(digest_of({**options, "temperature": 0}), []).append(number)
    return tuple(
        CopiedPasses(judge=judge.name, first=numbers[0], copies=tuple(numbers[1:]))
        for numbers in groups.values()
        if len(numbers) > 1
    )


def asked_once(judge: Judge) -> Judge:
    """The judge without the passes that repeat another one; the passes that are left are numbered anew."""
    copies = {number for one in copied_passes(judge) for number in one.copies}
    kept = tuple(options for number, options in enumerate(judge.passes, 1) if number not in copies)
    return structs.replace(judge, passes=kept) if copies else judge


def copies_note(one: CopiedPasses) -> Note:
    """The remark that says which passes are asked once."""
    copies = tuple(map(str, one.copies))
    return Note("passes_asked_once", {"judge": one.judge, "first": str(one.first), "copies": copies, "n": len(copies)})
