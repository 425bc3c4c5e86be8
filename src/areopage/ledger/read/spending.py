"""What the calls of runs took, summed in the database: by judge, and by the model that answers."""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import func, select

from areopage.ledger.tables.answer_tables import answers, judgments
from areopage.ledger.tables.database import Store


class JudgeTotals(Struct, frozen=True):
    """The calls of runs to one judge; `cost` is in `currency`, as far as prices were known when they were made."""

    judge: str
    currency: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


class Pace(Struct, frozen=True, kw_only=True):
    """How the latest calls to a model went.

    Args:
        calls: of which the rest is known.
        seconds: mean of a call.
        answer_tokens: mean of an answer; None where the server did not count.
    """

    calls: int
    seconds: float
    answer_tokens: float | None


class Spending(Store):
    """What the calls of runs took."""

    def judge_totals(self, run_ids: Sequence[str]) -> list[JudgeTotals]:
        """Return what the calls of runs to their judges took, failed ones included."""
        sums = [func.sum(func.coalesce(judgments.c[name], 0)) for name in ("calls", "prompt_tokens", "completion_tokens", "cost")]
        query = select(judgments.c.judge, judgments.c.currency, *sums).where(judgments.c.run_id.in_(run_ids))
        grouped = query.group_by(judgments.c.judge, judgments.c.currency).order_by(judgments.c.judge)
        with self._ledger.reading() as connection:
            rows = connection.execute(grouped).all()
        return [
            JudgeTotals(judge, currency, int(calls), int(prompt), int(given), float(cost))
            for judge, currency, calls, prompt, given, cost in rows
        ]

    def pace_of(self, model: str, *, judges_first: bool = True) -> Pace | None:
        """How the latest calls to a model went; None where it has not been called lately.

        Args:
            judges_first: its calls as a judge tell before those as a target.
        """
        sought = ((judgments, judgments.c.id), (answers, answers.c.number))
        for table, key in sought if judges_first else reversed(sought):
            newest = select(func.max(key)).scalar_subquery()
            columns = (table.c.seconds, table.c.completion_tokens)
            query = select(*columns).where(table.c.model == model, key > newest - _LOOKED_AT, table.c.seconds > 0)
            query = query.where(table.c.completion_tokens.is_not(None)).order_by(key.desc()).limit(_LATEST)
            with self._ledger.reading() as connection:
                rows = connection.execute(query).all()
            if rows:
                given = [tokens for _, tokens in rows]
                return Pace(
                    calls=len(rows),
                    seconds=sum(seconds for seconds, _ in rows) / len(rows),
                    answer_tokens=sum(given) / len(given),
                )
        return None


_LATEST = 200
_LOOKED_AT = 100_000
"""The newest rows among which calls to a model are sought, so that a large ledger is not read through."""
