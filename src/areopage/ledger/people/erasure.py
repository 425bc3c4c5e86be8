"""Erase every text of an answer, from the tables and then the file.

The answer's row, its id, its figures, the scores of its judgments and all counts stay, so that scores can still be computed
again. The keys of its judgments, which are hashes of their content, are replaced by random ones.
"""

import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile

from sqlalchemy import Connection, bindparam, delete, exists, or_, select, text, tuple_, update

from areopage.ledger.people.held import is_held, keys_of, lock_keys, queue_equals
from areopage.ledger.people.labels import remove_items
from areopage.ledger.read.queries import not_by_index
from areopage.ledger.read.search import SEARCH_TABLE, add_words, index_words, remove_words
from areopage.ledger.tables.answer_tables import (
    answer_judgments,
    answer_texts,
    answers,
    decisions,
    evaluations,
    judgments,
    releases,
    runs,
    verdicts,
)
from areopage.ledger.tables.chain import seal
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import RowValues, chunks, insert_missing, naive, rows_in, storable
from areopage.ledger.tables.schema import alerts, labels
from areopage.ledger.write.answers import HAS_TEXTS, Link, blank_cases, insert_links, whole_answers
from areopage.ledger.write.evaluation_rows import BLANK, WHOLE_EVALUATIONS, evaluations_of
from areopage.ledger.write.judgments import whole_judgments
from areopage.ledger.write.traces import note_changes, whole_decisions

ERASED = "[erased]"
"""What an alert about an erased answer says."""
PORTION = 500
"""Answers that `erase_before` erases in one transaction: others who write wait no longer than it takes."""
MERGE_PAGES = 500
"""How many pages of the index of words one step of `wipe` writes: some tens of milliseconds."""
PAUSE = 0.02
"""Seconds between two steps: others who want to write wait for a gap, and would seldom meet one that is shorter."""
SOON = 0.2
"""Seconds that `empty_log` waits at most where it is asked to be soon done."""


class Erasure(Store):
    """Erases the texts of answers from the tables, and then from the file."""

    def erase(self, ids: Sequence[str], *, and_wipe: bool = True) -> int:
        """Erase the texts of answers in one transaction; returns how many had texts.

        With them go the texts of the cases of runs that they answer, the notes of labels, the text of a release, items of the
        review queue, the texts of alerts, and what judges wrote; judgments that another answer shares stay until that one goes.
        An answer that waits to be evaluated is not evaluated any more; a held answer that waits for people is refused. With a
        turn of one of the benchmark's conversations all turns of conversations with the same target and beginning are erased.
        `and_wipe` overwrites the bytes too, before this returns; see `wipe`.
        """
        with self._ledger.exclusive() as connection:
            named = _with_other_turns(connection, [storable(id) for id in ids])
            erased = sum(_erase_portion(connection, part) for part in chunks(named))
        if erased and and_wipe:
            self.wipe()
        return erased

    def erase_before(self, moment: datetime) -> int:
        """Erase answers received before a moment, but for those of benchmark runs, in portions; returns how many.

        Judgments of the gate from before that belong to no answer, since a process died in between, go too.
        """
        columns, erased = answers.c, 0
        query = select(columns.id, columns.received_at, columns.number)
        query = query.join(answer_texts, answer_texts.c.answer == columns.number)
        query = query.where(columns.received_at < naive(moment), columns.origin != "bench")
        query = query.order_by(columns.received_at, columns.number).limit(PORTION)
        beyond = tuple_(columns.received_at, columns.number)
        last = (datetime.min, 0)
        while rows := self._ledger.rows(query.where(beyond > tuple_(*last))):
            erased += self.erase([row.id for row in rows], and_wipe=False)
            last = (rows[-1].received_at, rows[-1].number)
        if self._remove_unlinked(moment) or erased:
            self.wipe()
        return erased

    def erase_late(self, id: str, run_id: str, keys: Sequence[str]) -> None:
        """Erase a panel's judgments made while their answer was erased."""
        with self._ledger.exclusive() as connection:
            number = connection.execute(select(answers.c.number).where(answers.c.id == storable(id), ~HAS_TEXTS)).scalar()
            if number is not None:
                insert_links(connection, [Link(number, run_id, key) for key in keys])
                _blank_judgments(connection, [number])
        if number is not None:
            self.wipe()

    def wipe(self) -> None:
        """Overwrite remains of erased texts.

        SQLite: rows were overwritten with zeros as they were deleted (secure_delete). Two more places held their texts. The index
        of words only marks what is deleted: it is merged into one part here, in short steps that let others write in between
        (some seconds for a million answers, next to nothing for a thousand). The log (`-wal`) holds pages as they were before: it
        is emptied, unless others read for longer than the database waits (30 s); then it is at a later checkpoint. Rows that
        moved to another page may have left a copy in the unused space of the first: `compact` writes the file anew. Backups, and
        blocks that the file system gave back, are out of reach.

        PostgreSQL: deleted rows are gone for every query at once; their bytes stay in dead rows until autovacuum and in the
        write-ahead log until it is recycled, both by the server's own settings.
        """
        if not self._ledger.is_sqlite:
            return
        with self._ledger.reading() as connection:
            _merge(connection, -MERGE_PAGES)  # negative: from now on all parts are to become one
            while _merge(connection, MERGE_PAGES):
                time.sleep(PAUSE)
        self.empty_log()

    def compact(self) -> None:
        """Write a SQLite file anew, so that no unused space holds a copy of an erased text; nothing is done in PostgreSQL.

        Stop the processes that use the file first: their writes may fail meanwhile. The file needs its own size again in free
        space.
        """
        if not self._ledger.is_sqlite:
            return
        with self._ledger.reading() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM")
        self.empty_log()

    def empty_log(self, *, soon: bool = False) -> bool:
        """Empty the log (`-wal`) of a SQLite file: it holds pages as they were before texts were reduced or erased.

        Returns whether it is empty. `soon` waits but a moment for those who read or write, else it waits as long as the database.
        """
        if not self._ledger.is_sqlite:
            return True
        with self._ledger.reading() as connection:
            usual = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
            if soon:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={SOON * 1000:.0f}").fetchall()
            try:
                (busy, *_) = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={usual}").fetchall()
        return not busy

    def _remove_unlinked(self, moment: datetime) -> int:
        """Remove judgments of the gate's panels before a moment that belong to no answer; returns how many."""
        owned = exists().where(answer_judgments.c.key == judgments.c.key)
        query = select(judgments.c.id, judgments.c.created_at, owned.label("owned")).order_by(judgments.c.id)
        ids: list[int] = []
        for run in self._ledger.values(select(runs.c.id).where(runs.c.kind == "gate")):
            with self._ledger.reading() as connection:  # in the order they came, up to there
                streamed = query.where(judgments.c.run_id == run).execution_options(yield_per=PORTION)
                with connection.execute(streamed) as rows:
                    before = takewhile(lambda row: row.created_at < naive(moment), rows)
                    ids += [row.id for row in before if not row.owned]
        for part in chunks(ids):
            with self._ledger.writing() as connection:
                seal(connection, "removed", "judgments", whole_judgments(connection, part))
                connection.execute(delete(verdicts).where(verdicts.c.judgment_id.in_(part)))
                connection.execute(delete(judgments).where(judgments.c.id.in_(part)))
        return len(ids)


def _blank_judgments(connection: Connection, numbers: Sequence[int]) -> None:
    """Erase judges' texts on answers without texts (by number), and replace the keys.

    Judgments are kept if an answer with texts also links to them, or if a benchmark run made them.
    """
    links = select(answer_judgments.c.key).where(answer_judgments.c.answer.in_(numbers)).distinct()
    for part in chunks(list(connection.execute(links).scalars())):
        sharing = select(answer_judgments.c.key).join(answer_texts, answer_texts.c.answer == answer_judgments.c.answer)
        shared = set(connection.execute(sharing.where(answer_judgments.c.key.in_(part))).scalars())
        _blank_keys(connection, [key for key in part if key not in shared])


def _blank_keys(connection: Connection, keys: Sequence[str]) -> None:
    linked = answer_judgments.join(answers, answers.c.number == answer_judgments.c.answer)
    of_bench = select(answer_judgments.c.key).select_from(linked)
    of_bench = of_bench.where(answer_judgments.c.key == judgments.c.key, answers.c.origin == "bench")
    query = select(judgments.c.id, judgments.c.key).join(runs, runs.c.id == judgments.c.run_id)
    query = query.where(judgments.c.key.in_(keys), or_(runs.c.kind != "bench", of_bench.exists()))
    rows = connection.execute(query.order_by(judgments.c.id).with_for_update(of=judgments)).all()
    if not rows:
        return
    new = {row.key: f"erased-{secrets.token_hex(16)}" for row in rows}
    change = update(judgments).where(judgments.c.id == bindparam("number")).values(raw_text="", repair_text="", stored="none")
    connection.execute(change.values(key=bindparam("new")), [{"number": row.id, "new": new[row.key]} for row in rows])
    for part in chunks([row.id for row in rows]):
        said = update(verdicts).where(verdicts.c.judgment_id.in_(part))
        connection.execute(said.values(explanation="", evidence="[]", reason=""))
    seal(connection, "erased", "judgments", whole_judgments(connection, [row.id for row in rows]))
    relink = update(answer_judgments).where(answer_judgments.c.key == bindparam("old")).values(key=bindparam("new"))
    relinked = select(answer_judgments).where(answer_judgments.c.key.in_(new))
    seal(connection, "removed", "answer_judgments", connection.execute(relinked).all())
    connection.execute(relink, [{"old": key, "new": new[key]} for key in sorted(new)])
    again = select(answer_judgments).where(answer_judgments.c.key.in_(new.values()))
    seal(connection, "added", "answer_judgments", connection.execute(again).all())


def _erase_portion(connection: Connection, ids: Sequence[str]) -> int:
    keys = keys_of(connection, ids)
    lock_keys(connection, keys)  # before the rows, as settling does
    query = select(answers.c.number, answers.c.id).where(answers.c.id.in_(ids), HAS_TEXTS).order_by(answers.c.number)
    rows = connection.execute(query.with_for_update(of=answers, key_share=True)).all()
    numbers, erased_ids = [row.number for row in rows], [row.id for row in rows]
    if not rows:
        return 0
    of_answers = evaluations.c.answer.in_(numbers)
    connection.execute(select(evaluations.c.number).where(of_answers).order_by(evaluations.c.number).with_for_update()).all()
    connection.execute(delete(answer_texts).where(answer_texts.c.answer.in_(numbers)))
    blank_cases(connection, numbers)
    connection.execute(update(answers).where(answers.c.number.in_(numbers)).values(key="", prompt_key="", reason=""))
    connection.execute(update(decisions).where(decisions.c.answer.in_(numbers)).values(held_key="", text_key=""))
    connection.execute(update(evaluations).where(of_answers).values(**BLANK))
    connection.execute(
        update(evaluations).where(of_answers, *not_by_index([evaluations.c.state == "waiting"])).values(state="erased")
    )
    _blank_judgments(connection, numbers)
    monitored = not_by_index([evaluations.c.state == "evaluated", evaluations.c.origin == "monitor"])
    indexed = evaluations_of(connection, connection.execute(WHOLE_EVALUATIONS.where(of_answers, *monitored)).all())
    if indexed:  # what lists are filtered by stays in the index of words
        remove_words(connection, [evaluation.number for evaluation in indexed])
        add_words(connection, {evaluation.number: index_words(evaluation) for evaluation in indexed})
    connection.execute(update(labels).where(labels.c.answer_id.in_(erased_ids)).values(note="", correction="", text_key=""))
    remove_items(connection, erased_ids)
    _refuse(connection, erased_ids)
    about, over = alerts.c.answer_id.in_(erased_ids), {"state": "closed", "closed_at": naive(datetime.now(UTC))}
    connection.execute(update(alerts).where(about, alerts.c.delivery == "pending").values(delivery="none"))
    connection.execute(update(alerts).where(about, alerts.c.state == "open").values(**over))
    connection.execute(update(alerts).where(about).values(title=ERASED, body=ERASED, delivery_error=""))
    note_changes(connection, numbers)
    queue_equals(connection, keys)  # an item that is gone may have stood for others that wait
    # judgments are sealed as they are blanked
    seal(connection, "erased", "answers", whole_answers(connection, numbers))
    seal(connection, "erased", "decisions", whole_decisions(connection, numbers))
    for name, table in (("labels", labels), ("releases", releases)):
        seal(connection, "erased", name, connection.execute(select(table).where(table.c.answer_id.in_(erased_ids))).all())
    return len(rows)


def _with_other_turns(connection: Connection, ids: Sequence[str]) -> list[str]:
    """The ids, and those of the other turns of the benchmark's conversations among them."""
    of_bench = select(answers.c.id, answer_texts.c.session).join(answer_texts, answer_texts.c.answer == answers.c.number)
    of_bench = of_bench.where(answers.c.origin == "bench", answer_texts.c.session != "")
    sessions = {row.session for row in rows_in(connection, of_bench, answers.c.id, ids)}
    turns = rows_in(connection, of_bench, answer_texts.c.session, sorted(sessions))
    return list(dict.fromkeys([*ids, *(row.id for row in turns)]))


def _refuse(connection: Connection, ids: Sequence[str]) -> None:
    """Refuse held answers that wait: nothing is left that could be released. Of settled ones the text goes."""
    query = select(answers.c.id).join(decisions, decisions.c.answer == answers.c.number).where(answers.c.id.in_(ids), is_held())
    now = naive(datetime.now(UTC))
    settled = set(connection.execute(select(releases.c.answer_id).where(releases.c.answer_id.in_(ids))).scalars())
    waiting = [id for id in connection.execute(query).scalars() if id not in settled]
    rows: list[RowValues] = [{"answer_id": id, "state": "refused", "text": "", "rater": "", "at": now} for id in waiting]
    insert_missing(connection, releases, rows)
    seal(connection, "added", "releases", rows)
    connection.execute(update(releases).where(releases.c.answer_id.in_(ids)).values(text=""))


def _merge(connection: Connection, pages: int) -> bool:
    """Merge some pages of the index of words in a transaction of their own; whether there was anything to merge."""
    count = text("SELECT total_changes()")
    before = connection.execute(count).scalar_one()
    statement = f"INSERT INTO {SEARCH_TABLE} ({SEARCH_TABLE}, rank) VALUES ('merge', :pages)"  # noqa: S608
    connection.execute(text(statement), {"pages": pages})
    after = connection.execute(count).scalar_one()
    connection.commit()
    return bool(after - before >= 2)
