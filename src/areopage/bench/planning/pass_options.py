"""Passes and batches of a run: what the suite and the user ask for, and what stands against it."""

from collections.abc import Iterator, Sequence

from areopage.bench.options import RunOptions
from areopage.bench.pass_settings import PassSettings
from areopage.bench.planning.run_plan import judge_costs, plan_run
from areopage.bench.spec import RunCase, RunSpec
from areopage.errors import ConfigError, UserError, name_list
from areopage.jury import Judge
from areopage.locales import Note
from areopage.suites import PassesSection, Suite

PRECISION_SHARE = 0.05
"""Of the scale's width: the precision where the suite names none."""


def choose_passes(suite: Suite, options: RunOptions) -> PassSettings | None:
    """How passes are added; None where every judge makes all of its passes."""
    section = suite.config.judge_system.evaluation.passes
    if options.passes is not None or (section is None and not options.adaptive):
        if options.most_calls is not None:
            raise UserError("--max-calls bounds adaptive passes: give --passes auto, or `passes` in the suite")
        return None
    section = section or PassesSection()
    return PassSettings(
        start=section.start,
        most=section.most,
        precision=section.precision or PRECISION_SHARE * (suite.scale.max - suite.scale.min),
        reliability=section.reliability,
        risk=section.risk,
        calls=options.most_calls or section.budget.calls,
        cost=section.budget.cost,
        seed=section.seed,
    )


def copying_judges(judges: Sequence[Judge]) -> tuple[str, ...]:
    """The models that are asked several times at temperature 0: their passes are nearly always copies of the first."""
    return tuple(
        judge.name
        for judge in judges
        if judge.is_model and judge.passes > 1 and all(options.get("temperature") == 0 for options in judge.pass_options)
    )


def asked_passes(
    suite: Suite, judges: Sequence[Judge], settings: PassSettings | None, *, repeat_identical: bool
) -> tuple[tuple[Judge, ...], tuple[Note, ...]]:
    """The judges without passes that repeat another one, and remarks on passes that are copies."""
    copying = copying_judges(judges)
    if copying and settings is not None:
        message = "at temperature 0 every further pass is a copy of the first: set a temperature, or give --passes 1"
        raise ConfigError(f"{name_list(copying)}: {message}", path=suite.document.path, key="judge_system.evaluation.passes")
    if repeat_identical:
        return tuple(judges), ((Note("passes_are_copies", {"judges": copying}),) if copying else ())
    kept = tuple(judge.asked_once() for judge in judges)
    still = copying_judges(kept)
    notes = [copies.note for judge in judges for copies in judge.copied_passes()]
    return kept, (*notes, *([Note("passes_are_copies", {"judges": still})] if still else ()))


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
