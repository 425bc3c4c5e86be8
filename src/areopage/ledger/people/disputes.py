"""Where raters of one answer disagree, labels that decide between them, and labels that are taken back."""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, case, func, select, true, update

from areopage.errors import ReviewConflict, UserError, counted
from areopage.ledger.people.labels import OF_RATERS, VALID, insert_labels, set_open
from areopage.ledger.tables.answer_tables import answers
from areopage.ledger.tables.chain import seal
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Label
from areopage.ledger.tables.rows import chunks, naive, record_of, storable
from areopage.ledger.tables.schema import labels, review_items

# of each rater the latest blind label, else the latest
_COUNTED = (
    select(func.coalesce(func.max(case((labels.c.blind, labels.c.number))), func.max(labels.c.number)))
    .where(OF_RATERS)
    .group_by(labels.c.answer_id, labels.c.criterion, labels.c.rater)
)


class LabelSpread(Struct, frozen=True, kw_only=True):
    """The labels of several raters on one criterion of an answer.

    Args:
        run_id: of the answer's review item; "" for answers of no run.
        complete: whether as many raters have labelled the answer as its review item wants.
        low, high: the least and the greatest score.
        decided: whether a label decides between them.
    """

    answer_id: str
    run_id: str
    criterion: str
    raters: int
    complete: bool
    low: float
    high: float
    decided: bool


class Disputes(Store):
    """Labels by several raters, over the tables `labels` and `review_items`."""

    def spreads(self, answer_id: str | None = None) -> list[LabelSpread]:
        """Return how far apart raters are on each criterion that several have labelled (of an answer; None for all)."""
        about = true() if answer_id is None else labels.c.answer_id == storable(answer_id)
        with self._ledger.reading() as connection:
            deciding = select(labels.c.answer_id, labels.c.criterion).where(VALID, labels.c.decides, about)
            decided = set(map(tuple, connection.execute(deciding)))
            item = select(labels.c.answer_id, func.max(review_items.c.run_id), func.max(review_items.c.wanted)).where(about)
            item = item.join(review_items, review_items.c.answer_id == labels.c.answer_id).group_by(labels.c.answer_id)
            items = {id: (run_id, wanted) for id, run_id, wanted in connection.execute(item)}
            people = select(labels.c.answer_id, func.count(labels.c.rater.distinct())).where(OF_RATERS, about)
            raters = dict(map(tuple, connection.execute(people.group_by(labels.c.answer_id))))
            rows = connection.execute(_spread_query(about)).all()
        return [
            LabelSpread(
                answer_id=row.answer_id,
                run_id=items.get(row.answer_id, ("", 1))[0],
                criterion=row.criterion,
                raters=row.raters,
                complete=raters[row.answer_id] >= items.get(row.answer_id, ("", 1))[1],
                low=row.low,
                high=row.high,
                decided=(row.answer_id, row.criterion) in decided,
            )
            for row in rows
        ]

    def counted_of(self, answer_ids: Sequence[str]) -> list[Label]:
        """Return the labels of raters that count on answers: of each the latest blind one, else the latest."""
        said: list[Label] = []
        for part in chunks([storable(id) for id in answer_ids]):
            numbers = _COUNTED.where(labels.c.answer_id.in_(part))
            said += self._ledger.records(Label, select(labels).where(labels.c.number.in_(numbers)).order_by(labels.c.number))
        return said

    def answers_by_rater(self) -> dict[str, int]:
        """Count the answers of the review queue that each rater has labelled, the most first."""
        count = func.count(labels.c.answer_id.distinct())
        query = select(labels.c.rater, count).where(OF_RATERS, labels.c.answer_id.in_(select(review_items.c.answer_id)))
        return dict(map(tuple, self._ledger.rows(query.group_by(labels.c.rater).order_by(count.desc(), labels.c.rater))))

    def items_by_state(self) -> dict[str, int]:
        """Count the items of the review queue by their state."""
        query = select(review_items.c.state, func.count()).group_by(review_items.c.state)
        return dict(map(tuple, self._ledger.rows(query)))

    def decide(self, new: Sequence[Label]) -> None:
        """Append labels of one answer that decide between its raters, all or none.

        Raises:
            UserError: raters do not disagree on a criterion, or the answer waits for more labels.
            ReviewConflict: another person has decided on one.
        """
        id = storable(new[0].answer_id)
        with self._ledger.exclusive() as connection:
            _lock(connection, id)
            given = _labels_of(connection, select(labels).where(labels.c.answer_id == id, VALID))
            of_raters = select(labels).where(labels.c.number.in_(_COUNTED.where(labels.c.answer_id == id)))
            said = _labels_of(connection, of_raters)
            wanted = connection.execute(select(func.max(review_items.c.wanted)).where(review_items.c.answer_id == id)).scalar()
            missing = (wanted or 0) - len({old.rater for old in said})
            if missing > 0:
                raise UserError(f"the answer {new[0].answer_id!r} waits for {counted(missing, 'more label')}: decide afterwards")
            for label in new:
                name = label.criterion or "global"
                other = next((old for old in given if old.decides and old.criterion == label.criterion), None)
                if other is not None and other.rater != label.rater:
                    raise ReviewConflict(f"{other.rater} has decided on {name} of the answer {label.answer_id!r} already")
                if len({old.score for old in said if old.criterion == label.criterion}) < 2:
                    raise UserError(f"{name}: no two raters of the answer {label.answer_id!r} disagree on it")
            insert_labels(connection, new)

    def last_by(self, rater: str) -> Label | None:
        """Return what a rater said last, where it can be undone: neither undone already nor imported."""
        query = select(labels).where(labels.c.rater == storable(rater)).order_by(labels.c.number.desc()).limit(1)
        last = next(iter(self._ledger.records(Label, query)), None)
        return last if last is not None and last.state == "given" and last.origin != "import" else None

    def undo_last(self, rater: str, sources: Sequence[str] = ()) -> tuple[Label, ...]:
        """Undo what a rater said last: the labels of one answer that were given together, or a decision. Returns them.

        They stay in the ledger as undone. The rater's labels before count again; without any, the answer waits again.

        Args:
            sources: only a label of an answer of these sources is undone; () for all.

        Raises:
            UserError: there is nothing to undo: no label, the last one is undone, or was imported.
            ReviewConflict: another person has decided between this label and those of others.
        """
        by_rater = select(labels).where(labels.c.rater == storable(rater)).order_by(labels.c.number.desc()).limit(1)
        with self._ledger.exclusive() as connection:
            last = next(iter(_labels_of(connection, by_rater)), None)
            source = select(answers.c.source).where(answers.c.id == ("" if last is None else storable(last.answer_id)))
            if last is None or (sources and connection.execute(source).scalar() not in sources):
                raise UserError(f"nothing to undo: no label by {rater!r}")
            _lock(connection, last.answer_id)
            together = [labels.c.rater == storable(rater), labels.c.answer_id == last.answer_id]
            together += [labels.c.created_at == naive(last.created_at), labels.c.decides == last.decides]
            given = connection.execute(select(labels.c.number, labels.c.criterion).where(*together, VALID)).all()
            if not given:
                raise UserError(f"nothing to undo: the last label by {rater!r} is undone already; one step can be undone")
            if last.origin == "import":
                raise UserError(f"nothing to undo: the last label by {rater!r} was imported; import a corrected file")
            deciding = select(labels).where(labels.c.answer_id == last.answer_id, labels.c.decides, VALID)
            deciding = deciding.where(labels.c.criterion.in_([row.criterion for row in given]), labels.c.number > given[0].number)
            decision = next(iter(_labels_of(connection, deciding)), None)
            if decision is not None and not last.decides:
                raise ReviewConflict(
                    f"{decision.rater} has decided between this label and others of the answer {last.answer_id!r}: "
                    "the decision must be undone first"
                )
            change = update(labels).where(labels.c.number.in_([row.number for row in given])).values(state="undone")
            undone = connection.execute(change.returning(*labels.c)).all()
            seal(connection, "reviewed", "labels", undone)
            set_open(connection, last.answer_id)
            return tuple(record_of(Label, row) for row in undone)


def _spread_query(about: ColumnElement[bool]) -> Select[tuple[str, str, int, float, float]]:
    place = (labels.c.answer_id, labels.c.criterion)
    count, low, high = func.count().label("raters"), func.min(labels.c.score), func.max(labels.c.score)
    query = select(*place, count, low.label("low"), high.label("high")).where(labels.c.number.in_(_COUNTED.where(about)))
    return query.group_by(*place).having(func.count() > 1).order_by(func.min(labels.c.number))


def _labels_of(connection: Connection, query: Select[tuple[object, ...]]) -> list[Label]:
    return [record_of(Label, row) for row in connection.execute(query)]


def _lock(connection: Connection, answer_id: str) -> None:
    """Lock an answer, so that a decision on its labels and an undo of one come one after the other."""
    connection.execute(select(answers.c.number).where(answers.c.id == storable(answer_id)).with_for_update())
