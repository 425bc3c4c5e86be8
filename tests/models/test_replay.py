"""Recordings: which line answers which call, and the target that is replayed."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from areopage.cases.records import Case, Turn
from areopage.errors import CallRejected, ModelError
from areopage.models.adapters import open_model
from areopage.models.port import Completion, LanguageModel
from areopage.models.reference import ModelReference
from areopage.models.replay import RecordedLine, RecordingFile, ReplayModel, read_recording
from areopage.models.settings import ModelSettings

CRITERION = "safety.hate.discriminatory_language__v1_0"
CASE = Case(id="7", prompt="Why is it so?")


def record(folder: Path, *lines: dict[str, Any] | str, name: str = "record.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def found(path: Path, asked: str = "judge_a", criterion: str = CRITERION, pass_index: int = 1) -> RecordedLine | None:
    return read_recording(path).find(CASE, asked, criterion, pass_index)


def text_of(path: Path, asked: str = "judge_a", criterion: str = CRITERION, pass_index: int = 1) -> str | None:
    line = found(path, asked, criterion, pass_index)
    assert line is not None
    return line.text


def opened(path: Path | str, settings: ModelSettings = ModelSettings()) -> LanguageModel:  # noqa: B008
    return open_model(ModelReference.parse(f"replay:{path}"), settings)


def ask(path: Path, case: Case | None = CASE) -> Completion:
    return asyncio.run(opened(path).generate([], {}, case=case))


def test_the_line_that_says_most_answers_whatever_its_place(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"case_id": "7"}
    lines = [{**fields, "text": "case"}]
    for name, value in (("asked", "judge_a"), ("criterion", CRITERION), ("pass_index", 1)):
        fields[name] = value
        lines.append({**fields, "text": f"with {name}"})
    path = record(tmp_path, *lines)
    assert text_of(path) == "with pass_index"
    assert text_of(path, pass_index=2) == "with criterion"
    assert text_of(path, criterion="a.b.c__v1_0") == "with asked"
    assert text_of(path, "judge_b") == "case"


def test_a_line_that_disagrees_on_any_field_does_not_answer(tmp_path: Path) -> None:
    path = record(
        tmp_path, {"case_id": "7", "asked": "judge_b", "text": "x"}, {"case_id": "8", "prompt": "Why is it so?", "text": "x"}
    )
    assert found(path, pass_index=3) is None
    with pytest.raises(CallRejected) as caught:
        ask(path)
    assert caught.value.status is None
    for named in ("'7'", "'target'", str(path)):
        assert named in str(caught.value)


def test_a_prompt_answers_where_no_case_is_named_and_the_case_goes_first(tmp_path: Path) -> None:
    by_prompt = {"prompt": " Why is it so?\n", "text": "by prompt"}
    assert ask(record(tmp_path, by_prompt)).text == "by prompt"
    assert ask(record(tmp_path, by_prompt, {"case_id": "7", "text": "by case"})).text == "by case"


def test_several_turns_are_matched_by_their_text(tmp_path: Path) -> None:
    case = Case(id="1", prompt=(Turn(role="user", content="Hi"), Turn(role="assistant", content="Yes?")))
    path = record(tmp_path, {"prompt": "user: Hi\nassistant: Yes?", "text": "found"})
    assert ask(path, case).text == "found"


def test_a_criterion_may_be_named_by_path_and_its_id_goes_first(tmp_path: Path) -> None:
    path_line = {"case_id": "7", "criterion": "safety.hate.discriminatory_language", "text": "path"}
    path = record(tmp_path, path_line, {"case_id": "7", "criterion": CRITERION, "text": "id"})
    assert text_of(path) == "id"
    assert text_of(path, criterion="safety.hate.discriminatory_language__v2_0") == "path"


def test_an_empty_criterion_answers_for_a_target_only(tmp_path: Path) -> None:
    path = record(tmp_path, {"case_id": "7", "criterion": "", "text": "response"})
    assert ask(path).text == "response"
    assert found(path) is None


def test_a_verdict_on_another_answer_is_not_replayed(tmp_path: Path) -> None:
    about = '{"case_id": "1", "asked": "judge", "criterion": "a", "response": "Blue.", "text": "on blue"}'
    any_answer = '{"case_id": "1", "asked": "judge", "criterion": "b", "text": "on any"}'
    path = tmp_path / "verdicts.jsonl"
    path.write_text(f"{about}\n{any_answer}\n", encoding="utf-8")
    recording = read_recording(path)
    blue, red = (Case(id="1", prompt="Why?", response=text) for text in ("Blue.", "Red."))
    found = recording.find(blue, "judge", "a")
    assert found is not None and found.text == "on blue"
    assert recording.find(red, "judge", "a") is None
    assert recording.find(red, "judge", "b") is not None


def test_a_recorded_score_is_no_answer_of_a_target(tmp_path: Path) -> None:
    path = record(tmp_path, {"case_id": "7", "score": 4})
    assert found(path) is not None
    with pytest.raises(CallRejected):
        ask(path)


def test_what_was_recorded_of_a_call_is_handed_on(tmp_path: Path) -> None:
    line = {"text": "é", "finish_reason": "length", "prompt_tokens": 9, "completion_tokens": 2, "seconds": 1.5}
    expected = Completion(text="é", finish_reason="length", prompt_tokens=9, completion_tokens=2, seconds=1.5)
    assert ask(record(tmp_path, {"case_id": "7", **line})) == expected


def test_the_first_of_equal_lines_answers(tmp_path: Path) -> None:
    path = record(
        tmp_path, {"case_id": "7", "text": "first"}, {"case_id": "7", "text": "second"}, {"case_id": "8", "text": "other"}
    )
    assert ask(path).text == "first"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "malformed"),
        ('{"case_id": "7"}', "`text`"),
        ('{"text": "x"}', "write case_id or prompt"),
        ('{"case_id": "7", "text": "x", "score": 4}', "or two"),
        ('{"caseid": "7", "text": "x"}', "`caseid`"),
        ('{"case_id": "7", "text": "x", "pass_index": "one"}', "`$.pass_index`"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(tmp_path: Path, line: str, reason: str) -> None:
    path = record(tmp_path, {"case_id": "7", "text": "x"}, "", line)
    with pytest.raises(ModelError) as caught:
        ask(path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert reason in str(caught.value)


def test_bytes_that_are_not_text_are_named_by_file_and_number(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"case_id": "7", "text": "x"}\r\n{"case_id": "8", "text": "\xff"}\r\n')
    with pytest.raises(ModelError, match=r"record\.jsonl:2: "):
        ask(path)


def test_a_missing_file_is_refused_at_the_check(tmp_path: Path) -> None:
    model = opened("no/such.jsonl", ModelSettings(base_dir=tmp_path))
    with pytest.raises(ModelError, match=r"no/such\.jsonl: the recording cannot be read \(No such file"):
        asyncio.run(model.check())


def test_a_relative_path_starts_from_the_suite_and_a_tilde_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path, {"case_id": "7", "text": "here"})
    monkeypatch.setenv("HOME", str(tmp_path))
    for text, base in (("replay:record.jsonl", tmp_path), ("replay:~/record.jsonl", Path("/nowhere"))):
        model = open_model(ModelReference.parse(text), ModelSettings(base_dir=base))
        assert asyncio.run(model.generate([], {}, case=CASE)).text == "here"


def test_many_calls_at_once_read_the_file_once(tmp_path: Path) -> None:
    path = record(tmp_path, {"case_id": "7", "text": "x"})

    async def run() -> list[Completion]:
        reference = ModelReference.parse(f"replay:{path}")
        model = ReplayModel(reference, RecordingFile(reference, ModelSettings()))
        await model.check()
        path.unlink()
        return await asyncio.gather(*(model.generate([], {}, case=CASE) for _ in range(20)))

    assert {completion.text for completion in asyncio.run(run())} == {"x"}


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    one = record(tmp_path, {"case_id": "7", "text": "x"}, name="one.jsonl")
    same = record(tmp_path, {"case_id": "7", "text": "x"}, name="same.jsonl")
    other = record(tmp_path, {"case_id": "7", "text": "y"}, name="other.jsonl")
    first, second, third = (read_recording(path).digest for path in (one, same, other))
    assert first == second != third


def test_a_call_about_no_case_is_declined(tmp_path: Path) -> None:
    with pytest.raises(CallRejected, match="was given none"):
        ask(record(tmp_path, {"case_id": "7", "text": "x"}), None)


def test_a_recording_lists_the_criteria_each_judge_was_asked_about(tmp_path: Path) -> None:
    path = record(
        tmp_path,
        {"case_id": "1", "asked": "judge_a", "criterion": "a.b.c__v1_0", "text": "x"},
        {"case_id": "2", "asked": "judge_a", "criterion": "a.b.d__v1_0", "text": "x"},
        {"case_id": "1", "asked": "judge_b", "text": "x"},
        {"case_id": "1", "asked": "target", "criterion": "", "text": "x"},
    )
    assert read_recording(path).scopes() == {"judge_a": ("a.b.c__v1_0", "a.b.d__v1_0")}
