"""Scores that tests write down, as columns."""

from collections.abc import Iterable, Sequence

import numpy as np

from areopage.scoring.records import CriterionScore
from areopage.scoring.score_columns import Cells, ScoreColumns


def columns_of(scores: Iterable[CriterionScore]) -> ScoreColumns:
    """Arrange records, in order of cases; the passes of replies are not known."""
    records = list(scores)
    cases, criteria, judges = ({name: at for at, name in enumerate(dict.fromkeys(some))} for some in _names_of(records))
    records.sort(key=lambda score: cases[score.case_id])  # stable
    shape = (len(records), len(judges))
    tables = {name: np.zeros(shape, dtype=np.int32) for name in ("scored", "planned", "not_applicable")}
    floats = {name: np.full(shape, np.nan) for name in ("judge_score", "variance", "worst")}
    outliers, waives = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for row, record in enumerate(records):
        for judge in record.judges:
            at = (row, judges[judge.judge])
            for name, table in tables.items():
                table[at] = getattr(judge, name)
            floats["judge_score"][at] = np.nan if judge.score is None else judge.score
            floats["worst"][at] = np.nan if judge.worst is None else judge.worst
            floats["variance"][at] = judge.variance
            waives[at] = judge.waives
        for name in record.outliers:
            outliers[row, judges[name]] = True
    cells = Cells(
        score=np.array([np.nan if record.score is None else record.score for record in records], dtype=np.float64),
        applies=np.array([record.applies for record in records], dtype=bool),
        by_rule=np.array([record.by_rule for record in records], dtype=bool),
        agreement=np.array([np.nan if record.agreement is None else record.agreement for record in records], dtype=np.float64),
        outliers=outliers,
        waives=waives,
        scored=tables["scored"],
        planned=tables["planned"],
        not_applicable=tables["not_applicable"],
        judge_score=floats["judge_score"],
        variance=floats["variance"],
        worst=floats["worst"],
    )
    return ScoreColumns(
        cases=tuple(cases),
        criteria=tuple(criteria),
        judges=tuple(judges),
        case=np.array([cases[record.case_id] for record in records], dtype=np.int32),
        criterion=np.array([criteria[record.criterion] for record in records], dtype=np.int32),
        cells=cells,
        turns=cells,
        turn=np.zeros(len(records), dtype=np.int32),
        starts=np.arange(len(records) + 1),
        shown=np.arange(len(records)),
    )


def _names_of(scores: Sequence[CriterionScore]) -> tuple[list[str], list[str], list[str]]:
    return (
        [score.case_id for score in scores],
        [score.criterion for score in scores],
        [judge.judge for score in scores for judge in score.judges],
    )
