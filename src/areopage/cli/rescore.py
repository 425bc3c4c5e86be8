"""`rescore` of the monitor and the gate, and what it shares with that of the benchmark."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.table import Table
from rich.text import Text

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.rebuild import count_stored, store_readings
from areopage.cli.bench_show import shown, text_console
from areopage.cli.gate_report import scope_of
from areopage.cli.options import (
    CollectionOption,
    ConfigOption,
    LedgerOption,
    ProfileOption,
    ReparseOption,
    SinceOption,
    UntilOption,
    WeightsOption,
    WithoutJudgeOption,
    WriteOption,
    actor,
    tell,
)
from areopage.cli.pace import Pace
from areopage.errors import ConfigError, UserError
from areopage.jury.rescore import GLOBAL, Rescored, Variant, gated, monitored, rescore
from areopage.ledger.queries import EvaluationFilter
from areopage.ledger.records import Judgment
from areopage.ledger.store import Ledger
from areopage.scoring.reduce import profile_named
from areopage.scoring.tree import Weights
from areopage.suites.config import WeightsSection
from areopage.yaml_document import read_yaml

IdOption = Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Only this answer; may be repeated.")]


def monitor(
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Only this source; golden questions only by name.")
    ] = None,
    id: IdOption = None,
    weights: WeightsOption = None,
    profile: ProfileOption = None,
    without_judge: WithoutJudgeOption = None,
    reparse: ReparseOption = False,
    write: WriteOption = False,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Compute scores again with other weights, rules or judges, without model calls.

    Stored scores stay as they are. It shows the means before and after, and how many answers have another grade.
    """
    change, days = variant_of(weights, profile, without_judge, reparse=reparse, write=write), scope_of(since, until, None)
    wanted = EvaluationFilter(since=days.since, until=days.until, source=source, ids=tuple(id or ()))
    with open_ledger(find_config(config, ledger)) as opened:
        done = rescore(monitored(opened, wanted, texts=reparse), opened.panels("monitor"), change)
        show(opened, done, change, "answers", write=write)


def gate(
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    id: IdOption = None,
    weights: WeightsOption = None,
    profile: ProfileOption = None,
    without_judge: WithoutJudgeOption = None,
    reparse: ReparseOption = False,
    write: WriteOption = False,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Compute the scores of the gate's judge again, without model calls.

    Decisions stay as they are. It shows the means before and after, and how many sentences have another grade.
    """
    change, wanted = variant_of(weights, profile, without_judge, reparse=reparse, write=write), scope_of(since, until, collection)
    with open_ledger(find_config(config, ledger)) as opened:
        runs = opened.panels("gate")
        done = rescore(gated(opened, runs, wanted, id or ()), runs, change)
        show(opened, done, change, "sentences", write=write)


def variant_of(
    weights: Path | None, profile: str | None, without: Sequence[str] | None, *, reparse: bool, write: bool
) -> Variant:
    """The changes that the options name.

    Raises:
        UserError: a file or a name is wrong, or --write stands beside anything but --reparse.
    """
    if write and (not reparse or weights or profile or without):
        raise UserError("--write stores what --reparse reads: give it with --reparse and no other change")
    return Variant(
        weights=_read_weights(weights) if weights else None,
        profile=profile_named(profile) if profile else None,
        without_judges=tuple(without or ()),
        reparse=reparse,
    )


def show(ledger: Ledger, done: Rescored, change: Variant, what: str, *, write: bool) -> None:
    """What a rescoring came to; with `write`, what was read is stored.

    Raises:
        UserError: there is nothing to score.
    """
    for reason in done.unreadable.values():
        tell(f"left out, the scores of {reason}")
    if not done.answers:
        raise UserError(f"no {what} with judgments there: name other days, or none")
    console = text_console()
    console.print(Text(f"scored again: {change.describe() or 'no change'}", style="bold"))
    table = Table(box=None, pad_edge=False)
    table.add_column("score of", overflow="fold")
    for heading in ("scored before", "mean before", "scored after", "mean after"):
        table.add_column(heading, justify="right", no_wrap=True)
    for criterion, shift in done.criteria.items():
        before, after = shift.means
        cells = (f"{shift.before:,}", shown(before), f"{shift.after:,}", shown(after))
        table.add_row(Text("all" if criterion == GLOBAL else criterion), *cells)
    console.print(table)
    moved = sorted(((places, rows) for places, rows in done.grades.items() if places[0] != places[1]), key=lambda one: -one[1])
    listed = "; ".join(f"{before} to {after} {rows:,}" for (before, after), rows in moved)
    console.print(Text(f"another grade: {done.changed:,} of {done.answers:,} {what}" + (f" ({listed})" if listed else "")))
    if change.reparse:
        console.print(Text(f"judgments read otherwise: {len(done.readings):,}; texts not stored in full: {done.unread:,}"))
    if write:
        write_readings(ledger, done.readings)


def write_readings(ledger: Ledger, readings: Sequence[Judgment]) -> None:
    """Store what was read, and compute the stored scores again."""
    if not readings:
        tell("nothing was read otherwise: nothing is written")
        return
    pace = Pace("rebuilt", count_stored(ledger))
    done = store_readings(ledger, readings, actor(), pace.moved)
    pace.finish()
    tell(f"judgments written: {len(readings):,}; evaluations changed: {done.written:,}")


def _read_weights(path: Path) -> Weights:
    """Weights from a file with a section `weights`, or with the three levels themselves.

    Raises:
        ConfigError: the file is not that.
    """
    document = read_yaml(path)
    nested = isinstance(document.data.get("weights"), dict)
    data = document.data["weights"] if nested else document.data
    if not set(data) & set(WeightsSection.model_fields):
        raise ConfigError(f"must hold {', '.join(WeightsSection.model_fields)}, or a section `weights` with them", path=path)
    try:
        section = WeightsSection.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = [*(["weights"] if nested else []), *(str(part) for part in first["loc"])]
        raise document.error(first["msg"][:1].lower() + first["msg"][1:], *keys) from None
    return Weights(categories=section.categories, subcategories=section.subcategories, criteria=section.criteria)
