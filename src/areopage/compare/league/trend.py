"""The runs of one target in time order; only those of one panel on the same cases are set side by side."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from areopage.bench import PartName, RunSpec, case_clusters, part_differences, view_run
from areopage.compare.league.table import LeagueEntry, entry_of
from areopage.compare.runs.history import Conclusion, PassedOver, conclusions, of_other_panel
from areopage.errors import StorageError, UserError, name_list
from areopage.ledger import Ledger, Run


class TrendGroup(Struct, frozen=True, kw_only=True):
    """Runs that can be compared, the oldest first.

    Args:
        nearest: the number, from 0, of the earlier group that it differs least from; None for the first group.
        differs: in what it differs from that group.
        conclusions: each run against those before it.
    """

    entries: tuple[LeagueEntry, ...]
    conclusions: tuple[Conclusion, ...]
    nearest: int | None = None
    differs: tuple[PartName, ...] = ()

    @property
    def is_one_version(self) -> bool:
        """Whether the target has the same weights, options and system prompt in all of them."""
        targets = [entry.spec.target for entry in self.entries]
        return all(target == targets[0] for target in targets)


class Trend(Struct, frozen=True, kw_only=True):
    """All runs of a target.

    Args:
        groups: in the order of their first runs.
        left_out: how many older runs are not among them.
        passed: the earlier runs that the newest one is not compared with, the oldest first.
    """

    target: str
    groups: tuple[TrendGroup, ...]
    left_out: int = 0
    passed: tuple[PassedOver, ...] = ()

    @property
    def newest(self) -> tuple[LeagueEntry, Conclusion]:
        """The newest run, and what follows from the runs before it."""
        runs = [pair for group in self.groups for pair in zip(group.entries, group.conclusions, strict=True)]
        return max(runs, key=lambda pair: pair[0].run.created_at)


def trend_of_target(ledger: Ledger, target: str, limit: int, since: datetime | None = None) -> Trend:
    """The newest runs of a target; of that of the newest run where it is ""."""
    runs: list[tuple[Run, str]] = []
    unreadable: list[Run] = []
    targets: dict[str, None] = {}
    for run in ledger.runs():
        try:
            reference = RunSpec.of(run).target
        except StorageError:  # another version of areopage wrote it
            unreadable.append(run)
            continue
        if reference is not None:
            targets[str(reference.reference)] = None
            runs.append((run, str(reference.reference)))
    target = target or next(iter(targets), "")
    matching = [run for run, name in runs if name == target and (since is None or run.created_at >= since)]
    if not matching:
        hint = f"it has runs of {name_list(targets)}" if targets else "no run in it has a target"
        raise UserError(f"{ledger.place} has no run of {target or 'a target'}: {hint}")
    newest = matching[:limit]
    entries = [entry_of(view_run(run, ledger)) for run in reversed(newest)]
    trend = Trend(target=target, groups=trend_groups(entries), left_out=len(matching) - len(newest))
    strangers = [run for run in unreadable if newest[-1].created_at < run.created_at < newest[0].created_at]
    return msgspec.structs.replace(trend, passed=_passed(trend, strangers))


def _passed(trend: Trend, unreadable: Sequence[Run]) -> tuple[PassedOver, ...]:
    newest, conclusion = trend.newest
    begun = {entry.run.id: entry.run.created_at for group in trend.groups for entry in group.entries}
    begun |= {run.id: run.created_at for run in unreadable}
    passed = [*conclusion.left_out, *(PassedOver(run=run.id, why="unreadable") for run in unreadable)]
    for group in trend.groups:
        others = (of_other_panel(entry, newest) for entry in group.entries if entry.run.created_at < newest.run.created_at)
        passed += [other for other in others if other is not None]
    return tuple(sorted(passed, key=lambda passed_over: begun[passed_over.run]))


def trend_groups(entries: Iterable[LeagueEntry]) -> tuple[TrendGroup, ...]:
    """Group runs, which come the oldest first, by panel and cases."""
    groups: list[list[LeagueEntry]] = []
    for entry in entries:
        alike = next((group for group in groups if not part_differences(group[0].parts, entry.parts)), None)
        if alike is None:
            groups.append([entry])
        else:
            alike.append(entry)
    made: list[TrendGroup] = []
    for place, group in enumerate(groups):
        concluded = conclusions(group, case_clusters(group[0].cases))
        apart = [part_differences(before[0].parts, group[0].parts) for before in groups[:place]]
        nearest = min(range(place), key=lambda number: (len(apart[number]), -number), default=None)
        differs = () if nearest is None else tuple(difference.part for difference in apart[nearest])
        made.append(TrendGroup(entries=tuple(group), conclusions=concluded, nearest=nearest, differs=differs))
    return tuple(made)
