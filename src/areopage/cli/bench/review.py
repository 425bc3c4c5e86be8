"""`areopage bench review`, `bench sign` and `bench report`: people's part in a run, and its files with it."""

import os
import shlex
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from areopage.app import LEDGER_VARIABLE, find_config
from areopage.bench import (
    REPORT,
    REVIEW_KINDS,
    ReviewKind,
    RunView,
    answers_by_kind,
    folder_of,
    human_texts,
    queue_answers,
    reservation_line,
    run_folder,
    run_reviewed,
    sign_run,
    signoff_texts,
    view_run,
    with_history,
    write_pages,
    write_run_files,
)
from areopage.cases import CSV_ENCODING, table_writer
from areopage.cli.bench.places import opened_ledger
from areopage.cli.options import Places, PlacesOptions, actor, listed, one_of
from areopage.cli.run_options import RunArgument
from areopage.errors import StorageError, UserError, counted
from areopage.ledger import SAMPLE, Ledger, Run
from areopage.report import agreement_text, audience, replacing, report_locale, table
from areopage.review import Rubric
from areopage.text import visible

DEFAULT_SAMPLE = 50
DEFAULT_WHERE = "failing,disputed,unscored,addressed"
VERDICTS: tuple[Literal["approve", "reject"], ...] = ("approve", "reject")


def review(
    run: RunArgument = "latest",
    sample: Annotated[int, typer.Option("--sample", metavar="N", min=1, max=100_000, help="Number of answers.")] = DEFAULT_SAMPLE,
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="KIND,...",
            help="Which answers in addition to the random ones: failing, disputed, unscored, addressed; or only random.",
        ),
    ] = DEFAULT_WHERE,
    raters: Annotated[int, typer.Option("--raters", metavar="K", min=1, max=20, help="Raters for each answer.")] = 1,
    seed: Annotated[str, typer.Option("--seed", metavar="TEXT", help="Seed of the draw; default: the run's fingerprint.")] = "",
    status: Annotated[bool, typer.Option("--status", help="Queue nothing; show labels and agreement.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the queued answers to a CSV file to label there.")
    ] = None,
    *,
    places: PlacesOptions,
) -> None:
    """Queue answers of a run for review, or show how far people agree with its judges.

    Half of the answers are drawn at random: only those tell how far people agree with the judges. People label the answers on
    the review pages, with `areopage review`, or in a table (--export).
    """
    kinds = tuple(one_of("--where", name, REVIEW_KINDS) for name in listed(where))
    if not kinds:
        raise UserError(f"--where: give some of {', '.join(REVIEW_KINDS)}")
    with opened_ledger(places) as opened:
        view = view_run(opened.run(run), opened)
        if status:
            _print_status(view, places.command(opened, "review", view.run.id))
            typer.echo(f"report with these figures: {places.command(opened, 'report', view.run.id)}")
        else:
            now = datetime.now(UTC)
            done = queue_answers(view, opened, kinds, sample, now, raters=raters, seed=seed)
            view = view_run(view.run, opened)
            typer.echo(f"run {view.run.id}: {counted(done.of_kind['random'], 'answer')} can be labelled")
            _print_kinds(view, done.drawn)
            typer.echo(f"new in the queue: {done.new}; in the queue before: {done.queued_before}")
        if export is not None:
            _export(view, opened, export, places)
        elif not status:
            _print_next_steps(view, opened, places)


def sign(
    run: RunArgument = "latest",
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the person who signs.")] = "",
    role: Annotated[str, typer.Option("--role", metavar="TEXT", help="Role of the person, e.g. safety officer.")] = "",
    note: Annotated[
        str,
        typer.Option("--note", metavar="TEXT", help="Reason; required to approve a run with open points, e.g. failing cases."),
    ] = "",
    verdict: Annotated[str, typer.Option("--verdict", metavar="approve|reject", help="What is signed.")] = "approve",
    *,
    places: PlacesOptions,
) -> None:
    """Sign a run: approve or reject it, with a name, a date and a hash of what is signed.

    The ledger's hash chain keeps the signature. Later changes of the results or the labels show beside it.
    """
    if not name.strip():
        raise UserError("--name: give the name of the person who signs")
    chosen = one_of("--verdict", verdict, VERDICTS)
    with opened_ledger(places) as opened:
        view = view_run(opened.run(run), opened)
        signed = sign_run(view, opened, name, chosen, datetime.now(UTC), role=role, note=note, actor=actor())
        release = f"release verdict {signed.signed.release}, " if signed.signed.release else ""
        what = f"{release}{len(view.cases)} cases, {counted(signed.signed.counted, 'score')} by people"
        typer.echo(f"signed: {signed.verdict} by {visible(signed.name)}, {signed.signed_at:%Y-%m-%d %H:%M} UTC ({what})")
        if signed.signed.over:
            over = (visible(reservation_line(reservation, report_locale("en"))) for reservation in signed.signed.over)
            typer.echo(f"signed over: {'; '.join(over)}")
        typer.echo(f"hash: {signed.digest} (SHA-256 of what is signed: the run, its results, people's scores, name and date)")
        folder, stored = folder_of(view.run, places.out, run), Path(view.run.folder)
        if (folder / REPORT).is_file():
            try:
                typer.echo(f"report: {_write_files(view.run, opened, folder)}")
            except StorageError as fault:
                again = places.command(opened, "report", run if Path(run).is_dir() else view.run.id)
                raise StorageError(
                    f"the run is signed, but its report is not renewed: {fault}; renew it with: {again}"
                ) from fault
        else:
            elsewhere = (stored / REPORT).is_file()
            again = places.command(opened, "report", str(stored) if elsewhere else view.run.id)
            typer.echo(f"the report{f' in {stored}' if elsewhere else ''} does not show the signature yet: {again}")


def report(
    run: RunArgument = "latest",
    pages: Annotated[bool, typer.Option("--pages", help="Write the pages alone: no results.json and no tables.")] = False,
    *,
    places: PlacesOptions,
) -> None:
    """Write the report, results.json and the other files of a run again. Sign-offs and labels are in them; no model is called."""
    with opened_ledger(places) as opened:
        stored = opened.run(run)
        if pages:
            view, folder = with_history(view_run(stored, opened), opened), run_folder(stored, places.out, run)
            typer.echo(f"report: {write_pages(view, folder)[0]}")
            return
        typer.echo(f"report: {_write_files(stored, opened, run_folder(stored, places.out, run))}")


def _write_files(run: Run, ledger: Ledger, folder: Path) -> Path:
    write_run_files(with_history(view_run(ledger.run(run.id), ledger), ledger), folder)
    return folder / REPORT


def _print_kinds(view: RunView, drawn: dict[ReviewKind, int] | None = None) -> None:
    by_kind, labelled = answers_by_kind(view), {label.answer_id for label in view.people.labels}
    rows = [["kind", "answers", *(["drawn"] if drawn is not None else []), "queued", "labelled"]]
    for kind in REVIEW_KINDS:
        ids = by_kind[kind]
        queued = [id for id in ids if id in view.people.items]
        cells = [str(len(ids)), *([str(drawn[kind])] if drawn is not None else []), str(len(queued))]
        rows.append([{"random": "all (random)"}.get(kind, kind), *cells, str(sum(id in labelled for id in ids))])
    typer.echo("\n".join(table(rows)))


def _print_status(view: RunView, queue: str) -> None:
    people, locale = view.reviewed, report_locale("en")
    typer.echo(f"run {view.run.id}")
    for signoff, _ in signoff_texts(people, locale):
        typer.echo(visible(signoff))
    _print_kinds(view)
    if people is None or people.all_labelled is None:
        typer.echo(f"no label counts yet, queue answers with: {queue}")
        return
    typer.echo("")
    for signoff in human_texts(people, locale):
        typer.echo(signoff)
    sampled = people.sample is not None
    if not sampled:
        typer.echo("figures over all labelled answers, which speak for no others:")
    figures = people.sample or people.all_labelled
    rows = [["failures", "answers", "people", "jury", "both", "sensitivity", "specificity", "agreement"]]
    names = view.spec.criteria_by_id()
    pairs = [(names[id].name, figure.failures) for id, figure in (figures.criteria.items() if figures else ()) if figure.failures]
    first = [("any that counts first", figures.first)] if figures and len(pairs) > 1 else []
    for name, failures in [*first, *pairs]:
        counts = [str(count) for count in (failures.items, failures.people, failures.jury, failures.both)]
        for share in (failures.sensitivity, failures.specificity, failures.agreement):
            unknown = share.share is None or share.low is None or share.high is None
            counts.append("-" if unknown else f"{share.hits}/{share.of} ({share.low:.0%} to {share.high:.0%})")
        rows.append([name, *counts])
    typer.echo("\n".join(table(rows)))
    typer.echo("")
    typer.echo(agreement_text(run_reviewed(view, "en", sample_only=sampled).report, locale), nl=False)


def _ledger_options(ledger: Ledger, places: Places) -> list[str]:
    """The option that names the ledger to a command that does not look for it in the folder of the runs."""
    return [] if find_config(places.config).shared.ledger and not places.ledger else ["--ledger", ledger.place]


def _print_next_steps(view: RunView, ledger: Ledger, places: Places) -> None:
    config = find_config(places.config, places.ledger)
    named = ["--config", str(places.config)] if places.config else []
    elsewhere = _ledger_options(ledger, places)
    is_set = places.ledger is not None and os.environ.get(LEDGER_VARIABLE) == places.ledger
    environment = "" if not elsewhere or is_set else f"{LEDGER_VARIABLE}={shlex.quote(ledger.place)} "
    server = config.section.server
    address = f"http://{server.host}:{server.port}"
    back = places.command(ledger, "review", view.run.id)
    typer.echo(
        f"label in the browser: {environment}{shlex.join(['areopage', 'serve', '--no-worker', *named])}, then {address}/review"
    )
    typer.echo(f"label here: {shlex.join(['areopage', 'review', 'list', '--rater', 'NAME', *elsewhere, *named])}")
    typer.echo(f"label in a table: {back} --export FILE.csv")
    typer.echo(f"agreement: {back} --status")


def _export(view: RunView, ledger: Ledger, file: Path, places: Places) -> None:
    """Write the queued answers without any score: a column per criterion is to be filled in."""
    rubric = Rubric.of_panel(view.spec, view.run.id)
    items = [item for item in view.people.items.values() if item.state == "open"]
    items.sort(key=lambda item: (item.why != SAMPLE, item.number))
    cases = {view.answer_ids[case.id]: case for case in view.cases if case.id in view.answer_ids}
    names = Counter(path.rpartition(".")[2] for path in rubric.paths)
    criteria = [entry.name if names[entry.name] == 1 else entry.path for entry in rubric.entries]
    locale, personas = report_locale(view.spec.language), view.spec.personas
    readers = {name: audience(locale, name, reader.maturity_band) for name, reader in personas.items()}
    ledger.audit.note(actor(), "export", view.run.id, f"{len(items)} answers to label")
    with replacing(file) as place, place.open("w", encoding=CSV_ENCODING, newline="") as stream:
        write = table_writer(stream)
        write(("id", "audience", "prompt", "response", *criteria, "global", "rater", "comment"))
        for item in items:
            if (case := cases.get(item.answer_id)) is not None:
                blank = [""] * (len(criteria) + 3)
                reader = readers.get(case.maturity, case.maturity)
                write((item.answer_id, reader, case.prompt_text, case.response or "", *blank))
    typer.echo(f"written: {file} ({counted(len(items), 'answer')})")
    options = [*_ledger_options(ledger, places), *(["--config", str(places.config)] if places.config else [])]
    typer.echo(f"afterwards: {shlex.join(['areopage', 'review', 'import', str(file), '--run', view.run.id, *options])}")
