"""What the ledger holds. Times are in UTC, durations in seconds."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from areopage.scoring.outcome import Outcome

AnswerState = Literal["answered", "refused", "timed_out", "unreachable"]
Repair = Literal["none", "heuristic", "model"]


class Answer(Struct, frozen=True, kw_only=True):
    """A target's answer to a case, or the failure to get one. `key` is the hash of all that determines the call."""

    key: str
    run_id: str
    case_id: str
    state: AnswerState
    text: str
    reason: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    created_at: datetime


class Verdict(Struct, frozen=True, kw_only=True):
    """What one judgment says on one criterion."""

    criterion: str
    outcome: Outcome


class Judgment(Struct, frozen=True, kw_only=True):
    """One call to a judge. `steps` are the rungs of the parsing ladder that were climbed, in order.

    `repair_text` is the answer to the one repair call, "" where there was none; tokens and seconds include that call.
    """

    key: str
    run_id: str
    judge: str
    model: str
    pass_index: int
    raw_text: str
    repair_text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    repair: Repair
    steps: tuple[str, ...]
    created_at: datetime
    verdicts: tuple[Verdict, ...]


class Run(Struct, frozen=True, kw_only=True):
    """A run. `spec` is the JSON of everything that determines it; `finished_at` is None while it is not complete.

    `kind` is "bench", or "monitor" for a configuration under which answers in production are judged (it is never finished).
    """

    id: str
    kind: Literal["bench", "monitor"] = "bench"
    suite: str
    fingerprint: str
    folder: str
    created_at: datetime
    finished_at: datetime | None
    spec: str
