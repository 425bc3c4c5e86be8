"""Removing answers, first from the tables and then from the bytes of the file."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Select, delete, select, text, update

from areopage.cases.records import Case
from areopage.ledger.exchange_rows import HELD
from areopage.ledger.gate_tables import exchange_judgments
from areopage.ledger.monitor_tables import alerts, evaluation_judgments, quality_criteria, quality_scores, submissions
from areopage.ledger.people_tables import labels, review_items
from areopage.ledger.quality_records import Submission
from areopage.ledger.rows import case_text, chunks, naive
from areopage.ledger.search import remove_words
from areopage.ledger.tables import judgments, runs, verdicts

ERASED = "[erased]"
ERASED_STATE = "left_out"
IN_FLIGHT = ("waiting", "queued")
MERGE_PAGES = 500
"""How many pages of the index of words one step of `wipe_remains` writes: some tens of milliseconds."""
PAUSE = 0.02
"""Seconds between two steps: others who want to write wait for a gap, and would seldom meet one that is shorter."""


def is_erased(submission: Submission) -> bool:
    """Whether nothing but an empty row is left of an answer: it was erased while it was with a judge."""
    return (submission.state, submission.reason) == (ERASED_STATE, ERASED)


def erase_answers(engine: Engine, ids: Sequence[str]) -> int:
    """Remove all rows of answers in one transaction; returns how many answers there were."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        erased = sum(erase_portion(connection, part) for part in chunks(ids))
        connection.commit()
    return erased


def erase_portion(connection: Connection, ids: Sequence[str]) -> int:
    """Remove the rows of a portion of answers."""
    locked = select(submissions.c.id, submissions.c.state).where(submissions.c.id.in_(ids)).order_by(submissions.c.number)
    handed_over = {row.id: row.state for row in connection.execute(locked.with_for_update())}
    scored = select(quality_scores.c.id, quality_scores.c.number).where(quality_scores.c.id.in_(ids))
    numbers = {row.id: row.number for row in connection.execute(scored)}
    erase_judgments(connection, ids)
    listed = list(numbers.values())
    remove_words(connection, listed)
    connection.execute(delete(quality_criteria).where(quality_criteria.c.quality_number.in_(listed)))
    connection.execute(delete(quality_scores).where(quality_scores.c.number.in_(listed)))
    connection.execute(delete(review_items).where(review_items.c.submission_id.in_(ids), review_items.c.why != HELD))
    connection.execute(delete(labels).where(labels.c.submission_id.in_(ids)))
    about = alerts.c.submission_id.in_(ids)
    connection.execute(update(alerts).where(about, alerts.c.delivery == "pending").values(delivery="none"))
    over = {"state": "closed", "closed_at": naive(datetime.now(UTC))}
    connection.execute(update(alerts).where(about, alerts.c.state == "open").values(**over))
    connection.execute(update(alerts).where(about).values(title=ERASED, body=ERASED, delivery_error=""))
    erase_submissions(connection, handed_over)
    return len(handed_over.keys() | numbers.keys())


def erase_submissions(connection: Connection, states: dict[str, str]) -> None:
    """Remove submissions by their id and state; of those in flight an empty row stays, which turns their evaluation away."""
    for id, state in states.items():
        if state in IN_FLIGHT:
            empty = {"case": case_text(Case(id=id, prompt="")), "state": ERASED_STATE, "reason": ERASED}
            connection.execute(update(submissions).where(submissions.c.id == id).values(**empty))
    gone = [id for id, state in states.items() if state not in IN_FLIGHT]
    connection.execute(delete(submissions).where(submissions.c.id.in_(gone)))


def erase_judgments(connection: Connection, ids: Sequence[str]) -> None:
    """Remove the links of answers to judgments, and the monitor's judgments that no other answer is linked to."""
    links = select(evaluation_judgments.c.key).where(evaluation_judgments.c.submission_id.in_(ids)).distinct()
    keys = list(connection.execute(links).scalars())
    connection.execute(delete(evaluation_judgments).where(evaluation_judgments.c.submission_id.in_(ids)))
    erase_unshared(connection, keys)


def erase_unshared(connection: Connection, keys: Sequence[str]) -> None:
    """Remove the monitor's judgments of these keys that neither an answer nor an exchange is linked to."""
    for part in chunks(keys):
        links = (evaluation_judgments.c.key, exchange_judgments.c.key)
        shared = {key for link in links for key in connection.execute(select(link).where(link.in_(part))).scalars()}
        numbers = list(connection.execute(monitors_judgments([key for key in part if key not in shared])).scalars())
        for some in chunks(numbers):
            remove_judgments(connection, some)


def remove_judgments(connection: Connection, ids: Sequence[int]) -> None:
    """Remove judgments with their verdicts."""
    connection.execute(delete(verdicts).where(verdicts.c.judgment_id.in_(ids)))
    connection.execute(delete(judgments).where(judgments.c.id.in_(ids)))


def monitors_judgments(keys: Sequence[str]) -> Select[Any]:
    """The numbers of judgments of these keys that the monitor paid for; those of a bench belong to its run."""
    return (
        select(judgments.c.id)
        .join(runs, judgments.c.run_id == runs.c.id)
        .where(judgments.c.key.in_(keys), runs.c.kind == "monitor")
    )


def wipe_remains(engine: Engine) -> None:
    """Overwrite what erased rows left behind.

    SQLite: rows were overwritten with zeros as they were deleted (secure_delete). Two more places held their texts. The index of
    words only marks what is deleted: it is merged into one part here, in short steps that let others write in between (some
    seconds for a million answers, next to nothing for a thousand). The log (`-wal`) holds pages as they were before: it is
    emptied, unless others read for longer than the database waits (30 s); then it is at a later checkpoint. Backups, and blocks
    that the file system gave back, are out of reach.

    PostgreSQL: deleted rows are gone for every query at once; their bytes stay in dead rows until autovacuum and in the
    write-ahead log until it is recycled, both by the server's own settings.
    """
    if engine.dialect.name != "sqlite":
        return
    with engine.connect() as connection:
        merge(connection, -MERGE_PAGES)  # negative: from now on all parts are to become one
        while merge(connection, MERGE_PAGES):
            time.sleep(PAUSE)
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def merge(connection: Connection, pages: int) -> bool:
    """Merge some pages of the index of words in a transaction of their own; whether there was anything to merge."""
    count = text("SELECT total_changes()")
    before = connection.execute(count).scalar_one()
    connection.execute(text("INSERT INTO quality_search (quality_search, rank) VALUES ('merge', :pages)"), {"pages": pages})
    after = connection.execute(count).scalar_one()
    connection.commit()
    return bool(after - before >= 2)
