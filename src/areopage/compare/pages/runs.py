"""The page that compares two runs, or a run with production: the same report as `areopage bench compare` writes."""

from collections.abc import Sequence
from pathlib import Path

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from areopage.bench import DifferentPanels, RunSpec, view_run
from areopage.compare.report.page import comparison_report
from areopage.compare.report.production import production_report
from areopage.compare.report.text import differing_part_text
from areopage.compare.runs.compare import compare_runs
from areopage.compare.runs.production import compare_production
from areopage.compare.runs.production_answers import WantedAnswers
from areopage.errors import StorageError, UserError
from areopage.ledger import Run
from areopage.locales import Locale
from areopage.report import Report
from areopage.server import (
    OF_PERIODS,
    REPORT_STYLES,
    Actor,
    ChosenPeriod,
    Ignored,
    Reader,
    ServerPart,
    command_here,
    context_of,
    ignore_unknown,
    language,
    note_shown,
    period_of,
    render,
    run_choices,
    run_url,
    visible_run,
)

PRODUCTION = "production"
"""Stands for production in place of a run; no run has this id."""

DEFAULT_PERIOD = "30"
MOST_ANSWERS = 20_000
"""More answers of production are compared on the command line, which may take its time."""

router = APIRouter(include_in_schema=False)
PART = ServerPart(router, folder=Path(__file__).parent)


class ComparisonAsked(ChosenPeriod, frozen=True, kw_only=True):
    """What an address asks for.

    Args:
        first: what is compared with: a run's id, or `PRODUCTION`; "" where nothing is chosen.
        other: the id of the run that is compared; "" where none is chosen.
        source: of production's answers; None: any.
        anyway: compare although the panels differ.
    """

    first: str
    other: str
    source: str | None
    anyway: bool

    def parts(self) -> dict[str, str | None]:
        """The parts of the address beside the period."""
        return {"a": self.first, "b": self.other, "source": self.source, "anyway": "1" if self.anyway else None}


class NotComparable(Struct, frozen=True, kw_only=True):
    """Why two sides are not compared.

    Args:
        text: one line.
        differs: the parts in which the panels differ; the comparison may then be asked for anyway.
    """

    text: str
    differs: tuple[str, ...] = ()


@router.get("/compare")
def show_comparison(request: Request, reader: Reader) -> Response:
    """The choice of two sides, and where both are chosen their comparison, or why there is none."""
    context, locale = context_of(request), language(request)
    asked = _asked(request, reader)
    runs = [visible_run(context, reader, id) for id in (asked.first, asked.other) if id not in ("", PRODUCTION)]
    if None in runs:
        return render(request, "missing.html.j2", 404)
    chosen = [run for run in runs if run is not None]
    report: Report | None = None
    is_same = bool(asked.first) and asked.first == asked.other
    refused = NotComparable(text=locale.say("compare_same")) if is_same else None
    if refused is None and asked.first and asked.other:
        made = _compared(request, reader, asked, chosen, locale)
        report, refused = (made, None) if isinstance(made, Report) else (None, made)
    listed = [] if reader.collections else context.ledger.runs()
    return render(
        request,
        "compare.html.j2",
        422 if refused else 200,
        asked=asked,
        choices=run_choices([*(run for run in chosen if run.id not in {listed_run.id for listed_run in listed}), *listed]),
        production=PRODUCTION,
        sources=[] if reader.collections else context.ledger.lists.sources(),
        report=report,
        refused=refused,
        report_styles=REPORT_STYLES,
        command=_command(request, asked),
    )


def _asked(request: Request, reader: Actor) -> ComparisonAsked:
    query, ignored = request.query_params, list[Ignored]()
    ignore_unknown(query, (*OF_PERIODS, "a", "b", "source", "anyway"), ignored)
    name, period = period_of(query, context_of(request).now().date(), DEFAULT_PERIOD, ignored, may_be_all=False)
    first, other = query.get("a", ""), query.get("b", "")
    if other == PRODUCTION:
        first, other = other, first
    source = query.get("source") or None
    return ComparisonAsked(
        name=name,
        period=period,
        first=first,
        other=other,
        source=reader.in_scope(source, "source") if PRODUCTION in (first, other) else source,
        anyway=query.get("anyway") == "1",
        ignored=tuple(ignored),
    )


def _compared(
    request: Request, reader: Actor, asked: ComparisonAsked, runs: Sequence[Run], locale: Locale
) -> Report | NotComparable:
    try:
        if asked.first == PRODUCTION:
            assert asked.period is not None  # noqa: S101 - only lists may be of all days
            ledger, run = context_of(request).ledger, runs[0]
            wanted = WantedAnswers(period=asked.period, suite=RunSpec.of(run).suite, source=asked.source, most=MOST_ANSWERS)
            comparison = compare_production(ledger, run, wanted, anyway=asked.anyway)
            return production_report(comparison, locale.code, link=run_url(run.id))
        return _side_by_side(request, reader, asked, runs, locale)
    except StorageError:
        raise
    except DifferentPanels as fault:
        return NotComparable(
            text=locale.say("compare_differs"),
            differs=tuple(differing_part_text(difference, locale) for difference in fault.differs),
        )
    except UserError as fault:
        return NotComparable(text=str(fault))


def _side_by_side(request: Request, reader: Actor, asked: ComparisonAsked, runs: Sequence[Run], locale: Locale) -> Report:
    """The comparison of two runs; it shows texts of answers, which the audit log notes."""
    context = context_of(request)
    comparison = compare_runs(context.ledger, runs, anyway=asked.anyway)
    views = [view_run(run, context.ledger) for run in runs]
    ids = [id for view in views for id in view.answer_ids.values()]
    changed = {case.case.id for other in comparison.others for case in other.changed}
    scored = [id for view in views for case, id in view.answer_ids.items() if case in changed]
    note_shown(request, context.ledger, reader, f"the comparison of the runs {runs[0].id} and {runs[1].id}", ids, scored=scored)
    return comparison_report(comparison, {run.id: run_url(run.id) for run in runs}, locale.code, more=_command(request, asked))


def _command(request: Request, asked: ComparisonAsked) -> str:
    anyway = ("--anyway",) if asked.anyway else ()
    if asked.first != PRODUCTION:
        return command_here(request, "bench", "compare", asked.first, asked.other, *anyway)
    days = ("--since", str(asked.period.start), "--until", str(asked.period.last)) if asked.period else ()
    source = () if asked.source is None else ("--source", asked.source)
    return command_here(request, "bench", "compare", asked.other, "--production", *days, *source, *anyway)
