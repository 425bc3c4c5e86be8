"""The results of each case, as they stand under `records` in `results.json`."""

from collections.abc import Iterator
from typing import Any

from areopage.bench.results import RunView
from areopage.cases.records import Case
from areopage.report.passes import PassView, fold_space, passes_of, quoted_verbatim
from areopage.report.results_records import (
    AnswerDetail,
    Coverage,
    CriterionDetail,
    Evidence,
    JudgeDetail,
    PassDetail,
    RecordConsistency,
    RecordMetadata,
    RecordResult,
)
from areopage.scoring.consistency import Consistency, consistency
from areopage.scoring.fold import RecordScores
from areopage.scoring.reduce import CriterionScore
from areopage.scoring.tree import Node


def record_results(view: RunView) -> Iterator[RecordResult]:
    """The results of each case, in the dataset's order."""
    by_case = {record.case_id: record for record in view.scores.records}
    for case in view.cases:
        record = by_case.get(case.id) or unjudged(case)
        response = fold_space(case.response or "")
        yield RecordResult(
            final_aggregate_score=record.tree.score,
            category_scores=category_scores(record.tree),
            subcategory_scores=subcategory_scores(record.tree),
            detailed_criteria={score.criterion: criterion_detail(view, score, response) for score in record.criteria},
            consistency_metrics=RecordConsistency(**spread(record.consistency)),
            metadata=record_metadata(view, case),
        )


def unjudged(case: Case) -> RecordScores:
    """The scores of a case on which no judge may say anything."""
    empty = Node(name="final", score=None, weight=1.0, scored=0, planned=0)
    return RecordScores(case_id=case.id, tree=empty, criteria=(), consistency=consistency(()))


def category_scores(tree: Node) -> dict[str, float | None]:
    """Scores by category."""
    return {category.name: category.score for category in tree.parts}


def subcategory_scores(tree: Node) -> dict[str, float | None]:
    """Scores by `category.subcategory`."""
    return {f"{category.name}.{part.name}": part.score for category in tree.parts for part in category.parts}


def criterion_detail(view: RunView, score: CriterionScore, folded_response: str) -> CriterionDetail:
    """One criterion of one case with all its passes."""
    passes = list(passes_of(view, score))
    said = [(one, one.verdict) for one in passes]
    return CriterionDetail(
        score=score.score,
        agreement=score.agreement,
        outliers=score.outliers,
        coverage=Coverage(scored=score.scored, planned=score.planned),
        explanations="\n\n".join(
            f"{one.judge}, pass {one.pass_index}: {verdict.explanation}"
            for one, verdict in said
            if verdict is not None and verdict.explanation
        ),
        evidence=tuple(
            Evidence(judge=one.judge, pass_index=one.pass_index, text=extract, verbatim=quoted_verbatim(extract, folded_response))
            for one, verdict in said
            if verdict is not None
            for extract in verdict.evidence
        ),
        judges={
            judge.judge: JudgeDetail(
                score=judge.score,
                variance=judge.variance,
                passes=tuple(pass_detail(one) for one in passes if one.judge == judge.judge),
            )
            for judge in score.judges
        },
    )


def pass_detail(one: PassView) -> PassDetail:
    """One pass."""
    judgment, verdict = one.judgment, one.verdict
    return PassDetail(
        pass_index=one.pass_index,
        outcome=one.outcome_name,
        score=one.score,
        given_score=verdict.score if verdict else None,
        reason=one.reason,
        explanation=verdict.explanation if verdict else "",
        evidence_extracts=verdict.evidence if verdict else (),
        raw_response=judgment.raw_text if judgment else "",
        repair_response=judgment.repair_text if judgment else "",
        repair=judgment.repair if judgment else "none",
        steps=judgment.steps if judgment else (),
        finish_reason=judgment.finish_reason if judgment else "",
        prompt_tokens=judgment.prompt_tokens if judgment else None,
        completion_tokens=judgment.completion_tokens if judgment else None,
        seconds=judgment.seconds if judgment else None,
    )


def record_metadata(view: RunView, case: Case) -> RecordMetadata:
    """What is known of a case."""
    answer = view.answers.get(case.id)
    return RecordMetadata(
        id=case.id,
        prompt=case.prompt,
        response=case.response,
        category=case.category,
        subcategory=case.subcategory,
        maturity=case.maturity,
        source=case.source,
        metadata=case.metadata,
        answer=None
        if answer is None
        else AnswerDetail(
            state=answer.state,
            reason=answer.reason,
            finish_reason=answer.finish_reason,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            seconds=answer.seconds or 0.0,
        ),
    )


def spread(found: Consistency) -> dict[str, Any]:
    """The metrics that a record and the run have in common."""
    return {name: getattr(found, name) for name in RecordConsistency.__struct_fields__}
