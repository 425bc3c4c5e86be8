"""The files of a run: results.json, its tables and its pages, and every single judgment for `bench export`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from areopage.bench.figures.case_index import CASES
from areopage.bench.report.cases import cases_page
from areopage.bench.report.page import bench_report, write_summary
from areopage.bench.report.records import SCHEMA_NAME, stored_figures
from areopage.bench.report.run_results import record_results, run_criteria, run_result
from areopage.bench.results.pass_views import PassView, all_pass_views
from areopage.bench.results.run_view import RunView
from areopage.bench.trust.page import TRUST, trust_page
from areopage.cases import write_rejected
from areopage.extensions import imported, registered
from areopage.ledger import Answer, Judgment, make_folder
from areopage.report import TableColumn, TableForm, Written, replacing, write_report, write_rows, write_table
from areopage.scoring import Given, NotApplicable, Refused, Scored, Unparsed

RESULTS, TABLE, CRITERIA, REJECTED = "results.json", "results.csv", "criteria.csv", "rejected.csv"
REPORT = "report.html"

RESULT_COLUMNS = (
    *("case_id", "category", "subcategory", "maturity", "criterion", "score", "applies", "agreement", "scored"),
    *("not_applicable", "planned", "outliers", "by_rule", "answer_state"),
)
CRITERIA_COLUMNS = (
    *("criterion", "category", "subcategory", "label", "score", "score_low", "score_high"),
    *("final_share", "cases_scored", "cases", "limit", "failed", "failed_share_high"),
    *("alpha", "alpha_low", "alpha_high", "ac2", "ac2_low", "ac2_high", "exact_agreement"),
    *("unanimous_failures", "disputed_failures", "positive_agreement", "scored_twice"),
)
JUDGMENT_COLUMNS = (
    *map(TableColumn, ("case_id", "criterion", "judge", "model")),
    *(TableColumn("pass_index", "whole"), TableColumn("outcome"), TableColumn("score", "number")),
    *map(TableColumn, ("reason", "explanation")),
    *map(TableColumn, ("evidence_extracts", "raw_response", "repair_response", "repair", "steps", "finish_reason")),
    *(TableColumn("prompt_tokens", "whole"), TableColumn("completion_tokens", "whole"), TableColumn("seconds", "number")),
    *(TableColumn("created_at", "moment"), TableColumn("turn", "whole")),
)


def write_run_files(view: RunView, folder: Path) -> list[Path]:
    """Write results.json, its tables, report.html, cases.html and trust.html; each file is replaced whole or not at all.

    Args:
        folder: created where it does not exist.

    Returns:
        The files, in this order.

    Raises:
        StorageError: the folder or a file cannot be written.
    """
    write_criteria_file(view, folder)
    write_results(view, folder / RESULTS)
    write_results_csv(view, folder / TABLE)
    with replacing(folder / REJECTED) as place:
        write_rejected(view.rejected, place)
    write_pages(view, folder)
    return [folder / name for name in (RESULTS, TABLE, CRITERIA, REJECTED, REPORT, CASES, TRUST)]


def write_pages(view: RunView, folder: Path) -> list[Path]:
    """Write the pages alone, which hold the texts of the cases that they show: report.html, cases.html and trust.html.

    Args:
        folder: created where it does not exist.

    Raises:
        StorageError: the folder or a file cannot be written.
    """
    make_folder(folder)
    write_report(cases_page(view, REPORT), "html", folder / CASES)
    write_report(bench_report(view), "html", folder / REPORT)
    write_report(trust_page(view, view.trust, REPORT), "html", folder / TRUST)
    return [folder / name for name in (REPORT, CASES, TRUST)]


def write_criteria_file(view: RunView, folder: Path) -> Path:
    """Write criteria.csv, the scores of the criteria with their intervals; there are no texts in it.

    Args:
        folder: created where it does not exist.

    Raises:
        StorageError: the folder or the file cannot be written.
    """
    make_folder(folder)
    write_table(folder / CRITERIA, CRITERIA_COLUMNS, _criterion_rows(view))
    return folder / CRITERIA


def write_results(view: RunView, path: Path) -> None:
    """Write `results.json`, record by record, one to a line."""
    encode = msgspec.json.encode
    with replacing(path) as place, place.open("wb") as stream:
        stream.write(b'{"schema":' + encode(SCHEMA_NAME))
        for figure in stored_figures("results"):
            stream.write(b",\n" + encode(figure.id) + b":" + encode(figure.of(view)))
        stream.write(b',\n"run":' + encode(run_result(view)) + b',\n"records":[')
        before = b"\n"
        for record in record_results(view):
            stream.write(before + encode(record))
            before = b",\n"
        stream.write(b"\n]}\n")


def write_results_csv(view: RunView, path: Path) -> None:
    """Write `results.csv`: a row per case and criterion, then a column per judge, the prompt and the response.

    Category, sub-category and maturity are the case's own. A score that does not exist is an empty cell; `applies` is false where
    the criterion does not apply to the case, `by_rule` is true where a rule says so.
    """
    judges = [judge.name for judge in view.spec.judges]
    header = [*RESULT_COLUMNS, *(f"judge:{name}" for name in judges), "prompt", "response"]
    write_table(path, header, _result_rows(view, judges))


def _result_rows(view: RunView, judges: Sequence[str]) -> Iterator[list[Any]]:
    cases = {case.id: case for case in view.cases}
    for case_id, scores in groupby(view.scores.criteria, key=attrgetter("case_id")):
        case = cases[case_id]
        state, prompt = view.response_state(case), case.prompt_text
        for score in scores:
            by_judge = {judge.judge: judge.score for judge in score.judges}
            yield [
                *(case.id, case.category, case.subcategory, case.maturity, score.criterion, score.score),
                *("true" if score.applies else "false", score.agreement, score.scored, score.not_applicable, score.planned),
                *(", ".join(score.outliers), "true" if score.by_rule else "false", state),
                *(by_judge.get(name) for name in judges),
                *(prompt, case.response),
            ]


def _criterion_rows(view: RunView) -> Iterator[list[Any]]:
    by_id = view.spec.criteria_by_id()
    for id, result in run_criteria(view).items():
        criterion, failures, agreement = by_id[id], view.failures.by_criterion[id], result.failure_agreement
        interval, alpha, ac2 = result.interval, result.krippendorff_alpha, result.gwet_ac2
        yield [
            *(id, criterion.category, criterion.subcategory, criterion.title),
            *(result.score, interval and interval.low, interval and interval.high),
            *(result.final_share, result.cases_scored, result.cases, failures.limit, failures.failed, failures.high),
            *(alpha.alpha, alpha.low, alpha.high, ac2.ac2, ac2.low, ac2.high, result.exact_agreement),
            *(agreement.unanimous, agreement.disputed, agreement.positive, ac2.units),
        ]


def write_judgments(view: RunView, path: Path, form: TableForm) -> Written:
    """Write a row for each planned pass, raw texts included; `score` is on the run's scale.

    Raises:
        StorageError: the file cannot be written.
        MissingExtra: Parquet without pyarrow, XLSX without XlsxWriter.
    """
    return write_rows(path, form, JUDGMENT_COLUMNS, (_judgment_row(pass_view) for pass_view in all_pass_views(view)))


def _judgment_row(pass_view: PassView) -> list[Any]:
    verdict, judgment = pass_view.verdict, pass_view.judgment
    extracts = msgspec.json.encode(verdict.evidence).decode() if verdict and verdict.evidence else ""
    return [
        *(pass_view.case_id, pass_view.criterion, pass_view.judge, judgment.model if judgment else "", pass_view.pass_index),
        *(pass_view.outcome_name, pass_view.score, pass_view.reason, pass_view.explanation, extracts),
        *(getattr(judgment, name, None) for name in ("raw_text", "repair_text", "repair")),
        *(", ".join(judgment.steps) if judgment else None, *_use_of(judgment).values()),
        *(judgment.created_at if judgment else None, pass_view.turn),
    ]


def _use_of(record: Answer | Judgment | None) -> dict[str, Any]:
    names = ("finish_reason", "prompt_tokens", "completion_tokens", "seconds")
    return {name: getattr(record, name, None) for name in names}


def write_judgments_jsonl(view: RunView, path: Path) -> int:
    """Write a recording that `replay:PATH` answers from: the target's answers, then every pass that can be replayed.

    Each line names the model; where that is unfit to judge, also the reason. `text` is what the verdict was read from: the answer
    to the repair call where there was one. A judge that is code has no text: its score is recorded.
    """
    lines = 0
    with replacing(path) as place, place.open("wb") as stream:
        for line in _recorded_lines(view):
            stream.write(msgspec.json.encode(line) + b"\n")
            lines += 1
    return lines


def _recorded_lines(view: RunView) -> Iterator[dict[str, Any]]:
    target = str(view.spec.target.reference) if view.spec.target else ""
    judges = {judge.name: judge for judge in view.spec.judges}
    for case_id, answer in view.answers.items():
        if answer.state == "answered":
            turns = answer.case.turns
            for place, turn in enumerate(turns):
                if turn.role == "assistant" and answer.session:
                    so_far = msgspec.structs.replace(answer.case, prompt=turns[:place] if place > 1 else turns[0].content)
                    yield {
                        "case_id": case_id,
                        "prompt": so_far.prompt_text,
                        "asked": "target",
                        "model": target,
                        "text": turn.content,
                    }
            yield {
                "case_id": case_id,
                **({"prompt": answer.case.prompt_text} if answer.session else {}),
                "asked": "target",
                "criterion": "",
                "pass_index": 1,
                "model": target,
                "text": answer.case.response or "",
                **_use_of(answer),
            }
    cases, criteria = {case.id: case for case in view.cases}, view.spec.criteria_by_id()
    for pass_view in all_pass_views(view):
        judgment = pass_view.judgment
        if judgment is not None and _can_be_replayed(pass_view, judgment):
            recorded = judges[pass_view.judge]
            origin = {"model": recorded.recorded_model or judgment.model}
            judged = cases[pass_view.case_id]
            talk = {} if criteria[pass_view.criterion].scope == "response" else {"prompt": judged.prompt_text}
            yield {
                "case_id": pass_view.case_id,
                **(talk | ({} if judged.response is None else {"response": judged.response})),
                "asked": pass_view.judge,
                "criterion": pass_view.criterion,
                "pass_index": pass_view.pass_index,
                **({"turn": pass_view.turn} if pass_view.turn else {}),
                **(origin | {"unfit": recorded.unfit} if recorded.unfit else origin),
                **_recorded_answer(pass_view, judgment),
                **_use_of(judgment),
            }


def _recorded_answer(pass_view: PassView, judgment: Judgment) -> dict[str, Any]:
    """The judge's text, or the score of a judge that wrote none."""
    text = judgment.repair_text or judgment.raw_text
    if isinstance(pass_view.outcome, Scored) and not text:
        scored = pass_view.outcome
        return {"score": scored.score, "explanation": scored.explanation, "evidence_extracts": scored.evidence}
    if isinstance(pass_view.outcome, NotApplicable) and not text:
        return {"applicable": False, "explanation": pass_view.outcome.explanation}
    return {"text": text}


def _can_be_replayed(pass_view: PassView, judgment: Judgment) -> bool:
    """Whether a line can lead to the same outcome again: a judge said something, and had been shown the whole prompt.

    What is left out is declined by the replay, so that it never turns into a score.
    """
    if "prompt_cut" in judgment.steps:
        return False
    if isinstance(pass_view.outcome, Refused):
        return bool(judgment.raw_text or judgment.repair_text) or judgment.finish_reason not in ("", "stop")
    return isinstance(pass_view.outcome, Given | Unparsed)


class ExportOptions(NamedTuple):
    """What some formats need to know: the language of texts for people ("": the run's), and the licence of the texts."""

    language: str = ""
    licence: str = ""


ExportWriter = Callable[[RunView, Path, ExportOptions], Written]


class Export(NamedTuple):
    """A format: the name that its file or folder has in the run's folder, and what writes it.

    Args:
        licensed: what it writes is meant to be published, and needs a licence.
        history: it compares the run with earlier ones, which the view must hold.
    """

    name: str
    write: ExportWriter
    licensed: bool = False
    history: bool = False


def _judgments_as(form: TableForm) -> Export:
    return Export(f"judgments.{form}", lambda view, path, options: write_judgments(view, path, form))


def for_people(name: str, write: Callable[[RunView, Path, str], None], *, history: bool = False) -> Export:
    """A format with texts in a language."""

    def written(view: RunView, path: Path, options: ExportOptions) -> Written:
        write(view, path, options.language)
        return Written(0)

    return Export(name, written, history=history)


_EXPORTS: Mapping[str, Export] = {
    "csv": _judgments_as("csv"),
    "xlsx": _judgments_as("xlsx"),
    "parquet": _judgments_as("parquet"),
    "jsonl": Export("judgments.jsonl", lambda view, path, options: Written(write_judgments_jsonl(view, path))),
    "markdown": for_people("summary.md", write_summary, history=True),
}


def exports() -> dict[str, Export]:
    """The formats by name: those of the core, then those that extensions register."""
    return {**_EXPORTS, **{name: imported(place) for name, place in registered("exports").items()}}
