"""`areopage suites`: list, show, new, validate."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Suites: folders with a configuration, criteria, personas and data.", no_args_is_help=True)

SuiteArgument = Annotated[str, typer.Argument(metavar="NAME|DIR", help="A bundled suite, or a folder with a config.yml.")]
INVALID = 1


@app.command("list")
def list_suites() -> None:
    """List the bundled suites."""
    from areopage.suites.loader import bundled_names, load_suite

    for name in bundled_names():
        suite = load_suite(name)
        typer.echo(f"{name}  {suite.config.project.description} ({', '.join(suite.config.languages)})")


@app.command()
def show(suite: SuiteArgument) -> None:
    """Show what a suite holds."""
    from areopage.suites.loader import load_suite

    loaded = load_suite(suite)
    config = loaded.config
    typer.echo(f"{loaded.name} {config.project.version}: {config.project.description}")
    typer.echo(f"folder: {loaded.folder}")
    typer.echo(f"languages: {', '.join(config.languages)}; scale {loaded.scale.min:g} to {loaded.scale.max:g}")
    typer.echo(f"criteria: {len(loaded.registry.entries)}; presets: {', '.join(loaded.registry.presets)}")
    for name, judge in config.judge_system.judges.items():
        typer.echo(f"judge: {name} ({judge.provider}:{judge.model})")
    for target in config.models:
        typer.echo(f"target: {target.provider}:{target.model}{'' if target.enabled else ' (not enabled)'}")
    for language in config.languages:
        for path in loaded.datasets(language):
            typer.echo(f"dataset ({language}): {path.name}")
    for warning in loaded.warnings:
        typer.echo(f"note: {warning}", err=True)


@app.command()
def validate(suite: SuiteArgument) -> None:
    """Name everything that is wrong with a suite, all at once."""
    report_faults(suite)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet.")],
    like: Annotated[str, typer.Option("--like", metavar="NAME|DIR", help="The suite to copy.")] = "child_safety",
) -> None:
    """Make a suite of your own, as a copy of another."""
    from areopage.suites.scaffold import copy_suite

    copy_suite(like, folder)
    typer.echo(f"written: {folder}; run it with: areopage bench run --suite {folder}")


def report_faults(suite: str) -> None:
    """Print every fault of a suite; exit code 1 where there is one.

    Raises:
        typer.Exit: always with the exit code.
        ConfigError: the configuration itself cannot be read.
    """
    from areopage.suites.loader import load_suite
    from areopage.suites.validation import folder_faults

    faults = folder_faults(suite)
    for fault in faults:
        typer.echo(fault)
    if faults:
        typer.echo(f"{suite}: {len(faults)} faults", err=True)
        raise typer.Exit(INVALID)
    loaded = load_suite(suite)
    for warning in loaded.warnings:
        typer.echo(f"note: {warning}", err=True)
    typer.echo(f"{loaded.name}: {len(loaded.registry.entries)} criteria, no fault", err=True)
    raise typer.Exit(0)
