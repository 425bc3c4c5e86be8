"""Test cases of promptfoo as a suite: a configuration (YAML or JSON) with prompts and tests, or tests alone (CSV, JSONL, YAML).

Each prompt with each test is a case. Plain variables (`{{name}}`) are filled in; templates with filters or blocks are rejected.
Exact assertions become criteria that code judges (`rules:checks`), rubrics become criteria for judges. What has no counterpart is
counted by its name. Files that a configuration names are read from its own folder only; code is never run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases import MAX_CASES, MAX_RECORD
from areopage.criteria import prompt_digest
from areopage.errors import DatasetError, name_list
from areopage.interop.foreign.folder import CHECKS, JUDGED, Foreign, ForeignCriterion, path_of
from areopage.interop.foreign.promptfoo_checks import exact_check
from areopage.interop.foreign.promptfoo_tests import Assertion, Test, tests_of_row
from areopage.yaml_document import parse_foreign_yaml

RUBRICS = ("llm-rubric", "g-eval", "model-graded-closedqa")
REFERENCES = ("factuality", "model-graded-factuality")
_VARIABLE = re.compile(r"\{\{-?\s*([^\W\d]\w*)\s*-?\}\}")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")
_LOST_KEYS = ("providers", "scenarios", "transform", "derivedMetrics", "redteam", "nunjucksFilters", "extensions")
_LOST_OPTIONS = ("threshold", "weight", "metric", "rubricPrompt")
_NAMED_FILE = "file://"
_TABLES = (".csv", ".tsv", ".xlsx", ".jsonl", ".json")
_DEEPEST = 8
MANY = 2
"""A rubric that so many tests have is a criterion of its own."""


class _Prompt(Struct, frozen=True):
    """A prompt: a text, or turns; `system` is its system message."""

    turns: tuple[dict[str, str], ...]
    system: str = ""


def read_promptfoo(path: Path) -> Foreign:
    """Read a configuration or a file of tests."""
    cases = Foreign(kind="promptfoo")
    config = _config(path)
    for key in _LOST_KEYS:
        cases.left_out[key] += key in config
    prompts = [prompt for entry in _listed(config.get("prompts")) for prompt in _prompts(entry, path, cases)]
    defaults = config.get("defaultTest")
    default = Test.of(defaults) if isinstance(defaults, dict) else Test()
    tests = [default.under(test) for test in _tests(config.get("tests"), path, cases)]
    if not tests:
        why = f": row {cases.rejected[0].row}: {cases.rejected[0].reason}" if cases.rejected else ""
        raise DatasetError(f"{path}: there are no tests in it that can be read{why}")
    rubrics = _common_rubrics(tests)
    asked: list[_Prompt | None] = [*prompts] or [None]
    number = 0
    for place, test in enumerate(tests, start=1):
        for prompt in asked:
            for values in _combinations(test.values):
                number += 1
                if number > MAX_CASES:
                    raise DatasetError(f"{path}: more than {MAX_CASES:,} cases: split the tests")
                try:
                    _take(cases, test, prompt, values, rubrics, path, number)
                except ValueError as fault:
                    cases.reject(path, place, f"test {place}: {fault}")
    cases.left_out = +cases.left_out
    return cases


def _config(path: Path) -> dict[str, Any]:
    """The configuration; a table, or a list of tests, is one with tests alone."""
    if path.suffix.lower() in _TABLES and path.suffix.lower() != ".json":
        return {"tests": f"{_NAMED_FILE}{path.name}"}
    if not path.is_file() or path.stat().st_size > MAX_RECORD:
        raise DatasetError(f"{path}: no such file, or larger than {MAX_RECORD // 1024**2} MB")
    if path.suffix.lower() == ".json":
        try:
            data = msgspec.json.decode(path.read_bytes())
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as fault:
            raise DatasetError(f"{path}: not valid JSON: {fault}") from fault
        if isinstance(data, list):
            return {"tests": data}
        if not isinstance(data, dict):
            raise DatasetError(f"{path}: not a configuration of promptfoo: it is no object")
        return data
    return _yaml(path)


def _yaml(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    is_list = re.match(r"(\s*(#.*)?\n)*- ", text) is not None
    return dict(parse_foreign_yaml(f"tests:\n{text}" if is_list else text, path).data)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _prompts(entry: Any, path: Path, cases: Foreign) -> Iterator[_Prompt]:
    """The prompts of an entry: a text, turns as JSON, or a text file beside the configuration."""
    text = entry.get("raw", entry.get("id", "")) if isinstance(entry, dict) else entry
    if not isinstance(text, str) or not text:
        cases.left_out["prompt that is no text"] += 1
        return
    if text.startswith(_NAMED_FILE) or text.endswith((".txt", ".json", ".md")):
        file = _beside(path, text)
        if file is None or file.suffix.lower() not in (".txt", ".json", ".md"):
            cases.left_out[f"prompt {text}"] += 1
            return
        text = file.read_text(encoding="utf-8", errors="replace")
    for part in map(str.strip, re.split(r"^---$", text, flags=re.MULTILINE)):
        turns = [{"role": "user", "content": part}]
        if part.startswith("["):
            with suppress(msgspec.DecodeError, RecursionError):
                turns = msgspec.json.decode(part, type=list[dict[str, str]])
        system = "\n\n".join(turn.get("content", "") for turn in turns if turn.get("role") == "system")
        if part:
            yield _Prompt(tuple(turn for turn in turns if turn.get("role") != "system"), system)


def _beside(path: Path, name: str) -> Path | None:
    """A file in the configuration's folder or below it; None of any other."""
    folder = path.parent.resolve()
    file = (folder / name.removeprefix(_NAMED_FILE).partition("#")[0]).resolve()
    fits = file.is_relative_to(folder) and file.is_file() and file.stat().st_size <= MAX_RECORD
    return file if fits else None


def _tests(entries: Any, path: Path, cases: Foreign) -> Iterator[Test]:
    for entry in _listed(entries):
        if isinstance(entry, dict) and "path" not in entry:
            yield Test.of(entry)
        elif isinstance(entry, str) and (file := _beside(path, entry)) is not None and file.suffix.lower() in _TABLES:
            yield from (tests_of_row(row.names, row.cells, cases.left_out) for row in cases.rows_of(file))
        elif isinstance(entry, str) and file is not None and file.suffix.lower() in (".yaml", ".yml"):
            if file == path.resolve():
                raise DatasetError(f"{path}: the tests name the file itself")
            yield from (Test.of(entry) for entry in _listed(_yaml(file).get("tests")) if isinstance(entry, dict))
        else:
            cases.left_out[f"tests {entry if isinstance(entry, str) else type(entry).__name__}"[:100]] += 1


def _common_rubrics(tests: Sequence[Test]) -> frozenset[str]:
    """The rubrics that several tests have; the others become references of their cases."""
    counts: dict[str, int] = {}
    for test in tests:
        for assertion in test.assertions:
            if assertion.type in RUBRICS and isinstance(assertion.value, str) and not _TEMPLATE.search(assertion.value):
                counts[assertion.value] = counts.get(assertion.value, 0) + 1
    return frozenset(text for text, count in counts.items() if count >= MANY)


def _combinations(values: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Every combination of variables: a list stands for each of its values."""
    options = [value if isinstance(value, list) and value else [value] for value in values.values()]
    for chosen in product(*options):
        texts = (value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in chosen)
        yield dict(zip(values, texts, strict=True))


def _filled(text: str, values: Mapping[str, str], depth: int = 0) -> str:
    """A template with its variables filled in; a value may be a template of other variables."""
    if depth > _DEEPEST:
        raise ValueError("the values of variables name each other without end")
    missing = [name for name in _VARIABLE.findall(text) if name not in values]
    if missing:
        raise ValueError(f"the variables {name_list(missing)} have no value")
    if _TEMPLATE.search(_VARIABLE.sub("", text)):
        raise ValueError("the template has filters or blocks: only plain variables {{name}} can be filled in")

    def value(variable: re.Match[str]) -> str:
        text = values[variable[1]]
        return _filled(text, values, depth + 1) if _TEMPLATE.search(text) else text

    return _VARIABLE.sub(value, text)


def _take(
    cases: Foreign,
    test: Test,
    prompt: _Prompt | None,
    values: Mapping[str, str],
    rubrics: frozenset[str],
    path: Path,
    number: int,
) -> None:
    if any(value.startswith(_NAMED_FILE) for value in values.values()):
        raise ValueError("a variable names a file: write its text into the test")
    asked: dict[str, Any]
    if prompt is None:  # without a prompt of the configuration, the variable that names one
        named = [name for name in ("prompt", "question", "query", "input", "message") if name in values]
        if not named:
            raise ValueError("there are no prompts, and no variable is named prompt, question, query, input or message")
        asked = {"prompt": values[named[0]]}
    else:
        turns = [{"role": turn.get("role", ""), "content": _filled(turn.get("content", ""), values)} for turn in prompt.turns]
        only = turns[0]["content"] if len(turns) == 1 and turns[0]["role"] == "user" else turns
        asked = {"prompt": only, "system": _filled(prompt.system, values)}
    row = asked | {
        "id": f"{path.stem}-{number}",
        "source": f"promptfoo:{path.name}",
        "promptfoo_description": test.description,
        **{f"promptfoo_{name}": value for name, value in test.metadata.items()},
    }
    said = (
        row["prompt"]
        if isinstance(row["prompt"], str)
        else "\n".join(f"{turn['role']}: {turn['content']}" for turn in row["prompt"])
    )
    checked, others = _checked(cases, test, values, prompt_digest(said))
    criteria = [*checked, *_judged(cases, others, values, rubrics, row)]
    if criteria:
        row["criteria"] = ", ".join(dict.fromkeys(criteria))
    cases.add(row, path, number)


def _checked(cases: Foreign, test: Test, values: Mapping[str, str], digest: str) -> tuple[list[str], list[Assertion]]:
    """The criteria of a test's exact assertions, each with its check noted, and the other assertions."""
    paths: list[str] = []
    others: list[Assertion] = []
    for assertion in test.assertions:
        check = exact_check(assertion, lambda text: _filled(text, values))
        if check is None:
            others.append(assertion)
            continue
        if check.type == "is-json" and assertion.value:
            cases.left_out["schema of is-json"] += 1
        path = _criterion(cases, CHECKS, assertion.type, ForeignCriterion(kind="check", text=assertion.type))
        noted = cases.checks.setdefault(path, {}).setdefault(digest, [])
        if (plain := msgspec.to_builtins(check)) not in noted:
            noted.append(plain)
        _note_options(cases, assertion.options)
        paths.append(path)
    return paths, others


def _judged(
    cases: Foreign, others: Sequence[Assertion], values: Mapping[str, str], rubrics: frozenset[str], row: dict[str, Any]
) -> Iterator[str]:
    """The criteria of a test's rubrics and expected answers; other assertions are counted."""
    for assertion in sorted(others, key=lambda assertion: assertion.type not in REFERENCES):
        is_reference = assertion.type in REFERENCES
        if assertion.is_code or not isinstance(assertion.value, str) or not (is_reference or assertion.type in RUBRICS):
            cases.left_out[f"assertion {assertion.described}"] += 1
            continue
        text = _filled(assertion.value, values)
        _note_options(cases, assertion.options)
        if (is_reference or assertion.value not in rubrics) and "reference" not in row:
            row["reference"] = text
            kind, name = ("reference", "expected_answer") if is_reference else ("own_rubric", "own_rubric")
            yield _criterion(cases, JUDGED, name, ForeignCriterion(kind=kind))  # type: ignore[arg-type]
        elif is_reference:
            cases.left_out[f"second {assertion.type} of a test"] += 1
        else:
            yield _criterion(cases, JUDGED, text[:40], ForeignCriterion(kind="rubric", text=text))


def _criterion(cases: Foreign, group: str, name: str, wanted: ForeignCriterion) -> str:
    """The path of a criterion, which is added where there is none like it."""
    path = next((path for path, criterion in cases.criteria.items() if criterion == wanted), None)
    if path is None:
        path = path_of(group, name, cases.criteria)
        cases.criteria[path] = wanted
    return path


def _note_options(cases: Foreign, options: Sequence[str]) -> None:
    for name in options:
        if name in _LOST_OPTIONS:
            cases.left_out[f"option {name} of an assertion"] += 1
