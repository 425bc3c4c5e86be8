"""What judges put around a verdict: an object that names it, or the call of a tool."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from areopage.jury.parsing import gives_score
from areopage.text import late_pattern, names_answer

_NAMES = (
    "evaluation verdict judgment judgement assessment appraisal grading grade rating scoring review result output json data "
    "arguments parameters input function évaluation jugement résultat notation appréciation"
)
WRAPPERS = frozenset(_NAMES.split())
"""Names of a verdict, in lower case and in the singular. Names of examples, quotations and responses are none."""
_OF_CALLS = frozenset(["id", "call_id", "tool_call_id", "index", "type", "name"])
_ARGUMENTS = frozenset(["arguments", "parameters", "input"])
_TOOLS = ("name", "tool", "tool_name", "function", "function_name")
_MOST_LAYERS = 4
_BEFORE = late_pattern(r"(?:final|overall|my|tool)[\s_-]*+")


def verdict_within(
    answer: Mapping[str, Any], keys: Collection[str], names: Collection[str], decoder: json.JSONDecoder
) -> Mapping[str, Any] | None:
    """The object that has one of some keys: an answer itself, or the only object in it, under a name of a verdict.

    What stands beside the inner object must be words without a score; a tool that is called must be one that gives an answer.

    Args:
        names: what is judged, which may name a verdict as well.
        decoder: reads an object that stands as a text.

    Returns:
        The answer itself where it holds a score, and which one is in doubt; None where it holds no verdict.
    """
    inner: Mapping[str, Any] | None = answer
    for _ in range(_MOST_LAYERS):
        if inner is None or any(key in inner for key in keys):
            break
        inner = _only_object(inner, names, decoder)
    if inner is not None and any(key in inner for key in keys):
        return inner
    is_named = any(_names_verdict(key, names) for key in answer)
    return answer if is_named and _holds_score(answer) else None


def _only_object(answer: Mapping[str, Any], names: Collection[str], decoder: json.JSONDecoder) -> Mapping[str, Any] | None:
    if not _ARGUMENTS.isdisjoint(answer) and not all(_is_answer(answer.get(key), names) for key in _TOOLS):
        return None
    objects: list[Mapping[str, Any]] = []
    for name, value in answer.items():
        inner = _object_of(value, decoder) if _names_verdict(name, names) else None
        if inner is not None:
            objects.append(inner)
        elif name not in _OF_CALLS and not _is_word(value):
            return None
    return objects[0] if len(objects) == 1 else None


def _is_answer(tool: Any, names: Collection[str]) -> bool:
    return not isinstance(tool, str) or tool in names or names_answer(tool)


def _names_verdict(key: str, names: Collection[str]) -> bool:
    if key in names:
        return True
    name = _BEFORE.sub("", key.strip().lower(), count=1)
    return name in WRAPPERS or name.removesuffix("s") in WRAPPERS


def _is_word(value: Any) -> bool:
    return value is None or isinstance(value, bool) or (isinstance(value, str) and not gives_score(value))


def _object_of(value: Any, decoder: json.JSONDecoder) -> Mapping[str, Any] | None:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = decoder.decode(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    return value if isinstance(value, dict) else None


def _holds_score(answer: Mapping[str, Any]) -> bool:
    try:
        return "score" in json.dumps(answer, ensure_ascii=False).lower()
    except RecursionError:
        return True
