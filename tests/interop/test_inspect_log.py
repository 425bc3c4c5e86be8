"""Logs that Inspect wrote become cases with their answers and scores; hostile ones are one line."""

import io
import json
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from areopage.cases.loader import load_dataset
from areopage.cases.readers import read_rows
from areopage.cases.records import Case, Dataset
from areopage.cases.rows import BadRow, Row
from areopage.errors import DatasetError, MissingExtra
from areopage.interop import eval_archive
from servers.inspect_library import with_inspect

WRITE = """
import json, sys
from pathlib import Path
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import generate, system_message
def reply(text):
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
    return output
@scorer(metrics=[mean()])
def length():
    async def score(state, target):
        text = state.output.completion
        return Score.unscored(reason="too long") if len(text) > 50 else Score(value=float(len(text)))
    return score
turns = [ChatMessageUser(content="hi"), ChatMessageAssistant(content="hello"), ChatMessageUser(content="Capital of Italy?")]
samples = [
    Sample(input="Capital of France?", target="Paris", id="fr", metadata={"category": "geography", "age": "any", "level": 3}),
    Sample(input=turns, target="Rome", id=2),
    Sample(input="6*7?", target=["42", "forty-two"], choices=["41", "42"]),
]
for name, form, epochs in (("whole", "eval", 1), ("whole", "json", 1), ("twice", "eval", 2)):
    replies = [reply("Paris"), reply("Berlin " * 20), reply("42")] * 2
    model = get_model("mockllm/model", custom_outputs=replies, memoize=False)
    task = Task(dataset=samples, solver=[system_message("Be short."), generate()], scorer=[match(), length()], name=name)
    [log] = eval(task, model=model, log_dir=".", log_format=form, display="none", epochs=epochs, max_samples=1)
    assert log.status == "success", log.error
print(json.dumps({path.name.split("_")[1] + path.suffix: path.name for path in Path(".").glob("*_*_*")}))
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A log in each format, as Inspect writes it."""
    folder = tmp_path_factory.mktemp("logs")
    found: dict[str, str] = with_inspect(WRITE, folder=folder)
    return {kind: folder / name for kind, name in found.items()}


def loaded(path: Path) -> Dataset:
    return load_dataset([path], default_maturity="")


@pytest.mark.parametrize("kind", ["whole.eval", "whole.json"])
def test_a_log_of_inspect_becomes_cases_with_answers_and_scores(logs: dict[str, Path], kind: str) -> None:
    data = loaded(logs[kind])
    by_id: dict[str, Case] = {case.id: case for case in data.cases}
    assert (sorted(by_id), data.rejected) == (["2", "3", "fr"], ())
    france, italy, product = by_id["fr"], by_id["2"], by_id["3"]
    assert (france.prompt, france.response, france.reference, france.system) == (
        *("Capital of France?", "Paris", "Paris", "Be short."),
    )
    assert (france.category, france.source) == ("geography", "inspect:whole")
    assert france.metadata["scores"] == {"match": 1.0, "length": 5.0}
    assert (france.metadata["sample_age"], france.metadata["level"], france.metadata["model"]) == ("any", 3, "mockllm/model")
    assert [turn.content for turn in italy.turns] == ["hi", "hello", "Capital of Italy?"]
    assert italy.response == "Berlin " * 20  # a long text is an attachment in the log
    assert italy.metadata["scores"] == {"match": 0.0}  # unscored is no number
    assert (product.reference, product.metadata["choices"]) == ("42\nforty-two", ["41", "42"])


def test_each_epoch_of_a_sample_is_a_case(logs: dict[str, Path]) -> None:
    ids = sorted(case.id for case in loaded(logs["twice.eval"]).cases)
    assert ids == ["2", "2-epoch-2", "3", "3-epoch-2", "fr", "fr-epoch-2"]


def test_a_compressed_log_without_its_decoder_names_the_extra(logs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "backports", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(MissingExtra, match=r"areopage\[inspect\]"):
        loaded(logs["whole.eval"])


def test_a_log_with_flipped_bytes_is_an_error_and_never_a_wrong_text(logs: dict[str, Path], tmp_path: Path) -> None:
    whole = logs["whole.eval"].read_bytes()
    good = {(case.id, str(case.prompt), case.response) for case in loaded(logs["whole.eval"]).cases}
    broken = tmp_path / "broken.eval"
    for place in range(0, len(whole), 97):
        broken.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            found = {(case.id, str(case.prompt), case.response) for case in loaded(broken).cases}
        except DatasetError as fault:
            assert "\n" not in str(fault)
        else:
            assert found <= good


def archive(path: Path, **entries: Any) -> Path:
    """A log with these entries; a name's `__` is a slash."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        for name, value in entries.items():
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            log.writestr(f"{name.replace('__', '/')}.json", content)
    return path


HEAD = {"version": 2, "eval": {"task": "t", "model": "m"}}
SAMPLE = {"id": "a", "input": "Why?", "output": {"completion": "So."}, "scores": {"s": {"value": float("nan")}}}


def test_a_log_with_nan_and_infinite_values_is_read(tmp_path: Path) -> None:
    several = {"value": {"k": True, "l": "N"}}
    scores = {"s": {"value": float("nan")}, "t": {"value": float("inf")}, "u": {"value": "P"}, "v": several}
    [case] = loaded(archive(tmp_path / "x.eval", header=HEAD, samples__a=SAMPLE | {"scores": scores})).cases
    assert case.metadata["scores"] == {"u": 0.5, "v.k": 1.0, "v.l": 0.0}


def test_samples_of_wrong_types_are_bad_rows_and_the_others_are_used(tmp_path: Path) -> None:
    image = [{"role": "user", "content": [{"type": "image", "image": "data:..."}]}]
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    path = archive(
        tmp_path / "x.eval",
        header=HEAD,
        samples__a=SAMPLE,
        samples__b={"id": "b"},
        samples__c=SAMPLE | {"id": "c", "input": image},
        samples__d=[1, 2],
        samples__e=b"{",
        samples__f=SAMPLE | {"id": "f", "metadata": {"x": deep}},
        samples__g=SAMPLE | {"id": "g", "input": []},
        samples__h=b"[" * 100_000,
        samples__i=SAMPLE | {"id": "i", "input": "x" * 5_000_000},
    )
    rows = list(read_rows(path))
    assert [row.number for row in rows if isinstance(row, Row)] == [1]
    reasons = [row.reason for row in rows if isinstance(row, BadRow)]
    assert len(reasons) == 8
    assert "only texts can be judged" in reasons[1]
    assert all("\n" not in reason and len(reason) < 400 for reason in reasons)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK", "damaged or not a log"),
        (b"not a zip at all", "damaged or not a log"),
        (b"PK\x05\x06" + b"\0" * 18, "has no header.json"),
        (b"PK\x05\x06" + b"\0" * 4 + struct.pack("<HHIIH", 65535, 65535, 0, 0, 0), "no header.json"),
        (b"PK\x05\x06" + b"\0" * 4 + struct.pack("<HHIIH", 1, 1, 2**31, 0, 0), "more than"),
    ],
)
def test_what_is_no_log_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=words) as fault:
        loaded(path)
    assert "\n" not in str(fault.value)


def test_entries_that_unpack_to_too_much_are_bad_rows_and_then_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_archive, "MAX_ENTRY", 1_000_000)
    monkeypatch.setattr(eval_archive, "MAX_LEAST", 3_500_000)
    bomb = {f"samples__{number}": b" " * 10_000_000 for number in range(5)}
    path = archive(tmp_path / "x.eval", header=HEAD, samples__a=SAMPLE, **bomb)
    monkeypatch.setattr(eval_archive, "MAX_RATIO", 2)
    found: list[Row | BadRow] = []
    with pytest.raises(DatasetError, match="unpacks to more than 2 times its size"):
        found.extend(read_rows(path))
    assert path.stat().st_size < 1_000_000


def test_an_entry_that_states_a_smaller_size_is_limited_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstd = pytest.importorskip("backports.zstd")
    content = zstd.compress(b'{"id": "' + b"x" * 5_000_000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as log:
        log.writestr("header.json", json.dumps(HEAD))
        log.writestr("samples/a.json", content)
    raw = bytearray(stream.getvalue())
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = raw.rfind(signature)
        raw[place + at : place + at + 2] = struct.pack("<H", eval_archive.ZSTANDARD)
    path = tmp_path / "x.eval"
    path.write_bytes(bytes(raw))
    monkeypatch.setattr(eval_archive, "MAX_ENTRY", 100_000)
    [row] = read_rows(path)
    assert isinstance(row, BadRow)
    assert "longer than" in row.reason


def test_our_own_log_gives_back_the_cases_it_was_written_from(tmp_path: Path) -> None:
    document = {"id": "d1", "text": "Facts."}
    metadata = {"case_id": "../odd", "category": "safety", "tags": ["x"], "documents": [document], "metadata": {"note": "n"}}
    head = {"version": 2, "eval": {"task": "t", "packages": {"areopage": "0.1.0"}}}
    path = archive(tmp_path / "x.eval", header=head, samples__a=SAMPLE | {"metadata": metadata | {"maturity": "Child"}})
    [case] = load_dataset([path], default_maturity="Teen").cases
    assert (case.id, case.category, case.tags, case.maturity) == ("../odd", "safety", ("x",), "Child")
    assert (case.documents[0].text, case.metadata["note"]) == ("Facts.", "n")
