"""Commands `areopage suites import`."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from areopage.cases import MAX_TURNS, RejectedRow
from areopage.errors import UserError, counted, name_list
from areopage.interop.foreign.deepeval import read_deepeval
from areopage.interop.foreign.folder import CASES, RECORDED_JUDGE, SCORES, Foreign, write_suite
from areopage.interop.foreign.inspect import read_inspect
from areopage.interop.foreign.promptfoo import read_promptfoo
from areopage.interop.kora.cases import ChildOptions
from areopage.interop.kora.folder import GRADES_FILE, RECORDED, REJECTED, Import, import_kora
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
    suite: Annotated[Path, typer.Argument(metavar="DIR", help="The suite's folder, which does not exist yet.")],
    turns: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_TURNS, help="Turns of each simulated child; default: as risks.json says, else 3."),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Follow-ups of every child, one per line: no model plays the children."),
    ] = None,
    lang: Annotated[str, typer.Option(metavar="en|fr", help="Language of the judges' prompts; both are written.")] = "en",
) -> None:
    """Make a suite from a KORA folder: scenarios, recorded conversations, grades."""
    made = import_kora(folder, suite, options=ChildOptions(turns=turns, script=_lines_of(script)), language=lang)
    for line in (*_contents(made), *_rejected(made.rejected, suite), *_next_steps(made, suite)):
        typer.echo(line)


def inspect(file: FileArgument, suite: SuiteArgument, lang: LanguageOption = "en") -> None:
    """Make a suite from a log of Inspect. Samples and responses become cases, scores a recorded judge."""
    _write_foreign(read_inspect(file), file, suite, lang)


def promptfoo(file: FileArgument, suite: SuiteArgument, lang: LanguageOption = "en") -> None:
    """Make a suite from a configuration or tests of promptfoo. What is not kept is counted by its name."""
    _write_foreign(read_promptfoo(file), file, suite, lang)


def deepeval(file: FileArgument, suite: SuiteArgument, lang: LanguageOption = "en") -> None:
    """Make a suite from goldens or test cases of deepeval. The files are JSON, JSON Lines or CSV."""
    _write_foreign(read_deepeval(file), file, suite, lang)


def _write_foreign(found: Foreign, file: Path, suite: Path, language: str) -> None:
    write_suite(found, suite, language)
    answered = sum("response" in row for row in found.rows.values())
    without = sum("criteria" not in row for row in found.rows.values())
    typer.echo(f"read: {visible(file.name)}: {counted(len(found.rows), 'case')}, {answered} of them with a response")
    typer.echo(f"{counted(len(found.criteria), 'criterion', 'criteria')}, {counted(len(found.lines), 'recorded score')}")
    if without:
        typer.echo(f"note: {counted(without, 'case')} without a criterion of their own: all criteria of the suite judge them")
    lost = sorted(found.left_out.items())
    for name, count in lost[:SHOWN_LOST]:
        typer.echo(f"not kept: {visible(one_line(name, LONGEST_NAME))}: {count}")
    if len(lost) > SHOWN_LOST:
        typer.echo(f"not kept: {len(lost) - SHOWN_LOST} more kinds: {sum(count for _, count in lost[SHOWN_LOST:])}")
    for line in (*_rejected(found.rejected, suite), *_foreign_steps(found, suite, answered)):
        typer.echo(line)


def _foreign_steps(found: Foreign, suite: Path, answered: int) -> Iterator[str]:
    folder, data = shlex.quote(str(suite)), suite / "data"
    yield f"written: {suite}"
    if answered < len(found.rows):
        yield f"ask a model: areopage bench run --suite {folder} --target REF"
    if answered:
        cases = shlex.quote(str(data / CASES))
        judge = f"areopage bench reassess {cases} --suite {folder}"
        recorded = f" --judge {RECORDED_JUDGE}=replay:{shlex.quote(str(data / SCORES))}" if found.lines else ""
        if recorded:
            yield f"report the recorded scores: {judge}{recorded}"
        yield f"judge the responses, beside what is recorded: {judge}{recorded} --judge REF"


def _lines_of(script: Path | None) -> tuple[str, ...]:
    if script is None:
        return ()
    try:
        lines = tuple(line.strip() for line in script.read_text(encoding="utf-8-sig").splitlines() if line.strip())
    except UnicodeDecodeError as fault:
        raise UserError(f"{script}: the text is not UTF-8") from fault
    if not lines:
        raise UserError(f"{script}: no follow-up: write one per line")
    return lines


def _contents(made: Import) -> Iterator[str]:
    yield f"read: {', '.join(visible(path.name) for path in made.files)}"
    lengths = ", ".join(f"{number} with {counted(turns, 'turn')}" for turns, number in made.turns)
    yield f"{counted(made.scenarios, 'scenario')} with a simulated child{f': {lengths}' if lengths else ''}"
    ungraded = f", {made.ungraded} of them without a grade" if made.ungraded else ""
    yield f"{counted(made.recorded, 'recorded conversation')}{ungraded}"
    recorded = f": {name_list(made.mechanisms, limit=len(made.mechanisms))}" if made.mechanisms else ""
    yield f"{counted(made.risks, 'risk')}, {counted(len(made.mechanisms), 'recorded mechanism')}{recorded}"
    if made.unnamed:
        yield f"note: risks.json does not describe {name_list(made.unnamed)}: judges are told the name alone"


def _rejected(rejected: Sequence[RejectedRow], suite: Path) -> Iterator[str]:
    if not rejected:
        return
    yield f"rejected: {counted(len(rejected), 'row')}, see {suite / REJECTED}"
    for row in rejected[:SHOWN_ROWS]:
        yield f"  {visible(Path(row.file).name)} row {row.row}: {visible(row.reason)}"
    if len(rejected) > SHOWN_ROWS:
        yield f"  and {len(rejected) - SHOWN_ROWS} more"


def _next_steps(made: Import, suite: Path) -> Iterator[str]:
    folder, data = shlex.quote(str(suite)), suite / "data"
    yield f"written: {suite}"
    if made.scenarios:
        yield f"ask a model: areopage bench run --suite {folder} --target REF"
    if made.recorded:
        recorded, grades = shlex.quote(str(data / RECORDED)), shlex.quote(str(data / GRADES_FILE))
        if (data / GRADES_FILE).is_file():
            judge = f"--judge recorded=replay:{grades}"
            yield f"report the recorded grades: areopage bench reassess {recorded} --suite {folder} {judge}"
        yield f"judge the recorded conversations: areopage bench reassess {recorded} --suite {folder} --judge REF"
