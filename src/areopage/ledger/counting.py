"""What one answer adds to the days' counts, and how it is added: the one place that writes them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from msgspec import Struct, field
from sqlalchemy import Connection, Row

from areopage.ledger.inserts import insert_or_add
from areopage.ledger.monitor_tables import judge_days, quality_counts, quality_days, submissions
from areopage.ledger.quality_records import JudgeUse, QualityScore
from areopage.ledger.rows import storable

CALLS = ""
"""The outcome under which `judge_days` holds a judge's calls; verdicts are counted under their own outcomes."""
NO_SUITE = ""
"""The suite under which `quality_days` holds what no suite judged: what was given up, and what sampling left out."""
PLACE = (submissions.c.answered_at, submissions.c.source, submissions.c.variant)
"""The columns that say where a submission is counted that no suite judged."""
DECIMALS = 2

Key = TypeVar("Key")

CountKey = tuple[date, str, str, str, str, float]
DayKey = tuple[date, str, str, str]
JudgeKey = tuple[date, str, str, str, str]
DAY_KEY = ("day", "suite", "source", "variant")
COUNT_KEY = (*DAY_KEY, "criterion", "score")
JUDGE_KEY = ("day", "judge", "model", "outcome", "currency")
COUNT_COLUMNS = ("answers", "total", "squares")
DAY_COLUMNS = ("scored", "unscored", "failed", "left_out", "seconds", "prompt_tokens", "completion_tokens")
JUDGE_COLUMNS = ("verdicts", "calls", "seconds", "prompt_tokens", "completion_tokens", "cost")


class Additions(Struct):
    """What answers add to the counts, by key; values are in the order of the tables' columns."""

    counts: dict[CountKey, list[float]] = field(default_factory=dict)
    days: dict[DayKey, list[float]] = field(default_factory=dict)
    judges: dict[JudgeKey, list[float]] = field(default_factory=dict)

    def count(self, score: QualityScore, uses: Iterable[JudgeUse]) -> None:
        """Count one answer's score and what its judges did for it, on the day of the answer in UTC."""
        day = score.timestamp.astimezone(UTC).date()
        place = (day, storable(score.suite), storable(score.source), storable(score.variant))
        for criterion, value in [("", score.score_global), *((one.criterion, one.score) for one in score.criteria)]:
            if value is not None:
                add_to(self.counts, (*place, storable(criterion), rounded(value)), (1, value, value * value))
        scored = score.score_global is not None
        tokens = (score.prompt_tokens or 0, score.completion_tokens or 0)
        add_to(self.days, place, (scored, not scored, 0, 0, score.seconds, *tokens))
        for use in uses:
            self.count_judge(day, use)

    def count_judge(self, day: date, use: JudgeUse) -> None:
        """Count what one judge did."""
        judge, model, currency = storable(use.judge), storable(use.model), storable(use.currency)
        work = (0, use.calls, use.seconds, use.prompt_tokens, use.completion_tokens, use.cost)
        add_to(self.judges, (day, judge, model, CALLS, currency), work)
        for outcome, verdicts in use.outcomes.items():
            if verdicts:
                add_to(self.judges, (day, judge, model, outcome, currency), (verdicts, 0, 0.0, 0, 0, 0.0))

    def fail(self, submission: Row[Any], change: int) -> None:
        """Count a submission as given up (1), or no longer (−1), by its columns `PLACE`."""
        place = (submission.answered_at.date(), NO_SUITE, submission.source, submission.variant)
        add_to(self.days, place, (0, 0, change, 0, 0.0, 0, 0))

    def leave_out(self, answered_at: datetime, source: str, variant: str) -> None:
        """Count a submission as left out by sampling; its values are those of the columns `PLACE`."""
        add_to(self.days, (answered_at.date(), NO_SUITE, source, variant), (0, 0, 0, 1, 0.0, 0, 0))

    def take_back_failure(self, submission: Row[Any]) -> None:
        """Where a submission had been given up, count it as such no longer; needs its `state` too."""
        if submission.state == "failed":
            self.fail(submission, -1)

    def write(self, connection: Connection) -> None:
        """Add all to the tables, in one order for every transaction. The busiest rows, those of days, are locked last."""
        insert_or_add(connection, quality_counts, [row_of_key(COUNT_KEY, COUNT_COLUMNS, *item) for item in self.counts.items()])
        insert_or_add(connection, judge_days, [row_of_key(JUDGE_KEY, JUDGE_COLUMNS, *item) for item in self.judges.items()])
        insert_or_add(connection, quality_days, [row_of_key(DAY_KEY, DAY_COLUMNS, *item) for item in self.days.items()])


def count_failed(connection: Connection, given_up: Sequence[Row[Any]], change: int) -> None:
    """Count submissions as given up (1), or no longer (−1), by their columns `PLACE`."""
    additions = Additions()
    for submission in given_up:
        additions.fail(submission, change)
    additions.write(connection)


def rounded(score: float) -> float:
    """A score as it is counted for bands; never −0, which one database tells from 0."""
    return round(score, DECIMALS) + 0.0


def add_to(sums: dict[Key, list[float]], key: Key, values: Sequence[float]) -> None:
    """Add values to those of a key."""
    known = sums.setdefault(key, [0] * len(values))
    for place, value in enumerate(values):
        known[place] += value


def row_of_key(names: Sequence[str], columns: Sequence[str], key: Sequence[Any], values: Sequence[float]) -> dict[str, Any]:
    """A key and its values as a row."""
    return dict(zip(names, key, strict=True)) | dict(zip(columns, values, strict=True))
