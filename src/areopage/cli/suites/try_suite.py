"""`areopage suites try`: run a suite on a few rows and show what each judge says; nothing is stored."""

from collections.abc import Iterator
from typing import Annotated

import typer
from msgspec.structs import replace

from areopage.bench import RunOptions, RunView, pass_views
from areopage.cases import Case
from areopage.cli.bench.run import try_run
from areopage.cli.exit_codes import DONE, INCONCLUSIVE, INTERRUPTED
from areopage.cli.options import ConfigOption, tell
from areopage.cli.run_options import YesOption, run_options
from areopage.cli.suites.commands import SuiteArgument
from areopage.errors import ServerDown, counted, name_list
from areopage.scoring import CriterionScore, Given, RecordScores
from areopage.text import visible

_LONGEST = 2_000  # characters of a text that is shown
ROWS = 3


_OPTIONS = ("judges", "target", "datasets", "answers", "criteria", "language", "timeout", "allowed_variables")


def try_suite(
    suite: SuiteArgument,
    rows: Annotated[int, typer.Option("--rows", min=1, max=100, help="Number of cases: the first usable ones.")] = ROWS,
    passes: Annotated[int, typer.Option(min=1, max=100, help="How often each judge is asked about a case.")] = 1,
    *,
    options: Annotated[RunOptions, run_options(RunOptions, *_OPTIONS)],
    config: ConfigOption = None,
    yes: YesOption = False,
) -> None:
    """Run a suite on a few rows and show what each judge says; nothing is stored."""
    try:
        view = try_run(suite, replace(options, passes=passes, limit=rows), config, yes=yes)
    except KeyboardInterrupt:
        tell("\nstopped; nothing is kept")
        raise typer.Exit(INTERRUPTED) from None
    except ServerDown as fault:
        tell(f"areopage: {' '.join(str(fault).split())}; nothing is kept")
        raise typer.Exit(INCONCLUSIVE) from None
    for line in tried_lines(view):
        typer.echo(line)
    raise typer.Exit(INCONCLUSIVE if _wanting(view) else DONE)


def tried_lines(view: RunView) -> Iterator[str]:
    """Each case with its answer and what every judge says of it on each criterion."""
    records = {record.case_id: record for record in view.scores.records}
    for case in view.cases:
        yield from _case_lines(view, case, records.get(case.id))
        yield ""
    for row in view.rejected:
        yield f"not used: {visible(row.file)}, row {row.row}: {visible(row.reason)}"
    wanting = _wanting(view)
    judged = sum(score.planned for score in view.scores.criteria)
    ruled_out = sum(score.by_rule for score in view.scores.criteria)
    left_out = f"; {counted(ruled_out, 'pair')} of case and criterion left out by rule" if ruled_out else ""
    used = f"{judged - wanting} of {counted(judged, 'judgment')} can be used{left_out}"
    yield f"{counted(len(view.cases), 'case')}: {used}. Nothing is stored."


def _wanting(view: RunView) -> int:
    """How many planned judgments brought no verdict."""
    passes = (verdict for score in view.scores.criteria for verdict in pass_views(view, score))
    return sum(not isinstance(verdict.outcome, Given) for verdict in passes)


def _case_lines(view: RunView, case: Case, record: RecordScores | None) -> Iterator[str]:
    facts = [fact for fact in (case.maturity, case.category, case.subcategory, *case.tags) if fact]
    yield f"=== {visible(case.id)}{f' ({name_list(map(visible, facts))})' if facts else ''}"
    yield from _text("prompt", case.prompt_text)
    if case.response is None:
        answer = view.answers.get(case.id)
        yield f"  response: none, {view.answer_state(case.id).replace('_', ' ')}{_reason(answer.reason if answer else '')}"
        return
    yield from _text("response", case.response)
    for score in record.criteria if record else ():
        yield from _criterion_lines(view, score)


def _criterion_lines(view: RunView, score: CriterionScore) -> Iterator[str]:
    if score.by_rule:
        yield f"  {score.criterion}: not applicable by its rule (applies_to, scope), no judge is asked"
        return
    limit = view.failures.by_criterion[score.criterion].limit
    shown = "not applicable" if not score.applies else "no score" if score.score is None else f"{score.score:.2f}"
    failed = score.criterion in view.failures.by_case.get(score.case_id, ())
    yield f"  {score.criterion}: {shown}{f', a failure (limit {limit:g})' if failed else ''}"
    for verdict in pass_views(view, score):
        outcome = "not asked" if verdict.outcome is None else verdict.outcome_name.replace("_", " ")
        number = f" {verdict.score:.2f}" if verdict.score is not None else ""
        why = _reason(verdict.reason or verdict.explanation)
        yield f"    {visible(verdict.judge)}, pass {verdict.pass_index}: {outcome}{number}{why}"
        reply = verdict.judgment.raw_text if verdict.judgment is not None else ""
        if reply and verdict.outcome is not None and not isinstance(verdict.outcome, Given):
            yield from _text("  the judge's reply", reply)


def _reason(text: str) -> str:
    return f" – {visible(' '.join(text.split()))[:_LONGEST]}" if text.strip() else ""


def _text(name: str, text: str) -> Iterator[str]:
    lines = text[:_LONGEST].splitlines() or [""]
    yield f"  {name}: {visible(lines[0])}"
    yield from (f"    {visible(line)}" for line in lines[1:])
    if len(text) > _LONGEST:
        yield f"    … {len(text) - _LONGEST:,} more characters"
