"""The shape of `results.json`. Names of the six main keys are those of the benchmark specification V1.1.

Scores are on the run's scale (`run.metadata.scale`); null means unscored. Nothing is rounded. Times are UTC, durations seconds.
"""

import inspect
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from areopage.bench.figures.figure import Figure
from areopage.bench.figures.registry import all_figures
from areopage.bench.results.coverage import Coverage
from areopage.bench.results.drift import Drift, RunDrift
from areopage.bench.results.jury_agreement import FailureAgreement
from areopage.bench.spec import ChosenPart, Reassessed
from areopage.cases import Turn
from areopage.criteria import Scale, Scope
from areopage.ledger import Thoughts
from areopage.scoring import (
    Ac2,
    Alpha,
    Consistency,
    CorrectedScore,
    Interval,
    JuryWorth,
    MappedScore,
    Profile,
    Weights,
)

SCHEMA_NAME: Literal["areopage/results/1"] = "areopage/results/1"


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


class RunAbout(Struct, frozen=True, kw_only=True):
    """How the run came about.

    Args:
        target: null where every response came with the dataset.
        child: the model that plays the children of conversations; null where none does.
        joint: one call asked a model about all criteria of a scope; else each criterion had a call of its own.
        reassessed: the run whose answers are judged again; null where the target was asked, or responses came with the dataset.
        part: the part of the datasets that the user chose with --where or --age; null: all cases.
        weights: as configured.
        digests: of dataset, prompts and suite.
    """

    areopage_version: str
    run_id: str
    suite: str
    suite_version: str
    language: str
    mode: str
    template_version: str
    joint: bool
    created_at: datetime
    finished_at: datetime | None
    target: TargetDetail | None
    child: TargetDetail | None
    reassessed: Reassessed | None
    part: ChosenPart | None
    profile: Profile
    scale: Scale
    weights: Weights
    default_maturity: str
    datasets: tuple[str, ...]
    digests: Digests


class RunResult(Struct, frozen=True, kw_only=True):
    """The results of the run: each criterion averaged over its cases, then weighed up."""

    final_aggregate_score: float | None
    category_scores: dict[str, float | None]
    subcategory_scores: dict[str, float | None]
    detailed_criteria: dict[str, RunCriterion]
    consistency_metrics: RunConsistency
    metadata: Any  # of `metadata_type`


class Results(Struct, frozen=True, kw_only=True):
    """A whole `results.json`: the run, and one record per case in the dataset's order."""

    schema: Literal["areopage/results/1"]
    run: RunResult
    records: tuple[RecordResult, ...]


def stored_figures(place: Literal["metadata", "results"]) -> list[Figure[Any]]:
    """The figures that `results.json` keeps in a place."""
    return [figure for figure in all_figures() if figure.stored == place]


@lru_cache(maxsize=1)
def metadata_type() -> Any:
    """The type of a run's metadata: how the run came about, and its figures."""
    return _with_figures(RunAbout, "metadata", "RunMetadata")


@lru_cache(maxsize=1)
def results_type() -> Any:
    """The type of `results.json` with all figures."""
    run = msgspec.defstruct("RunResult", [("metadata", metadata_type())], **_options(RunResult))
    return _with_figures(Results, "results", "Results", ("run", run))


def _with_figures(base: type[Struct], place: Literal["metadata", "results"], name: str, *fields: tuple[str, Any]) -> Any:
    """A record with a key for each figure of a place; its description says what each is."""
    figures = stored_figures(place)
    about = [f"    {figure.id}: {figure.about}" for figure in figures]
    text = inspect.cleandoc(base.__doc__ or "")
    text = "\n".join([text if "Args:" in text else f"{text}\n\nArgs:", *about])
    return msgspec.defstruct(name, [*fields, *((figure.id, figure.type) for figure in figures)], **_options(base, text))


def _options(base: type[Struct], about: str = "") -> dict[str, Any]:
    namespace = {"__doc__": about or inspect.cleandoc(base.__doc__ or "")}
    return {"bases": (base,), "namespace": namespace, "frozen": True, "kw_only": True, "module": base.__module__}
