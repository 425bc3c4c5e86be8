"""`areopage bench reassess`: judge stored answers or a file of recorded ones with another panel; no target is asked."""

from pathlib import Path
from typing import Annotated

import typer

from areopage.cli.options import OUTPUTS, ConfigOption, LedgerOption, OutOption, ProfileOption
from areopage.cli.run_options import (
    AgeOption,
    AllowVariableOption,
    ConcurrencyOption,
    CriteriaOption,
    FreshOption,
    JointOption,
    JudgeOption,
    LimitOption,
    PassesOption,
    RepeatIdenticalOption,
    TimeoutOption,
    VerboseOption,
    WhereOption,
    YesOption,
    conditions,
)
from areopage.errors import UserError

_SOURCE_HELP = "A run's id, the beginning of it, its folder or `latest`; or a file of cases with their responses."


def reassess(
    source: Annotated[str, typer.Argument(metavar="RUN|FILE", help=_SOURCE_HELP)],
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Suite with the criteria and judges; default: the run's if it is a bundled one."),
    ] = None,
    judge: JudgeOption = None,
    criteria: CriteriaOption = None,
    passes: PassesOption = None,
    joint: JointOption = None,
    repeat_identical: RepeatIdenticalOption = None,
    where: WhereOption = None,
    age: AgeOption = None,
    limit: LimitOption = None,
    lang: Annotated[str | None, typer.Option(metavar="en|fr", help="Default: the run's language, or the suite's.")] = None,
    profile: ProfileOption = None,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    allow_variable: AllowVariableOption = None,
    fresh: FreshOption = False,
    out: OutOption = OUTPUTS,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
    yes: YesOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Judge the answers of a run, or of a file, with another panel. The target is not asked again."""
    from msgspec import structs

    from areopage.bench import RunWishes, answers_of_run
    from areopage.cases import SUFFIXES
    from areopage.cli.bench.places import Places, opened_ledger
    from areopage.cli.bench.run import run_new
    from areopage.suites import bundled_names

    wishes = RunWishes(
        judges=tuple(judge or ()),
        criteria=criteria,
        passes=passes,
        joint=joint,
        repeat_identical=repeat_identical,
        limit=-1 if limit is None else limit,
        language=lang,
        where=conditions(where, age),
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
