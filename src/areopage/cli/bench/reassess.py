"""`areopage bench reassess`: judge stored answers or a file of recorded ones with another panel; no target is asked."""

from pathlib import Path
from typing import Annotated

import typer

from areopage.bench import RunOptions
from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption
from areopage.cli.run_options import FreshOption, VerboseOption, YesOption, takes_run_options
from areopage.errors import UserError

_SOURCE_HELP = "A run's id, the beginning of it, its folder or `latest`; or a file of cases with their responses."


@takes_run_options(
    "judges",
    "criteria",
    "passes",
    "joint",
    "repeat_identical",
    "where",
    "ages",
    "limit",
    "language",
    "profile",
    "concurrency",
    "timeout",
    "allowed_variables",
)
def reassess(
    source: Annotated[str, typer.Argument(metavar="RUN|FILE", help=_SOURCE_HELP)],
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Suite with the criteria and judges; default: the run's if it is a bundled one."),
    ] = None,
    *,
    options: RunOptions,
    fresh: FreshOption = False,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Judge the answers of a run, or of a file, with another panel. The target is not asked again."""
    from msgspec import structs

    from areopage.bench import answers_of_run
    from areopage.cases import SUFFIXES
    from areopage.cli.bench.places import Places, opened_ledger
    from areopage.cli.bench.run import run_new
    from areopage.suites import bundled_names

    options = structs.replace(options, limit=-1 if options.limit is None else options.limit, responses_only=True)
    places = Places(out=out, config=config, ledger=ledger, allowed_variables=options.allowed_variables)
    file = Path(source)
    if file.suffix.lower() in SUFFIXES and not file.is_dir():
        options = structs.replace(options, datasets=(file,))
    else:
        with opened_ledger(places) as opened:
            run = opened.run(source)
            answers = answers_of_run(run, opened)
        suite = suite or (run.suite if run.suite in bundled_names() else None)
        options = structs.replace(options, given=answers, mode=answers.mode, language=options.language or answers.language)
    if suite is None:
        raise UserError("give --suite NAME|DIR: the suite whose criteria and judges judge these answers")
    raise typer.Exit(run_new(suite, options, places, fresh=fresh, yes=yes, verbose=verbose))
