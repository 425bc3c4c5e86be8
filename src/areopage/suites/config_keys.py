"""The keys of a suite's `config.yml` that change nothing, each with the reason."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from areopage.suites.config import SuiteConfig
from areopage.yaml_document import KeyPath, YamlDocument

WITHOUT_MEANING: dict[KeyPath, str] = {
    ("judge_system", "consistency", "enabled"): "consistency is always measured",
    ("judge_system", "consistency", "track_outliers"): "outliers are always tracked",
    ("criteria", "selection_modes"): "every way of selecting criteria is always available",
    ("execution", "smart_resume"): "a run always resumes",
    ("execution", "auto_postprocess"): "results.csv is always written, and failed calls are retried by `bench resume`",
    ("execution", "parallel_execution"): "calls in flight are set by execution.concurrency",
    ("execution", "batch_size"): "calls in flight are set by execution.concurrency",
    ("execution", "sleep_between_requests"): "the pace follows the server's answers",
    ("output", "base_directory"): "runs go to the folder that --out names, outputs by default",
    ("paths", "output_dir"): "runs go to the folder that --out names, outputs by default",
    ("output", "format"): "results.json, results.csv and report.html are always written",
    ("output", "structure"): "results.json always holds all of it",
    ("output", "naming"): "a run's folder is named after its suite and time",
    ("output", "include_metrics"): "all metrics are always included",
    ("logging", "file"): "each run has its own run.log",
    ("logging", "format"): "the form of run.log is fixed",
    ("logging", "alerts"): "thresholds stand in judge_system.consistency",
    ("validation", "required_columns"): "columns are recognised by their names",
    ("development",): "there is no development mode",
}
UNKNOWN = "unknown key, ignored"


def idle_keys(document: YamlDocument) -> list[str]:
    """One warning for each key of a configuration that changes nothing."""
    return [f"{document.path.name}:{document.line(*keys)}: {'.'.join(keys)}: {reason}" for keys, reason in _walk(document.data)]


def is_unknown_key(warning: str) -> bool:
    """Whether a warning of `idle_keys` is of a key that there is not, likely a mistake, and not of one without meaning here."""
    return UNKNOWN in warning


def _walk(data: dict[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    yield from _walk_section(data, SuiteConfig, ())
    if str(data.get("execution", {}).get("mode", "phased") if isinstance(data.get("execution"), dict) else "phased") != "phased":
        yield ("execution", "mode"), "runs are always phased: endpoints.NAME.resident says which models wait"


def _walk_section(data: dict[str, Any], section: type[BaseModel], above: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    for key, value in data.items():
        keys = (*above, str(key))
        field = section.model_fields.get(str(key))
        if keys in WITHOUT_MEANING:
            yield keys, f"has no meaning here ({WITHOUT_MEANING[keys]})"
        elif field is None:
            near = get_close_matches(str(key), list(section.model_fields), n=1)
            yield keys, f"{UNKNOWN}{f': did you mean {near[0]!r}?' if near else ''}"
        else:
            for below, part in parts(field.annotation, keys, value):
                yield from _walk_section(part, below[0], below[1])


def parts(annotation: Any, keys: KeyPath, value: Any) -> Iterator[tuple[tuple[type[BaseModel], KeyPath], dict[str, Any]]]:
    """The sections below a value: the value itself, those of its mapping, or those of its list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if isinstance(value, dict):
            yield (annotation, keys), value
        return
    arguments = [part for part in getattr(annotation, "__args__", ()) if isinstance(part, type) and issubclass(part, BaseModel)]
    if not arguments:
        return
    if getattr(annotation, "__origin__", None) is dict and isinstance(value, dict):
        for name, part in value.items():
            yield from parts(arguments[0], (*keys, str(name)), part)
    elif getattr(annotation, "__origin__", None) is list and isinstance(value, list):
        for position, part in enumerate(value):
            yield from parts(arguments[0], (*keys, str(position)), part)
    else:
        yield from parts(arguments[0], keys, value)
