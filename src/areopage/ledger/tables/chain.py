"""Hash chains over a ledger's evidence: runs, cases, answers, judgments, links, labels, review items, decisions, releases,
sign-offs, exams, rounds of canaries, calibrations, audit, erasures.

A transaction that adds or changes such rows appends one link to a chain: the digests of its rows, hashed together with the digest
of the link before. To alter a row or a link unnoticed, all later links would have to be made again, and the head would then
not be the one that results and reports name.

A link is appended as the last statement before a commit. A chain has one writer at a time: in PostgreSQL, a transaction that
finds a chain taken continues the next one, so that none waits for another. SQLite has one writer anyway, and one chain.

The digest of a row has parts, so that a change can be told from an alteration: erasing a judgment changes the part of its texts,
and may not change the part of its scores.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from operator import itemgetter
from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Engine, Float, Row, Table, event, func, select

from areopage.ledger.tables.answer_tables import (
    answer_judgments,
    answer_texts,
    answers,
    decisions,
    judgments,
    releases,
    run_cases,
    runs,
)
from areopage.ledger.tables.rows import RowValues, carried_out, insert_numbered, insert_rows, values_in, values_of
from areopage.ledger.tables.schema import (
    audit,
    calibrations,
    canary_rounds,
    chain,
    labels,
    qualifications,
    review_items,
    signoffs,
)

RowChange = Literal["added", "answered", "evaluated", "reviewed", "erased", "reread", "reduced", "removed"]
"""What a transaction did to rows. `answered`: the case of a run has its answer. `evaluated`: the scores of an answer rest on this
judgment. `reviewed`: a review item is done, open again, or counts as drawn at random; a label is undone. `reread`: a judge's raw
text was read again. `reduced`: texts are cut by the storage policy. `removed`: judgments of no answer that retention deletes,
links whose judgment an erasure gives another key, and review items of erased answers."""

CHAIN_LOCK = 0x0A5E0D
"""PostgreSQL's advisory locks of the chains, by number."""
DIGEST_BYTES = 32
NUL = "\x00"
"""Between texts that are hashed together."""
NO_LINK = "0" * 64
"""What the first link of a chain names as the one before."""
_UNSEALED = "areopage.unsealed"
_ENCODE = msgspec.json.Encoder().encode


class EvidenceTable(Struct, frozen=True):
    """How rows of a table are hashed.

    Args:
        key: the column that rows are named by.
        parts: the names of the columns that are hashed together, by part; the first is of figures, the others of texts.
        texts: the columns that an erasure empties.
        actor: the column that says who wrote a row; "" where none does.
        moment: the column with the time of writing, of tables whose rows people and commands write one after the other.
        named: what is hashed of a stored row, where its key has several columns.
    """

    table: Table
    key: str
    parts: dict[str, tuple[str, ...]]
    texts: tuple[str, ...] = ()
    actor: str = ""
    moment: str = ""
    named: Callable[[RowValues], RowValues] = lambda row: row


def _but(table: Table, *names: str) -> tuple[str, ...]:
    return tuple(column.name for column in table.c if column.name not in names)


_OF_TEXT = ("key", "prompt_key", "reason")
"""The columns of an answer that say something of its texts, and go with them."""
_ANSWER_TEXTS = ("salt", *_OF_TEXT, *_but(answer_texts, "answer", "decision", "salt"))
_LABEL_TEXTS = ("note", "correction", "text_key")
_DECISION_TEXTS = ("held_key", "text_key", "decision")


def linked(row: RowValues) -> RowValues:
    """What is hashed of a link's row: its answer, panel and key, and the judgment that the scores rest on."""
    return {"link": f"{row['answer']} {row['run_id']} {row['key']}", "rests": str(row.get("judgment") or "")}


def queued(row: RowValues) -> RowValues:
    """A review item's row with its name in the chain: its number and its answer."""
    return row | {"item": f"{row['number']} {row['answer_id']}"}


def placed(row: RowValues) -> RowValues:
    """What is hashed of a run's case: its place and the number of its answer."""
    return {"place": f"{row['run_id']} {row['position']}", "given": str(row.get("answer") or "")}


EVIDENCE: Mapping[str, EvidenceTable] = {
    str(evidence.table.name): evidence
    for evidence in (
        EvidenceTable(
            judgments,
            "id",
            {
                "figures": (*_but(judgments, "id", "key", "run_id", "raw_text", "repair_text", "stored"), "scores"),
                "run": ("run_id",),
                "key": ("key",),
                "raw text": ("raw_text", "repair_text", "stored"),
                "texts": ("remarks",),
            },
            ("raw_text", "repair_text", "remarks"),
            actor="judge",
        ),
        EvidenceTable(
            labels,
            "number",
            {"figures": _but(labels, "number", "state", *_LABEL_TEXTS), "texts": _LABEL_TEXTS, "state": ("state",)},
            _LABEL_TEXTS,
            actor="rater",
            moment="created_at",
        ),
        EvidenceTable(
            decisions,
            "answer",
            {"figures": _but(decisions, "answer", "held_key", "text_key"), "texts": _DECISION_TEXTS},
            _DECISION_TEXTS,
        ),
        EvidenceTable(
            releases,
            "answer_id",
            {"figures": _but(releases, "answer_id", "text"), "texts": ("text",)},
            ("text",),
            actor="rater",
            moment="at",
        ),
        EvidenceTable(runs, "id", {"figures": _but(runs, "id", "finished_at", "outcome")}),
        EvidenceTable(signoffs, "number", {"figures": _but(signoffs, "number")}, actor="name", moment="signed_at"),
        EvidenceTable(qualifications, "number", {"figures": _but(qualifications, "number", "path")}, actor="judge", moment="at"),
        EvidenceTable(canary_rounds, "number", {"figures": _but(canary_rounds, "number", "path")}, actor="judge", moment="at"),
        EvidenceTable(calibrations, "number", {"figures": _but(calibrations, "number")}, moment="created_at"),
        EvidenceTable(audit, "number", {"figures": _but(audit, "number")}, actor="actor", moment="at"),
        EvidenceTable(answer_judgments, "link", {"figures": ("link",), "judgment": ("rests",)}, named=linked),
        EvidenceTable(run_cases, "place", {"figures": ("place",), "answer": ("given",)}, named=placed),
        EvidenceTable(
            answers,
            "number",
            {"figures": _but(answers, "number", *_OF_TEXT), "texts": _ANSWER_TEXTS},
            _ANSWER_TEXTS,
            actor="api_key",
        ),
        EvidenceTable(
            review_items,
            "item",
            {"figures": ("item", "created_at", "wanted", "run_id"), "state": ("why", "state")},
            named=queued,
        ),
    )
}
"""`scores` and `remarks` are of a judgment's verdicts; `link` and `rests` are of a link's row, see `linked`; `place` and `given`
are of a run's case, see `placed`; `item` names a review item, see `queued`. The texts of an answer are hashed with a random salt
that goes with them: what is left of an erased text cannot be guessed."""

ALLOWED: Mapping[RowChange, Mapping[str, tuple[str, ...]]] = {
    "added": dict.fromkeys(EVIDENCE, ()),
    "answered": {"run_cases": ("answer",)},
    "evaluated": {"answer_judgments": ("judgment",)},
    "reviewed": {"review_items": ("state",), "labels": ("state",)},
    "erased": {
        "judgments": ("key", "raw text", "texts"),
        "labels": ("texts",),
        "decisions": ("texts",),
        "releases": ("texts",),
        "answers": ("texts",),
    },
    "reread": {"judgments": ("figures", "texts")},
    "reduced": {"decisions": ("texts",), "answers": ("texts",)},
    "removed": {"judgments": (), "answer_judgments": (), "review_items": ()},
}
"""The tables whose rows each change may be about, and the parts of a row that it may alter; see `read.chain_check`."""

_Part = tuple[Callable[[Mapping[str, Any]], tuple[Any, ...]], tuple[int, ...]]


def _is_fractional(evidence: EvidenceTable, name: str) -> bool:
    return name in evidence.table.c and isinstance(evidence.table.c[name].type, Float)


_PARTS: Mapping[str, tuple[_Part, ...]] = {
    table: tuple(
        (values_in(names), tuple(at for at, name in enumerate(names) if _is_fractional(evidence, name)))
        for names in evidence.parts.values()
    )
    for table, evidence in EVIDENCE.items()
}
"""How to read the values of each part, and which of them are fractional numbers."""


class SealedRows(Struct, frozen=True):
    """Rows of one table with the same change: their keys and their digests, one after the other."""

    change: RowChange
    table: str
    keys: Sequence[Any]
    digests: bytes


class Head(Struct, frozen=True, order=True):
    """The last link of a chain; its text form is what results and reports name."""

    writer: int
    sequence: int
    digest: str

    def __str__(self) -> str:
        return f"{self.writer}-{self.sequence}-{self.digest}"


def with_verdicts(row: RowValues, said: Sequence[RowValues]) -> RowValues:
    """A judgment's row with what is hashed of its verdicts, by criterion."""
    in_order = sorted(said, key=itemgetter("criterion")) if len(said) > 1 else said
    scores = []
    for verdict in in_order:
        score = None if verdict["score"] is None else verdict["score"] + 0.0
        # of log-probabilities; nothing where the score is the one that the judge wrote
        probabilities = [] if verdict["mass"] is None else [verdict["mass"], verdict["written"]]
        numbers = [number + 0.0 for number in probabilities if number is not None]
        scores.append((verdict["criterion"], verdict["outcome"], score, *numbers))
    return row | {"scores": scores, "remarks": NUL.join([text for verdict in in_order for text in _REMARKS(verdict)])}


_REMARKS = itemgetter("criterion", "explanation", "evidence", "reason")


def row_digests(table: str, row: Mapping[str, Any]) -> bytes:
    """The digests of a row's parts: of figures that of their JSON, of texts that of the texts with NUL between them.

    No stored text holds a NUL. Fractional numbers are hashed as every database returns them: 1 as 1.0, -0.0 as 0.0.
    """
    (figures, floats), *others = _PARTS[table]
    values = list(figures(row))
    for at in floats:
        if values[at] is not None:
            values[at] += 0.0
    return _hash(_ENCODE(values)) + b"".join([text_digest(NUL.join([text or "" for text in texts(row)])) for texts, _ in others])


def text_digest(text: str) -> bytes:
    """The digest of a part that is a single text."""
    return _hash(text.encode())


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def seal(connection: Connection, change: RowChange, table: str, rows: Sequence[RowValues] | Sequence[Row[Any]]) -> None:
    """Note rows that a transaction has added or changed; its commit appends them to a chain.

    They have all columns of `EVIDENCE` as they are stored; judgments with their verdicts.
    """
    if rows:
        evidence = EVIDENCE[table]
        hashed = [evidence.named(row if isinstance(row, dict) else values_of(row)) for row in rows]
        digests = b"".join([row_digests(table, row) for row in hashed])
        group = SealedRows(change, table, [row[evidence.key] for row in hashed], digests)
        connection.info.setdefault(_UNSEALED, []).append(group)


def append_sealed(connection: Connection, table: Table, rows: Sequence[RowValues]) -> list[int]:
    """Append at least one row to a table of evidence that numbers its rows, and seal them; return their numbers."""
    numbers, name = insert_numbered(connection, table, rows), str(table.name)  # SQLAlchemy's own kind of text is no JSON
    key = EVIDENCE[name].key
    seal(connection, "added", name, [row | {key: number} for row, number in zip(rows, numbers, strict=True)])
    return numbers


def seal_commits(engine: Engine) -> None:
    """Append what transactions note to a chain as they commit."""
    if not event.contains(engine, "commit", _append_link):
        event.listen(engine, "commit", _append_link)
        event.listen(engine, "rollback", _forget)


def link_digest(writer: int, sequence: int, previous: str, members: str, digests: bytes) -> str:
    """The digest of a link, over the link before and the digests of its rows."""
    head = msgspec.json.encode([writer, sequence, previous, members])
    return _hash(head + digests).hex()


def heads(connection: Connection) -> tuple[Head, ...]:
    """The last link of each chain."""
    last = select(chain.c.writer, func.max(chain.c.sequence).label("sequence")).group_by(chain.c.writer).subquery()
    query = select(chain.c.writer, chain.c.sequence, chain.c.digest).join(
        last, (chain.c.writer == last.c.writer) & (chain.c.sequence == last.c.sequence)
    )
    return tuple(Head(*row) for row in connection.execute(query.order_by(chain.c.writer)))


def _forget(connection: Connection) -> None:
    if not connection.invalidated:
        connection.info.pop(_UNSEALED, None)


def _append_link(connection: Connection) -> None:
    groups: list[SealedRows] = connection.info.pop(_UNSEALED, [])
    if not groups:
        return
    writer, mark = 1, "?"
    if connection.dialect.name != "sqlite":
        # the first chain that no other transaction appends to; it stays locked until the commit
        statement, mark = "SELECT pg_try_advisory_xact_lock(%s, %s)", "%s"
        writer = next(at for at in count(1) if connection.exec_driver_sql(statement, (CHAIN_LOCK, at)).scalar())
    statement = f"SELECT sequence, digest FROM chain WHERE writer = {mark} ORDER BY sequence DESC LIMIT 1"  # noqa: S608 - a mark
    sequence, previous = carried_out(connection, statement, [(writer,)]).fetchone() or (0, NO_LINK)
    members = msgspec.json.encode([[group.change, group.table, group.keys] for group in groups]).decode()
    digests = b"".join([group.digests for group in groups])
    row = {
        "writer": writer,
        "sequence": sequence + 1,
        "previous": previous,
        "digest": link_digest(writer, sequence + 1, previous, members, digests),
        "rows": sum(len(group.keys) for group in groups),
        "members": members,
        "digests": digests,
    }
    insert_rows(connection, chain, [row])
