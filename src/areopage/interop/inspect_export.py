"""A run as an `.eval` log of Inspect: a sample per case, a score per criterion, the judges' votes as the scores' metadata.

The log is written case by case. A criterion's score is on the run's scale; NaN with a reason where there is none. The run's own
final score is the score `areopage`. A call to a judge that brought no verdict is an error event of the sample; an answer that the
target did not give is the sample's error.
"""

import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from areopage.bench import CriterionDetail, Export, RecordResult, RunResult, RunView, record_results, run_result
from areopage.cases import Case
from areopage.digest import digest_of
from areopage.report import Written, replacing
from areopage.scoring import FAILED_NAMES
from areopage.version import __version__

VERSION = 2
"""Of the log format."""

FINAL = "areopage"
"""The score that holds a case's final score."""

RECORDED = "recorded"
"""Stands for the model where every response came with the dataset."""

_SAFE_ID = re.compile(r"\w[\w @+=,.-]{0,150}")
_STOP_REASONS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
_NAN = float("nan")
Json = dict[str, Any]


def write_inspect_log(view: RunView, path: Path) -> Written:
    """Write the log; the same run gives the same bytes."""
    result = run_result(view)
    start = {"version": VERSION, "eval": _eval(view, result), "plan": {"name": "plan", "steps": [], "config": {}}}
    counts = {"samples": 0, "completed": 0}
    moment = view.run.created_at
    with (
        replacing(path) as place,
        zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as log,
        tempfile.TemporaryFile() as summaries,
    ):
        _add(log, "_journal/start.json", start, moment)
        for sample in _samples(view):
            _add(log, f"samples/{sample['id']}_epoch_1.json", sample, moment)
            summaries.write((b",\n" if counts["samples"] else b"[") + _encoded(_summary(sample)))
            counts["samples"] += 1
            counts["completed"] += "error" not in sample
        summaries.write(b"]" if counts["samples"] else b"[]")
        summaries.seek(0)
        with log.open(_entry("summaries.json", moment), "w", force_zip64=True) as entry:
            shutil.copyfileobj(summaries, entry)
        end = {
            "status": "success" if view.complete else "cancelled",
            "results": _results(result, **counts),
            "stats": _stats(view),
        }
        _add(log, "header.json", {**start, **end, "invalidated": False, "tags": [], "metadata": {}}, moment)
    return Written(counts["samples"])


INSPECT = Export("inspect.eval", lambda view, path, options: write_inspect_log(view, path))


def sample_id(case_id: str) -> str:
    """The id of a case's sample: its own, or a digest of it where the id cannot be the name of a file."""
    return case_id if _SAFE_ID.fullmatch(case_id) and ".." not in case_id else f"case-{digest_of(case_id)[:16]}"


def _samples(view: RunView) -> Iterator[Json]:
    criteria = {criterion.id: criterion.category for criterion in view.spec.criteria}
    for case, record in zip(view.cases, record_results(view), strict=True):
        sample = _sample(view, case, record)
        scale = msgspec.to_builtins(view.spec.scale)
        final = record.final_aggregate_score
        sample["scores"] = {
            criterion: _score(view, case, criterion, detail) | {"metadata": _votes(view, record, criterion, detail)}
            for criterion, detail in record.detailed_criteria.items()
            if criterion in criteria
        } | {
            FINAL: _valued(final, "no criterion has a score")
            | {"metadata": {"scale": scale, "categories": record.category_scores, "failures": list(record.metadata.failures)}}
        }
        sample["events"] = list(_failed_calls(view, record))
        yield sample


def _sample(view: RunView, case: Case, record: RecordResult) -> Json:
    answer, model = record.metadata.answer, _model(view)
    tokens = _usage(answer.prompt_tokens, answer.completion_tokens) if answer else None
    reply = {"role": "assistant", "content": case.response, "source": "generate" if answer else "input", "model": model}
    reason = _STOP_REASONS.get(answer.finish_reason, "unknown") if answer else "stop"
    choices = [] if case.response is None else [{"message": reply, "stop_reason": reason}]
    output = {"model": model, "choices": choices, "completion": case.response or ""}
    system = case.system or (view.spec.target.system_prompt if view.spec.target and answer else "")
    turns = [{"role": turn.role, "content": turn.content, "source": "input"} for turn in case.turns]
    names = ("category", "subcategory", "maturity", "source", "tags", "documents", "metadata")
    metadata = {name: msgspec.to_builtins(getattr(case, name)) for name in names}
    sample: Json = {
        "id": sample_id(case.id),
        "epoch": 1,
        "input": case.prompt if isinstance(case.prompt, str) else turns,
        "target": case.reference or "",
        "messages": [*([{"role": "system", "content": system}] if system else []), *turns, *([reply] if choices else [])],
        "output": output | ({"usage": tokens} if tokens else {}) | ({"time": answer.seconds} if answer else {}),
        "metadata": {"case_id": case.id, **{name: value for name, value in metadata.items() if value}},
        "store": {},
        "model_usage": {model: tokens} if tokens else {},
        "role_usage": {},
        "uuid": digest_of([view.run.id, case.id])[:22],
        "attachments": {},
    }
    if case.response is None:
        state = view.answer_state(case.id)
        why = f"{state}: {answer.reason}" if answer and answer.reason else state
        sample["error"] = _error(f"the target gave no answer that can be judged ({why})")
    return sample


def _score(view: RunView, case: Case, criterion: str, detail: CriterionDetail) -> Json:
    if not detail.applies:
        why = "the criterion does not apply"
    elif case.response is None:
        why = "there is no answer to judge"
    else:
        failed = [judged for judge in detail.judges.values() for judged in judge.passes if judged.outcome in FAILED_NAMES]
        why = "; ".join(dict.fromkeys(f"{judged.outcome}: {judged.reason}" for judged in failed)) or "not judged"
    return {"answer": case.response, "explanation": detail.explanations or None} | _valued(detail.score, why)


def _valued(score: float | None, why: str) -> Json:
    return {"value": _NAN, "reason": why} if score is None else {"value": score}


def _votes(view: RunView, record: RecordResult, criterion: str, detail: CriterionDetail) -> Json:
    models = {judge.name: str(judge.reference) for judge in view.spec.judges}
    votes = msgspec.to_builtins(detail.judges)
    return {
        "scale": msgspec.to_builtins(view.spec.scale),
        "applies": detail.applies,
        "failed": criterion in record.metadata.failures,
        "agreement": detail.agreement,
        "coverage": msgspec.to_builtins(detail.coverage),
        "outliers": list(detail.outliers),
        "judges": {name: {"model": models.get(name, ""), **vote} for name, vote in votes.items()},
    }


def _failed_calls(view: RunView, record: RecordResult) -> Iterator[Json]:
    for criterion, detail in record.detailed_criteria.items():
        for name, judge in detail.judges.items():
            for judged in judge.passes:
                if judged.outcome in FAILED_NAMES:
                    said = {"judge": name, "criterion": criterion, "pass_index": judged.pass_index, "outcome": judged.outcome}
                    yield {
                        "event": "error",
                        "timestamp": view.run.created_at.isoformat(),
                        "working_start": 0.0,
                        "error": _error(
                            f"judge {name}, {criterion}, pass {judged.pass_index}: {judged.outcome}: {judged.reason}"
                        ),
                        "metadata": {**said, "raw_response": judged.raw_response},
                    }


def _summary(sample: Json) -> Json:
    kept = {name: sample[name] for name in ("id", "epoch", "input", "target", "model_usage", "role_usage", "uuid")}
    scores = {name: {"value": score["value"]} for name, score in sample["scores"].items()}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    more = {"metadata": {"case_id": sample["metadata"]["case_id"]}, "scores": scores, "completed": True}
    return kept | more | error | {"message_count": len(sample["messages"])}


def _eval(view: RunView, result: RunResult) -> Json:
    run, spec, metadata = view.run, view.spec, result.metadata
    release = view.release
    names = (
        "mode",
        "language",
        "profile",
        "scale",
        "weights",
        "settled_weights",
        "coverage",
        "judges",
        "digests",
        "ledger_heads",
    )
    return {
        "eval_id": digest_of([run.id, "eval"])[:22],
        "run_id": run.id,
        "created": run.created_at.isoformat(),
        "task": spec.suite,
        "task_id": digest_of([spec.suite, "task"])[:22],
        "task_version": spec.suite_version,
        "dataset": {
            "name": ", ".join(Path(name).name for name in spec.datasets) or spec.suite,
            "samples": len(view.items),
            "sample_ids": [sample_id(item.case.id) for item in view.items],
            "shuffled": False,
        },
        "model": _model(view),
        "model_generate_config": {},
        "config": {"epochs": 1},
        "packages": {"areopage": __version__},
        "scorers": [{"name": name, "metrics": [{"name": "mean"}]} for name in (*result.detailed_criteria, FINAL)],
        "metadata": {name: msgspec.to_builtins(getattr(metadata, name)) for name in names}
        | {"verdict": release.verdict if release else None, "complete": metadata.complete, "remarks": list(metadata.remarks)}
        | {"ledger_heads": list(metadata.ledger_heads)},
    }


def _results(result: RunResult, samples: int, completed: int) -> Json:
    interval = result.metadata.final_interval
    final = {"mean": result.final_aggregate_score} | ({"low": interval.low, "high": interval.high} if interval else {})
    scores = [
        _run_score(
            name,
            {"mean": criterion.score}
            | ({"low": criterion.interval.low, "high": criterion.interval.high} if criterion.interval else {}),
            criterion.cases_scored,
            criterion.cases - criterion.cases_scored,
        )
        for name, criterion in result.detailed_criteria.items()
    ]
    scored = result.metadata.counts.scored
    scores.insert(0, _run_score(FINAL, final, scored, result.metadata.counts.cases - scored))
    return {"total_samples": samples, "completed_samples": completed, "scores": scores}


def _run_score(name: str, metrics: dict[str, float | None], scored: int, unscored: int) -> Json:
    values = {metric: {"name": metric, "value": value} for metric, value in metrics.items() if value is not None}
    return {"name": name, "scorer": name, "scored_samples": scored, "unscored_samples": unscored, "metrics": values}


def _stats(view: RunView) -> Json:
    """Times, and the tokens of the target and of the judges by model, each call counted once."""
    models = {judge.name: _slashed(str(judge.reference)) for judge in view.spec.judges}
    usage: dict[str, Json] = {}
    roles: dict[str, Json] = {}
    for costs in view.costs:
        tokens = _usage(costs.prompt_tokens, costs.completion_tokens)
        cost = costs.cost if costs.currency == "USD" else None
        name = models[costs.name] if costs.role == "judge" else _slashed(costs.name)
        for totals, key in ((usage, name), (roles, costs.role)):
            before = totals.get(key, {})
            more = tokens if cost is None else {**tokens, "total_cost": cost}
            totals[key] = {figure: value + before.get(figure, 0) for figure, value in more.items()}
    finished = view.run.finished_at
    return {
        "started_at": view.run.created_at.isoformat(),
        "completed_at": finished.isoformat() if finished else "",
        "model_usage": usage,
        "role_usage": roles,
    }


def _usage(prompt: int | None, completion: int | None) -> Json:
    return {"input_tokens": prompt or 0, "output_tokens": completion or 0, "total_tokens": (prompt or 0) + (completion or 0)}


def _error(message: str) -> Json:
    return {"message": message, "traceback": "", "traceback_ansi": ""}


def _model(view: RunView) -> str:
    return _slashed(str(view.spec.target.reference)) if view.spec.target else RECORDED


def _slashed(reference: str) -> str:
    """A reference as Inspect writes models: the provider, a slash, the model."""
    return reference.replace(":", "/", 1)


def _encoded(value: Any) -> bytes:
    """JSON with NaN, as Inspect writes it."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _add(log: zipfile.ZipFile, name: str, value: Any, moment: datetime) -> None:
    log.writestr(_entry(name, moment), _encoded(value))


def _entry(name: str, moment: datetime) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, moment.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry
