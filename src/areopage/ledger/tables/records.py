"""Answers, judgments, evaluations, decisions and labels as the ledger holds them. Times are in UTC, durations in seconds."""

import unicodedata
from datetime import datetime
from typing import Literal

from msgspec import Struct, structs

from areopage.cases import Case
from areopage.digest import digest_of
from areopage.scoring import Given, Outcome, TimedOut, Unreachable
from areopage.text import Policy

Origin = Literal["bench", "monitor", "gate", "import"]
AnswerState = Literal["answered", "empty", "filtered", "cut", "refused", "timed_out", "unreachable"]
"""`answered`: a whole answer. `empty`: a reply without text, thinking aside; `filtered`, `cut`: one that a content filter or the
limit of tokens ended. `refused`: the server turned the call away; `timed_out`, `unreachable`: no reply came."""

Thoughts = Literal["", "apart", "in_text"]
"""Where an answer's thoughts came that no judge reads: nowhere; in a field of their own, which clients seldom show; or in its
text, or in that of an earlier reply of the conversation, where users may have seen them."""

REPLIED: tuple[AnswerState, ...] = ("answered", "empty", "filtered", "cut")
"""The model has replied: it is not asked again."""

SETTLED: tuple[AnswerState, ...] = (*REPLIED, "refused")
"""What keeps no run open. A call that was turned away is made again when a run is resumed, for the server may have been set up
wrongly; but a run does not wait for it."""
NOT_WHOLE: tuple[AnswerState, ...] = ("empty", "filtered", "cut", "refused")
"""The target was reached, and the user gets no whole answer."""
SHOWN: tuple[AnswerState, ...] = ("answered", "filtered", "cut")
"""The user has read what came, and may have read a part of an answer."""

WITHHELD = "withheld"
"""The finish reason of a reply whose text is withheld: a marker is its response."""

IN_BATCH = "batch"
"""The first step of a judgment whose call was made by a batch."""

Repair = Literal["none", "heuristic", "model"]
RunKind = Literal["bench", "monitor", "gate", "exam", "audit"]
OF_NO_ANSWER: tuple[RunKind, ...] = ("exam", "audit")
"""The kinds of panels whose judgments belong to no answer: what they judged is made up, or changed on purpose."""

EvaluationState = Literal["waiting", "evaluated", "failed", "left_out", "erased"]
"""`waiting`: not evaluated yet, begun or not; `evaluated`: judged, maybe without a score; `failed`: given up after the last
attempt; `left_out` by the configured sampling; `erased` before it was judged."""

Grade = Literal["excellent", "acceptable", "weak", "unscored", "not_applicable"]
"""Over 8, 6 to 8, under 6 on a scale of 0 to 10 (answer-quality specification, dashboard section); other scales in proportion."""


GOLDEN_SOURCE = "golden:"
"""The beginning of the source of golden questions' answers."""

GROUNDING = "grounding"
"""The criterion of labels that say whether the documents support an answer."""

Grounded = Literal["no", "partly", "yes"]
GROUNDED: tuple[Grounded, ...] = ("no", "partly", "yes")
"""What a rater says under `GROUNDING`; a label's score is the index."""


def is_golden(source: str) -> bool:
    """Whether a source is that of golden questions."""
    return source.startswith(GOLDEN_SOURCE)


def is_reserved(source: str) -> bool:
    """Whether a source is that of golden questions, or looks like it."""
    return is_golden(unicodedata.normalize("NFKC", source).strip().casefold())


class StoredOutcome(Struct, frozen=True, kw_only=True):
    """What a list of runs says of a run's results, so that it need not read their cases.

    Args:
        verdict: the release verdict; "" where the suite sets no floors.
        failed: cases that fail a criterion whose failures count first, of `scored`.
        results: the digest of the results, as a sign-off names it.
    """

    verdict: str
    failed: int
    scored: int
    results: str


class Run(Struct, frozen=True, kw_only=True):
    """A run of the benchmark, or a panel under which answers are judged in production.

    `spec` is the JSON of everything that determines it; `finished_at` is None while a run is not complete (a panel never is).
    `outcome` is computed when a run ends; None before, and of a panel.
    """

    id: str
    kind: RunKind = "bench"
    suite: str
    fingerprint: str
    folder: str
    created_at: datetime
    finished_at: datetime | None
    spec: str
    outcome: StoredOutcome | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """One answer of a language model: a case with its response, or the failure to get one.

    Args:
        number: given by the database (0 before).
        id: unique over the ledger; the client's id, the trace's id, or one made for a call of the benchmark.
        origin: who asked for it.
        case: prompt, response and documents; `case.id` is the dataset's id in the benchmark, else the answer's.
        key: of a call to a target the hash of all that determines it; "" for others.
        run_id: the run of the benchmark that made the call; "" for others.
        source: the bot, the target or the collection that it comes from. That of golden questions begins with "golden:".
        variant: its side of an A/B test.
        language: of the response; "" where it is not known.
        delivered: what the user read in place of the response; "" where that is not known, or nothing else.
        session: the client's id of the conversation; of the benchmark's conversations what all their turns share.
        thinking: what a model under test thought, taken out of its response or given beside it; "" where it is not kept.
        thoughts: where thoughts came that no judge reads.
        trace_id: of the call in the bot's own tracing.
        api_key: the id of the API key under which it came; "local" for a request without one, "" for the command line and hooks.
        received_at: when it arrived; `answered_at` when it was given.
        erased: its texts are gone for good, or were never kept; what is counted of it stays.
    """

    number: int = 0
    id: str
    origin: Origin
    case: Case
    state: AnswerState = "answered"
    reason: str = ""
    finish_reason: str = ""
    key: str = ""
    run_id: str = ""
    source: str = ""
    variant: str = ""
    language: str = ""
    model: str = ""
    session: str = ""
    trace_id: str = ""
    api_key: str = ""
    delivered: str = ""
    thinking: str = ""
    thoughts: Thoughts = ""
    received_at: datetime
    answered_at: datetime
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    erased: bool = False


NOT_PLANNED = ("skipped", "refused")
"""The kinds that are no losses: what an extraction left out on purpose, and requests that an endpoint turned away."""


class HookCount(Struct, frozen=True, kw_only=True):
    """A number of answers of an hour (UTC).

    Args:
        why: the kind of loss or of doubt.
        recorded: they were submitted, and are doubtful.
    """

    hour: datetime
    source: str = ""
    variant: str = ""
    why: str
    recorded: bool = False
    answers: int = 0


ADDRESSED = "addressed:"
"""The beginning of the step of a judgment that names a sign that the case addresses the judge."""


class RunUse(Struct, frozen=True, kw_only=True):
    """What a benchmark run rests on.

    Args:
        judgments: those that its scores use, whichever run asked for them.
        evaluated: the cases with stored scores; `scored`, `not_applicable` and `planned` are passes over these.
    """

    judgments: int
    evaluated: int
    scored: int
    not_applicable: int
    planned: int


class Verdict(Struct, frozen=True, kw_only=True):
    """What one judgment says on one criterion."""

    criterion: str
    outcome: Outcome


class Judgment(Struct, frozen=True, kw_only=True):
    """One call to a judge. `steps` are the steps of parsing that were tried, in order, and the signs that the case addresses the
    judge ("addressed:" and the sign). `turn` is the number of the reply that was judged; 0: the case as a whole.

    `repair_text` is the answer to the one repair call, "" where there was none; `calls`, tokens, seconds and cost include that
    call. `cost` is in `currency`; None where no price is known. `stored` is what stays of its texts: what is not "full" cannot be
    read again.
    """

    key: str
    run_id: str
    judge: str
    model: str
    pass_index: int
    turn: int = 0
    raw_text: str
    repair_text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    repair: Repair
    steps: tuple[str, ...]
    calls: int = 1
    cost: float | None = None
    currency: str = ""
    created_at: datetime
    stored: Policy = "full"
    verdicts: tuple[Verdict, ...]

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome on each criterion, by the criterion's id."""
        return {verdict.criterion: verdict.outcome for verdict in self.verdicts}

    @property
    def is_whole(self) -> bool:
        """Whether every verdict is a score, or says that the criterion does not apply."""
        return bool(self.verdicts) and all(isinstance(verdict.outcome, Given) for verdict in self.verdicts)

    @property
    def is_open(self) -> bool:
        """Whether the call timed out or found no server, so that its run is incomplete."""
        return any(isinstance(verdict.outcome, TimedOut | Unreachable) for verdict in self.verdicts)


class CriterionResult(Struct, frozen=True, kw_only=True):
    """One criterion's score of one answer, on the suite's scale; None where no judge gave one, or where it does not apply.

    `agreement` is the judges' (1 − sd/mean), None under two of them.
    """

    criterion: str
    score: float | None
    grade: Grade
    agreement: float | None = None


class JudgeWork(Struct, frozen=True, kw_only=True):
    """What one judge did. `outcomes` counts its verdicts by outcome name."""

    judge: str
    model: str
    calls: int
    outcomes: dict[str, int]
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class JudgeUse(JudgeWork, frozen=True, kw_only=True):
    """What one judge did for one answer."""

    cost: float
    currency: str


StandingState = Literal["qualified", "not_qualified", "never_examined", "drifted", "unfit"]
StandingWord = StandingState | Literal["provisional", "in_part"]
"""`unfit`: its provider says that the model cannot judge; no exam is needed to know. `drifted`: its scores of unchanged rows
moved since its exam."""


class Standing(Struct, frozen=True, kw_only=True):
    """What is known of one judge, over the criteria that it may judge, for scores of a moment.

    Args:
        reason: why it is unfit; "" otherwise.
        qualified, not_qualified, never_examined, drifted: how many criteria are in each state.
        examined_at: the latest exam that counts; None without one.
        older: the latest exam of another version of the model, a criterion or the template; None without one.
        drifted_at: when its scores were found to have moved, the first criterion of those that drifted; None without one.
        otherwise: on how many criteria it was examined one by one and is asked jointly, or the reverse.
        provisional: on how many criteria it is qualified by gold rows that no person has checked.
        is_code: it is code, which needs no exam.
    """

    judge: str
    model: str
    state: StandingState
    reason: str = ""
    qualified: int = 0
    not_qualified: int = 0
    never_examined: int = 0
    drifted: int = 0
    examined_at: datetime | None = None
    older: datetime | None = None
    drifted_at: datetime | None = None
    otherwise: int = 0
    provisional: int = 0
    is_code: bool = False

    @property
    def word(self) -> StandingWord:
        """Its state in a word.

        `provisional` where it is qualified by gold rows that no person has checked; `in_part` where it is qualified on every
        criterion that it was examined on, and was not examined on all, as by an exam of the criteria of release floors alone.
        """
        if self.state == "qualified" and self.provisional:
            return "provisional"
        return "in_part" if self.state == "never_examined" and self.qualified else self.state


class PanelResult(Struct, frozen=True, kw_only=True):
    """The result of a panel for one answer. Scores are on the suite's scale; tokens, seconds and cost are sums over all calls.

    Args:
        run_id: the panel's; "" before the answer is judged.
        reason: why there is no score, or why the last attempt failed; "" if there is a score.
        score_global: weighted over all criteria that apply; None unless every one with a weight has a score.
        feedback, strengths, weaknesses, suggestions: in the judges' words.
        qualification: what is known of the judges for scores of that moment, in short; `standings` judge by judge.
        scored, not_applicable, planned: verdicts.
        spread: the largest difference between two judges on one criterion; None under two.
        cost: in `currency`; None if no price is known.
    """

    run_id: str = ""
    suite: str = ""
    suite_version: str = ""
    evaluated_at: datetime | None = None
    score_global: float | None = None
    grade: Grade = "unscored"
    criteria: tuple[CriterionResult, ...] = ()
    reason: str = ""
    feedback: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    qualification: str = ""
    standings: tuple[Standing, ...] = ()
    scored: int = 0
    not_applicable: int = 0
    planned: int = 0
    spread: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cost: float | None = None
    currency: str = ""


class Evaluation(PanelResult, frozen=True, kw_only=True):
    """An answer and the result of a panel.

    Args:
        number: given by the database (0 before).
        id: the answer's.
        origin: who asked for it: the benchmark, or the monitor.
        attempts: how many failed.
        timestamp: when the answer was given.
        received_at: when the answer was submitted; None: at `timestamp`.
        prompt, response: of the answer, for lists; "" where they are erased.
        erased: the answer's texts are gone for good, or were never kept.
    """

    number: int = 0
    id: str
    origin: Origin = "monitor"
    state: EvaluationState = "waiting"
    attempts: int = 0
    timestamp: datetime
    received_at: datetime | None = None
    language: str = ""
    source: str = ""
    variant: str = ""
    prompt: str = ""
    response: str = ""
    erased: bool = False


class Label(Struct, frozen=True, kw_only=True):
    """One rater's score of one answer on one criterion.

    Args:
        criterion: a criterion's path, on the suite's scale; "" for the overall score; "grounding" for whether the documents
            support the answer: 0 no, 1 partly, 2 yes.
        sentences: of a grounding label the indexes (in the decision) of the sentences that no document supports.
        correction: what the answer should have said, by this rater; "" where the rater says nothing of it.
        origin: how it was given.
        blind: whether the rater had seen neither a judge's scores nor the gate's decision.
        decides: whether it decides between the labels of raters who disagree: it counts in their place.
        state: `undone` once its rater has taken it back: it counts for nothing.
    """

    answer_id: str
    rater: str
    criterion: str
    score: float
    sentences: tuple[int, ...] = ()
    note: str = ""
    correction: str = ""
    origin: Literal["web", "api", "cli", "import"]
    blind: bool = True
    decides: bool = False
    state: Literal["given", "undone"] = "given"
    created_at: datetime

    @property
    def grounded(self) -> Grounded:
        """The score of a `GROUNDING` label in a word."""
        return GROUNDED[min(2, max(0, round(self.score)))]


class ReviewItem(Struct, frozen=True, kw_only=True):
    """An answer queued for review. `why`: alert, low_score, failing, disagreement, sample, teaching, unscored, addressed, asked,
    held.

    `held`: the gate holds the answer until a reviewer releases or rejects it. `wanted` is how many raters should label it.
    `run_id` is the benchmark run whose criteria raters score and whose sample it belongs to; "" for the server's suite.
    """

    number: int = 0
    answer_id: str
    why: str
    created_at: datetime
    state: Literal["open", "done"] = "open"
    wanted: int = 1
    run_id: str = ""


ReservationKind = Literal[
    "floors_missed",
    "floors_open",
    "judges_not_qualified",
    "judges_never_examined",
    "judges_in_part",
    "judges_provisional",
    "rejected_rows",
    "failing_cases",
]


class Reservation(Struct, frozen=True, kw_only=True):
    """Something that speaks against the approval of a run: how many, and the names of judges or the ids of the first cases."""

    kind: ReservationKind
    count: int
    names: tuple[str, ...] = ()


class SignedState(Struct, frozen=True, kw_only=True):
    """What a sign-off is about: digests of a run, and the heads of the ledger's chains at that moment.

    Args:
        fingerprint: the run's.
        results: a digest of scores, failures and the release verdict.
        labels: a digest of the labels that count, `counted` of them.
        release: the release verdict; "" where the suite sets no floors.
        over: what spoke against an approval at that moment.
    """

    fingerprint: str
    results: str
    labels: str
    counted: int
    release: str = ""
    heads: tuple[str, ...] = ()
    over: tuple[Reservation, ...] = ()


class SignOff(Struct, frozen=True, kw_only=True):
    """A person's approval or rejection of a run. `digest` is the `content_digest` of when it was signed."""

    run_id: str
    name: str
    role: str = ""
    verdict: Literal["approve", "reject"]
    note: str = ""
    signed_at: datetime
    signed: SignedState
    digest: str = ""

    @property
    def content_digest(self) -> str:
        """SHA-256 of everything but the digest."""
        return digest_of(structs.replace(self, digest=""))
