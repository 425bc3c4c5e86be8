"""The options that describe a new run, declared once for the commands that take them."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from areopage.cli.options import ProfileOption, one_of
from areopage.cli.run_options import (
    AUTO,
    AgeOption,
    AllowVariableOption,
    AnswersOption,
    BatchOption,
    BudgetOption,
    ChildOption,
    ConcurrencyOption,
    CriteriaOption,
    DatasetOption,
    JointOption,
    JudgeOption,
    LimitOption,
    MinCoverageOption,
    ModeOption,
    MostCallsOption,
    PassesOrAutoOption,
    PromptLanguageOption,
    RepeatIdenticalOption,
    ReuseAnswersOption,
    SuiteOption,
    TargetsOption,
    TimeoutOption,
    TurnsOption,
    WhereOption,
    conditions,
    passes_wanted,
)

if TYPE_CHECKING:
    from areopage.bench import RunWishes


_OPTIONS: Mapping[str, tuple[Any, object]] = MappingProxyType(
    {
        "suite": (SuiteOption, "child_safety"),
        "dataset": (DatasetOption, None),
        "target": (TargetsOption, None),
        "answers": (AnswersOption, None),
        "judge": (JudgeOption, None),
        "criteria": (CriteriaOption, None),
        "mode": (ModeOption, None),
        "passes": (PassesOrAutoOption, None),
        "max_calls": (MostCallsOption, None),
        "budget": (BudgetOption, None),
        "joint": (JointOption, None),
        "repeat_identical": (RepeatIdenticalOption, None),
        "where": (WhereOption, None),
        "age": (AgeOption, None),
        "limit": (LimitOption, None),
        "min_coverage": (MinCoverageOption, None),
        "lang": (PromptLanguageOption, None),
        "profile": (ProfileOption, None),
        "concurrency": (ConcurrencyOption, None),
        "timeout": (TimeoutOption, None),
        "child": (ChildOption, None),
        "turns": (TurnsOption, None),
        "allow_variable": (AllowVariableOption, None),
        "batch": (BatchOption, False),
        "reuse_answers": (ReuseAnswersOption, False),
    }
)
"""The options in their order, each with its value where the user gives none."""


class NewRun(NamedTuple):
    """What the user says of a new run: `wishes` is what a run of the first of `targets` and `languages` is prepared from."""

    suite: str
    targets: list[str]
    budget: float | None
    wishes: "RunWishes"
    languages: list[str]


def _new_run(*, suite: str, target: list[str] | None, budget: float | None, **options: Any) -> NewRun:
    """What the options say.

    Raises:
        UserError: one has no such value.
    """
    from areopage.bench import AnswersFrom, Mode, RunWishes

    passes = options.pop("passes")
    languages = [name for part in (options.pop("lang") or "").split(",") if (name := part.strip())]
    wishes = RunWishes(
        datasets=tuple(options.pop("dataset") or ()),
        target=target[0] if target else None,
        answers=one_of("--answers", options.pop("answers"), get_args(AnswersFrom)),
        judges=tuple(options.pop("judge") or ()),
        mode=one_of("--mode", options.pop("mode"), get_args(Mode)),
        passes=passes_wanted(passes),
        adaptive=passes == AUTO,
        most_calls=options.pop("max_calls"),
        language=languages[0] if languages else None,
        where=conditions(options.pop("where"), options.pop("age")),
        allowed_variables=tuple(options.pop("allow_variable") or ()),
        **options,  # the others are wishes as they are
    )
    return NewRun(suite, target or [], budget, wishes, list(dict.fromkeys(languages)))


def describes_a_run(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a new run in place of its parameter of the type `NewRun`."""
    own = signature(command, eval_str=True)
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in _OPTIONS.items()
    ]
    taken = next(name for name, parameter in own.parameters.items() if parameter.annotation is NewRun)

    @wraps(command)
    def taking(**given: Any) -> None:
        run = _new_run(**{one.name: given.pop(one.name) for one in options})
        command(**{taken: run}, **given)

    del taking.__wrapped__  # its signature is another one
    parameters: list[Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += options if name == taken else [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    taking.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    taking.__annotations__ = {one.name: one.annotation for one in parameters}
    return taking
