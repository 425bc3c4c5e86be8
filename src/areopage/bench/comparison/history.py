"""A run against the runs of the same target before it: whether more of its cases fail than before, beyond chance.

A run that fails more often than the runs before it is not part of the pool of later runs: a lasting fall stays a fall, and does
not become what later runs are compared with. The new level is accepted by beginning the pool anew.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice

from msgspec import Struct

from areopage.bench.comparison.records import LOST, Outcome
from areopage.bench.comparison.shared import FREE
from areopage.bench.league.table import Entry, entry_of
from areopage.bench.panels import case_clusters, part_differences
from areopage.bench.results.run_view import RunView, view_run
from areopage.bench.spec import spec_of
from areopage.errors import DatasetError, StorageError, UserError
from areopage.ledger.records import Run
from areopage.ledger.store import Ledger
from areopage.scoring.comparison.pooled import PooledFailures, pooled_failures

POOL_SIZE = 14
"""How many earlier runs a run is compared with."""

_SEARCHED = 4
"""How many times as many runs are looked at, for those that take no part."""


class Conclusion(Struct, frozen=True, kw_only=True):
    """A run against the runs before it.

    Args:
        pool: the ids of the runs that it is compared with, the oldest first.
        left_out: the ids of earlier runs that are not among them, since they failed more often than the runs before them, are
            incomplete, or have answers of other runs.
        newly: the ids of the criteria that a case fails, and failed in no run of the pool, by the case's id.
        outcome: `too_little` where there is no earlier run, or the run is incomplete or has answers of other runs.
    """

    run: str
    failures: PooledFailures
    pool: tuple[str, ...]
    left_out: tuple[str, ...]
    newly: dict[str, tuple[str, ...]]
    outcome: Outcome


class HistoryComparison(Struct, frozen=True, kw_only=True):
    """A run with its conclusion, and with the runs that it is compared with, the oldest first."""

    entry: Entry
    pool: tuple[Entry, ...]
    conclusion: Conclusion


def conclusions(entries: Sequence[Entry], clusters: Mapping[str, str], size: int = POOL_SIZE) -> tuple[Conclusion, ...]:
    """Compare each run with those before it.

    Args:
        entries: runs of one target by one panel on the same cases, the oldest first.
        clusters: what a case has in common with others.
        size: how many earlier runs are compared, at most.
    """
    concluded: list[Conclusion] = []
    admitted: list[Entry] = []
    left_out: list[str] = []
    for entry in entries:
        pool = admitted[-size:]
        failures = pooled_failures(entry.fails_primary, [earlier.fails_primary for earlier in pool], clusters=clusters)
        whole = entry.run.finished_at is not None and entry.doubt not in LOST and entry.reused is None
        outcomes: dict[str, Outcome] = {"worse": "regression", "better": "improvement", "unclear": "no_difference"}
        outcome = outcomes[failures.direction]
        if not pool or (not whole and outcome != "regression"):
            outcome = "too_little"
        concluded.append(
            Conclusion(
                run=entry.run.id,
                failures=failures,
                pool=tuple(earlier.run.id for earlier in pool),
                left_out=tuple(left_out),
                newly=_newly(entry, pool),
                outcome=outcome,
            )
        )
        if whole and outcome != "regression":
            admitted.append(entry)
        else:
            left_out.append(entry.run.id)
    return tuple(concluded)


def _newly(entry: Entry, pool: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    newly = {
        id: tuple(name for name in criteria if not any(name in earlier.failing.get(id, ()) for earlier in pool))
        for id, criteria in entry.failing.items()
    }
    return {id: criteria for id, criteria in newly.items() if criteria and pool}


def compare_history(
    ledger: Ledger, run: Run, size: int = POOL_SIZE, since: datetime | None = None, where: Sequence[str] = ()
) -> HistoryComparison:
    """Compare a run with the complete runs of its target before it.

    Args:
        size: how many of them, at most.
        since: only runs that began then or later.
        where: conditions of the form COLUMN=VALUE; only the cases that meet them are compared.

    Raises:
        UserError: there is none by the same panel on the same cases.
    """
    newest = entry_of(view_run(run, ledger, where=where))
    earlier = (
        other
        for other in ledger.runs()
        if other.created_at < run.created_at
        and other.finished_at is not None
        and other.suite == run.suite
        and (since is None or other.created_at >= since)
        and _answered_by(other) == newest.spec.answered_by
    )
    views = (_view_with(other, ledger, where) for other in islice(earlier, _SEARCHED * size))
    entries = [entry_of(view) for view in views if view is not None]
    alike = [entry for entry in entries if _is_alike(entry, newest)]
    if not alike:
        name = newest.spec.answered_by or "the given responses"
        raise UserError(
            f"{run.id} has no earlier complete run of {name} with the same panel and the same cases: run the benchmark once more"
        )
    ordered = [*reversed(alike), newest]
    conclusion = conclusions(ordered, case_clusters(newest.cases), size)[-1]
    pool = {entry.run.id: entry for entry in ordered}
    return HistoryComparison(entry=newest, pool=tuple(pool[id] for id in conclusion.pool), conclusion=conclusion)


def _view_with(run: Run, ledger: Ledger, where: Sequence[str]) -> RunView | None:
    """The chosen cases of a run; None where it has none."""
    try:
        return view_run(run, ledger, where=where)
    except (DatasetError, UserError):  # no such value, or no such column
        return None


def _answered_by(run: Run) -> str | None:
    try:
        return spec_of(run).answered_by
    except StorageError:  # another version of areopage wrote it
        return None


def _is_alike(entry: Entry, other: Entry) -> bool:
    return all(difference.part in FREE for difference in part_differences(entry.parts, other.parts))
