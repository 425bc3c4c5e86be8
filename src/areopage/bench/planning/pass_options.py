"""Passes and batches of a run: what the suite and the user ask for, and what stands against it."""

from collections.abc import Iterator, Sequence

from areopage.bench.options import RunOptions
from areopage.bench.pass_settings import PassSettings
from areopage.bench.planning.run_plan import judge_costs, plan_run
from areopage.bench.spec import RunCase, RunSpec
from areopage.errors import ConfigError, UserError, name_list
from areopage.jury import Judge, asked_judges
from areopage.locales import Note
from areopage.scoring import V1_1
from areopage.suites import PassesSection, Suite

MOST_PASSES = 100
PRECISION_SHARE = 0.05
"""Of the scale's width: the precision where the suite names none."""


def asked_suite(suite: Suite, options: RunOptions) -> Suite:
    """The suite, whose judges are asked as often and in such calls as the user says."""
    evaluation = suite.config.judge_system.evaluation
    passes, number = evaluation.passes, evaluation.n_passes
    if isinstance(options.passes, int) and 1 <= options.passes <= MOST_PASSES:
        passes, number = None, options.passes
    elif options.passes not in (None, "auto"):
        raise UserError(f"--passes {options.passes}: give a number from 1 to {MOST_PASSES}, or auto")
    elif passes is not None or options.passes is not None:
        passes = passes or PassesSection()
        number = passes.most
    if options.most_calls is not None:
        if passes is None:
            raise UserError("--max-calls bounds adaptive passes: give --passes auto, or `passes` in the suite")
        passes = passes.model_copy(update={"budget": passes.budget.model_copy(update={"calls": options.most_calls})})
    repeat = evaluation.repeat_identical if options.repeat_identical is None else options.repeat_identical
    return suite.asking(
        n_passes=number,
        passes=passes,
        joint=evaluation.joint if options.joint is None else options.joint,
        repeat_identical=repeat or (options.profile or suite.config.scoring.profile) == V1_1.name,
    )


def pass_settings(suite: Suite) -> PassSettings | None:
    """How passes are added; None where every judge makes all of its passes."""
    if (section := suite.config.judge_system.evaluation.passes) is None:
        return None
    precision = section.precision or PRECISION_SHARE * (suite.scale.max - suite.scale.min)
    return PassSettings(precision=precision, **section.budget.model_dump(), **section.model_dump(exclude={"budget", "precision"}))


def run_judges(suite: Suite, wanted: Sequence[str]) -> tuple[tuple[Judge, ...], tuple[Note, ...]]:
    """The judges of a run, and remarks on passes that are copies: models at temperature 0 nearly always repeat themselves."""
    judges, notes = asked_judges(suite, wanted)
    evaluation = suite.config.judge_system.evaluation
    models = (judge for judge in judges if judge.is_model)
    at_zero = [judge for judge in models if all(options.get("temperature") == 0 for options in judge.pass_options)]
    if at_zero and evaluation.passes is not None and evaluation.n_passes > 1:
        message = "at temperature 0 every further pass is a copy of the first: set a temperature, or give --passes 1"
        names = name_list(judge.name for judge in at_zero)
        raise ConfigError(f"{names}: {message}", path=suite.document.path, key="judge_system.evaluation.passes")
    copying = tuple(judge.name for judge in at_zero if judge.passes > 1)
    return judges, (*notes, *([Note("passes_are_copies", {"judges": copying})] if copying else ()))


def batched_judges(suite: Suite, judges: Sequence[Judge], *, wanted: bool) -> tuple[str, ...]:
    """The names of the judges whose calls go through batch services."""
    configured = suite.config.judge_system.judges
    stated = {name: section.batch for name, section in configured.items() if section.batch is not None}
    return tuple(judge.name for judge in judges if judge.is_model and stated.get(judge.name, wanted))


def joint_remarks(suite: Suite, spec: RunSpec) -> Iterator[Note]:
    """A remark on models that are asked about several criteria of a scope in one call."""
    if not spec.joint:
        return
    if spec.adaptive is not None:
        message = "adaptive passes are added criterion by criterion: set joint to false (--no-joint), or give --passes N"
        raise ConfigError(message, path=suite.document.path, key="judge_system.evaluation.joint")
    models = tuple(judge.name for judge in spec.judges if judge.is_model)
    if models and len(spec.criteria) > 1:
        yield Note("asked_jointly", {"judges": models})


def check_budget(spec: RunSpec, cases: Sequence[RunCase]) -> None:
    """Check that the budget pays for the first passes."""
    settings = spec.adaptive
    if settings is None or (settings.calls is None and settings.cost is None):
        return
    plan = plan_run(spec, cases)
    least = plan.least or plan
    calls = sum(least.size.judge_calls.values())
    if settings.calls is not None and calls > settings.calls:
        raise UserError(
            f"the budget of {settings.calls:,} calls is less than the first passes take ({calls:,}): raise it, or take fewer "
            "cases, criteria or judges"
        )
    if settings.cost is None:
        return
    unpriced = [judge.name for judge in spec.judges if judge.is_model and judge.price is None]
    if unpriced:
        raise UserError(f"the budget is in money, and these judges have no price: {name_list(unpriced)}")
    currencies = {judge.price.currency for judge in spec.judges if judge.price is not None}
    if len(currencies) > 1:
        raise UserError(f"the budget is in money, and the judges' prices are in {name_list(sorted(currencies))}")
    cost = sum(judge_costs(least, spec).values())
    if cost > settings.cost:
        raise UserError(
            f"the budget of {settings.cost:g} is less than the first passes cost (about {cost:.2f}): raise it, or take fewer "
            "cases, criteria or judges"
        )
