"""What judges are shown of cases, as digests: they decide the keys of judgments, and tell which cases are alike."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from areopage.cases import Case, Persona
from areopage.criteria import WHOLE, Criterion, Scope, case_content, concerns, reader_content, turns_to_judge
from areopage.digest import digest_of

_BYTES = 32
"""Of a digest."""


class JudgedCase(Struct, frozen=True, kw_only=True):
    """A case with a response and the criteria to judge it on; `given` is as in `turns_to_judge`."""

    case: Case
    criteria: tuple[Criterion, ...]
    given: int = 0


class ShownReply(Struct, frozen=True, gc=False):
    """The number of a reply (or `WHOLE`), and the digest of what a judge is shown with it."""

    turn: int
    digest: bytes


class ShownCases:
    """The digests of cases by scope, each computed once, at its first use; one text of bytes is held for a case."""

    def __init__(self, cases: Sequence[JudgedCase], personas: Mapping[str, Persona]) -> None:
        """Args:
        personas: the readers by maturity.
        """
        self._cases, self._personas = cases, personas
        self._digests: dict[Scope, list[bytes]] = {}
        self._alike: dict[Scope, dict[bytes, list[int]]] = {}

    def of(self, place: int, scope: Scope) -> Iterator[ShownReply]:
        """What is shown of a case: of each reply that is judged in this scope."""
        judged, digests = self._cases[place], self._digests_of(place, scope)
        for number, turn in enumerate(turns_to_judge(scope, judged.case, judged.given)):
            yield ShownReply(turn, digests[number * _BYTES : (number + 1) * _BYTES])

    def alike(self, scope: Scope) -> Mapping[bytes, list[int]]:
        """The places of cases with the same digest, by digest; a digest of one case is left out."""
        if scope not in self._alike:
            first: dict[bytes, int] = {}
            places: dict[bytes, list[int]] = {}
            for place, judged in enumerate(self._cases):
                if concerns(scope, judged.case):
                    digests = self._digests_of(place, scope)
                    for at in range(0, len(digests), _BYTES):
                        digest = digests[at : at + _BYTES]  # the same object where there is one
                        if digest in first:
                            places.setdefault(digest, [first[digest]]).append(place)
                        else:
                            first[digest] = place
            self._alike[scope] = places
        return self._alike[scope]

    def _digests_of(self, place: int, scope: Scope) -> bytes:
        if scope not in self._digests:
            self._digests[scope] = [b""] * len(self._cases)
        digests = self._digests[scope]
        if not digests[place]:
            digests[place] = b"".join(self._computed(self._cases[place], scope))
        return digests[place]

    def _computed(self, judged: JudgedCase, scope: Scope) -> Iterator[bytes]:
        reader = {"reader": reader_content(judged.case, self._personas.get(judged.case.maturity))}
        for turn in turns_to_judge(scope, judged.case, judged.given):
            case = judged.case if turn == WHOLE else judged.case.at(turn)
            like: Scope = scope if scope != "reply" else "turn" if turn else "response"
            yield bytes.fromhex(digest_of(case_content(case, like) | reader))
