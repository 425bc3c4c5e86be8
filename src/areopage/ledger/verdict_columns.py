"""The verdicts of a run as arrays, read from the columns of judgments and verdicts without their texts.

A million verdicts are read in a few seconds, and take some hundred megabytes while they are matched with their cases.
Whole numbers and numbers have 32 bits where these hold all of them: sums are taken of more bits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from queue import SimpleQueue

import numpy as np
from msgspec import Struct, field, structs
from sqlalchemy import func, select

from areopage.ledger.answer_tables import run_cases
from areopage.ledger.column_reading import (
    KINDS_OF_JUDGMENT,
    KINDS_OF_VERDICT,
    OF_JUDGMENT,
    OF_VERDICT,
    Kinds,
    Where,
    blocks_of,
    judgments_in,
    links_of,
    verdicts_in,
)
from areopage.ledger.key_digests import KeptKeys, digests_of
from areopage.ledger.number_columns import Column, GrowingColumn, GrowingTable, Keys, Numbers, key_column, narrowed, taken
from areopage.ledger.records import Judgment
from areopage.ledger.rows import chunks
from areopage.ledger.store import Ledger
from areopage.ledger.valid_judgments import (
    Flags,
    Judged,
    ValidPlaces,
    VerdictKind,
    add_judgments,
    add_verdicts,
    judged,
    tables,
    together,
    verdict_rows,
)
from areopage.scoring.outcome import Scored, outcome_name


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

    def rows(self, kept: Numbers) -> "VerdictColumns":
        """Some rows, in this order."""
        if len(kept) == len(self.position) and np.array_equal(kept, np.arange(len(kept))):
            return self
        names = ("position", "judgment", "kind", *OF_VERDICT, *OF_JUDGMENT)
        return structs.replace(self, **{name: taken(getattr(self, name), kept) for name in names})

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
    kind = np.array(verdicts.kind)
    score, mass, written = (np.array(some, dtype=np.float64) for some in (verdicts.score, verdicts.mass, verdicts.written))
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
    """The keys of the judgments on some cases: `key[n]` is that of a judgment on the case at `position[n]`."""

    position: Numbers
    key: Keys


def shares_answers(ledger: Ledger, run_id: str) -> bool:
    """Whether cases of a run share an answer: which key is of which of them, links do not tell."""
    number = run_cases.c.answer  # NULL is not counted
    with ledger.reading() as connection:
        query = select(func.count(number), func.count(number.distinct())).where(run_cases.c.run_id == run_id)
        known, different = connection.execute(query).one()
    return int(different) < int(known)


def linked_keys(ledger: Ledger, run_id: str) -> Iterator[CaseKeys]:
    """The keys that are linked to the answers of a run's cases, in portions."""
    with ledger.reading() as connection:
        for position, key in links_of(connection, run_id):
            yield CaseKeys(position=position, key=key)


class _Kinds(Struct):
    """The kinds of what is read."""

    of_verdict: Kinds = field(default_factory=lambda: Kinds(KINDS_OF_VERDICT))
    of_judgment: Kinds = field(default_factory=lambda: Kinds(KINDS_OF_JUDGMENT))


def read_verdicts(ledger: Ledger, run_id: str, wanted: Callable[[], Iterable[CaseKeys]]) -> VerdictColumns:
    """Read the valid verdicts under the keys of a run's cases, in order of cases.

    The valid judgment of a key is as in `Ledger.judgments`, but for one rule: where the run itself has a whole one, those of
    other runs do not count. The judgments of the run are read in one go; others are looked up where it has none, or no whole one.

    Args:
        wanted: returns these keys in portions; called in another thread while verdicts and judgments are read.
    """
    kinds, asked = _Kinds(), SimpleQueue[_Asked | None]()
    with ThreadPoolExecutor(2, thread_name_prefix="columns") as pool:
        keys = pool.submit(_ask, wanted, asked)
        every = _read_run(ledger, run_id, kinds, pool)
        found = _found(every, iter(asked.get, None))
        keys.result()
    place, position = found.place, found.position
    elsewhere: Numbers = np.zeros(0, dtype=np.int64)
    if found.keys and (others := _read_elsewhere(ledger, run_id, sorted(set(found.keys)), kinds)) is not None:
        every, moved = together(every, others)
        there, elsewhere = place >= 0, others.number
        place[there] = moved[place[there]]
        place[found.lacking] = ValidPlaces(every).of(digests_of(key_column(found.keys)))
    every = every.without_digests()
    del found
    return _columns(every, place, position, elsewhere)


def _columns(every: Judged, place: Numbers, position: Numbers, elsewhere: Numbers) -> VerdictColumns:
    """The verdicts of judgments under keys, in order of cases.

    Args:
        place: of each judgment, −1 where there is none.
        position: of the case.
    """
    if (place < 0).any():
        place, position = place[place >= 0], position[place >= 0]
    if (position[1:] < position[:-1]).any():
        order = narrowed(np.argsort(position, kind="stable"))
        place, position = place[order], position[order]
    at, place, position = verdict_rows(place, position, every)
    return VerdictColumns(
        position=position,
        judgment=every.number[place],
        kind=every.kind[at],
        kinds=every.kinds,
        **dict(zip(OF_VERDICT, (taken(column, at) for column in every.of_verdict), strict=True)),
        **dict(zip(OF_JUDGMENT, (taken(column, place) for column in every.numbers), strict=True)),
        elsewhere=elsewhere,
    )


class _Asked(Struct, frozen=True):
    """A portion of the keys of cases."""

    position: Numbers
    keys: KeptKeys


class _Found(Struct, frozen=True):
    """The places of the judgments under the keys of cases, −1 where there is none, and the positions of the cases.

    `keys` are those without a whole judgment, at the rows `lacking`.
    """

    position: Numbers
    place: Numbers
    lacking: Numbers
    keys: list[str]


def _ask(wanted: Callable[[], Iterable[CaseKeys]], asked: "SimpleQueue[_Asked | None]") -> None:
    """Put the keys of cases into a queue, and None in the end."""
    try:
        for some in wanted():
            asked.put(_Asked(narrowed(some.position), KeptKeys(some.key)))
    finally:
        asked.put(None)


def _found(every: Judged, asked: Iterable[_Asked]) -> _Found:
    """Look up keys, portion by portion: what is told of all of them takes more memory than what is told of judgments."""
    valid, found, keys = ValidPlaces(every), GrowingTable(2, len(every.number)), list[str]()
    rows, lacking = 0, GrowingColumn()
    for some in asked:
        every_key = some.keys.whole()
        place = valid.of(digests_of(every_key))
        found.add(some.position, place)
        lacks = place < 0
        lacks[~lacks] = ~every.is_whole[place[~lacks]]
        places = np.flatnonzero(lacks)
        keys += [key.decode() for key in every_key[places].tolist()]
        lacking.add(rows + places)
        rows += len(place)
    position, place = found.whole()
    return _Found(position, place, lacking.whole(), keys)


def _read_run(ledger: Ledger, run_id: str, kinds: _Kinds, pool: ThreadPoolExecutor) -> Judged:
    """Read the judgments of a run, in this thread and another one."""
    with ledger.reading() as connection:
        count, blocks = blocks_of(connection, run_id)
        judgments, verdicts = tables(count)
        reading = pool.submit(_read_judgments, ledger, blocks, kinds.of_judgment, judgments)
        for where in blocks:
            add_verdicts(verdicts, verdicts_in(connection, where, kinds.of_verdict))
    reading.result()
    return judged(judgments, verdicts, kinds.of_judgment, kinds.of_verdict)


def _read_judgments(ledger: Ledger, blocks: Sequence[Where], kinds: Kinds, table: GrowingTable) -> None:
    with ledger.reading() as connection:
        for where in blocks:
            add_judgments(table, judgments_in(connection, where, kinds))


def _read_elsewhere(ledger: Ledger, run_id: str, lacking: Sequence[str], kinds: _Kinds) -> Judged | None:
    """The judgments of other runs under some keys; None where there are none."""
    judgments, verdicts = tables()
    with ledger.reading() as connection:
        for some in chunks(lacking):
            where = Where(f"j.run_id != ? AND j.key IN ({', '.join('?' * len(some))})", (run_id, *some))
            found = judgments_in(connection, where, kinds.of_judgment)
            if len(found.number):
                add_judgments(judgments, found)
                add_verdicts(verdicts, verdicts_in(connection, where, kinds.of_verdict))
    others = judged(judgments, verdicts, kinds.of_judgment, kinds.of_verdict)
    return others if len(others.number) else None
