"""What the ledger holds of answers in production. Times are in UTC, durations in seconds."""

from datetime import date, datetime
from typing import Literal

from msgspec import Struct

from areopage.cases.records import Case

SubmissionState = Literal["waiting", "queued", "evaluated", "failed", "left_out"]
"""`waiting` for a worker, or for its next attempt; `queued` for a judge; `evaluated`: it has its row in quality_scores (maybe
without a score); `failed`: given up after the last attempt; `left_out` by the configured sampling."""

Band = Literal["excellent", "good", "weak", "unscored"]
"""Over 8, 6 to 8, under 6 on a scale of 0 to 10 (answer-quality specification, dashboard section); other scales in proportion."""


class Submission(Struct, frozen=True, kw_only=True):
    """An answer handed over for evaluation. `case.id` is its id; `case.source` says where it comes from.

    `answered_at` is when the answer was given, `received_at` when it was handed over. `variant` is its side of an A/B test.
    """

    case: Case
    received_at: datetime
    answered_at: datetime
    language: str
    variant: str = ""
    state: SubmissionState = "waiting"
    attempts: int = 0
    next_attempt_at: datetime | None = None
    reason: str = ""

    @property
    def id(self) -> str:
        """The client's id of the answer."""
        return self.case.id


class CriterionResult(Struct, frozen=True, kw_only=True):
    """One criterion's score of one answer, on the suite's scale; None where no judge gave one.

    `agreement` is the judges' (1 − sd/mean), None under two of them.
    """

    criterion: str
    score: float | None
    band: Band
    agreement: float | None = None


class JudgeUse(Struct, frozen=True, kw_only=True):
    """What one judge did for one answer. `outcomes` counts its verdicts by outcome name."""

    judge: str
    model: str
    calls: int
    outcomes: dict[str, int]
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: float
    currency: str


class QualityScore(Struct, frozen=True, kw_only=True):
    """A row of quality_scores with its criteria. `number` is given by the database (0 before).

    Args:
        id: the submission's.
        run_id: the configuration that judged: suite, versions, criteria, judges, weights (a run of kind "monitor").
        timestamp: when the answer was given.
        score_global: weighted over all criteria that the jury judges; None unless every one with a weight has a score.
        reason: why there is no global score; "" where there is one.
        standing: what is known of the judges' fitness; see `standing_of`.
        scored, planned: verdicts.
        spread: the largest difference between two judges on one criterion, on the suite's scale; None under two.
        cost: in `currency`; None where no price is known.
    """

    number: int = 0
    id: str
    run_id: str
    timestamp: datetime
    evaluated_at: datetime
    suite: str
    suite_version: str
    language: str
    source: str
    variant: str
    question: str
    answer: str
    score_global: float | None
    band: Band
    criteria: tuple[CriterionResult, ...]
    feedback: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    reason: str = ""
    standing: str = ""
    scored: int = 0
    planned: int = 0
    spread: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cost: float | None = None
    currency: str = ""


class Scope(Struct, frozen=True, kw_only=True):
    """Which answers a figure is about. None takes all; golden questions are taken only where `source` names them.

    The source of golden answers begins with "golden:".
    """

    suite: str | None = None
    source: str | None = None
    variant: str | None = None


class Period(Struct, frozen=True, kw_only=True):
    """Days in UTC, `end` excluded."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """How many days."""
        return (self.end - self.start).days


class DaySums(Struct, frozen=True, kw_only=True):
    """How many scores one criterion got on one day for one variant, their sum, the sum of their squares, and how many are weak.

    The sums are of the scores as they were given, not rounded. The criterion "" is the global score.
    """

    day: date
    variant: str
    criterion: str
    answers: int
    total: float
    squares: float
    weak: int


class DayTotals(Struct, frozen=True, kw_only=True):
    """What was done on one day, and how many answers of it sampling left out."""

    day: date
    scored: int
    unscored: int
    failed: int
    left_out: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int


class JudgeDays(Struct, frozen=True, kw_only=True):
    """What one judge did over a period; `outcomes` counts verdicts by outcome name, `cost` is by currency."""

    judge: str
    model: str
    calls: int
    outcomes: dict[str, int]
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost: dict[str, float]


class Filters(Struct, frozen=True, kw_only=True):
    """Which answers a list shows. `criterion` "" means that `band` is that of the global score; `text` is free text."""

    period: Period | None = None
    band: Band | None = None
    criterion: str = ""
    source: str | None = None
    variant: str | None = None
    text: str = ""


class Backlog(Struct, frozen=True, kw_only=True):
    """How much is not evaluated yet; `oldest_at` is when the oldest of the waiting and queued was received."""

    waiting: int
    queued: int
    failed: int
    oldest_at: datetime | None


class Worker(Struct, frozen=True, kw_only=True):
    """A worker's sign of life. `state` is "alive" or "taken_over" or "stopped"."""

    executor: str
    host: str
    process: int
    started_at: datetime
    seen_at: datetime
    state: str


class Alert(Struct, frozen=True, kw_only=True):
    """One condition that holds or held. `subject` tells one alert of a rule from another.

    `delivery` is "none" where nobody is to be told. `times` counts how often the condition was seen while the alert was open.
    """

    number: int = 0
    rule: str
    subject: str
    state: Literal["open", "closed"]
    opened_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None = None
    times: int = 1
    title: str
    body: str
    submission_id: str = ""
    delivery: Literal["pending", "sent", "given_up", "none"] = "pending"
    attempts: int = 0
    next_attempt_at: datetime
    delivery_error: str = ""


class GoldenRun(Struct, frozen=True, kw_only=True):
    """One round of golden questions. `verdict` is "running", "first", "good", "drop" or "incomplete"; `change` is in points."""

    id: str
    suite: str
    started_at: datetime
    finished_at: datetime | None = None
    asked: int = 0
    answered: int = 0
    scored: int = 0
    mean: float | None = None
    compared_to: str = ""
    change: float | None = None
    verdict: str = "running"
    reason: str = ""


Role = Literal["ask", "read", "write", "admin"]
"""What a key is for. `ask`: questions, and what became of one's answers, and nothing else: no text that was held back."""


class ApiKey(Struct, frozen=True, kw_only=True):
    """A key's record; the key itself is never kept. `collections`: which documents it may ask about; () for all."""

    id: str
    name: str
    role: Role
    created_at: datetime
    revoked_at: datetime | None = None
    collections: tuple[str, ...] = ()


class AuditEntry(Struct, frozen=True, kw_only=True):
    """Who did what to what. `subject` is the id of an answer, a key, or a setting."""

    at: datetime
    actor: str
    action: str
    subject: str
    detail: str = ""


class ReviewItem(Struct, frozen=True, kw_only=True):
    """An answer that people should look at. `why`: alert, low_score, disagreement, sample, unscored, asked, held.

    `held`: the gate held it back, and `submission_id` is the exchange's id. Any other is a submission's.
    `wanted` is how many raters should label it; `state` is "open" or "done".
    """

    number: int = 0
    submission_id: str
    why: str
    created_at: datetime
    state: Literal["open", "done"] = "open"
    wanted: int = 1


class Label(Struct, frozen=True, kw_only=True):
    """One rater's score of one criterion of one answer, on the suite's scale; "" is the overall score.

    `origin` is web, api, cli or import.
    """

    submission_id: str
    rater: str
    criterion: str
    score: float
    note: str = ""
    origin: str
    created_at: datetime
