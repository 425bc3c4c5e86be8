"""An answer as it is handed over: whatever its form, it is read or refused in one line, and never stops the answer."""

import asyncio
from typing import Any

import pytest

from areopage.cases.records import Turn
from areopage.errors import DatasetError
from areopage.monitor.answer_case import case_of
from areopage.monitor.quality_judge import QualityJudge


def test_lone_surrogates_become_replacement_characters() -> None:
    case = case_of("a\ud800b", "c\udfff", [{"title": "t\ud800", "text": "d\ud800"}])
    assert (case.prompt, case.response) == ("a\ufffdb", "c\ufffd")
    assert (case.documents[0].title, case.documents[0].text) == ("t\ufffd", "d\ufffd")


def test_turns_are_taken_as_objects_too() -> None:
    assert case_of([{"role": "user", "content": "q"}], "a").prompt == (Turn(role="user", content="q"),)


@pytest.mark.parametrize(
    ("prompt", "response", "documents", "says"),
    [
        (5, "a", (), "prompt: give a text, or turns"),
        ([{"x": 1}], "a", (), "prompt: give a text, or turns"),
        ("q", 5, (), "response: give a text, not int"),
        ("q", "a", 5, "documents: give a list of texts or objects, not int"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line_and_the_payload_goes_out(
    prompt: Any, response: Any, documents: Any, says: str
) -> None:
    with pytest.raises(DatasetError, match=says):
        case_of(prompt, response, documents)

    async def attached() -> dict[str, Any]:
        async with QualityJudge.from_suite(judges=["rules:answer_quality"], environment={}) as judge:
            return await judge.attach({"answer": "kept"}, prompt, response, documents)

    payload = asyncio.run(attached())
    assert payload["answer"] == "kept" and says in payload["quality_score"]["reason"]
