"""Which of a run's judgments is valid under each key, and which verdicts the keys of cases lead to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.errors import StorageError
from areopage.ledger.column_reading import OF_JUDGMENT, OF_VERDICT, Judgments, Kinds, Verdicts, distinct
from areopage.ledger.key_digests import Digests
from areopage.ledger.number_columns import Column, GrowingTable, Numbers, joined, narrowed, taken
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

    def without_digests(self) -> "Judged":
        """The judgments once they are found: digests take as much memory as half of the columns."""
        none = np.zeros(0, dtype=np.uint64)
        return structs.replace(self, digest=Digests(none, none))


def tables(count: int = 0) -> tuple[GrowingTable, GrowingTable]:
    """Tables for judgments and for verdicts, as `add_judgments` and `add_verdicts` fill them and `judged` reads them.

    Args:
        count: how many judgments there will be, about as many verdicts.
    """
    return GrowingTable(4 + len(OF_JUDGMENT), count), GrowingTable(2 + len(OF_VERDICT), count)


def add_judgments(table: GrowingTable, found: Judgments) -> None:
    """Add a part of the judgments."""
    table.add(found.number, found.kind, found.digest.first, found.digest.second, *found.numbers)


def add_verdicts(table: GrowingTable, found: Verdicts) -> None:
    """Add a part of the verdicts."""
    table.add(found.judgment, found.kind, *found.numbers)


def judged(judgments: GrowingTable, verdicts: GrowingTable, kinds_of_judgment: Kinds, kinds_of_verdict: Kinds) -> Judged:
    """Arrange what was read part by part.

    Verdicts whose judgments were not read are left out, be they of other runs or stored while both were read, in either order.

    Raises:
        StorageError: a verdict has an unknown outcome.
    """
    judgment, of_verdict, *columns = _in_order(verdicts.whole())
    known, of_judgment, near, far, *numbers = _in_order(judgments.whole())
    first = _starts(judgment)
    number, count = judgment[first], narrowed(np.diff(np.append(first, len(judgment))))
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


def together(some: Judged, others: Judged) -> tuple[Judged, Numbers]:
    """The judgments of both, which have none in common, and the places among them of the first ones."""
    numbers = {kind: number for number, kind in enumerate(some.kinds)}
    kind = np.array([numbers.setdefault(one, len(numbers)) for one in others.kinds], dtype=np.int32)[others.kind]
    number = np.concatenate([some.number, others.number])
    order = np.argsort(number)

    def ordered(of_some: NDArray[Any], of_others: NDArray[Any]) -> NDArray[Any]:
        return taken(joined(of_some, of_others), order)

    moved = np.empty_like(order)
    moved[order] = np.arange(len(order))
    return Judged(
        number=number[order],
        digest=Digests(ordered(some.digest.first, others.digest.first), ordered(some.digest.second, others.digest.second)),
        numbers=[ordered(*pair) for pair in zip(some.numbers, others.numbers, strict=True)],
        first=ordered(some.first, others.first + len(some.kind)),
        count=ordered(some.count, others.count),
        is_whole=ordered(some.is_whole, others.is_whole),
        kind=np.concatenate([some.kind, kind]),
        kinds=tuple(numbers),
        of_verdict=[joined(*pair) for pair in zip(some.of_verdict, others.of_verdict, strict=True)],
    ), narrowed(moved[: len(some.number)])


def _in_order(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The columns in order of the first one."""
    if np.any(columns[0][1:] < columns[0][:-1]):
        order = np.argsort(columns[0], kind="stable")
        return [taken(some, order) for some in columns]
    return columns


def _starts(numbers: Numbers) -> Numbers:
    """Where in a column a number begins that is not the one before."""
    differs = np.ones(len(numbers), dtype=bool)
    differs[1:] = numbers[1:] != numbers[:-1]
    return narrowed(np.flatnonzero(differs))


def _together(
    of_judgment: Numbers, judgments: Sequence[tuple[Any, ...]], of_verdict: Numbers, verdicts: Sequence[tuple[Any, ...]]
) -> tuple[Numbers, tuple[VerdictKind, ...]]:
    """The kind of each verdict, and the kinds, from those of judgments and those of verdicts alone."""
    codes = np.multiply(of_judgment, len(verdicts), dtype=np.int64)
    codes += of_verdict
    found, kind = distinct(codes)
    pairs = [divmod(code, len(verdicts)) for code in found.tolist()]
    return kind, tuple(_kind_of(*judgments[judgment], *verdicts[verdict]) for judgment, verdict in pairs)


def _kind_of(number: int, turn: int, repair: str, judge: str, steps: str, outcome: str, criterion: str) -> VerdictKind:
    if outcome not in OUTCOME_NAMES:
        raise StorageError(f"the ledger is damaged: a verdict has the unknown outcome {outcome!r}")
    return VerdictKind(number, turn, outcome, repair, judge, criterion, TEXTS.decode(steps))


# --- keys


class ValidPlaces:
    """Which of some judgments is valid under each key: the latest whole one, or the latest one where none is whole."""

    def __init__(self, judged: Judged) -> None:
        self._first, self._place = _valid(judged)
        self._second = judged.digest.second

    def of(self, digest: Digests) -> Numbers:
        """The places of the valid judgments under some keys, −1 where there is none."""
        found = np.full(len(digest.first), -1, dtype=self._place.dtype)
        asked = np.argsort(digest.first)  # in order, memory is read once
        first = digest.first[asked]
        at = np.searchsorted(self._first, first)
        there = at < len(self._first)
        there[there] = self._first[at[there]] == first[there]
        place, asked = self._place[at[there]], asked[there]
        is_same = self._second[place] == digest.second[asked]
        found[asked[is_same]] = place[is_same]
        return found


def verdict_rows(place: Numbers, position: Numbers, judged: Judged) -> tuple[Numbers, Numbers, Numbers]:
    """The rows of the verdicts of some judgments, and the place and the position of each row.

    Args:
        place: of each judgment among all; `position`, of the case that it is about.
    """
    row, count = judged.first[place], judged.count[place]
    if len(judged.kind) == len(judged.count):
        return row, place, position
    steps = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(row, count) + steps, np.repeat(place, count), np.repeat(position, count)


def _valid(judged: Judged) -> tuple[NDArray[np.uint64], Numbers]:
    """The first half of each key's digest, in order, with the place of its valid judgment among all."""
    digest = judged.digest.first
    order = narrowed(np.argsort(digest))
    found = digest[order]
    is_last = np.ones(len(found), dtype=bool)
    is_last[:-1] = found[1:] != found[:-1]
    if is_last.all():
        return found, order
    order = narrowed(np.lexsort((judged.is_whole, digest)))  # stable: the latest of a kind is the last
    return found[is_last], order[is_last]
