"""Answers: appended once under their id. Their texts are stored apart, so that they can be erased."""

import hashlib
import secrets
import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct, structs
from msgspec.json import Decoder
from sqlalchemy import Connection, Row, RowMapping, bindparam, exists, func, select, tuple_, update

from areopage.cases import Case, Document, Turn
from areopage.errors import DamagedRow
from areopage.ledger.tables.answer_tables import LONGEST_NAME, answer_judgments, answer_texts, answers, judgments, run_cases
from areopage.ledger.tables.chain import seal
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.records import REPLIED, SHOWN, Answer, Judgment, Thoughts
from areopage.ledger.tables.rows import (
    RowValues,
    aware,
    chunks,
    decoded,
    insert_into,
    insert_rows,
    json_text,
    naive,
    record_of,
    row_of,
    rows_in,
    storable,
    storable_json,
    values_of,
)
from areopage.ledger.write.judgments import insert_judgments

TEXT_COLUMNS = [column for column in answer_texts.c if column is not answer_texts.c.answer]
WHOLE_ANSWERS = select(answers, *TEXT_COLUMNS).select_from(
    answers.outerjoin(answer_texts, answer_texts.c.answer == answers.c.number)
)
"""Answers with their texts; those of erased answers are NULL."""
HAS_TEXTS = exists().where(answer_texts.c.answer == answers.c.number)
"""Whether an answer is not erased."""
_OF_CASES = WHOLE_ANSWERS.join(run_cases, run_cases.c.answer == answers.c.number).add_columns(run_cases.c.position)


class Link(Struct, frozen=True, order=True):
    """A link from a judgment's key to an answer's number, under a panel."""

    answer: int
    run_id: str
    key: str


class StoredState(Struct, frozen=True):
    """What is known of an answer without its texts."""

    id: str
    state: str
    reason: str
    thoughts: Thoughts
    erased: bool


class CaseAnswer(Struct, frozen=True):
    """A link from a run's case to its answer."""

    run_id: str
    position: int
    answer_id: str


class ReusedAnswers(Struct, frozen=True, kw_only=True):
    """Answers of a run that were given to earlier runs: of how many cases, and when the oldest was given."""

    cases: int
    oldest: datetime


class CallTotals(Struct, frozen=True):
    """Calls to one model: how many, their tokens as far as they are known, and their seconds together."""

    source: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float


RunRecord = Answer | Judgment | Link | CaseAnswer


class Answers(Store):
    """The tables `answers` and `answer_texts`."""

    def append(self, new: Sequence[Answer]) -> int:
        """Append answers with new ids; return how many are new."""
        with self._ledger.writing() as connection:
            return len(insert_answers(connection, new))

    def append_judged(self, records: Sequence[RunRecord]) -> None:
        """Append answers, judgments and their links; existing rows are kept."""
        with self._ledger.writing() as connection:
            insert_judged(connection, records)

    def erased_in(self, run_id: str) -> dict[int, Answer]:
        """Return the erased answers of a run's cases by case position."""
        query = _OF_CASES.where(run_cases.c.run_id == run_id, answer_texts.c.answer.is_(None))
        return {row.position: answer_of(row) for row in self._ledger.rows(query)}

    def given_in(self, run_id: str, positions: Sequence[int]) -> dict[int, Answer]:
        """Return the answers of cases of a run, by case position; erased ones are left out."""
        query = _OF_CASES.where(run_cases.c.run_id == run_id, answer_texts.c.answer.is_not(None))
        return {row.position: answer_of(row) for row in self._ledger.rows_in(query, run_cases.c.position, positions)}

    def responses_in(self, run_id: str) -> dict[int, str | None]:
        """Return what users have read of responses, without what stands beside it, by case position."""
        query = _OF_CASES.with_only_columns(run_cases.c.position, answer_texts.c.response, maintain_column_froms=True)
        shown = (answers.c.state.in_(SHOWN), answer_texts.c.answer.is_not(None))
        return dict(map(tuple, self._ledger.rows(query.where(run_cases.c.run_id == run_id, *shown))))

    def states_in(self, run_id: str) -> dict[int, StoredState]:
        """Return what is known of the answers of a run's cases without their texts, by case position."""
        columns = (answers.c.id, answers.c.state, answers.c.reason, answers.c.thoughts, answer_texts.c.answer.is_(None))
        query = _OF_CASES.with_only_columns(run_cases.c.position, *columns, maintain_column_froms=True)
        rows = self._ledger.rows(query.where(run_cases.c.run_id == run_id))
        return {row[0]: StoredState(row[1], row[2], row[3], row[4], bool(row[5])) for row in rows}

    def noted_in(self, run_id: str) -> dict[int, int]:
        """Return the numbers of the answers that are noted for a run's cases, erased or not, by case position."""
        query = select(run_cases.c.position, run_cases.c.answer).where(run_cases.c.run_id == run_id)
        return dict(map(tuple, self._ledger.rows(query.where(run_cases.c.answer.is_not(None)))))

    def longer_than(self, run_id: str, characters: int) -> set[int]:
        """Return the positions of a run's cases whose answers have more characters."""
        query = select(run_cases.c.position).join(answer_texts, answer_texts.c.answer == run_cases.c.answer)
        query = query.where(run_cases.c.run_id == run_id, func.length(answer_texts.c.response) > characters)
        return set(self._ledger.values(query))

    def reused_in(self, run_id: str, positions: Collection[int] | None = None) -> "ReusedAnswers | None":
        """Return how many cases of a run (or of positions) have an answer that was given to another run; None without one.

        The first reply of a conversation is its oldest: it tells how old a conversation is that goes on in this run.
        """
        columns = [run_cases.c.position, answers.c.run_id, answers.c.answered_at, answers.c.number, answer_texts.c.session]
        query = select(*columns).select_from(run_cases.join(answers, answers.c.number == run_cases.c.answer))
        query = query.outerjoin(answer_texts, answer_texts.c.answer == answers.c.number)
        query = query.where(run_cases.c.run_id == run_id, answers.c.run_id.is_not(None))
        rows = [row for row in self._ledger.rows(query) if positions is None or row.position in positions]
        # the key of a conversation's first reply is that of the conversation
        first = select(answers.c.key, answers.c.run_id, answers.c.number, answers.c.answered_at).order_by(answers.c.number)
        firsts: dict[str, list[Any]] = {}
        for reply in self._ledger.rows_in(first, answers.c.key, sorted({row.session for row in rows if row.session})):
            firsts.setdefault(reply.key, []).append(reply)
        moments = [row.answered_at for row in rows if not row.session and row.run_id != run_id]
        for row in (row for row in rows if row.session):
            replies = [reply for reply in firsts.get(row.session, ()) if reply.number <= row.number]
            if replies and all(reply.run_id != run_id for reply in replies):
                moments.append(replies[-1].answered_at)
        return ReusedAnswers(cases=len(moments), oldest=aware(min(moments))) if moments else None

    def last_number(self) -> int:
        """Return the number of the answer that was appended last; 0 if there is none."""
        return int(self._ledger.value(select(func.max(answers.c.number))) or 0)

    def calls_of(self, run_id: str) -> list[CallTotals]:
        """Return what the calls of a run to its target and to the model that plays children took, by source."""
        columns = answers.c
        sums = [func.sum(func.coalesce(columns[name], 0)) for name in ("prompt_tokens", "completion_tokens", "seconds")]
        query = select(columns.source, func.count(), *sums).where(columns.run_id == run_id, columns.model != "")
        rows = self._ledger.rows(query.group_by(columns.source).order_by(columns.source))
        return [
            CallTotals(source, calls, int(prompt), int(completion), float(took))
            for source, calls, prompt, completion, took in rows
        ]

    def get(self, id: str) -> Answer | None:
        """Return an answer by its id."""
        return self.by_id([id]).get(storable(id))

    def by_id(self, ids: Sequence[str]) -> dict[str, Answer]:
        """Return the stored answers of these ids."""
        return {row.id: answer_of(row) for row in self._ledger.rows_in(WHOLE_ANSWERS, answers.c.id, ids)}

    def cases_of(self, keys: Sequence[str]) -> dict[str, Case]:
        """Return what judgments are about, by the judgments' keys: the first answer of each that is not erased."""
        first = select(answer_judgments.c.key, func.min(answer_judgments.c.answer)).group_by(answer_judgments.c.key)
        first = first.join(answer_texts, answer_texts.c.answer == answer_judgments.c.answer)
        numbers = dict(map(tuple, self._ledger.rows_in(first, answer_judgments.c.key, keys)))
        rows = self._ledger.rows_in(WHOLE_ANSWERS, answers.c.number, list(numbers.values()))
        cases = {row.number: answer_of(row).case for row in rows}
        return {key: cases[number] for key, number in numbers.items()}

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the source or collection of each known answer, by the answer's id."""
        return dict(map(tuple, self._ledger.rows_in(select(answers.c.id, answers.c.source), answers.c.id, ids)))

    def by_key(self, keys: Sequence[str], run_id: str | None = None) -> dict[str, Answer]:
        """Return the valid answer of each key (of a run; None: any): the model's latest reply, else the latest attempt."""
        query = WHOLE_ANSWERS.where(answers.c.key != "").order_by(answers.c.number)
        query = query if run_id is None else query.where(answers.c.run_id == run_id)
        best: dict[str, Answer] = {}
        for answer in map(answer_of, self._ledger.rows_in(query, answers.c.key, keys)):
            if answer.key not in best or answer.state in REPLIED or best[answer.key].state not in REPLIED:
                best[answer.key] = answer
        return best

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of stored answers by id."""
        return dict(map(tuple, self._ledger.rows_in(select(answers.c.id, answers.c.number), answers.c.id, ids)))

    def differing(self, submitted: Sequence[Answer]) -> list[Answer]:
        """Those of some submitted answers under whose id their source has submitted another prompt or response.

        What is erased or was left out by sampling is no other answer.
        """
        query = select(answers.c.id, answers.c.source, answer_texts.c.given).join(answer_texts)
        query = query.where(answers.c.origin == "monitor", answer_texts.c.given != "")
        ids = [id for answer in submitted for id in (answer.id, id_within(answer.id, answer.source))]
        rows = self._ledger.rows_in(query, answers.c.id, ids)
        by_place = {(row.id, row.source): row.given for row in rows}
        by_id = {row.id: row.given for row in rows}
        differing = []
        for answer in submitted:
            source = storable(answer.source)[:LONGEST_NAME]
            own_ids = (storable(answer.id), storable(id_within(answer.id, answer.source)))
            stored = next((by_place[id, source] for id in own_ids if (id, source) in by_place), None)
            stored = stored or (None if source else by_id.get(own_ids[0]))
            if stored is not None and given_digest(answer, stored[:16]) != stored:
                differing.append(answer)
        return differing


def insert_judged(connection: Connection, records: Sequence[RunRecord]) -> None:
    """Insert answers, judgments and their links; existing rows are kept."""
    insert_answers(connection, [record for record in records if isinstance(record, Answer)])
    insert_judgments(connection, [record for record in records if isinstance(record, Judgment)])
    insert_links(connection, [record for record in records if isinstance(record, Link)])
    _assign_answers(connection, [record for record in records if isinstance(record, CaseAnswer)])


def insert_answers(
    connection: Connection, new_answers: Sequence[Answer], decisions: dict[str, str] | None = None
) -> dict[str, int]:
    """Insert answers with their texts and the JSON of the gate's decision by id; those erased from the start have none.

    Returns the numbers of those that are new, by id; of several with one id the first counts.
    """
    by_id: dict[str, Answer] = {}
    for answer in new_answers:
        by_id.setdefault(storable(answer.id), answer)
    if not by_id:
        return {}
    # transactions that bring the same ids at once wait for each other in one order
    order = sorted(by_id) if connection.dialect.name == "postgresql" else list(by_id)
    statement = insert_into(connection, answers).on_conflict_do_nothing().returning(answers.c.id, answers.c.number)
    rows = {}
    for id in order:
        row, answer = row_of(by_id[id], *_NO_COLUMN), by_id[id]
        rows[id] = row | {
            "run_id": answer.run_id or None,
            "source": row["source"][:LONGEST_NAME],
            "language": row["language"][:16],
            "api_key": row["api_key"][:LONGEST_NAME],
            "prompt_key": "" if answer.erased else prompt_key(answer.case.prompt_text),
        }
    new: dict[str, int] = dict(map(tuple, connection.execute(statement, list(rows.values())).all()))
    texts: dict[str, RowValues] = {}
    for id, number in new.items():
        answer = by_id[id]
        if not answer.erased:
            # what tells a submitted answer from another one under its id, once its texts are reduced
            given_mark = given_digest(answer, secrets.token_hex(8)) if answer.origin == "monitor" else ""
            texts[id] = text_row(number, answer) | {"decision": (decisions or {}).get(id), "given": given_mark}
    insert_rows(connection, answer_texts, list(texts.values()))
    added = [rows[id] | texts.get(id, _NO_TEXTS) | {"number": number} for id, number in new.items()]
    seal(connection, "added", "answers", added)
    return new


def given_digest(answer: Answer, salt: str) -> str:
    """A salt, and a hash with it of an answer's prompt and response."""
    texts = f"{storable(answer.case.prompt_text)}\x00{storable(answer.case.response or '')}"
    return salt + hashlib.blake2b(texts.encode(), digest_size=32, key=salt.encode()).hexdigest()


def id_within(id: str, source: str) -> str:
    """The id in the ledger of an answer whose own id another source has used first."""
    mark = hashlib.blake2b(f"{storable(source)[:LONGEST_NAME]}\x00{storable(id)}".encode(), digest_size=8).hexdigest()
    return f"{id[: LONGEST_NAME - len(mark) - 1]}~{mark}"


def own_id(id: str, source: str) -> str:
    """The id that a source gave to an answer that is stored under `id_within`; ids of more than 111 characters stay as stored."""
    given_id = id.rpartition("~")[0]
    return given_id if given_id and id_within(given_id, source) == id else id


def submitted_sources(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    """The sources of submitted answers, by id."""
    query = select(answers.c.id, answers.c.source).where(answers.c.origin == "monitor")
    return dict(map(tuple, rows_in(connection, query, answers.c.id, ids)))


def whole_answers(connection: Connection, numbers: Sequence[int]) -> list[RowValues]:
    """Return the rows of answers by number, with their texts."""
    rows = connection.execute(WHOLE_ANSWERS.where(answers.c.number.in_(numbers)).order_by(answers.c.number))
    return [values_of(row) for row in rows]


def insert_links(connection: Connection, links: Sequence[Link]) -> None:
    """Insert links between judgments, answers and panels; those that are there are kept."""
    if not links:
        return
    insert = insert_into(connection, answer_judgments).on_conflict_do_nothing().returning(*answer_judgments.c)
    new = connection.execute(insert, [structs.asdict(link) for link in sorted(set(links))]).all()
    seal(connection, "added", "answer_judgments", new)


def note_judgments(connection: Connection, answer: int, run_id: str, used: Sequence[Judgment]) -> None:
    """Note the judgments that an answer's scores rest on.

    Equal answers that are judged at the same time have a judgment each under one key, each with its own tokens and seconds.
    """
    place = (answer_judgments.c.answer == answer, answer_judgments.c.run_id == run_id)
    wanted = {judgment.key: (naive(judgment.created_at), judgment.seconds) for judgment in used}
    columns = (judgments.c.id, judgments.c.key, judgments.c.created_at, judgments.c.seconds)
    rows = connection.execute(select(*columns).where(judgments.c.key.in_(list(wanted))).order_by(judgments.c.id)).all()
    numbers = {row.key: row.id for row in rows if (row.created_at, row.seconds) == wanted[row.key]}
    if numbers:
        change = update(answer_judgments).where(*place, answer_judgments.c.key == bindparam("of"))
        values = [{"of": key, "number": number} for key, number in sorted(numbers.items())]
        connection.execute(change.values(judgment=bindparam("number")), values)
        changed = select(answer_judgments).where(*place, answer_judgments.c.key.in_(list(numbers)))
        seal(connection, "evaluated", "answer_judgments", connection.execute(changed).all())


def forget_judgments(connection: Connection, places: Sequence[tuple[int, str]]) -> None:
    """Note that answers under a panel wait for other judgments than those that their scores rested on."""
    noted = tuple_(answer_judgments.c.answer, answer_judgments.c.run_id).in_(places)
    rows = connection.execute(select(answer_judgments).where(noted, answer_judgments.c.judgment.is_not(None))).all()
    connection.execute(update(answer_judgments).where(noted).values(judgment=None))
    seal(connection, "evaluated", "answer_judgments", [values_of(row) | {"judgment": None} for row in rows])


def blank_cases(connection: Connection, numbers: Sequence[int]) -> None:
    """Erase the texts of the run cases that these answers (by number) belong to.

    Raises:
        DamagedRow: a case cannot be read; nothing is erased.
    """
    for row in rows_in(connection, select(run_cases), run_cases.c.answer, numbers):
        row_name = f"run_cases {row.run_id} {row.position}"
        content = decoded(_DETAILS_OF, row.case, row_name, "case")
        case = decoded(_DETAILS_OF, json_text(content.get("case")), row_name, "case")
        content["case"] = {name: value for name, value in case.items() if name in _CASE_PLACE} | {"prompt": ""}
        place = (run_cases.c.run_id == row.run_id, run_cases.c.position == row.position)
        connection.execute(update(run_cases).where(*place).values(case=json_text(content)))


def answer_of(row: Row[Any]) -> Answer:
    """Read an answer from a row of `WHOLE_ANSWERS`, which may have more columns."""
    columns = row._mapping  # read by name, it is five times as fast as the row's attributes
    texts = {name: columns[name] or "" for name in ("run_id", "session", "trace_id", "delivered", "thinking")}
    return record_of(Answer, row, case=_case_of(columns), erased=columns["prompt"] is None, **texts)


def text_row(number: int, answer: Answer) -> dict[str, Any]:
    """Build a row of `answer_texts`, without the gate's decision."""
    case = answer.case
    return {
        "answer": number,
        "prompt": storable(case.prompt_text),
        "turns": None if isinstance(case.prompt, str) else storable_json(case.prompt),
        "response": None if case.response is None else storable(case.response),
        "documents": storable_json(case.documents),
        "details": storable_json({name: value for name, absent in _DETAILS.items() if (value := getattr(case, name)) != absent}),
        "delivered": storable(answer.delivered),
        "thinking": storable(answer.thinking),
        "session": storable(answer.session),
        "trace_id": storable(answer.trace_id),
        "salt": secrets.token_hex(16),
    }


_NO_TEXTS: RowValues = dict.fromkeys([column.name for column in TEXT_COLUMNS])


def reduce_texts(connection: Connection, number: int, stored: Answer) -> None:
    """Replace the texts of an answer that was submitted; those of the gate's answers are reduced by the gate."""
    submitted = exists().where(answers.c.number == number, answers.c.origin == "monitor")
    change = update(answer_texts).where(answer_texts.c.answer == number, submitted)
    if connection.execute(change.values(**text_row(number, stored))).rowcount:
        seal(connection, "reduced", "answers", whole_answers(connection, [number]))


def prompt_key(prompt: str) -> str:
    """The look-up key of a prompt, independent of case and white space."""
    return hashlib.sha256(" ".join(storable(prompt).split()).casefold().encode()).hexdigest()[:32]


def text_key(collection: str, response: str, documents: Sequence[Document]) -> str:
    """The look-up key of a response over its documents in a collection; "" of an empty response.

    It is independent of case, white space, Unicode's composed forms, and of the documents' order, ids and scores.
    """
    if not response.strip():
        return ""
    read = sorted({(_folded(document.title), _folded(document.text)) for document in documents})
    return hashlib.sha256(json_text([storable(collection)[:LONGEST_NAME], _folded(response), read]).encode()).hexdigest()[:32]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", storable(text)).split()).casefold()


_NO_COLUMN = ("number", "case", "session", "trace_id", "delivered", "thinking", "erased")


_CASE_PLACE = ("id", "category", "subcategory", "maturity", "source", "criteria_selection", "tags")
"""What stays of a case whose answer is erased."""


def _assign_answers(connection: Connection, links: Sequence[CaseAnswer]) -> None:
    """Note the answers of cases; of an answer that is erased, the case's texts go too."""
    if not links:
        return
    place = (run_cases.c.run_id == bindparam("run"), run_cases.c.position == bindparam("at"))
    number = select(answers.c.number).where(answers.c.id == bindparam("answer_id")).scalar_subquery()
    values = [{"run": link.run_id, "at": link.position, "answer_id": storable(link.answer_id)} for link in links]
    connection.execute(update(run_cases).where(*place).values(answer=number), values)
    for run_id in sorted({link.run_id for link in links}):
        for positions in chunks([link.position for link in links if link.run_id == run_id]):
            cases = select(run_cases).where(run_cases.c.run_id == run_id, run_cases.c.position.in_(positions))
            seal(connection, "answered", "run_cases", connection.execute(cases).all())
    for part in chunks([storable(link.answer_id) for link in links]):
        erased = select(answers.c.number).where(answers.c.id.in_(part), ~HAS_TEXTS)
        blank_cases(connection, connection.execute(erased).scalars().all())


_BARE = Case(id="", prompt="")
_DETAILS = {name: getattr(_BARE, name) for name in Case.__struct_fields__ if name not in ("prompt", "response", "documents")}
"""The fields of a case that have no column, and the values that are left out."""
_TURNS, _DOCUMENTS, _DETAILS_OF = Decoder(tuple[Turn, ...]), Decoder(tuple[Document, ...]), Decoder(dict[str, Any])


def _case_of(columns: RowMapping) -> Case:
    id, prompt, turns = columns["id"], columns["prompt"], columns["turns"]
    if prompt is None:
        return Case(id=id, prompt="")
    try:
        details: dict[str, Any] = {"id": id} | _DETAILS_OF.decode(columns["details"])
        prompt_or_turns = prompt if turns is None else _TURNS.decode(turns)
        documents = _DOCUMENTS.decode(columns["documents"])
        return msgspec.convert(
            details | {"prompt": prompt_or_turns, "response": columns["response"], "documents": documents}, Case
        )
    except msgspec.MsgspecError as fault:
        raise DamagedRow(f"answer {id}", "turns, documents or details", fault) from None
