"""The package as users get it: built once for all tests of a session, and installed into a clean environment."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
NAMED = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Built:
    """A wheel and a sdist."""

    wheel: Path
    sdist: Path


def clean_environment() -> dict[str, str]:
    """The variables of a shell that knows nothing of this repository."""
    return {name: value for name, value in os.environ.items() if name not in NAMED}


def tracked() -> list[str]:
    """The files of the repository that are committed or would be, by their paths."""
    if not (ROOT / ".git").exists():
        pytest.skip("the tests of the package need the repository, with git")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


def copy_tree(folder: Path) -> Path:
    """A copy of the repository without its history, which a build may fill with its own files."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def run_build(tree: Path, *options: str, **variables: str) -> None:
    """Build the sdist of a tree, and the wheel from the sdist, or what options say, into `dist`."""
    environment = clean_environment() | variables
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(tree / "dist"), str(tree)]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def build(tree: Path, **variables: str) -> Built:
    """Build the sdist of a tree, and the wheel from the sdist."""
    run_build(tree, **variables)
    (wheel,), (sdist,) = (tree / "dist").glob("*.whl"), (tree / "dist").glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="session")
def built(session_folder: Path) -> Built:
    """Wheel and sdist of this tree; one process of a session builds them."""
    place = session_folder / "built"
    with FileLock(session_folder / "built.lock"):
        if not place.exists():
            unfinished = session_folder / "built.part"
            build(copy_tree(unfinished))
            unfinished.rename(place)
    (wheel,), (sdist,) = (place / "dist").glob("*.whl"), (place / "dist").glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="session")
def clean(session_folder: Path, built: Built) -> Path:
    """A virtual environment that holds the wheel and what it needs, and no installer; its folder of programs."""
    place, done = session_folder / "clean", session_folder / "clean.done"
    with FileLock(session_folder / "clean.lock"):
        if not done.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(place)], check=True)
            install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(place / "bin" / "python")]
            ended = subprocess.run(
                [*install, str(built.wheel)], env=clean_environment(), capture_output=True, text=True, check=False
            )
            if ended.returncode and "registry" not in os.environ.get("AREOPAGE_REQUIRE", ""):
                pytest.skip(f"the dependencies cannot be installed: {ended.stderr.strip()[-200:]}")
            assert ended.returncode == 0, ended.stderr
            done.touch()
    return place / "bin"
