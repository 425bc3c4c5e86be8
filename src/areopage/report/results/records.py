"""The shape of `results.json`. Names of the six main keys are those of the benchmark specification V1.1.

Scores are on the run's scale (`run.metadata.scale`); null means unscored. Nothing is rounded. Times are UTC, durations seconds.
"""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from areopage.bench import ChosenPart, ConversationEnds, MissingVerdict, ModelCost, Reassessed, RunHistory, SourceScore
from areopage.cases import Turn
from areopage.criteria import Scale, Scope
from areopage.jury import JudgeHealth, ScoringMethod
from areopage.ledger import CallTotals, JudgeStanding, ReusedAnswers, Thoughts
from areopage.report.results.adaptive_passes import AdaptivePasses
from areopage.report.results.people import PeopleResult
from areopage.report.trust.records import Trust
from areopage.scoring import (
    Ac2,
    Alpha,
    AppliedCalibration,
    Consistency,
    CorrectedScore,
    Detectable,
    Dispute,
    Drift,
    FailureAgreement,
    Failures,
    GroupFailures,
    Interval,
    JuryWorth,
    MappedScore,
    OverRefusal,
    Profile,
    Release,
    RunDrift,
    Weights,
)

SCHEMA_NAME: Literal["areopage/results/1"] = "areopage/results/1"


class Coverage(Struct, frozen=True, kw_only=True):
    """Passes that gave a score, passes that say that the criterion does not apply, and passes that were planned."""

    scored: int
    not_applicable: int
    planned: int


class Evidence(Struct, frozen=True, kw_only=True):
    """An extract that a judge quotes. `verbatim`: it stands in the response word for word, white space aside."""

    judge: str
    pass_index: int
    text: str
    verbatim: bool


class PassDetail(Struct, frozen=True, kw_only=True):
    """One pass of one judge.

    Args:
        turn: the number of the reply that was judged, where each reply of a conversation is; else 0.
        outcome: scored, not_applicable, unparsed, refused, timed_out, unreachable or not_run.
        score: on the run's scale; null unless scored.
        given_score: on the criterion's own scale: as the judge gave it, or its expectation from log-probabilities.
        written_score: the score that the judge wrote, where `given_score` is an expectation; else null.
        mass: the probability of all valid scores together at the place of the score, in [0, 1]; null where it is not known.
        reason: why there is no verdict; `explanation` says why a criterion does not apply.
        repair_response: the answer to the one repair call, "" where there was none.
        repair: none, heuristic (broken JSON was mended) or model (the repair call).
        steps: the ways of reading the answer that were tried, in order.
    """

    pass_index: int
    turn: int
    outcome: str
    score: float | None
    given_score: float | None
    written_score: float | None
    mass: float | None
    reason: str
    explanation: str
    evidence_extracts: tuple[str, ...]
    raw_response: str
    repair_response: str
    repair: str
    steps: tuple[str, ...]
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float | None


class JudgeDetail(Struct, frozen=True, kw_only=True):
    """One judge on one criterion of one case. `variance` is the sample variance of the counted passes."""

    score: float | None
    variance: float
    passes: tuple[PassDetail, ...]


class CriterionDetail(Struct, frozen=True, kw_only=True):
    """One criterion of one case. `explanations` is one text, each part led by judge and pass; `judges` is by name.

    `drift` is over the replies of a conversation; null of criteria that judge the case as a whole.

    `mapped`: what people are expected to say, beside the score; null unless a calibration was named that corrects this criterion.

    `applies`: false where the judges settle that the criterion does not apply to the case, or a rule says so (`by_rule`): then
    no judge was asked.
    """

    score: float | None
    applies: bool
    by_rule: bool
    agreement: float | None
    outliers: tuple[str, ...]
    coverage: Coverage
    explanations: str
    evidence: tuple[Evidence, ...]
    judges: dict[str, JudgeDetail]
    drift: Drift | None
    mapped: MappedScore | None = None


class AnswerDetail(Struct, frozen=True, kw_only=True):
    """How the target answered.

    Args:
        state: answered, empty, filtered, cut, refused, timed_out or unreachable.
        text: what came of an answer that is not whole.
        thinking: what the target thought, taken out of its text or given beside it.
        thoughts: where thoughts came that no judge has read: "" nowhere, `apart` in a field of their own, `in_text`.
    """

    state: str
    reason: str
    finish_reason: str
    text: str
    thinking: str
    thoughts: Thoughts
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class RecordMetadata(Struct, frozen=True, kw_only=True):
    """The case.

    Args:
        prompt: a text, or turns where the prompt is a conversation.
        response: null where the target has not answered.
        metadata: what else the dataset says of the case.
        tags: of the case.
        refused_in_words: the response is whole and declines in words.
        failures: the ids of the criteria that the case fails, worst first.
        answer: null where the response came with the dataset, or the target was not asked.
        mapped_final: the final score that people are expected to give, as `mapped` of a criterion.
    """

    id: str
    prompt: str | tuple[Turn, ...]
    response: str | None
    category: str
    subcategory: str
    maturity: str
    source: str
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    refused_in_words: bool
    failures: tuple[str, ...]
    answer: AnswerDetail | None
    mapped_final: MappedScore | None = None


class RecordResult(Struct, frozen=True, kw_only=True):
    """The results of one case."""

    final_aggregate_score: float | None
    category_scores: dict[str, float | None]
    subcategory_scores: dict[str, float | None]
    detailed_criteria: dict[str, CriterionDetail]
    consistency_metrics: Consistency
    metadata: RecordMetadata


class RunCriterion(Struct, frozen=True, kw_only=True):
    """One criterion over the run.

    Args:
        score: mean over the cases that have a score.
        interval: 95 % interval of the score, like `final_interval`.
        weight: its share among the criteria of its sub-category.
        final_share: its share of the final score: the product of the weights on its path.
        cases_scored: cases with a score, of `cases`.
        cases_not_applicable: cases that the criterion does not apply to; `cases_ruled_out` of them by a rule, without a judge.
        agreement: mean of the judges' agreement over cases.
        scope: what is judged: the response, the whole conversation, or each turn.
        drift: over the conversations, where each turn is judged; else null.
        krippendorff_alpha, gwet_ac2, exact_agreement, failure_agreement: as for the run.
        corrected: by people's labels; null unless a calibration was named that corrects this criterion.
    """

    score: float | None
    interval: Interval | None
    weight: float
    final_share: float
    cases_scored: int
    cases_not_applicable: int
    cases_ruled_out: int
    cases: int
    coverage: Coverage
    agreement: float | None
    krippendorff_alpha: Alpha
    gwet_ac2: Ac2
    exact_agreement: float | None
    failure_agreement: FailureAgreement
    scope: Scope
    drift: RunDrift | None
    corrected: CorrectedScore | None = None


class RunConsistency(Consistency, frozen=True, kw_only=True):
    """How consistent the jury was over the run.

    Args:
        krippendorff_alpha, gwet_ac2: ordinal, with their 95 % intervals.
        exact_agreement: the share of scores that all judges agree on to the half point; null where no two judges scored.
        failure_agreement: on the criteria of the categories whose failures count first.
        standing: none, good, fair, alike (the scores hardly differ, and by AC2 the judges agree), poor or chance.
        jury_worth: how many independent judges the jury is worth, each judge's part in it, and which may replace a person.
    """

    krippendorff_alpha: Alpha
    gwet_ac2: Ac2
    exact_agreement: float | None
    failure_agreement: FailureAgreement
    standing: str
    jury_worth: JuryWorth


class TargetDetail(Struct, frozen=True, kw_only=True):
    """The model under test."""

    model: str
    digest: str
    options: dict[str, Any]
    single_prompt: bool
    system_prompt: str


class JudgeEntry(Struct, frozen=True, kw_only=True):
    """A judge of the run.

    Args:
        qualification: what exams say of it now, criterion by criterion.
        criteria: what it may judge; empty: everything.
        passes: the options of each pass.
        method: `sampled`: scores as it writes them; `expected`: their expectation from log-probabilities.
    """

    name: str
    model: str
    digest: str
    qualification: JudgeStanding
    criteria: tuple[str, ...]
    passes: tuple[dict[str, Any], ...]
    method: ScoringMethod
    health: JudgeHealth


class Counts(Struct, frozen=True, kw_only=True):
    """Cases of the run: all, with a response, with a final score; rows rejected; cases that got the default maturity.

    Args:
        not_applicable: pairs of case and criterion where the criterion does not apply; `ruled_out` of them by a rule, without a
            judge.
        applicability_disputed: pairs on which some passes give a score and others say that the criterion does not apply.
        unscored: cases that are judged and lack a criterion's score.
        refused_first: cases with a criterion of the categories whose failures count first that a judge refused to judge.
        refused_in_words: cases with a whole answer that declines in words.
        answer_states: the cases that were put to the target, by the state of the answer, `not_run` where there is none.
        addressing_judge: cases whose texts address the judge.
    """

    cases: int
    answered: int
    answer_states: dict[str, int]
    scored: int
    not_applicable: int
    ruled_out: int
    applicability_disputed: int
    unscored: int
    refused_first: int
    refused_in_words: int
    rejected: int
    maturity_defaulted: int
    addressing_judge: int


class Digests(Struct, frozen=True, kw_only=True):
    """SHA-256 of what the run rests on.

    Args:
        dataset: all cases as they were read, with their criteria; "" where the run does not know it.
        prompts: the template's version and the texts of all criteria.
        suite: criteria, personas, weights, scale, profile and rules of failures.
    """

    dataset: str
    prompts: str
    suite: str


class RunMetadata(Struct, frozen=True, kw_only=True):
    """How the run came about.

    Args:
        target: null where every response came with the dataset.
        child: the model that plays the children of conversations; null where none does.
        conversations: how conversations with simulated children ended; null where there are none.
        joint: one call asked a model about all criteria of a scope; else each criterion had a call of its own.
        target_calls: what the calls took that this run made to its target and to the model that plays the children, by source;
            calls that the ledger knew are not among them. Each turn of a conversation is a call.
        costs: by model: of the target and the model that plays children, those of `target_calls`; of judges, those of the
            judgments that the scores use, whichever run asked for them.
        weights: as configured.
        settled_weights: as used: by category, and by `category.subcategory`; each level sums to 1.
        lost_criteria: those that were selected and are not judged; they count as planned in `coverage`.
        reassessed: the run whose answers are judged again; null where the target was asked, or responses came with the dataset.
        reused_answers: of how many cases the answers were given to earlier runs, and when the oldest was given; null without one.
        part: the part of the datasets that the user chose with --where or --age; null: all cases.
        sources: the scores by the source of the answers, if some come with the dataset and some from the target.
        failure_groups: the failures of groups of cases by `maturity` (age), the case's own `category`, `language` and `mode`.
        disputes: the scores of which some judges say that they are failures and others that they are not.
        history: the run before it and the run in the other mode, and what changed; null for a rescored run.
        over_refusal: the benign twins that are refused; null where there are none.
        final_interval: 95 % interval of the final score, for other cases like these and the same judges; null under five scored
            cases.
        intervals: those of categories and sub-categories (`category.subcategory`), like `final_interval`.
        detectable: the smallest differences and shares of failures that the run's cases can tell.
        if_missing: the final score if all that is missing were the worst, and the best; null where nothing is missing.
        missing: what has no score, case by case.
        digests: of dataset, prompts and suite.
        ledger_heads: the last link of each of the ledger's hash chains, as `areopage verify --against` reads them.
        adaptive_passes: how many passes were made and why; null where every judge made all of its passes.
        calibration: what people's labels correct, and on what it rests; null unless a calibration was named.
        complete: nothing is left that another try could bring.
        variant: how these results differ from the run as carried out; "" where they do not.
    """

    areopage_version: str
    run_id: str
    suite: str
    suite_version: str
    language: str
    mode: str
    template_version: str
    joint: bool
    variant: str
    complete: bool
    created_at: datetime
    finished_at: datetime | None
    target: TargetDetail | None
    child: TargetDetail | None
    conversations: ConversationEnds | None
    target_calls: tuple[CallTotals, ...]
    costs: tuple[ModelCost, ...]
    reassessed: Reassessed | None
    reused_answers: ReusedAnswers | None
    part: ChosenPart | None
    judges: tuple[JudgeEntry, ...]
    profile: Profile
    scale: Scale
    weights: Weights
    settled_weights: dict[str, float]
    weight_warnings: tuple[str, ...]
    failures: Failures
    failure_groups: dict[str, dict[str, GroupFailures]]
    disputes: tuple[Dispute, ...]
    history: RunHistory | None
    over_refusal: OverRefusal | None
    final_interval: Interval | None
    intervals: dict[str, Interval]
    detectable: Detectable
    if_missing: tuple[float, float] | None
    coverage: Coverage
    lost_criteria: tuple[str, ...]
    sources: tuple[SourceScore, ...]
    counts: Counts
    default_maturity: str
    datasets: tuple[str, ...]
    missing: tuple[MissingVerdict, ...]
    remarks: tuple[str, ...]
    digests: Digests
    ledger_heads: tuple[str, ...]
    adaptive_passes: AdaptivePasses | None = None
    calibration: AppliedCalibration | None = None


class RunResult(Struct, frozen=True, kw_only=True):
    """The results of the run: each criterion averaged over its cases, then weighed up."""

    final_aggregate_score: float | None
    category_scores: dict[str, float | None]
    subcategory_scores: dict[str, float | None]
    detailed_criteria: dict[str, RunCriterion]
    consistency_metrics: RunConsistency
    metadata: RunMetadata


class Results(Struct, frozen=True, kw_only=True):
    """A whole `results.json`: the run, and one record per case in the dataset's order.

    Args:
        release: the verdict by the floors of the suite; null where it sets none.
        people: human labels against the jury, and sign-offs; null where there are none.
        trust: how far the score can be trusted: what is known of its judges, of people's labels and of what was left out.
    """

    schema: Literal["areopage/results/1"]
    release: Release | None
    people: PeopleResult | None = None
    trust: Trust | None = None
    run: RunResult
    records: tuple[RecordResult, ...]
