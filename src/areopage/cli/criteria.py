"""`areopage criteria`: list, show, validate, new."""

from typing import Annotated

import typer

app = typer.Typer(help="The criteria of a suite.", no_args_is_help=True)

SuiteOption = Annotated[str, typer.Option("--suite", metavar="NAME|DIR", help="A bundled suite, or a folder with a config.yml.")]
LangOption = Annotated[str | None, typer.Option("--lang", metavar="en|fr", help="Language; default: the suite's own.")]


@app.command("list")
def list_criteria(
    selection: Annotated[str | None, typer.Argument(metavar="SEL", help="Presets, categories, criteria, by commas.")] = None,
    suite: SuiteOption = "child_safety",
    lang: LangOption = None,
) -> None:
    """List criteria and presets."""
    from areopage.criteria.selection import select_criteria
    from areopage.suites.loader import choose_language, load_suite

    loaded = load_suite(suite)
    language = choose_language(loaded, lang)
    registry = loaded.registry
    for key in tuple(registry.entries) if selection is None else select_criteria(selection, registry):
        typer.echo(f"{key}  {registry.entries[key].description.get(language)}")
    if selection is None:
        for preset in registry.presets.values():
            typer.echo(f"preset {preset.name} ({len(preset.criteria)} criteria)  {preset.description.get(language)}")


@app.command()
def show(
    criterion: Annotated[str, typer.Argument(metavar="SEL", help="A criterion, with or without its version.")],
    suite: SuiteOption = "child_safety",
    lang: LangOption = None,
) -> None:
    """Show a criterion as a judge reads it."""
    from areopage.cases.records import Case
    from areopage.criteria.prompt_file import load_criteria
    from areopage.criteria.prompts import judge_prompt
    from areopage.criteria.selection import select_criteria
    from areopage.suites.loader import choose_language, load_suite

    loaded = load_suite(suite)
    language = choose_language(loaded, lang)
    ids = select_criteria(criterion, loaded.registry)
    found = load_criteria(loaded.registry, ids, loaded.criteria_folder, language, loaded.own_language, loaded.scale)
    if found.faults:
        raise found.faults[0]
    personas = loaded.personas(language)
    maturity = loaded.config.validation.default_maturity if personas else ""
    case = Case(id="example", prompt="…", response="…", maturity=maturity)
    for one in found.criteria:
        prompt = judge_prompt((one,), case, personas.get(maturity), b"shown")
        typer.echo(f"# {one.id} ({one.language})\n\n{prompt.system}\n\n{prompt.user}\n")


@app.command()
def validate(suite: SuiteOption = "child_safety") -> None:
    """Name everything that is wrong with a suite's criteria and weights, all at once."""
    from areopage.cli.suites import report_faults

    report_faults(suite)


@app.command()
def new(
    criterion: Annotated[str, typer.Argument(metavar="ID", help="category.subcategory.name__vX_Y")],
    suite: Annotated[str, typer.Option("--suite", metavar="DIR", help="The folder of your suite.")],
) -> None:
    """Add a criterion to a suite of yours: a registry entry, and a prompt file for you to fill in."""
    from areopage.suites.loader import load_suite
    from areopage.suites.scaffold import add_criterion

    for path in add_criterion(load_suite(suite), criterion):
        typer.echo(f"written: {path}")
    typer.echo("fill in the texts, give it a weight in config.yml, then: areopage criteria validate --suite DIR")
