"""Options of commands that ask models about the cases of a suite; those of a run are made from its record, `RunOptions`."""

from collections.abc import Mapping, Sequence
from inspect import Parameter
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer

from areopage.bench import Flag, RunOptions
from areopage.cli.options import OptionMaker, listed, one_of

_Options = TypeVar("_Options", bound=RunOptions)


class NewRun(RunOptions, frozen=True, kw_only=True):
    """The options of `bench run`: each of several targets or languages gets a run of its own.

    Args:
        targets, languages: all that are named; `target` and `language` are the first ones.
    """

    targets: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


def option_of(field: str) -> Any:
    """The option of the command line for a field of `RunOptions`."""
    flag = _flag_of(field)
    return typer.Option(flag.name, metavar=flag.metavar, help=flag.help, min=flag.least, max=flag.most)


def _flag_of(field: str) -> Flag:
    flag: Flag = RunOptions.__annotations__[field].__metadata__[0]
    return flag


RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, the beginning of it, its folder, or `latest`.")]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...",
        help="A run's id, the beginning of it, its folder, or `latest` (default); or a run of one target for each language.",
    ),
]
SuiteOption = Annotated[str, typer.Option("--suite", metavar="NAME|DIR", help="A bundled suite, or a folder with a config.yml.")]
WhereOption = Annotated[list[str] | None, option_of("where")]
AgeOption = Annotated[list[str] | None, option_of("ages")]
ConcurrencyOption = Annotated[int | None, option_of("concurrency")]
TimeoutOption = Annotated[float | None, option_of("timeout")]
AllowVariableOption = Annotated[list[str] | None, option_of("allowed_variables")]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="AMOUNT",
        min=0,
        help="Stop before a call that might cost more than is left, in the currency of the prices, e.g. 5.00.",
    ),
]
PageLanguageOption = Annotated[
    str | None, typer.Option("--lang", metavar="en|fr", help="Language of the page; default: that of the runs.")
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Also compare targets on the cases with each value of a column, e.g. age; may be repeated."
    ),
]
ClusterOption = Annotated[
    str,
    typer.Option("--cluster", metavar="COLUMN", help="Column that says which cases belong together; default: equal prompts do."),
]
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Begin a new run that repeats judgments, even those of equal answers.")
]
NewOption = Annotated[
    bool, typer.Option("--new", help="Begin a new run, even if one with the same options is unfinished; for schedules and CI.")
]
FleetOption = Annotated[
    bool, typer.Option("--fleet", help="Let workers (`areopage worker`) carry the run out, and follow it here.")
]
OnlyQualifiedOption = Annotated[
    bool, typer.Option("--only-qualified", help="Refuse judges that have not passed `areopage qualify` on their criteria.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Start without asking, even models that cost money.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show the whole report, and every note on the suite's configuration.")
]
_OF_NEW_RUN: Mapping[str, Any] = MappingProxyType(
    {
        "target": Annotated[
            list[str] | None,
            typer.Option(
                "--target",
                metavar="REF",
                help="Model under test, e.g. ollama:gemma3:4b; several get a run each and one league table.",
            ),
        ],
        "language": Annotated[
            str | None,
            typer.Option(
                "--lang",
                metavar="en|fr",
                help="Language of the judges' prompts, the personas and the report; en,fr: a run in each and one verdict.",
            ),
        ],
    }
)
"""What `bench run` and `bench plan` take in place of the options of one run."""


def conditions(where: Sequence[str] | None, ages: Sequence[str] | None) -> tuple[str, ...]:
    """The conditions of `--where` and `--age`, as COLUMN=VALUE."""
    return RunOptions(where=tuple(where or ()), ages=tuple(ages or ())).conditions


def run_options(kind: type[RunOptions], *fields: str) -> OptionMaker:
    """What makes the parameter of a command that holds options of a run.

    Args:
        fields: of `RunOptions`; none: all that have an option.
    """
    names = fields or [name for name, hint in RunOptions.__annotations__.items() if hasattr(hint, "__metadata__")]
    options: list[Parameter] = []
    for name in names:
        default = None if _takes_many(name) else getattr(RunOptions(), name)
        options.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=_hint(name, kind)))
    return OptionMaker(options=tuple(options), by=lambda **values: _options(kind, values))


def _takes_many(field: str) -> bool:
    return get_origin(get_args(RunOptions.__annotations__[field])[0]) is tuple


def _hint(field: str, kind: type[RunOptions]) -> Any:
    if kind is NewRun and field in _OF_NEW_RUN:
        return _OF_NEW_RUN[field]
    hint = get_args(RunOptions.__annotations__[field])[0]
    if _takes_many(field):
        hint = list[get_args(hint)[0]] | None  # type: ignore[misc]
    return Annotated[str | None if _choices(field) else hint, option_of(field)]


def _choices(field: str) -> tuple[str, ...]:
    hints = get_args(get_args(RunOptions.__annotations__[field])[0])
    return next((get_args(hint) for hint in hints if get_origin(hint) is Literal), ())


def _options(kind: type[_Options], values: dict[str, Any]) -> _Options:
    more: dict[str, Any] = {}
    if kind is NewRun:
        targets, languages = tuple(values["target"] or ()), tuple(dict.fromkeys(listed(values["language"] or "")))
        values |= {"target": next(iter(targets), None), "language": next(iter(languages), None)}
        more = {"targets": targets, "languages": languages}
    for field, value in values.items():
        if field == "passes":
            values[field] = int(value) if value and value.isdecimal() else value
        elif choices := _choices(field):
            values[field] = one_of(_flag_of(field).name, value, choices)
        elif _takes_many(field):
            values[field] = tuple(value or ())
    return kind(**values, **more)


NewRunOptions = Annotated[NewRun, run_options(NewRun)]
