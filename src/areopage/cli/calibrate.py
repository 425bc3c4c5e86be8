"""Command group `areopage calibrate`: how many labels are needed, fit a calibration, list and show calibrations."""

import shlex
from datetime import UTC, datetime
from typing import Annotated

import typer

from areopage.app import find_config, open_ledger
from areopage.bench import RunView, answers_by_kind, fit_run, judged_run, planned_labels, queue_answers, view_run
from areopage.cli.bench.places import opened_ledger
from areopage.cli.options import ConfigOption, PlacesOptions, actor, last_day
from areopage.cli.run_options import RunArgument
from areopage.errors import UserError, counted, name_list
from areopage.ledger import TEACHING, ReviewItem, Scope, last_days
from areopage.locales import MISSING
from areopage.report import Printer, Table, columns, fit_period, report_locale, rows
from areopage.scoring import OVERALL
from areopage.text import visible
from areopage.trust import Calibration, CriterionPlan, teaching_answers

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the calibration, the beginning of it, or `latest`.")]


def plan(
    run: RunArgument = "latest",
    precision: Annotated[
        float,
        typer.Option(
            "--precision", metavar="POINTS", min=0.0001, help="Half the width of the 95 % interval, in points of the scale."
        ),
    ] = 0.1,
    teach: Annotated[
        int, typer.Option("--teach", metavar="N", min=0, max=10_000, help="Also queue the N answers that teach most.")
    ] = 0,
    queue: Annotated[bool, typer.Option("--queue", help="Put the answers into the review queue.")] = False,
    raters: Annotated[int, typer.Option("--raters", metavar="K", min=1, max=20, help="Raters for each answer.")] = 1,
    *,
    places: PlacesOptions,
) -> None:
    """Tell how many labels a stated precision of corrected scores takes, and queue the answers to label.

    The answers are drawn at random; only those make corrected means and intervals valid. Those of --teach are chosen by the
    judges' scores, where judges are apart or extreme: the map of single scores learns from them, and means do not.
    """
    with opened_ledger(places) as opened:
        view = view_run(opened.run(run), opened)
        planned = planned_labels(view, precision)
        if not planned:
            raise UserError(f"run {view.run.id}: its jury has scored nothing")
        needed = max(criterion.plan.labels for criterion in planned)
        enough = all(criterion.labelled >= criterion.plan.labels and not criterion.is_assumed for criterion in planned)
        _print_plan(view, planned, enough)
        allowed = answers_by_kind(view)["random"]
        now = datetime.now(UTC)
        if queue:
            done = queue_answers(view, opened, ("random",), min(needed, len(allowed)), now, raters=raters)
            typer.echo(f"queued at random: {done.new} new, {done.queued_before} were in the queue")
            view = view_run(view.run, opened)
        queued = {*view.people.items, *(label.answer_id for label in view.people.labels)}
        taught = teaching_answers(judged_run(view), allowed, teach, queued) if teach else ()
        if taught and queue:
            items = [ReviewItem(answer_id=id, why=TEACHING, created_at=now, wanted=raters, run_id=view.run.id) for id in taught]
            opened.review_queue.add(items)
        if taught:
            typer.echo(f"{'queued as they teach most' if queue else 'teach most'}: {name_list(taught, len(taught))}")
        steps = [["fit", view.run.id]] if queue or enough else [["plan", view.run.id, "--precision", f"{precision:g}", "--queue"]]
        for step in steps:
            typer.echo(f"next: {shlex.join(['areopage', 'calibrate', *step, *places.options(opened)])}")


def _print_plan(view: RunView, planned: list[CriterionPlan], enough: bool) -> None:
    printer, scale = Printer(report_locale("en")), view.spec.scale
    half = planned[0].plan.precision
    printer.say(f"labels for ±{half:g} points of {scale.min:g} to {scale.max:g} at 95 %, run {view.run.id}", "bold")
    heads = columns(
        *("answers", "labelled", "needed", "without judges", "half-width", "sd of people", "r with jury"), first="score of"
    )

    def row(criterion: CriterionPlan) -> tuple[str, ...]:
        return (
            criterion.criterion or "all",
            f"{criterion.plan.judged:,}",
            f"{criterion.labelled:,}",
            f"{criterion.plan.labels:,}",
            f"{criterion.plan.labels_alone:,}",
            f"{criterion.plan.reached:.3f}",
            *(f"{value:.2f}{' *' if criterion.is_assumed else ''}" for value in (criterion.spread, criterion.correlation)),
        )

    printer.table(Table(columns=heads, rows=rows(map(row, planned))))
    if any(criterion.is_assumed for criterion in planned):
        printer.say("* assumed, as fewer than 10 random answers are labelled: plan again after the first labels")
    needed = max(criterion.plan.labels for criterion in planned)
    text = "enough answers drawn at random are labelled" if enough else f"label {counted(needed, 'answer')} drawn at random"
    printer.say(text, "bold")


def fit(
    run: RunArgument = "latest",
    *,
    places: PlacesOptions,
) -> None:
    """Fit a calibration to the labels of a run, store it, and show the run's scores before and after.

    Only blind labels count. Means rest on answers that were drawn at random; the map of single scores also learns from those
    that `plan --teach` queued.
    """
    with opened_ledger(places) as opened:
        view = view_run(opened.run(run), opened)
        calibration = fit_run(view, datetime.now(UTC))
        opened.calibrations.add(calibration.stored())
        opened.audit.note(
            actor(), "calibrate", view.run.id, f"calibration {calibration.id}: {counted(calibration.labels.labels, 'label')}"
        )
        _print_calibration(calibration)
        typer.echo(f"apply it: {places.command(opened, 'rescore', view.run.id, '--calibration', calibration.id)}")


def monitored(
    days: Annotated[
        int, typer.Option("--days", min=1, max=3660, metavar="N", help="Number of days, including the last day.")
    ] = 28,
    until: Annotated[str | None, typer.Option("--until", metavar="DATE", help="Last day (UTC). Default: today.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Use only answers of this source.")] = None,
    variant: Annotated[str | None, typer.Option("--variant", metavar="NAME", help="Use only answers of this variant.")] = None,
    config: ConfigOption = None,
) -> None:
    """Fit a calibration to the labels of monitored answers, store it, and show their scores before and after.

    Only blind labels count, of answers that the monitor drew at random for review. Each label is weighed by the traffic of its
    day.
    """
    now, settings = datetime.now(UTC), find_config(config)
    last = last_day(until, now)
    suite = settings.monitor.load_suite()
    with open_ledger(settings) as ledger:
        scope = Scope(suite=suite.name, source=source, variant=variant)
        fitted = fit_period(ledger, last_days(days, last), scope, now)
        ledger.calibrations.add(fitted.stored())
        ledger.audit.note(
            actor(), "calibrate", fitted.source, f"calibration {fitted.id}: {counted(fitted.labels.labels, 'label')}"
        )
        _print_calibration(fitted)
        parts = ["areopage", "monitor", "report", "--days", str(days), "--until", last.isoformat()]
        scoped = [part for name, value in (("--source", source), ("--variant", variant)) if value for part in (name, value)]
        named = ["--config", str(config)] if config else []
        typer.echo(f"apply it: {shlex.join([*parts, *scoped, '--calibration', fitted.id, *named])}")


def list_calibrations(*, places: PlacesOptions) -> None:
    """List the calibrations of a ledger, oldest first."""
    with opened_ledger(places) as opened:
        stored_calibrations = opened.calibrations.all()
        if not stored_calibrations:
            typer.echo(f"no calibrations in {opened.place}")
            return
        heads = columns("fitted (UTC)", "suite", "run", "answers labelled", "judges", first="calibration", texts=(1, 2, 3, 5))

        def row(calibration: Calibration) -> tuple[str, ...]:
            judges = name_list(judge.name for judge in calibration.judges)
            return (
                calibration.id,
                f"{calibration.fitted:%Y-%m-%d %H:%M}",
                calibration.suite,
                calibration.source,
                f"{calibration.labels.answers:,}",
                judges,
            )

        table = Table(columns=heads, rows=rows(row(Calibration.read(stored)) for stored in stored_calibrations))
        Printer(report_locale("en")).table(table)


def show(id: IdArgument = "latest", *, places: PlacesOptions) -> None:
    """Show what a calibration corrects, and what it rests on: labels, raters, judges with digests, prompt version."""
    with opened_ledger(places) as opened:
        _print_calibration(Calibration.read(opened.calibrations.find(id)))


def _print_calibration(calibration: Calibration) -> None:
    printer, labels = Printer(report_locale("en")), calibration.labels
    source = f"monitored {calibration.source}" if calibration.monitored else f"run {calibration.run_id}"
    printer.say(f"calibration {calibration.id} of {calibration.fitted:%Y-%m-%d %H:%M} UTC, {source}", "bold")
    raters = name_list(visible(rater) for rater in labels.raters)
    printer.say(f"labels: {labels.labels} of {counted(labels.answers, 'answer')} drawn at random, by {raters}")
    if calibration.monitored:
        judged = max(fit.mean.judged for fit in calibration.criteria)
        text = f"means are of the {counted(judged, 'answer')} of the days with labels; each label is weighed by its day's traffic"
        printer.say(text)
    if labels.answers < labels.drawn:
        waiting = counted(labels.drawn - labels.answers, "answer")
        text = f"drawn at random, and not labelled: {waiting}; if raters chose which ones, the figures are biased"
        printer.say(text)
    if labels.taught:
        taught = f"also labelled, as they teach most: {counted(labels.taught, 'answer')}"
        printer.say(f"{taught}; single scores learn from them, means do not")
    if labels.selected:
        printer.say(f"not used: labels of {counted(labels.selected, 'answer')} that were not drawn at random")
    if labels.unblind:
        printer.say(f"not used: {counted(labels.unblind, 'label')} given after the judges' scores were seen")
    for judge in calibration.judges:
        digest = judge.digest or "unknown"
        text = f"judge {judge.name}: {judge.model}, model digest {digest}, {counted(judge.passes, 'pass', 'passes')}"
        printer.say(visible(text))
    printer.say(f"prompt version {calibration.template}, language {calibration.language}, hash {calibration.digest}")
    headings = ("answers", "labelled", "before", "after", "95 % interval", "labels alone", "labels saved", "single scores by")
    cells: list[tuple[str, ...]] = []
    for fit in calibration.criteria:
        mean, alone = fit.mean, fit.mean.labels_alone
        name = fit.criterion or ("all" if fit.criterion == OVERALL else "")
        figures = (f"{mean.judged:,}", f"{mean.labels:,}", f"{fit.jury:.2f}", f"{mean.value:.2f}")
        saved = MISSING if mean.saved is None else f"{max(0.0, mean.saved):.0%}"
        cells.append((name, *figures, _range(mean.low, mean.high), _range(alone.low, alone.high), saved, fit.singles))
    printer.table(Table(columns=columns(*headings, first="score of"), rows=rows(cells)))
    if not calibration.monitored:
        text = "means and intervals are of the answers of this run, as these raters see them; not of other cases or raters"
        complete = all(fit.mean.labels == fit.mean.judged for fit in calibration.criteria)
        printer.say(f"{text}; every answer is labelled, so intervals have no width" if complete else text)
    for fit in calibration.criteria:
        if fit.failures is not None:
            failures = fit.failures
            interval = f"{failures.low:.1%} to {failures.high:.1%}"
            text = f"fail {fit.criterion}: {failures.uncorrected:.1%} before, {failures.value:.1%} after ({interval})"
            printer.say(text)
    _print_weights(calibration, printer)
    for path, answers in calibration.left_out.items():
        printer.say(f"not corrected: {path} ({counted(answers, 'answer')} labelled at random, 10 are needed)")


def _print_weights(calibration: Calibration, printer: Printer) -> None:
    for fit in calibration.criteria:
        if fit.agreement:
            weighed = ", ".join(
                f"{judge.name} {weight:.0%}" for judge, weight in zip(calibration.judges, fit.agreement, strict=True)
            )
            printer.say(visible(f"judges of {fit.criterion} weighed by their agreement: {weighed}"))
        if fit.errors is not None:
            by_judge = zip(calibration.judges, fit.errors.missed, fit.errors.alarms, strict=True)
            text = "; ".join(f"{judge.name} misses {missed:.0%}, false alarms {alarms:.0%}" for judge, missed, alarms in by_judge)
            printer.say(visible(f"failures of {fit.criterion}: {text}"))


def _range(low: float | None, high: float | None) -> str:
    return MISSING if low is None or high is None else f"{low:.2f} to {high:.2f}"
