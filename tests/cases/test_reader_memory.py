"""Memory does not grow with the file: peaks are measured in a process of their own."""

import os
import re
import resource
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from servers import THOROUGH

# The peak of getrusage starts at that of the process which started this one; /proc knows the process alone.
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")

MEGABYTE = 1024 * 1024
# A Python with the reader's imports takes about 20 MB, and the longest record 4 MB; a file held in memory, its own size.
PEAK = 80 * MEGABYTE
SIZE = (300 if THOROUGH else 120) * MEGABYTE

COUNT_ROWS = """
import sys
from pathlib import Path
from areopage.cases.readers import read_rows
from areopage.errors import DatasetError
count, outcome = 0, "read"
try:
    for row in read_rows(Path(sys.argv[1])):
        count += 1
except DatasetError as fault:
    outcome = str(fault)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(count, int(status["VmHWM"].split()[0]) * 1024, outcome)
"""


def measure(path: Path, most: int | None = None) -> tuple[int, int, str]:
    """Return the rows read, the peak in bytes, and how it ended; the process dies at `most` bytes of addresses."""
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", COUNT_ROWS, str(path)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=None if most is None else lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    count, peak, outcome = done.stdout.strip().split(" ", 2)
    return int(count), int(peak), outcome


def write_repeated(path: Path, head: bytes, row: bytes, size: int) -> int:
    """Write `row` until the file has `size` bytes; return how many rows that took."""
    per_block = MEGABYTE // len(row)
    blocks = size // (per_block * len(row))
    with path.open("wb") as stream:
        stream.write(head)
        for _ in range(blocks):
            stream.write(row * per_block)
    return blocks * per_block


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("large.csv", b"id,prompt\n", b'1,"' + ("où est le chat ? " * 20 + "\n").encode() * 10 + b'"\n'),
        ("large.jsonl", b"", b'{"id": 1, "prompt": "' + b"where is the cat? " * 200 + b'"}\n'),
    ],
)
def test_a_large_file_is_read_in_flat_memory(tmp_path: Path, name: str, head: bytes, row: bytes) -> None:
    path = tmp_path / name
    written = write_repeated(path, head, row, SIZE)
    try:
        count, peak, outcome = measure(path)
    finally:
        path.unlink()
    assert (count, outcome) == (written, "read")
    assert peak < PEAK


@pytest.mark.parametrize("name", ["endless.csv", "endless.tsv", "endless.jsonl"])
def test_a_file_without_a_line_end_is_refused_and_not_loaded(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_repeated(path, b"", b"a" * 1024, SIZE)
    try:
        count, peak, outcome = measure(path)
    finally:
        path.unlink()
    assert count == 0
    assert "is longer than" in outcome
    assert peak < PEAK


SHEET = "xl/worksheets/sheet1.xml"
SHARED = "xl/sharedStrings.xml"
WORKBOOK_PEAK = 300 * MEGABYTE


def write_workbook(path: Path, parts: dict[str, bytes], sheet: str = SHEET) -> Path:
    """A workbook with one sheet, and its parts as they are."""
    space = "http://schemas.openxmlformats.org"
    office = f"{space}/officeDocument/2006/relationships"
    start = f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship Id="r1" Type="{office}'
    main = f'<workbook xmlns="{space}/spreadsheetml/2006/main" xmlns:r="{office}"><sheets><sheet name="A" sheetId="1" r:id="r1"/>'
    whole = {
        "_rels/.rels": f'{start}/officeDocument" Target="xl/workbook.xml"/></Relationships>'.encode(),
        "xl/workbook.xml": f"{main}</sheets></workbook>".encode(),
        "xl/_rels/workbook.xml.rels": f'{start}/worksheet" Target="{sheet.removeprefix("xl/")}"/></Relationships>'.encode(),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**whole, **parts}.items():
            archive.writestr(name, content)
    return path


def cells(count: int, cell: bytes) -> bytes:
    """A sheet with a header and so many equal cells, one in a row."""
    head = b'<worksheet><sheetData><row><c t="inlineStr"><is><t>prompt</t></is></c></row>'
    return head + b"<row>" + b"</row><row>".join([cell] * count) + b"</row></sheetData></worksheet>"


def texts(*contents: bytes) -> bytes:
    return b"<sst>" + b"".join(b"<si><t>" + one + b"</t></si>" for one in contents) + b"</sst>"


def with_hidden_size(path: Path) -> Path:
    """A part that unpacks to far more than the archive says, behind a whole document."""
    write_workbook(path, {SHEET: b"<worksheet/>" + cells(20_000, b'<c t="inlineStr"><is><t>' + b"a" * 3000 + b"</t></is></c>")})
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(SHEET)
    declared, told = info.file_size.to_bytes(4, "little"), len(b"<worksheet/>").to_bytes(4, "little")
    first = zlib.crc32(b"<worksheet/>").to_bytes(4, "little")
    path.write_bytes(content.replace(declared, told).replace(info.CRC.to_bytes(4, "little"), first))
    return path


REFERENCE = b'<c t="s"><v>0</v></c>'
BOMBS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "one text, many cells": (
        lambda path: write_workbook(path, {SHARED: texts(b"a" * 100_000), SHEET: cells(200_000, REFERENCE)}),
        "take more than 256 MB",
    ),
    "one long text": (
        lambda path: write_workbook(path, {SHARED: texts(b"a" * 40_000_000), SHEET: cells(1, REFERENCE)}),
        "a cell has more than 4,194,304 bytes",
    ),
    "a long tag": (
        lambda path: write_workbook(path, {SHEET: cells(1, b'<c r="' + b"a" * 30_000_000 + b'"/>')}),
        "a tag or a comment is too long",
    ),
    "a sheet of another name": (
        lambda path: write_workbook(path, {"xl/sheet.txt": cells(9, b"<c/>")}, sheet="xl/sheet.txt"),
        "a sheet is no XML",
    ),
    "a hidden size": (with_hidden_size, "damaged|not an XLSX workbook|is too"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_workbook_does_not_take_much_memory(tmp_path: Path, name: str) -> None:
    make, reason = BOMBS[name]
    path = make(tmp_path / "small.xlsx")
    assert path.stat().st_size < 3 * MEGABYTE
    count, peak, outcome = measure(path, most=700 * MEGABYTE)
    assert count == 0
    assert re.search(reason, outcome), outcome
    assert outcome.startswith(f"{path}: ")
    assert peak < WORKBOOK_PEAK


def test_a_workbook_near_the_limit_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "full.xlsx", {SHARED: texts(b"a" * 1_000_000), SHEET: cells(220, REFERENCE)})
    count, peak, outcome = measure(path, most=700 * MEGABYTE)
    assert (count, outcome) == (220, "read")
    assert peak < WORKBOOK_PEAK
