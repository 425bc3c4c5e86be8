"""Verify a ledger: its hash chains, and every stored score and count against what it is computed from."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from areopage.app.rebuild import Comparison, Progress, check_ledger
from areopage.app.rereadings import check_rereadings
from areopage.errors import UserError
from areopage.ledger.caches import Difference
from areopage.ledger.chain import Head
from areopage.ledger.chain_check import ChainCheck, check_chains
from areopage.ledger.store import Ledger

_HEAD = re.compile(r"(\d{1,9})-(\d{1,18})-([0-9a-f]{64})")
_IN_REPORT = re.compile(rf"(?:<code>|`)({_HEAD.pattern})(?:</code>|`)")
"""A head as reports show it. Texts of answers cannot look like it: reports escape their `<` and backticks."""


class _Metadata(Struct, frozen=True):
    ledger_heads: tuple[str, ...] = ()


class _Run(Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class _Kept(_Metadata, frozen=True):
    run: _Run = _Run()


class Verification(Struct, frozen=True, kw_only=True):
    """What a verification found: by the chains, by computing scores and counts again, and in the file that was kept.

    Args:
        misread: judgments whose scores, read again, are not those of their raw texts.
        unread: judgments whose scores were read again and could not be compared with their raw texts.
    """

    chains: ChainCheck
    scores: Comparison
    misread: int
    unread: int

    @property
    def intact(self) -> bool:
        """Whether nothing was altered."""
        return not self.chains.faults and not self.scores.differing and not self.misread

    @property
    def empty(self) -> bool:
        """Whether there was nothing to verify."""
        return not self.chains.links and not self.chains.rows and not self.chains.faults

    @property
    def whole(self) -> bool:
        """Whether everything could be compared."""
        return not self.scores.unreadable and not self.unread


def verify_ledger(
    ledger: Ledger,
    kept: tuple[Head, ...],
    progress: Progress,
    found: Callable[[str], None],
    differs: Callable[[Difference], None],
) -> Verification:
    """Verify a ledger; nothing is written.

    Args:
        kept: heads that a report names; see `kept_heads`.
        progress: is told how many evaluations are compared.
        found, differs: are told what was altered: rows and links, and computed values.

    Raises:
        StorageError: the ledger cannot be read.
    """
    chains = check_chains(ledger, kept, lambda fault: found(str(fault)))
    read = check_rereadings(ledger, chains.reread, found)
    unread = read.left + chains.reread_and_erased
    return Verification(chains=chains, scores=check_ledger(ledger, progress, differs), misread=read.faults, unread=unread)


def kept_heads(path: Path) -> tuple[Head, ...]:
    """Read the heads that a file names: `results.json` or a report of any format.

    Raises:
        UserError: the file cannot be read, or names none.
    """
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}") from None
    try:
        told = msgspec.json.decode(content, type=_Kept)
        texts = [*told.ledger_heads, *told.run.metadata.ledger_heads]
    except msgspec.MsgspecError:
        texts = [match[0] for match in _IN_REPORT.findall(content.decode("utf-8", "replace"))]
    found = {_head_of(match) for text in texts if (match := _HEAD.fullmatch(text))}
    if not found:
        raise UserError(f"{path} names no head of a ledger: give a results.json or a report of bench, monitor or gate")
    return tuple(sorted(found))


def _head_of(match: re.Match[str]) -> Head:
    return Head(int(match[1]), int(match[2]), match[3])
