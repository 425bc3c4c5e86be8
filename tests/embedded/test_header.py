"""The header of GGUF files, which may come from strangers."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import ModelError
from servers.gguf import gguf, text

pytest.importorskip("gguf", reason='needs pip install "areopage[embedded]"')

from areopage.embedded.header import read_context_length

CHAT: dict[str, object] = {
    "general.architecture": "llama",
    "tokenizer.ggml.tokens": ["a", "b" * 5000, ""],
    "llama.context_length": 8192,
    "tokenizer.chat_template": "{{ messages }}",
}

VALUE = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a")
"""The beginning of a file with one value, called a."""


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_chat_model_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.gguf", gguf(CHAT, tensors=3))
    assert read_context_length(path) == 8192
    silent = {name: value for name, value in CHAT.items() if name != "llama.context_length"}
    assert read_context_length(written(path, gguf(silent))) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a GGUF file"),
        (b"GG", "is not a GGUF file"),
        (b"hello, world", "is not a GGUF file"),
        (b"GGUF" + struct.pack("<I", 1), "is cut or damaged"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "file appears to be version 1"),
        (gguf(CHAT, tensors=2)[:-1], "is cut or damaged .*it has .* bytes and needs .*: fetch it again"),
        (gguf(CHAT)[:90], "is cut or damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "0 tensors and 9,223,372,036,854,775,808 values"),
        (VALUE + struct.pack("<I", 99) + bytes(20), "99.* is not a valid GGUFValueType"),
        (VALUE + struct.pack("<IIQ", 9, 9, 1) + bytes(20), "a list of ARRAY"),
        (VALUE + struct.pack("<IIQ", 9, 0, 2**63) + bytes(20), "is cut or damaged"),
        (VALUE + struct.pack("<IIQ", 9, 8, 2**63) + bytes(20), "is cut or damaged"),
        (VALUE + struct.pack("<I", 8) + text("b" * 1_100_000), "a text of 1,100,000 bytes"),
        (VALUE + struct.pack("<I", 8) + struct.pack("<Q", 2) + b"\xff\xfe", "is cut or damaged"),
        (gguf(CHAT | {"general.alignment": 0}), "Invalid alignment"),
        (gguf(CHAT | {"split.count": 3}), "one part of a split model"),
        (gguf(CHAT | {"general.type": "adapter"}), "holds 'adapter', which writes no text"),
        (gguf(CHAT | {"general.architecture": "bert"}), "holds 'bert', which writes no text"),
        (gguf(CHAT | {"tokenizer.chat_template": ""}), "has no chat template"),
    ],
)
def test_a_file_that_cannot_chat_is_refused_with_the_reason(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path / "a.gguf", content)
    with pytest.raises(ModelError, match=message) as caught:
        read_context_length(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(place=st.integers(0, len(gguf(CHAT, 2)) - 1), value=st.binary(min_size=1, max_size=8))
def test_damage_anywhere_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, place: int, value: bytes) -> None:
    content = gguf(CHAT, 2)
    path = written(tmp_path_factory.getbasetemp() / "damaged.gguf", content[:place] + value + content[place + len(value) :])
    try:
        read_context_length(path)
    except ModelError as fault:
        assert "damaged.gguf" in str(fault)
