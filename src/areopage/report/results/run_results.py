"""The results of a run and of each case, as `results.json` holds them."""

from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

import numpy as np
from msgspec import Struct, structs

from areopage.bench import RunSpec, RunView, Target, outcome_for, run_costs
from areopage.cases import Case
from areopage.criteria import TEMPLATE_VERSION, Criterion, case_at, criterion_content, replies
from areopage.digest import digest_of
from areopage.ledger import Judgment
from areopage.report.results.adaptive_passes import adaptive_passes
from areopage.report.results.records import (
    AnswerDetail,
    Counts,
    Coverage,
    CriterionDetail,
    Digests,
    Evidence,
    JudgeDetail,
    JudgeEntry,
    PassDetail,
    RecordMetadata,
    RecordResult,
    RunConsistency,
    RunCriterion,
    RunMetadata,
    RunResult,
    TargetDetail,
)
from areopage.scoring import (
    Consistency,
    CriterionScore,
    Drift,
    Given,
    JuryAgreement,
    Node,
    Outcome,
    RecordScores,
    Scored,
)
from areopage.version import __version__

NOT_RUN = "not_run"


class PassView(Struct, frozen=True, kw_only=True):
    """One planned pass, over a reply if `turn` is not 0.

    `score` is on the run's scale; `judgment` and `outcome` are None where the judge was not asked.
    """

    case_id: str
    criterion: str
    judge: str
    pass_index: int
    turn: int
    judgment: Judgment | None
    outcome: Outcome | None
    score: float | None

    @property
    def outcome_name(self) -> str:
        """The outcome's name, `not_run` where there is none."""
        return self.outcome.name if self.outcome is not None else NOT_RUN

    @property
    def reason(self) -> str:
        """Why there is no verdict; "" where there is one, or where the judge was not asked."""
        return "" if self.outcome is None or isinstance(self.outcome, Given) else self.outcome.reason

    @property
    def explanation(self) -> str:
        """What the judge says of its verdict."""
        return self.outcome.explanation if isinstance(self.outcome, Given) else ""

    @property
    def verdict(self) -> Scored | None:
        """The outcome, if it is a score."""
        return self.outcome if isinstance(self.outcome, Scored) else None


def passes_of(view: RunView, score: CriterionScore) -> Iterator[PassView]:
    """Return the planned passes over a case's criterion, judge by judge."""
    own, judgments = view.spec.criteria_by_id()[score.criterion].scale, view.judgments.of(score.case_id)
    for judge, turn, number in score.planned_passes:
        judgment = judgments.get((score.case_id, score.criterion, judge, number, turn))
        outcome = outcome_for(judgment, score.criterion)
        yield PassView(
            case_id=score.case_id,
            criterion=score.criterion,
            judge=judge,
            pass_index=number,
            turn=turn,
            judgment=judgment,
            outcome=outcome,
            score=own.map_to(outcome.score, view.spec.scale) if isinstance(outcome, Scored) else None,
        )


def all_passes(view: RunView) -> Iterator[PassView]:
    """Every planned pass of a run, in order of cases."""
    view.judgments.expect(view.columns.passes.cases)
    for record in view.scores.records:
        for score in record.criteria:
            yield from passes_of(view, score)


def quoted_verbatim(extract: str, folded_response: str) -> bool:
    """Whether a response contains an extract literally; white space is normalised.

    Args:
        folded_response: the response as `fold_space` leaves it.
    """
    folded = fold_space(extract)
    return bool(folded) and folded in folded_response


def quotable(case: Case, turn: int, whole: bool) -> str:
    """What judges may quote, as `fold_space` leaves it.

    Args:
        turn: the number of the reply that is judged; 0: the case as a whole.
        whole: the whole conversation is judged.
    """
    return fold_space("\n".join(replies(case)) if whole else case_at(case, turn).response or "")


def fold_space(text: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(text.split())


def criterion_label(criterion: Criterion) -> str:
    """A criterion's display name."""
    return criterion.label or criterion.name.replace("_", " ")


def criterion_names(spec: RunSpec, ids: Iterable[str]) -> list[str]:
    """The display names of criteria of the suite, by their ids, whether the run has them or not."""
    known = spec.criteria_by_id()
    return [criterion_label(known[id]) if id in known else spec.labels.get(id) for id in ids]


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
        metadata=_run_metadata(view),
    )


def _agreement(found: JuryAgreement) -> dict[str, Any]:
    return {
        "krippendorff_alpha": found.alpha,
        "gwet_ac2": found.ac2,
        "exact_agreement": found.exact,
        "failure_agreement": found.failures,
    }


def run_criteria(view: RunView) -> dict[str, RunCriterion]:
    """The results of each criterion over the run, by its id."""
    scores = view.scores.criteria
    found = {scores.criteria[number]: scores.criterion == number for number in scores.criteria_found}
    shares, by_id = view.scores.tree.final_shares, view.spec.criteria_by_id()
    criteria: dict[str, RunCriterion] = {}
    for path, node in view.scores.tree.paths:
        if node.name not in found:
            continue
        own = scores.cells.rows(np.flatnonzero(found[node.name]))
        agreements: list[float] = own.agreement[~np.isnan(own.agreement)].tolist()
        criteria[node.name] = RunCriterion(
            score=node.score,
            interval=view.scores.intervals.get(path),
            weight=node.weight,
            final_share=shares[path],
            cases_scored=int((~np.isnan(own.score)).sum()),
            cases_not_applicable=int((~own.applies).sum()),
            cases_ruled_out=int(own.by_rule.sum()),
            cases=len(own.score),
            coverage=Coverage(scored=node.scored, not_applicable=node.not_applicable, planned=node.planned),
            agreement=fmean(agreements) if agreements else None,
            **_agreement(view.agreement.by_criterion[node.name]),
            scope=by_id[node.name].scope,
            drift=view.drifts.get(node.name),
            corrected=view.calibration.criteria.get(node.name) if view.calibration else None,
        )
    return criteria


def _judge_entries(view: RunView) -> tuple[JudgeEntry, ...]:
    return tuple(
        JudgeEntry(
            name=judge.name,
            model=str(judge.reference),
            digest=judge.digest,
            qualification=standing,
            criteria=judge.criteria,
            passes=judge.passes,
            method=judge.method,
            health=health,
        )
        for judge, health, standing in zip(view.spec.judges, view.health, view.standings, strict=True)
    )


def _counts(view: RunView) -> Counts:
    cells = view.scores.criteria.cells
    return Counts(
        cases=len(view.cases),
        answered=sum(case.response is not None for case in view.cases),
        answer_states=view.answer_states(),
        scored=int((~np.isnan(view.scores.records.finals)).sum()),
        not_applicable=int((~cells.applies).sum()),
        ruled_out=int(cells.by_rule.sum()),
        applicability_disputed=int(((cells.scored.sum(axis=1) > 0) & (cells.not_applicable.sum(axis=1) > 0)).sum()),
        unscored=len(view.unscored),
        refused_first=len(view.refused_first),
        refused_in_words=len(view.declined),
        rejected=len(view.rejected),
        maturity_defaulted=view.spec.maturity_defaulted,
        addressing_judge=len(view.addressing),
    )


def _run_metadata(view: RunView) -> RunMetadata:
    run, spec, tree = view.run, view.spec, view.scores.tree
    return RunMetadata(
        areopage_version=__version__,
        run_id=run.id,
        suite=spec.suite,
        suite_version=spec.suite_version,
        language=spec.language,
        mode=spec.mode,
        template_version=TEMPLATE_VERSION,
        joint=spec.joint,
        variant="; ".join(map(str, view.variant)),
        complete=view.complete,
        created_at=run.created_at,
        finished_at=run.finished_at,
        target=_target_detail(spec.target),
        child=_target_detail(spec.child),
        conversations=view.conversations,
        target_calls=view.calls,
        costs=run_costs(view),
        reassessed=spec.reassessed,
        reused_answers=view.reused,
        part=spec.part,
        judges=_judge_entries(view),
        profile=spec.profile,
        scale=spec.scale,
        weights=spec.weights,
        settled_weights=_settled_weights(tree),
        weight_warnings=tuple(map(str, view.scores.warnings)),
        failures=view.failures,
        failure_groups=view.failure_groups,
        disputes=view.disputes,
        history=view.history,
        over_refusal=view.over_refusal,
        final_interval=view.scores.interval,
        intervals={".".join(path): found for path, found in view.scores.intervals.items() if len(path) in (1, 2)},
        detectable=view.detectable,
        calibration=view.calibration,
        if_missing=view.scores.if_missing,
        coverage=Coverage(
            scored=view.coverage.scored, not_applicable=view.coverage.not_applicable, planned=view.coverage.planned
        ),
        lost_criteria=view.coverage.lost,
        sources=view.sources,
        counts=_counts(view),
        default_maturity=spec.default_maturity,
        datasets=spec.datasets,
        missing=view.missing,
        remarks=tuple(map(str, (*spec.remarks, *view.notes))),
        digests=_digests(spec),
        ledger_heads=view.heads,
        adaptive_passes=adaptive_passes(view),
    )


def _target_detail(target: Target | None) -> TargetDetail | None:
    if target is None:
        return None
    return TargetDetail(
        model=str(target.reference),
        digest=target.digest,
        options=target.options,
        single_prompt=target.single_prompt,
        system_prompt=target.system_prompt,
    )


def _digests(spec: RunSpec) -> Digests:
    rules = [spec.suite, spec.suite_version, spec.language, spec.criteria, spec.personas, spec.weights, spec.scale]
    return Digests(
        dataset=spec.dataset_digest,
        prompts=digest_of([TEMPLATE_VERSION, [[one.id, criterion_content(one)] for one in spec.criteria]]),
        suite=digest_of([*rules, spec.profile, spec.failures]),
    )


def _settled_weights(tree: Node) -> dict[str, float]:
    weights: dict[str, float] = {}
    for category in tree.parts:
        weights[category.name] = category.weight
        weights.update((f"{category.name}.{part.name}", part.weight) for part in category.parts)
    return weights


def record_results(view: RunView) -> Iterator[RecordResult]:
    """Build the results of each case, in the dataset's order."""
    view.judgments.expect(view.columns.passes.cases)
    for case in view.cases:
        record = view.scores.records.find(case.id) or _unjudged(case)
        yield RecordResult(
            final_aggregate_score=record.tree.score,
            category_scores=_category_scores(record.tree),
            subcategory_scores=_subcategory_scores(record.tree),
            detailed_criteria={score.criterion: _criterion_detail(view, score, case) for score in record.criteria},
            consistency_metrics=record.consistency,
            metadata=_record_metadata(view, case),
        )


def _unjudged(case: Case) -> RecordScores:
    empty = Node(name="final", score=None, weight=1.0, scored=0, planned=0)
    return RecordScores(case_id=case.id, tree=empty, criteria=(), consistency=Consistency.of(()))


def _category_scores(tree: Node) -> dict[str, float | None]:
    return {category.name: category.score for category in tree.parts}


def _subcategory_scores(tree: Node) -> dict[str, float | None]:
    return {f"{category.name}.{part.name}": part.score for category in tree.parts for part in category.parts}


def _criterion_detail(view: RunView, score: CriterionScore, case: Case) -> CriterionDetail:
    passes = list(passes_of(view, score))
    criterion = view.spec.criteria_by_id()[score.criterion]
    told = {turn: quotable(case, turn, criterion.scope == "conversation") for turn in {one.turn for one in passes}}
    said = [(one, one.verdict) for one in passes]
    return CriterionDetail(
        score=score.score,
        applies=score.applies,
        by_rule=score.by_rule,
        agreement=score.agreement,
        outliers=score.outliers,
        coverage=Coverage(scored=score.scored, not_applicable=score.not_applicable, planned=score.planned),
        explanations="\n\n".join(f"{_place(one)}: {one.explanation}" for one in passes if one.explanation),
        evidence=tuple(
            Evidence(judge=one.judge, pass_index=one.pass_index, text=extract, verbatim=quoted_verbatim(extract, told[one.turn]))
            for one, verdict in said
            if verdict is not None
            for extract in verdict.evidence
        ),
        judges={
            judge.judge: JudgeDetail(
                score=judge.score,
                variance=judge.variance,
                passes=tuple(_pass_detail(one) for one in passes if one.judge == judge.judge),
            )
            for judge in score.judges
        },
        drift=Drift.of(score, view.spec.scale, view.spec.failures.limit_of(criterion, view.spec.scale)),
        mapped=view.mapped.get((score.case_id, score.criterion)),
    )


def _place(one: PassView) -> str:
    turn = f", reply {one.turn}" if one.turn else ""
    return f"{one.judge}{turn}, pass {one.pass_index}"


def _pass_detail(one: PassView) -> PassDetail:
    judgment, verdict = one.judgment, one.verdict
    return PassDetail(
        pass_index=one.pass_index,
        turn=one.turn,
        outcome=one.outcome_name,
        score=one.score,
        given_score=verdict.score if verdict else None,
        written_score=verdict.written if verdict else None,
        mass=verdict.mass if verdict else None,
        reason=one.reason,
        explanation=one.explanation,
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


def _record_metadata(view: RunView, case: Case) -> RecordMetadata:
    answer = view.answers.get(case.id)
    return RecordMetadata(
        id=case.id,
        prompt=case.prompt,
        response=case.response,
        category=case.category,
        subcategory=case.subcategory,
        maturity=case.maturity,
        source=case.source,
        tags=case.tags,
        metadata=case.metadata,
        refused_in_words=case.id in view.declined,
        failures=view.failures.by_case.get(case.id, ()),
        mapped_final=view.mapped.get((case.id, "")),
        answer=None
        if answer is None
        else AnswerDetail(
            state=answer.state,
            reason=answer.reason,
            finish_reason=answer.finish_reason,
            text="" if case.response is not None else answer.case.response or "",
            thinking=answer.thinking,
            thoughts=answer.thoughts,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            seconds=answer.seconds or 0.0,
        ),
    )
