"""The planned calls of a jury: judge, case, criteria, pass and key.

A judgment's key is the SHA-256 of the canonical JSON of everything that determines it: what the judge is shown of the case
(not its id), the texts and versions of the criteria, the prompt template, the reader, the judge with its model and digest, its
options, the method, the pass. A criterion that is judged on each reply of a conversation has calls for each: what the judge is
shown is then the conversation up to that reply. What has been paid for under a key is not paid for again.
"""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from areopage.cases import Case, Persona
from areopage.criteria import (
    HARDENED,
    SCOPES,
    SINGLE,
    TEMPLATE_VERSION,
    WHOLE,
    Criterion,
    Hardening,
    Scope,
    case_content,
    concerns,
    reader_content,
    turns_to_judge,
)
from areopage.digest import digest_of
from areopage.jury.judges import Judge, PlannedCall, ScoringMethod

_BYTES = 32
"""Of a digest."""


class JudgedCase(Struct, frozen=True, kw_only=True):
    """A case with a response and the criteria to judge it on; `given_replies` is `given` of `turns_to_judge`."""

    case: Case
    criteria: tuple[Criterion, ...]
    given_replies: int = 0


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
        for number, turn in enumerate(turns_to_judge(scope, judged.case, judged.given_replies)):
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
        for turn in turns_to_judge(scope, judged.case, judged.given_replies):
            case = judged.case if turn == WHOLE else judged.case.at(turn)
            like: Scope = scope if scope != "reply" else "turn" if turn else "response"
            yield bytes.fromhex(digest_of(case_content(case, like) | reader))


METHODS: Mapping[ScoringMethod, str] = {"sampled": "json-verdict/1", "expected": "expected-score/1"}
"""How a judge's answer becomes a score; part of a judgment's key."""


PassesOf = Callable[[str, str, Judge, int], range]
"""The numbers of a judge's passes over a case, by its id, on a criterion, by its id, and on a turn."""


def all_passes(case_id: str, criterion: str, judge: Judge, turn: int) -> range:
    """All passes of a judge."""
    return range(1, judge.passes + 1)


class SharedCall(Struct, frozen=True):
    """A planned call, and the cases that share its judgment by their ids: what the judge is shown of them is the same."""

    call: PlannedCall
    cases: tuple[str, ...]


class CallPlan:
    """The calls of one judge. They are made anew whenever they are asked for; only digests of what is shown are held."""

    def __init__(
        self,
        judge: Judge,
        cases: Sequence[JudgedCase],
        personas: Mapping[str, Persona],
        salt: str = "",
        *,
        joint: bool = False,
        passes_of: PassesOf = all_passes,
        hardening: Hardening = HARDENED,
        shown: ShownCases | None = None,
    ) -> None:
        """Group the calls by criteria, which lets a server cache the constant part of the prompt.

        Args:
            personas: the readers by maturity.
            salt: "" or a text that sets the keys of a run apart from all others (to ask anew on purpose).
            joint: one call asks about all criteria of one scope that the judge may judge; else each criterion has its own call.
            passes_of: the passes that are planned; of a joint call by its first criterion.
            hardening: what an audit asks without; its judgments are under keys of their own.
            shown: the digests of these cases, where plans of other judges use them too.
        """
        self._judge, self._cases, self._personas, self._hardening = judge, cases, personas, hardening
        self._passes_of = passes_of
        self._places: dict[tuple[Criterion, ...], array[int]] = {}
        of_kind: dict[tuple[int, bool], list[array[int]]] = {}  # where cases share a tuple of criteria, it is looked at once
        for place, judged in enumerate(cases):
            kind = (id(judged.criteria), judged.case.is_conversation)
            if kind not in of_kind:
                groups = groups_of(judge, judged.criteria, judged.case, joint=joint)
                of_kind[kind] = [self._places.setdefault(group, array("I")) for group in groups]
            for places in of_kind[kind]:
                places.append(place)
        self._prefixes = {group: _pass_digests(judge, group, salt, hardening) for group in self._places}
        self._shown = shown or ShownCases(cases, personas)

    @property
    def groups(self) -> Sequence[tuple[Criterion, ...]]:
        """The criteria of the calls, those of one call together."""
        return list(self._places)

    def __iter__(self) -> Iterator[PlannedCall]:
        """All calls, grouped by criteria and reader; cases that are alike have a call each, with the same key."""
        for group, places in self._places.items():
            for place in self._by_reader(places):
                for reply in self._shown.of(place, group[0].scope):
                    case = self._case(place, reply.turn)
                    for number in self._passes(place, group, reply.turn):
                        yield self._call(case, group, reply, number)

    def shared(self, group: tuple[Criterion, ...], start: int, stop: int) -> Iterator[SharedCall]:
        """The calls about a group and the cases from one place to another, each at the first of the cases that share it.

        Args:
            group: criteria of one call.
            start, stop: places in the sequence of cases; `stop` is the first that is left out.
        """
        places, scope = self._places[group], group[0].scope
        alike = self._shown.alike(scope)

        def is_asked_of(other: int) -> bool:
            at = bisect_left(places, other)
            return at < len(places) and places[at] == other

        for place in self._by_reader(places[bisect_left(places, start) : bisect_left(places, stop)]):
            for reply in self._shown.of(place, scope):
                case = self._case(place, reply.turn)
                others = [other for other in alike.get(reply.digest, ()) if other != place and is_asked_of(other)]
                for number in self._passes(place, group, reply.turn):
                    with_it = [other for other in others if number in self._passes(other, group, reply.turn)]
                    if not with_it or place < with_it[0]:
                        ids = tuple([self._cases[each].case.id for each in (place, *with_it)])
                        yield SharedCall(self._call(case, group, reply, number), ids)

    def _by_reader(self, places: Sequence[int]) -> Sequence[int]:
        """Places in an order in which prompts in a row share the longest beginning: the reader is described before the case."""
        return sorted(places, key=lambda place: self._cases[place].case.maturity)

    def _case(self, place: int, turn: int) -> Case:
        case = self._cases[place].case
        return case if turn == WHOLE else case.at(turn)

    def _call(self, case: Case, group: tuple[Criterion, ...], reply: ShownReply, number: int) -> PlannedCall:
        return PlannedCall(
            key=hashlib.sha256(f"{self._prefixes[group][number - 1]}{reply.digest.hex()}".encode()).hexdigest(),
            case=case,
            criteria=group,
            judge=self._judge,
            pass_index=number,
            turn=reply.turn,
            hardening=self._hardening,
        )

    def _passes(self, place: int, group: tuple[Criterion, ...], turn: int) -> range:
        return self._passes_of(self._cases[place].case.id, group[0].id, self._judge, turn)


def groups_of(judge: Judge, criteria: Sequence[Criterion], case: Case, *, joint: bool) -> list[tuple[Criterion, ...]]:
    """The criteria that each call of a judge about a case asks about."""
    judged = [each for each in criteria if judge.may_judge(each) and concerns(each.scope, case)]
    if not joint:
        return [(criterion,) for criterion in judged]
    # of a single answer, those on the response and on each reply belong together: they judge the same text
    together = SINGLE if not case.is_conversation else ()
    scopes = [together, *((scope,) for scope in SCOPES if scope not in together)]
    groups = [tuple(criterion for criterion in judged if criterion.scope in some) for some in scopes]
    return [group for group in groups if group]


def _pass_digests(judge: Judge, criteria: tuple[Criterion, ...], salt: str, hardening: Hardening) -> list[str]:
    """The part of the keys that all cases share, for each pass."""
    who = [judge.name, str(judge.reference), judge.digest]
    asked = digest_of([[criterion.content() for criterion in criteria], TEMPLATE_VERSION, METHODS[judge.method]])
    without = [] if hardening.asked == HARDENED else [hardening.asked]
    return [digest_of([who, asked, options, number, salt, *without]) for number, options in enumerate(judge.pass_options, 1)]
