"""Compare stored computed values with their recomputation, and rewrite them.

The scores of evaluations and the counts of days are caches. What they are computed from (answers, judgments, verdicts, decisions)
is only read here.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct, structs
from sqlalchemy import Connection, Table, bindparam, delete, exists, func, insert, select, text, update

from areopage.ledger.people.held import is_held
from areopage.ledger.read.days import computed_days
from areopage.ledger.read.search import add_words, index_words, remove_words
from areopage.ledger.tables.answer_tables import (
    answer_judgments,
    answer_texts,
    answers,
    decisions,
    equal_answers,
    evaluation_scores,
    evaluations,
    judgments,
    runs,
)
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import OF_NO_ANSWER, Evaluation
from areopage.ledger.tables.rows import chunks, insert_or_add, storable_value
from areopage.ledger.tables.schema import days, labels, score_days
from areopage.ledger.write.equal_answers import computed_equals, stored_equals
from areopage.ledger.write.evaluation_rows import BLANK, evaluation_row, insert_scores

COPIES = ("suite", "suite_version")
FIGURES = (
    *("score_global", "grade", "scored", "not_applicable", "planned", "spread"),
    *("prompt_tokens", "completion_tokens", "cost", "currency"),
)
TEXTS = ("reason", "feedback", "strengths", "weaknesses", "suggestions")
CACHED = (*COPIES, *FIGURES, *TEXTS, "seconds", "evaluated_at", "timestamp", "source")
"""The columns of `evaluations` that `rewrite` writes; its scores are rows of their own."""
OF_RUNS = ("seconds", "evaluated_at", "timestamp", "source")
"""What is computed of evaluations of the benchmark alone; the monitor's were measured."""


class StaleValue(Struct, frozen=True, kw_only=True):
    """A stored value that differs from its recomputation: of an answer under a panel, or of a count by its key.

    `field` is "evaluation" where all of it is missing.
    """

    subject: str
    run_id: str = ""
    field: str
    stored: Any
    computed: Any


def same(stored: Any, computed: Any) -> bool:
    """Whether two values are equal, apart from rounding of sums."""
    if isinstance(stored, float) or isinstance(computed, float):
        return stored is not None and computed is not None and math.isclose(stored, computed, rel_tol=1e-9, abs_tol=1e-9)
    return bool(stored == computed)


def field_differences(stored: Any, computed: Any, fields: Sequence[str], table: str = "") -> Iterator[StaleValue]:
    """The fields of a record with an id that differ from its recomputation; named after a table, if one is given."""
    for name in fields:
        before, after = getattr(stored, name), getattr(computed, name)
        if not same(before, after):
            run_id = getattr(stored, "run_id", "")
            yield StaleValue(subject=stored.id, run_id=run_id, field=f"{table}{name}", stored=before, computed=after)


def evaluation_differences(stored: Evaluation, computed: Evaluation) -> list[StaleValue]:
    """The values of an evaluation, and its scores, that differ from their recomputation."""
    measured = OF_RUNS if stored.origin == "bench" else ()
    differences = list(field_differences(stored, computed, (*COPIES, *FIGURES, *TEXTS, *measured)))
    stored_scores, computed_scores = ({score.criterion: score for score in some.criteria} for some in (stored, computed))
    for criterion in dict.fromkeys((*computed_scores, *stored_scores)):
        old, new = stored_scores.get(criterion), computed_scores.get(criterion)
        if old and new and old.grade == new.grade and same(old.score, new.score) and same(old.agreement, new.agreement):
            continue
        scores = {"stored": old and old.score, "computed": new and new.score}
        differences.append(StaleValue(subject=stored.id, run_id=stored.run_id, field=criterion, **scores))
    return differences


def with_computed(stored: Evaluation, computed: Evaluation, *, has_texts: bool) -> Evaluation:
    """A stored evaluation with the values that its judgments come to.

    Texts are computed from the judges' own, which must be whole: of an erased answer there are none, and where storage reduced
    them those that were stored stay.
    """
    values = {name: storable_value(getattr(computed, name)) for name in (*COPIES, *FIGURES)} | {"criteria": computed.criteria}
    if stored.erased:
        values |= dict.fromkeys(BLANK, ()) | {"feedback": "", "reason": ""}
    elif has_texts:
        values |= {name: storable_value(getattr(computed, name)) for name in TEXTS}
        values |= {name: tuple(values[name]) for name in ("strengths", "weaknesses", "suggestions")}
    return structs.replace(stored, **values)


LISTED = 100
"""How many orphans of a kind are named."""


class Orphans(Struct, frozen=True, kw_only=True):
    """Rows without the row they refer to: their number and first names."""

    judgments: int
    judgment_keys: tuple[str, ...]
    labels: int
    labelled: tuple[str, ...]
    scores: int
    scored: tuple[str, ...]


class Caches(Store):
    """The computed values of a ledger, beside their recomputation."""

    def count_evaluated(self, origin: str) -> int:
        """Count the finished evaluations of an origin."""
        evaluated = (evaluations.c.origin == origin, evaluations.c.state == "evaluated")
        return int(self._ledger.value(select(func.count()).select_from(evaluations).where(*evaluated)))

    def word_differences(self, stored: Sequence[Evaluation]) -> dict[int, tuple[int, int]]:
        """Compare indexed words with expected words, by number of evaluation.

        Answers that the gate held are left out where storage will reduce their texts: their words are of what it will leave.
        """
        wrong: dict[int, tuple[int, int]] = {}
        by_number = {evaluation.number: evaluation for evaluation in stored}
        with self._ledger.reading() as connection:
            for part in chunks(list(by_number)):
                indexed, held_numbers = _indexed(connection, part), _held_whole(connection, part)
                for number in part:
                    wanted = set(index_words(by_number[number]))
                    if number not in held_numbers and indexed.get(number, set()) != wanted:
                        wrong[number] = (len(indexed.get(number, ())), len(wanted))
        return wrong

    def rewrite(self, changed: Sequence[tuple[Evaluation, Evaluation]]) -> int:
        """Replace the computed values of evaluations, with scores and words, in one transaction; returns how many were written.

        `changed` has each as it was read, and as it should be. One that was erased or judged again meanwhile is kept.
        """
        with self._ledger.exclusive() as connection:
            # those that still stand as they were read; they are locked
            gone = ~exists().where(answer_texts.c.answer == evaluations.c.answer)
            query = select(evaluations.c.number, evaluations.c.state, evaluations.c.run_id, gone.label("erased"))
            query = query.where(evaluations.c.number.in_([before.number for before, _ in changed])).order_by(evaluations.c.number)
            rows = connection.execute(query.with_for_update(of=evaluations))
            now = {row.number: (row.state, row.run_id, row.erased) for row in rows}
            written = [
                after for before, after in changed if now.get(before.number) == (before.state, before.run_id, before.erased)
            ]
            if not written:
                return 0
            numbers = [evaluation.number for evaluation in written]
            for evaluation in written:
                row = evaluation_row(evaluation)
                values = {name: row[name] for name in CACHED}
                connection.execute(update(evaluations).where(evaluations.c.number == evaluation.number).values(**values))
            connection.execute(delete(evaluation_scores).where(evaluation_scores.c.evaluation.in_(numbers)))
            insert_scores(connection, {evaluation.number: evaluation.criteria for evaluation in written})
            held_numbers = _held_whole(connection, numbers)
            words = {
                evaluation.number: index_words(evaluation)
                for evaluation in written
                if evaluation.origin == "monitor" and evaluation.number not in held_numbers
            }
            if words:
                remove_words(connection, list(words))
                add_words(connection, words)
            return len(written)

    def day_differences(self) -> list[StaleValue]:
        """Compare the counts by day with their sources at one moment."""
        with self._ledger.snapshot() as connection:
            computed = computed_days(connection)
            differences = [_compared(connection, table, computed[table.name]) for table in (score_days, days)]
            return list(chain.from_iterable(differences))

    def equal_differences(self) -> list[StaleValue]:
        """Compare the sets of equal answers with the judgments that they rest on."""
        field = "equal_answers.first"
        with self._ledger.snapshot() as connection:
            stored = stored_equals(connection)
            computed = {number: first for number, (first, _) in computed_equals(connection).items()}
        differing = [number for number in sorted({*stored, *computed}) if stored.get(number) != computed.get(number)]
        return [
            StaleValue(subject=f"evaluation {number}", field=field, stored=stored.get(number), computed=computed.get(number))
            for number in differing
        ]

    def orphans(self) -> Orphans:
        """Find judgments without answers (but for exams and audits), labels without answers, and scores without judgments."""
        linked = exists().where(answer_judgments.c.key == judgments.c.key)
        apart = exists().where(runs.c.id == judgments.c.run_id, runs.c.kind.in_(OF_NO_ANSWER))
        is_stored = exists().where(answers.c.id == labels.c.answer_id)
        place = (answer_judgments.c.answer == evaluations.c.answer, answer_judgments.c.run_id == evaluations.c.run_id)
        judged = exists().where(*place)
        scores = select(answers.c.id).join(evaluations, evaluations.c.answer == answers.c.number)
        queries = (
            select(judgments.c.key).where(~linked, ~apart).order_by(judgments.c.id),
            select(labels.c.answer_id).where(~is_stored).order_by(labels.c.number),
            scores.where(
                evaluations.c.state == "evaluated", evaluations.c.scored + evaluations.c.not_applicable > 0, ~judged
            ).order_by(evaluations.c.number),
        )
        totals = [select(func.count()).select_from(query.order_by(None).subquery()) for query in queries]
        counts = [self._ledger.value(total) for total in totals]
        named = [tuple(self._ledger.values(query.limit(LISTED))) for query in queries]
        return Orphans(
            judgments=counts[0], judgment_keys=named[0], labels=counts[1], labelled=named[1], scores=counts[2], scored=named[2]
        )

    def rebuild_days(self) -> None:
        """Recompute all counts by day in one transaction."""
        with self._ledger.exclusive() as connection:
            if not self._ledger.is_sqlite:  # transactions that have counted are awaited, later ones wait for this one
                connection.execute(text("LOCK TABLE score_days, days IN EXCLUSIVE MODE"))
            computed = computed_days(connection)
            for table in (score_days, days):
                connection.execute(delete(table))
                insert_or_add(connection, table, computed[table.name])

    def rebuild_equals(self) -> None:
        """Compute all sets of equal answers again."""
        with self._ledger.exclusive() as connection:
            computed = computed_equals(connection)
            connection.execute(delete(equal_answers))
            for part in chunks(list(computed)):
                rows = [{"evaluation": number, "first": computed[number][0], "timestamp": computed[number][1]} for number in part]
                connection.execute(insert(equal_answers), rows)


def _indexed(connection: Connection, numbers: Sequence[int]) -> dict[int, set[str]]:
    """The words that the index holds, by the evaluations' numbers."""
    if connection.dialect.name == "sqlite":
        query = "SELECT rowid, words FROM evaluation_search WHERE rowid IN :numbers"
    else:
        query = "SELECT number, array_to_string(tsvector_to_array(words), ' ') FROM evaluation_search WHERE number IN :numbers"
    rows = connection.execute(text(query).bindparams(bindparam("numbers", expanding=True)), {"numbers": list(numbers)})
    return {number: set(words.split(" ")) for number, words in rows}


def _held_whole(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """The evaluations of answers that the gate held, of which storage keeps more for a while than the index may hold."""
    query = select(evaluations.c.number).join(decisions, decisions.c.answer == evaluations.c.answer)
    links = (answer_judgments.c.answer == evaluations.c.answer, answer_judgments.c.run_id == evaluations.c.run_id)
    reduced = exists().where(judgments.c.key == answer_judgments.c.key, judgments.c.stored != "full", *links)
    return set(connection.execute(query.where(evaluations.c.number.in_(numbers), is_held(), reduced)).scalars())


# --- counts by day


def _compared(connection: Connection, table: Table, computed: Sequence[Mapping[str, Any]]) -> Iterator[StaleValue]:
    keys = [column.name for column in table.primary_key.columns]
    sums = [column.name for column in table.c if column.name not in keys]
    stored = {tuple(row._mapping[name] for name in keys): row._mapping for row in connection.execute(select(table))}
    wanted = {tuple(row[name] for name in keys): row for row in computed}
    none = dict.fromkeys(sums, 0)  # a count that came back to nothing may stay as a row
    for key in sorted({*stored, *wanted}, key=str):
        before, right = stored.get(key, none), wanted.get(key, none)
        subject = ", ".join(f"{name} {value}" for name, value in zip(keys, key, strict=True) if value != "")
        for name in sums:
            if not same(before[name], right[name]):
                yield StaleValue(subject=subject, field=f"{table.name}.{name}", stored=before[name], computed=right[name])
