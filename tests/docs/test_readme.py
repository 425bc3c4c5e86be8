"""A stranger who follows the README gets what it says, in both languages."""

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from servers import PATIENCE
from servers.examples import ROOT, environment_of, play

READMES = ("README.md", "README.fr.md")
# systems such as Debian let pip install into a virtual environment only
ENVIRONMENT = ["python3", "-m", "venv", ".venv", "&&", ".", ".venv/bin/activate"]
INSTALL = ["pip", "install", "."]
COMMANDS = re.compile(r"^```sh\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", READMES)
def test_the_readme_says_it_in_300_words_before_its_links(name: str) -> None:
    told = re.split(r"^## (?:Links|Liens)$", text_of(name), flags=re.MULTILINE)
    assert len(told) == 2
    words = re.findall(r"[^\W_][\w’'.-]*", re.sub(r"\]\([^)]*\)|src=\"[^\"]*\"", "]", told[0]))
    assert 100 < len(words) <= 300


@pytest.mark.parametrize("name", READMES)
def test_the_example_of_the_readme_has_ten_lines_and_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    text = text_of(name)
    (body,) = re.findall(r"^```python \w+\.py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len([line for line in body.splitlines() if line.strip()]) <= 10
    assert play(text, tmp_path / "work", environment_of(tmp_path / "bin")) == 1


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which `pip install .` has installed the package."""
    if find_spec("hatchling") is None and "hatchling" not in os.environ.get("AREOPAGE_REQUIRE", ""):
        pytest.skip('installing builds the package: pip install "areopage[dev]"')
    place = tmp_path_factory.mktemp("installed")
    offline = ["--no-deps", "--no-build-isolation", "--no-compile", "--disable-pip-version-check", "--target", str(place)]
    subprocess.run(
        [sys.executable, "-m", *INSTALL[:2], "--quiet", *offline, *INSTALL[2:]], cwd=ROOT, check=True, timeout=5 * PATIENCE
    )
    return place


@pytest.mark.parametrize("name", READMES)
def test_the_commands_of_the_readme_install_areopage_and_write_the_page_it_names(
    name: str, tmp_path: Path, installed: Path
) -> None:
    (block,) = COMMANDS.findall(text_of(name))
    environment, install, demo = (shlex.split(line, comments=True) for line in block.splitlines())
    (page,) = re.findall(r"[\w-]+/index\.html", block)
    assert environment == ENVIRONMENT
    assert install == INSTALL
    assert demo[0] == "areopage"
    command = [str(installed / "bin" / demo[0]), *demo[1:]]
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(installed)}, check=True, timeout=5 * PATIENCE)
    assert (tmp_path / page).is_file()


@pytest.mark.parametrize("name", READMES)
def test_the_links_and_pictures_of_the_readme_exist(name: str) -> None:
    text = text_of(name)
    places = re.findall(r"\]\(([^)#]+)|src=\"([^\"]+)\"", text)
    for place in (one or other for one, other in places):
        assert (ROOT / place).exists(), place
    pictures = list((ROOT / "docs" / "pictures").glob("*.png"))
    assert pictures and all(picture.stat().st_size < 300_000 for picture in pictures)
