"""What the jury of a run is worth: its judges' scores, arranged beside people's labels."""

from collections.abc import Mapping

import numpy as np

from areopage.bench.spec import RunSpec
from areopage.ledger.labels import SAMPLE
from areopage.ledger.run_people import People
from areopage.scoring.fold import RunScores
from areopage.scoring.human_agreement import Rating
from areopage.scoring.jury_worth.tables import OVERALL, JudgesScores
from areopage.scoring.jury_worth.worth import JuryWorth, jury_worth
from areopage.scoring.tree import criterion_shares


def run_worth(spec: RunSpec, scores: RunScores, answer_ids: Mapping[str, str], people: People) -> JuryWorth:
    """Measure the jury of a run.

    Args:
        answer_ids: by case.
        people: their labels count where they are on the run's criteria and scale.
    """
    judges, criteria = judge_scores(spec, scores, answer_ids), {OVERALL, *(criterion.path for criterion in spec.criteria)}
    ratings = [
        Rating(item=label.answer_id, rater=label.rater, criterion=label.criterion, score=label.score)
        for label in people.labels
        if label.criterion in criteria and spec.scale.contains(label.score)
    ]
    drawn = {id for id, item in people.items.items() if item.why == SAMPLE}
    return jury_worth(judges, [one for one in ratings if one.item in drawn], ratings, spec.scale.max - spec.scale.min)


def judge_scores(spec: RunSpec, scores: RunScores, answer_ids: Mapping[str, str]) -> JudgesScores:
    """Each judge's scores by a criterion's path and an answer's id.

    The overall score is there where the judge scored every criterion that weighs.
    """
    named = {criterion.id: criterion.path for criterion in spec.criteria}
    shares = {id: share for id, share in criterion_shares(scores.tree).items() if share > 0}
    columns = scores.criteria
    own_scores = np.where(columns.cells.applies[:, None], columns.cells.judge_score, np.nan)
    answers = [answer_ids.get(case_id) for case_id in columns.cases]
    found: dict[str, dict[str, dict[str, float]]] = {judge.name: {} for judge in spec.judges}
    for place, judge in enumerate(columns.judges):
        own = found.setdefault(judge, {})
        by_case: dict[int, dict[str, float]] = {}
        rows = np.flatnonzero(~np.isnan(own_scores[:, place]))
        cells = (some[rows].tolist() for some in (columns.case, columns.criterion, own_scores[:, place]))
        for case, number, score in zip(*cells, strict=True):
            if (answer := answers[case]) is not None:
                criterion = columns.criteria[number]
                own.setdefault(named[criterion], {})[answer] = score
                by_case.setdefault(case, {})[criterion] = score
        for case, given in by_case.items():
            answer = answers[case]
            if answer is not None and shares and all(criterion in given for criterion in shares):
                overall = sum(share * given[criterion] for criterion, share in shares.items())
                own.setdefault(OVERALL, {})[answer] = overall
    return found
