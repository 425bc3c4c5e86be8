"""Stored scores: show and export runs; `rescore` of the benchmark, the monitor and the gate."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from areopage.app.config import find_config
from areopage.app.ledger import open_ledger
from areopage.app.rebuild import count_stored, store_readings
from areopage.bench.results import RunView, changed_readings, outcome_for, run_summaries, view_run
from areopage.bench.spec import RunSpec
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
    one_of,
    tell,
    visible,
)
from areopage.cli.progress import Pace
from areopage.errors import ConfigError, UserError, name_list
from areopage.jury.rescore import GLOBAL, Rescored, Variant, gated, monitored, rescore
from areopage.ledger.connection import make_folder
from areopage.ledger.queries import EvaluationFilter
from areopage.ledger.records import Judgment, Run
from areopage.ledger.store import Ledger
from areopage.locales import MISSING
from areopage.report.run_files import REJECTED, REPORT, write_judgments_csv, write_judgments_jsonl, write_run_files
from areopage.scoring.failures import FailureCount
from areopage.scoring.outcome import Scored, outcome_name
from areopage.scoring.reduce import profile_named
from areopage.scoring.tree import Node, Weights
from areopage.suites.config import WeightsSection
from areopage.yaml_document import read_yaml

UNSEEN_WIDTH = 200
SHOWN_REASONS = 5
REASON_LENGTH = 200
_NUMBER = re.compile(r"[\d.,]+")

IdOption = Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="Use only this answer (repeatable).")]


def print_runs(ledger: Ledger) -> None:
    """A table of the ledger's runs."""
    summaries = list(run_summaries(ledger))
    if not summaries:
        typer.echo(f"no runs in {ledger.place}")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("run", "begun (UTC)", "suite", "target", "mode", "language", "dataset"):
        table.add_column(heading, overflow="fold")
    for heading in ("state", "cases", "coverage", "judgments"):
        table.add_column(heading, no_wrap=True)
    for one in summaries:
        facts = run_facts(one.run, one.spec)
        coverage = MISSING if one.coverage is None else f"{one.coverage.share:.1%}"
        named = (one.run.id, *(facts[name] for name in ("begun", "suite", "target", "mode", "language", "dataset", "state")))
        table.add_row(*map(Text, (*named, f"{one.cases:,}", coverage, f"{one.judgments:,}")))
    _text_console().print(table)


def run_facts(run: Run, spec: RunSpec | None) -> dict[str, str]:
    """What a run measures.

    Args:
        spec: None if another version of areopage wrote the run.
    """
    facts = dict.fromkeys(("run", "begun", "state", "suite", "target", "mode", "language", "dataset"), MISSING)
    facts |= {"run": run.id, "begun": f"{run.created_at:%Y-%m-%d %H:%M}", "suite": run.suite}
    facts["state"] = "complete" if run.finished_at else "unfinished"
    if spec is not None:
        facts |= {"suite": f"{spec.suite} {spec.suite_version}", "language": spec.language}
        facts |= {"target": str(spec.target.reference), "mode": spec.mode} if spec.target else {"target": "recorded answers"}
        facts["dataset"] = ", ".join(Path(name).name for name in spec.datasets)
    return facts


def print_facts(view: RunView) -> None:
    """What a run measures, one fact to a line."""
    console = _text_console()
    for name, fact in run_facts(view.run, view.spec).items():
        if fact != MISSING:
            console.print(Text(f"{name}: {fact}{' UTC' if name == 'begun' else ''}"), soft_wrap=True)


def _text_console() -> Console:
    """A console for plain text; output that is not a terminal is never cut at a width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = UNSEEN_WIDTH
    return console


def print_view(view: RunView, folder: Path) -> None:
    """The scores of a run, how its judges did, and the report in `folder`, if it is there."""
    console = _text_console()
    unfit = [health for health in view.health if health.unfit]
    for health in unfit:
        console.print(Text(f"NOT VALID: judge {health.judge} is unfit ({health.unfit})", style="bold red"))
    if unfit:
        console.print(Text("  for scores that count, use real judges: areopage bench run --judge ollama:MODEL", style="red"))
    if view.variant:
        console.print(Text(f"recomputed: {view.variant}"))
    tree, scale = view.scores.tree, view.spec.scale
    interval = view.scores.interval
    spread = f", 95 % interval {interval.low:.2f} to {interval.high:.2f}" if interval else ""
    state = "" if view.complete else ", run NOT COMPLETE"
    coverage = view.coverage
    judged = f", {coverage.criteria} of {coverage.selected} criteria" if coverage.lost else ""
    headline = f"final score {_shown(tree.score)} of {scale.max:g}{spread}, coverage {coverage.share:.1%}{judged}{state}"
    console.print(Text("\n".join(_failures(view)), style="bold red" if view.failures.first.failed else "bold"))
    console.print(Text(headline, style="bold"))
    if coverage.lost:
        console.print(Text(f"not judged: {name_list(coverage.lost)}", style="bold red"))
    if view.scores.if_missing is not None:
        worst, best = view.scores.if_missing
        console.print(Text(f"  if all that is missing were the worst: {worst:.2f}, the best: {best:.2f}"))
    console.print(Text(f"  judges: {_qualifications(view)}; {_agreement(view)}"))
    if states := view.answer_states():
        whole = states.pop("answered", 0)
        others = "".join(f", {count} {state.replace('_', ' ')}" for state, count in states.items())
        counts = f"answers: {whole} of {whole + sum(states.values())} whole{others}"
        console.print(Text(counts, style="bold red" if others else ""))
    for one in view.sources:
        told = f"answers of {one.source}: {one.cases}, score {_shown(one.score)}, coverage {one.coverage:.1%}"
        console.print(Text(told, style="bold"))
    console.print(_scores_table(view))
    console.print(_health_table(view))
    for told in _failed_calls(view):
        console.print(Text(told), soft_wrap=True)
    if view.addressing:
        console.print(Text(f"cases that address the judge, read them: {name_list(view.addressing)}", style="bold"))
    rejected = folder / REJECTED
    if view.rejected and rejected.is_file():
        console.print(Text(f"{len(view.rejected)} rows are rejected: see {rejected}"), soft_wrap=True)
    report = folder / REPORT
    if report.is_file():
        console.print(Text(f"report: {report}"), soft_wrap=True)


def _qualifications(view: RunView) -> str:
    unfit = sum(bool(health.unfit) for health in view.health)
    told = [f"{unfit} unfit"] if unfit else []
    return ", ".join([*told, *([f"{len(view.health) - unfit} never examined"] if unfit < len(view.health) else [])])


def _agreement(view: RunView) -> str:
    found, alpha = view.scores.consistency.judge_agreement_avg, view.scores.alpha.alpha
    if found is None:
        return "agreement unknown: no two judges scored the same answers"
    return f"mean agreement {found:.2f}" + ("" if alpha is None else f", Krippendorff's alpha {alpha:.2f}")


def _failures(view: RunView) -> Iterator[str]:
    """What is said of failures before any score."""
    found = view.failures.first
    of = "" if len(view.failures.categories) > 2 else f" of {' or '.join(view.failures.categories)}"
    yield f"failures: {found.failed} of {found.scored} cases fail a criterion{of}"
    if found.scored < found.cases:
        yield f"  {found.cases - found.scored} more cases could not be scored"
    if found.high is not None:
        yield f"  of other cases like these, up to {found.high:.0%} could fail"


def _failed_calls(view: RunView) -> Iterator[str]:
    """Why answers and verdicts are missing: the most frequent reasons with their cases."""
    found: dict[tuple[str, str, str], list[str]] = {}
    reasons: dict[str, str] = {}  # reasons that differ only in what they are about count as one
    for case, answer in view.answers.items():
        if answer.state != "answered":
            reason = reasons.setdefault(_kind_of(answer.reason, case), answer.reason)
            found.setdefault(("the target", answer.state, reason), []).append(case)
    for (case, criterion, judge, _), judgment in view.judgments.items():
        outcome = outcome_for(judgment, criterion)
        if outcome is not None and not isinstance(outcome, Scored):
            reason = reasons.setdefault(_kind_of(outcome.reason, case, criterion), outcome.reason)
            found.setdefault((judge, outcome_name(outcome), reason), []).append(case)
    by_count = sorted(found.items(), key=lambda one: -len(one[1]))
    if by_count:
        yield "why answers and verdicts are missing:"
    for (who, state, reason), cases in by_count[:SHOWN_REASONS]:
        shown = visible(" ".join(reason.split()))[:REASON_LENGTH]
        named = name_list(visible(case) for case in dict.fromkeys(cases))
        told = f"{who}, {state.replace('_', ' ')}: {shown or 'no reason is known'}"
        yield f"  {told} ({len(cases)} times: cases {named})"
    if len(by_count) > SHOWN_REASONS:
        yield f"  and {len(by_count) - SHOWN_REASONS} more reasons: see run.log and results.json"


def _kind_of(reason: str, *names: str) -> str:
    for name in names:
        reason = reason.replace(name, "")
    return _NUMBER.sub("", reason)


def _scores_table(view: RunView) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("score of", overflow="fold")
    for heading in ("score", "failed", "weight", "coverage"):
        table.add_column(heading, justify="right", no_wrap=True)
    names = {key: criterion.name for key, criterion in view.spec.criteria_by_id().items()}
    for category in view.scores.tree.parts:
        _add_row(table, category, view.spec.labels.get(category.name), style="bold")
        for subcategory in category.parts:
            _add_row(table, subcategory, f"  {view.spec.labels.get(f'{category.name}.{subcategory.name}')}")
            for criterion in subcategory.parts:
                _add_row(table, criterion, f"    {names[criterion.name]}", view.failures.by_criterion[criterion.name])
    return table


def _add_row(table: Table, node: Node, name: str, failures: FailureCount | None = None, *, style: str = "") -> None:
    failed = f"{failures.failed} of {failures.scored}" if failures else ""
    style = "red" if failures and failures.failed else style
    cells = (name, _shown(node.score), failed, f"{node.weight:.2f}", f"{node.coverage:.1%}")
    table.add_row(*(Text(cell, style=style) for cell in cells))


def _health_table(view: RunView) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("judge", "qualification", "scored", "failed", "repaired", "s/call", "tokens", "cost"):
        table.add_column(heading, overflow="fold")
    for health in view.health:
        failed = ", ".join(f"{count} {name}" for name, count in health.outcomes.items() if count and name != "scored")
        table.add_row(
            Text(health.judge),
            "unfit" if health.unfit else "never examined",
            f"{health.outcomes['scored']}/{health.planned}",
            failed or "0",
            str(health.repaired_heuristic + health.repaired_model),
            f"{health.seconds:.2f}",
            f"{health.prompt_tokens + health.completion_tokens:,}",
            "" if health.cost is None else f"{health.cost:.4f} {health.currency}",
        )
    return table


def _shown(score: float | None) -> str:
    return "unscored" if score is None else f"{score:.2f}"


def rescore_run(run: Run, ledger: Ledger, variant: Variant) -> list[Judgment]:
    """Score a run again and write the results into a folder of their own, `rescore-N`, inside of the run's.

    Returns:
        The judgments that were read otherwise than they are stored.
    """
    view = view_run(run, ledger, variant)
    folder = _new_folder(Path(run.folder), "rescore")
    write_run_files(view, folder)
    for warning in view.scores.warnings:
        typer.echo(f"note: {warning}", err=True)
    print_view(view, folder)
    typer.echo(f"written to {folder}", err=True)
    return changed_readings(view_run(run, ledger), view) if variant.reparse else []


def _new_folder(parent: Path, stem: str) -> Path:
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def export_run(run: Run, ledger: Ledger, form: str, file: Path | None) -> None:
    """Write every judgment of a run.

    Raises:
        UserError: no such format.
        StorageError: the file cannot be written.
    """
    writers = {"csv": write_judgments_csv, "jsonl": write_judgments_jsonl}
    one_of("--format", form, tuple(writers))
    if file is None:
        make_folder(Path(run.folder))
    path = file or Path(run.folder) / f"judgments.{form}"
    writers[form](view_run(run, ledger), path)
    typer.echo(f"written to {path}")


def rescore_monitor(
    since: SinceOption = None,
    until: UntilOption = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Use only this source. Golden questions are excluded unless named."),
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
    """Recompute scores with other weights, rules or judges, without model calls.

    The command shows the means before and after, and how many grades change. Stored scores do not change without --write.
    """
    change, days = variant_of(weights, profile, without_judge, reparse=reparse, write=write), scope_of(since, until, None)
    wanted = EvaluationFilter(since=days.since, until=days.until, source=source, ids=tuple(id or ()))
    with open_ledger(find_config(config, ledger)) as opened:
        done = rescore(monitored(opened, wanted, texts=reparse), opened.panels("monitor"), change)
        _print_rescored(opened, done, change, "answers", write=write)


def rescore_gate(
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
    """Recompute the scores of the gate's judge, without model calls.

    The command shows the means before and after, and how many grades of sentences change. Decisions do not change.
    """
    change, wanted = variant_of(weights, profile, without_judge, reparse=reparse, write=write), scope_of(since, until, collection)
    with open_ledger(find_config(config, ledger)) as opened:
        runs = opened.panels("gate")
        done = rescore(gated(opened, runs, wanted, id or ()), runs, change)
        _print_rescored(opened, done, change, "sentences", write=write)


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


def _print_rescored(ledger: Ledger, done: Rescored, change: Variant, what: str, *, write: bool) -> None:
    for reason in done.unreadable.values():
        tell(f"left out, the scores of {reason}")
    if not done.answers:
        raise UserError(f"no {what} with judgments there: name other days, or none")
    console = _text_console()
    console.print(Text(f"scored again: {change.describe() or 'no change'}", style="bold"))
    table = Table(box=None, pad_edge=False)
    table.add_column("score of", overflow="fold")
    for heading in ("scored before", "mean before", "scored after", "mean after"):
        table.add_column(heading, justify="right", no_wrap=True)
    for criterion, shift in done.criteria.items():
        before, after = shift.means
        cells = (f"{shift.before:,}", _shown(before), f"{shift.after:,}", _shown(after))
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
    document = read_yaml(path)
    nested = isinstance(document.data.get("weights"), dict)
    data = document.data["weights"] if nested else document.data
    if not set(data) & set(WeightsSection.model_fields):
        raise ConfigError(f"must hold {', '.join(WeightsSection.model_fields)}, or a section `weights` with them", path=path)
    for key in data:
        if key not in WeightsSection.model_fields:
            near = get_close_matches(str(key), list(WeightsSection.model_fields), n=1)
            hint = f"did you mean {near[0]}?" if near else f"use {', '.join(WeightsSection.model_fields)}"
            raise document.error(f"there is no such level: {hint}", *(["weights"] if nested else []), str(key))
    try:
        section = WeightsSection.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = [*(["weights"] if nested else []), *(str(part) for part in first["loc"])]
        raise document.error(first["msg"][:1].lower() + first["msg"][1:], *keys) from None
    return Weights(categories=section.categories, subcategories=section.subcategories, criteria=section.criteria)
