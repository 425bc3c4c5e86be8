"""Options and arguments that commands share, and how they are read. It imports nothing heavy: every help text needs it."""

import getpass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from areopage.errors import UserError

OUTPUTS = Path("outputs")
STDOUT = "-"
YEARS = range(1970, 9999)  # so that every period around such a day exists
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Choice = TypeVar("Choice")

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The configuration; default $AREOPAGE_CONFIG, else areopage.yml here if any."),
]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE|URL",
        help="Ledger: a SQLite file or postgresql://...; default $AREOPAGE_LEDGER, else the configuration's.",
    ),
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the runs, and of a ledger that nothing names.")]
SinceOption = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Only answers from this day on (UTC).")]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only answers up to the end of this day (UTC).")]
CollectionOption = Annotated[str | None, typer.Option("--collection", metavar="NAME", help="Only answers from this collection.")]
WeightsOption = Annotated[
    Path | None, typer.Option("--weights", metavar="FILE", help="YAML with a section `weights`, or its three levels.")
]
ProfileOption = Annotated[str | None, typer.Option("--profile", metavar="default|v1_1", help="Scoring rules.")]
WithoutJudgeOption = Annotated[
    list[str] | None, typer.Option("--without-judge", metavar="NAME", help="Leave a judge out; may be repeated.")
]
ReparseOption = Annotated[bool, typer.Option("--reparse", help="Read the judges' raw texts again.")]
WriteOption = Annotated[
    bool, typer.Option("--write", help="With --reparse: store what is read, and compute the stored scores again.")
]
RulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="FILE|NAME",
        help="A file that `gate tune` wrote, v1_1 (the documented rule) or default (the shipped one); else the configuration's.",
    ),
]


def one_of(option: str, name: str | None, allowed: tuple[Choice, ...]) -> Choice | None:
    """The choice of a name, None where none is named.

    Raises:
        UserError: it is none of those allowed.
    """
    if name is None:
        return None
    for choice in allowed:
        if name == choice:
            return choice
    raise UserError(f"{option} {name!r}: use one of {', '.join(str(choice) for choice in allowed)}")


def day_of(option: str, text: str) -> date:
    """A day that was given.

    Raises:
        UserError: it is none.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year not in YEARS:
        raise UserError(f"{option} {text!r}: give a day as YYYY-MM-DD, from {YEARS.start} on")
    return day


def midnight_of(option: str, text: str | None) -> datetime | None:
    """The beginning of a day that was given, in UTC.

    Raises:
        UserError: it is none.
    """
    return None if text is None else datetime.combine(day_of(option, text), time(), tzinfo=UTC)


def actor() -> str:
    """Who is at the command line, for the audit log: the account's name, as far as the system knows it."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):
        return "cli"


def tell(line: str) -> None:
    """Print a line for people, apart from the results."""
    typer.echo(line, err=True)


def read_text_file(path: Path, max_bytes: int, wanted: str) -> str:
    """The text of a file.

    Args:
        wanted: what to give instead of a file that is too large.

    Raises:
        UserError: it is too large, or no text.
        OSError: it is missing, a folder, or may not be read.
    """
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)  # a device or a pipe has no size, and may never end
    if content.startswith(b"%PDF-"):
        raise UserError(f"{path}: a PDF, not text: save its text as UTF-8")
    if len(content) > max_bytes:
        raise UserError(f"{path}: larger than {max_bytes:,} bytes: give {wanted}")
    if b"\0" in content and not content.startswith(_UTF_16):
        raise UserError(f"{path}: not text: it holds a NUL character")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text: save it as UTF-8") from None
