"""A file is the old one or the new one, whatever happens between."""

import subprocess
import sys
from pathlib import Path

import pytest

from areopage.errors import StorageError
from areopage.report.tables import replacing

RUN_OUT_OF_SPACE = """
import resource, sys
from pathlib import Path
from areopage.errors import StorageError
from areopage.report.tables import replacing
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with replacing(Path(sys.argv[1])) as place, place.open("wb") as stream:
        stream.write(b"x" * 100_000)
except StorageError as fault:
    print(fault)
"""


def test_the_new_file_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as place:
        place.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_fault_in_the_middle_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as place:
        place.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_write_that_runs_out_of_space_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", RUN_OUT_OF_SPACE, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path} cannot be written: File too large\n"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_keeps_pointing_to_the_file_that_is_replaced(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with replacing(link) as place:
        place.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_folder_in_the_files_place_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Is a directory"), replacing(tmp_path) as place:
        place.write_text("new")
