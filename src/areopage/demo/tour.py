"""The steps of the demonstration, each by the functions that the commands call: two runs, their comparison, a day, the gate."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from areopage.app import AppConfig, load_config, open_gate, open_ledger, open_quality_judge
from areopage.bench import REPORT, RunOptions, RunView, run_benchmark, write_run_files
from areopage.cases import Case, load_dataset
from areopage.demo.material import VERDICTS, DemoFiles, answers_of, lay_out
from areopage.errors import AreopageError
from areopage.extensions import imported, registered
from areopage.gate import Decision
from areopage.ledger import Ledger, last_days
from areopage.monitor import Intake, MonitorWorker, submissions_of
from areopage.report import Line, QualityFigures, period_figures, quality_report, write_report

RUNS, COMPARISON, QUALITY = "runs", "comparison", "quality-report.html"
PATIENCE = 60.0
"""Seconds after which the day's answers should have been judged; they take about two."""
_LOOK_EVERY = 0.1


class HeldAnswer(Struct, frozen=True, kw_only=True):
    """An answer of the day that the gate does not deliver."""

    case: Case
    decision: Decision


class TourComparison(Struct, frozen=True, kw_only=True):
    """The second run beside the first one."""

    outcome: str
    findings: tuple[Line, ...]
    page: Path


class Tour(Struct, frozen=True, kw_only=True):
    """What the demonstration made; the paths are of pages.

    Args:
        examined: the judges took exams; False without the extension that examines judges.
        comparison: None without the extension that compares runs.
        held_answers: the answers of the day that the gate holds, the one with the planted error first.
        checked: how many it decided on.
    """

    places: DemoFiles
    language: str
    runs: tuple[RunView, ...]
    reports: tuple[Path, ...]
    examined: bool
    comparison: TourComparison | None
    held_answers: tuple[HeldAnswer, ...]
    checked: int
    day: QualityFigures
    day_page: Path
    seconds: float


def play(folder: Path, language: str, tell: Callable[[str], None]) -> Tour:
    """Lay the demonstration out in a new folder and carry it out.

    Args:
        tell: is told the name of each step as it begins: `runs`, `comparison`, `gate`, `day`.

    Raises:
        StorageError: the folder is not empty, or cannot be written.
    """
    began, now = time.monotonic(), datetime.now(UTC)
    places = lay_out(folder, language, now)
    config = load_config(places.config)
    with open_ledger(config, create=True) as ledger:
        tell("runs")
        if examiner := registered("tour").get("exam"):
            criteria = ",".join(dict.fromkeys(case.criterion for case in places.material.cases))
            imported(examiner)(ledger, places.suite, _recorded(places), criteria)
        runs = tuple(_run(places, target, language, ledger) for target in places.material.targets)
        reports = tuple(folder / RUNS / view.run.id / REPORT for view in runs)
        for view, report in zip(runs, reports, strict=True):
            write_run_files(view, report.parent)
        tell("comparison")
        comparison: TourComparison | None = None
        if place := registered("tour").get("comparison"):
            pages = {view.run.id: report for view, report in zip(runs, reports, strict=True)}
            comparison = imported(place)(ledger, runs, folder / COMPARISON, pages, language)
        tell("gate")
        day = load_dataset([places.day], default_maturity="").cases
        gate, planted = open_gate(config), str(places.material.day.answer["id"])
        decided = [
            HeldAnswer(case=case, decision=gate.decide(case.prompt_text, case.response or "", case.documents)) for case in day
        ]
        held_answers = [checked for checked in decided if checked.decision.verdict != "deliver"]
        tell("day")
        figures = _judge_day(config, places, ledger, language, now)
        write_report(quality_report(figures), "html", folder / QUALITY)
    return Tour(
        places=places,
        language=language,
        runs=runs,
        reports=reports,
        examined=bool(examiner),
        comparison=comparison,
        held_answers=tuple(sorted(held_answers, key=lambda answer: answer.case.id != planted)),
        checked=len(day),
        day=figures,
        day_page=folder / QUALITY,
        seconds=time.monotonic() - began,
    )


def _recorded(places: DemoFiles) -> tuple[str, ...]:
    return tuple(f"{judge}=replay:{places.suite / VERDICTS}" for judge in places.material.judges)


def _run(places: DemoFiles, target: str, language: str, ledger: Ledger) -> RunView:
    """A run of one target: its recorded answers, the recorded judges, and readability measured by rules in code."""
    options = RunOptions(
        datasets=(places.prompts,),
        target=f"replay:{places.suite / answers_of(target)}",
        judges=(*_recorded(places), "readability"),
        language=language,
        passes=1,
    )
    return run_benchmark(str(places.suite), options, ledger=ledger, out=places.folder / RUNS)


def _judge_day(config: AppConfig, places: DemoFiles, ledger: Ledger, language: str, now: datetime) -> QualityFigures:
    answers = submissions_of(load_dataset([places.day], default_maturity=""), source="", variant="", language=language)
    Intake(ledger).submit(answers.submissions)
    worker = MonitorWorker(ledger, config.monitor, open_quality_judge(config.monitor))
    worker.start()
    try:
        give_up = time.monotonic() + PATIENCE
        while worker.progress().left and worker.alive:
            if time.monotonic() > give_up:
                raise AreopageError(f"the answers of the day were not judged within {PATIENCE:g} s")
            time.sleep(_LOOK_EVERY)
    finally:
        worker.stop()
    return period_figures(ledger, config.monitor, last_days(1, now.date()), now=datetime.now(UTC), language=language)
