"""The verdicts of a run as arrays, read without their texts.

Rows are read in portions: in memory, a verdict is some numbers in arrays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, bindparam, func, select

from areopage.errors import DamagedLedger
from areopage.ledger.tables.answer_tables import answer_judgments, judgments, run_cases, verdicts
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Judgment
from areopage.ledger.tables.rows import KEYS_PER_QUERY, TEXTS, decoded, valid_places
from areopage.scoring import GIVEN_NAMES, OUTCOME_NAMES, Column, Flags, Scored

Numbers = NDArray[np.integer[Any]]

AT_ONCE = KEYS_PER_QUERY
"""Keys whose judgments are read together."""
_CASES = 500
"""Cases whose links are read together: PostgreSQL looks them up, where it would go through all links for more."""
NUMBERS = ("score", "mass", "written", "seconds", "prompt_tokens", "completion_tokens", "cost")
"""The fields of `VerdictColumns` that are NaN where a number is NULL."""
_KIND = ("outcome", "criterion", "pass_index", "turn", "repair", "judge", "steps")
_OF_KEYS = (
    select(
        judgments.c.id,
        judgments.c.key,
        judgments.c.run_id,
        *(verdicts.c[name] if name in verdicts.c else judgments.c[name] for name in (*_KIND, *NUMBERS)),
    )
    .select_from(judgments.outerjoin(verdicts))
    .where(judgments.c.key.in_(bindparam("keys", expanding=True)))
    .order_by(judgments.c.id, verdicts.c.criterion)
)
_ID, _KEY, _RUN, _OUTCOME, _NUMBER = 0, 1, 2, 3, 3 + len(_KIND)
"""Places in a row of this query: attributes of rows are slower to read."""


class VerdictKind(Struct, frozen=True):
    """What verdicts of one kind have in common."""

    outcome: str
    criterion: str
    pass_index: int
    turn: int
    repair: str
    judge: str
    steps: tuple[str, ...]


class VerdictColumns(Struct, frozen=True, kw_only=True, dict=True):
    """Verdicts, a row each.

    Args:
        position: of the case in the run.
        judgment: the number of the judgment that the verdict is of.
        kind: the place of its kind in `kinds`.
        score: as the judge gave it; NaN unless scored.
        mass, written: of log-probabilities, as in `Scored`; NaN where they were not used.
        seconds, prompt_tokens, completion_tokens, cost: of the whole judgment; NaN where tokens or the price are not known.
        elsewhere: the numbers of the judgments that other runs made.
    """

    position: Numbers
    judgment: Numbers
    kind: Numbers
    kinds: tuple[VerdictKind, ...]
    score: Column
    mass: Column
    written: Column
    seconds: Column
    prompt_tokens: Column
    completion_tokens: Column
    cost: Column
    elsewhere: frozenset[int]

    def rows(self, kept: Numbers) -> "VerdictColumns":
        """Some rows, in this order."""
        if len(kept) == len(self.position) and np.array_equal(kept, np.arange(len(kept))):
            return self
        return structs.replace(self, **{name: getattr(self, name)[kept] for name in ("position", "judgment", "kind", *NUMBERS)})

    @cached_property
    def is_first_of_judgment(self) -> Flags:
        """Whether a row is the first one of its judgment."""
        is_first = np.zeros(len(self.judgment), dtype=bool)
        is_first[np.unique(self.judgment, return_index=True)[1]] = True
        return is_first

    def turns(self) -> set[tuple[int, int]]:
        """The positions of cases and the replies that are judged of them."""
        turn = np.array([kind.turn for kind in self.kinds], dtype=np.int64)
        return set(zip(self.position.tolist(), turn[self.kind].tolist(), strict=True))

    def with_readings(self, readings: Mapping[int, Judgment]) -> "VerdictColumns":
        """The verdicts, those of some judgments (by number) as they are read now."""
        kinds = {kind: number for number, kind in enumerate(self.kinds)}
        kind, score, mass, written = (some.copy() for some in (self.kind, self.score, self.mass, self.written))
        for row in np.flatnonzero(np.isin(self.judgment, list(readings))).tolist():
            before, judgment = self.kinds[kind[row]], readings[int(self.judgment[row])]
            outcome = next(verdict.outcome for verdict in judgment.verdicts if verdict.criterion == before.criterion)
            now = structs.replace(before, outcome=outcome.name, repair=judgment.repair, steps=judgment.steps)
            kind[row] = kinds.setdefault(now, len(kinds))
            said = outcome if isinstance(outcome, Scored) else None
            score[row] = np.nan if said is None else said.score
            mass[row] = np.nan if said is None or said.mass is None else said.mass
            written[row] = np.nan if said is None or said.written is None else said.written
        return structs.replace(self, kind=kind, score=score, mass=mass, written=written, kinds=tuple(kinds))


class Verdicts(Store):
    """The verdicts of a run, read without their texts."""

    def shares_answers(self, run_id: str) -> bool:
        """Whether cases of a run share an answer: which key is of which of them, links do not tell."""
        number = run_cases.c.answer  # NULL is not counted
        with self._ledger.reading() as connection:
            query = select(func.count(number), func.count(number.distinct())).where(run_cases.c.run_id == run_id)
            answered, different = connection.execute(query).one()
        return int(different) < int(answered)

    def linked_keys(self, run_id: str) -> Iterator[tuple[int, str]]:
        """The positions of a run's cases, each with the keys of the judgments that are linked to the case's answer."""
        link = (answer_judgments.c.answer == run_cases.c.answer) & (answer_judgments.c.run_id == run_cases.c.run_id)
        query = select(run_cases.c.position, answer_judgments.c.key).join(answer_judgments, link)
        query = query.where(run_cases.c.run_id == run_id).order_by(run_cases.c.position, answer_judgments.c.key)
        last = self._ledger.value(select(func.max(run_cases.c.position)).where(run_cases.c.run_id == run_id))
        for start in range(0, 0 if last is None else last + 1, _CASES):
            rows = self._ledger.rows(query.where(run_cases.c.position.between(start, start + _CASES - 1)))
            yield from ((position, key) for position, key in rows)

    def read(self, run_id: str, wanted: Iterable[tuple[int, str]]) -> VerdictColumns:
        """Read the verdicts of the valid judgments (as in `Ledger.judgments`) of a run's cases, in order of cases.

        Args:
            wanted: the position of a case and a key of a judgment on it, for each key.
        """
        pairs, elsewhere, kinds = iter(wanted), set[int](), dict[tuple[Any, ...], int]()
        steps: dict[tuple[Any, ...], tuple[str, ...]] = {}
        places, numbers = [np.zeros((0, 3), dtype=np.int64)], [np.zeros((0, len(NUMBERS)))]
        while portion := list(islice(pairs, AT_ONCE)):
            with self._ledger.reading() as connection:
                valid = _valid_rows(connection, [key for _, key in portion])
            rows = [(position, row) for position, key in portion for row in valid.get(key, ()) if row[_OUTCOME] is not None]
            for _, row in rows:
                if row[_OUTCOME] not in OUTCOME_NAMES:
                    raise DamagedLedger(f"judgment {row[_ID]} has the unknown outcome {row[_OUTCOME]!r}")
                if (kind := row[_OUTCOME:_NUMBER]) not in kinds:
                    steps[kind] = decoded(TEXTS, kind[-1], f"judgment {row[_ID]}", "steps")
                    kinds[kind] = len(kinds)
            if rows:
                places.append(np.array([(position, row[_ID], kinds[row[_OUTCOME:_NUMBER]]) for position, row in rows]))
                try:
                    numbers.append(np.array([row[_NUMBER:] for _, row in rows], dtype=np.float64))  # NULL becomes NaN
                except (TypeError, ValueError) as error:
                    raise DamagedLedger(f"a judgment has a text in place of a number ({error})") from error
            elsewhere |= {row[_ID] for _, row in rows if row[_RUN] != run_id}
        position, judgment, kind = np.concatenate(places).T
        order = np.argsort(position, kind="stable")
        table = np.concatenate(numbers)
        return VerdictColumns(
            position=position[order],
            judgment=judgment[order],
            kind=kind[order],
            kinds=tuple(VerdictKind(*(*kind[:-1], steps[kind])) for kind in kinds),
            **{name: table[order, place] for place, name in enumerate(NUMBERS)},
            elsewhere=frozenset(elsewhere),
        )


def _valid_rows(connection: Connection, keys: Sequence[str]) -> dict[str, list[Row[Any]]]:
    """The verdicts of the valid judgment of each key; of a judgment without verdicts a row without an outcome."""
    rows = connection.execute(_OF_KEYS, {"keys": list(dict.fromkeys(keys))}).all()
    attempts = [list(verdicts) for _, verdicts in groupby(rows, itemgetter(_ID))]
    valid = valid_places((rows[0][_KEY], all(row[_OUTCOME] in GIVEN_NAMES for row in rows)) for rows in attempts)
    return {key: attempts[place] for key, place in valid.items()}
