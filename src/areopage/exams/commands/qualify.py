"""Command `areopage qualify`: examine judges on a suite's gold set."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import Annotated

import msgspec
import typer

from areopage.cli import (
    DONE,
    FAILED,
    INCONCLUSIVE,
    AllowVariableOption,
    ConcurrencyOption,
    PlacesOptions,
    TimeoutOption,
    YesOption,
    ask_to_send,
    asking_display,
    configured,
    confirm,
    made_by,
    one_of,
    opened_ledger,
    resumed_by_the_same_command,
    tell,
    told_size,
)
from areopage.errors import UnknownRun, UserError, counted
from areopage.exams.canary import exams_after_drift
from areopage.exams.commands.canary import canary_rounds
from areopage.exams.exam import ExamResult, run_exam
from areopage.exams.exam_plan import Exam, ExamWishes, prepare_exam
from areopage.ledger import Ledger, Qualification
from areopage.locales import MISSING
from areopage.report import Printer, Table, columns, mark_text, report_locale, rows
from areopage.suites import load_suite

FORMATS = ("text", "json")
GATE_SUITE = "rag_grounding"
HEADINGS = ("state", "rows", "separation [95 %]", "error", "bias", "kappa", "parsed", "between passes", "by edits")

RowsOption = Annotated[
    int, typer.Option(min=0, help="Number of rows of each language, evenly spaced; the result then gives no standing. 0: all.")
]
PlanOption = Annotated[bool, typer.Option("--plan", help="Show what the exam would ask and cost, and ask nothing.")]
FormOption = Annotated[str, typer.Option("--format", metavar="text|json", help="Output format.")]


def _exam_wishes(
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]REF",
            help="A judge of the suite by name, or a model, e.g. ollama:qwen3:8b; may be repeated. Default: all of the suite.",
        ),
    ] = None,
    criteria: Annotated[
        str | None, typer.Option(metavar="SEL", help="Presets, categories or criteria, separated by commas. Default: all.")
    ] = None,
    floors: Annotated[
        bool, typer.Option("--floors", help="Only the criteria of the suite's release floors: what the verdict PASS needs.")
    ] = False,
    lang: Annotated[
        list[str] | None, typer.Option(metavar="en|fr", help="Language of gold rows; may be repeated. Default: all.")
    ] = None,
    passes: Annotated[
        int | None, typer.Option(min=1, max=20, help="How often a judge is asked about a row; default: exam.passes of the suite.")
    ] = None,
    limit: RowsOption = 0,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint", help="Ask a model about all criteria of a scope in one call, as runs and monitors with joint judging do."
        ),
    ] = False,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    allow_variable: AllowVariableOption = None,
) -> ExamWishes:
    return ExamWishes(
        judges=tuple(judge or ()),
        languages=tuple(lang or ()),
        criteria=criteria,
        floors=floors,
        passes=passes,
        limit=limit,
        joint=joint,
        concurrency=concurrency,
        timeout=timeout,
        allowed_variables=tuple(allow_variable or ()),
    )


def qualify(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A bundled suite, or a folder with config.yml and gold.jsonl.")],
    *,
    wishes: Annotated[ExamWishes, made_by(_exam_wishes)],
    canary: Annotated[
        bool,
        typer.Option(
            "--canary", help="Ask about a few rows of the exam again, and tell whether the judge's scores moved since (exit 1)."
        ),
    ] = False,
    plan: PlanOption = False,
    form: FormOption = "text",
    places: PlacesOptions,
    yes: YesOption = False,
) -> None:
    """Examine judges on a suite's gold set, and store which are qualified on which criteria.

    The same command resumes an interrupted exam or round: the ledger keeps every call.
    """
    one_of("--format", form, FORMATS)
    if suite == GATE_SUITE:
        raise UserError("the judge of the gate is that of rag.grey_band in areopage.yml: examine it with areopage gate qualify")
    asks_own_rows = wishes.criteria is not None or wishes.floors or wishes.languages or wishes.passes is not None or wishes.limit
    if canary and asks_own_rows:
        raise UserError(
            "--canary asks the rows of exam.canary of the suite: leave out --criteria, --floors, --lang, --passes and --limit"
        )
    with suppress(UnknownRun), opened_ledger(places):
        pass  # a ledger that cannot be used is refused before a model is asked
    loaded = load_suite(suite).with_shared(configured(places).shared)
    prepared = prepare_exam(loaded, wishes).agreed(None if yes else ask_to_send)
    if canary:
        raise typer.Exit(canary_rounds(loaded, prepared, places, form, plan=plan, yes=yes))
    exams: tuple[Exam, ...] = (prepared.checked(),)
    with suppress(UnknownRun), opened_ledger(places) as opened:  # the first exam makes the ledger
        exams = exams_after_drift(exams[0], opened)
    for exam in exams:
        print_plan(exam)
    if plan:
        return
    confirm([exam.parts[0].asking for exam in exams], yes=yes)
    raise typer.Exit(carry_out(exams, opened_ledger(places, create=True), form))


def print_plan(exam: Exam) -> None:
    """Print what an exam asks, of whom, and its size."""
    size = exam.size
    languages = ", ".join(f"{len(part.rows)} in {part.language}" for part in exam.parts)
    rows = counted(sum(len(part.rows) for part in exam.parts), "gold row")
    criteria = counted(len({criterion.id for part in exam.parts for criterion in part.panel.criteria}), "criterion", "criteria")
    tell(f"exam on suite {exam.suite}: {rows} ({languages}), {criteria}")
    for judge in exam.judges:
        unfit = f" - NOT FIT TO JUDGE: {judge.unfit}" if judge.unfit else ""
        passes = counted(judge.passes, "pass", "passes")
        tell(f"  {judge.name} ({judge.reference}): {counted(size.by_judge[judge.name], 'call')}, {passes}{unfit}")
    for line in exam.parts[0].asking.contacts:
        tell(line)
    if exam.parts[0].panel.salt:
        tell("note: the scores moved since the last exam: all rows are asked about anew")
    if not exam.whole:
        tell("note: this is a part of the gold set: the result gives no standing")
    amount = told_size(size.prompt_tokens, size.completion_tokens, size.costs)
    tell(f"plan: at most {counted(size.calls, 'call')}, {amount}")


def carry_out(exams: Sequence[Exam], opened: AbstractContextManager[Ledger], form: str) -> int:
    """Run the exams and print what they show; returns the exit code."""
    results: list[ExamResult] = []
    with opened as ledger, resumed_by_the_same_command():
        for exam in exams:
            with asking_display(exam.parts[0].asking) as display:
                results.append(run_exam(exam, ledger, display))
    if open_calls := sum(result.open_calls for result in results):
        tell(f"{counted(open_calls, 'call')} brought no answer: nothing is decided; the same command tries them again")
        return INCONCLUSIVE
    qualifications = [qualification for result in results for qualification in result.qualifications]
    if form == "json":
        typer.echo(msgspec.json.format(msgspec.json.encode(qualifications)).decode())
    else:
        for exam, result in zip(exams, results, strict=True):
            _print_result(exam, result)
    return FAILED if any(qualification.state == "not_qualified" for qualification in qualifications) else DONE


def _print_result(exam: Exam, result: ExamResult) -> None:
    locale = report_locale("en")
    printer = Printer(locale)

    def row(qualification: Qualification) -> tuple[str, ...]:
        result, apart = qualification.result, qualification.result.separation
        interval = f" [{_number(apart.low)}, {_number(apart.high)}]" if apart.value is not None else ""
        figures = (result.error, result.bias, result.kappa, result.parsed, result.consistency, result.sensitivity)
        counts = f"{result.rows} ({result.low_rows} low, {result.high_rows} high)"
        separation = f"{_number(apart.value)}{interval}"
        return (
            qualification.path,
            qualification.state.replace("_", " "),
            counts,
            separation,
            *(_number(figure.value) for figure in figures),
        )

    for judge in exam.judges:
        qualifications = [qualification for qualification in result.qualifications if qualification.judge == judge.name]
        passed = sum(qualification.state == "qualified" for qualification in qualifications)
        standing = "judges no criterion of the gold set"
        if qualifications:
            standing = f"qualified on {passed} of {counted(len(qualifications), 'criterion', 'criteria')}"
        printer.say(f"{judge.name} ({judge.reference}): {standing}", "bold")
        if not qualifications:
            continue
        printer.table(Table(columns=columns(*HEADINGS, first="criterion", texts=(1, 2)), rows=rows(map(row, qualifications))))
        for qualification in qualifications:
            if qualification.result.missed:
                why = "; ".join(mark_text(locale, mark) for mark in qualification.result.missed)
                printer.say(f"  not qualified: {qualification.path}: {why}")
    if result.qualifications:
        printer.say(f"exam {result.exam}, gold set {exam.gold[:12]}, template {result.qualifications[0].template}")


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"
