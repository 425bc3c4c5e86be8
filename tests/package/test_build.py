"""What is published: the same bytes from the same sources, complete metadata, and no file that does not belong."""

import hashlib
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import areopage

from .conftest import ROOT, Built, build, copy_tree, run_build, tracked

STRAY = (
    "src/areopage/__pycache__/x.cpython-311.pyc",
    "src/areopage/.mypy_cache/x.json",
    "outputs/ledger.db",
    "deploy/.env",
    "docs/local.env",
    ".venv/bin/python",
    ".hypothesis/examples/x",
    "notes.txt",
    "dist/old.whl",
)
SDIST = ("src/areopage/", "tests/", "docs/", "deploy/", "tools/")
TOP = {
    *("Makefile", "mkdocs.yml", "pyproject.toml", ".gitignore", "LICENSE"),
    *("README.md", "README.fr.md", "CHANGELOG.md", "CONTRIBUTING.md"),
}


def test_two_builds_in_different_folders_at_different_times_have_the_same_bytes(tmp_path: Path, built: Built) -> None:
    other = copy_tree(tmp_path / "elsewhere" / "deeper")
    for file in other.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
        file.chmod(0o755 if file.is_dir() else 0o600)
    for name in STRAY:
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text("of no use to others")
    (other / "dist" / "old.whl").unlink()
    again = build(other, TZ="Pacific/Auckland", PYTHONHASHSEED="7", LC_ALL="C.UTF-8")
    for first, second in ((built.wheel, again.wheel), (built.sdist, again.sdist)):
        assert first.name == second.name
        assert _digest(first) == _digest(second), first.name


def test_the_date_of_the_build_is_that_of_the_variable(tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "tree")
    run_build(tree, "--sdist", SOURCE_DATE_EPOCH="1700000000")
    (sdist,) = (tree / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert {member.mtime for member in archive} == {1_700_000_000}
        assert {(member.uid, member.gid, member.uname, member.gname) for member in archive} == {(0, 0, "", "")}


def test_the_sdist_holds_sources_tests_and_documentation_and_nothing_else(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    wanted = {name for name in tracked() if name.startswith(SDIST) or name in TOP}
    assert names == wanted | {"PKG-INFO"}
    assert not any(name.endswith((".pyc", ".env", ".db")) for name in names)


def test_the_wheel_holds_the_package_its_data_and_its_licences(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = set(archive.namelist())
    wanted = {name.removeprefix("src/") for name in tracked() if name.startswith("src/areopage/")}
    information = f"areopage-{areopage.__version__}.dist-info"
    assert {name for name in names if not name.startswith(information)} == wanted
    assert "areopage/py.typed" in names
    licences = {name for name in names if name.startswith(f"{information}/licenses/")}
    assert {Path(name).name for name in licences} == {"LICENSE", "htmx.LICENSE.txt"}


def test_the_metadata_are_complete_and_name_only_the_python_that_is_tested(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (place,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(archive.read(place).decode())
    assert fields["Name"] == "areopage" and fields["Version"] == areopage.__version__
    assert fields["License-Expression"] == "Apache-2.0 AND 0BSD"
    assert all(fields[name] for name in ("Summary", "Author", "Keywords", "Requires-Python"))
    assert fields["Description-Content-Type"] == "text/markdown" and "areopage demo" in str(fields.get_payload())
    pythons = [one for one in fields.get_all("Classifier", []) if one.startswith("Programming Language :: Python :: 3.")]
    assert pythons == [f"Programming Language :: Python :: {sys.version_info[0]}.{sys.version_info[1]}"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(fields.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])


def test_a_registry_accepts_the_metadata_and_the_description(built: Built) -> None:
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", str(built.wheel), str(built.sdist)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
