"""Licences: what the extras install and what the package holds is allowed, and the check finds what is not."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import ROOT


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    import licences

    return licences


@pytest.mark.long
def test_the_licence_of_everything_that_the_extras_install_and_of_all_bundled_data_is_allowed() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "licences.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "licences: " in done.stdout


def test_a_distribution_with_another_or_no_licence_is_named(tool: ModuleType) -> None:
    bill = {
        "components": [
            {"name": "good", "version": "1", "licenses": [{"expression": "GPL-3.0-only OR MIT"}]},
            {"name": "with-exception", "licenses": [{"expression": "Apache-2.0 WITH LLVM-exception"}]},
            {"name": "viral", "version": "2", "licenses": [{"expression": "MIT AND AGPL-3.0-only"}]},
            {"name": "two", "version": "3", "licenses": [{"license": {"id": "MIT"}}, {"license": {"id": "GPL-2.0-only"}}]},
            {"name": "mute", "version": "4"},
        ]
    }
    assert list(tool.offences(bill)) == [
        "viral 2: (MIT AND AGPL-3.0-only)",
        "two 3: (MIT) AND (GPL-2.0-only)",
        "mute 4: no licence that can be read",
    ]
    assert list(tool.offences(bill, {"good", "absent"})) == ["absent: not in the bill of materials"]


def test_a_data_file_without_a_stated_licence_is_found(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "data_licences.yml").write_text("- {paths: [data_licences.yml, 'texts/*'], licence: MIT, origin: ours}\n")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").touch()
    (tmp_path / "model.bin").touch()
    assert tool.data_licences(tmp_path) == {"data_licences.yml": "MIT", "model.bin": "", "texts/one.txt": "MIT"}
    assert not tool.allowed("")
