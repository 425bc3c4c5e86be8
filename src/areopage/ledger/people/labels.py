"""People's labels of answers, the review queue, and sign-offs of runs."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct, structs
from sqlalchemy import ColumnElement, Connection, Update, and_, case, delete, exists, func, or_, select, true, update

from areopage.cases import Document
from areopage.ledger.tables.answer_tables import (
    answer_judgments,
    answers,
    decisions,
    evaluation_scores,
    evaluations,
    judgments,
    releases,
    runs,
    verdicts,
)
from areopage.ledger.tables.chain import append_sealed, seal
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import GROUNDED, GROUNDING, Grounded, Label, ReviewItem, SignOff
from areopage.ledger.tables.rows import (
    chunks,
    insert_into,
    json_text,
    naive,
    outcome_of,
    record_of,
    row_of,
    rows_in,
    storable,
    valid_places,
)
from areopage.ledger.tables.schema import labels, review_items, signoffs
from areopage.ledger.write.answers import prompt_key, text_key
from areopage.scoring import GIVEN_NAMES, PlannedPass

SAMPLE = "sample"
"""Why an answer is in the queue that was drawn at random."""

TEACHING = "teaching"
"""Why an answer is queued whose label tells much about the judges; it is no part of the random sample."""

FIRST = (SAMPLE, "held")
"""Why answers are served first: only the random sample settles how far judges agree with people, and users wait for held ones."""


VALID = labels.c.state == "given"
OF_RATERS = and_(VALID, labels.c.decides.is_(False))
"""The labels of raters, without those that are undone and those that decide."""

_RATERS = select(func.count(labels.c.rater.distinct())).where(labels.c.answer_id == review_items.c.answer_id, OF_RATERS)
MISSING = review_items.c.wanted - _RATERS.correlate(review_items).scalar_subquery()
"""Of a review item the number of labels that it waits for."""

_LATEST = select(func.max(labels.c.number)).where(OF_RATERS).group_by(labels.c.answer_id, labels.c.criterion, labels.c.rater)
_DECIDING = select(func.max(labels.c.number)).where(VALID, labels.c.decides).group_by(labels.c.answer_id, labels.c.criterion)


class OfSuite(Struct, frozen=True, kw_only=True):
    """Items of one suite: those of its benchmark runs; `others`: also those of no run."""

    name: str
    others: bool

    @property
    def items(self) -> ColumnElement[bool]:
        """The condition on review items."""
        of_runs = review_items.c.run_id.in_(select(runs.c.id).where(runs.c.suite == storable(self.name)))
        return or_(of_runs, review_items.c.run_id == "") if self.others else of_runs


class ReviewQueue(Store):
    """The table `review_items`."""

    def add(self, items: Sequence[ReviewItem]) -> int:
        """Queue answers; existing items are kept. Returns how many are new."""
        with self._ledger.writing() as connection:
            return insert_items(connection, items)

    def open_items(
        self, rater: str | None = None, *, limit: int = 50, after: int = 0, suite: "OfSuite | None" = None
    ) -> Sequence[ReviewItem]:
        """Return open items behind a number in order of arrival: first the random sample and held answers, then the others.

        With a rater, only those without this rater's label, or whose answer waits for release.
        """
        turn = case((review_items.c.why.in_(FIRST), 0), else_=1)
        last = select(turn).where(review_items.c.number == after).scalar_subquery()
        beyond = or_(turn > last, and_(turn == last, review_items.c.number > after)) if after else true()
        query = select(review_items).where(review_items.c.state == "open", beyond, suite.items if suite else true())
        if rater is not None:
            by_rater = and_(labels.c.answer_id == review_items.c.answer_id, labels.c.rater == storable(rater), OF_RATERS)
            query = query.where(or_(~exists().where(by_rater), _waits(review_items.c.answer_id)))
        return self._ledger.records(ReviewItem, query.order_by(turn, review_items.c.number).limit(limit))

    def item(self, answer_id: str) -> ReviewItem | None:
        """Return the item of an answer."""
        return self.items([answer_id]).get(answer_id)

    def items(self, answer_ids: Sequence[str], run_id: str | None = None) -> dict[str, ReviewItem]:
        """Return items by answer id, those of a run or of all; answers outside the queue are skipped.

        Of several items of an answer it is an open one, the newest of them.
        """
        query = select(review_items).order_by(review_items.c.state, review_items.c.number)
        query = query if run_id is None else query.where(review_items.c.run_id == run_id)
        rows = self._ledger.rows_in(query, review_items.c.answer_id, answer_ids)
        return {row.answer_id: record_of(ReviewItem, row) for row in rows}

    def draw(self, items: Sequence[ReviewItem]) -> None:
        """Queue a random sample; items of the same run that are queued for another reason count as drawn from now on."""
        with self._ledger.writing() as connection:
            insert_items(connection, items)
            for run_id in {item.run_id for item in items}:
                drawn = [storable(item.answer_id) for item in items if item.run_id == run_id]
                for part in chunks(drawn):
                    same = update(review_items).where(review_items.c.run_id == run_id, review_items.c.answer_id.in_(part))
                    _change_items(connection, same.where(review_items.c.why != SAMPLE).values(why=SAMPLE))

    def count_open(self, suite: "OfSuite | None" = None) -> int:
        """Count the open items, or those of a suite."""
        query = select(func.count()).select_from(review_items)
        query = query.where(review_items.c.state == "open", suite.items if suite else true())
        return int(self._ledger.value(query))

    def open_runs(self) -> dict[str, str]:
        """Return the suites of the benchmark runs with open items, by the run's id; "" by "" where items belong to no run."""
        open_runs = select(review_items.c.run_id, runs.c.suite).distinct().where(review_items.c.state == "open")
        query = open_runs.join(runs, runs.c.id == review_items.c.run_id, isouter=True)
        return {row.run_id: row.suite or "" for row in self._ledger.rows(query)}


class Labels(Store):
    """The table `labels`, and judges' scores of labelled answers."""

    def add(self, new: Sequence[Label]) -> None:
        """Append labels and close completed review items, all or none."""
        if not new:
            return
        with self._ledger.writing() as connection:
            insert_labels(connection, new)
            set_done(connection, [label.answer_id for label in new])

    def of(self, answer_id: str) -> Sequence[Label]:
        """Return all labels of an answer in order, replaced and undone labels included."""
        return self._ledger.records(
            Label, select(labels).where(labels.c.answer_id == storable(answer_id)).order_by(labels.c.number)
        )

    def current(
        self, answer_ids: Sequence[str] | None = None, *, since: datetime | None = None, blind: bool = False
    ) -> list[Label]:
        """Return the latest label of each answer, rater and criterion, and what decides between them; see `counted_labels`.

        Args:
            answer_ids: only those of these answers.
            since: only those that were given at this moment or later.
            blind: only those of raters who had not seen the judges' scores; a later label that is not blind replaces none.
        """
        parts = [None] if answer_ids is None else chunks([storable(id) for id in answer_ids])
        counting: list[Label] = []
        for part in parts:
            conditions = [true() if part is None else labels.c.answer_id.in_(part), labels.c.blind if blind else true()]
            latest = or_(*(labels.c.number.in_(query.where(*conditions)) for query in (_LATEST, _DECIDING)))
            given = labels.c.created_at >= naive(since) if since else true()
            counting += self._ledger.records(Label, select(labels).where(latest, given).order_by(labels.c.number))
        return counting

    def unblind_of(self, answer_ids: Sequence[str]) -> int:
        """Count the labels of raters on answers that do not count, as the raters had seen the judges' scores."""
        blind = sum(not label.decides for label in self.current(answer_ids, blind=True))
        return len(self.current_of(answer_ids)) - blind

    def current_of(self, answer_ids: Sequence[str]) -> dict[tuple[str, str, str], Label]:
        """Return the valid labels of raters by answer, rater and criterion, without those that decide."""
        rows = self._ledger.rows_in(select(labels).where(OF_RATERS).order_by(labels.c.number), labels.c.answer_id, answer_ids)
        return {(row.answer_id, row.rater, row.criterion): record_of(Label, row) for row in rows}

    def deciding(self, answer_ids: Sequence[str]) -> dict[tuple[str, str], Label]:
        """Return the labels that decide between raters, by answer and criterion."""
        query = select(labels).where(VALID, labels.c.decides).order_by(labels.c.number)
        rows = self._ledger.rows_in(query, labels.c.answer_id, answer_ids)
        return {(row.answer_id, row.criterion): record_of(Label, row) for row in rows}

    def grounding(self, answer_ids: Sequence[str]) -> dict[str, list[Label]]:
        """Return each rater's latest grounding label, by answer, and the one that decides between them; see `agreed`."""
        by_answer: dict[str, list[Label]] = {}
        for label in (*self.current_of(answer_ids).values(), *self.deciding(answer_ids).values()):
            if label.criterion == GROUNDING:
                by_answer.setdefault(label.answer_id, []).append(label)
        return by_answer

    def panel_scores(self, answer_ids: Sequence[str], run_id: str = "") -> dict[str, dict[str, dict[str, float]]]:
        """Return the scores of panels (or of one) by answer, suite and criterion; "" is the global score.

        Of several panels of one suite the latest counts. Scores that are None are left out.
        """
        query = select(
            answers.c.id, evaluations.c.number, evaluations.c.suite, evaluations.c.score_global, evaluations.c.state
        ).join(answers, answers.c.number == evaluations.c.answer)
        query = query.where(evaluations.c.run_id == run_id) if run_id else query
        query = query.where(evaluations.c.state == "evaluated").order_by(evaluations.c.evaluated_at, evaluations.c.number)
        by_answer: dict[str, dict[str, dict[str, float]]] = {}
        scores: dict[int, dict[str, float]] = {}
        for row in self._ledger.rows_in(query, answers.c.id, answer_ids):
            overall = {} if row.score_global is None else {"": row.score_global}
            by_answer.setdefault(row.id, {})[row.suite] = scores[row.number] = overall
        of_criteria = select(evaluation_scores).where(evaluation_scores.c.score.is_not(None))
        for row in self._ledger.rows_in(of_criteria, evaluation_scores.c.evaluation, list(scores)):
            scores[row.evaluation][row.criterion] = row.score
        return by_answer

    def judge_passes(self, answer_ids: Sequence[str], judge: str) -> list[PlannedPass]:
        """Return a judge's passes over answers; criteria include their version.

        Of several panels that asked the judge about a criterion the one with the newest judgment counts. Of several judgments
        under one key the valid one counts: see `valid_places`.
        """
        asked = judgments.c
        query = (
            select(answers.c.id, answer_judgments.c.run_id, asked.key, asked.pass_index, asked.turn, verdicts)
            .join(answer_judgments, answer_judgments.c.answer == answers.c.number)
            .join(judgments, asked.key == answer_judgments.c.key)
            .join(verdicts, verdicts.c.judgment_id == asked.id)
            .where(asked.judge == judge)
            .order_by(asked.id, answer_judgments.c.run_id)
        )
        rows = self._ledger.rows_in(query, answers.c.id, answer_ids)
        panels = {(row.id, row.criterion): row.run_id for row in rows}
        attempts: dict[int, tuple[str, bool]] = {}
        for row in rows:
            _, whole = attempts.get(row.judgment_id, (row.key, True))
            attempts[row.judgment_id] = (row.key, whole and row.outcome in GIVEN_NAMES)
        in_order = sorted(attempts)
        valid = {in_order[place] for place in valid_places(attempts[number] for number in in_order).values()}
        latest: dict[tuple[str, str, int, int], PlannedPass] = {}
        for row in rows:
            if panels[row.id, row.criterion] == row.run_id and row.judgment_id in valid:
                latest[row.id, row.criterion, row.turn, row.pass_index] = PlannedPass(
                    case_id=row.id,
                    criterion=row.criterion,
                    judge=judge,
                    pass_index=row.pass_index,
                    turn=row.turn,
                    outcome=outcome_of(row),
                )
        return list(latest.values())

    def gate_risks(self, answer_ids: Sequence[str]) -> dict[str, float]:
        """The gate's risk of unsupported content, in [0, 1]; without a probability its verdict counts."""
        query = select(answers.c.id, decisions.c.p_unsupported, decisions.c.verdict)
        query = query.join(answers, answers.c.number == decisions.c.answer)
        risks: dict[str, float] = {}
        for row in self._ledger.rows_in(query, answers.c.id, answer_ids):
            by_verdict = 0.0 if row.verdict == "deliver" else 1.0
            risks[row.id] = by_verdict if row.p_unsupported is None else row.p_unsupported
        return risks

    def judges_of(self, answer_ids: Sequence[str]) -> list[str]:
        """The names of the judges of any of these answers, in order."""
        query = select(judgments.c.judge).join(answer_judgments, judgments.c.key == answer_judgments.c.key)
        query = query.join(answers, answers.c.number == answer_judgments.c.answer).distinct()
        return sorted({row.judge for row in self._ledger.rows_in(query, answers.c.id, answer_ids)})

    def supported(self, collection: str, prompt: str, response: str, documents: Sequence[Document]) -> bool | None:
        """Whether people say that the documents support an answer or an equal one; None where they say nothing of it.

        Equal answers have the same response over the same documents of a collection. Of each rater the latest label of any of
        them counts; see `agreed`. That it is not or partly supported holds for any prompt; that it is holds for the prompt that
        it was said of.
        """
        key = text_key(collection, response, documents)
        query = select(labels, answers.c.prompt_key).join(answers, answers.c.id == labels.c.answer_id)
        query = query.where(labels.c.text_key == key, labels.c.text_key != "", VALID).order_by(labels.c.number)
        latest = {(row.rater, row.decides): (row.prompt_key, record_of(Label, row)) for row in self._ledger.rows(query)}
        if not latest:
            return None
        if agreed([label for _, label in latest.values()])[0] != "yes":
            return False
        asked = prompt_key(prompt)
        return any(of_prompt == asked and label.grounded == "yes" for of_prompt, label in latest.values()) or None


def agreed(labels: Sequence[Label]) -> tuple[Grounded, tuple[int, ...]]:
    """What the raters of an answer say together by their grounding labels, one of each.

    The word of most of them, of equally many the worse one; and the sentences that no document supports by half of them or more.
    The newest label that decides counts alone.
    """
    deciding = [label for label in labels if label.decides]
    labels = [max(deciding, key=lambda label: label.created_at)] if deciding else labels
    words = Counter(label.grounded for label in labels)
    grounded = max(GROUNDED, key=lambda word: words[word])  # of equal ones `max` takes the first, the worse
    marked = Counter(sentence for label in labels for sentence in set(label.sentences))
    return grounded, tuple(sorted(sentence for sentence, raters in marked.items() if 2 * raters >= len(labels)))


def counted_labels(labels: Sequence[Label]) -> list[Label]:
    """The labels that count: where one decides on a criterion of an answer, it stands for those of all raters."""
    decided = {(label.answer_id, label.criterion) for label in labels if label.decides}
    return [label for label in labels if label.decides or (label.answer_id, label.criterion) not in decided]


def insert_labels(connection: Connection, new: Sequence[Label]) -> None:
    """Append labels."""
    # the rows of decisions are locked against an erasure that comes at the same time
    query = select(answers.c.id, decisions.c.text_key).join(decisions, decisions.c.answer == answers.c.number)
    query = query.with_for_update(read=True, of=decisions)
    grounding = sorted({label.answer_id for label in new if label.criterion == GROUNDING})
    keys = dict(map(tuple, rows_in(connection, query, answers.c.id, grounding)))
    rows = [row_of(label) for label in new]
    for row in rows:
        row["text_key"] = keys.get(row["answer_id"], "") if row["criterion"] == GROUNDING else ""
    append_sealed(connection, labels, rows)


def insert_items(connection: Connection, items: Sequence[ReviewItem]) -> int:
    """Queue answers in order; existing items are kept. Returns how many are new."""
    if not items:
        return 0
    statement = insert_into(connection, review_items).on_conflict_do_nothing(index_elements=["answer_id", "run_id"])
    new = connection.execute(statement.returning(*review_items.c), [row_of(item, "number") for item in items]).all()
    seal(connection, "added", "review_items", new)
    return len(new)


def remove_items(connection: Connection, answer_ids: Sequence[str]) -> None:
    """Remove the review items of erased answers."""
    removed = delete(review_items).where(review_items.c.answer_id.in_(answer_ids)).returning(*review_items.c)
    seal(connection, "removed", "review_items", connection.execute(removed).all())


def _change_items(connection: Connection, change: Update) -> None:
    seal(connection, "reviewed", "review_items", connection.execute(change.returning(*review_items.c)).all())


def set_done(connection: Connection, answer_ids: Sequence[str]) -> None:
    """Close review items with enough labels and no pending release.

    Held answers with the same key count as one: a label of one is a label of all. The items are locked before their raters are
    counted: of two raters who label at once, the second then sees both.
    """
    for part in chunks([storable(id) for id in answer_ids]):
        held_keys = select(decisions.c.held_key).join(answers).where(answers.c.id.in_(part), decisions.c.held_key != "")
        for key in sorted(set(connection.execute(held_keys).scalars())):
            equal = select(answers.c.id).join(decisions).where(decisions.c.held_key == key, decisions.c.held_key != "")
            _finish(connection, review_items.c.answer_id.in_(equal), labels.c.answer_id.in_(equal))
        _finish(connection, review_items.c.answer_id.in_(part), labels.c.answer_id == review_items.c.answer_id)


def _finish(connection: Connection, which: ColumnElement[bool], about: ColumnElement[bool]) -> None:
    """Set open items done: `which` they are, and which labels are `about` one of them."""
    item = review_items.c
    locked = select(item.number).where(which, item.state == "open").order_by(item.number).with_for_update()
    numbers = list(connection.execute(locked).scalars())
    raters = select(func.count(labels.c.rater.distinct())).where(about, OF_RATERS).scalar_subquery()
    for part in chunks(numbers):
        finished = update(review_items).where(item.number.in_(part), raters >= item.wanted, ~_waits(item.answer_id))
        _change_items(connection, finished.values(state="done"))


def set_open(connection: Connection, answer_id: str) -> None:
    """Open the done items of an answer again that have too few labels left."""
    item = review_items.c
    again = update(review_items).where(item.answer_id == answer_id, item.state == "done", MISSING > 0)
    _change_items(connection, again.values(state="open"))


def _waits(answer_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the answer of an id is held, and not settled."""
    theirs = exists().where(answers.c.id == answer_id, decisions.c.answer == answers.c.number, decisions.c.held_key != "")
    return and_(theirs, ~exists().where(releases.c.answer_id == answer_id))


class People(Struct, frozen=True, kw_only=True):
    """What people said of a run's answers, and who signed it, oldest first.

    `labels` are the latest blind ones of each answer, rater and criterion, and those that decide between them; `unblind` is the
    number of others, whose raters had seen the judges' scores.
    """

    labels: tuple[Label, ...] = ()
    unblind: int = 0
    items: dict[str, ReviewItem] = {}
    signoffs: tuple[SignOff, ...] = ()


class SignOffs(Store):
    """The table `signoffs`; rows are never changed or removed."""

    def add(self, signoff: SignOff) -> SignOff:
        """Append a sign-off; returns it as stored, with its digest."""
        texts = {name: storable(getattr(signoff, name)) for name in ("run_id", "name", "role", "note")}
        stored = structs.replace(signoff, **texts)
        stored = structs.replace(stored, digest=stored.content_digest)
        row = row_of(stored) | {"signed": json_text(stored.signed)}
        with self._ledger.writing() as connection:
            append_sealed(connection, signoffs, [row])
        return stored

    def of(self, run_id: str | None = None) -> tuple[SignOff, ...]:
        """Return the sign-offs of a run, or of all, oldest first."""
        query = select(signoffs).order_by(signoffs.c.number)
        query = query if run_id is None else query.where(signoffs.c.run_id == storable(run_id))
        return tuple(self._ledger.records(SignOff, query))

    def people_of(self, run_id: str, answer_ids: Sequence[str]) -> People:
        """Read what people said of a run's answers."""
        store = Labels(self._ledger)
        counted = store.current(answer_ids, blind=True)
        return People(
            labels=tuple(counted),
            unblind=store.unblind_of(answer_ids),
            items=ReviewQueue(self._ledger).items(answer_ids, run_id),
            signoffs=self.of(run_id),
        )
