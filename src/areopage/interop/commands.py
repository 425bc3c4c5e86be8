"""Commands `areopage suites import`."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from areopage.cases import MAX_TURNS, RejectedRow
from areopage.errors import UserError, counted, name_list
from areopage.interop.foreign.deepeval import read_deepeval
from areopage.interop.foreign.folder import CASES, RECORDED_JUDGE, SCORES, Foreign, write_suite
from areopage.interop.foreign.inspect import read_inspect
from areopage.interop.foreign.promptfoo import read_promptfoo
from areopage.interop.kora.folder import GRADES_FILE, RECORDED, import_kora
from areopage.interop.suite_draft import REJECTED
from areopage.locales import one_line
from areopage.text import visible

SHOWN_ROWS, SHOWN_LOST, LONGEST_NAME = 5, 30, 100

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file to import.")]
SuiteArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The suite's folder, which does not exist yet.")]
LanguageOption = Annotated[
    str, typer.Option("--lang", metavar="en|fr", help="Language of the judges' prompts; both are written.")
]


def kora(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A KORA folder: risks.json, scenarios, recorded conversations.")
    ],
    suite: SuiteArgument,
    turns: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_TURNS, help="Turns of each simulated child; default: as risks.json says, else 3."),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Follow-ups of every child, one per line: no model plays the children."),
    ] = None,
    lang: LanguageOption = "en",
) -> None:
    """Make a suite from a KORA folder: scenarios, recorded conversations, grades."""
    follow_ups: tuple[str, ...] = ()
    if script is not None:
        try:
            text = script.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as fault:
            raise UserError(f"{script}: the text is not UTF-8") from fault
        follow_ups = tuple(line.strip() for line in text.splitlines() if line.strip())
        if not follow_ups:
            raise UserError(f"{script}: no follow-up: write one per line")
    made = import_kora(folder, suite, turns=turns, script=follow_ups, language=lang)
    typer.echo(f"read: {', '.join(visible(path.name) for path in made.files)}")
    lengths = Counter(row["child"]["turns"] for row in made.scenarios.values())
    by_length = ", ".join(f"{number} with {counted(length, 'turn')}" for length, number in sorted(lengths.items()))
    typer.echo(f"{counted(len(made.scenarios), 'scenario')} with a simulated child{f': {by_length}' if by_length else ''}")
    ungraded = f", {len(made.ungraded)} of them without a grade" if made.ungraded else ""
    typer.echo(f"{counted(len(made.recorded), 'recorded conversation')}{ungraded}")
    recorded = f": {name_list(made.mechanisms, limit=len(made.mechanisms))}" if made.mechanisms else ""
    typer.echo(f"{counted(len(made.risks), 'risk')}, {counted(len(made.mechanisms), 'recorded mechanism')}{recorded}")
    if made.unnamed:
        typer.echo(f"note: risks.json does not describe {name_list(made.unnamed)}: judges are told the name alone")
    quoted, data = shlex.quote(str(suite)), suite / "data"
    _tell_written(made.rejected, suite, ask=bool(made.scenarios))
    if made.recorded:
        cases, grades = shlex.quote(str(data / RECORDED)), shlex.quote(str(data / GRADES_FILE))
        reassess = f"areopage bench reassess {cases} --suite {quoted}"
        if made.lines:
            typer.echo(f"report the recorded grades: {reassess} --judge recorded=replay:{grades}")
        typer.echo(f"judge the recorded conversations: {reassess} --judge REF")


def inspect(file: FileArgument, suite: SuiteArgument, lang: LanguageOption = "en") -> None:
    """Make a suite from a log of Inspect. Samples and responses become cases, scores a recorded judge."""
    _write_foreign(read_inspect(file), file, suite, lang)


def promptfoo(file: FileArgument, suite: SuiteArgument, lang: LanguageOption = "en") -> None:
    """Make a suite from a configuration or tests of promptfoo. What is not kept is counted by its name."""
    _write_foreign(read_promptfoo(file), file, suite, lang)


def deepeval(file: FileArgument, suite: SuiteArgument, lang: LanguageOption = "en") -> None:
    """Make a suite from goldens or test cases of deepeval. The files are JSON, JSON Lines or CSV."""
    _write_foreign(read_deepeval(file), file, suite, lang)


def _write_foreign(cases: Foreign, file: Path, suite: Path, language: str) -> None:
    write_suite(cases, suite, language)
    answered = sum("response" in row for row in cases.rows.values())
    without = sum("criteria" not in row for row in cases.rows.values())
    typer.echo(f"read: {visible(file.name)}: {counted(len(cases.rows), 'case')}, {answered} of them with a response")
    typer.echo(f"{counted(len(cases.criteria), 'criterion', 'criteria')}, {counted(len(cases.lines), 'recorded score')}")
    if without:
        typer.echo(f"note: {counted(without, 'case')} without a criterion of their own: all criteria of the suite judge them")
    lost = sorted(cases.left_out.items())
    for name, count in lost[:SHOWN_LOST]:
        typer.echo(f"not kept: {visible(one_line(name, LONGEST_NAME))}: {count}")
    if len(lost) > SHOWN_LOST:
        typer.echo(f"not kept: {len(lost) - SHOWN_LOST} more kinds: {sum(count for _, count in lost[SHOWN_LOST:])}")
    folder, data = shlex.quote(str(suite)), suite / "data"
    _tell_written(cases.rejected, suite, ask=answered < len(cases.rows))
    if answered:
        judge = f"areopage bench reassess {shlex.quote(str(data / CASES))} --suite {folder}"
        if cases.lines:
            judge += f" --judge {RECORDED_JUDGE}=replay:{shlex.quote(str(data / SCORES))}"
            typer.echo(f"report the recorded scores: {judge}")
        typer.echo(f"judge the responses, beside what is recorded: {judge} --judge REF")


def _tell_written(rejected: Sequence[RejectedRow], suite: Path, *, ask: bool) -> None:
    """The rejected rows, without their content (it may be of any kind), the suite, and how to ask a model."""
    if rejected:
        typer.echo(f"rejected: {counted(len(rejected), 'row')}, see {suite / REJECTED}")
    for row in rejected[:SHOWN_ROWS]:
        typer.echo(f"  {visible(Path(row.file).name)} row {row.row}: {visible(row.reason)}")
    if len(rejected) > SHOWN_ROWS:
        typer.echo(f"  and {len(rejected) - SHOWN_ROWS} more")
    typer.echo(f"written: {suite}")
    if ask:
        typer.echo(f"ask a model: areopage bench run --suite {shlex.quote(str(suite))} --target REF")
