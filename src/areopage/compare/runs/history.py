"""A run against the runs of the same target before it: whether more of its cases fail than before, beyond chance.

A run that fails more often than the runs before it is not part of the pool of later runs: a lasting fall stays a fall, and does
not become what later runs are compared with. The new level is accepted by beginning the pool anew.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from areopage.bench import PartName, RunSpec, case_clusters, part_differences, view_run
from areopage.compare.league.table import LeagueEntry, entry_of
from areopage.compare.runs.records import LOST, ComparisonOutcome
from areopage.compare.runs.shared import FREE
from areopage.compare.statistics.pooled import PooledFailures, pooled_failures
from areopage.errors import DatasetError, StorageError, UserError, name_list
from areopage.ledger import Ledger, Run

POOL_SIZE = 14
"""How many earlier runs a run is compared with."""

_SEARCHED = 4
"""How many times as many runs are looked at, for those that take no part."""


class PassedOver(Struct, frozen=True, kw_only=True):
    """An earlier run that a run is not compared with.

    Args:
        why: it is `unfinished`, or another version of areopage wrote it (`unreadable`); it has another panel or other cases, in
            the parts `differs`; it has no case of the chosen value (`no_such_case`); it failed more often than the runs before
            it (`regression`); too little of it is judged (`incomplete`); it has answers of other runs (`reused`).
    """

    run: str
    why: Literal["unfinished", "unreadable", "other_panel", "no_such_case", "regression", "incomplete", "reused"]
    differs: tuple[PartName, ...] = ()


class Conclusion(Struct, frozen=True, kw_only=True):
    """A run against the runs before it.

    Args:
        pool: the ids of the runs that it is compared with, the oldest first.
        left_out: earlier runs that are not among them, the oldest first.
        newly: the ids of the criteria that a case fails, and failed in no run of the pool, by the case's id.
        outcome: `too_little` where there is no earlier run, or the run is incomplete or has answers of other runs.
    """

    run: str
    failures: PooledFailures
    pool: tuple[str, ...]
    left_out: tuple[PassedOver, ...]
    newly: dict[str, tuple[str, ...]]
    outcome: ComparisonOutcome


class HistoryComparison(Struct, frozen=True, kw_only=True):
    """A run with its conclusion, and with the runs that it is compared with, the oldest first."""

    entry: LeagueEntry
    pool: tuple[LeagueEntry, ...]
    conclusion: Conclusion


def conclusions(entries: Sequence[LeagueEntry], clusters: Mapping[str, str], size: int = POOL_SIZE) -> tuple[Conclusion, ...]:
    """Compare each run with at most `size` before it: runs of one target by one panel on the same cases, the oldest first.

    `clusters` is what a case has in common with others.
    """
    concluded: list[Conclusion] = []
    admitted: list[LeagueEntry] = []
    left_out: list[PassedOver] = []
    for entry in entries:
        pool = admitted[-size:]
        failures = pooled_failures(entry.fails_primary, [earlier.fails_primary for earlier in pool], clusters=clusters)
        fault = _fault_of(entry)
        newly = {
            id: tuple(name for name in criteria if not any(name in earlier.failing.get(id, ()) for earlier in pool))
            for id, criteria in entry.failing.items()
        }
        outcomes: dict[str, ComparisonOutcome] = {"worse": "regression", "better": "improvement", "unclear": "no_difference"}
        outcome = outcomes[failures.direction]
        if not pool or (fault is not None and outcome != "regression"):
            outcome = "too_little"
        concluded.append(
            Conclusion(
                run=entry.run.id,
                failures=failures,
                pool=tuple(earlier.run.id for earlier in pool),
                left_out=tuple(left_out),
                newly={id: criteria for id, criteria in newly.items() if criteria and pool},
                outcome=outcome,
            )
        )
        if fault is not None:
            left_out.append(fault)
        elif outcome == "regression":
            left_out.append(PassedOver(run=entry.run.id, why="regression"))
        else:
            admitted.append(entry)
    return tuple(concluded)


def _fault_of(entry: LeagueEntry) -> PassedOver | None:
    """Why a run says too little of its target for others to be compared with it; None where it does not."""
    if entry.run.finished_at is None:
        return PassedOver(run=entry.run.id, why="unfinished")
    if entry.doubt in LOST:
        return PassedOver(run=entry.run.id, why="incomplete")
    return PassedOver(run=entry.run.id, why="reused") if entry.reused is not None else None


def of_other_panel(entry: LeagueEntry, newest: LeagueEntry) -> PassedOver | None:
    """A run by another panel or on other cases, with the parts in which it differs; None for one that is alike."""
    differs = tuple(difference.part for difference in part_differences(entry.parts, newest.parts) if difference.part not in FREE)
    return PassedOver(run=entry.run.id, why="other_panel", differs=differs) if differs else None


def compare_history(
    ledger: Ledger, run: Run, size: int = POOL_SIZE, since: datetime | None = None, where: Sequence[str] = ()
) -> HistoryComparison:
    """Compare a run with the complete runs of its target before it."""
    newest = entry_of(view_run(run, ledger, where=where))
    alike, passed = _earlier(ledger, newest, _SEARCHED * size, since, where)
    if not alike:
        name = newest.spec.answered_by or "the given responses"
        reasons: list[str] = []
        for passed_over in passed:
            differs = f": {', '.join(passed_over.differs)}" if passed_over.differs else ""
            reasons.append(f"{passed_over.run} ({passed_over.why.replace('_', ' ')}{differs})")
        remark = f" ({len(passed)} left out: {name_list(reasons)})" if passed else ""
        lack = f"{run.id} has no earlier complete run of {name} with the same panel and the same cases{remark}"
        raise UserError(f"{lack}: run the benchmark once more")
    ordered = [*reversed(alike), newest]
    conclusion = conclusions(ordered, case_clusters(newest.cases), size)[-1]
    begun = {past_run.id: past_run.created_at for past_run in ledger.runs()}
    first = begun[conclusion.pool[0]] if len(conclusion.pool) == size else None
    left_out = sorted((*passed, *conclusion.left_out), key=lambda passed_over: begun[passed_over.run])
    left_out = [passed_over for passed_over in left_out if first is None or begun[passed_over.run] > first]
    pool = {entry.run.id: entry for entry in ordered}
    return HistoryComparison(
        entry=newest,
        pool=tuple(pool[id] for id in conclusion.pool),
        conclusion=msgspec.structs.replace(conclusion, left_out=tuple(left_out)),
    )


def _earlier(
    ledger: Ledger, newest: LeagueEntry, most: int, since: datetime | None, where: Sequence[str]
) -> tuple[list[LeagueEntry], list[PassedOver]]:
    """The finished runs before a run that are alike, and those that are passed over; the newest first."""
    alike: list[LeagueEntry] = []
    passed: list[PassedOver] = []
    for other in ledger.runs():
        if other.created_at >= newest.run.created_at or other.suite != newest.run.suite or (since and other.created_at < since):
            continue
        try:
            answered_by = RunSpec.of(other).answered_by
        except StorageError:  # another version of areopage wrote it
            passed.append(PassedOver(run=other.id, why="unreadable"))
            continue
        if answered_by != newest.spec.answered_by:
            continue
        if other.finished_at is None:
            passed.append(PassedOver(run=other.id, why="unfinished"))
            continue
        if not most:
            break
        most -= 1
        try:
            entry = entry_of(view_run(other, ledger, where=where))
        except (DatasetError, UserError):  # no such value, or no such column
            passed.append(PassedOver(run=other.id, why="no_such_case"))
            continue
        if (fault := of_other_panel(entry, newest)) is not None:
            passed.append(fault)
        else:
            alike.append(entry)
    return alike, passed
