"""The page on the architecture names what is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "areopage"


def test_every_file_that_the_page_names_exists() -> None:
    names = re.findall(r"`([\w/]+(?:/|\.py))`", PAGE)
    assert len(names) > 20
    assert [name for name in names if not (SOURCE / name).exists() and not (ROOT / name).exists()] == []


def test_every_package_is_in_the_picture() -> None:
    picture = PAGE.split("```")[1]
    packages = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert {name for name in packages if not re.search(rf"\b{name}\b", picture)} == set()
