"""A log of Inspect as a suite: a criterion per scorer, and the scorers' scores as a recording that judges.

Letters count as Inspect counts them: C is 1, P is 0.5, I and N are 0. A scorer's scale is 0 to 1, or from its lowest to its
highest score where one lies outside. Scores that are no number are left out and counted.
"""

from pathlib import Path
from typing import Any

from areopage.criteria import Scale
from areopage.interop.foreign.folder import JUDGED, RECORDED_JUDGE, Foreign, ForeignCriterion, path_of
from areopage.interop.inspect_log import SCORES


def read_inspect(path: Path) -> Foreign:
    """Read a log; a case for each sample, with its response if it has one."""
    cases = Foreign(kind="inspect")
    scores: dict[str, dict[str, float]] = {}
    for row in cases.rows_of(path):
        cells: dict[str, Any] = dict(zip(row.names, row.cells, strict=True))
        if id := cases.add(cells, path, row.number):
            for scorer, value in cells.get(SCORES, {}).items():
                if isinstance(value, float):
                    scores.setdefault(scorer, {})[id] = value
                else:
                    cases.left_out[f"score of {scorer} that is no number"] += 1
    for scorer, by_case in scores.items():
        values = [*by_case.values(), 0.0, 1.0]
        criterion = path_of(JUDGED, scorer, cases.criteria)
        cases.criteria[criterion] = ForeignCriterion(kind="scorer", text=scorer, scale=Scale(min=min(values), max=max(values)))
        for case, score in by_case.items():
            response = cases.rows[case].get("response")  # the score is given to no other
            judged = {"response": response} if response else {}
            line = {"case_id": case, **judged, "asked": RECORDED_JUDGE, "criterion": criterion, "score": score}
            cases.lines.append({**line, "model": f"inspect:{scorer}"})
    for row_id, kept in cases.rows.items():
        scored = [criterion for criterion, scorer in zip(cases.criteria, scores, strict=True) if row_id in scores[scorer]]
        if scored:
            kept["criteria"] = ", ".join(scored)
    return cases
