"""What the jury of a run is worth: its judges' scores, arranged beside people's labels."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.results.run_data import RunData
from areopage.bench.spec import RunSpec
from areopage.ledger import SAMPLE
from areopage.report import Section, worth_fact, worth_section
from areopage.scoring import OVERALL, JudgesScores, JuryTable, JuryWorth, Rating, RunScores


def _jury_worth(view: RunData) -> JuryWorth:
    """How many independent judges the jury is worth, each judge's part in it, and which may replace a person."""
    spec, scores, answer_ids = view.spec, view.scores, view.answer_ids
    criteria = {OVERALL, *(criterion.path for criterion in spec.criteria)}
    ratings = [
        Rating(item=label.answer_id, rater=label.rater, criterion=label.criterion, score=label.score)
        for label in view.people.labels
        if label.criterion in criteria and spec.scale.contains(label.score)
    ]
    drawn = view.queued_as(SAMPLE)
    sample, span = [rating for rating in ratings if rating.item in drawn], spec.scale.max - spec.scale.min
    table = judge_table(spec, scores, answer_ids)
    labelled = None if table is None else {rating.item for rating in ratings}
    return JuryWorth.of(judge_scores(spec, scores, answer_ids, labelled), sample, ratings, span, table=table)


def judge_table(spec: RunSpec, scores: RunScores, answer_ids: Mapping[str, str]) -> JuryTable | None:
    """What `jury_table` makes of `judge_scores`, from the columns; None without a score, and where cases share an answer."""
    columns = scores.criteria
    scores_by_judge = np.where(columns.cells.applies[:, None], columns.cells.judge_score, np.nan)
    answers = [answer_ids.get(case_id, "") for case_id in columns.cases]
    paths = spec.paths
    items, item_of = np.unique(np.array(answers, dtype=object), return_inverse=True)
    names, name_of = np.unique(np.array([paths[id] for id in columns.criteria], dtype=object), return_inverse=True)
    has_answer = np.array([case_id in answer_ids for case_id in columns.cases], dtype=bool)
    rows = np.flatnonzero(has_answer[columns.case] & ~np.isnan(scores_by_judge).all(axis=1))
    unit = item_of[columns.case[rows]] * len(names) + name_of[columns.criterion[rows]]
    order = np.argsort(unit)
    unit, rows = unit[order], rows[order]
    if not len(rows) or np.any(unit[1:] == unit[:-1]):
        return None
    kept_items, item = np.unique(unit // len(names), return_inverse=True)
    _, criterion = np.unique(unit % len(names), return_inverse=True)
    judges = dict.fromkeys((*(judge.name for judge in spec.judges), *columns.judges))
    columns_of_judges = {judge: at for at, judge in enumerate(columns.judges) if not np.isnan(scores_by_judge[rows, at]).all()}
    kept = [judge for judge in judges if judge in columns_of_judges]
    return JuryTable(
        judges=tuple(kept),
        raters=(),
        names=tuple(items[kept_items].tolist()),
        items=item.astype(np.intp),
        criteria=criterion.astype(np.intp),
        scores=scores_by_judge[rows][:, [columns_of_judges[judge] for judge in kept]],
        labels=np.zeros((len(rows), 0)),
    )


def judge_scores(
    spec: RunSpec, scores: RunScores, answer_ids: Mapping[str, str], only: Collection[str] | None = None
) -> JudgesScores:
    """Each judge's scores by a criterion's path and an answer's id; the overall score where it scored all that weighs."""
    paths = spec.paths
    shares = {id: share for id, share in scores.tree.criterion_shares.items() if share > 0}
    columns = scores.criteria
    own_scores = np.where(columns.cells.applies[:, None], columns.cells.judge_score, np.nan)
    answers = [answer_ids.get(case_id) for case_id in columns.cases]
    wanted = np.array([answer is not None and (only is None or answer in only) for answer in answers], dtype=bool)[columns.case]
    by_judge: dict[str, dict[str, dict[str, float]]] = {judge.name: {} for judge in spec.judges}
    for place, judge in enumerate(columns.judges):
        by_path = by_judge.setdefault(judge, {})
        by_case: dict[int, dict[str, float]] = {}
        rows = np.flatnonzero(wanted & ~np.isnan(own_scores[:, place]))
        cells = (some[rows].tolist() for some in (columns.case, columns.criterion, own_scores[:, place]))
        for case, number, score in zip(*cells, strict=True):
            if (answer := answers[case]) is not None:
                criterion = columns.criteria[number]
                by_path.setdefault(paths[criterion], {})[answer] = score
                by_case.setdefault(case, {})[criterion] = score
        for case, scores_of_case in by_case.items():
            answer = answers[case]
            if answer is not None and shares and all(criterion in scores_of_case for criterion in shares):
                overall = sum(share * scores_of_case[criterion] for criterion, share in shares.items())
                by_path.setdefault(OVERALL, {})[answer] = overall
    return by_judge


def _facts(view: RunData, page: Page) -> Iterator[Fact]:
    yield page.locale.say("worth_fact"), worth_fact(JURY_WORTH.of(view), page.locale)


def _section(view: RunData, page: Page) -> Section:
    return worth_section(JURY_WORTH.of(view), page.locale)


JURY_WORTH: Figure[JuryWorth] = Figure(id="jury_worth", compute=_jury_worth, facts=_facts, section=_section)
