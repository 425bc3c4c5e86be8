"""The planned passes of a run as arrays: a row per case, criterion and reply, a column per judge, and a layer per pass.

A million passes are a few arrays of some megabytes in this form, where as many records take a thousand.
"""

from collections.abc import Iterable

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from areopage.scoring.arrays import Flags, Matrix
from areopage.scoring.outcome import OUTCOME_NAMES, PlannedPass, Scored

Numbers = NDArray[np.int32]
Codes = NDArray[np.int8]

NOT_MADE = 0
"""The code of a pass without an outcome; that of an outcome is its place in `OUTCOME_NAMES`, counted from 1."""
CODES = {name: code for code, name in enumerate(OUTCOME_NAMES, 1)}
SCORED, NOT_APPLICABLE, UNREACHABLE = CODES["scored"], CODES["not_applicable"], CODES["unreachable"]


class PassColumns(Struct, frozen=True, kw_only=True):
    """Planned passes. Rows are in order of cases; those of one case and criterion follow each other, in order of replies.

    Args:
        cases, criteria, judges: the ids and names that the numbers in the columns stand for.
        case, criterion, turn: of each row; the turn is 0 where the case is judged as a whole.
        by_rule: no judge is asked, for a rule says that the criterion does not apply.
        planned: how many passes each judge makes; rows × judges.
        outcome: the codes of outcomes; rows × judges × passes.
        score: on the criterion's own scale; NaN unless scored. Same shape.
    """

    cases: tuple[str, ...]
    criteria: tuple[str, ...]
    judges: tuple[str, ...]
    case: Numbers
    criterion: Numbers
    turn: Numbers
    by_rule: Flags
    planned: Numbers
    outcome: Codes
    score: Matrix

    @property
    def is_planned(self) -> Flags:
        """Which cells of `outcome` are planned passes."""
        is_planned: Flags = np.arange(self.outcome.shape[2])[None, None, :] < self.planned[:, :, None]
        return is_planned

    def first(self, passes: int) -> "PassColumns":
        """The first passes of each judge alone."""
        return structs.replace(
            self,
            planned=np.minimum(self.planned, passes),
            outcome=self.outcome[:, :, :passes],
            score=self.score[:, :, :passes],
        )

    def rows(self, kept: Flags) -> "PassColumns":
        """Some rows."""
        names = ("case", "criterion", "turn", "by_rule", "planned", "outcome", "score")
        return structs.replace(self, **{name: getattr(self, name)[kept] for name in names})


def pass_columns(passes: Iterable[PlannedPass]) -> PassColumns:
    """Arrange planned passes; the passes of a judge are numbered in the order in which they come."""
    cases: dict[str, int] = {}
    criteria: dict[str, int] = {}
    judges: dict[str, int] = {}
    rows: dict[tuple[int, int], dict[int, list[PlannedPass]]] = {}
    for planned_pass in passes:
        place = (cases.setdefault(planned_pass.case_id, len(cases)), criteria.setdefault(planned_pass.criterion, len(criteria)))
        rows.setdefault(place, {}).setdefault(planned_pass.turn, []).append(planned_pass)
        if not planned_pass.by_rule:
            judges.setdefault(planned_pass.judge, len(judges))
    by_case = sorted(rows, key=lambda place: place[0])  # stable: criteria stay in their order within a case
    places = [(case, criterion, turn) for case, criterion in by_case for turn in sorted(rows[case, criterion])]
    planned, by_rule = np.zeros((len(places), len(judges)), dtype=np.int32), np.zeros(len(places), dtype=bool)
    cells: dict[tuple[int, int, int], PlannedPass] = {}
    for row, (case, criterion, turn) in enumerate(places):
        for planned_pass in rows[case, criterion][turn]:
            if planned_pass.by_rule:
                by_rule[row] = True
            else:
                judge = judges[planned_pass.judge]
                cells[row, judge, int(planned[row, judge])] = planned_pass
                planned[row, judge] += 1
    outcome = np.zeros((*planned.shape, int(planned.max(initial=0))), dtype=np.int8)
    score = np.full(outcome.shape, np.nan)
    for cell, planned_pass in cells.items():
        if planned_pass.outcome is not None:
            outcome[cell] = CODES[planned_pass.outcome.name]
        if isinstance(planned_pass.outcome, Scored):
            score[cell] = planned_pass.outcome.score
    case_of, criterion_of, turn_of = np.array(places, dtype=np.int32).reshape(len(places), 3).T
    return PassColumns(
        cases=tuple(cases),
        criteria=tuple(criteria),
        judges=tuple(judges),
        case=case_of,
        criterion=criterion_of,
        turn=turn_of,
        by_rule=by_rule,
        planned=planned,
        outcome=outcome,
        score=score,
    )
