"""`cases convert`: any dataset that can be read becomes any table that can be written, and says what it cannot keep."""

import json
from pathlib import Path

import pytest

from areopage.cases.loader import load_dataset
from servers.command import Command

ROWS = [
    {"instruction": "Why?", "answer": "So.", "documents": [{"id": "d", "text": "Facts."}], "tags": ["a", "b"], "level": 3},
    {"instruction": "=1+1", "answer": "-", "prompt": "not this", "note": {"x": [1]}},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "set" / "data").mkdir(parents=True)
    path = tmp_path / "set" / "data" / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return tmp_path / "set"


@pytest.mark.parametrize("form", ["jsonl", "csv", "xlsx", "parquet"])
def test_a_converted_dataset_has_the_same_cases(command: Command, source: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / f"out.{form}"
    done = command("cases", "convert", source, out, "--split", "test", "--column", "prompt=instruction")
    assert (done.code, done.out) == (0, f"written: {out} (2 cases)\n"), done.err
    first, second = load_dataset([out], default_maturity="").cases
    assert (first.prompt, first.response, first.tags) == ("Why?", "So.", ("a", "b"))
    assert first.documents[0].text == "Facts."
    assert second.prompt == ("'=1+1" if form == "csv" else "=1+1")
    assert second.metadata["source_prompt"] == "not this"


def test_what_cannot_be_used_is_counted_named_and_written(command: Command, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("prompt,age\nok,8\n,9\nbad,never\n")
    done = command("cases", "convert", tmp_path / "in.csv", tmp_path / "o.jsonl", "--rejected", tmp_path / "r.csv")
    assert done.code == 3
    assert "rejected: 1 row" in done.err
    assert "the prompt is empty" in (tmp_path / "r.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("in.jsonl", "out.txt"), "the ending says no format"),
        (("in.jsonl", "out.csv"), "conversations, which only JSON Lines hold"),
        (("in.jsonl", "out.jsonl", "--column", "prompt"), "FIELD=NAME"),
        (("in.jsonl", "out.jsonl", "--column", "colour=x"), "FIELD=NAME"),
        (("in.jsonl", "out.jsonl", "--column", "prompt=absent"), "no column 'absent'"),
        (("in.jsonl", "out.jsonl", "--split", "test"), "are for folders"),
        (("missing", "out.jsonl"), "no such file"),
        (("missing", "out.jsonl", "--split", "test"), "no such file"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    (tmp_path / "in.jsonl").write_text(json.dumps({"prompt": turns}))
    source, out, *more = arguments
    done = command("cases", "convert", tmp_path / source, tmp_path / out, *more)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert words in done.err
    assert not (tmp_path / out).exists()
