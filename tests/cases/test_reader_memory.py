"""Memory does not grow with the file: peaks are measured in a process of their own."""

import os
import subprocess
import sys
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


def measure(path: Path) -> tuple[int, int, str]:
    """Return the rows read, the peak in bytes, and how it ended."""
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", COUNT_ROWS, str(path)],
        capture_output=True,
        text=True,
        check=True,
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
