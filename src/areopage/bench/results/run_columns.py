"""The planned passes of a run as columns, filled with the verdicts that the ledger holds."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.bench.passes import RunPasses
from areopage.bench.results.coverage import JudgedTurns
from areopage.bench.spec import RunCase, RunSpec
from areopage.criteria import BY_REPLY, WHOLE
from areopage.jury import signs_in
from areopage.ledger import VerdictColumns, VerdictKind
from areopage.locales import Note
from areopage.models import ANSWERED_BY, NOT_SENT
from areopage.scoring import CODES, GIVEN_NAMES, NOT_APPLICABLE, NOT_MADE, OUTCOME_NAMES, Flags, PassColumns, ScoreColumns

IntegerArray = NDArray[np.integer[Any]]

_AT_ONCE = 100_000  # verdicts whose places are looked up together


class RunColumns(Struct, frozen=True, kw_only=True):
    """The passes of a run.

    Args:
        passes: all that are planned.
        judgment: the number of the judgment of each pass; 0 where there is none. Rows × judges × passes.
        kinds: those of the run's verdicts.
        addressing: the positions of the cases that address the judge, by the signs in their judgments.
    """

    passes: PassColumns
    judgment: IntegerArray
    kinds: tuple[VerdictKind, ...]
    addressing: frozenset[int]

    def rows_of(self, position: int) -> slice:
        """The rows of a case, by its position in the run."""
        case = self.passes.case
        return slice(int(np.searchsorted(case, position)), int(np.searchsorted(case, position, side="right")))

    def call_notes(self) -> Iterator[Note]:
        """Remarks on the judges' calls: the options that were not sent, and who answered behind a gateway."""
        for judge, names in self._noted(NOT_SENT):
            yield Note("options_not_sent", {"judge": judge, "names": names})
        for judge, names in self._noted(ANSWERED_BY):
            yield Note("answered_by", {"judge": judge, "names": names})

    def _noted(self, begin: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What follows the beginning of notes of calls, by judge; judges without such notes are left out."""
        by_judge: dict[str, set[str]] = {}
        for kind in self.kinds:
            for step in kind.steps:
                if step.startswith(begin):
                    by_judge.setdefault(kind.judge, set()).add(step.removeprefix(begin))
        yield from ((judge, tuple(sorted(names))) for judge, names in sorted(by_judge.items()))

    def only_failing(self, scores: ScoreColumns, failing: Flags, broken: Collection[str]) -> PassColumns:
        """The passes; of the cases in `broken` only those on criteria that the case fails have an outcome."""
        passes = self.passes
        failed = set(zip(scores.case[failing].tolist(), scores.criterion[failing].tolist(), strict=True))
        rows = zip(passes.case.tolist(), passes.criterion.tolist(), strict=True)
        is_counted = [passes.cases[case] not in broken or (case, criterion) in failed for case, criterion in rows]
        counted = np.array(is_counted, dtype=bool)[:, None, None]
        outcome = np.where(counted, passes.outcome, NOT_MADE).astype(np.int8)
        return structs.replace(passes, outcome=outcome, score=np.where(counted, passes.score, np.nan))

    def of_cases(self, positions: IntegerArray) -> "RunColumns":
        """The passes of the cases at ascending positions, which are numbered anew."""
        passes = self.passes
        kept: Flags = np.isin(passes.case, positions)
        rows = passes.rows(kept)
        cases = tuple(passes.cases[position] for position in positions.tolist())
        return structs.replace(
            self,
            passes=structs.replace(rows, cases=cases, case=np.searchsorted(positions, rows.case).astype(np.int32)),
            judgment=self.judgment[kept],
            addressing=frozenset(number for number, position in enumerate(positions.tolist()) if position in self.addressing),
        )

    def lacking(self) -> Flags:
        """Which planned passes have no verdict."""
        passes = self.passes
        lacking: Flags = passes.is_planned & ((passes.outcome == NOT_MADE) | (passes.outcome > NOT_APPLICABLE))
        return lacking

    def missing(self) -> Iterator[tuple[int, int, int, int]]:
        """The planned passes without a verdict, case by case, judge by judge: row, judge, pass and code of the outcome."""
        passes = self.passes
        rows, judges, numbers = np.nonzero(self.lacking())
        begins = (np.diff(passes.case, prepend=-1) != 0) | (np.diff(passes.criterion, prepend=-1) != 0)
        order = np.lexsort((numbers, passes.turn[rows], judges, np.cumsum(begins)[rows]))
        codes = passes.outcome[rows, judges, numbers]
        columns = (some[order].tolist() for some in (rows, judges, numbers, codes))
        return zip(*columns, strict=True)


def run_columns(
    spec: RunSpec, cases: Sequence[RunCase], turns: JudgedTurns, planned: RunPasses, verdicts: VerdictColumns
) -> tuple[RunColumns, VerdictColumns]:
    """The planned passes of a run by case with their outcomes, the pairs that a rule takes from judges, and their verdicts."""
    by_id = spec.criteria_by_id()
    case, criterion_of, turn, by_rule = _rows_of_cases(spec, cases, turns)
    most = [[judge.passes if judge.may_judge(criterion) else 0 for judge in spec.judges] for criterion in by_id.values()]
    counts = np.array(most, dtype=np.int32).reshape(len(by_id), len(spec.judges))[criterion_of]
    counts[by_rule] = 0
    if planned.first is not None:
        for row, judge in zip(*np.nonzero(counts), strict=True):
            case_id, id = cases[case[row]].case.id, spec.criteria[criterion_of[row]].id
            counts[row, judge] = planned.count(case_id, id, spec.judges[judge], int(turn[row]))
    outcome = np.zeros((*counts.shape, int(counts.max(initial=0))), dtype=np.int8)
    passes = PassColumns(
        cases=tuple(item.case.id for item in cases),
        criteria=tuple(by_id),
        judges=tuple(judge.name for judge in spec.judges),
        case=case,
        criterion=criterion_of,
        turn=turn,
        by_rule=by_rule,
        planned=counts,
        outcome=outcome,
        score=np.full(outcome.shape, np.nan),
    )
    criteria = {criterion: number for number, criterion in enumerate(passes.criteria)}
    judges = {judge: number for number, judge in enumerate(passes.judges)}
    kinds = [
        (criteria.get(kind.criterion, -1), judges.get(kind.judge, -1), kind.pass_index, kind.turn, CODES[kind.outcome])
        for kind in verdicts.kinds
    ]
    table = np.array(kinds, dtype=np.int32).reshape(-1, 5).T
    cells = _cells_of(passes, verdicts, table)
    kept = np.flatnonzero(cells >= 0)
    at, judgments = cells[kept], verdicts.judgment[kept]
    passes.outcome.ravel()[at], passes.score.ravel()[at] = table[4][verdicts.kind[kept]], verdicts.score[kept]
    judgment = np.zeros(passes.outcome.shape, dtype=judgments.dtype)
    judgment.ravel()[at] = judgments
    current = judgment.ravel()[at] == judgments  # a later judgment on the same place counts
    used = verdicts.rows(kept[current])
    marked = np.array([bool(signs_in(kind.steps)) for kind in used.kinds], dtype=bool)
    addressing = frozenset(used.position[marked[used.kind]].tolist()) if marked.any() else frozenset[int]()
    return RunColumns(passes=passes, judgment=judgment, kinds=used.kinds, addressing=addressing), used


def _cells_of(passes: PassColumns, verdicts: VerdictColumns, kinds: NDArray[np.int32]) -> NDArray[np.intp]:
    """The place of each verdict among all cells of passes; −1 where none is planned."""
    criteria, turns = len(passes.criteria), max(passes.turn.max(initial=0), kinds[3].max(initial=0)) + 1

    def row_keys(case: IntegerArray, criterion: IntegerArray, turn: IntegerArray) -> NDArray[np.int64]:
        keys: NDArray[np.int64] = (case.astype(np.int64) * criteria + criterion) * turns + turn
        return keys

    rows = np.flatnonzero(~passes.by_rule)
    planned = row_keys(passes.case[rows], passes.criterion[rows], passes.turn[rows])
    order = np.argsort(planned)
    planned, rows = planned[order], rows[order]
    cells = np.full(len(verdicts.kind), -1, dtype=np.intp)
    judges, most = passes.outcome.shape[1:]
    for start in range(0, len(cells) if len(rows) else 0, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        criterion, judge, number, turn = (column[verdicts.kind[some]] for column in kinds[:4])
        keys = row_keys(verdicts.position[some], criterion, turn)
        at = np.minimum(np.searchsorted(planned, keys), len(rows) - 1)
        row = rows[at]
        is_planned = (planned[at] == keys) & (criterion >= 0) & (judge >= 0) & (number >= 1)
        is_planned[is_planned] = number[is_planned] <= passes.planned[row[is_planned], judge[is_planned]]
        cells[some] = np.where(is_planned, (row * judges + judge) * most + number - 1, -1)
    return cells


def _rows_of_cases(
    spec: RunSpec, cases: Sequence[RunCase], turns: JudgedTurns
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Flags]:
    """Case, criterion and turn of each row, and whether a rule takes it from judges.

    Cases with the same criteria have the same rows, but for the replies of conversations.
    """
    by_id, unjudged = spec.criteria_by_id(), set(spec.unjudged)
    numbers = {criterion: number for number, criterion in enumerate(by_id)}
    by_turn = {criterion.id for criterion in spec.criteria if criterion.scope in BY_REPLY}
    rows_alike: dict[object, tuple[NDArray[np.int32], Flags]] = {}
    parts: list[NDArray[np.int32]] = []
    rules: list[Flags] = []
    for item in cases:
        alike = None if by_turn.intersection(item.criteria) else (item.criteria, item.ruled_out)
        if alike is None or alike not in rows_alike:
            judged, waived = ([key for key in some if key not in unjudged] for some in (item.criteria, item.ruled_out))
            replies = [turns.of(item.case.id, by_id[key]) if key in by_turn else (WHOLE,) for key in judged]
            rows = [(numbers[key], turn) for key, turns_of_key in zip(judged, replies, strict=True) for turn in turns_of_key]
            every = [*rows, *((numbers[key], WHOLE) for key in waived)]
            rows_alike[alike] = np.array(every, dtype=np.int32).reshape(-1, 2), np.arange(len(every)) >= len(rows)
        parts.append(rows_alike[alike][0])
        rules.append(rows_alike[alike][1])
    case = np.repeat(np.arange(len(cases), dtype=np.int32), np.array([len(rows) for rows in parts], dtype=np.int64))
    table = np.concatenate([np.zeros((0, 2), dtype=np.int32), *parts])
    return case, table[:, 0].copy(), table[:, 1].copy(), np.concatenate([np.zeros(0, dtype=bool), *rules])


class JudgeHealth(Struct, frozen=True, kw_only=True):
    """How one judge did over a run.

    Args:
        unfit: why it is unfit; "" where it was never examined.
        recorded_model: the model whose answers it repeats, where it is a recording that says so.
        planned: verdicts that were planned.
        outcomes: how many verdicts came to each outcome; `not_run` counts those that were never asked for.
        repaired_heuristic, repaired_model: judgments read by json-repair, and by a repair call.
        seconds: mean of a call; tokens are sums, as far as the server told them.
        cost: in `currency`; None where no price is stated.
        outliers: how often its score stood apart from the other judges'.
        expected: how many of its scores are expectations from log-probabilities, and `written` how many are as it wrote them.
        mass: the mean probability of all valid scores together at the places of its scores, in [0, 1]; None where none is known.
    """

    judge: str
    model: str
    unfit: str
    planned: int
    outcomes: dict[str, int]
    repaired_heuristic: int
    repaired_model: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    currency: str
    outliers: int = 0
    recorded_model: str = ""
    expected: int = 0
    written: int = 0
    mass: float | None = None

    @property
    def coverage(self) -> float:
        """Verdicts of a judge that has judged over planned verdicts, in [0, 1]."""
        return sum(self.outcomes[name] for name in GIVEN_NAMES) / self.planned if self.planned else 0.0


def run_health(
    spec: RunSpec, passes: PassColumns, verdicts: VerdictColumns, outliers: Mapping[str, int]
) -> tuple[JudgeHealth, ...]:
    """Each judge's health over a run, from the verdicts of planned passes."""
    healths: list[JudgeHealth] = []
    for place, judge in enumerate(spec.judges):
        planned = int(passes.planned[:, place].sum())
        counts = np.bincount(passes.outcome[:, place].ravel(), minlength=len(OUTCOME_NAMES) + 1)
        outcomes = {name: int(counts[CODES[name]]) for name in OUTCOME_NAMES}
        of_judge = np.array([kind.judge == judge.name for kind in verdicts.kinds], dtype=bool)[verdicts.kind]
        calls = np.flatnonzero(of_judge & verdicts.is_first_of_judgment)
        masses = verdicts.mass[of_judge & ~np.isnan(verdicts.mass)].tolist()
        expected = int(np.count_nonzero(of_judge & ~np.isnan(verdicts.written)))
        repaired = [kind.repair for kind in verdicts.kinds]
        kinds = np.bincount(verdicts.kind[calls], minlength=len(repaired)).tolist()
        prompt, completion = (
            np.nan_to_num(tokens[calls]).astype(np.float64) for tokens in (verdicts.prompt_tokens, verdicts.completion_tokens)
        )
        healths.append(
            JudgeHealth(
                judge=judge.name,
                model=str(judge.reference),
                unfit=judge.unfit,
                recorded_model=judge.recorded_model,
                planned=planned,
                outcomes=outcomes | {"not_run": planned - sum(outcomes.values())},
                repaired_heuristic=sum(count for count, repair in zip(kinds, repaired, strict=True) if repair == "heuristic"),
                repaired_model=sum(count for count, repair in zip(kinds, repaired, strict=True) if repair == "model"),
                seconds=fsum(verdicts.seconds[calls].tolist()) / len(calls) if len(calls) else 0.0,
                prompt_tokens=int(prompt.sum()),
                completion_tokens=int(completion.sum()),
                cost=None if judge.price is None else fsum(np.nan_to_num(verdicts.cost[calls]).tolist()),
                currency="" if judge.price is None else judge.price.currency,
                outliers=outliers.get(judge.name, 0),
                expected=expected,
                written=outcomes["scored"] - expected,
                mass=fsum(masses) / len(masses) if masses else None,
            )
        )
    return tuple(healths)
