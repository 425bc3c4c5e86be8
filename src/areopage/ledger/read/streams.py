"""Streams of answers, evaluations, judgments and labels, with bounded memory."""

from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, select

from areopage.ledger.tables.answer_tables import answer_judgments, answers, evaluations, judgments
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Answer, Evaluation, Judgment, Label
from areopage.ledger.tables.rows import record_of
from areopage.ledger.tables.schema import labels
from areopage.ledger.write.answers import WHOLE_ANSWERS, answer_of
from areopage.ledger.write.evaluation_rows import WHOLE_EVALUATIONS, evaluations_of
from areopage.ledger.write.judgments import judgments_of

PORTION = 200


class Streams(Store):
    """Streams of all that a ledger holds, with bounded memory."""

    def answers(self) -> Iterator[Answer]:
        """Iterate over all answers; erased answers have no texts."""
        for rows in self._ledger.portions(WHOLE_ANSWERS, answers.c.number, PORTION):
            yield from map(answer_of, rows)

    def evaluations(self, *conditions: ColumnElement[bool]) -> Iterator[Sequence[tuple[int, Evaluation]]]:
        """Iterate over matching evaluations and answer numbers, in portions."""
        for rows in self._ledger.portions(WHOLE_EVALUATIONS.where(*conditions), evaluations.c.number, PORTION):
            with self._ledger.reading() as connection:
                yield [(row.answer, evaluation) for row, evaluation in zip(rows, evaluations_of(connection, rows), strict=True)]

    def evaluated(self, origin: str, run_id: str | None = None) -> Iterator[Sequence[tuple[int, Evaluation]]]:
        """Iterate over finished evaluations of an origin, optionally under one panel, as `evaluations` does."""
        conditions = [evaluations.c.origin == origin, evaluations.c.state == "evaluated"]
        return self.evaluations(*conditions, *([] if run_id is None else [evaluations.c.run_id == run_id]))

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
        """Iterate over all labels, replaced labels included."""
        for rows in self._ledger.portions(select(labels), labels.c.number, PORTION):
            yield from (record_of(Label, row) for row in rows)
