"""Commands `areopage suites` and `areopage criteria`."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from areopage.bench import dry_run
from areopage.cases import Case, Turn
from areopage.cli.exit_codes import FAILED
from areopage.cli.options import listed, one_of, tell
from areopage.cli.run_options import SuiteOption
from areopage.criteria import judge_prompt, load_criteria
from areopage.errors import UserError, counted, name_list
from areopage.models import Contact, shown_address
from areopage.suites import (
    Suite,
    add_criterion,
    blank_suite,
    bundled_names,
    check_folder,
    choose_language,
    copy_suite,
    load_suite,
    set_release,
    unselected_criteria,
)
from areopage.text import visible

UNEXAMINED, THOUGHTS = ("open", "accept"), ("open", "judged", "hidden")

SuiteArgument = Annotated[str, typer.Argument(metavar="NAME|DIR", help="A bundled suite, or a folder with a config.yml.")]


def list_suites() -> None:
    """List the bundled suites."""
    for name in bundled_names():
        suite = load_suite(name)
        typer.echo(f"{name}  {suite.config.project.description} ({', '.join(suite.config.languages)})")


def show_suite(suite: SuiteArgument) -> None:
    """Show the contents of a suite."""
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
    _print_servers(loaded)
    for warning in loaded.warnings:
        tell(f"note: {warning}")


def _print_servers(suite: Suite) -> None:
    settings = suite.model_settings(suite.own_language, 1)
    servers = {f"endpoint {name}": endpoint.contact for name, endpoint in settings.endpoints.items()}
    servers |= {f"bot {name}": bot.contact for name, bot in settings.bots.items()}
    if settings.ollama_base_url:
        servers["ollama"] = Contact(address=shown_address(settings.ollama_base_url))
    for name, contact in servers.items():
        key = f" (with the value of {name_list(contact.variables)})" if contact.variables else ""
        tell(f"note: {name}: prompts and answers go to {contact.address}{key}")


def validate_suite(suite: SuiteArgument) -> None:
    """List every fault in a suite."""
    _report_faults(suite)


def new_suite(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet.")],
    like: Annotated[str, typer.Option("--like", metavar="NAME|DIR", help="The suite to copy.")] = "child_safety",
    blank: Annotated[bool, typer.Option("--blank", help="Begin with nothing but the criteria that --criteria names.")] = False,
    criteria: Annotated[
        str | None,
        typer.Option("--criteria", metavar="ID,...", help="With --blank: category.subcategory.name of each criterion."),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", metavar="en|fr|fr,en", help="With --blank: languages, the suite's own first.")
    ] = None,
    unexamined: Annotated[
        str | None,
        typer.Option(
            metavar="open|accept",
            help="Judges without an exam: `open` leaves the verdict open, `accept` lets a run pass, in words that say so.",
        ),
    ] = None,
    thoughts: Annotated[
        str | None,
        typer.Option(
            metavar="open|judged|hidden",
            help="Thoughts in the text of answers: `open` leaves the verdict open, `judged` has them judged, `hidden` states that"
            " users do not see them.",
        ),
    ] = None,
) -> None:
    """Create a suite: a copy of another one, or with --blank one of your own criteria."""
    one_of("--unexamined", unexamined, UNEXAMINED)
    one_of("--thoughts", thoughts, THOUGHTS)
    if not blank:
        if criteria is not None or lang is not None:
            raise UserError("--criteria and --lang go with --blank: a copy has those of the suite it is made from")
        words = {"--unexamined": unexamined, "--thoughts": thoughts}
        if (option := next((name for name, word in words.items() if word), None)) and load_suite(like).config.release is None:
            raise UserError(f"{option}: the suite {like} sets no floors of a release")
        copy_suite(like, folder)
        written: Sequence[Path] = ()
    else:
        written = blank_suite(folder, listed(criteria or ""), listed(lang or "en"))
    _write_unexamined(folder, unexamined)
    if thoughts is not None:
        set_release(folder, "thoughts", thoughts)
    if thoughts == "hidden":
        tell("release.thoughts: hidden: runs with thoughts in answers pass as `PASS, thoughts not judged`")
    if not blank:
        typer.echo(f"written: {folder}; run it with: areopage bench run --suite {shlex.quote(str(folder))}")
        return
    for path in written:
        typer.echo(f"written: {path}")
    check = f"areopage suites validate {shlex.quote(str(folder))}"
    typer.echo(f"next: write the texts in place of `...`, name your judges in config.yml, and run: {check}")


def _write_unexamined(folder: Path, wanted: str | None) -> None:
    if wanted is None and sys.stdin.isatty():
        with suppress(UserError):  # a copy may have the faults of what it is made from
            if load_suite(str(folder)).config.release is not None:
                question = "May a run pass whose judges were never examined, as `PASS, judges not examined`?"
                wanted = "accept" if typer.confirm(question, default=False, err=True) else "open"
    if wanted is not None:
        set_release(folder, "unexamined", wanted)
    if wanted == "accept":
        tell("release.unexamined: accept: runs of never examined judges pass as `PASS, judges not examined`")


def _report_faults(suite: str) -> None:
    checked = check_folder(suite)
    faults, warnings, notes = list(checked.faults), checked.warnings, list[str]()
    try:
        loaded = load_suite(suite)
    except UserError as unusable:  # likely one of those that are named; a run says it in these words
        faults = faults or [str(unusable)]
    else:
        tried, told_faults = dry_run(loaded), "\n".join(faults)
        notes = [*loaded.warnings, *tried.notes]
        faults += [fault for fault in tried.faults if fault not in told_faults]
    for fault in faults:
        typer.echo(fault)
    for kind, lines in (("warning", warnings), ("note", notes)):
        for line in lines:
            tell(f"{kind}: {visible(line)}")
    if faults:
        tell(f"{suite}: {counted(len(faults), 'fault')}")
        raise typer.Exit(FAILED)
    _print_servers(loaded)
    if outside := unselected_criteria(loaded):
        tell(f"note: {_unselected(loaded, outside)}: {name_list(outside)}")
    result = f"no faults, {counted(len(warnings), 'warning')}" if warnings else "no faults"
    tell(f"{loaded.name}: {counted(len(loaded.registry.entries), 'criterion', 'criteria')}, {result}")
    raise typer.Exit(0)


def _unselected(suite: Suite, outside: Sequence[str]) -> str:
    selection = suite.config.criteria.default_selection
    which = "this criterion is" if len(outside) == 1 else f"{len(outside)} criteria are"
    return f"{which} not in the default selection {selection}, and judged only where named (--criteria)"


LangOption = Annotated[str | None, typer.Option("--lang", metavar="en|fr", help="Language; default: the suite's own.")]


def list_criteria(
    selection: Annotated[
        str | None, typer.Argument(metavar="SEL", help="Presets, categories or criteria, separated by commas.")
    ] = None,
    suite: SuiteOption = "child_safety",
    lang: LangOption = None,
) -> None:
    """List criteria and presets."""
    loaded = load_suite(suite)
    language = choose_language(loaded, lang)
    registry = loaded.registry
    for key in tuple(registry.entries) if selection is None else registry.select(selection):
        entry = registry.entries[key]
        marks = [entry.severity or "", "" if entry.scope == "response" else f"scope: {entry.scope}"]
        suffix = f" ({', '.join(filter(None, marks))})" if any(marks) else ""
        typer.echo(f"{key}{suffix}  {entry.description.get(language)}")
    if selection is None:
        for preset in registry.presets.values():
            size = counted(len(preset.criteria), "criterion", "criteria")
            typer.echo(f"preset {preset.name} ({size})  {preset.description.get(language)}")


def show_criterion(
    criterion: Annotated[str, typer.Argument(metavar="SEL", help="A criterion, with or without its version.")],
    suite: SuiteOption = "child_safety",
    lang: LangOption = None,
) -> None:
    """Show the prompt that a judge receives for a criterion."""
    loaded = load_suite(suite)
    language = choose_language(loaded, lang)
    ids = loaded.registry.select(criterion)
    loaded_criteria = load_criteria(loaded.registry, ids, loaded.criteria_folder, language, loaded.own_language, loaded.scale)
    if loaded_criteria.faults:
        raise loaded_criteria.faults[0]
    personas = loaded.personas(language)
    maturity = loaded.config.validation.default_maturity if personas else ""
    case = Case(id="example", prompt="…", response="…", maturity=maturity)
    turns = tuple(Turn(role=role, content="…") for role in ("user", "assistant", "user"))
    talk = Case(id="example", prompt=turns, response="…", maturity=maturity)
    for loaded_criterion in loaded_criteria.criteria:
        prompt = judge_prompt(
            (loaded_criterion,), case if loaded_criterion.scope == "response" else talk, personas.get(maturity), b"shown"
        )
        typer.echo(f"# {loaded_criterion.id} ({loaded_criterion.language})\n\n{prompt.system}\n\n{prompt.user}\n")


def validate_criteria(suite: SuiteOption = "child_safety") -> None:
    """List every fault in the criteria and weights of a suite."""
    _report_faults(suite)


def new_criterion(
    criterion: Annotated[str, typer.Argument(metavar="ID", help="category.subcategory.name__vX_Y")],
    suite: Annotated[str, typer.Option("--suite", metavar="DIR", help="Folder of your suite.")],
) -> None:
    """Add a criterion to your suite: a registry entry and a prompt file to fill in."""
    for path in add_criterion(load_suite(suite), criterion):
        typer.echo(f"written: {path}")
    loaded = load_suite(suite)
    if criterion in unselected_criteria(loaded):
        preset = f"a preset in {loaded.registry.document.path} and name it as criteria.default_selection"
        typer.echo(f"{_unselected(loaded, [criterion])}: add it to {preset}")
    else:
        typer.echo(f"it belongs to the default selection {loaded.config.criteria.default_selection}: runs judge it")
    category, subcategory, _ = criterion.split(".")
    nameless = [name for name in (category, f"{category}.{subcategory}") if name not in loaded.registry.labels]
    if nameless:
        typer.echo(f"reports show {name_list(nameless)} by these names: give better ones in `labels` of the registry")
    typer.echo(
        "next: write the texts in place of `...`, add a weight to config.yml, "
        f"and run: areopage criteria validate --suite {shlex.quote(suite)}"
    )
