"""Shared options of commands and their parsing; without heavy imports."""

import getpass
import io
import re
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar, cast, overload

import typer
from msgspec import Struct

from areopage.errors import UserError, counted

if TYPE_CHECKING:
    from areopage.cases import RejectedRow
    from areopage.ledger import Ledger, Period

OUTPUTS = Path("outputs")
STDOUT = "-"
YEARS = range(1970, 9999)  # every period around such a day is valid
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

Choice = TypeVar("Choice")

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Configuration file; default $AREOPAGE_CONFIG, else ./areopage.yml if it exists."
    ),
]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE|URL",
        help="Ledger: a SQLite file or postgresql://...; default $AREOPAGE_LEDGER, else the configuration's.",
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder of the runs, and of the ledger if none is configured.")
]
SinceOption = Annotated[str | None, typer.Option("--since", metavar="DATE", help="First day of the period (UTC).")]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Last day of the period, included (UTC).")]
CollectionOption = Annotated[
    str | None, typer.Option("--collection", metavar="NAME", help="Use only answers from this collection.")
]
WeightsOption = Annotated[
    Path | None,
    typer.Option(
        "--weights",
        metavar="FILE",
        help="YAML file of weights by level, laid over the run's, such as criteria: {quality.answer: {exactitude: 0.7}}.",
    ),
]
ProfileOption = Annotated[str | None, typer.Option("--profile", metavar="default|v1_1", help="Scoring rules.")]
CalibrationOption = Annotated[
    str,
    typer.Option(
        "--calibration",
        metavar="ID",
        help="Show scores corrected by people's labels beside the jury's: a calibration's id, the beginning of it, or `latest`.",
    ),
]
WithoutJudgeOption = Annotated[
    list[str] | None, typer.Option("--without-judge", metavar="NAME", help="Exclude a judge (repeatable).")
]
ReparseOption = Annotated[bool, typer.Option("--reparse", help="Parse the raw texts of the judges again.")]
WriteOption = Annotated[bool, typer.Option("--write", help="With --reparse: store the new outcomes and scores.")]
RulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="FILE|NAME",
        help="A file written by `gate tune`, v1_1 (documented rules) or default (shipped rules); else the configuration's.",
    ),
]


class OptionMaker(Struct, frozen=True, kw_only=True):
    """What a command takes in place of a parameter that is annotated with it: options, from which `by` makes the parameter."""

    options: tuple[Parameter, ...]
    by: Callable[..., Any]


def made_by(function: Callable[..., Any]) -> OptionMaker:
    """What makes a parameter of a command by a function, whose own parameters are the options."""
    return OptionMaker(options=tuple(signature(function, eval_str=True).parameters.values()), by=function)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer reads it: with options in place of the parameters that are `OptionMaker` from them."""
    shown: list[Parameter] = []
    makers: dict[str, OptionMaker] = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        notes = getattr(parameter.annotation, "__metadata__", ())
        maker = next((note for note in notes if isinstance(note, OptionMaker)), None)
        makers |= {name: maker} if maker is not None else {}
        shown += [parameter] if maker is None else maker.options
    if not makers:
        return command

    def filled(**values: Any) -> None:
        for name, maker in makers.items():
            values[name] = maker.by(**{option.name: values.pop(option.name) for option in maker.options})
        command(**values)

    filled.__name__, filled.__doc__ = command.__name__, command.__doc__
    options = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in shown]
    filled.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return filled


class Places(Struct, frozen=True, kw_only=True):
    """Where the user wants runs and their ledger; `config` and `ledger` are None unless they were named."""

    out: Path
    config: Path | None
    ledger: str | None
    allowed_variables: tuple[str, ...] = ()

    def command(self, ledger: "Ledger", name: str, *runs: str) -> str:
        """A command of `areopage bench` on runs, without a database's password."""
        allowed = self.allowed_variables if name == "resume" else ()
        variables = [part for variable in allowed for part in ("--allow-variable", variable)]
        return shlex.join(["areopage", "bench", name, *runs, *self.options(ledger), *variables])

    def options(self, ledger: "Ledger") -> tuple[str, ...]:
        """The options that name these places, without a database's password."""
        named = ["--config", str(self.config)] if self.config else []
        named += ["--ledger", ledger.place if "://" in self.ledger else self.ledger] if self.ledger else []
        return ("--out", str(self.out), *named)


def named_place(config: Path | None, ledger: str | None = None) -> list[str]:
    """The options that name a configuration and a ledger in a command, without a password."""
    from areopage.ledger import shown, url_of

    named = ["--config", str(config)] if config is not None else []
    if ledger is None:
        return named
    return [*named, "--ledger", shown(url_of(ledger)) if "://" in ledger else ledger]


def _places(out: OutOption = OUTPUTS, config: ConfigOption = None, ledger: LedgerOption = None) -> Places:
    return Places(out=out, config=config, ledger=ledger)


PlacesOptions = Annotated[Places, made_by(_places)]


@overload
def one_of(option: str, name: str, allowed: tuple[Choice, ...]) -> Choice: ...
@overload
def one_of(option: str, name: str | None, allowed: tuple[Choice, ...]) -> Choice | None: ...
def one_of(option: str, name: str | None, allowed: tuple[Choice, ...]) -> Choice | None:
    """The allowed value equal to `name`, or None without a name.

    Raises:
        UserError: the value is not allowed.
    """
    if name is None:
        return None
    for choice in allowed:
        if name == choice:
            return choice
    raise UserError(f"{option} {name!r}: use one of {', '.join(str(choice) for choice in allowed)}")


def listed(text: str) -> list[str]:
    """The names of a text that separates them by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def day_of(option: str, text: str) -> date:
    """Parse a day from 1970 on."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year not in YEARS:
        raise UserError(f"{option} {text!r}: give a day as YYYY-MM-DD, from {YEARS.start} on")
    return day


def midnight_of(option: str, text: str | None) -> datetime | None:
    """The beginning of a day, in UTC."""
    return None if text is None else datetime.combine(day_of(option, text), time(), tzinfo=UTC)


def last_day(until: str | None, now: datetime) -> date:
    """The last day of a period: that of --until, else today, in UTC.

    Raises:
        UserError: the text is not a day.
    """
    return day_of("--until", until) if until else now.date()


def period_since(since: str, last: date) -> "Period":
    """The days from that of --since to the last one.

    Raises:
        UserError: the text is not a day, or the day is after the last one.
    """
    from areopage.ledger import Period

    first = day_of("--since", since)
    if first > last:
        raise UserError(f"--since {first} is after the last day, {last}")
    return Period(start=first, end=last + timedelta(days=1))


def actor() -> str:
    """The user of the command line, for the audit log."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):
        return "cli"


def tell(line: str) -> None:
    """Print a line on stderr."""
    typer.echo(line, err=True)


def tell_cut(cells: int) -> None:
    """Say how many cells of a spreadsheet do not hold their whole text."""
    from areopage.report import MAX_CELL

    if cells:
        tell(f"cut to {MAX_CELL:,} characters, the most that a cell of a spreadsheet holds: {counted(cells, 'cell')}")


def tell_rejected(rows: "Sequence[RejectedRow]", total: int, unit: str, most: int, file: Path | None) -> None:
    """Say how many rows or lines were rejected, why the first ones were, and which file names them all."""
    from areopage.text import visible

    tell(f"rejected: {counted(total, unit)}")
    for row in rows[:most]:
        tell(f"  {visible(Path(row.file).name)} {unit} {row.row}: {visible(row.reason)}")
    if file is not None:
        tell(f"written: {file}")
    elif total > most:
        tell(f"  and {total - most:,} more: --rejected FILE writes them all")


def read_text_file(path: Path, max_bytes: int, wanted: str) -> str:
    """Read the text of a file."""
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)  # a device or a pipe has no size and may be endless
    if content.startswith(b"%PDF-"):
        raise UserError(f"{path}: this is a PDF, not text: save its text as UTF-8")
    if len(content) > max_bytes:
        raise UserError(f"{path}: larger than {max_bytes:,} bytes: give {wanted}")
    if b"\0" in content and not content.startswith(_UTF_16):
        raise UserError(f"{path}: not text: it contains a NUL character")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text: save it as UTF-8") from None


def duration(seconds: float) -> str:
    """A length of time, as exactly as people want it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class _Terminal(io.TextIOBase):
    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_CONTROLS.sub("\ufffd", text))


def harmless(stream: IO[str]) -> IO[str]:
    """A stream to write foreign texts to: on a terminal, control characters other than tabs and line ends are replaced."""
    return cast(IO[str], _Terminal(stream)) if stream.isatty() else stream
