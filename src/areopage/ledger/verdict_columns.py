"""The verdicts of a run as arrays, read from the columns of judgments and verdicts without their texts.

A million verdicts are read in a few seconds and take some hundred megabytes while they are matched with their cases.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray
from sqlalchemy import select

from areopage.errors import StorageError
from areopage.ledger.answer_tables import run_cases
from areopage.ledger.column_reading import (
    KINDS_OF_JUDGMENT,
    KINDS_OF_VERDICT,
    OF_JUDGMENT,
    OF_VERDICT,
    Judgments,
    Kinds,
    Verdicts,
    Where,
    blocks_of,
    distinct,
    judgments_in,
    links_of,
    verdicts_in,
)
from areopage.ledger.connection import storage_errors
from areopage.ledger.number_columns import Column, Keys, Numbers, key_column
from areopage.ledger.records import Judgment
from areopage.ledger.rows import TEXTS, chunks
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import GIVEN_NAMES, OUTCOME_NAMES, Scored, outcome_name

Flags = NDArray[np.bool_]
Digests = NDArray[np.uint64]

_AT_ONCE = 4_096  # keys that are hashed or compared together: few enough to stay in the processor's cache


class VerdictKind(Struct, frozen=True):
    """What verdicts of one kind have in common."""

    pass_index: int
    turn: int
    outcome: str
    repair: str
    judge: str
    criterion: str
    steps: tuple[str, ...]


class VerdictColumns(Struct, frozen=True, kw_only=True, dict=True):
    """Verdicts, a row each.

    Args:
        position: of the case in the run.
        judgment: the number of the judgment that the verdict is of.
        kind: the place of its kind in `kinds`.
        score: as the judge gave it; NaN unless scored.
        seconds, prompt_tokens, completion_tokens, cost: of the whole judgment; NaN where tokens or the price are not known.
        mass, written: of log-probabilities, as in `Scored`; NaN where they were not used.
        elsewhere: the numbers of judgments of other runs that were looked up.
    """

    position: Numbers
    judgment: Numbers
    kind: Numbers
    kinds: tuple[VerdictKind, ...]
    score: Column
    seconds: Column
    prompt_tokens: Column
    completion_tokens: Column
    cost: Column
    mass: Column
    written: Column
    elsewhere: Numbers

    def rows(self, kept: Numbers | Flags) -> "VerdictColumns":
        """Some rows, in this order."""
        names = ("position", "judgment", "kind", *OF_VERDICT, *OF_JUDGMENT)
        return structs.replace(self, **{name: getattr(self, name)[kept] for name in names})

    @cached_property
    def is_first_of_judgment(self) -> Flags:
        """Whether a row is the first one of its judgment."""
        found = np.zeros(len(self.judgment), dtype=bool)
        found[np.unique(self.judgment, return_index=True)[1]] = True
        return found

    def turns(self) -> set[tuple[int, int]]:
        """The positions of cases and the replies that are judged of them."""
        turn = np.array([kind.turn for kind in self.kinds], dtype=np.int64)
        return set(zip(self.position.tolist(), turn[self.kind].tolist(), strict=True))


def with_readings(verdicts: VerdictColumns, readings: Mapping[int, Judgment]) -> VerdictColumns:
    """The verdicts, those of some judgments as they are read now.

    Args:
        readings: by number.
    """
    kinds = {kind: number for number, kind in enumerate(verdicts.kinds)}
    kind, score, mass, written = (some.copy() for some in (verdicts.kind, verdicts.score, verdicts.mass, verdicts.written))
    for row in np.flatnonzero(np.isin(verdicts.judgment, list(readings))).tolist():
        before, judgment = verdicts.kinds[kind[row]], readings[int(verdicts.judgment[row])]
        outcome = next(one.outcome for one in judgment.verdicts if one.criterion == before.criterion)
        now = structs.replace(before, outcome=outcome_name(outcome), repair=judgment.repair, steps=judgment.steps)
        kind[row] = kinds.setdefault(now, len(kinds))
        said = outcome if isinstance(outcome, Scored) else None
        score[row] = np.nan if said is None else said.score
        mass[row] = np.nan if said is None or said.mass is None else said.mass
        written[row] = np.nan if said is None or said.written is None else said.written
    return structs.replace(verdicts, kind=kind, score=score, mass=mass, written=written, kinds=tuple(kinds))


class CaseKeys(Struct, frozen=True, kw_only=True):
    """The keys of the judgments on cases: `key[n]` is that of a judgment on the case at `position[n]`."""

    position: Numbers
    key: Keys


def shares_answers(ledger: Ledger, run_id: str) -> bool:
    """Whether cases of a run share an answer: which key is of which of them, links do not tell."""
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        known = select(run_cases.c.answer).where(run_cases.c.run_id == run_id, run_cases.c.answer.is_not(None))
        numbers = connection.execute(known).scalars().all()
    return len(set(numbers)) < len(numbers)


def linked_keys(ledger: Ledger, run_id: str) -> CaseKeys:
    """The keys that are linked to the answers of a run's cases."""
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        position, key = links_of(connection, run_id)
    return CaseKeys(position=position, key=key)


def joined_keys(parts: Sequence[CaseKeys]) -> CaseKeys:
    """The keys of several portions."""
    every = [CaseKeys(position=np.zeros(0, dtype=np.int64), key=key_column(())), *parts]
    return CaseKeys(position=np.concatenate([one.position for one in every]), key=np.concatenate([one.key for one in every]))


def read_verdicts(ledger: Ledger, run_id: str, wanted: Callable[[], CaseKeys]) -> VerdictColumns:
    """Read the valid verdicts under the keys of a run's cases, in order of cases.

    The valid judgment of a key is as in `Ledger.judgments`, but for one rule: where the run itself has a whole one, those of
    other runs do not count. The judgments of the run are read in one go; others are looked up where it has none, or no whole one.

    Args:
        wanted: returns these keys; called in another thread while verdicts and judgments are read.
    """
    read = _Read()
    with ThreadPoolExecutor(2, thread_name_prefix="columns") as pool:
        keys = pool.submit(_wanted, wanted)
        with storage_errors(ledger.place), ledger.engine.connect() as connection:
            blocks = list(blocks_of(connection, run_id))
            judgments = pool.submit(_judgments_in, ledger, blocks, read.of_judgment)
            read.verdicts += [verdicts_in(connection, where, read.of_verdict) for where in blocks]
        asked = keys.result()
        read.judgments += judgments.result()
    judged = _judged(read)
    found = _match(asked, judged, _valid(judged))
    of_run = judged.number
    if (lacking := np.unique(asked.keys.key[found.lacking]).tolist()) and _read_elsewhere(ledger, run_id, lacking, read):
        judged = _judged(read)
        found = _match(asked, judged, _valid(judged))
    order = np.argsort(found.position, kind="stable")
    at, place = found.row[order], found.place[order]
    return VerdictColumns(
        position=found.position[order],
        judgment=judged.number[place],
        kind=judged.kind[at],
        kinds=judged.kinds,
        **dict(zip(OF_VERDICT, (column[at] for column in judged.of_verdict), strict=True)),
        **dict(zip(OF_JUDGMENT, (column[place] for column in judged.numbers), strict=True)),
        elsewhere=np.setdiff1d(judged.number, of_run, assume_unique=True),
    )


class _Keyed(Struct, frozen=True):
    """Judgments with 64 bits of the key of each."""

    judgments: Judgments
    digest: Digests


class _Read(Struct):
    """What is read from the ledger, part by part."""

    verdicts: list[Verdicts] = []
    judgments: list[_Keyed] = []
    of_verdict: Kinds = field(default_factory=lambda: Kinds(KINDS_OF_VERDICT))
    of_judgment: Kinds = field(default_factory=lambda: Kinds(KINDS_OF_JUDGMENT))


class _Wanted(Struct, frozen=True):
    """The keys of cases with 64 bits of each, and the order of these."""

    keys: CaseKeys
    digest: Digests
    order: Numbers


def _judgments_in(ledger: Ledger, blocks: Sequence[Where], kinds: Kinds) -> list[_Keyed]:
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        return [_with_digests(judgments_in(connection, where, kinds)) for where in blocks]


def _with_digests(judgments: Judgments) -> _Keyed:
    return _Keyed(judgments, _digests(judgments.key))


def _wanted(wanted: Callable[[], CaseKeys]) -> _Wanted:
    keys = wanted()
    digest = _digests(keys.key)
    return _Wanted(keys, digest, np.argsort(digest))


def _read_elsewhere(ledger: Ledger, run_id: str, lacking: Sequence[bytes], read: _Read) -> bool:
    """Add the judgments of other runs under some keys to what is read; return whether there are any."""
    judgments: list[_Keyed] = []
    verdicts: list[Verdicts] = []
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        for some in chunks([key.decode() for key in lacking]):
            where = Where(f"j.run_id != ? AND j.key IN ({', '.join('?' * len(some))})", (run_id, *some))
            found = judgments_in(connection, where, read.of_judgment)
            if len(found.number):
                judgments.append(_with_digests(found))
                verdicts.append(verdicts_in(connection, where, read.of_verdict))
    if judgments:
        numbers = np.concatenate([one.judgments.number for one in judgments])
        read.verdicts = [*(_without(some, numbers) for some in read.verdicts), *verdicts]  # some lie between those of the run
        read.judgments += judgments
    return bool(judgments)


def _without(verdicts: Verdicts, judgments: Numbers) -> Verdicts:
    kept = ~np.isin(verdicts.judgment, judgments)
    return Verdicts(judgment=verdicts.judgment[kept], kind=verdicts.kind[kept], numbers=verdicts.numbers[:, kept])


class _Judged(Struct, frozen=True, kw_only=True):
    """Judgments with a verdict at least, in order of their numbers; `numbers` are as in `Judgments`.

    The verdicts of each are `count` rows from `first` on, of kinds (places in `kinds`) and columns as in `Verdicts`.
    """

    number: Numbers
    digest: Digests
    key: Keys
    numbers: Sequence[Column]
    first: Numbers
    count: Numbers
    is_whole: Flags
    kind: Numbers
    kinds: tuple[VerdictKind, ...]
    of_verdict: Sequence[Column]


def _judged(read: _Read) -> _Judged:
    """Arrange what was read.

    Verdicts whose judgments were not read are left out, be they of other runs or stored while both were read, in either order.
    """
    judgment, of_verdict, *columns = _in_order(
        [one.judgment for one in read.verdicts],
        [one.kind for one in read.verdicts],
        *([one.numbers[row] for one in read.verdicts] for row in range(len(OF_VERDICT))),
    )
    known, of_judgment, digest, key, *numbers = _in_order(
        [one.judgments.number for one in read.judgments],
        [one.judgments.kind for one in read.judgments],
        [one.digest for one in read.judgments],
        [one.judgments.key for one in read.judgments],
        *([one.judgments.numbers[row] for one in read.judgments] for row in range(len(OF_JUDGMENT))),
    )
    first = np.flatnonzero(np.diff(judgment, prepend=-1))
    number, count = judgment[first], np.diff(np.append(first, len(judgment)))
    if not np.array_equal(known, number):
        at = np.searchsorted(known, number)
        there = at < len(known)
        there[there] = known[at[there]] == number[there]
        of_verdict, *columns = (some[np.repeat(there, count)] for some in (of_verdict, *columns))
        number, count = number[there], count[there]
        first = np.cumsum(count) - count
        of_judgment, digest, key, *numbers = (some[at[there]] for some in (of_judgment, digest, key, *numbers))
    kind, kinds = _together(np.repeat(of_judgment, count), tuple(read.of_judgment), of_verdict, tuple(read.of_verdict))
    given = np.array([one.outcome in GIVEN_NAMES for one in kinds], dtype=bool)[kind]
    return _Judged(
        number=number,
        digest=digest,
        key=key,
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
    whole = [np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64) for parts in columns]
    if np.any(whole[0][1:] < whole[0][:-1]):
        order = np.argsort(whole[0], kind="stable")
        return [some[order] for some in whole]
    return whole


def _together(
    of_judgment: Numbers, judgments: Sequence[tuple[Any, ...]], of_verdict: Numbers, verdicts: Sequence[tuple[Any, ...]]
) -> tuple[Numbers, tuple[VerdictKind, ...]]:
    """The kind of each verdict, and the kinds, from those of judgments and those of verdicts alone.

    Raises:
        StorageError: a verdict has an unknown outcome.
    """
    found, kind = distinct(of_judgment * len(verdicts) + of_verdict)
    pairs = [divmod(code, len(verdicts)) for code in found.tolist()]
    return kind, tuple(_kind_of(*judgments[judgment], *verdicts[verdict]) for judgment, verdict in pairs)


def _kind_of(number: int, turn: int, repair: str, judge: str, steps: str, outcome: str, criterion: str) -> VerdictKind:
    if outcome not in OUTCOME_NAMES:
        raise StorageError(f"the ledger is damaged: a verdict has the unknown outcome {outcome!r}")
    return VerdictKind(number, turn, outcome, repair, judge, criterion, TEXTS.decode(steps))


class _Valid(Struct, frozen=True):
    """The valid judgment of each key, by its place among all judgments, in the order of `digest`."""

    digest: Digests
    place: Numbers


def _valid(judged: _Judged) -> _Valid:
    """Choose the latest whole judgment of each key, or the latest one where none is whole."""
    digest = judged.digest
    order = np.argsort(digest)
    found = digest[order]
    is_last = np.ones(len(found), dtype=bool)
    is_last[:-1] = found[1:] != found[:-1]
    if not is_last.all():
        order = np.lexsort((judged.is_whole, digest))  # stable: the latest of a kind is the last
    return _Valid(found[is_last], order[is_last])


class _Match(Struct, frozen=True):
    """The rows of verdicts under the wanted keys with the places of their judgments among all and the cases' positions.

    And which keys have no whole judgment.
    """

    row: Numbers
    place: Numbers
    position: Numbers
    lacking: Flags


def _match(wanted: _Wanted, judged: _Judged, valid: _Valid) -> _Match:
    """Look the wanted keys up. Keys are compared by 64 bits of them, then as a whole."""
    digest, order = wanted.digest, wanted.order
    at = np.empty(len(digest), dtype=np.int64)
    at[order] = np.searchsorted(valid.digest, digest[order])  # in order, memory is read once
    there = at < len(valid.digest)
    there[there] = valid.digest[at[there]] == digest[there]
    place = valid.place[at[there]]
    is_same = _equal_keys(judged.key, place, wanted.keys.key, np.flatnonzero(there))
    there[there], place = is_same, place[is_same]
    count = judged.count[place]
    steps = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    lacking = ~there
    lacking[there] = ~judged.is_whole[place]
    row, position = np.repeat(judged.first[place], count) + steps, np.repeat(wanted.keys.position[there], count)
    return _Match(row, np.repeat(place, count), position, lacking)


def _equal_keys(first: Keys, places: Numbers, second: Keys, others: Numbers) -> Flags:
    """Whether the keys at these places of one array are those at the places of another one."""
    found = np.empty(len(places), dtype=bool)
    for start in range(0, len(places), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        found[part] = first[places[part]] == second[others[part]]
    return found


def _digests(keys: Keys) -> Digests:
    """64 bits of each key, whatever the width of the array."""
    found = np.empty(len(keys), dtype=np.uint64)
    width = -(-keys.dtype.itemsize // 8)
    for start in range(0, len(keys), _AT_ONCE):
        some = np.ascontiguousarray(keys[start : start + _AT_ONCE])
        words = np.zeros((len(some), width * 8), dtype=np.uint8)
        words[:, : keys.dtype.itemsize] = some.view(np.uint8).reshape(len(some), keys.dtype.itemsize)
        mixed = np.zeros(len(some), dtype=np.uint64)
        for word in words.view(np.uint64).T:
            further = (mixed ^ word) * np.uint64(0x9E3779B97F4A7C15)
            mixed = np.where(word == 0, mixed, further ^ (further >> np.uint64(29)))  # keys of any width of the array alike
        found[start : start + len(some)] = mixed
    return found
