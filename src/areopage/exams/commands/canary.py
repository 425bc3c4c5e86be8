"""Rounds of canaries on the console: `areopage qualify SUITE --canary`."""

import asyncio
import shlex
from datetime import UTC, datetime

import msgspec
import typer

from areopage.cli import (
    DONE,
    FAILED,
    INCONCLUSIVE,
    Places,
    asking_display,
    confirm,
    opened_ledger,
    resumed_by_the_same_command,
    tell,
    told_size,
)
from areopage.errors import counted
from areopage.exams.canary import Canary, CanaryResult, plan_canaries, require_references, run_canary
from areopage.exams.exam_plan import Exam
from areopage.jury import CallSize
from areopage.report import Printer, report_locale, shift_text
from areopage.suites import Suite


def canary_rounds(suite: Suite, exam: Exam, places: Places, form: str, *, plan: bool, yes: bool) -> int:
    """Run the next round of each judge and print what it shows; returns the exit code."""
    with opened_ledger(places) as ledger, resumed_by_the_same_command():
        options = places.options(ledger)
        canaries = plan_canaries(suite, exam.checked(), ledger)
        require_references(canaries)
        sizes = [canary.exam.size for canary in canaries]
        for canary, size in zip(canaries, sizes, strict=True):
            who = f"{canary.judge.name} ({canary.judge.reference})"
            criteria = counted(len(canary.references), "criterion", "criteria")
            tell(f"canary of {who}, round {canary.round}: {criteria}, {counted(size.calls, 'call')}")
            if left_out := canary.left_out_text:
                tell(f"note: not in the canary of {canary.judge.name}: {left_out}")
        for line in dict.fromkeys(line for canary in canaries for line in canary.exam.parts[0].asking.contacts):
            tell(line)
        size = CallSize.of_all(sizes)
        tell(f"plan: at most {counted(size.calls, 'call')}, {told_size(size.prompt_tokens, size.completion_tokens, size.costs)}")
        if plan:
            return DONE
        confirm([canary.exam.parts[0].asking for canary in canaries], yes=yes)
        results: list[CanaryResult] = []
        for canary in canaries:
            with asking_display(canary.exam.parts[0].asking) as display:
                results.append(asyncio.run(run_canary(canary, ledger, display, datetime.now(UTC))))
    if form == "json":
        reports = [report for result in results for report in result.rounds]
        typer.echo(msgspec.json.format(msgspec.json.encode(reports)).decode())
    else:
        for canary, result in zip(canaries, results, strict=True):
            if result.rounds:
                _print_result(canary, result, shlex.join(["areopage", "qualify", canary.exam.suite, *options]))
    if open_calls := sum(result.open_calls for result in results):
        tell(f"{counted(open_calls, 'call')} brought no answer: nothing is decided there; the same command tries them again")
    if any(result.moved for result in results):
        return FAILED
    return INCONCLUSIVE if open_calls else DONE


def _print_result(canary: Canary, result: CanaryResult, examine: str) -> None:
    locale = report_locale("en")
    printer = Printer(locale)
    verdict = f"moved on {len(result.moved)} of" if result.moved else "unchanged so far on"
    every = counted(len(result.rounds), "criterion", "criteria")
    printer.say(f"{canary.judge.name} ({canary.judge.reference}): {verdict} {every}", "bold")
    for report in sorted(result.rounds, key=lambda report: not report.moved):
        state = "moved" if report.moved else "unchanged so far"
        printer.say(f"  {report.path}: {state}: {shift_text(locale, report)}", "red" if report.moved else "")
    if result.moved:
        tell(f"its later scores count as drifted until it passes an exam: {examine}")
