"""`areopage bench compare`, `league` and `trend`."""

from typing import Annotated, Any, get_args

import typer

from areopage.cli import (
    OUTPUTS,
    AgeOption,
    ByOption,
    ClusterOption,
    ConfigOption,
    LedgerOption,
    OutOption,
    PageLanguageOption,
    WhereOption,
    conditions,
    one_of,
)
from areopage.errors import UserError


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="The run to compare with, then one or more: ids, folders, targets (newest run)."),
    ],
    against: Annotated[
        str, typer.Option("--against", metavar="last:N", help="Compare one run with the N complete runs of its target before it.")
    ] = "",
    by: ByOption = None,
    where: WhereOption = None,
    age: AgeOption = None,
    cluster: ClusterOption = "",
    production: Annotated[
        bool, typer.Option("--production", help="Compare one run with the answers that the monitor evaluated.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="First day (UTC) of --against, or of --production (30 days)."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Last day of --production (UTC). Default: today.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only answers of this source.")] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", metavar="NAME", help="The suite that judged production. Default: the run's.")
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare what runs of different panels have in common, and say so.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="regression|new-failures|undecided",
            help="Exit with code 1 if a run is worse than the first, or if a case newly fails; undecided: 3 if it may be worse.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin", metavar="POINTS", min=0.0, max=100.0, help="Rise to rule out, for --fail-on undecided. Default: 5."
        ),
    ] = None,
    markdown: Annotated[
        str, typer.Option("--md", metavar="FILE", help="Write Markdown for a pull request; - is the screen.")
    ] = "",
    lang: PageLanguageOption = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Compare runs with a first one, with earlier runs, or with production: what got worse and why; calls no model."""
    from areopage.cli import Places
    from areopage.compare.commands.compare import DEFAULT_MARGIN, Comparing, FailOn
    from areopage.locales import LANGUAGES

    language = one_of("--lang", lang, LANGUAGES) or ""
    fails, chosen = one_of("--fail-on", fail_on, get_args(FailOn)), conditions(where, age)
    if margin is not None and fails != "undecided":
        raise UserError("--margin is for --fail-on undecided")
    if production and fails in ("undecided", "new-failures"):
        raise UserError(f"--fail-on {fails} compares runs: leave out --production")
    if production and chosen:
        raise UserError(f"{'--where' if where else '--age'} compares runs: leave out --production")
    places = Places(out=out, config=config, ledger=ledger)
    asked = Comparing(names=runs, places=places, fail_on=fails, markdown=markdown, language=language)
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
    if given := [name for name, value in period.items() if value is not None]:
        raise UserError(f"--{given[0]} is for a comparison with production: add --production")
    raise typer.Exit(asked.with_first(**how, margin=DEFAULT_MARGIN if margin is None else margin, where=chosen))


def league(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Two runs or more: ids, their beginnings, or folders.")],
    by: ByOption = None,
    where: WhereOption = None,
    age: AgeOption = None,
    cluster: ClusterOption = "",
    lang: PageLanguageOption = None,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Compare runs of several targets that one panel judged on the same cases, without calling a model."""
    from areopage.cli import Places
    from areopage.compare.commands.league import compare_runs
    from areopage.locales import LANGUAGES

    language = one_of("--lang", lang, LANGUAGES) or ""
    places = Places(out=out, config=config, ledger=ledger)
    chosen = conditions(where, age)
    raise typer.Exit(compare_runs(runs, places, by=by or (), cluster=cluster, language=language, where=chosen))


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
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Show the runs of one target in time order, and whether each fails more often than those before; calls no model."""
    from areopage.cli import Places
    from areopage.compare.commands.league import show_trend
    from areopage.locales import LANGUAGES

    language = one_of("--lang", lang, LANGUAGES) or ""
    places = Places(out=out, config=config, ledger=ledger)
    fails = one_of("--fail-on", fail_on, ("regression",)) is not None
    raise typer.Exit(show_trend(target, places, limit=limit, since=since, fails=fails, language=language))
