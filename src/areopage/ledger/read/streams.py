"""Streams of answers, evaluations, judgments and labels, with bounded memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Row, Select, select

from areopage.ledger.tables.answer_tables import answer_judgments, answers, evaluations, judgments
from areopage.ledger.tables.database import Database, Store
from areopage.ledger.tables.records import Answer, Evaluation, Judgment, Label
from areopage.ledger.tables.rows import record_of
from areopage.ledger.tables.schema import labels
from areopage.ledger.write.answers import WHOLE_ANSWERS, answer_of
from areopage.ledger.write.evaluation_rows import WHOLE_EVALUATIONS, evaluations_of
from areopage.ledger.write.judgments import judgments_of

PORTION = 200

T = TypeVar("T")
_Made = Callable[[Connection, Sequence[Row[Any]]], Sequence[T]]


class Streams(Store):
    """Streams of all that a ledger holds, with bounded memory."""

    def answers(self) -> Iterator[Answer]:
        """Iterate over all answers; erased answers have no texts."""
        for portion in _portions(self._ledger, WHOLE_ANSWERS, answers.c.number, lambda _, rows: [answer_of(row) for row in rows]):
            yield from portion

    def evaluations(self, *conditions: ColumnElement[bool]) -> Iterator[Sequence[tuple[int, Evaluation]]]:
        """Iterate over matching evaluations and answer numbers, in portions."""

        def made(connection: Connection, rows: Sequence[Row[Any]]) -> Sequence[tuple[int, Evaluation]]:
            return [(row.answer, one) for row, one in zip(rows, evaluations_of(connection, rows), strict=True)]

        return _portions(self._ledger, WHOLE_EVALUATIONS.where(*conditions), evaluations.c.number, made)

    def evaluated(self, origin: str, run_id: str | None = None) -> Iterator[Sequence[tuple[int, Evaluation]]]:
        """Iterate over finished evaluations of an origin, optionally under one panel, as `evaluations` does."""
        conditions = [evaluations.c.origin == origin, evaluations.c.state == "evaluated"]
        return self.evaluations(*conditions, *([] if run_id is None else [evaluations.c.run_id == run_id]))

    def judgments(self) -> Iterator[tuple[Judgment, list[tuple[str, str]]]]:
        """Iterate over judgments with their panels and answer ids."""

        def made(connection: Connection, rows: Sequence[Row[Any]]) -> Sequence[tuple[Judgment, list[tuple[str, str]]]]:
            query = select(answer_judgments.c.key, answers.c.id, answer_judgments.c.run_id).order_by(answers.c.number)
            query = query.join(answers, answers.c.number == answer_judgments.c.answer)
            about: dict[str, list[tuple[str, str]]] = {}
            for row in connection.execute(query.where(answer_judgments.c.key.in_({row.key for row in rows}))):
                about.setdefault(row.key, []).append((row.id, row.run_id))
            return [(one, about.get(one.key, [])) for one in judgments_of(connection, rows)]

        for portion in _portions(self._ledger, select(judgments), judgments.c.id, made):
            yield from portion

    def labels(self) -> Iterator[Label]:
        """Iterate over all labels, replaced labels included."""
        for portion in _portions(
            self._ledger, select(labels), labels.c.number, lambda _, rows: [record_of(Label, row) for row in rows]
        ):
            yield from portion


def _portions(ledger: Database, query: Select[Any], key: Column[int], made: _Made[T]) -> Iterator[Sequence[T]]:
    last, query = 0, query.order_by(key).limit(PORTION)
    while True:
        with ledger.reading() as connection:
            rows = connection.execute(query.where(key > last)).all()
            found = made(connection, rows) if rows else []
        if not rows:
            return
        yield found
        last = rows[-1]._mapping[key]
