"""Scores of answers in production: written once per answer, together with the day's counts; read one by one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from areopage.cases.records import Case
from areopage.ledger.connection import storage_errors
from areopage.ledger.counting import PLACE, Additions
from areopage.ledger.erasure import ERASED, ERASED_STATE, erase_answers, erase_judgments, wipe_remains
from areopage.ledger.inserts import insert_into, insert_missing
from areopage.ledger.monitor_tables import evaluation_judgments, quality_criteria, quality_scores, submissions
from areopage.ledger.quality_records import JudgeUse, QualityScore
from areopage.ledger.quality_rows import criterion_rows, score_row, scores_of
from areopage.ledger.records import Judgment
from areopage.ledger.rows import case_text, naive, storable
from areopage.ledger.search import add_words, index_words
from areopage.ledger.store import Ledger


class QualityScores:
    """The table `quality_scores` and what is kept in step with it. Each method is one transaction, but for `erase`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def link(self, id: str, keys: Sequence[str]) -> None:
        """Note that judgments belong to an answer, whatever becomes of it: so they are shown with it, and erased with it."""
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            insert_missing(connection, evaluation_judgments, link_rows(id, keys))

    def finish(self, score: QualityScore, uses: Sequence[JudgeUse], keys: Sequence[str], stored_case: Case | None) -> bool:
        """Write an answer's score and its criteria, count it for its day and its judges, link its judgments, set it evaluated.

        Args:
            keys: the keys of its judgments.
            stored_case: what stays of the submission's case (by the storage policy); None leaves it as it is.

        Returns:
            False where the answer had its row already: its submission is evaluated then, nothing else is changed and nothing
            counted twice. False too where it was erased while it was judged: its judgments go the same way then.
        """
        words, row = index_words(score), score_row(score)
        additions = Additions()
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            statement = insert_into(connection, quality_scores).on_conflict_do_nothing().returning(quality_scores.c.number)
            number = connection.execute(statement, row).scalar()
            handed_over = lock_submission(connection, row["id"])
            if is_erased(handed_over):
                connection.rollback()
                erase_late_judgments(connection, row["id"], keys)
                connection.commit()
                return False
            if handed_over:
                set_evaluated(connection, row["id"], None if number is None else stored_case)
                additions.take_back_failure(handed_over)
            if number is not None:
                write_parts(connection, number, score, words)
                insert_missing(connection, evaluation_judgments, link_rows(score.id, keys))
                additions.count(score, uses)
            additions.write(connection)
            connection.commit()
        return number is not None

    def get(self, id: str) -> QualityScore | None:
        """An answer's score by its id."""
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            rows = connection.execute(select(quality_scores).where(quality_scores.c.id == storable(id))).all()
            return next(iter(scores_of(connection, rows)), None)

    def judgments(self, id: str) -> list[Judgment]:
        """Every judgment of an answer, failed attempts too, in the order they came."""
        query = select(evaluation_judgments.c.key).where(evaluation_judgments.c.submission_id == storable(id))
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            keys = list(connection.execute(query).scalars())
        return sorted(self._ledger.attempts(keys), key=lambda judgment: judgment.created_at)

    def erase(self, ids: Sequence[str], *, wipe: bool = True) -> int:
        """Remove answers wholly: submission, score, criteria, judgments, alerts' texts, review items, labels, index.

        The days' counts stay: they hold no text. Judgments that another answer shares stay until that one goes. An answer that is
        being judged leaves an empty submission (`left_out`), so that its evaluation does not bring it back.

        The rows are gone in one transaction. With `wipe`, their bytes are too when this returns (see `wipe`); whoever erases in
        several portions may leave that for the end.

        Returns:
            How many answers there were.
        """
        with storage_errors(self._ledger.place):
            erased = erase_answers(self._ledger.engine, [storable(id) for id in ids])
        if erased and wipe:
            self.wipe()
        return erased

    def wipe(self) -> None:
        """Overwrite what erased answers left behind in the database's files; see `wipe_remains`."""
        with storage_errors(self._ledger.place):
            wipe_remains(self._ledger.engine)

    def older_than(self, moment: datetime, limit: int) -> list[str]:
        """Ids of submissions received before a moment (evaluated or not), oldest first."""
        query = select(submissions.c.id).where(submissions.c.received_at < naive(moment))
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return list(
                connection.execute(query.order_by(submissions.c.received_at, submissions.c.number).limit(limit)).scalars()
            )


def write_parts(connection: Connection, number: int, score: QualityScore, words: list[str]) -> None:
    """Write a new score's criteria and its entry in the index of words."""
    criteria = criterion_rows(number, score)
    if criteria:
        connection.execute(insert(quality_criteria), criteria)
    add_words(connection, {number: words})


def lock_submission(connection: Connection, id: str) -> Row[Any] | None:
    """A submission's state and what is counted of it, the row locked; None for a score without a submission."""
    columns: tuple[ColumnElement[Any], ...] = (submissions.c.state, submissions.c.reason, *PLACE)
    return connection.execute(select(*columns).where(submissions.c.id == id).with_for_update()).one_or_none()


def is_erased(handed_over: Row[Any] | None) -> bool:
    """Whether a submission is what an erased one left behind."""
    return handed_over is not None and handed_over.state == ERASED_STATE and handed_over.reason == ERASED


def set_evaluated(connection: Connection, id: str, stored_case: Case | None) -> None:
    """Set a submission evaluated, and put what stays of its case in the case's place."""
    values: dict[str, Any] = {"state": "evaluated", "reason": ""}
    if stored_case is not None:
        values["case"] = case_text(stored_case)
    connection.execute(update(submissions).where(submissions.c.id == id).values(**values))


def erase_late_judgments(connection: Connection, id: str, keys: Sequence[str]) -> None:
    """Remove the judgments of an answer that was erased while they were made."""
    insert_missing(connection, evaluation_judgments, link_rows(id, keys))
    erase_judgments(connection, [id])


def link_rows(id: str, keys: Sequence[str]) -> list[dict[str, str]]:
    """An answer's links to its judgments as rows."""
    return [{"submission_id": storable(id), "key": key} for key in dict.fromkeys(keys)]
