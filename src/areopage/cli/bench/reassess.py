"""`areopage bench reassess`: judge stored answers or a file of recorded ones with another panel; no target is asked."""

from pathlib import Path
from typing import Annotated

import typer

from areopage.cli.bench.commands import AllowVariableOption, TimeoutOption, YesOption
from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption, ProfileOption
from areopage.errors import UserError

_SOURCE_HELP = "A run's id, the beginning of it, its folder or `latest`; or a file of cases with their responses."


def reassess(
    source: Annotated[str, typer.Argument(metavar="RUN|FILE", help=_SOURCE_HELP)],
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Suite with the criteria and judges; default: the run's if it is a bundled one."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]REF", help="A judge of the suite by name, or a model; may be repeated."),
    ] = None,
    criteria: Annotated[
        str | None, typer.Option(metavar="SEL", help="Presets, categories or criteria, separated by commas.")
    ] = None,
    passes: Annotated[int | None, typer.Option(min=1, max=100, help="How often each judge is asked about a case.")] = None,
    limit: Annotated[int | None, typer.Option(help="Number of cases; -1 for all.")] = None,
    lang: Annotated[str | None, typer.Option(metavar="en|fr", help="Default: the run's language, or the suite's.")] = None,
    profile: ProfileOption = None,
    concurrency: Annotated[int | None, typer.Option(min=1, max=1024, help="Number of parallel calls.")] = None,
    timeout: TimeoutOption = None,
    allow_variable: AllowVariableOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat every call, even if the ledger has its result.")] = False,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List all notes on the suite's configuration.")] = False,
) -> None:
    """Judge the answers of a run, or of a file, with another panel. The target is not asked again."""
    from msgspec import structs

    from areopage.bench.planning.prepare import RunWishes
    from areopage.bench.planning.reassess import answers_of_run
    from areopage.cases.readers import SUFFIXES
    from areopage.cli.bench.run import Places, opened_ledger, run_new
    from areopage.suites.loader import bundled_names

    wishes = RunWishes(
        judges=tuple(judge or ()),
        criteria=criteria,
        passes=passes,
        limit=-1 if limit is None else limit,
        language=lang,
        profile=profile,
        concurrency=concurrency,
        timeout=timeout,
        allowed_variables=tuple(allow_variable or ()),
        responses_only=True,
    )
    places = Places(out=out, config=config, ledger=ledger, allowed_variables=wishes.allowed_variables)
    file = Path(source)
    if file.suffix.lower() in SUFFIXES and not file.is_dir():
        wishes = structs.replace(wishes, datasets=(file,))
    else:
        with opened_ledger(places) as opened:
            run = opened.run(source)
            given = answers_of_run(run, opened)
        suite = suite or (run.suite if run.suite in bundled_names() else None)
        wishes = structs.replace(wishes, given=given, mode=given.mode, language=lang or given.language)
    if suite is None:
        raise UserError("give --suite NAME|DIR: the suite whose criteria and judges judge these answers")
    raise typer.Exit(run_new(suite, wishes, places, fresh=fresh, yes=yes, verbose=verbose))
