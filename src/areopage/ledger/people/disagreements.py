"""Where raters of one answer disagree, labels that decide between them, and labels that are taken back."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Select, Subquery, case, func, or_, select, true, update

from areopage.errors import ReviewConflict, UserError, counted
from areopage.ledger.people.labels import MISSING, OF_RATERS, VALID, insert_labels, set_open
from areopage.ledger.tables.answer_tables import answers
from areopage.ledger.tables.chain import seal
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import GROUNDING, Label
from areopage.ledger.tables.rows import chunks, naive, record_of, storable
from areopage.ledger.tables.schema import labels, review_items

# of each rater the latest blind label, else the latest
_COUNTED = (
    select(func.coalesce(func.max(case((labels.c.blind, labels.c.number))), func.max(labels.c.number)))
    .where(OF_RATERS)
    .group_by(labels.c.answer_id, labels.c.criterion, labels.c.rater)
)
_WAITING = select(review_items.c.answer_id).where(MISSING > 0)
_ROUNDING = 1e-9

_AGREE, _ADJUDICATED, _OPEN = range(3)
"""States of a criterion that several raters have labelled; an answer's is the greatest of its criteria."""


class Disagreements(Store):
    """Labels by several raters, over the tables `labels` and `review_items`.

    Raters disagree on a criterion if their scores lie some points apart, by the run of the answer ("" for answers of no run); on
    grounding if they differ. Answers count that have as many raters as their review items want.
    """

    def counts(self, points: Mapping[str, float]) -> tuple[int, int, int]:
        """Count the answers on which several raters agree, whose disagreements are adjudicated, and with open disagreements."""
        place = _places(points)
        by_answer = select(func.max(place.c.state).label("state")).group_by(place.c.answer_id).subquery()
        counts = dict(map(tuple, self._ledger.rows(select(by_answer.c.state, func.count()).group_by(by_answer.c.state))))
        return counts.get(_AGREE, 0), counts.get(_ADJUDICATED, 0), counts.get(_OPEN, 0)

    def open(self, points: Mapping[str, float], answer_id: str | None = None) -> dict[tuple[str, str], list[str]]:
        """Return the criteria with an open disagreement by answer and its run, in order of their labels; None: of all answers."""
        place = _places(points, answer_id)
        by_answer: dict[tuple[str, str], list[str]] = {}
        for row in self._ledger.rows(select(place).where(place.c.state == _OPEN).order_by(place.c.first)):
            by_answer.setdefault((row.answer_id, row.run_id), []).append(row.criterion)
        return by_answer

    def counted_of(self, answer_ids: Sequence[str]) -> list[Label]:
        """Return the labels of raters that count on answers: of each the latest blind one, else the latest."""
        said: list[Label] = []
        for part in chunks([storable(id) for id in answer_ids]):
            numbers = _COUNTED.where(labels.c.answer_id.in_(part))
            said += self._ledger.records(Label, select(labels).where(labels.c.number.in_(numbers)).order_by(labels.c.number))
        return said

    def is_waiting(self, answer_id: str) -> bool:
        """Whether an answer of the queue has fewer raters than are wanted."""
        return bool(self._ledger.rows(_WAITING.where(review_items.c.answer_id == storable(answer_id))))

    def runs(self, answer_id: str | None = None) -> list[str]:
        """Return the benchmark runs with items in the queue (of an answer; None for all)."""
        about = true() if answer_id is None else review_items.c.answer_id == storable(answer_id)
        return self._ledger.values(select(review_items.c.run_id).where(about, review_items.c.run_id != "").distinct())

    def answers_by_rater(self) -> dict[str, int]:
        """Count the answers of the review queue that each rater has labelled, the most first."""
        count = func.count(labels.c.answer_id.distinct())
        query = select(labels.c.rater, count).where(OF_RATERS, labels.c.answer_id.in_(select(review_items.c.answer_id)))
        return dict(map(tuple, self._ledger.rows(query.group_by(labels.c.rater).order_by(count.desc(), labels.c.rater))))

    def items_by_state(self) -> dict[str, int]:
        """Count the items of the review queue by their state."""
        query = select(review_items.c.state, func.count()).group_by(review_items.c.state)
        return dict(map(tuple, self._ledger.rows(query)))

    def adjudicate(self, new: Sequence[Label]) -> None:
        """Append labels of one answer that decide between its raters, all or none.

        Raises:
            UserError: raters do not disagree on a criterion, or the answer waits for more labels.
            ReviewConflict: another person has decided on one.
        """
        id = storable(new[0].answer_id)
        counting = or_(labels.c.decides, labels.c.number.in_(_COUNTED.where(labels.c.answer_id == id)))
        with self._ledger.exclusive() as connection:
            _lock(connection, id)
            missing = connection.execute(select(func.max(MISSING)).where(review_items.c.answer_id == id)).scalar() or 0
            if missing > 0:
                raise UserError(f"the answer {new[0].answer_id!r} waits for {counted(missing, 'more label')}: decide afterwards")
            given = _labels_of(connection, select(labels).where(labels.c.answer_id == id, VALID, counting))
            for label in new:
                name, about = label.criterion or "global", [old for old in given if old.criterion == label.criterion]
                other = next((old.rater for old in about if old.decides and old.rater != label.rater), None)
                if other is not None:
                    raise ReviewConflict(f"{other} has decided on {name} of the answer {label.answer_id!r} already")
                if len({old.score for old in about if not old.decides}) < 2:
                    raise UserError(f"{name}: no two raters of the answer {label.answer_id!r} disagree on it")
            insert_labels(connection, new)

    def last_by(self, rater: str) -> Label | None:
        """Return what a rater said last, where it can be undone: neither undone already nor imported."""
        with self._ledger.reading() as connection:
            last = _last_by(connection, rater)
        return last if last is not None and last.state == "given" and last.origin != "import" else None

    def undo_last(self, rater: str, sources: Sequence[str] = ()) -> tuple[Label, ...]:
        """Undo what a rater said last: the labels of one answer that were given together, or an adjudication. Returns them.

        They stay in the ledger as undone. The rater's labels before count again; without any, the answer waits again.

        Args:
            sources: only a label of an answer of these sources is undone; () for all.

        Raises:
            UserError: there is nothing to undo: no label, the last one is undone, or was imported.
            ReviewConflict: another person has decided between this label and those of others.
        """
        with self._ledger.exclusive() as connection:
            last = _last_by(connection, rater)
            source = select(answers.c.source).where(answers.c.id == ("" if last is None else storable(last.answer_id)))
            if last is None or (sources and connection.execute(source).scalar() not in sources):
                raise UserError(f"nothing to undo: no label by {rater!r}")
            _lock(connection, last.answer_id)
            together = [labels.c.rater == storable(rater), labels.c.answer_id == last.answer_id, VALID]
            together += [labels.c.created_at == naive(last.created_at), labels.c.decides == last.decides]
            change = update(labels).where(*together).values(state="undone").returning(*labels.c)
            undone = connection.execute(change).all()
            if not undone:
                raise UserError(f"nothing to undo: the last label by {rater!r} is undone already; one step can be undone")
            if last.origin == "import":
                raise UserError(f"nothing to undo: the last label by {rater!r} was imported; import a corrected file")
            later = [labels.c.answer_id == last.answer_id, labels.c.number > min(row.number for row in undone), VALID]
            deciding = select(labels.c.rater).where(
                *later, labels.c.decides, labels.c.criterion.in_([row.criterion for row in undone])
            )
            other = None if last.decides else connection.execute(deciding).scalar()
            if other is not None:
                raise ReviewConflict(
                    f"{other} has decided between this label and others of the answer {last.answer_id!r}: "
                    "the adjudication must be undone first"
                )
            seal(connection, "reviewed", "labels", undone)
            set_open(connection, last.answer_id)
            return tuple(record_of(Label, row) for row in undone)


def _places(points: Mapping[str, float], answer_id: str | None = None) -> Subquery:
    """The criteria of answers that several raters have labelled, with their state."""
    about = true() if answer_id is None else labels.c.answer_id == storable(answer_id)
    item = select(review_items.c.answer_id, func.max(review_items.c.run_id).label("run_id"))
    item_of = item.group_by(review_items.c.answer_id).subquery()
    run_id, by_rater = func.coalesce(func.max(item_of.c.run_id), ""), labels.c.decides.is_(False)
    spread = func.max(labels.c.score).filter(by_rater) - func.min(labels.c.score).filter(by_rater)
    least = case(points, value=run_id, else_=points[""]) - _ROUNDING
    agree = spread <= case((labels.c.criterion == GROUNDING, 0.0), else_=least)
    state = case((agree, _AGREE), (func.count().filter(labels.c.decides) > 0, _ADJUDICATED), else_=_OPEN)
    place = labels.c.answer_id, labels.c.criterion
    query = select(*place, run_id.label("run_id"), state.label("state"), func.min(labels.c.number).label("first"))
    query = query.join(item_of, item_of.c.answer_id == labels.c.answer_id, isouter=True)
    counting = or_(labels.c.decides, labels.c.number.in_(_COUNTED.where(about)))
    query = query.where(about, VALID, counting, labels.c.answer_id.not_in(_WAITING.where(review_items.c.wanted > 2)))
    return query.group_by(*place).having(func.count().filter(by_rater) > 1).subquery()


def _last_by(connection: Connection, rater: str) -> Label | None:
    query = select(labels).where(labels.c.rater == storable(rater)).order_by(labels.c.number.desc()).limit(1)
    return next(iter(_labels_of(connection, query)), None)


def _labels_of(connection: Connection, query: Select[tuple[object, ...]]) -> list[Label]:
    return [record_of(Label, row) for row in connection.execute(query)]


def _lock(connection: Connection, answer_id: str) -> None:
    """Lock an answer, so that an adjudication of its labels and an undo of one come one after the other."""
    connection.execute(select(answers.c.number).where(answers.c.id == storable(answer_id)).with_for_update())
