"""Goldens and test cases of deepeval as a suite: JSON arrays, JSON Lines and CSV as `EvaluationDataset.save_as` writes them.

`expected_output` becomes the reference and a criterion; documents are `retrieval_context`, else `context` (in CSV a text with
| between them). A conversational golden with turns becomes a conversation; one that has a scenario alone is rejected.
"""

import re
from pathlib import Path
from typing import Any

import msgspec

from areopage.interop.foreign.folder import JUDGED, Foreign, ForeignCriterion, filled_cells, path_of

_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TAKEN = frozenset(
    ["input", "actual_output", "expected_output", "context", "retrieval_context", "turns", "scenario", "expected_outcome", "name"]
)
_LOST = ("tools_called", "expected_tools", "image_mapping", "images_mapping")
_DELIMITER = "|"
EXPECTED = "expected_answer"


def read_deepeval(path: Path) -> Foreign:
    """Read goldens or test cases."""
    cases = Foreign(kind="deepeval")
    criterion = path_of(JUDGED, EXPECTED, {})
    for row in cases.rows_of(path):
        cells = filled_cells({_SNAKE.sub("_", name).lower(): cell for name, cell in zip(row.names, row.cells, strict=True)})
        for lost in _LOST:
            cases.left_out[lost] += lost in cells
        try:
            made = _row(cells)
        except ValueError as fault:
            cases.reject(path, row.number, str(fault))
            continue
        if "reference" in made:
            made["criteria"] = criterion
        if cases.add(made, path, row.number) and "reference" in made:
            cases.criteria[criterion] = ForeignCriterion(kind="reference")
    cases.left_out = +cases.left_out
    return cases


def _row(cells: dict[str, Any]) -> dict[str, Any]:
    more = {name: cell for name, cell in cells.items() if name not in (*_TAKEN, *_LOST)}
    row: dict[str, Any] = {"documents": _documents(cells)} | {f"deepeval_{name}": cell for name, cell in more.items()}
    row["deepeval_name"] = cells.get("name")
    row["reference"] = cells.get("expected_output") or cells.get("expected_outcome")
    turns = cells.get("turns")
    if isinstance(turns, str):
        try:
            turns = msgspec.json.decode(turns)
        except (msgspec.DecodeError, RecursionError) as fault:
            raise ValueError("turns: not a JSON list") from fault
    if isinstance(turns, list) and turns:
        spoken = [_turn(turn) for turn in turns]
        row["response"] = spoken.pop()["content"] if spoken[-1]["role"] == "assistant" else None
        row["prompt"] = spoken
        row["deepeval_scenario"] = cells.get("scenario")
    elif "input" in cells:
        row |= {"prompt": cells["input"], "response": cells.get("actual_output")}
    elif "scenario" in cells:
        raise ValueError("a conversational golden without turns: simulate it with deepeval first, or write the user's first turn")
    else:
        raise ValueError("it has no input and no turns")
    return filled_cells(row)


def _turn(turn: Any) -> dict[str, str]:
    if not isinstance(turn, dict) or turn.get("role") not in ("user", "assistant") or not isinstance(turn.get("content"), str):
        raise ValueError("turns: each has a role (user or assistant) and a content")
    return {"role": turn["role"], "content": turn["content"]}


def _documents(cells: dict[str, Any]) -> list[Any]:
    """The documents of `retrieval_context`, else of `context`: a list, or in CSV a text with delimiters."""
    for name in ("retrieval_context", "context"):
        documents = cells.get(name)
        if isinstance(documents, str):
            return [part.strip() for part in documents.split(_DELIMITER) if part.strip()]
        if documents and not isinstance(documents, list):
            raise ValueError(f"{name}: write a list of texts, or a text with {_DELIMITER} between them")
        if documents:
            return documents
    return []
