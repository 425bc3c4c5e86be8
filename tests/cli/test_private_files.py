"""What the command writes holds answers and secrets: it is for its owner alone."""

import stat
from pathlib import Path

import pytest

from areopage.report.tables import replacing
from servers.command import Command
from servers.fake_llm import FakeServer


def open_to_others(folder: Path) -> list[str]:
    """The files and folders below a folder that its group or others can read or enter."""
    places = [one for one in folder.rglob("*") if not one.is_symlink()]
    return sorted(str(one.relative_to(folder)) for one in places if stat.S_IMODE(one.stat().st_mode) & 0o077)


@pytest.mark.skipif("sys.platform == 'win32'", reason="Windows has no such permissions")
def test_a_run_of_the_benchmark_leaves_files_for_its_owner_alone(command: Command, server: FakeServer, suite: Path) -> None:
    ran = command("bench", "run", "--suite", suite)
    assert ran.code == 0, ran.err
    (folder,) = command.run_folders()
    assert {"results.json", "report.html", "run.log"} <= {one.name for one in folder.iterdir()}
    assert open_to_others(command.outputs) == []


def test_a_file_that_its_owner_opened_to_others_stays_so(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    for mode in (0o600, 0o644):
        with replacing(place) as temporary:
            temporary.write_text("x", encoding="utf-8")
        assert stat.S_IMODE(place.stat().st_mode) == mode
        place.chmod(0o644)
