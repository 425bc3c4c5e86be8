"""Which of a run's judgments is valid under each key, and which verdicts the keys of cases lead to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.errors import StorageError
from areopage.ledger.column_reading import OF_JUDGMENT, OF_VERDICT, Judgments, Kinds, Verdicts, distinct
from areopage.ledger.key_digests import Digests
from areopage.ledger.number_columns import Column, Numbers, joined, taken
from areopage.ledger.rows import TEXTS
from areopage.scoring.outcome import GIVEN_NAMES, OUTCOME_NAMES

Flags = NDArray[np.bool_]


class VerdictKind(Struct, frozen=True):
    """What verdicts of one kind have in common."""

    pass_index: int
    turn: int
    outcome: str
    repair: str
    judge: str
    criterion: str
    steps: tuple[str, ...]


class Judged(Struct, frozen=True, kw_only=True):
    """Judgments with a verdict at least, in order of their numbers; `numbers` are as in `Judgments`.

    The verdicts of each are `count` rows from `first` on, of kinds (places in `kinds`) and columns as in `Verdicts`.
    """

    number: Numbers
    digest: Digests
    numbers: Sequence[Column]
    first: Numbers
    count: Numbers
    is_whole: Flags
    kind: Numbers
    kinds: tuple[VerdictKind, ...]
    of_verdict: Sequence[Column]


def judged(
    judgments: Sequence[Judgments], verdicts: Sequence[Verdicts], kinds_of_judgment: Kinds, kinds_of_verdict: Kinds
) -> Judged:
    """Arrange what was read part by part.

    Verdicts whose judgments were not read are left out, be they of other runs or stored while both were read, in either order.

    Raises:
        StorageError: a verdict has an unknown outcome.
    """
    judgment, of_verdict, *columns = _in_order(
        [one.judgment for one in verdicts],
        [one.kind for one in verdicts],
        *([one.numbers[row] for one in verdicts] for row in range(len(OF_VERDICT))),
    )
    known, of_judgment, near, far, *numbers = _in_order(
        [one.number for one in judgments],
        [one.kind for one in judgments],
        [one.digest.first for one in judgments],
        [one.digest.second for one in judgments],
        *([one.numbers[row] for one in judgments] for row in range(len(OF_JUDGMENT))),
    )
    first = np.flatnonzero(np.diff(judgment, prepend=-1))
    number, count = judgment[first], np.diff(np.append(first, len(judgment)))
    if not np.array_equal(known, number):
        at = np.searchsorted(known, number)
        there = at < len(known)
        there[there] = known[at[there]] == number[there]
        kept = np.flatnonzero(np.repeat(there, count))
        of_verdict, *columns = (taken(some, kept) for some in (of_verdict, *columns))
        number, count = number[there], count[there]
        first = np.cumsum(count) - count
        of_judgment, near, far, *numbers = (taken(some, at[there]) for some in (of_judgment, near, far, *numbers))
    kind, kinds = _together(np.repeat(of_judgment, count), tuple(kinds_of_judgment), of_verdict, tuple(kinds_of_verdict))
    given = np.array([one.outcome in GIVEN_NAMES for one in kinds], dtype=bool)[kind]
    return Judged(
        number=number,
        digest=Digests(near, far),
        numbers=numbers,
        first=first,
        count=count,
        is_whole=np.logical_and.reduceat(given, first) if len(first) else np.zeros(0, dtype=bool),
        kind=kind,
        kinds=kinds,
        of_verdict=columns,
    )


def _in_order(*columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Each column in one piece, in order of the first one."""
    whole = [joined(parts) for parts in columns]
    if np.any(whole[0][1:] < whole[0][:-1]):
        order = np.argsort(whole[0], kind="stable")
        return [taken(some, order) for some in whole]
    return whole


def _together(
    of_judgment: Numbers, judgments: Sequence[tuple[Any, ...]], of_verdict: Numbers, verdicts: Sequence[tuple[Any, ...]]
) -> tuple[Numbers, tuple[VerdictKind, ...]]:
    """The kind of each verdict, and the kinds, from those of judgments and those of verdicts alone."""
    found, kind = distinct(of_judgment * len(verdicts) + of_verdict)
    pairs = [divmod(code, len(verdicts)) for code in found.tolist()]
    return kind, tuple(_kind_of(*judgments[judgment], *verdicts[verdict]) for judgment, verdict in pairs)


def _kind_of(number: int, turn: int, repair: str, judge: str, steps: str, outcome: str, criterion: str) -> VerdictKind:
    if outcome not in OUTCOME_NAMES:
        raise StorageError(f"the ledger is damaged: a verdict has the unknown outcome {outcome!r}")
    return VerdictKind(number, turn, outcome, repair, judge, criterion, TEXTS.decode(steps))


# --- keys


class Wanted(Struct, frozen=True):
    """The digests of the keys of cases, and the order of their first halves."""

    position: Numbers
    digest: Digests
    order: Numbers


class Match(Struct, frozen=True):
    """The rows of verdicts under the wanted keys with the places of their judgments among all and the cases' positions.

    And which keys have no whole judgment.
    """

    row: Numbers
    place: Numbers
    position: Numbers
    lacking: Flags


def match(wanted: Wanted, judged: Judged) -> Match:
    """Look the wanted keys up: the latest whole judgment of each is valid, or the latest one where none is whole."""
    digest, valid = _valid(judged)
    at = np.empty(len(wanted.order), dtype=np.int64)
    at[wanted.order] = np.searchsorted(digest, wanted.digest.first[wanted.order])  # in order, memory is read once
    there = at < len(digest)
    there[there] = digest[at[there]] == wanted.digest.first[there]
    place = valid[at[there]]
    is_same = judged.digest.second[place] == wanted.digest.second[there]
    there[there], place = is_same, place[is_same]
    count = judged.count[place]
    lacking = ~there
    lacking[there] = ~judged.is_whole[place]
    row, position = judged.first[place], wanted.position[there]
    if len(judged.kind) > len(judged.count):
        steps = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        row, place, position = np.repeat(row, count) + steps, np.repeat(place, count), np.repeat(position, count)
    return Match(row, place, position, lacking)


def _valid(judged: Judged) -> tuple[NDArray[np.uint64], Numbers]:
    """The first half of each key's digest, in order, with the place of its valid judgment among all."""
    digest = judged.digest.first
    order = np.argsort(digest)
    found = digest[order]
    is_last = np.ones(len(found), dtype=bool)
    is_last[:-1] = found[1:] != found[:-1]
    if is_last.all():
        return found, order
    order = np.lexsort((judged.is_whole, digest))  # stable: the latest of a kind is the last
    return found[is_last], order[is_last]
