"""Evaluations: submitted answers, their progress and their scores."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Literal

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    tuple_,
    update,
)

from areopage.ledger.people.erasure import Erasure
from areopage.ledger.read.days import DayCounts, judge_uses, remove_empty_days
from areopage.ledger.read.queries import Backlog, not_by_index, not_golden
from areopage.ledger.read.search import add_words, index_words, remove_words
from areopage.ledger.tables.answer_tables import (
    LONGEST_NAME,
    answer_judgments,
    answer_texts,
    answers,
    evaluation_scores,
    evaluations,
    judgments,
    runs,
    verdicts,
)
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import Answer, Evaluation, Judgment
from areopage.ledger.tables.rows import (
    KEYS_PER_QUERY,
    aware,
    chunks,
    insert_numbered,
    insert_rows,
    naive,
    record_of,
    rows_in,
    storable,
)
from areopage.ledger.write.alerts import open_alert
from areopage.ledger.write.answers import (
    HAS_TEXTS,
    Link,
    forget_judgments,
    id_within,
    insert_answers,
    insert_links,
    note_judgments,
    reduce_texts,
    submitted_sources,
)
from areopage.ledger.write.equal_answers import forget_equals, note_equals
from areopage.ledger.write.evaluation_rows import (
    WHOLE_EVALUATIONS,
    evaluation_row,
    evaluations_by_number,
    evaluations_of,
    insert_scores,
)
from areopage.ledger.write.judgments import attempts_of
from areopage.ledger.write.operations import Alert

MONITOR = evaluations.c.origin == "monitor"
PLACE = tuple(evaluations.c[name] for name in ("number", "timestamp", "origin", "suite", "source", "variant"))
"""The columns that say where an evaluation is counted that has no score."""
GIVEN_UP = and_(evaluations.c.state == "failed", exists().where(answer_texts.c.answer == evaluations.c.answer))
_JUDGEABLE = exists().where(answer_texts.c.answer == evaluations.c.answer, answer_texts.c.response != "")
"""The response is not empty: the storage policy left something to judge."""
LATE = timedelta(days=3)
"""How long after an answer was received its attempts count, in `failing_since`."""


class Evaluations(Store):
    """The table `evaluations` with its scores and links."""

    # --- submit

    def submit(self, submitted: Sequence[Answer]) -> list[bool]:
        """Append answers to evaluate; on return they are on disk and survive a power failure. Whether each is new to the monitor.

        An answer that is erased from the start was left out by sampling: it is counted for its day, and `reason` says why. One
        that the gate has seen, or that was imported, is judged as it stands in the ledger.

        Ids are unique by source: an answer whose id another source has used is stored under `id_within`. One that names no source
        is taken for the answer that has its id. One that was submitted before, or earlier in the sequence, changes nothing.
        """
        if not submitted:
            return []
        by_place: dict[tuple[str, str], Answer] = {}
        for answer in submitted:
            by_place.setdefault(_place_of(answer), answer)
        by_id: dict[str, Answer] = {}
        for answer in by_place.values():
            by_id.setdefault(storable(answer.id), answer)
        with self._ledger.durable() as connection:
            numbers = insert_answers(connection, list(by_id.values()))
            # those that the gate or an import brought, that have texts and no evaluation
            seen = select(answers.c.id, answers.c.number).where(answers.c.origin.in_(("gate", "import")), HAS_TEXTS)
            seen = seen.where(~exists().where(evaluations.c.answer == answers.c.number)).order_by(answers.c.number)
            locked = seen.with_for_update(of=answers)
            numbers |= map(tuple, rows_in(connection, locked, answers.c.id, [id for id in by_id if id not in numbers]))
            new = {_place_of(by_id[id]): number for id, number in numbers.items()}
            new |= _within_sources(connection, [answer for place, answer in by_place.items() if place not in new])
            counts, rows = DayCounts(), []
            for place, number in new.items():
                answer = by_place[place]
                waiting = Evaluation(
                    id=answer.id,
                    state="left_out" if answer.erased else "waiting",
                    reason=answer.reason if answer.erased else "",
                    timestamp=answer.answered_at,
                    received_at=answer.received_at,
                    language=answer.language,
                    source=answer.source,
                    variant=answer.variant,
                )
                rows.append(evaluation_row(waiting) | {"answer": number})
                counts.add(waiting)
            insert_rows(connection, evaluations, rows)
            counts.write(connection)
        return [new.pop(_place_of(answer), None) is not None for answer in submitted]

    # --- attempts

    def pending(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Numbers and ids of answers waiting for evaluation, after number `after`."""
        source = evaluations.join(answers, answers.c.number == evaluations.c.answer)
        query = select(evaluations.c.number, answers.c.id).select_from(source)
        query = query.where(evaluations.c.state == "waiting", evaluations.c.number > after).order_by(evaluations.c.number)
        return [(row.number, row.id) for row in self._ledger.rows(query.limit(limit))]

    def note_failure(self, id: str, reason: str) -> bool:
        """Count a failed attempt; returns False unless the answer still waits."""
        change = still_waiting(id).values(attempts=evaluations.c.attempts + 1, reason=storable(reason))
        return bool(self._ledger.change(change))

    def give_up(self, id: str, reason: str, stored: Answer | None = None) -> None:
        """Stop attempts at an answer, and count it in the day's totals once; `stored` replaces its texts."""
        change = still_waiting(id).values(state="failed", attempts=evaluations.c.attempts + 1, reason=storable(reason))
        with self._ledger.writing() as connection:
            places = connection.execute(change.returning(*PLACE, evaluations.c.answer)).all()
            count_failed(connection, places, 1)
            if stored is not None:
                for place in places:
                    reduce_texts(connection, place.answer, stored)

    def reopen(self, ids: Sequence[str] | None = None) -> int:
        """Let given-up answers (all: None) wait again without attempts; returns how many.

        They leave the days' totals of what was given up. Those without texts stay given up.
        """
        with self._ledger.writing() as connection:
            if ids is not None:
                return sum(reopen_given_up(connection, part) for part in chunks([storable(id) for id in ids]))
            reopened = 0
            while portion := reopen_given_up(connection):
                reopened += portion
            return reopened

    def reopen_unscored(self, ids: Sequence[str] | None = None) -> int:
        """Let answers that were evaluated without a global score (all: None) wait again; returns how many.

        They leave the counts. What their judges said stays, and the next evaluation asks again for what is no score.
        """
        reopened = 0
        with self._ledger.exclusive() as connection:
            for part in [None] if ids is None else chunks([storable(id) for id in ids]):
                while portion := reopen_unscored(connection, part):
                    reopened += portion
            remove_empty_days(connection)
        return reopened

    # --- judge

    def link(self, id: str, run_id: str, keys: Sequence[str]) -> None:
        """Link a panel's judgments to an answer, for display and erasure."""
        with self._ledger.writing() as connection:
            number = connection.execute(select(answers.c.number).where(answers.c.id == storable(id))).scalar()
            if number is not None:
                insert_links(connection, [Link(number, run_id, key) for key in keys])

    def finish(
        self,
        evaluation: Evaluation,
        keys: Sequence[str],
        stored: Answer | None = None,
        alert: Alert | None = None,
        used: Sequence[Judgment] = (),
    ) -> bool:
        """Store an answer's scores, counts and links, mark it evaluated, and open its alert: all or none.

        Returns False where it is evaluated already: nothing is changed and nothing counted twice. False too where the answer was
        erased while it was judged: the texts of its judgments go the same way then, and no alert is opened.

        Args:
            evaluation: prompt and response as they are to be searched.
            stored: the answer with what stays of its texts by the storage policy; None leaves them as they are.
            used: the judgments that the scores rest on, of which others may have come under the same keys meanwhile.
        """
        with self._ledger.exclusive() as connection:
            locked = connection.execute(_LOCKED, {"of": storable(evaluation.id)}).one_or_none()
            # its texts are asked for once it is locked: an erasure that held the lock is seen
            texts = select(answer_texts.c.answer).where(answer_texts.c.answer == (locked and locked.answer))
            if locked is not None and connection.execute(texts).first() is not None:
                if locked.state == "evaluated":
                    return False
                _finish(connection, locked, evaluation, keys, stored, used)
                if alert is not None:
                    open_alert(connection, alert)
                return True
        Erasure(self._ledger).erase_late(evaluation.id, evaluation.run_id, keys)
        return False

    def put(self, new: Sequence[Evaluation]) -> None:
        """Write or replace evaluations of a benchmark run, which are not counted by day, and not found by words."""
        with self._ledger.exclusive() as connection:
            if not self._ledger.is_sqlite:  # two processes may put the evaluations of one run
                connection.execute(select(func.pg_advisory_xact_lock(_PUT_LOCK)))
            for start in range(0, len(new), KEYS_PER_QUERY):
                _put(connection, new[start : start + KEYS_PER_QUERY])

    # --- read

    def get(self, id: str, run_id: str | None = None) -> Evaluation | None:
        """Return an answer's evaluation: the latest, or that of one panel or run."""
        query = _LATEST if run_id is None else _LATEST.where(evaluations.c.run_id == run_id)
        with self._ledger.reading() as connection:
            rows = connection.execute(query, {"of": storable(id)}).all()
            return next(iter(evaluations_of(connection, rows)), None)

    def latest(self, ids: Sequence[str], until: datetime | None = None) -> dict[str, Evaluation]:
        """Return the latest evaluation of each answer by the answer's id; with a moment, the latest made until then."""
        by_id: dict[str, Evaluation] = {}
        with self._ledger.reading() as connection:
            for part in chunks([storable(id) for id in ids]):
                newest = select(func.max(evaluations.c.number)).join(answers, answers.c.number == evaluations.c.answer)
                newest = newest.where(answers.c.id.in_(part)).group_by(evaluations.c.answer)
                if until is not None:
                    newest = newest.where(evaluations.c.evaluated_at <= naive(until))
                rows = connection.execute(WHOLE_EVALUATIONS.where(evaluations.c.number.in_(newest))).all()
                by_id |= {evaluation.id: evaluation for evaluation in evaluations_of(connection, rows)}
        return by_id

    def judgments(self, id: str, run_id: str = "") -> list[Judgment]:
        """Return an answer's judgments under a panel ("": any), with failed attempts."""
        query = select(answer_judgments.c.key).join(answers, answers.c.number == answer_judgments.c.answer)
        if run_id:
            query = query.where(answer_judgments.c.run_id == run_id)
        keys = sorted(self._ledger.values(query.where(answers.c.id == storable(id))))
        with self._ledger.reading() as connection:
            attempts = list(chain.from_iterable(attempts_of(connection, keys)))
        return sorted(attempts, key=lambda judgment: judgment.created_at)

    def failed(self, limit: int, sources: Sequence[str] = ()) -> list[Evaluation]:
        """Return given-up answers (of some sources; () for all) that are not erased, last received first."""
        newest = select(evaluations.c.number).where(MONITOR, GIVEN_UP, *_of_sources(sources))
        newest = newest.order_by(evaluations.c.received_at.desc(), evaluations.c.number.desc()).limit(limit)
        with self._ledger.reading() as connection:
            return evaluations_by_number(connection, list(connection.execute(newest).scalars()))

    def waiting(self, limit: int, sources: Sequence[str] = (), *, tried: bool = False) -> list[Evaluation]:
        """Return waiting answers (of some sources; () for all), or those with a failed attempt, first received first."""
        oldest = select(evaluations.c.number).where(
            MONITOR, evaluations.c.state == "waiting", *not_by_index(_of_sources(sources))
        )
        oldest = oldest.where(evaluations.c.attempts > 0) if tried else oldest
        oldest = oldest.order_by(evaluations.c.received_at, evaluations.c.number).limit(limit)
        with self._ledger.reading() as connection:
            return evaluations_by_number(connection, list(connection.execute(oldest).scalars()))

    def note_waiting(self, reason: str, limit: int) -> None:
        """Say why answers wait that were not tried yet: the first received, up to a number."""
        columns = evaluations.c
        untried = select(columns.number).where(MONITOR, columns.state == "waiting", columns.attempts == 0)
        first = untried.order_by(columns.received_at, columns.number).limit(limit)
        change = update(evaluations).where(columns.number.in_(first), columns.state == "waiting")
        self._ledger.change(change.values(reason=storable(reason)))

    def backlog(self, sources: Sequence[str] = ()) -> Backlog:
        """Count unevaluated answers (of some sources; () for all); erased given-up answers do not count."""
        columns, theirs = evaluations.c, not_by_index(_of_sources(sources))
        counts = select(columns.state, func.count()).where(*theirs).group_by(columns.state)
        by_state = dict(map(tuple, self._ledger.rows(counts.where(columns.state == "waiting"))))
        by_state |= map(tuple, self._ledger.rows(counts.where(GIVEN_UP)))
        oldest = self._ledger.value(select(func.min(columns.received_at)).where(columns.state == "waiting", *theirs))
        return Backlog(waiting=by_state.get("waiting", 0), failed=by_state.get("failed", 0), oldest_at=aware(oldest))

    def failing_since(self, since: datetime, limit: int) -> int:
        """Count unscored answers (at most `limit`) without a verdict since a moment.

        They wait or were given up, and were received not long before. Golden questions are left out.
        """
        columns = evaluations.c
        missed = select(answer_judgments.c.key).join(judgments, judgments.c.key == answer_judgments.c.key)
        missed = missed.join(verdicts, verdicts.c.judgment_id == judgments.c.id).where(
            answer_judgments.c.answer == columns.answer
        )
        missed = missed.where(judgments.c.created_at >= naive(since), verdicts.c.outcome.in_(("timed_out", "unreachable")))
        tried = (columns.state.in_(("waiting", "failed")), columns.received_at >= naive(since - LATE), columns.attempts > 0)
        failing = select(columns.number).where(*tried, not_golden(columns.source), missed.exists()).limit(limit)
        return int(self._ledger.value(select(func.count()).select_from(failing.subquery())))

    def latest_calls(self, since: datetime, limit: int) -> dict[str, list[bool]]:
        """Whether the latest calls (at most `limit`, since a moment) of each judge were answered, newest first."""
        of_it = select(verdicts.c.criterion).where(verdicts.c.judgment_id == judgments.c.id)
        answered = ~of_it.where(verdicts.c.outcome.in_(("timed_out", "unreachable"))).exists()
        latest = select(judgments.c.judge, judgments.c.created_at, answered.label("answered"))
        latest = latest.join(runs, runs.c.id == judgments.c.run_id).where(runs.c.kind == "monitor")
        by_judge: dict[str, list[bool]] = {}
        for row in self._ledger.rows(latest.order_by(judgments.c.id.desc()).limit(limit)):
            if row.created_at >= naive(since):
                by_judge.setdefault(row.judge, []).append(bool(row.answered))
        return by_judge


_LATEST = WHOLE_EVALUATIONS.where(answers.c.id == bindparam("of")).order_by(evaluations.c.number.desc()).limit(1)
_PUT_LOCK = 0x0A5E0C
"""PostgreSQL's advisory lock that processes take in turn to replace evaluations."""


_LOCKED: Select[Any] = (
    select(*PLACE, evaluations.c.answer, evaluations.c.state)
    .join(answers, answers.c.number == evaluations.c.answer)
    .where(answers.c.id == bindparam("of"), MONITOR)
    .with_for_update(of=evaluations)
)
"""The evaluation that the monitor makes of an answer, locked."""


def _place_of(answer: Answer) -> tuple[str, str]:
    """What a submitted answer is known by: its id and its source."""
    return storable(answer.id), storable(answer.source)[:LONGEST_NAME]


def _within_sources(connection: Connection, submitted: Sequence[Answer]) -> dict[tuple[str, str], int]:
    """Insert those answers whose id another source has used; the numbers of those that are new, by id and source."""
    sources = submitted_sources(connection, [storable(answer.id) for answer in submitted]) if submitted else {}
    others: dict[str, Answer] = {}
    for answer in submitted:
        id, source = _place_of(answer)
        if source and sources.get(id, source) != source:
            within = id_within(answer.id, answer.source)
            others[storable(within)] = msgspec.structs.replace(
                answer, id=within, case=msgspec.structs.replace(answer.case, id=within)
            )
    places = {storable(id_within(answer.id, answer.source)): _place_of(answer) for answer in submitted}
    return {places[id]: number for id, number in insert_answers(connection, list(others.values())).items()}


def _of_sources(sources: Sequence[str]) -> list[ColumnElement[bool]]:
    return [evaluations.c.source.in_([storable(source) for source in sources])] if sources else []


def _finish(
    connection: Connection,
    locked: Row[Any],
    evaluation: Evaluation,
    keys: Sequence[str],
    stored: Answer | None,
    used: Sequence[Judgment],
) -> None:
    """Store the scores, counts and links of a locked evaluation."""
    kept = {"number", "answer", "attempts", "received_at", "origin"}
    row = {name: value for name, value in evaluation_row(evaluation).items() if name not in kept}
    row |= {"state": "evaluated", "grade": evaluation.grade}
    connection.execute(update(evaluations).where(evaluations.c.number == locked.number).values(**row))
    if stored is not None:
        reduce_texts(connection, locked.answer, stored)
    insert_scores(connection, {locked.number: evaluation.criteria})
    add_words(connection, {locked.number: index_words(evaluation)})
    insert_links(connection, [Link(locked.answer, evaluation.run_id, key) for key in keys])
    note_judgments(connection, locked.answer, evaluation.run_id, used)
    note_equals(connection, locked.number, evaluation.run_id, keys)
    counts, place = DayCounts(), (locked.answer, evaluation.run_id)
    if locked.state == "failed":
        counts.count_failed(record_of(Evaluation, locked, id="", state="failed"), -1)
    counts.add(msgspec.structs.replace(evaluation, state="evaluated"), judge_uses(connection, [place]).get(place, ()))
    counts.write(connection)


def _put(connection: Connection, new_evaluations: Sequence[Evaluation]) -> None:
    numbered = select(answers.c.id, answers.c.number)
    numbers = dict(map(tuple, rows_in(connection, numbered, answers.c.id, [evaluation.id for evaluation in new_evaluations])))
    pairs = [(numbers[storable(evaluation.id)], evaluation.run_id) for evaluation in new_evaluations]
    existing = select(evaluations.c.number).where(tuple_(evaluations.c.answer, evaluations.c.run_id).in_(pairs))
    old = list(connection.execute(existing.order_by(evaluations.c.number).with_for_update()).scalars())
    connection.execute(delete(evaluation_scores).where(evaluation_scores.c.evaluation.in_(old)))
    connection.execute(delete(evaluations).where(evaluations.c.number.in_(old)))
    rows = [
        evaluation_row(evaluation) | {"answer": answer} for evaluation, (answer, _) in zip(new_evaluations, pairs, strict=True)
    ]
    new = insert_numbered(connection, evaluations, rows)
    insert_scores(connection, {number: evaluation.criteria for number, evaluation in zip(new, new_evaluations, strict=True)})


def _of_ids(ids: Sequence[str]) -> ColumnElement[bool]:
    return evaluations.c.answer.in_(select(answers.c.number).where(answers.c.id.in_(ids)))


def still_waiting(id: str) -> Update:
    """A change of an answer's evaluation that has no effect unless it waits."""
    return update(evaluations).where(_of_ids([storable(id)]), *not_by_index([evaluations.c.state == "waiting"]))


def _change_locked(
    connection: Connection, conditions: tuple[ColumnElement[bool], ...], values: dict[str, Any]
) -> Sequence[Row[Any]]:
    """Change a portion of the rows that meet conditions, locked in their order first: no two workers wait in a circle."""
    numbers = select(evaluations.c.number).where(*conditions).order_by(evaluations.c.number).limit(KEYS_PER_QUERY)
    locked = list(connection.execute(numbers.with_for_update()).scalars())
    if not locked:
        return []
    # the conditions once more: SQLite has no locks on rows, and another process may have come in between
    change = update(evaluations).where(evaluations.c.number.in_(locked), *conditions).values(**values)
    return connection.execute(change.returning(*PLACE)).all()


def reopen_given_up(connection: Connection, ids: Sequence[str] | None = None) -> int:
    """Let a portion of the given-up answers (of some ids, or any) wait again; returns how many."""
    failed: ColumnElement[bool] = evaluations.c.state == "failed"
    chosen = (failed,) if ids is None else (_of_ids(ids), *not_by_index([failed]))
    values = {"state": "waiting", "attempts": 0}
    places = _change_locked(connection, (*chosen, _JUDGEABLE), values)
    count_failed(connection, places, -1)
    return len(places)


def reopen_unscored(connection: Connection, ids: Sequence[str] | None) -> int:
    """Let a portion of the answers without a global score (of some ids, or any) wait again, uncounted; returns how many."""
    unscored = (MONITOR, evaluations.c.state == "evaluated", evaluations.c.score_global.is_(None), _JUDGEABLE)
    query = select(evaluations.c.number, evaluations.c.answer).where(*unscored, *([] if ids is None else [_of_ids(ids)]))
    rows = connection.execute(query.order_by(evaluations.c.number).limit(KEYS_PER_QUERY).with_for_update(of=evaluations)).all()
    numbers = [row.number for row in rows]
    unscored_answers = evaluations_by_number(connection, numbers)
    places = [(row.answer, evaluation.run_id) for row, evaluation in zip(rows, unscored_answers, strict=True)]
    uses, counts = judge_uses(connection, places), DayCounts()
    for place, evaluation in zip(places, unscored_answers, strict=True):
        counts.remove(evaluation, uses.get(place, ()))
    counts.write(connection)
    forget_judgments(connection, places)
    forget_equals(connection, numbers)
    remove_words(connection, numbers)
    connection.execute(delete(evaluation_scores).where(evaluation_scores.c.evaluation.in_(numbers)))
    waiting = {"state": "waiting", "attempts": 0, "grade": "", "evaluated_at": None}
    connection.execute(update(evaluations).where(evaluations.c.number.in_(numbers)).values(**waiting))
    return len(numbers)


def count_failed(connection: Connection, places: Sequence[Row[Any]], step: Literal[1, -1]) -> None:
    """Count given-up evaluations (rows of `PLACE`) by day, or take them out of the counts."""
    counts = DayCounts()
    for place in places:
        counts.count_failed(record_of(Evaluation, place, id="", state="failed"), step)
    counts.write(connection)
