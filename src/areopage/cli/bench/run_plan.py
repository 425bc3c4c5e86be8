"""The plan of a run on the console, before anything is paid: what is asked of each model, what is too long, what it costs."""

from collections.abc import Iterable, Iterator, Sequence

import typer

from areopage.bench import Estimate, LongCases, LongKind, ModelPlan, RunCase, RunPlan, RunSpec, calls_of, first_passes, plan_run
from areopage.cli.asking import told_size
from areopage.errors import counted, name_list
from areopage.jury import Judge
from areopage.ledger import Ledger
from areopage.scoring import PassSettings

_FIRST = 5
_LONG: dict[LongKind, str] = {
    "not_sent": "too long, and left without a judgment",
    "cut": "too long, so that documents at the end are left out",
    "may_not_fit": "maybe too long, so that the server may refuse them",
}


def print_plan(
    runs: Sequence[tuple[RunSpec, tuple[RunCase, ...]]],
    ledger: Ledger | None = None,
    *,
    verbose: bool = False,
    budget: float | None = None,
    exam: Iterable[str] = (),
    err: bool = True,
) -> None:
    """Show what runs of one panel will ask: each of another target, or only one run.

    Args:
        ledger: with earlier calls, which tell sizes and times.
        verbose: list all idle keys of the configuration.
        exam: lines on the exam that the judges lack, the last of the plan.
        err: show it on the error stream, before a run; else it is the command's output.
    """
    plans = [plan_run(*one, ledger) for one in runs]
    for line in _plan_lines(runs, plans, verbose=verbose):
        typer.echo(line, err=err)
    if budget is not None:
        currency = next((f" {one.price.currency}" for one in plans[0].models if one.price is not None), "")
        typer.echo(f"budget: {budget:g}{currency}; no call begins that might cost more than is left", err=err)
    for line in exam:
        typer.echo(line, err=err)


def _plan_lines(runs: Sequence[tuple[RunSpec, tuple[RunCase, ...]]], plans: Sequence[RunPlan], *, verbose: bool) -> Iterator[str]:
    spec = runs[0][0]
    yield from _remarks(runs, verbose=verbose)
    yield from _heads(runs, plans)
    yield from (_judge_line(judge, spec, plans) for judge in spec.judges)
    yield from _batch_lines(spec, sum(one.target is not None for one, _ in runs))
    yield from calls_of([one for one, _ in runs])
    yield from (*_savings(plans, joint=spec.joint), *_known_lines(plans), *_long_lines(plans))
    if spec.adaptive is None:
        yield f"plan: {_plan_of(plans, spec)}"
        return
    yield f"passes are adaptive: {_adaptive_text(spec.adaptive)}"
    yield f"plan, at least: {_least_of([first_passes(plan.size) for plan in plans], spec)}"
    yield f"plan, at most: {_plan_of(plans, spec)}"


def _remarks(runs: Sequence[tuple[RunSpec, tuple[RunCase, ...]]], *, verbose: bool) -> Iterator[str]:
    for remark in dict.fromkeys(str(remark) for one, _ in runs for remark in (*one.remarks, *(one.idle if verbose else ()))):
        yield f"note: {remark}"
    if (idle := runs[0][0].idle) and not verbose:
        yield f"note: {counted(len(idle), 'key')} of the configuration without a meaning here (--verbose and run.log list them)"


def _heads(runs: Sequence[tuple[RunSpec, tuple[RunCase, ...]]], plans: Sequence[RunPlan]) -> Iterator[str]:
    """The suite, the targets, and the number of cases, criteria and judges."""
    spec, size = runs[0][0], plans[0].size
    targets = [str(one.target.reference) for one, _ in runs if one.target]
    named = f"{'target' if len(targets) == 1 else 'targets'} {', '.join(targets)}, mode {spec.mode}"
    told = named if targets else "responses come with the cases"
    yield f"suite {spec.suite} {spec.suite_version}, language {spec.language}; {told}"
    judges = {judge.name for judge in spec.judges}
    for one in dict.fromkeys(model for plan in plans for model in plan.models if model.name not in judges):
        yield f"  {one.name}: {counted(one.calls, 'call')}{_sizes_text([one])}"
    if spec.part is not None:
        yield f"part: only {spec.part.text}: {counted(spec.part.cases, 'case')} of {spec.part.total:,}"
    criteria, judging = counted(size.criteria, "criterion", "criteria"), counted(len(spec.judges), "judge")
    yield f"{counted(size.cases, 'case')}, {criteria}, {judging}{' for each target' if len(runs) > 1 else ''}:"


def _judge_line(judge: Judge, spec: RunSpec, plans: Sequence[RunPlan]) -> str:
    unfit = f" - NOT FIT TO JUDGE: {judge.unfit}" if judge.unfit else ""
    sizes = ([first_passes(plan.size) for plan in plans], [plan.size for plan in plans])
    least, number = (sum(size.judge_calls[judge.name] for size in some) for some in sizes)
    passes = counted(judge.passes, "pass", "passes")
    if spec.adaptive is not None and judge.passes > spec.adaptive.start:
        passes = f"{spec.adaptive.start} to {passes}"
    calls = f"{f'{least:,} to ' if least != number else ''}{counted(number, 'call')}, {passes}"
    recorded = f", recorded from {judge.recorded_model}" if judge.recorded_model else ""
    own = [one for plan in plans for one in plan.models if one.name == judge.name]
    return f"  {judge.name} ({judge.reference}{recorded}): {calls}{_sizes_text(own)}{unfit}"


def _sizes_text(own: Sequence[ModelPlan]) -> str:
    """The prefixes, tokens, cost and time of one model in several runs; "" for what is no model."""
    if not own:
        return ""
    prompts, answers = sum(one.prompt_tokens for one in own), sum(one.answer_tokens for one in own)
    parts = [f"about {prompts:,} prompt and {answers:,} answer tokens"]
    if own[0].prefixes:
        parts.insert(0, counted(own[0].prefixes, "prefix", "prefixes"))
    if (price := own[0].price) is not None:
        cost = sum(one.cost or 0.0 for one in own)
        listed = f" (list price as of {price.listed})" if price.listed else ""
        from areopage.report import report_locale

        parts.append(f"about {report_locale('en').money(cost, price.currency)}{listed}")
    if own[0].seconds is not None:
        parts.append(f"{_time(sum(one.seconds or 0.0 for one in own))}")
    return f"; {'; '.join(parts)}"


def _batch_lines(spec: RunSpec, targets: int) -> Iterator[str]:
    """Which judges' calls go through a batch service, at what part of the price, and which calls do not.

    Args:
        targets: how many targets are asked.
    """
    batched = [judge for judge in spec.judges if judge.name in spec.batch]
    if batched:
        factors = ", ".join(dict.fromkeys(f"{judge.price.batch_factor:g}" for judge in batched if judge.price is not None))
        cost = f" at {factors} of the price" if factors else ""
        names = name_list(judge.name for judge in batched)
        direct = "calls that repair an answer"
        if targets:
            direct = f"calls to the {'target' if targets == 1 else 'targets'}, and those that repair a judge's answer,"
        told = f"{names}: calls go through the provider's batch service, within 24 hours{cost}"
        yield f"{told}; {direct} are direct, at the full price"


def _savings(plans: Sequence[RunPlan], *, joint: bool) -> Iterator[str]:
    if ruled_out := sum(plan.size.ruled_out for plan in plans):
        pairs, saved = counted(ruled_out, "pair"), counted(sum(plan.size.saved_calls for plan in plans), "call")
        yield f"rules (applies_to, scope) leave out {pairs} of case and criterion: {saved} saved"
    if joint:
        saved = counted(sum(plan.size.joint_saved for plan in plans), "call")
        yield f"joint: one call asks a model about all criteria of a scope: {saved} saved"


def _known_lines(plans: Sequence[RunPlan]) -> Iterator[str]:
    """On which earlier calls tokens rest, and which models' times are not known."""
    models = {one.model: one for plan in plans for one in plan.models if one.calls}
    for one in models.values():
        if one.gauge.bytes_per_token is not None:
            measured = f"{one.gauge.bytes_per_token:.2f} bytes each"
            yield f"tokens of {one.model}: {measured}, measured over {counted(one.gauge.calls, 'earlier call')}"
    if assumed := [name for name, one in models.items() if one.gauge.bytes_per_token is None]:
        yield f"tokens of {name_list(assumed)}: assumed, 4 bytes each"
    if unknown := [name for name, one in models.items() if one.seconds is None]:
        yield f"time of {name_list(unknown)}: not known, the ledger has no earlier calls"


def _long_lines(plans: Sequence[RunPlan]) -> Iterator[str]:
    """The cases that are too long, for each model and each reason."""
    found: dict[str, None] = {}
    for one in (one for plan in plans for one in plan.long):
        found[f"warning: {one.name}: {_long_text(one)}"] = None
    yield from found


def _long_text(one: LongCases) -> str:
    size = f"prompts of up to about {one.longest:,} tokens, and the window holds {one.window:,}"
    return f"{_LONG[one.kind]}: {counted(len(one.cases), 'case')} ({size}): {name_list(one.cases, _FIRST)}"


def _adaptive_text(settings: PassSettings) -> str:
    """What adaptive passes stop at."""
    bounds = [f"{settings.calls:,} judge calls"] if settings.calls is not None else []
    bounds += [f"a cost of {settings.cost:g}"] if settings.cost is not None else []
    told = f"more than {settings.start} where a score is not settled, or not known to ±{settings.precision:g}"
    if settings.reliability is not None:
        told += f" and its criterion is not {settings.reliability:.0%} as reliable as {settings.most} passes would make it"
    return f"{told}; at most {settings.most}{f' and {name_list(bounds)}' if bounds else ''}"


def _least_of(sizes: Sequence[Estimate], spec: RunSpec) -> str:
    """The size of the first passes, where passes are adaptive."""
    prompts, answers = sum(size.prompt_tokens for size in sizes), sum(size.completion_tokens for size in sizes)
    calls = f"{counted(sum(size.calls for size in sizes), 'call')} ({_answers_of(sizes, spec)})"
    costs = _together([size.costs for size in sizes])
    return f"{calls}, {told_size(prompts, answers, costs)}{_loads_of(sizes)}"


def _plan_of(plans: Sequence[RunPlan], spec: RunSpec) -> str:
    """The size of runs that share their judges: a model is loaded once for all of them."""
    sizes, models = [plan.size for plan in plans], [one for plan in plans for one in plan.models]
    prompts, answers = sum(one.prompt_tokens for one in models), sum(one.answer_tokens for one in models)
    calls = f"{counted(sum(size.calls for size in sizes), 'call')} ({_answers_of(sizes, spec)})"
    told = f"{calls}, {told_size(prompts, answers, _together([plan.costs for plan in plans]))}{_loads_of(sizes)}"
    seconds = [plan.seconds for plan in plans]
    return told if None in seconds else f"{told}, {_time(sum(one or 0.0 for one in seconds))}"


def _loads_of(sizes: Sequence[Estimate]) -> str:
    """The loads of all runs: judges are loaded once for all of them. Nothing where servers hold any number of models."""
    loads = sizes[0].loads + sum(size.answer_loads for size in sizes[1:])
    return f", {counted(loads, 'model load')}" if loads else ""


def _together(costs: Sequence[dict[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for currency, amount in (pair for one in costs for pair in one.items()):
        found[currency] = found.get(currency, 0.0) + amount
    return found


def _time(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"


def _answers_of(sizes: Sequence[Estimate], spec: RunSpec) -> str:
    """The calls to targets, and those to the child's model where there are conversations."""
    answers = counted(sum(size.answer_calls for size in sizes), "answer")
    if not (conversations := sum(size.conversations for size in sizes)):
        return answers
    calls = counted(sum(size.child_calls for size in sizes), "call")
    child = f", at most {calls} to the child {spec.child.reference}" if spec.child else ""
    return f"at most {answers}, {counted(conversations, 'conversation')}{child}"
