"""The options that describe a new run, declared once for the commands that take them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from areopage.cli.options import ProfileOption, one_of
from areopage.cli.run_options import (
    AUTO,
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
    SuiteOption,
    TargetsOption,
    TimeoutOption,
    TurnsOption,
    passes_wanted,
)

if TYPE_CHECKING:
    from areopage.bench.planning.prepare import RunWishes


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """What the user says of a new run; each field is an option of the command line, in this order."""

    suite: SuiteOption = "child_safety"
    dataset: DatasetOption = None
    target: TargetsOption = None
    answers: AnswersOption = None
    judge: JudgeOption = None
    criteria: CriteriaOption = None
    mode: ModeOption = None
    passes: PassesOrAutoOption = None
    max_calls: MostCallsOption = None
    budget: BudgetOption = None
    joint: JointOption = None
    repeat_identical: RepeatIdenticalOption = None
    limit: LimitOption = None
    min_coverage: MinCoverageOption = None
    lang: PromptLanguageOption = None
    profile: ProfileOption = None
    concurrency: ConcurrencyOption = None
    timeout: TimeoutOption = None
    child: ChildOption = None
    turns: TurnsOption = None
    allow_variable: AllowVariableOption = None
    batch: BatchOption = False

    @property
    def targets(self) -> list[str]:
        """The models under test."""
        return self.target or []

    def wishes(self) -> "RunWishes":
        """What a run of the first target is prepared from.

        Raises:
            UserError: an option has no such value.
        """
        from areopage.bench.planning.prepare import AnswersFrom, RunWishes
        from areopage.bench.target_prompts import Mode

        return RunWishes(
            datasets=tuple(self.dataset or ()),
            target=self.targets[0] if self.targets else None,
            answers=one_of("--answers", self.answers, get_args(AnswersFrom)),
            judges=tuple(self.judge or ()),
            criteria=self.criteria,
            mode=one_of("--mode", self.mode, get_args(Mode)),
            passes=passes_wanted(self.passes),
            adaptive=self.passes == AUTO,
            most_calls=self.max_calls,
            joint=self.joint,
            repeat_identical=self.repeat_identical,
            limit=self.limit,
            min_coverage=self.min_coverage,
            language=self.lang,
            profile=self.profile,
            concurrency=self.concurrency,
            timeout=self.timeout,
            child=self.child,
            turns=self.turns,
            allowed_variables=tuple(self.allow_variable or ()),
            batch=self.batch,
        )


def describes_a_run(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `NewRun` in place of its parameter of this type."""
    hints, own = get_type_hints(NewRun, include_extras=True), signature(command, eval_str=True)
    options = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]) for one in fields(NewRun)
    ]
    taken = next(name for name, parameter in own.parameters.items() if parameter.annotation is NewRun)

    @wraps(command)
    def taking(**given: Any) -> None:
        run = NewRun(**{one.name: given.pop(one.name) for one in options})
        command(**{taken: run}, **given)

    del taking.__wrapped__  # its signature is another one
    parameters: list[Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += options if name == taken else [parameter.replace(kind=Parameter.KEYWORD_ONLY)]
    taking.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    taking.__annotations__ = {one.name: one.annotation for one in parameters}
    return taking
