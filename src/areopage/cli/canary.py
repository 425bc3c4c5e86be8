"""Rounds of canaries on the console: `areopage qualify SUITE --canary`."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
import typer
from msgspec import Struct
from rich.text import Text

from areopage.bench.spec import Target
from areopage.cli.bench_run import Places, confirm, ended_like_ctrl_c, opened_ledger, progress
from areopage.cli.exit_codes import DONE, FAILED, INCONCLUSIVE, INTERRUPTED
from areopage.cli.options import tell
from areopage.cli.run_tables import text_console
from areopage.errors import ServerDown, StorageError, counted
from areopage.jury.judges import Judge
from areopage.ledger.canaries import CanaryRound
from areopage.models.contacts import contact_lines
from areopage.models.settings import ModelSettings
from areopage.report.elements import report_locale
from areopage.report.qualification import shift_text
from areopage.suites.loader import Suite
from areopage.trust.canary import Canary, CanaryResult, left_out_text, plan_canaries, require_references, run_canary
from areopage.trust.exam_plan import Exam, ExamSize, check_exam, exam_size

AGAIN = "what has arrived is kept: the same command goes on from there"


class AskedModelsOfExam(Struct, frozen=True, kw_only=True):
    """The models of an exam, for progress and prices."""

    judges: tuple[Judge, ...]
    settings: ModelSettings
    target: Target | None = None
    child: Target | None = None


def asked_models(exam: Exam) -> AskedModelsOfExam:
    """The models that an exam asks."""
    return AskedModelsOfExam(judges=exam.judges, settings=exam.parts[0].settings)


def size_text(sizes: Sequence[ExamSize]) -> str:
    """What exams ask and cost at most."""
    costs: dict[str, float] = {}
    for size in sizes:
        for currency, cost in size.costs.items():
            costs[currency] = costs.get(currency, 0.0) + cost
    cost_text = report_locale("en").costs(costs)
    prompts, answers = (
        sum(tokens) for tokens in zip(*((one.prompt_tokens, one.completion_tokens) for one in sizes), strict=True)
    )
    calls = counted(sum(sum(size.calls.values()) for size in sizes), "call")
    tokens = f"about {prompts:,} prompt and {answers:,} answer tokens"
    return f"at most {calls}, {tokens}{f', about {cost_text}' if cost_text else ''}"


def canary_rounds(suite: Suite, exam: Exam, places: Places, form: str, *, plan: bool, yes: bool) -> int:
    """Run the next round of each judge and print what it shows; returns the exit code.

    Args:
        exam: on the suite's whole gold set; its judges are checked here.

    Raises:
        ModelError: a judge has no exam that a round could be compared with.
        UnknownRun: there is no ledger, and so no exam.
    """
    try:
        checked = check_exam(exam)
    except ServerDown as fault:
        tell(f"areopage: {' '.join(str(fault).split())}; nothing was asked: try the same command again")
        return INCONCLUSIVE
    with opened_ledger(places) as ledger:
        canaries = plan_canaries(suite, checked, ledger)
    require_references(canaries)
    _print_plan(canaries)
    if plan:
        return DONE
    confirm([asked_models(one.exam) for one in canaries], yes=yes)
    results: list[CanaryResult] = []
    try:
        with opened_ledger(places) as ledger, ended_like_ctrl_c():
            for canary in canaries:
                with progress(asked_models(canary.exam)) as display:
                    results.append(asyncio.run(run_canary(canary, ledger, display, datetime.now(UTC))))
    except KeyboardInterrupt:
        tell(f"\nstopped; {AGAIN}")
        return INTERRUPTED
    except (ServerDown, StorageError) as fault:
        tell(f"areopage: {' '.join(str(fault).split())}; {AGAIN}")
        return INCONCLUSIVE
    if form == "json":
        found = [one for result in results for one in result.found]
        typer.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        for canary, result in zip(canaries, results, strict=True):
            _print_result(canary, result)
    if open_calls := sum(result.open_calls for result in results):
        tell(f"{counted(open_calls, 'call')} brought no answer: nothing is decided there; the same command tries them again")
    if any(result.moved for result in results):
        return FAILED
    return INCONCLUSIVE if open_calls else DONE


def _print_plan(canaries: Sequence[Canary]) -> None:
    sizes = [exam_size(canary.exam) for canary in canaries]
    for canary, size in zip(canaries, sizes, strict=True):
        who = f"{canary.judge.name} ({canary.judge.reference})"
        what = f"{counted(size.rows, 'gold row')}, {counted(size.criteria, 'criterion', 'criteria')}"
        tell(f"canary of {who}, round {canary.round}: {what}, {counted(sum(size.calls.values()), 'call')}")
        if left_out := left_out_text(canary):
            tell(f"note: not in the canary of {canary.judge.name}: {left_out}")
    for line in dict.fromkeys(
        line for one in canaries for line in contact_lines([one.judge.reference], one.exam.parts[0].settings)
    ):
        tell(line)
    tell(f"plan: {size_text(sizes)}")


def _print_result(canary: Canary, result: CanaryResult) -> None:
    console = text_console()
    if not result.found:
        return
    told = f"moved on {len(result.moved)} of" if result.moved else "unchanged so far on"
    every = counted(len(result.found), "criterion", "criteria")
    console.print(Text(f"{canary.judge.name} ({canary.judge.reference}): {told} {every}", style="bold"))
    for one in sorted(result.found, key=lambda one: not one.moved):
        console.print(Text(f"  {_line(one)}", style="red" if one.moved else ""), soft_wrap=True)
    if result.moved:
        tell(f"its later scores count as drifted until it passes an exam: areopage qualify {canary.exam.suite}")


def _line(one: CanaryRound) -> str:
    return f"{one.path}: {'moved' if one.moved else 'unchanged so far'}: {shift_text(report_locale('en'), one)}"
