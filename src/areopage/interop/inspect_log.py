"""Logs of Inspect as rows of a dataset: `.eval` archives sample by sample, and `.json` logs.

A sample becomes a row: its id (with the epoch where there are several), the conversation up to the last reply as the prompt, that
reply as the response, the target as the reference. Scores stay in the row as numbers, by the scorer's name. Messages of tools and
parts that are no text cannot be judged: they are counted, or the row is bad.
"""

import codecs
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases import MAX_RECORD, BadRow, Row, clip, field_named, is_deep
from areopage.errors import DatasetError
from areopage.interop.eval_archive import MAX_ENTRY, EvalArchive, TooLarge

MAX_JSON_LOG = 64 * 1024 * 1024
SCORES = "scores"
"""The column that holds a sample's scores."""

LETTERS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""The values of correct, partially correct, incorrect and no answer."""

_ATTACHMENT = "attachment://"
_SPOKEN = ("system", "user", "assistant")
_OWN = "areopage"


class _Part(Struct):
    type: str = "text"
    text: str = ""


class _Message(Struct):
    role: str
    content: str | list[_Part] = ""


class _Choice(Struct):
    message: _Message | None = None


class _Output(Struct):
    model: str = ""
    completion: str = ""
    choices: list[_Choice] = []


class _Score(Struct):
    value: Any = None
    explanation: str | None = None


class _Error(Struct):
    message: str = ""


class _Sample(Struct):
    """What is read of a sample; events, the largest part of a log, are passed over."""

    id: str | int
    input: str | list[_Message]
    epoch: int = 1
    target: str | list[str] = ""
    choices: list[str] | None = None
    messages: list[_Message] = []
    output: _Output = msgspec.field(default_factory=_Output)
    scores: dict[str, _Score] | None = None
    metadata: dict[str, Any] = {}
    error: _Error | None = None
    attachments: dict[str, str] = {}


class _Eval(Struct):
    task: str = ""
    model: str = ""
    packages: dict[str, str] = {}


class _Head(Struct):
    eval: _Eval
    version: int = 2


class _Log(_Head):
    samples: list[_Sample] | None = None


def read_eval(path: Path) -> Iterator[Row | BadRow]:
    """Yield a row per sample of an `.eval` log, in the archive's order, numbered from 1."""
    with EvalArchive(path) as archive:
        name = next((name for name in ("header.json", "_journal/start.json") if name in archive.entries), None)
        if name is None:
            raise DatasetError(f"{path}: the archive is not a log of Inspect: it has no header.json")
        try:
            head = _decoded(archive.read(name), _Head)
        except (ValueError, RecursionError, TooLarge) as fault:
            raise DatasetError(f"{path}: {name} cannot be read: {_first_line(fault)}") from fault
        for number, entry in enumerate(archive.samples(), start=1):
            try:
                yield _row(number, _decoded(archive.read(entry), _Sample), head.eval)
            except TooLarge:
                yield BadRow(number, f"the sample is longer than {MAX_ENTRY // 1024**2} MB", clip(entry))
            except (ValueError, RecursionError) as fault:
                yield BadRow(number, f"the sample cannot be used: {_first_line(fault)}", clip(entry))


def read_json_log(path: Path) -> Iterator[Row | BadRow]:
    """Yield a row per sample of a `.json` log, which is held whole."""
    if path.stat().st_size > MAX_JSON_LOG:
        limit = MAX_JSON_LOG // 1024**2
        raise DatasetError(f"{path}: the log is larger than {limit} MB: convert it with inspect log convert --to eval")
    try:
        log = _decoded(path.read_bytes().removeprefix(codecs.BOM_UTF8), _Log)
    except (ValueError, RecursionError) as fault:
        raise DatasetError(f"{path}: the log cannot be read: {_first_line(fault)}") from fault
    for number, sample in enumerate(log.samples or (), start=1):
        try:
            yield _row(number, sample, log.eval)
        except ValueError as fault:
            yield BadRow(number, f"the sample cannot be used: {_first_line(fault)}", clip(str(sample.id)))


def score_of(value: Any) -> float | None:
    """The number of a score's value: letters as Inspect counts them; None of what is not one number."""
    if isinstance(value, str):
        return LETTERS.get(value)
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None


def _decoded(content: bytes, kind: type[Any]) -> Any:
    """The record of a JSON text; one with NaN, which is not JSON, is read by the more lenient reader."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(content), type=kind)


def _row(number: int, sample: _Sample, about: _Eval) -> Row:
    attached = sample.attachments
    prompt, system, left_out = _conversation(sample, attached)
    target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
    response, output = None, sample.output
    if sample.error is None:
        first = output.choices[0].message if output.choices else None
        response = (
            _resolved(output.completion, attached) if output.completion else _text(first.content if first else "", attached)
        )
    cells: dict[str, Any] = {
        "id": f"{sample.id}" if sample.epoch <= 1 else f"{sample.id}-epoch-{sample.epoch}",
        "prompt": prompt,
        "response": response,
        "reference": target,
        "system": system,
        "source": f"inspect:{about.task}" if about.task else "inspect",
        "model": sample.output.model or about.model,
        SCORES: _scores(sample, attached),
        "choices": sample.choices,
        "error": sample.error.message if sample.error else None,
        "messages_left_out": left_out or None,
    }
    cells |= _metadata(sample.metadata, cells, is_own=_OWN in about.packages)
    kept = {name: value for name, value in cells.items() if value not in (None, "", {}, [])}
    if is_deep(kept):
        raise ValueError("the JSON is nested too deeply")
    if len(msgspec.json.encode(kept)) > MAX_RECORD:
        raise ValueError(f"its texts are longer than {MAX_RECORD:,} bytes")
    return Row(number, tuple(kept), tuple(kept.values()))


def _conversation(sample: _Sample, attached: Mapping[str, str]) -> tuple[Any, str, int]:
    """The prompt (a text, or turns), the system prompt, and how many messages of tools are left out.

    The messages of the sample are what the model saw; where the last is its reply, that is the response and not of the prompt.
    """
    asked = [_Message("user", sample.input)] if isinstance(sample.input, str) else sample.input
    messages = sample.messages or asked
    if not messages or not asked:
        raise ValueError("it has no input")
    if messages[-1].role == "assistant":
        messages = messages[:-1]
    spoken = [message for message in messages if message.role in _SPOKEN]
    left_out = len(messages) - len(spoken)
    if left_out or not any(message.role == "user" for message in spoken):
        spoken, left_out = [message for message in asked if message.role in _SPOKEN], len(sample.messages) - len(asked)
    system = "\n\n".join(_text(message.content, attached) for message in spoken if message.role == "system")
    turns = [
        {"role": message.role, "content": _text(message.content, attached)} for message in spoken if message.role != "system"
    ]
    return (turns[0]["content"] if len(turns) == 1 else turns), system, max(0, left_out)


def _text(content: str | Sequence[_Part], attached: Mapping[str, str]) -> str:
    if isinstance(content, str):
        return _resolved(content, attached)
    for part in content:
        if part.type not in ("text", "reasoning"):
            raise ValueError(f"a message holds a part of the type {clip(part.type, 40)!r}: only texts can be judged")
    return "\n".join(_resolved(part.text, attached) for part in content if part.type == "text")


def _resolved(text: str, attached: Mapping[str, str]) -> str:
    return attached.get(text.removeprefix(_ATTACHMENT), text) if text.startswith(_ATTACHMENT) else text


def _scores(sample: _Sample, attached: Mapping[str, str]) -> dict[str, Any]:
    """The scores as numbers by the scorer's name, or `name.key` where a value has several; other texts as they are."""
    scores: dict[str, Any] = {}
    for name, score in (sample.scores or {}).items():
        values = score.value.items() if isinstance(score.value, dict) else [("", score.value)]
        for key, value in values:
            number = score_of(value)
            if number is not None or isinstance(value, str):
                scores[f"{name}.{key}" if key else name] = number if number is not None else _resolved(value, attached)
    return scores


def _metadata(metadata: Mapping[str, Any], taken: Mapping[str, Any], *, is_own: bool) -> dict[str, Any]:
    """The columns of a sample's metadata; in a log of another tool, a name that is a field's is led by `sample_`."""
    columns: dict[str, Any] = {}
    for name, value in metadata.items():
        if is_own and name == "case_id":
            columns["id"] = value
        elif is_own and name == "metadata" and isinstance(value, dict):
            columns |= {key: inner for key, inner in value.items() if key not in taken and field_named(key) is None}
        elif name not in taken and (field_named(name) is None or is_own or (name == "category" and isinstance(value, str))):
            columns[name] = value
        elif not is_own or name not in taken:
            columns[f"sample_{name}"] = value
    return columns


def _first_line(fault: BaseException) -> str:
    return clip(str(fault).partition("\n")[0] or type(fault).__name__, 200)
