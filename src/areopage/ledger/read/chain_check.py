"""Verify the hash chains: every link, and every row of evidence against the digests that the links hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Select, select

from areopage.ledger.tables.chain import (
    ALLOWED,
    DIGEST_BYTES,
    EVIDENCE,
    NO_LINK,
    NUL,
    Change,
    Evidence,
    Group,
    Head,
    heads,
    link_digest,
    linked,
    placed,
    queued,
    row_digests,
)
from areopage.ledger.tables.chain_rules import Moment, Removals, check_order, check_signatures
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import RowValues, values_of
from areopage.ledger.tables.schema import chain
from areopage.ledger.write.answers import WHOLE_ANSWERS
from areopage.ledger.write.judgments import judged_rows
from areopage.ledger.write.traces import HASHED_DECISIONS

PORTION = 500
_NOTHING = ("", "[]", None)
_GROUPS: msgspec.json.Decoder[list[tuple[Change, str, list[Any]]]] = msgspec.json.Decoder(list[tuple[Change, str, list[Any]]])


class Fault(Struct, frozen=True):
    """A row or a link that is not what the chains say, and how: `judgments 12: altered (figures)`."""

    subject: str
    what: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.what}"


class Since(Struct, frozen=True, order=True):
    """A kind of change after the heads that were kept.

    Args:
        actor: who is named by the rows: a rater, a signer, an actor of the audit log, a judge, an API key; "" where none is.
    """

    table: str
    change: Change
    actor: str


class ChainCheck(Struct, frozen=True, kw_only=True):
    """What a verification found.

    Args:
        rows: rows of evidence that were compared.
        since: of the links after the heads that were kept, how many rows each kind of change is about.
        reread: the judgments whose raw texts were read again, by number; their scores are to be compared with the raw texts.
        reread_and_erased: how many judgments were erased after that: nothing is left to compare.
    """

    rows: int
    links: int
    faults: int
    heads: tuple[Head, ...]
    since: dict[Since, int]
    reread: tuple[int, ...] = ()
    reread_and_erased: int = 0


class _Row(Struct):
    """What the chains say of a row. `change` is the latest; an erased row stays erased, one that was read again stays so.

    `link` is the number of the link that added it, `since` the changes after the heads that were kept.
    """

    digests: bytes
    change: Change
    link: int
    erased: bool = False
    reread: bool = False
    since: tuple[Change, ...] = ()


_Rows = dict[str, dict[Any, _Row]]


class Chains(Store):
    """The hash chains of a ledger."""

    def check(self, kept: Sequence[Head], found: Callable[[Fault], None]) -> ChainCheck:
        """Verify the chains at one moment; nothing is written.

        Args:
            kept: heads that a report names: the chains must hold them.
            found: is told each fault.

        Raises:
            StorageError: the ledger cannot be read.
        """
        with self._ledger.snapshot() as connection:
            checking = _Checking(connection, kept, found)
            for link in connection.execute(select(chain).order_by(chain.c.number).execution_options(yield_per=PORTION)):
                checking.link(link)
            checking.end()
            for evidence in EVIDENCE.values():
                checking.table(evidence)
            checking.order()
            return ChainCheck(
                rows=checking.rows,
                links=checking.links,
                faults=checking.faults,
                heads=heads(connection),
                since=dict(sorted(checking.since.items())),
                reread=tuple(sorted(checking.reread)),
                reread_and_erased=checking.reread_and_erased,
            )


class _Checking:
    """One verification: links first, in order, then tables."""

    def __init__(self, connection: Connection, kept: Sequence[Head], found: Callable[[Fault], None]) -> None:
        self._connection = connection
        self._kept, self._found = {(one.writer, one.sequence): one.digest for one in kept}, found
        self._last_kept = {one.writer: max(each.sequence for each in kept if each.writer == one.writer) for one in kept}
        self._ends: dict[int, tuple[int, str]] = {}
        self._known: _Rows = {name: {} for name in EVIDENCE}
        self._removals, self._moments = Removals(connection, self._fault), list[Moment]()
        self.rows = self.links = self.faults = self.reread_and_erased = 0
        self.since: dict[Since, int] = {}
        self.reread: list[int] = []

    def link(self, row: Any) -> None:
        """Take the next link: it must follow the one before in its chain, and be what its digest says."""
        self.links += 1
        sequence, digest = self._ends.get(row.writer, (0, NO_LINK))
        subject = f"chain {row.writer}, link {row.sequence}"
        if row.sequence != sequence + 1:
            self._fault(subject, f"link {sequence + 1} is missing")
        elif row.previous != digest:
            self._fault(subject, "does not follow the link before")
        groups = _groups_of(row)
        own = link_digest(row.writer, row.sequence, row.previous, row.members, row.digests)
        if own != row.digest or groups is None or row.rows != sum(len(one.keys) for one in groups):
            self._fault(subject, "altered")
        kept = self._kept.pop((row.writer, row.sequence), row.digest)
        if kept != row.digest:
            self._fault(subject, f"is not the link that was kept ({kept[:12]}…)")
        self._ends[row.writer] = (row.sequence, row.digest)
        is_since = bool(self._last_kept) and row.sequence > self._last_kept.get(row.writer, 0)
        self._removals.link(groups or (), self._digests, self._standing_links)
        for group in groups or ():
            self._take(group, row.number, is_since)

    def end(self) -> None:
        """After the last link: a kept head that did not come is cut off."""
        self._removals.end()
        for writer, sequence in self._kept:
            end = self._ends.get(writer, (0, ""))[0]
            self._fault(f"chain {writer}", f"link {sequence}, which was kept, is missing: the chain ends at link {end}")

    def table(self, evidence: Evidence) -> None:
        """Compare the rows of a table with what the chains say of them."""
        name = str(evidence.table.name)
        known = self._known[name]
        for row in _rows_of(self._connection, name):
            key = row[evidence.key]
            said = known.pop(key, None)
            self.rows += 1
            if said is None or said.change == "removed":
                self._fault(f"{name} {key}", "not in any chain: inserted")
                continue
            differing = _differing(evidence, said.digests, row_digests(name, row))
            if differing:
                self._fault(f"{name} {key}", f"altered ({', '.join(differing)})")
            elif said.erased and not _is_blank(evidence, row):
                self._fault(f"{name} {key}", "altered (erased texts are there)")
            self._note(evidence, key, row, said)
        for key, said in known.items():
            if said.change != "removed":
                self._fault(f"{name} {key}", "deleted")
            self._count(name, said, "")

    def order(self) -> None:
        """After the tables: rows that people and commands write one after the other are dated in this order."""
        check_order(self._moments, self._fault)
        check_signatures(self._connection, self._fault)

    def _note(self, evidence: Evidence, key: Any, row: RowValues, said: _Row) -> None:
        """Note what is asked of the rows of all tables: changes since the kept heads, times, judgments that were read again."""
        name = str(evidence.table.name)
        self._count(name, said, str(row[evidence.actor] or "") if evidence.actor else "")
        if evidence.moment and row[evidence.moment] is not None:
            self._moments.append(Moment(said.link, row[evidence.moment], f"{name} {key}"))
        elif name == "runs" and row["kind"] == "bench":
            self._moments.append(Moment(said.link, row["created_at"]))
        if said.reread:
            if said.erased:
                self.reread_and_erased += 1
            else:
                self.reread.append(key)

    def _count(self, table: str, said: _Row, actor: str) -> None:
        for change in said.since:
            kind = Since(table, change, actor)
            self.since[kind] = self.since.get(kind, 0) + 1

    def _digests(self, table: str, key: Any) -> bytes | None:
        row = self._known[table].get(key)
        return None if row is None else row.digests

    def _standing_links(self) -> list[str]:
        return [key for key, row in self._known["answer_judgments"].items() if row.change != "removed"]

    def _take(self, group: Group, link: int, is_since: bool) -> None:
        """Note what a link says of its rows; a change may only be about some tables, and alter the parts that it is about."""
        evidence, known = EVIDENCE[group.table], self._known[group.table]
        size = DIGEST_BYTES * len(evidence.parts)
        allowed = ALLOWED[group.change].get(group.table)
        for at, key in enumerate(group.keys):
            digests = group.digests[at * size : (at + 1) * size]
            before = known.get(key)
            if before is not None and before.change == "removed":  # a link may come back with the judgment of an equal answer
                before = None
            if allowed is None:
                self._fault(f"{group.table} {key}", f"{group.change}: no command of areopage does this to {group.table}")
            elif (before is None) != (group.change == "added"):
                self._fault(f"{group.table} {key}", f"{group.change} without being added" if before is None else "added twice")
            elif before is not None:
                wrong = set(_differing(evidence, before.digests, digests)).difference(allowed)
                if wrong:
                    self._fault(f"{group.table} {key}", f"altered ({', '.join(sorted(wrong))}) as if it was {group.change}")
            now = known[key] = _Row(digests, group.change, link) if before is None else before
            now.digests, now.change = digests, group.change
            now.erased |= group.change == "erased"
            now.reread |= group.change == "reread"
            if is_since:
                now.since += (group.change,)

    def _fault(self, subject: str, what: str) -> None:
        self.faults += 1
        self._found(Fault(subject, what))


def _groups_of(row: Any) -> list[Group] | None:
    """The rows that a link is about; None where its texts cannot be read, or do not fit its digests."""
    try:
        members = _GROUPS.decode(row.members)
    except msgspec.MsgspecError:
        return None
    groups, at = [], 0
    for change, table, keys in members:
        if table not in EVIDENCE:
            return None
        size = DIGEST_BYTES * len(EVIDENCE[table].parts) * len(keys)
        groups.append(Group(change, table, keys, row.digests[at : at + size]))
        at += size
    return groups if at == len(row.digests) else None


def _differing(evidence: Evidence, before: bytes, now: bytes) -> list[str]:
    """The names of the parts whose digests differ."""
    size = DIGEST_BYTES
    return [name for at, name in enumerate(evidence.parts) if before[at * size :][:size] != now[at * size :][:size]]


def _is_blank(evidence: Evidence, row: Mapping[str, Any]) -> bool:
    """Whether nothing is left in the columns that an erasure empties."""
    for name in evidence.texts:
        texts = [row[name]]
        if name == "remarks":  # the criterion stays
            texts = [text for at, text in enumerate(row[name].split(NUL)) if at % 4]
        if any(text not in _NOTHING for text in texts):
            return False
    return True


def _rows_of(connection: Connection, table: str) -> Iterator[RowValues]:
    """The rows of a table with all that is hashed."""
    query: Select[Any] = select(EVIDENCE[table].table)
    if table == "decisions":
        query = HASHED_DECISIONS
    elif table == "answers":
        query = WHOLE_ANSWERS
    for part in connection.execute(query.execution_options(yield_per=PORTION)).partitions():
        rows = [values_of(row) for row in part]
        if table == "answer_judgments":
            rows = [linked(row) for row in rows]
        elif table == "run_cases":
            rows = [placed(row) for row in rows]
        elif table == "review_items":
            rows = [queued(row) for row in rows]
        yield from judged_rows(connection, rows) if table == "judgments" else rows
