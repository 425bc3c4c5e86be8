"""What the jury of a run is worth: its judges' scores, arranged beside people's labels."""

from collections.abc import Mapping

from areopage.bench.spec import RunSpec
from areopage.ledger.labels import SAMPLE
from areopage.ledger.run_people import People
from areopage.scoring.fold import RecordScores, RunScores
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
    found: dict[str, dict[str, dict[str, float]]] = {judge.name: {} for judge in spec.judges}
    for record in scores.records:
        if (answer := answer_ids.get(record.case_id)) is None:
            continue
        for judge, own in _by_judge(record).items():
            for criterion, score in own.items():
                found.setdefault(judge, {}).setdefault(named[criterion], {})[answer] = score
            if shares and all(criterion in own for criterion in shares):
                overall = sum(share * own[criterion] for criterion, share in shares.items())
                found[judge].setdefault(OVERALL, {})[answer] = overall
    return found


def _by_judge(record: RecordScores) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for one in record.criteria:
        for judge in one.judges if one.applies else ():
            if judge.score is not None:
                found.setdefault(judge.judge, {})[one.criterion] = judge.score
    return found
