"""`areopage bench compare`: a run against others, against earlier ones or production; the exit code can stop a release."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from msgspec import Struct

from areopage.bench import RunSpec
from areopage.cli import (
    DONE,
    FAILED,
    INCONCLUSIVE,
    STDOUT,
    AgeOption,
    ByOption,
    ClusterOption,
    PageLanguageOption,
    Places,
    PlacesOptions,
    VerboseOption,
    WhereOption,
    conditions,
    last_day,
    midnight_of,
    one_of,
    opened_ledger,
    period_since,
)
from areopage.compare.commands.league import report_links
from areopage.compare.report.files import write_comparison, write_page, write_production
from areopage.compare.report.history import history_report
from areopage.compare.report.page import comparison_report
from areopage.compare.report.production import production_report
from areopage.compare.runs.compare import compare_runs
from areopage.compare.runs.history import compare_history
from areopage.compare.runs.production import compare_production
from areopage.compare.runs.production_answers import WantedAnswers
from areopage.compare.runs.records import ComparisonOutcome
from areopage.digest import digest_of
from areopage.errors import StorageError, UnknownRun, UserError, counted
from areopage.ledger import Ledger, Run, last_days
from areopage.locales import LANGUAGES
from areopage.report import Report, print_report, render, replacing
from areopage.text import visible

FailOn = Literal["regression", "new-failures", "undecided"]
DEFAULT_MARGIN = 5.0
"""Points of a hundred by which the share of failing cases may rise, for `undecided`."""
_DAYS = 30
"""The days of production that are compared without --since."""
_MOST_EARLIER = 200


RunsArgument = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="The run to compare with, then one or more: ids, folders, targets (newest run)."),
]
AgainstOption = Annotated[
    str, typer.Option("--against", metavar="last:N", help="Compare one run with the N complete runs of its target before it.")
]
ProductionOption = Annotated[
    bool, typer.Option("--production", help="Compare one run with the answers that the monitor evaluated.")
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="First day (UTC) of --against, or of --production (30 days)."),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="DATE", help="Last day of --production (UTC). Default: today.")
]
SourceOption = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only answers of this source.")]
SuiteOption = Annotated[
    str | None, typer.Option("--suite", metavar="NAME", help="The suite that judged production. Default: the run's.")
]
AnywayOption = Annotated[bool, typer.Option("--anyway", help="Compare what runs of different panels have in common, and say so.")]
FailOnOption = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="regression|new-failures|undecided",
        help="Exit with code 1 if a run is worse than the first, or if a case newly fails; undecided: 3 if it may be worse.",
    ),
]
MarginOption = Annotated[
    float | None,
    typer.Option("--margin", metavar="POINTS", min=0.0, max=100.0, help="Rise to rule out, for --fail-on undecided. Default: 5."),
]
MarkdownOption = Annotated[str, typer.Option("--md", metavar="FILE", help="Write Markdown for a pull request; - is the screen.")]


class Comparing(Struct, frozen=True, kw_only=True):
    """What every comparison is asked with.

    Args:
        names: runs, or targets, which stand for their newest complete run.
        fail_on: `regression`: a regression fails; `new-failures`: a case that newly fails a criterion does, whatever the tests
            say; `undecided`: a regression fails, and so does a rise of failures over a margin that is not ruled out.
        verbose: show the whole console.
        markdown: where the Markdown goes: a file, `-` for the screen instead of the tables, or "".
    """

    names: Sequence[str]
    places: Places
    fail_on: FailOn | None
    markdown: str
    language: str
    verbose: bool = False

    def with_first(self, *, by: Sequence[str], cluster: str, anyway: bool, margin: float, where: Sequence[str]) -> int:
        """Compare runs with the first one; 3 also if a rise over the margin is not ruled out and that is to fail."""
        with opened_ledger(self.places) as ledger:
            first = find_run(ledger, self.names[0])
            runs = [first, *(find_run(ledger, name, first.suite) for name in self.names[1:])]
            if len({run.id for run in runs}) < max(len(runs), 2):
                listed = self.places.command(ledger, "list")
                raise UserError(f"a comparison needs two different runs or more: give ids or targets ({listed})")
            comparison = compare_runs(ledger, runs, by=by, cluster=cluster, anyway=anyway, where=where)
        folder = self._folder("comparison", first.suite, [*(run.id for run in runs), *where])
        self._show(
            lambda prompts: comparison_report(comparison, {}, self.language, brief=True, prompts=prompts),
            lambda: write_comparison(comparison, folder, report_links(runs, self.places.out, folder), self.language),
        )
        newly = any(other.newly_failing for other in comparison.others)
        code = self._exit_code(
            comparison.outcome, newly=newly, unknown=sum(len(other.not_compared) for other in comparison.others)
        )
        if code != DONE or self.fail_on != "undecided":
            return code
        rises = [other.possible_rise for other in comparison.others]
        if all(rise is not None and rise <= margin / 100.0 for rise in rises):
            return DONE
        warning = f"a rise of failures by more than {margin:g} points is not ruled out; compare more cases"
        typer.echo(f"not decided: {warning}", err=True)
        return INCONCLUSIVE

    def with_earlier(self, against: str, since: str | None, where: Sequence[str]) -> int:
        """Compare a run with the complete runs of its target before it, at most N of them by `last:N`."""
        match = re.fullmatch(r"last:(\d{1,3})", against)
        if match is None or not 1 <= int(match[1]) <= _MOST_EARLIER:
            advice = f"use last:N, the number of earlier runs, such as last:14 (1 to {_MOST_EARLIER})"
            raise UserError(f"--against {visible(against)}: {advice}")
        if len(self.names) != 1:
            raise UserError(f"--against compares one run with earlier ones: give one run, not {len(self.names)}")
        with opened_ledger(self.places) as ledger:
            history = compare_history(
                ledger, find_run(ledger, self.names[0]), int(match[1]), midnight_of("--since", since), where
            )
        conclusion, runs = history.conclusion, [entry.run for entry in (history.entry, *history.pool)]
        folder = self._folder("comparison", history.entry.spec.suite, [history.entry.run.id, *conclusion.pool, *where])

        def write() -> list[Path]:
            links = report_links(runs, self.places.out, folder)
            return write_page(history_report(history, links, self.language), folder, "history", {})

        self._show(lambda prompts: history_report(history, {}, self.language, prompts=prompts), write)
        return self._exit_code(conclusion.outcome, newly=bool(conclusion.newly), unknown=len(conclusion.failures.unknown))

    def with_production(
        self,
        *,
        since: str | None,
        until: str | None,
        source: str | None,
        suite: str | None,
        by: Sequence[str],
        cluster: str,
        anyway: bool,
    ) -> int:
        """Compare a run with answers of production, those of the last 30 days or of the days that are named."""
        if len(self.names) != 1:
            raise UserError(f"--production compares one run with production: give one run, not {len(self.names)}")
        last = last_day(until, datetime.now(UTC))
        period = period_since(since, last) if since else last_days(_DAYS, last)
        with opened_ledger(self.places) as ledger:
            run = find_run(ledger, self.names[0])
            wanted = WantedAnswers(period=period, suite=suite or RunSpec.of(run).suite, source=source)
            comparison = compare_production(ledger, run, wanted, by=by, cluster=cluster, anyway=anyway)
        parts = [run.id, wanted.suite, source, str(period.start), str(period.end)]
        folder = self._folder("production", Path(comparison.run.spec.suite).name, parts)
        link = report_links([run], self.places.out, folder).get(run.id, "")
        self._show(
            lambda _: production_report(comparison, self.language, brief=True),
            lambda: write_production(comparison, folder, link, self.language),
        )
        return self._exit_code(comparison.outcome)

    def _folder(self, kind: str, suite: str, parts: Iterable[str | None]) -> Path:
        return self.places.out / f"{kind}-{suite}-{digest_of(list(parts))[:8]}"

    def _show(self, brief: Callable[[bool], Report], write_files: Callable[[], Sequence[Path]]) -> None:
        """Write the files and the Markdown, and show one of its forms; where a file cannot be written, no Markdown is.

        `brief` makes the short form, with the prompts of cases or without them; Markdown has none.
        """
        if self.markdown in ("", STDOUT):
            written = write_files()
        elif Path(self.markdown).is_dir():
            raise StorageError(f"{self.markdown} cannot be written: it is a folder")
        else:
            with replacing(Path(self.markdown)) as place:
                place.write_text(render(brief(False), "md"), encoding="utf-8")
                written = write_files()
        if self.markdown == STDOUT:
            typer.echo(render(brief(False), "md"), nl=False)
        else:
            print_report(brief(True), short=not self.verbose)
            typer.echo(f"comparison: {written[0]}")

    def _exit_code(self, outcome: ComparisonOutcome, *, newly: bool = False, unknown: int = 0) -> int:
        """1 if something regressed, or a case newly fails, and that is to fail; 3 if too little is there to tell; else 0."""
        if self.fail_on == "new-failures":
            if newly:
                return FAILED
            if unknown:
                typer.echo(f"not decided: of {counted(unknown, 'case')} it is not known whether they newly fail", err=True)
            return INCONCLUSIVE if unknown else DONE
        if outcome == "regression":
            return FAILED if self.fail_on else DONE
        return INCONCLUSIVE if outcome == "too_little" else DONE


def compare(
    runs: RunsArgument,
    against: AgainstOption = "",
    by: ByOption = None,
    where: WhereOption = None,
    age: AgeOption = None,
    cluster: ClusterOption = "",
    production: ProductionOption = False,
    since: SinceOption = None,
    until: UntilOption = None,
    source: SourceOption = None,
    suite: SuiteOption = None,
    anyway: AnywayOption = False,
    fail_on: FailOnOption = None,
    margin: MarginOption = None,
    markdown: MarkdownOption = "",
    lang: PageLanguageOption = None,
    *,
    places: PlacesOptions,
    verbose: VerboseOption = False,
) -> None:
    """Compare runs with a first one, with earlier runs, or with production: what got worse and why; calls no model."""
    language = one_of("--lang", lang, LANGUAGES) or ""
    fails, chosen = one_of("--fail-on", fail_on, get_args(FailOn)), conditions(where, age)
    if margin is not None and fails != "undecided":
        raise UserError("--margin is for --fail-on undecided")
    if production and fails in ("undecided", "new-failures"):
        raise UserError(f"--fail-on {fails} compares runs: leave out --production")
    if production and chosen:
        raise UserError(f"{'--where' if where else '--age'} compares runs: leave out --production")
    asked = Comparing(names=runs, places=places, fail_on=fails, markdown=markdown, language=language, verbose=verbose)
    if against:
        others = {"--production": production, "--by": by, "--cluster": cluster, "--anyway": anyway, "--until": until}
        others |= {"--source": source, "--suite": suite, "--fail-on undecided": fails == "undecided"}
        if named := [name for name, value in others.items() if value]:
            raise UserError(f"{named[0]} does not go with --against")
        raise typer.Exit(asked.with_earlier(against, since, chosen))
    how: dict[str, Any] = {"by": by or (), "cluster": cluster, "anyway": anyway}
    period: dict[str, Any] = {"since": since, "until": until, "source": source, "suite": suite}
    if production:
        raise typer.Exit(asked.with_production(**period, **how))
    if names := [name for name, value in period.items() if value is not None]:
        raise UserError(f"--{names[0]} is for a comparison with production: add --production")
    raise typer.Exit(asked.with_first(**how, margin=DEFAULT_MARGIN if margin is None else margin, where=chosen))


def find_run(ledger: Ledger, name: str, suite: str = "") -> Run:
    """Find a run by its id, the beginning of it or its folder, or the newest complete run of a target (and suite)."""
    try:
        return ledger.run(name)
    except UnknownRun as fault:
        for run in sorted(ledger.runs(), key=lambda run: run.suite != suite):  # of equal suites the newest stays first
            with suppress(StorageError):  # another version of areopage wrote it
                if run.finished_at is not None and RunSpec.of(run).answered_by == name:
                    return run
        advice = f" ({_FLAG} compares a run with production)" if name == _FLAG.lstrip("-") else ""
        raise UnknownRun(f"{fault}; and no complete run of a target {name!r}{advice}") from fault


_FLAG = "--production"
