"""The review queue and people's labels."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, and_, exists, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from areopage.ledger.connection import storage_errors
from areopage.ledger.exchange_rows import HELD, still_asks
from areopage.ledger.monitor_tables import evaluation_judgments, quality_criteria, quality_scores, submissions
from areopage.ledger.people_tables import labels, review_items
from areopage.ledger.quality_records import Label, ReviewItem
from areopage.ledger.rows import aware, chunks, naive, storable
from areopage.ledger.store import Ledger
from areopage.ledger.tables import judgments, verdicts

ROWS_PER_INSERT = 200


class ReviewQueue:
    """The table `review_items`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, items: Sequence[ReviewItem]) -> int:
        """Queue answers; one that is in the queue already (open or done) stays as it is. Returns how many are new."""
        added = 0
        dialect = postgresql if self._ledger.engine.dialect.name == "postgresql" else sqlite
        rows = [item_row(item) for item in items]
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            for start in range(0, len(rows), ROWS_PER_INSERT):
                statement = dialect.insert(review_items).values(rows[start : start + ROWS_PER_INSERT])
                new = statement.on_conflict_do_nothing(index_elements=["submission_id"]).returning(review_items.c.number)
                added += len(connection.execute(new).all())
        return added

    def open_items(self, rater: str | None = None, *, limit: int = 50, after: int = 0) -> Sequence[ReviewItem]:
        """Open items in order of arrival; with a rater, only those that he has not labelled yet, or whose answer waits."""
        query = select(review_items).where(review_items.c.state == "open", review_items.c.number > after)
        if rater is not None:
            own = and_(labels.c.submission_id == review_items.c.submission_id, labels.c.rater == storable(rater))
            asks = still_asks(review_items.c.submission_id, rater)
            held = review_items.c.why == HELD
            query = query.where(or_(and_(held, asks), and_(~held, ~exists().where(own))))
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return [item_of(row) for row in connection.execute(query.order_by(review_items.c.number).limit(limit))]

    def item(self, submission_id: str) -> ReviewItem | None:
        """The item of an answer."""
        return self.items([submission_id]).get(submission_id)

    def items(self, submission_ids: Sequence[str]) -> dict[str, ReviewItem]:
        """The items of answers, by the answer's id; those that are not in the queue are left out."""
        found: dict[str, ReviewItem] = {}
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in submission_ids]):
                rows = connection.execute(select(review_items).where(review_items.c.submission_id.in_(part)))
                found |= {row.submission_id: item_of(row) for row in rows}
        return found

    def count_open(self) -> int:
        """How many are open."""
        query = select(func.count()).select_from(review_items).where(review_items.c.state == "open")
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            return int(connection.execute(query).scalar_one())


class Labels:
    """The table `labels`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, labels: Sequence[Label]) -> None:
        """Append labels, and set review items done that have as many raters as wanted. All of them or none."""
        if not labels:
            return
        with storage_errors(self._ledger.place), self._ledger.engine.begin() as connection:
            append_labels(connection, labels)
            for part in chunks([storable(label.submission_id) for label in labels]):
                set_done(connection, part)

    def of(self, submission_id: str) -> Sequence[Label]:
        """The labels of an answer in the order they came, replaced ones too."""
        query = select(labels).where(labels.c.submission_id == storable(submission_id)).order_by(labels.c.number)
        return list(self._labels(query))

    def current(self, since: datetime | None = None) -> Sequence[Label]:
        """The label that counts for each answer, rater and criterion: the latest.

        Args:
            since: only those given at or after this moment.
        """
        latest = select(func.max(labels.c.number)).group_by(labels.c.submission_id, labels.c.criterion, labels.c.rater)
        query = select(labels).where(labels.c.number.in_(latest)).order_by(labels.c.number)
        return list(self._labels(query.where(labels.c.created_at >= naive(since)) if since else query))

    def current_of(self, submission_ids: Sequence[str]) -> dict[tuple[str, str, str], Label]:
        """The labels that count for some answers: (answer, rater, criterion) -> label."""
        found: dict[tuple[str, str, str], Label] = {}
        for part in chunks([storable(id) for id in submission_ids]):
            query = select(labels).where(labels.c.submission_id.in_(part)).order_by(labels.c.number)
            found |= {(label.submission_id, label.rater, label.criterion): label for label in self._labels(query)}
        return found

    def known_answers(self, submission_ids: Sequence[str]) -> set[str]:
        """Which of these ids are answers that the ledger holds."""
        known: set[str] = set()
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in submission_ids]):
                known.update(connection.execute(select(submissions.c.id).where(submissions.c.id.in_(part))).scalars())
        return known

    def judge_scores(self, submission_ids: Sequence[str]) -> dict[str, dict[str, float]]:
        """What the jury gave these answers: id -> criterion -> score; "" is the global score; None scores are left out."""
        overall = quality_scores.c
        wanted = select(overall.id, quality_criteria.c.criterion, quality_criteria.c.score).join(
            quality_scores, quality_criteria.c.quality_number == overall.number
        )
        found: dict[str, dict[str, float]] = {}
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in submission_ids]):
                for row in connection.execute(select(overall.id, overall.score_global).where(overall.id.in_(part))):
                    found[row.id] = {} if row.score_global is None else {"": row.score_global}
                scored = wanted.where(overall.id.in_(part), quality_criteria.c.score.is_not(None))
                for one in connection.execute(scored):
                    found[one.id][one.criterion] = one.score
        return found

    def one_judge_scores(self, submission_ids: Sequence[str], judge: str) -> dict[str, dict[str, float]]:
        """What one judge of the jury gave these answers: id -> criterion (its id with the version) -> mean of its passes.

        Scores are on the criterion's own scale. Of several attempts at one call, the latest that scored counts.
        """
        query = (
            select(evaluation_judgments.c.submission_id, judgments.c.key, verdicts.c.criterion, verdicts.c.score)
            .join(judgments, judgments.c.key == evaluation_judgments.c.key)
            .join(verdicts, verdicts.c.judgment_id == judgments.c.id)
            .where(judgments.c.judge == judge, verdicts.c.score.is_not(None))
            .order_by(judgments.c.id)
        )
        latest: dict[tuple[str, str], dict[str, float]] = {}
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in submission_ids]):
                for row in connection.execute(query.where(evaluation_judgments.c.submission_id.in_(part))):
                    latest.setdefault((row.submission_id, row.criterion), {})[row.key] = row.score
        found: dict[str, dict[str, float]] = {}
        for (id, criterion), passes in latest.items():
            found.setdefault(id, {})[criterion] = sum(passes.values()) / len(passes)
        return found

    def judges_of(self, submission_ids: Sequence[str]) -> list[str]:
        """The names of the judges that judged any of these answers, in order."""
        query = select(judgments.c.judge).join(evaluation_judgments, judgments.c.key == evaluation_judgments.c.key).distinct()
        names: set[str] = set()
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for part in chunks([storable(id) for id in submission_ids]):
                names.update(connection.execute(query.where(evaluation_judgments.c.submission_id.in_(part))).scalars())
        return sorted(names)

    def _labels(self, query: Select[Any]) -> Iterator[Label]:
        with storage_errors(self._ledger.place), self._ledger.engine.connect() as connection:
            for row in connection.execute(query).all():
                yield label_of(row)


def append_labels(connection: Connection, given: Sequence[Label]) -> None:
    """Append rows to `labels`."""
    connection.execute(insert(labels), [label_row(label) for label in given])


def set_done(connection: Connection, submission_ids: Sequence[str]) -> None:
    """Set review items done that have as many raters as wanted.

    The items are locked before their raters are counted: of two raters who label at once, the second then sees both.
    """
    labelled = and_(review_items.c.submission_id.in_(submission_ids), review_items.c.why != HELD)
    locked = select(review_items.c.submission_id).where(labelled)
    ids = list(connection.execute(locked.order_by(review_items.c.number).with_for_update()).scalars())
    raters = select(func.count(labels.c.rater.distinct())).where(labels.c.submission_id == review_items.c.submission_id)
    complete = raters.scalar_subquery() >= review_items.c.wanted
    finished = update(review_items).where(review_items.c.submission_id.in_(ids), review_items.c.state == "open", complete)
    connection.execute(finished.values(state="done"))


def label_row(label: Label) -> dict[str, Any]:
    """A label as a row, its texts as every database takes them."""
    fields = msgspec.structs.asdict(label)
    texts = {name: storable(value) for name, value in fields.items() if isinstance(value, str)}
    return fields | texts | {"created_at": naive(label.created_at)}


def item_row(item: ReviewItem) -> dict[str, Any]:
    """An item as a row; its number is the database's."""
    return {
        "submission_id": storable(item.submission_id),
        "why": item.why,
        "created_at": naive(item.created_at),
        "state": item.state,
        "wanted": item.wanted,
    }


def item_of(row: Row[Any]) -> ReviewItem:
    """A row as an item."""
    return ReviewItem(**dict(row._mapping) | {"created_at": aware(row.created_at)})


def label_of(row: Row[Any]) -> Label:
    """A row as a label."""
    fields = {name: value for name, value in row._mapping.items() if name != "number"}
    return Label(**fields | {"created_at": aware(row.created_at)})
