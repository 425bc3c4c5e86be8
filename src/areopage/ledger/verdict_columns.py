"""The verdicts of a run as arrays, read from the columns of judgments and verdicts without their texts.

A million verdicts are read in a few seconds and take some hundred megabytes while they are matched with their cases. What few
distinct values there are (judge, criterion, pass, outcome, steps) are read as one text each time, which is looked up once.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from areopage.errors import StorageError
from areopage.ledger.answer_tables import run_cases
from areopage.ledger.connection import storage_errors
from areopage.ledger.records import Judgment
from areopage.ledger.rows import TEXTS, chunks
from areopage.ledger.store import Ledger
from areopage.scoring.outcome import GIVEN_NAMES, OUTCOME_NAMES, Scored, outcome_name

Column = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.bytes_]

AT_ONCE = 20_000
_KEY = 64  # characters of a digest

_KIND = (
    "j.pass_index || ' ' || j.turn || ' ' || v.outcome || ' ' || j.repair || ' ' || length(j.judge) || ' ' || "
    "length(v.criterion) || ' ' || j.judge || v.criterion || j.steps"
)
_VERDICTS = (
    f"SELECT j.key, j.id, {_KIND}, v.score, j.seconds, j.prompt_tokens, j.completion_tokens, j.cost, v.mass, v.written "  # noqa: S608 - no input in it
    "FROM judgments j JOIN verdicts v ON v.judgment_id = j.id WHERE"
)
_LINKS = (
    "SELECT c.position, l.key FROM run_cases c JOIN answer_judgments l ON l.answer = c.answer AND l.run_id = c.run_id "
    "WHERE c.run_id ="
)


_NUMBERS = ("score", "seconds", "prompt_tokens", "completion_tokens", "cost", "mass", "written")
"""The columns of numbers, in the order in which they are read."""


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
        names = ("position", "judgment", "kind", *_NUMBERS)
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


class _Rows(Struct, frozen=True, kw_only=True):
    """Verdicts before it is known which cases they belong to; `key` is that of the judgment."""

    key: Keys
    judgment: Numbers
    kind: Numbers
    numbers: NDArray[np.float64]


class _Kinds:
    """Numbers the kinds of verdicts by their texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, texts: Sequence[str]) -> list[int]:
        known = self._numbers
        for text in set(texts).difference(known):
            known[text] = len(known)
        return [known[text] for text in texts]

    def all(self) -> tuple[VerdictKind, ...]:
        return tuple(map(_kind_of, self._numbers))


def _kind_of(text: str) -> VerdictKind:
    number, turn, outcome, repair, judge, criterion, rest = text.split(" ", 6)
    if outcome not in OUTCOME_NAMES:
        raise StorageError(f"the ledger is damaged: a verdict has the unknown outcome {outcome!r}")
    end = int(judge) + int(criterion)
    steps: tuple[str, ...] = TEXTS.decode(rest[end:])
    return VerdictKind(int(number), int(turn), outcome, repair, rest[: int(judge)], rest[int(judge) : end], steps)


class CaseKeys(Struct, frozen=True, kw_only=True):
    """The keys of the judgments on cases: `key[n]` is that of a judgment on the case at `position[n]`."""

    position: Numbers
    key: Keys


def key_column(keys: Sequence[str]) -> Keys:
    """Keys as an array."""
    if set(map(len, keys)) <= {_KEY}:
        return np.frombuffer("".join(keys).encode(), dtype=f"S{_KEY}")
    return np.array([key.encode() for key in keys], dtype=f"S{max(_KEY, *(len(key.encode()) for key in keys))}")


def shares_answers(ledger: Ledger, run_id: str) -> bool:
    """Whether cases of a run share an answer: which key is of which of them, links do not tell."""
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        known = select(run_cases.c.answer).where(run_cases.c.run_id == run_id, run_cases.c.answer.is_not(None))
        numbers = connection.execute(known).scalars().all()
    return len(set(numbers)) < len(numbers)


def linked_keys(ledger: Ledger, run_id: str) -> CaseKeys:
    """The keys that are linked to the answers of a run's cases."""
    parts: list[CaseKeys] = []
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        for rows in _portions(connection, _LINKS, [run_id]):
            position, key = zip(*rows, strict=True)
            parts.append(CaseKeys(position=np.array(position, dtype=np.int64), key=key_column(key)))
    return joined_keys(parts)


def joined_keys(parts: Sequence[CaseKeys]) -> CaseKeys:
    """The keys of several portions."""
    empty = CaseKeys(position=np.zeros(0, dtype=np.int64), key=np.zeros(0, dtype=f"S{_KEY}"))
    every = [empty, *parts]
    return CaseKeys(position=np.concatenate([one.position for one in every]), key=np.concatenate([one.key for one in every]))


def read_verdicts(ledger: Ledger, run_id: str, wanted: CaseKeys) -> VerdictColumns:
    """Read the valid verdicts under the keys of a run's cases, in order of cases.

    The valid judgment of a key is as in `Ledger.judgments`, but for one rule: where the run itself has a whole one, those of
    other runs do not count. The judgments of the run are read in one go; others are looked up where it has none, or no whole one.
    """
    kinds = _Kinds()
    with storage_errors(ledger.place), ledger.engine.connect() as connection:
        rows = _joined([_rows_of(part, kinds) for part in _portions(connection, f"{_VERDICTS} j.run_id =", [run_id])])
        own = len(rows.judgment)
        found = _match(wanted, rows, _valid(rows, kinds))
        lacking = np.unique(wanted.key[found[2]])
        if len(lacking):
            others = [
                _rows_of(part, kinds)
                for some in chunks([key.decode() for key in lacking.tolist()])
                for part in _portions(connection, f"{_VERDICTS} j.run_id !=", [run_id, *some], "AND j.key IN")
            ]
            rows = _joined([rows, *others])
            found = _match(wanted, rows, _valid(rows, kinds))
    at, position, _ = found
    order = np.argsort(position, kind="stable")
    at, position = at[order], position[order]
    return VerdictColumns(
        position=position,
        judgment=rows.judgment[at],
        kind=rows.kind[at],
        kinds=kinds.all(),
        **dict(zip(_NUMBERS, rows.numbers[at].T, strict=True)),
        elsewhere=np.unique(rows.judgment[own:]),
    )


def _portions(connection: Connection, query: str, given: Sequence[Any], more: str = "") -> Iterator[Sequence[Any]]:
    """The rows of a query, some thousand at once; the values after the first are those of a list."""
    is_file = connection.dialect.name == "sqlite"
    mark = "?" if is_file else "%s"
    statement = f"{query} {mark}" + (f" {more} ({', '.join([mark] * (len(given) - 1))})" if more else "")
    driver: Any = connection.connection  # SQLAlchemy's rows take twice the time
    with closing(driver.cursor() if is_file else driver.cursor(name="verdicts", binary=True)) as cursor:
        cursor.execute(statement, tuple(given))
        while rows := cursor.fetchmany(AT_ONCE):
            yield rows


def _rows_of(rows: Sequence[Any], kinds: _Kinds) -> _Rows:
    key, judgment, kind, *numbers = zip(*rows, strict=True)
    return _Rows(
        key=key_column(key),
        judgment=np.array(judgment, dtype=np.int64),
        kind=np.array(kinds.number(kind), dtype=np.int64),
        numbers=np.array(numbers, dtype=np.float64).T,  # None is NaN
    )


def _joined(parts: Sequence[_Rows]) -> _Rows:
    empty = _Rows(
        key=np.zeros(0, dtype=f"S{_KEY}"),
        judgment=np.zeros(0, dtype=np.int64),
        kind=np.zeros(0, dtype=np.int64),
        numbers=np.zeros((0, len(_NUMBERS))),
    )
    every = [empty, *parts]
    return _Rows(**{name: np.concatenate([getattr(one, name) for one in every]) for name in _Rows.__struct_fields__})


class _Valid(Struct, frozen=True):
    """The valid judgment of each key: its rows from `first` to `first + count`, in the order of `digest`."""

    order: Numbers
    digest: NDArray[np.uint64]
    first: Numbers
    count: Numbers
    is_whole: Flags


def _valid(rows: _Rows, kinds: _Kinds) -> _Valid:
    """Choose the latest whole judgment of each key, or the latest one where none is whole."""
    given = np.array([kind.outcome in GIVEN_NAMES for kind in kinds.all()], dtype=bool)
    of_judgment = np.unique(rows.judgment, return_inverse=True)[1]
    failed = np.zeros(len(rows.judgment), dtype=bool)
    if len(rows.judgment):
        failed = np.bincount(of_judgment, ~given[rows.kind])[of_judgment] > 0
    digest = _digests(rows.key)
    order = np.lexsort((rows.judgment, ~failed, digest))
    sorted_digests = digest[order]
    ends = np.flatnonzero(np.append(sorted_digests[1:] != sorted_digests[:-1], [True] * bool(len(order))))
    before = np.flatnonzero(np.diff(rows.judgment[order], prepend=-1))  # where rows of another judgment begin
    first = before[np.searchsorted(before, ends, side="right") - 1] if len(ends) else ends
    return _Valid(order, sorted_digests[ends], first, ends - first + 1, ~failed[order][ends])


def _match(wanted: CaseKeys, rows: _Rows, valid: _Valid) -> tuple[Numbers, Numbers, Flags]:
    """The rows of the wanted keys with their cases' positions, and which keys have no whole judgment.

    Keys are compared by 64 bits of them, then as a whole.
    """
    digest = _digests(wanted.key)
    at = np.searchsorted(valid.digest, digest)
    there = at < len(valid.digest)
    there[there] = valid.digest[at[there]] == digest[there]
    at = at[there]
    there[there] = rows.key[valid.order[valid.first[at]]] == wanted.key[there]
    at = np.searchsorted(valid.digest, digest[there])
    counts = valid.count[at]
    steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    found = valid.order[np.repeat(valid.first[at], counts) + steps]
    lacking = ~there
    lacking[there] = ~valid.is_whole[at]
    return found, np.repeat(wanted.position[there], counts), lacking


def _digests(keys: Keys) -> NDArray[np.uint64]:
    """64 bits of each key."""
    words = np.zeros((len(keys), -(-keys.dtype.itemsize // 8) * 8), dtype=np.uint8)
    words[:, : keys.dtype.itemsize] = np.ascontiguousarray(keys).view(np.uint8).reshape(len(keys), keys.dtype.itemsize)
    found = np.zeros(len(keys), dtype=np.uint64)
    for word in words.view(np.uint64).T:
        mixed = (found ^ word) * np.uint64(0x9E3779B97F4A7C15)
        found = np.where(word == 0, found, mixed ^ (mixed >> np.uint64(29)))  # keys of any width of the array alike
    return found
