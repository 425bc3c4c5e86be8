"""Verify a ledger: its hash chains, and every stored score and count against what it is computed from."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.app.kept_results import MOST_NAMED, figure_differences
from areopage.app.rebuild import Comparison, Progress, check_ledger
from areopage.app.rereadings import check_rereadings
from areopage.errors import UserError
from areopage.ledger import ChainCheck, Difference, Head, Ledger

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
        figures: figures of a results.json that was kept that are not those of the ledger; None: none was compared.
        misread: judgments whose scores, read again, are not those of their raw texts.
        unread: judgments whose scores were read again and could not be compared with their raw texts.
    """

    chains: ChainCheck
    scores: Comparison
    misread: int
    unread: int
    figures: int | None = None

    @property
    def intact(self) -> bool:
        """Whether nothing was altered."""
        faults = (self.chains.faults, self.scores.differing, self.misread, self.figures)
        return not any(faults)

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
    results: Mapping[str, Any] | None = None,
) -> Verification:
    """Verify a ledger; nothing is written.

    Args:
        kept: heads that a report names; see `kept_heads`.
        progress: is told how many evaluations are compared.
        found, differs: are told what was altered: rows and links, and computed values.
        results: the content of a results.json that was kept; its figures are compared too.

    Raises:
        StorageError: the ledger cannot be read.
    """
    chains = ledger.chains.check(kept, lambda fault: found(str(fault)))
    read = check_rereadings(ledger, chains.reread, found)
    unread = read.left + chains.reread_and_erased
    return Verification(
        chains=chains,
        scores=check_ledger(ledger, progress, differs),
        misread=read.faults,
        unread=unread,
        figures=None if results is None else _compared_figures(ledger, results, found),
    )


def _compared_figures(ledger: Ledger, results: Mapping[str, Any], found: Callable[[str], None]) -> int | None:
    differences = figure_differences(ledger, results)
    if differences is None:
        return None
    count = 0
    for count, one in enumerate(differences, 1):
        if count <= MOST_NAMED:
            found(f"the file's {one}")
    return count


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
