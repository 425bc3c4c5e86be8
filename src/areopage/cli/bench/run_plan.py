"""The plan of a run on the console, before anything is paid: what is asked of each model, what is too long, what it costs."""

from collections.abc import Iterable, Iterator, Sequence

import typer

from areopage.bench import LongKind, ModelPlan, PassSettings, RunCase, RunPlan, RunSize, RunSpec, plan_run
from areopage.cli.asking import told_size
from areopage.errors import counted, name_list
from areopage.jury import Judge
from areopage.ledger import Ledger

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
        verbose: list all idle keys of the configuration, and what is known of sizes and times.
        exam: lines on the exam that the judges lack, the last of the plan.
        err: show it on the error stream, before a run; else it is the command's output.
    """
    plans = [plan_run(*run, ledger) for run in runs]
    for line in _plan_lines(runs, plans, verbose=verbose, whole=verbose or not err):
        typer.echo(line, err=err)
    if budget is not None:
        currency = next((f" {model.price.currency}" for model in plans[0].models if model.price is not None), "")
        typer.echo(f"budget: {budget:g}{currency}; no call begins that might cost more than is left", err=err)
    for line in exam:
        typer.echo(line, err=err)


def _plan_lines(
    runs: Sequence[tuple[RunSpec, tuple[RunCase, ...]]], plans: Sequence[RunPlan], *, verbose: bool, whole: bool
) -> Iterator[str]:
    spec = runs[0][0]
    named = (other.named(remark).text(other.language) for other, _ in runs for remark in other.remarks)
    remarks = (*named, *(str(remark) for other, _ in runs if verbose for remark in other.idle))
    yield from (f"note: {remark}" for remark in dict.fromkeys(remarks))
    if spec.idle and not verbose:
        keys = counted(len(spec.idle), "key")
        yield f"note: {keys} of the configuration without a meaning here (--verbose and run.log list them)"
    yield from _heads(runs, plans)
    yield from (_judge_line(judge, spec, plans) for judge in spec.judges)
    yield from _batch_lines(spec, sum(other.target is not None for other, _ in runs))
    yield from spec.settings.with_environment().contact_lines(dict.fromkeys(model for other, _ in runs for model in other.models))
    if ruled_out := sum(plan.size.ruled_out for plan in plans):
        pairs, saved = counted(ruled_out, "pair"), counted(sum(plan.size.saved_calls for plan in plans), "call")
        yield f"rules (applies_to, scope) leave out {pairs} of case and criterion: {saved} saved"
    if spec.joint:
        saved = counted(sum(plan.size.joint_saved for plan in plans), "call")
        yield f"joint: one call asks a model about all criteria of a scope: {saved} saved"
    yield from (*(_known_lines(plans) if whole else ()), *_long_lines(plans))
    if spec.adaptive is None:
        yield f"plan: {_plan_of(plans, spec)}"
        return
    yield f"passes are adaptive: {_adaptive_text(spec.adaptive)}"
    yield f"plan, at least: {_plan_of([plan.least or plan for plan in plans], spec)}"
    yield f"plan, at most: {_plan_of(plans, spec)}"


def _heads(runs: Sequence[tuple[RunSpec, tuple[RunCase, ...]]], plans: Sequence[RunPlan]) -> Iterator[str]:
    spec, size = runs[0][0], plans[0].size
    targets = [str(other.target.reference) for other, _ in runs if other.target]
    named = f"{'target' if len(targets) == 1 else 'targets'} {', '.join(targets)}, mode {spec.mode}"
    answering = named if targets else "responses come with the cases"
    yield f"suite {spec.suite} {spec.suite_version}, language {spec.language}; {answering}"
    judges = {judge.name for judge in spec.judges}
    for asked in dict.fromkeys(model for plan in plans for model in plan.models if model.name not in judges):
        yield f"  {asked.name}: {counted(asked.calls, 'call')}{_sizes_text([asked])}"
    if spec.part is not None:
        yield f"part: only {spec.part.text}: {counted(spec.part.cases, 'case')} of {spec.part.total:,}"
    criteria, judging = counted(size.criteria, "criterion", "criteria"), counted(len(spec.judges), "judge")
    yield f"{counted(size.cases, 'case')}, {criteria}, {judging}{' for each target' if len(runs) > 1 else ''}:"


def _judge_line(judge: Judge, spec: RunSpec, plans: Sequence[RunPlan]) -> str:
    unfit = f" - NOT FIT TO JUDGE: {judge.unfit}" if judge.unfit else ""
    sizes = ([(plan.least or plan).size for plan in plans], [plan.size for plan in plans])
    least, number = (sum(size.judge_calls[judge.name] for size in some) for some in sizes)
    passes = counted(judge.passes, "pass", "passes")
    if spec.adaptive is not None and judge.passes > spec.adaptive.start:
        passes = f"{spec.adaptive.start} to {passes}"
    calls = f"{f'{least:,} to ' if least != number else ''}{counted(number, 'call')}, {passes}"
    recorded = f", recorded from {judge.recorded_model}" if judge.recorded_model else ""
    models = [model for plan in plans for model in plan.models if model.name == judge.name]
    return f"  {judge.name} ({judge.reference}{recorded}): {calls}{_sizes_text(models)}{unfit}"


def _sizes_text(models: Sequence[ModelPlan]) -> str:
    """The prefixes, tokens, cost and time of one model in several runs; "" for what is no model."""
    if not models:
        return ""
    prompts, answers = sum(model.prompt_tokens for model in models), sum(model.answer_tokens for model in models)
    parts = [f"about {prompts:,} prompt and {answers:,} answer tokens"]
    if models[0].prefixes:
        parts.insert(0, counted(models[0].prefixes, "prefix", "prefixes"))
    if (price := models[0].price) is not None:
        cost = sum(model.cost or 0.0 for model in models)
        listed = f" (list price as of {price.listed})" if price.listed else ""
        from areopage.report import report_locale

        parts.append(f"about {report_locale('en').money(cost, price.currency)}{listed}")
    if models[0].seconds is not None:
        parts.append(f"{_time(sum(model.seconds or 0.0 for model in models))}")
    return f"; {'; '.join(parts)}"


def _batch_lines(spec: RunSpec, targets: int) -> Iterator[str]:
    batched = [judge for judge in spec.judges if judge.name in spec.batch]
    if batched:
        factors = ", ".join(dict.fromkeys(f"{judge.price.batch_factor:g}" for judge in batched if judge.price is not None))
        cost = f" at {factors} of the price" if factors else ""
        names = name_list(judge.name for judge in batched)
        direct = "calls that repair an answer"
        if targets:
            direct = f"calls to the {'target' if targets == 1 else 'targets'}, and those that repair a judge's answer,"
        line = f"{names}: calls go through the provider's batch service, within 24 hours{cost}"
        yield f"{line}; {direct} are direct, at the full price"


def _known_lines(plans: Sequence[RunPlan]) -> Iterator[str]:
    models = {model.model: model for plan in plans for model in plan.models if model.calls}
    for model in models.values():
        if model.gauge.bytes_per_token is not None:
            measured = f"{model.gauge.bytes_per_token:.2f} bytes each"
            yield f"tokens of {model.model}: {measured}, measured over {counted(model.gauge.calls, 'earlier call')}"
    if assumed := [name for name, model in models.items() if model.gauge.bytes_per_token is None]:
        yield f"tokens of {name_list(assumed)}: assumed, 4 bytes each"
    if unknown := [name for name, model in models.items() if model.seconds is None]:
        yield f"time of {name_list(unknown)}: not known, the ledger has no earlier calls"


def _long_lines(plans: Sequence[RunPlan]) -> Iterator[str]:
    lines: dict[str, None] = {}
    for long in (long for plan in plans for long in plan.long):
        size = f"prompts of up to about {long.longest:,} tokens, and the window holds {long.window:,}"
        names = name_list(long.cases, _FIRST)
        lines[f"warning: {long.name}: {_LONG[long.kind]}: {counted(len(long.cases), 'case')} ({size}): {names}"] = None
    yield from lines


def _adaptive_text(settings: PassSettings) -> str:
    bounds = [f"{settings.calls:,} judge calls"] if settings.calls is not None else []
    bounds += [f"a cost of {settings.cost:g}"] if settings.cost is not None else []
    text = f"more than {settings.start} where a score is not settled, or not known to ±{settings.precision:g}"
    if settings.reliability is not None:
        text += f" and its criterion is not {settings.reliability:.0%} as reliable as {settings.most} passes would make it"
    return f"{text}; at most {settings.most}{f' and {name_list(bounds)}' if bounds else ''}"


def _plan_of(plans: Sequence[RunPlan], spec: RunSpec) -> str:
    """The size of runs that share their judges: a model is loaded once for all of them."""
    sizes = [plan.size for plan in plans]
    prompts, answers = sum(plan.prompt_tokens for plan in plans), sum(plan.answer_tokens for plan in plans)
    calls = f"{counted(sum(size.calls for size in sizes), 'call')} ({_answers_of(sizes, spec)})"
    costs: dict[str, float] = {}
    for currency, amount in (pair for plan in plans for pair in plan.costs.items()):
        costs[currency] = costs.get(currency, 0.0) + amount
    loads = sizes[0].loads + sum(size.answer_loads for size in sizes[1:])  # judges are loaded once for all runs
    loaded = f", {counted(loads, 'model load')}" if loads else ""
    text = f"{calls}, {told_size(prompts, answers, costs)}{loaded}"
    seconds = [plan.seconds for plan in plans]
    return text if None in seconds else f"{text}, {_time(sum(time or 0.0 for time in seconds))}"


def _time(seconds: float) -> str:
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"


def _answers_of(sizes: Sequence[RunSize], spec: RunSpec) -> str:
    answers = counted(sum(size.answer_calls for size in sizes), "answer")
    if not (conversations := sum(size.conversations for size in sizes)):
        return answers
    calls = counted(sum(size.child_calls for size in sizes), "call")
    child = f", at most {calls} to the child {spec.child.reference}" if spec.child else ""
    return f"at most {answers}, {counted(conversations, 'conversation')}{child}"
