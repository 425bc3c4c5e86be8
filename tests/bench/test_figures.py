"""A figure of a run is one object: what it says appears in the report and in `results.json` without another line."""

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from areopage.app.schemas import schema_text
from areopage.bench.figures import registry
from areopage.bench.figures.figure import Fact, Figure, Page
from areopage.bench.figures.registry import FIGURES, all_figures
from areopage.bench.report.files import write_results
from areopage.bench.report.page import bench_report
from areopage.bench.report.records import metadata_type, results_type
from areopage.bench.results.run_data import RunData
from areopage.report import Notice, Paragraph, Section
from report.report_runs import view_of


def _longest(run: RunData) -> int:
    """The characters of the longest answer."""
    return max((len(case.response or "") for case in run.cases), default=0)


def _told(run: RunData, page: Page) -> str:
    return f"The longest answer has {page.locale.whole(LONGEST.of(run))} characters."


def _notices(run: RunData, page: Page) -> Iterator[Notice]:
    yield Notice(title=_told(run, page), blocks=())


def _facts(run: RunData, page: Page) -> Iterator[Fact]:
    yield "Longest answer", page.locale.whole(LONGEST.of(run))


def _section(run: RunData, page: Page) -> Section:
    return Section(id="longest", title="Longest answer", blocks=(Paragraph(text=_told(run, page)),))


LONGEST: Figure[int] = Figure(
    id="longest_answer", compute=_longest, stored="metadata", notices=_notices, facts=_facts, section=_section
)


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As an extension registers it."""
    monkeypatch.setattr(registry, "registered", lambda kind: {"longest_answer": f"{__name__}:LONGEST"})
    caches = (all_figures, metadata_type, results_type)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("_registered")
def test_a_registered_figure_is_in_the_report_the_results_file_and_its_schema(tmp_path: Path) -> None:
    view = view_of(tmp_path)
    report = bench_report(view)
    assert "The longest answer has 23 characters." in [notice.title for notice in report.notices]
    assert report.headline is not None
    assert ("Longest answer", "23") in report.headline.facts
    assert report.sections[-1].title == "Longest answer"
    write_results(view, tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["run"]["metadata"]["longest_answer"] == 23
    schema = json.loads(schema_text("results"))
    jsonschema.validate(results, schema)
    assert "longest_answer: The characters of the longest answer." in schema["$defs"]["RunMetadata"]["description"]


def test_figures_have_names_of_their_own_and_say_what_results_json_keeps() -> None:
    ids = [figure.id for figure in FIGURES]
    assert sorted(ids) == sorted(set(ids))
    assert [figure.id for figure in FIGURES if figure.stored and not figure.about] == []


def test_a_figure_is_computed_once_for_a_run(tmp_path: Path) -> None:
    numbers = iter(range(1, 9))
    figure: Figure[int] = Figure(id="counted", compute=lambda run: next(numbers))
    view = view_of(tmp_path)
    assert (figure.of(view), figure.of(view)) == (1, 1)
