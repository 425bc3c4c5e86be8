"""The results of the run, as they stand under `run` in `results.json`."""

import areopage
from areopage.bench.results import RunView
from areopage.criteria.prompts import TEMPLATE_VERSION
from areopage.report.record_results import category_scores, spread, subcategory_scores
from areopage.report.results_records import (
    Counts,
    Coverage,
    HealthDetail,
    JudgeEntry,
    RunConsistency,
    RunCriterion,
    RunMetadata,
    RunResult,
    TargetDetail,
)
from areopage.scoring.agreement import mean
from areopage.scoring.fold import final_shares
from areopage.scoring.reduce import CriterionScore
from areopage.scoring.tree import Node


def run_result(view: RunView) -> RunResult:
    """The results of the run."""
    scores = view.scores
    return RunResult(
        final_aggregate_score=scores.tree.score,
        category_scores=category_scores(scores.tree),
        subcategory_scores=subcategory_scores(scores.tree),
        detailed_criteria=run_criteria(view),
        consistency_metrics=RunConsistency(
            **spread(scores.consistency),
            outliers_by_judge=scores.consistency.outliers_by_judge,
            krippendorff_alpha=scores.alpha,
        ),
        metadata=run_metadata(view),
    )


def run_criteria(view: RunView) -> dict[str, RunCriterion]:
    """Each criterion over the run."""
    found: dict[str, list[CriterionScore]] = {}
    for record in view.scores.records:
        for score in record.criteria:
            found.setdefault(score.criterion, []).append(score)
    shares = dict(final_shares(view.scores.tree))
    criteria: dict[str, RunCriterion] = {}
    for node in (leaf for category in view.scores.tree.parts for part in category.parts for leaf in part.parts):
        agreements = [score.agreement for score in found[node.name] if score.agreement is not None]
        criteria[node.name] = RunCriterion(
            score=node.score,
            weight=node.weight,
            final_share=shares[node.name],
            cases_scored=sum(score.score is not None for score in found[node.name]),
            cases=len(found[node.name]),
            coverage=Coverage(scored=node.scored, planned=node.planned),
            agreement=mean(agreements) if agreements else None,
        )
    return criteria


def run_metadata(view: RunView) -> RunMetadata:
    """How the run came about."""
    run, spec, tree = view.run, view.spec, view.scores.tree
    target = spec.target
    return RunMetadata(
        areopage_version=areopage.__version__,
        run_id=run.id,
        suite=spec.suite,
        suite_version=spec.suite_version,
        language=spec.language,
        mode=spec.mode,
        template_version=TEMPLATE_VERSION,
        variant=view.variant,
        complete=view.complete,
        created_at=run.created_at,
        finished_at=run.finished_at,
        target=None
        if target is None
        else TargetDetail(
            model=str(target.reference),
            digest=target.digest,
            options=target.options,
            single_prompt=target.single_prompt,
            system_prompt=target.system_prompt,
        ),
        judges=judge_entries(view),
        profile=spec.profile,
        scale=spec.scale,
        weights=spec.weights,
        settled_weights=settled_weights(tree),
        weight_warnings=view.scores.warnings,
        final_interval=view.scores.interval,
        coverage=Coverage(scored=tree.scored, planned=tree.planned),
        counts=Counts(
            cases=len(view.cases),
            answered=sum(case.response is not None for case in view.cases),
            scored=sum(record.tree.score is not None for record in view.scores.records),
            rejected=len(view.rejected),
            maturity_defaulted=spec.maturity_defaulted,
        ),
        default_maturity=spec.default_maturity,
        datasets=spec.datasets,
        remarks=spec.remarks,
    )


def settled_weights(tree: Node) -> dict[str, float]:
    """The weights of categories and sub-categories as they were used."""
    weights: dict[str, float] = {}
    for category in tree.parts:
        weights[category.name] = category.weight
        weights.update((f"{category.name}.{part.name}", part.weight) for part in category.parts)
    return weights


def judge_entries(view: RunView) -> tuple[JudgeEntry, ...]:
    """The judges with their health."""
    entries: list[JudgeEntry] = []
    for judge, health in zip(view.spec.judges, view.health, strict=True):
        counted = {name: getattr(health, name) for name in HealthDetail.__struct_fields__}
        entries.append(
            JudgeEntry(
                name=judge.name,
                model=str(judge.reference),
                digest=judge.digest,
                standing=judge.unfit,
                criteria=judge.criteria,
                passes=judge.passes,
                health=HealthDetail(**counted),
            )
        )
    return tuple(entries)
