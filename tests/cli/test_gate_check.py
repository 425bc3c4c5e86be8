"""`areopage gate check`: one answer from the options, or those of a file."""

import json
from pathlib import Path

import pytest

from servers.command import Command

PROMPT = "Quelle est la durée du bail ?"
GOOD, BAD = "Le bail dure trois ans [bail].", "Le bail dure trois ans [doc9]."


def document(folder: Path) -> Path:
    path = folder / "bail.txt"
    path.write_text("Le bail dure trois ans. Le loyer est fixe.", encoding="utf-8")
    return path


def test_an_answer_that_may_leave_ends_with_0_and_another_with_1(command: Command, tmp_path: Path) -> None:
    path = document(tmp_path)
    good = command("gate", "check", "--prompt", PROMPT, "--response", GOOD, "--document", path)
    assert (good.code, good.err) == (0, "")
    assert good.out.startswith("deliver: La réponse peut être délivrée.")
    assert "[bail]" in good.out.splitlines()[-1]
    assert good.out.splitlines()[-2].startswith("  Comparaison des mots de chaque phrase")
    bad = command("gate", "check", "--prompt", PROMPT, "--response", BAD, "--document", path, "--lang", "en")
    assert bad.code == 1
    assert "human_review: The answer is held for human review." in bad.out
    assert "“[doc9]” refers to a document that does not exist." in bad.out


def test_a_file_of_answers_is_decided_line_by_line(command: Command, tmp_path: Path) -> None:
    rows = [
        {"id": name, "prompt": PROMPT, "response": response, "documents": [{"id": "bail", "text": "Le bail dure trois ans."}]}
        for name, response in (("a", GOOD), ("b", BAD))
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ended = command("gate", "check", "--file", path, "--json")
    assert ended.code == 1
    found = [json.loads(line) for line in ended.out.splitlines()]
    assert [(one["id"], one["verdict"]) for one in found] == [("a", "deliver"), ("b", "human_review")]
    assert found[0]["metrics"]["cites_ok"] is True
    assert "# b" in command("gate", "check", "--file", path).out
    documented = command("gate", "check", "--file", path, "--json", "--rules", "v1_1")
    assert [json.loads(line)["profile"] for line in documented.out.splitlines()] == ["v1_1", "v1_1"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_file_without_an_end_is_not_read_to_it(command: Command, tmp_path: Path) -> None:
    answer = ("gate", "check", "--prompt", "Quel délai ?", "--response", "Dix jours.")
    assert "larger than" in command(*answer, "--document", "/dev/zero").refused()
    (tmp_path / "gate.yml").write_text("grounding: /dev/zero\n", encoding="utf-8")
    assert "larger than" in command(*answer, "--rules", tmp_path).refused()


def test_a_row_that_is_left_out_is_not_passed(command: Command, tmp_path: Path) -> None:
    row = {"id": "a", "prompt": PROMPT, "response": GOOD, "documents": [{"id": "bail", "text": "Le bail dure trois ans."}]}
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, "response": BAD}) + "\n", encoding="utf-8")
    ended = command("gate", "check", "--file", path)
    assert ended.code == 1
    assert "row 2: skipped: the id 'a' is taken" in ended.err
    assert "human_review" not in ended.out


def test_a_document_that_is_no_text_is_refused_with_what_it_is(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bail.pdf"
    for content, said in (
        (b"%PDF-1.4\n", "a PDF, not text"),
        (b"a\0b", "a NUL character"),
        ("é".encode("utf-16"), "save it as UTF-8"),
    ):
        path.write_bytes(content)
        assert said in command("gate", "check", "--prompt", PROMPT, "--response", GOOD, "--document", path).refused()


def test_what_is_missing_is_said_in_one_line(command: Command, tmp_path: Path) -> None:
    for given, said in (
        (["--prompt", "x"], "give --prompt and --response"),
        (["--file", "x.jsonl", "--prompt", "x"], "--file cannot be combined with"),
        (["--prompt", "x", "--response", "y", "--document", tmp_path / "none.txt"], "none.txt"),
        (["--prompt", "x", "--response", "y", "--lang", "de"], "--lang 'de'"),
        (["--prompt", "x", "--response", "y", "--config", "none.yml"], "none.yml: no such file"),
    ):
        ended = command("gate", "check", *given)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert said in ended.err
    path = tmp_path / "cases.jsonl"
    path.write_text('{"prompt": "x"}\n', encoding="utf-8")
    assert "no response: add a column response" in command("gate", "check", "--file", path).err


def test_a_file_of_answers_ends_with_counts_and_what_their_labels_say(command: Command, tmp_path: Path) -> None:
    documents = [{"id": "bail", "text": "Le bail dure trois ans."}]
    rows: list[dict[str, object]] = [
        {"id": "a", "response": GOOD, "grounded": "yes"},
        {"id": "b", "response": BAD, "grounded": "no"},
        {"id": "c", "response": f"{GOOD} Voilà.", "grounded": "partly"},
        {"id": "d", "response": f"{GOOD} Bien à vous."},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text(
        "".join(json.dumps({"prompt": PROMPT, "documents": documents} | row) + "\n" for row in rows), encoding="utf-8"
    )
    ended = command("gate", "check", "--file", path, "--summary")
    assert ended.out.strip().splitlines() == [
        "4 answers: 3 deliver, 1 human_review",
        "labelled: 3",
        "  ungrounded: 2, of these 1 delivered, 1 not",
        "  grounded: 1, of these 1 delivered, 0 not",
    ]
    whole = command("gate", "check", "--file", path)
    assert whole.out.endswith(ended.out)
    assert "--summary needs --file" in command("gate", "check", "--prompt", "x", "--response", "y", "--summary").refused()
