"""The results of a run and of each case, as `results.json` holds them."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import numpy as np
from msgspec import structs

from areopage.bench.report.records import (
    AnswerDetail,
    CriterionDetail,
    Digests,
    Evidence,
    JudgeDetail,
    PassDetail,
    RecordMetadata,
    RecordResult,
    RunAbout,
    RunConsistency,
    RunCriterion,
    RunResult,
    TargetDetail,
    metadata_type,
    stored_figures,
)
from areopage.bench.results.coverage import Coverage
from areopage.bench.results.drift import Drift
from areopage.bench.results.jury_agreement import JuryAgreement
from areopage.bench.results.pass_views import PassView, pass_views, quotable, quoted_verbatim
from areopage.bench.results.run_view import RunView
from areopage.bench.spec import Target
from areopage.cases import Case
from areopage.criteria import TEMPLATE_VERSION
from areopage.digest import digest_of
from areopage.records import record_from
from areopage.scoring import (
    Consistency,
    CriterionScore,
    Node,
    RecordScores,
)
from areopage.version import __version__


def run_result(view: RunView) -> RunResult:
    """Build the results of the run."""
    scores = view.scores
    return RunResult(
        final_aggregate_score=scores.tree.score,
        category_scores=_category_scores(scores.tree),
        subcategory_scores=_subcategory_scores(scores.tree),
        detailed_criteria=run_criteria(view),
        consistency_metrics=RunConsistency(
            **structs.asdict(scores.consistency),
            **_agreement(view.agreement.overall),
            standing=view.agreement.overall.standing,
            jury_worth=view.worth,
        ),
        metadata=metadata_type()(
            **structs.asdict(_about(view)), **{figure.id: figure.of(view) for figure in stored_figures("metadata")}
        ),
    )


def _agreement(agreement: JuryAgreement) -> dict[str, Any]:
    return {
        "krippendorff_alpha": agreement.alpha,
        "gwet_ac2": agreement.ac2,
        "exact_agreement": agreement.exact,
        "failure_agreement": agreement.failures,
    }


def run_criteria(view: RunView) -> dict[str, RunCriterion]:
    """The results of each criterion over the run, by its id."""
    scores = view.scores.criteria
    rows_of = {scores.criteria[number]: scores.criterion == number for number in scores.criteria_found}
    shares, by_id = view.scores.tree.final_shares, view.spec.criteria_by_id()
    criteria: dict[str, RunCriterion] = {}
    for path, node in view.scores.tree.paths:
        if node.name not in rows_of:
            continue
        cells = scores.cells.rows(np.flatnonzero(rows_of[node.name]))
        agreements: list[float] = cells.agreement[~np.isnan(cells.agreement)].tolist()
        criteria[node.name] = RunCriterion(
            score=node.score,
            interval=view.scores.intervals.get(path),
            weight=node.weight,
            final_share=shares[path],
            cases_scored=int((~np.isnan(cells.score)).sum()),
            cases_not_applicable=int((~cells.applies).sum()),
            cases_ruled_out=int(cells.by_rule.sum()),
            cases=len(cells.score),
            coverage=record_from(Coverage, node),
            agreement=fmean(agreements) if agreements else None,
            **_agreement(view.agreement.by_criterion[node.name]),
            scope=by_id[node.name].scope,
            drift=view.drifts.get(node.name),
            corrected=view.calibration.criteria.get(node.name) if view.calibration else None,
        )
    return criteria


def _about(view: RunView) -> RunAbout:
    run, spec = view.run, view.spec
    rules = [spec.suite, spec.suite_version, spec.language, spec.criteria, spec.personas, spec.weights, spec.scale]
    return record_from(
        RunAbout,
        spec,
        areopage_version=__version__,
        run_id=run.id,
        template_version=TEMPLATE_VERSION,
        created_at=run.created_at,
        finished_at=run.finished_at,
        target=_target_detail(spec.target),
        child=_target_detail(spec.child),
        digests=Digests(
            dataset=spec.dataset_digest,
            prompts=digest_of([TEMPLATE_VERSION, [[criterion.id, criterion.content()] for criterion in spec.criteria]]),
            suite=digest_of([*rules, spec.profile, spec.failures]),
        ),
    )


def _target_detail(target: Target | None) -> TargetDetail | None:
    return record_from(TargetDetail, target, model=str(target.reference)) if target is not None else None


def record_results(view: RunView) -> Iterator[RecordResult]:
    """Build the results of each case, in the dataset's order."""
    unjudged = Node(name="final", score=None, weight=1.0, scored=0, planned=0)
    view.judgments.expect(view.columns.passes.cases)
    for case in view.cases:
        record = view.scores.records.find(case.id) or RecordScores(
            case_id=case.id, tree=unjudged, criteria=(), consistency=Consistency.of(())
        )
        answer = view.answers.get(case.id)
        yield RecordResult(
            final_aggregate_score=record.tree.score,
            category_scores=_category_scores(record.tree),
            subcategory_scores=_subcategory_scores(record.tree),
            detailed_criteria={score.criterion: _criterion_detail(view, score, case) for score in record.criteria},
            consistency_metrics=record.consistency,
            metadata=record_from(
                RecordMetadata,
                case,
                refused_in_words=case.id in view.declined,
                failures=view.failures.by_case.get(case.id, ()),
                mapped_final=view.mapped.get((case.id, "")),
                answer=None
                if answer is None
                else record_from(
                    AnswerDetail,
                    answer,
                    text="" if case.response is not None else answer.case.response or "",
                    seconds=answer.seconds or 0.0,
                ),
            ),
        )


def _category_scores(tree: Node) -> dict[str, float | None]:
    return {category.name: category.score for category in tree.parts}


def _subcategory_scores(tree: Node) -> dict[str, float | None]:
    return {f"{category.name}.{part.name}": part.score for category in tree.parts for part in category.parts}


def _criterion_detail(view: RunView, score: CriterionScore, case: Case) -> CriterionDetail:
    passes = list(pass_views(view, score))
    criterion = view.spec.criteria_by_id()[score.criterion]
    quotable_texts = {
        turn: quotable(case, turn, criterion.scope == "conversation") for turn in {pass_view.turn for pass_view in passes}
    }
    return record_from(
        CriterionDetail,
        score,
        coverage=record_from(Coverage, score),
        explanations="\n\n".join(
            f"{_place(pass_view)}: {pass_view.explanation}" for pass_view in passes if pass_view.explanation
        ),
        evidence=tuple(
            Evidence(
                judge=pass_view.judge,
                pass_index=pass_view.pass_index,
                text=extract,
                verbatim=quoted_verbatim(extract, quotable_texts[pass_view.turn]),
            )
            for pass_view in passes
            if (verdict := pass_view.verdict) is not None
            for extract in verdict.evidence
        ),
        judges={
            judge.judge: record_from(
                JudgeDetail,
                judge,
                passes=tuple(_pass_detail(pass_view) for pass_view in passes if pass_view.judge == judge.judge),
            )
            for judge in score.judges
        },
        drift=Drift.of(score, view.spec.scale, view.spec.failures.limit_of(criterion, view.spec.scale)),
        mapped=view.mapped.get((score.case_id, score.criterion)),
    )


def _place(pass_view: PassView) -> str:
    turn = f", reply {pass_view.turn}" if pass_view.turn else ""
    return f"{pass_view.judge}{turn}, pass {pass_view.pass_index}"


def _pass_detail(pass_view: PassView) -> PassDetail:
    judgment, verdict = pass_view.judgment, pass_view.verdict
    return record_from(
        PassDetail,
        pass_view,
        outcome=pass_view.outcome_name,
        given_score=verdict.score if verdict else None,
        written_score=verdict.written if verdict else None,
        mass=verdict.mass if verdict else None,
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
