"""Streams of answers, evaluations, judgments and labels, with bounded memory."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, select

from areopage.errors import DamagedRow
from areopage.ledger.tables.answer_tables import answer_judgments, answers, evaluations, judgments
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Answer, Evaluation, Judgment, Label
from areopage.ledger.tables.rows import readable, record_of
from areopage.ledger.tables.schema import labels
from areopage.ledger.write.answers import WHOLE_ANSWERS, answer_of
from areopage.ledger.write.evaluation_rows import WHOLE_EVALUATIONS, evaluations_of
from areopage.ledger.write.judgments import judgments_of

PORTION = 200
OnDamage = Callable[[DamagedRow], None]


class Streams(Store):
    """Streams of all that a ledger holds, with bounded memory."""

    def answers(self) -> Iterator[Answer]:
        """Iterate over all answers; erased answers have no texts."""
        for rows in self._ledger.portions(WHOLE_ANSWERS, answers.c.number, PORTION):
            yield from map(answer_of, rows)

    def evaluations(
        self, *conditions: ColumnElement[bool], on_damage: OnDamage | None = None
    ) -> Iterator[Sequence[tuple[int, Evaluation]]]:
        """Iterate over matching evaluations and answer numbers, in portions.

        Args:
            on_damage: gets each evaluation that cannot be read, which is left out; None: the first one ends the reading.

        Raises:
            DamagedRow: an evaluation cannot be read.
        """
        for rows in self._ledger.portions(WHOLE_EVALUATIONS.where(*conditions), evaluations.c.number, PORTION):
            with self._ledger.reading() as connection:
                read = partial(_numbered, connection)
                yield read(rows) if on_damage is None else readable(read, rows, on_damage)

    def evaluated(
        self, origin: str, run_id: str | None = None, on_damage: OnDamage | None = None
    ) -> Iterator[Sequence[tuple[int, Evaluation]]]:
        """Iterate over finished evaluations of an origin, optionally under one panel, as `evaluations` does."""
        conditions = [evaluations.c.origin == origin, evaluations.c.state == "evaluated"]
        conditions += [] if run_id is None else [evaluations.c.run_id == run_id]
        return self.evaluations(*conditions, on_damage=on_damage)

    def judgments(self) -> Iterator[tuple[Judgment, list[tuple[str, str]]]]:
        """Iterate over judgments with their panels and answer ids."""
        links = select(answer_judgments.c.key, answers.c.id, answer_judgments.c.run_id).order_by(answers.c.number)
        links = links.join(answers, answers.c.number == answer_judgments.c.answer)
        for rows in self._ledger.portions(select(judgments), judgments.c.id, PORTION):
            about: dict[str, list[tuple[str, str]]] = {}
            for link in self._ledger.rows_in(links, answer_judgments.c.key, [row.key for row in rows]):
                about.setdefault(link.key, []).append((link.id, link.run_id))
            with self._ledger.reading() as connection:
                portion = judgments_of(connection, rows)
            yield from ((judgment, about.get(judgment.key, [])) for judgment in portion)

    def labels(self) -> Iterator[Label]:
        """Iterate over all labels, replaced and undone labels included."""
        for rows in self._ledger.portions(select(labels), labels.c.number, PORTION):
            yield from (record_of(Label, row) for row in rows)


def _numbered(connection: Connection, rows: Sequence[Row[Any]]) -> list[tuple[int, Evaluation]]:
    return [(row.answer, evaluation) for row, evaluation in zip(rows, evaluations_of(connection, rows), strict=True)]
