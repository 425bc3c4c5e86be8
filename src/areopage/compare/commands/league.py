"""Several targets on the console: one plan, one run for each, and the league table of all."""

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec import Struct

from areopage.bench import (
    REPORT,
    Budget,
    Observers,
    PreparedRun,
    RunOptions,
    RunPart,
    begin_run,
    budget_of,
    carry_on,
    case_column,
    fingerprint_of,
    part_differences,
    prepare_benchmark,
    resumed_since,
    run_folder,
    settle,
    spent_by,
    view_run,
)
from areopage.cli import (
    BUDGET_SPENT,
    DONE,
    FAILED,
    INCONCLUSIVE,
    INTERRUPTED,
    AgeOption,
    ByOption,
    ClusterOption,
    PageLanguageOption,
    Places,
    PlacesOptions,
    RunLog,
    VerboseOption,
    WhereOption,
    accepted,
    ask_to_send,
    asking_display,
    conditions,
    configured,
    confirm,
    ended_like_ctrl_c,
    midnight_of,
    one_of,
    opened_ledger,
    print_plan,
    write_files,
)
from areopage.compare.league.page import league_report, write_league
from areopage.compare.league.table import Absent, League, LeagueEntry, entry_of, league_of
from areopage.compare.league.text import beside
from areopage.compare.league.trend import trend_of_target
from areopage.compare.league.trend_page import trend_report, write_trend
from areopage.digest import digest_of
from areopage.errors import BudgetSpent, DamagedLedger, ModelError, ServerDown, StorageError, UnknownRun, UserError, counted
from areopage.ledger import Ledger, Run
from areopage.locales import LANGUAGES
from areopage.models import Contact
from areopage.report import print_report
from areopage.scoring import Release, Standing
from areopage.suites import load_suite
from areopage.text import visible

EXIT_CODES: dict[Standing, int] = {
    **dict.fromkeys(Release.PASSES, DONE),
    "NO_FLOORS": DONE,
    "INCONCLUSIVE": INCONCLUSIVE,
    "FAIL": FAILED,
}


class Member(Struct):
    """A target of a league with its run.

    Args:
        open_calls: those that another try could bring.
        fault: why the target could not be asked to the end; "" where it could.
    """

    run: Run
    prepared: PreparedRun
    folder: Path
    log: RunLog
    open_calls: int = 0
    fault: str = ""

    @property
    def target(self) -> str:
        """The target's reference."""
        return str(self.prepared.spec.target.reference) if self.prepared.spec.target else ""


def run_league(
    suite: str,
    options: RunOptions,
    targets: Sequence[str],
    places: Places,
    *,
    by: Sequence[str],
    fresh: bool,
    yes: bool,
    new: bool = False,
    verbose: bool = False,
    only_qualified: bool = False,
    budget: float | None = None,
) -> int:
    """Make or resume one run for each target, then the league table of all.

    All targets answer first; then one judge after the other reads all answers, so that a server loads each model once.

    Returns:
        The worst exit code of the runs; 3 if a target could not be asked, or a judge's server or the disk gave out; 4 if the
        budget, which is that of all runs together, is spent; 130 stopped.
    """
    with suppress(UnknownRun), opened_ledger(places):
        pass  # a ledger that cannot be used is refused before a model is asked
    prepared, absent = _prepared(suite, options, targets, places, fresh=fresh, yes=yes)
    for column in by:
        case_column([item.case for item in prepared[0].cases], column)
    with ExitStack() as stack:
        ledger = stack.enter_context(opened_ledger(places, create=True))
        prepared = accepted(prepared, ledger, only_qualified=only_qualified, budget=budget)
        since = resumed_since(prepared[0].spec, new=new)
        runs, are_known = _begun(prepared, ledger, since)
        if not are_known:
            print_plan([(plan.spec, plan.cases) for plan in prepared], ledger, verbose=verbose, budget=budget)
            confirm([plan.spec for plan in prepared], yes=yes)
        members = [_member(plan, run, since, ledger, places, stack) for plan, run in zip(prepared, runs, strict=True)]
        hint = _hint(members, ledger, places)
        specs, begun = [member.prepared.spec for member in members], [member.run for member in members]
        limit = budget_of(budget, specs, ledger, begun) if budget is not None else None
        try:
            with ended_like_ctrl_c():
                _carry_on(members, ledger, limit)
            entries = [_entry(member, ledger, by) for member in members]
        except KeyboardInterrupt:
            typer.echo(f"\nstopped; what has arrived is kept. {hint}", err=True)
            return INTERRUPTED
        except BudgetSpent as fault:
            again = "Go on with the same command without --fresh and --new, and with a higher --budget."
            typer.echo(f"areopage: {fault}; everything is kept. {again}", err=True)
            return BUDGET_SPENT
        except DamagedLedger:
            raise  # the same command meets it again
        except (ServerDown, StorageError) as fault:
            typer.echo(f"areopage: {' '.join(str(fault).split())}; what has arrived is kept. {hint}", err=True)
            return INCONCLUSIVE
        except UserError as fault:
            raise UserError(f"{fault}; what has arrived is kept. {hint}") from fault
        absent += [Absent(target=member.target, reason=member.fault) for member in members if member.fault]
        for entry in entries:
            typer.echo(f"run {entry.run.id}: {own_report(entry.run, places.out)}", err=True)
        if any(entry.doubt == "incomplete" for entry in entries):
            typer.echo(f"some calls brought no verdict. {hint}", err=True)
        return finish_league(league_of(entries, absent=absent), places, verbose=verbose)


def _member(
    prepared: PreparedRun, existing: Run | None, since: datetime | None, ledger: Ledger, places: Places, stack: ExitStack
) -> Member:
    run, spec = existing or begin_run(prepared, ledger, places.out, since)[0], prepared.spec
    folder = run_folder(run, places.out)
    log = stack.enter_context(RunLog(folder / "run.log", spec.log_level))
    log.write("INFO", f"run {run.id}: suite {spec.suite} {spec.suite_version}, {counted(len(prepared.cases), 'case')}")
    return Member(run=run, prepared=prepared, folder=folder, log=log)


def _prepared(
    suite: str, options: RunOptions, targets: Sequence[str], places: Places, *, fresh: bool, yes: bool
) -> tuple[list[PreparedRun], list[Absent]]:
    if len(set(targets)) < len(targets):
        raise UserError("--target names a model twice: each target has one run")
    loaded = load_suite(suite).with_shared(configured(places).shared)
    agreed: set[str] = set()

    def agree(asked: Sequence[Contact]) -> bool:
        """Ask about each server once, not for each target."""
        new = [contact for contact in asked if str(contact) not in agreed]
        if new and not ask_to_send(new):
            return False
        agreed.update(map(str, asked))
        return True

    prepared: list[PreparedRun] = []
    absent: list[Absent] = []
    faults: list[ServerDown] = []
    for target in targets:
        try:
            target_options = msgspec.structs.replace(options, target=target)
            prepared.append(prepare_benchmark(loaded, target_options, fresh=fresh, agree=None if yes else agree))
        except ServerDown as fault:
            faults.append(fault)
            absent.append(Absent(target=target, reason=" ".join(str(fault).split())))
    if not prepared:
        raise faults[0]
    if prepared[0].spec.target is None:
        raise UserError("the answers come with the cases, so that no target is asked: give --answers target")
    for absence in absent:
        typer.echo(f"not run: {absence.target}: {absence.reason}", err=True)
    return prepared, absent


def _begun(prepared: Sequence[PreparedRun], ledger: Ledger, since: datetime | None) -> tuple[list[Run | None], bool]:
    """The runs to go on with, and whether each target has one.

    Where a run of the league is unfinished, a finished one of the same specification belongs to the same league.
    """
    fingerprints = [fingerprint_of(plan.spec, plan.cases) for plan in prepared]
    runs = [ledger.unfinished_run(fingerprint, since) for fingerprint in fingerprints]
    if any(runs):
        recent = (run for run in reversed(ledger.runs()) if since is None or run.created_at >= since)
        newest = {run.fingerprint: run for run in recent if run.finished_at}
        runs = [run or newest.get(fingerprint) for run, fingerprint in zip(runs, fingerprints, strict=True)]
        for run in runs:
            if run is not None and run.finished_at is None:
                typer.echo(f"resuming the unfinished run {run.id} (--new starts anew)", err=True)
    return runs, all(runs)


def _carry_on(members: Sequence[Member], ledger: Ledger, budget: Budget | None) -> None:
    """Make all open calls: the answers of each target, then judge by judge those of all.

    A target that cannot be asked, or not to the end, is left out from then on.
    """
    going = [member for member in members if member.run.finished_at is None]
    for member in going:
        try:
            _do(member, RunPart(judges=()), ledger, budget)
        except ModelError as fault:
            member.fault = " ".join(str(fault).split())
            member.log.write("ERROR", f"stopped: {member.fault}")
            typer.echo(f"{member.target} gave out: {member.fault}; what has arrived is kept", err=True)
    going = [member for member in going if not member.fault]
    for judge in members[0].prepared.spec.judges:
        for member in going:
            _do(member, RunPart(answers=False, judges=(judge.name,)), ledger, budget)
    for member in going:
        if member.prepared.spec.adaptive is not None and not member.open_calls:
            _do(member, RunPart(answers=False), ledger, budget)


def _do(member: Member, part: RunPart, ledger: Ledger, budget: Budget | None) -> None:
    typer.echo(f"{member.target}:", err=True)
    spec = member.prepared.spec
    with asking_display(spec, spent_by(member.run, spec, ledger)) as display:
        observer = Observers([display, member.log])
        member.open_calls += carry_on(member.run, spec, ledger, observer, member.folder, budget, part)


def _entry(member: Member, ledger: Ledger, by: Sequence[str]) -> LeagueEntry:
    """Write the files of a run, and reduce it to what a league needs."""
    if member.run.finished_at is not None or member.fault:
        view = view_run(ledger.run(member.run.id), ledger)
    else:
        view = settle(member.run, member.open_calls, ledger)
    write_files(view, member.folder, member.log)
    return entry_of(view, by)


def _hint(members: Sequence[Member], ledger: Ledger, places: Places) -> str:
    resumed = [places.command(ledger, "resume", member.run.id) for member in members if member.run.finished_at is None]
    league = places.command(ledger, "league", *(member.run.id for member in members))
    return f"Go on with the same command without --fresh and --new, or with: {'; '.join(resumed)}; then: {league}"


def league(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Two runs or more: ids, their beginnings, or folders.")],
    by: ByOption = None,
    where: WhereOption = None,
    age: AgeOption = None,
    cluster: ClusterOption = "",
    lang: PageLanguageOption = None,
    *,
    places: PlacesOptions,
    verbose: VerboseOption = False,
) -> None:
    """Compare runs of several targets that one panel judged on the same cases, without calling a model."""
    language = one_of("--lang", lang, LANGUAGES) or ""
    chosen = conditions(where, age)
    with opened_ledger(places) as opened:
        named = {run.id: run for run in map(opened.run, runs)}
        if len(named) < 2:
            listed = places.command(opened, "list")
            raise UserError(f"a league table needs two runs or more: give their ids ({listed})")
        entries = [entry_of(view_run(run, opened, where=chosen), by or ()) for run in named.values()]
        refuse_other_panels(entries)
        raise typer.Exit(finish_league(league_of(entries, cluster=cluster), places, language, verbose=verbose))


def refuse_other_panels(entries: Sequence[LeagueEntry]) -> None:
    """Check that runs differ in their targets alone."""
    first, *others = entries
    for other in others:
        if differences := part_differences(first.parts, other.parts):
            parts = "; ".join(map(str, differences))
            raise UserError(f"{first.run.id} and {other.run.id} cannot be compared, for they differ in: {visible(parts)}")


def finish_league(league: League, places: Places, language: str = "", *, verbose: bool = False) -> int:
    """Print a league and write its files; the exit code is the worst of its runs."""
    ids = [*sorted(entry.run.id for entry in league.entries), *(part.where if (part := league.entries[0].spec.part) else ())]
    folder = places.out / f"league-{league.entries[0].spec.suite}-{digest_of(ids)[:8]}"
    links = report_links((entry.run for entry in league.entries), places.out, folder)
    page = write_league(league, folder, links, language)[0]
    print_report(league_report(league, {}, language), short=not verbose)
    typer.echo(f"league table: {page}")
    return EXIT_CODES[league.standing]


def trend(
    target: Annotated[str, typer.Option(metavar="REF", help="The model under test; default: that of the newest run.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Number of runs, the newest.")] = 50,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="First day (UTC) of the runs.")] = None,
    fail_on: Annotated[
        str | None,
        typer.Option("--fail-on", metavar="regression", help="Exit with code 1 if the newest run fails more often than before."),
    ] = None,
    lang: Annotated[
        str | None, typer.Option(metavar="en|fr", help="Language of the page; default: that of the newest run.")
    ] = None,
    *,
    places: PlacesOptions,
) -> None:
    """Show the runs of one target in time order, and whether each fails more often than those before; calls no model."""
    language = one_of("--lang", lang, LANGUAGES) or ""
    fails = one_of("--fail-on", fail_on, ("regression",)) is not None
    with opened_ledger(places) as opened:
        target_trend = trend_of_target(opened, target, limit, midnight_of("--since", since))
    slug = re.sub(r"[^A-Za-z0-9]+", "-", target_trend.target).strip("-")[:40]
    folder = places.out / f"trend-{slug}-{digest_of(target_trend.target)[:8]}"
    links = report_links((entry.run for group in target_trend.groups for entry in group.entries), places.out, folder)
    page = write_trend(target_trend, folder, links, language)[0]
    print_report(trend_report(target_trend, {}, language))
    typer.echo(f"trend: {page}")
    raise typer.Exit(FAILED if fails and target_trend.newest[1].outcome == "regression" else DONE)


def own_report(run: Run, out: Path) -> Path:
    """Where the report of a run is, if it has one; what a ledger says of other folders does not count."""
    folder = Path(run.folder).resolve()
    return (folder if out.resolve() in folder.parents else out / Path(run.id).name) / REPORT


def report_links(runs: Iterable[Run], out: Path, folder: Path) -> dict[str, str]:
    """The addresses of the reports of runs, for a page in a folder; of runs that have one."""
    reports = {run.id: own_report(run, out) for run in runs}
    return {id: beside(path, folder) for id, path in reports.items() if path.is_file()}
