"""What the calls of runs took, summed in the database."""

from msgspec import Struct
from sqlalchemy import func, select

from areopage.ledger.tables.answer_tables import answer_judgments, answers, judgments, verdicts
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Answer
from areopage.ledger.write.answers import WHOLE_ANSWERS, answer_of


class Pace(Struct, frozen=True, kw_only=True):
    """How the latest calls to a model went: means of a call; of an answer's tokens None where the server did not count."""

    calls: int
    seconds: float
    answer_tokens: float | None


class JudgedPrompt(Struct, frozen=True):
    """A judge's prompt, whose tokens the server counted, about a reply (0: the case as a whole) of an answer that it showed."""

    run_id: str
    judge: str
    turn: int
    tokens: int
    criteria: tuple[str, ...]
    answer: Answer


_LATEST = 200
_PROMPTS = 60
_LOOKED_AT = 100_000
"""The newest rows among which calls to a model are sought, so that a large ledger is not read through."""


class Spending(Store):
    """What the calls of runs took."""

    def judge_costs(self, run_id: str) -> dict[str, float]:
        """Return what the calls of a run to its judges cost, by currency, as far as prices were known when they were made."""
        columns = judgments.c
        query = select(columns.currency, func.sum(columns.cost)).where(columns.run_id == run_id, columns.currency != "")
        query = query.where(columns.cost.is_not(None)).group_by(columns.currency).order_by(columns.currency)
        return {currency: float(cost) for currency, cost in self._ledger.rows(query)}

    def pace_of(self, model: str, *, judges_first: bool = True) -> Pace | None:
        """How the latest calls to a model went, as a judge or else as a target; None where it has not been called lately."""
        sought = ((judgments, judgments.c.id), (answers, answers.c.number))
        for table, key in sought if judges_first else reversed(sought):
            newest = select(func.max(key)).scalar_subquery()
            columns = (table.c.seconds, table.c.completion_tokens)
            query = select(*columns).where(table.c.model == model, key > newest - _LOOKED_AT, table.c.seconds > 0)
            query = query.where(table.c.completion_tokens.is_not(None)).order_by(key.desc()).limit(_LATEST)
            rows = self._ledger.rows(query)
            if rows:
                tokens = [tokens for _, tokens in rows]
                return Pace(
                    calls=len(rows),
                    seconds=sum(seconds for seconds, _ in rows) / len(rows),
                    answer_tokens=sum(tokens) / len(tokens),
                )
        return None

    def judged_prompts(self, model: str) -> list[JudgedPrompt]:
        """The latest prompts of a model as a judge that its server counted; those that took a repair call are left out."""
        newest, columns = select(func.max(judgments.c.id)).scalar_subquery(), judgments.c
        query = select(columns.id, columns.key, columns.run_id, columns.judge, columns.turn, columns.prompt_tokens)
        query = query.where(columns.model == model, columns.id > newest - _LOOKED_AT, columns.prompt_tokens > 0)
        query = query.where(columns.repair_text == "").order_by(columns.id.desc()).limit(_PROMPTS)
        prompts: list[JudgedPrompt] = []
        with self._ledger.reading() as connection:
            for id, key, run_id, judge, turn, counted in connection.execute(query).all():
                linked = select(answer_judgments.c.answer).where(answer_judgments.c.key == key).limit(1).scalar_subquery()
                row = connection.execute(WHOLE_ANSWERS.where(answers.c.number == linked)).one_or_none()
                if row is not None:
                    asked = tuple(connection.execute(select(verdicts.c.criterion).where(verdicts.c.judgment_id == id)).scalars())
                    prompts.append(JudgedPrompt(run_id, judge, turn, counted, asked, answer_of(row)))
        return prompts
