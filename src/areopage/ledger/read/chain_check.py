"""Verify the hash chains: every link, and every row of evidence against the digests that the links hold.

Beyond their digests, changes must follow rules: no command removes a sign-off, and none is dated in the past.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Select, select

from areopage.ledger.tables.answer_tables import answer_judgments, answer_texts, answers, judgments, runs
from areopage.ledger.tables.chain import (
    ALLOWED,
    DIGEST_BYTES,
    EVIDENCE,
    NO_LINK,
    NUL,
    EvidenceTable,
    Head,
    RowChange,
    SealedRows,
    heads,
    link_digest,
    row_digests,
    text_digest,
)
from areopage.ledger.tables.database import Store
from areopage.ledger.tables.rows import RowValues, rows_in, values_of
from areopage.ledger.tables.schema import chain, signoffs
from areopage.ledger.write.answers import HAS_TEXTS, WHOLE_ANSWERS
from areopage.ledger.write.judgments import judged_rows
from areopage.ledger.write.traces import HASHED_DECISIONS

PORTION = 500
CLOCKS_DIFFER = timedelta(minutes=5)
"""How far the clocks of computers that write to one ledger may differ."""
_NOTHING = ("", "[]", None)
_GROUPS = msgspec.json.Decoder(list[tuple[RowChange, str, list[Any]]])


class ChainFault(Struct, frozen=True):
    """A row or a link that is not what the chains say, and how: `judgments 12: altered (figures)`."""

    subject: str
    what: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.what}"


class Since(Struct, frozen=True, order=True):
    """A kind of change after the heads that were kept, by who is named by the rows: a rater, a judge; "" where none is."""

    table: str
    change: RowChange
    actor: str


class ChainCheck(Struct, frozen=True, kw_only=True):
    """What a verification found.

    Args:
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
    change: RowChange
    link: int
    erased: bool = False
    reread: bool = False
    since: tuple[RowChange, ...] = ()


_Rows = dict[str, dict[Any, _Row]]
_Members = defaultdict[tuple[str, str], list[tuple[Any, bytes]]]
"""The keys and digests of a link's rows, by change and table."""


class Chains(Store):
    """The hash chains of a ledger."""

    def check(self, kept: Sequence[Head], on_fault: Callable[[ChainFault], None]) -> ChainCheck:
        """Verify the chains at one moment, and that they hold the heads that a report names; `on_fault` gets each fault."""
        with self._ledger.snapshot() as connection:
            checking = _Checking(connection, kept, on_fault)
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

    def __init__(self, connection: Connection, kept: Sequence[Head], on_fault: Callable[[ChainFault], None]) -> None:
        self._connection = connection
        self._kept, self._on_fault = {(head.writer, head.sequence): head.digest for head in kept}, on_fault
        self._last_kept = {head.writer: max(each.sequence for each in kept if each.writer == head.writer) for head in kept}
        self._ends: dict[int, tuple[int, str]] = {}
        self._chained: _Rows = {name: {} for name in EVIDENCE}
        self._moments: list[tuple[int, datetime, str]] = []
        gates = connection.execute(select(runs.c.id).where(runs.c.kind == "gate")).scalars()
        self._gates = {text_digest(id) for id in gates}
        self._linked: Counter[bytes] | None = None
        self._removed_items: dict[str, str] = {}
        self.rows = self.links = self.faults = self.reread_and_erased = 0
        self.since: Counter[Since] = Counter()
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
        computed = link_digest(row.writer, row.sequence, row.previous, row.members, row.digests)
        if computed != row.digest or groups is None or row.rows != sum(len(group.keys) for group in groups):
            self._fault(subject, "altered")
        kept = self._kept.pop((row.writer, row.sequence), row.digest)
        if kept != row.digest:
            self._fault(subject, f"is not the link that was kept ({kept[:12]}…)")
        self._ends[row.writer] = (row.sequence, row.digest)
        is_since = bool(self._last_kept) and row.sequence > self._last_kept.get(row.writer, 0)
        self._check_removals(groups or ())
        for group in groups or ():
            self._take(group, row.number, is_since)

    def end(self) -> None:
        """After the last link: a kept head that did not come is cut off."""
        self._check_removed()
        for writer, sequence in self._kept:
            end = self._ends.get(writer, (0, ""))[0]
            self._fault(f"chain {writer}", f"link {sequence}, which was kept, is missing: the chain ends at link {end}")

    def table(self, evidence: EvidenceTable) -> None:
        """Compare the rows of a table with what the chains say of them."""
        name = str(evidence.table.name)
        chained = self._chained[name]
        for row in _rows_of(self._connection, name):
            key = row[evidence.key]
            said = chained.pop(key, None)
            self.rows += 1
            if said is None or said.change == "removed":
                self._fault(f"{name} {key}", "not in any chain: inserted")
                continue
            differing = _differing(evidence, said.digests, row_digests(name, row))
            if differing:
                self._fault(f"{name} {key}", f"altered ({', '.join(differing)})")
            elif said.erased and not _is_blank(evidence, row):
                self._fault(f"{name} {key}", "altered (erased texts are there)")
            actor = str(row[evidence.actor] or "") if evidence.actor else ""
            self.since.update(Since(name, change, actor) for change in said.since)
            if evidence.moment and row[evidence.moment] is not None:
                self._moments.append((said.link, row[evidence.moment], f"{name} {key}"))
            elif name == "runs" and row["kind"] == "bench":
                self._moments.append((said.link, row["created_at"], ""))
            if said.reread and said.erased:
                self.reread_and_erased += 1
            elif said.reread:
                self.reread.append(key)
        for key, said in chained.items():
            if said.change != "removed":
                self._fault(f"{name} {key}", "deleted")
            self.since.update(Since(name, change, "") for change in said.since)

    def order(self) -> None:
        """After the tables: rows that people and commands write one after the other are dated in this order.

        Moments without a subject are only compared with.
        """
        latest = datetime.min
        for _, at, subject in sorted(self._moments):
            if subject and latest - at > CLOCKS_DIFFER:
                self._fault(subject, f"dated {at:%Y-%m-%d %H:%M:%S}, written after {latest:%Y-%m-%d %H:%M:%S}")
            latest = max(latest, at)
        query = select(signoffs.c.number, signoffs.c.signed_at, runs.c.created_at).join(runs, runs.c.id == signoffs.c.run_id)
        for number, signed_at, created_at in self._connection.execute(query.order_by(signoffs.c.number)):
            if created_at - signed_at > CLOCKS_DIFFER:
                signed, created = f"{signed_at:%Y-%m-%d %H:%M:%S}", f"{created_at:%Y-%m-%d %H:%M:%S}"
                self._fault(f"signoffs {number}", f"dated {signed}, before its run of {created}")

    def _take(self, group: SealedRows, link: int, is_since: bool) -> None:
        """Note what a link says of its rows; a change may only be about some tables, and alter the parts that it is about."""
        evidence, chained = EVIDENCE[group.table], self._chained[group.table]
        allowed = ALLOWED[group.change].get(group.table)
        for key, digests in _members_of(group):
            before = chained.get(key)
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
            now = chained[key] = _Row(digests, group.change, link) if before is None else before
            now.digests, now.change = digests, group.change
            now.erased |= group.change == "erased"
            now.reread |= group.change == "reread"
            if is_since:
                now.since += (group.change,)

    def _check_removals(self, groups: Sequence[SealedRows]) -> None:
        """Check a link's removals: of judgments that no answer is linked to, links of erased judgments, and review items."""
        members: _Members = defaultdict(list)
        for group in groups:
            members[group.change, group.table] += _members_of(group)
        self._check_removed_links(members)
        for key, digests in members["removed", "judgments"]:
            if self._linked is None:
                links = self._chained["answer_judgments"].items()
                self._linked = Counter(_place_of(link)[1] for link, row in links if row.change != "removed")
            if self._linked[_part_of(digests, "key")] > 0:
                self._fault(f"judgments {key}", "removed, though an answer is linked to it")
            elif _part_of(digests, "run") not in self._gates:
                self._fault(f"judgments {key}", "removed, though only judgments of the gate may be")
        self._removed_items |= {key: key.partition(" ")[2] for key, _ in members["removed", "review_items"]}
        if self._linked is not None:
            for change, step in (("added", 1), ("removed", -1)):
                for key, _ in members[change, "answer_judgments"]:
                    self._linked[_place_of(key)[1]] += step

    def _check_removed_links(self, members: _Members) -> None:
        """Check that each removed link comes back with the new key that an erasure gave to its judgment."""
        new_keys: dict[bytes, bytes] = {}  # by the old ones, as digests
        for key, digests in members["erased", "judgments"]:
            before = self._chained["judgments"].get(key)
            if before is not None:
                new_keys[_part_of(before.digests, "key")] = _part_of(digests, "key")
        added = {_place_of(key) for key, _ in members["added", "answer_judgments"]}
        for key, _ in members["removed", "answer_judgments"]:
            place, digest = _place_of(key)
            if (place, new_keys.get(digest)) not in added:
                self._fault(f"answer_judgments {key}", "removed, though its judgment is not erased")

    def _check_removed(self) -> None:
        """After the last link: the answers of review items that were removed, and of judgments that were erased, are erased."""
        ids = sorted(set(self._removed_items.values()))
        whole = {row.id for row in rows_in(self._connection, select(answers.c.id).where(HAS_TEXTS), answers.c.id, ids)}
        for item, answer_id in self._removed_items.items():
            if answer_id in whole:
                self._fault(f"review_items {item}", "removed, though its answer is not erased")
        erased = select(judgments.c.id).join(answer_judgments, answer_judgments.c.key == judgments.c.key)
        erased = erased.join(answer_texts, answer_texts.c.answer == answer_judgments.c.answer)
        for id in self._connection.execute(erased.where(judgments.c.key.startswith("erased-")).distinct()).scalars():
            self._fault(f"judgments {id}", "erased, though its answer is not")

    def _fault(self, subject: str, what: str) -> None:
        self.faults += 1
        self._on_fault(ChainFault(subject, what))


def _members_of(group: SealedRows) -> Iterator[tuple[Any, bytes]]:
    """The keys of a group's rows, each with its digests."""
    size = DIGEST_BYTES * len(EVIDENCE[group.table].parts)
    for at, key in enumerate(group.keys):
        yield key, group.digests[at * size : (at + 1) * size]


def _part_of(digests: bytes, name: str) -> bytes:
    """The digest of one part of a judgment."""
    at = list(EVIDENCE["judgments"].parts).index(name) * DIGEST_BYTES
    return digests[at : at + DIGEST_BYTES]


def _place_of(link: str) -> tuple[str, bytes]:
    """The answer and the panel of a link, and the digest of its key."""
    place, _, key = link.rpartition(" ")
    return place, text_digest(key)


def _groups_of(row: Any) -> list[SealedRows] | None:
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
        groups.append(SealedRows(change, table, keys, row.digests[at : at + size]))
        at += size
    return groups if at == len(row.digests) else None


def _differing(evidence: EvidenceTable, before: bytes, now: bytes) -> list[str]:
    size = DIGEST_BYTES
    return [name for at, name in enumerate(evidence.parts) if before[at * size :][:size] != now[at * size :][:size]]


def _is_blank(evidence: EvidenceTable, row: Mapping[str, Any]) -> bool:
    """Whether nothing is left in the columns that an erasure empties."""
    for name in evidence.texts:
        texts = [row[name]]
        if name == "remarks":  # the criterion stays
            texts = [text for at, text in enumerate(row[name].split(NUL)) if at % 4]
        if any(text not in _NOTHING for text in texts):
            return False
    return True


def _rows_of(connection: Connection, table: str) -> Iterator[RowValues]:
    query: Select[Any] = select(EVIDENCE[table].table)
    if table == "decisions":
        query = HASHED_DECISIONS
    elif table == "answers":
        query = WHOLE_ANSWERS
    for part in connection.execute(query.execution_options(yield_per=PORTION)).partitions():
        rows = [EVIDENCE[table].named(values_of(row)) for row in part]
        yield from judged_rows(connection, rows) if table == "judgments" else rows
