"""What changes of a chain must satisfy beyond their digests: no command removes a sign-off, and none is dated in the past."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, exists, select

from areopage.ledger.tables.answer_tables import answer_judgments, answer_texts, answers, judgments, runs
from areopage.ledger.tables.chain import DIGEST_BYTES, EVIDENCE, Evidence, Group, text_digest
from areopage.ledger.tables.rows import chunks
from areopage.ledger.tables.schema import signoffs

CLOCKS_DIFFER = timedelta(minutes=5)
"""How far the clocks of computers that write to one ledger may differ."""
Digests = Callable[[str, Any], bytes | None]
"""The digests of a row before the present link, by table and key; None where the chain does not know it."""
Fault = Callable[[str, str], None]
"""Is told the subject of a fault and what it is."""


def part_of(evidence: Evidence, digests: bytes, name: str) -> bytes:
    """The digest of one part of a row."""
    at = list(evidence.parts).index(name) * DIGEST_BYTES
    return digests[at : at + DIGEST_BYTES]


class Removals:
    """Whether each row that is removed may be: judgments that no answer is linked to, links of erased judgments, review items of
    erased answers."""

    def __init__(self, connection: Connection, fault: Fault) -> None:
        self._connection, self._fault = connection, fault
        gates = connection.execute(select(runs.c.id).where(runs.c.kind == "gate")).scalars()
        self._gates = {text_digest(id) for id in gates}
        self._linked: Counter[bytes] | None = None
        self._items: dict[str, str] = {}

    def link(self, groups: Sequence[Group], before: Digests, links: Callable[[], Sequence[str]]) -> None:
        """Check a link's removals.

        Args:
            links: the links of judgments that stand before this link.
        """
        renamed = self._renamed(groups, before)
        added = {_place_of(key) for one in groups if (one.change, one.table) == ("added", "answer_judgments") for key in one.keys}
        for group in groups:
            if (group.change, group.table) == ("removed", "answer_judgments"):
                self._links(group, renamed, added)
            elif (group.change, group.table) == ("removed", "judgments"):
                if self._linked is None:
                    self._linked = Counter(_place_of(key)[1] for key in links())
                self._judgments(group)
            elif (group.change, group.table) == ("removed", "review_items"):
                self._items |= {key: key.partition(" ")[2] for key in group.keys}
        if self._linked is not None:
            for group in groups:
                if group.table == "answer_judgments" and group.change in ("added", "removed"):
                    step = 1 if group.change == "added" else -1
                    for key in group.keys:
                        self._linked[_place_of(key)[1]] += step

    def end(self) -> None:
        """After the last link: the answers of review items that were removed must be erased."""
        there = select(answers.c.id).where(exists().where(answer_texts.c.answer == answers.c.number))
        whole: set[str] = set()
        for part in chunks(sorted(set(self._items.values()))):
            whole.update(self._connection.execute(there.where(answers.c.id.in_(part))).scalars())
        for item, answer_id in self._items.items():
            if answer_id in whole:
                self._fault(f"review_items {item}", "removed, though its answer is not erased")
        erased = select(judgments.c.id).join(answer_judgments, answer_judgments.c.key == judgments.c.key)
        erased = erased.join(answer_texts, answer_texts.c.answer == answer_judgments.c.answer)
        for id in self._connection.execute(erased.where(judgments.c.key.startswith("erased-")).distinct()).scalars():
            self._fault(f"judgments {id}", "erased, though its answer is not")

    def _renamed(self, groups: Sequence[Group], before: Digests) -> Mapping[bytes, bytes]:
        """The new keys of judgments that a link erases, by the old ones, as digests."""
        evidence, found = EVIDENCE["judgments"], {}
        size = DIGEST_BYTES * len(evidence.parts)
        for group in groups:
            if (group.change, group.table) == ("erased", "judgments"):
                for at, key in enumerate(group.keys):
                    old = before("judgments", key)
                    if old is not None:
                        new = part_of(evidence, group.digests[at * size :], "key")
                        found[part_of(evidence, old, "key")] = new
        return found

    def _links(self, group: Group, renamed: Mapping[bytes, bytes], added: set[tuple[str, bytes]]) -> None:
        for key in group.keys:
            place, digest = _place_of(key)
            if (place, renamed.get(digest)) not in added:
                self._fault(f"answer_judgments {key}", "removed, though its judgment is not erased")

    def _judgments(self, group: Group) -> None:
        evidence = EVIDENCE["judgments"]
        size = DIGEST_BYTES * len(evidence.parts)
        for at, key in enumerate(group.keys):
            digests = group.digests[at * size :]
            if self._linked is not None and self._linked[part_of(evidence, digests, "key")] > 0:
                self._fault(f"judgments {key}", "removed, though an answer is linked to it")
            elif part_of(evidence, digests, "run") not in self._gates:
                self._fault(f"judgments {key}", "removed, though only judgments of the gate may be")


def _place_of(link: str) -> tuple[str, bytes]:
    """The answer and the panel of a link, and the digest of its key."""
    place, _, key = link.rpartition(" ")
    return place, text_digest(key)


class Moment(Struct, frozen=True, order=True):
    """When a row says that it was written, and by which link it was."""

    link: int
    at: datetime
    subject: str = ""


def check_order(moments: Sequence[Moment], fault: Fault) -> None:
    """Name the rows that are dated before rows of earlier links; those without a subject are only compared with."""
    latest: datetime | None = None
    for one in sorted(moments):
        if latest is not None and one.subject and one.at < latest - CLOCKS_DIFFER:
            fault(one.subject, f"dated {_shown(one.at)}, written after {_shown(latest)}")
        latest = one.at if latest is None else max(latest, one.at)


def check_signatures(connection: Connection, fault: Fault) -> None:
    """Name the sign-offs that are dated before their run."""
    query = select(signoffs.c.number, signoffs.c.signed_at, runs.c.created_at).join(runs, runs.c.id == signoffs.c.run_id)
    for row in connection.execute(query.order_by(signoffs.c.number)):
        if row.signed_at < row.created_at - CLOCKS_DIFFER:
            fault(f"signoffs {row.number}", f"dated {_shown(row.signed_at)}, before its run of {_shown(row.created_at)}")


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"
