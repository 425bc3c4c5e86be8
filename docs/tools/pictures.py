"""Draw the pictures of the README and the documentation: the overview figure and a report of the demonstration.

    python docs/tools/pictures.py [FOLDER]

The figure is an SVG with its own background, light and dark. The report is the page that `areopage demo` writes for the
target that fails, opened in headless Chromium. Both are made in English and in French.
"""

import subprocess
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from playwright.sync_api import Browser, sync_playwright

from areopage.locales import LANGUAGES

PICTURES = Path(__file__).parents[1] / "pictures"
CHROMIUM = "/usr/bin/chromium"
REPORT_WIDTH, REPORT_SCALE = 1080, 1.2
_WORDS = Path(__file__).with_name("figure_words.yml")
_LAST_SHOWN = ".final .ruler"
_REFUSED = "banner alarm"
_STYLE = """
.ground { fill: #fdfcf9; stroke: #dcd8cb; }
.card { fill: #ffffff; stroke: #b9c6cf; }
.store { fill: #1d5273; }
.people { fill: #f1e9d2; stroke: #d8caa0; }
.strong { fill: #1b1b1b; }
.soft { fill: #5a5a55; }
.name { fill: #1d5273; }
.light { fill: #ffffff; }
.line { stroke: #1d5273; }
.tip { fill: #1d5273; }
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; text-anchor: middle; }
.code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) {
.ground { fill: #17191c; stroke: #33383e; }
.card { fill: #202429; stroke: #46525c; }
.store { fill: #2b6c96; }
.people { fill: #37321f; stroke: #5c5433; }
.strong { fill: #f0efe9; }
.soft { fill: #b4b2a9; }
.name { fill: #8cc4e8; }
.line { stroke: #8cc4e8; }
.tip { fill: #8cc4e8; }
}
"""


def figure(words: Mapping[str, Any]) -> str:
    """The overview figure as an SVG document, 960 units wide."""
    cards = "".join(_card(40 + 300 * place, application) for place, application in enumerate(words["applications"]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 460" role="img"><title>{escape(words["title"])}</title>'
        f"<style>{_STYLE}</style>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
        '<rect class="ground" x="1" y="1" width="958" height="458" rx="12"/>'
        f"{cards}"
        '<rect class="store" x="40" y="250" width="880" height="76" rx="8"/>'
        f"{_text(480, 283, 20, 'light', words['ledger'], bold=True)}{_text(480, 309, 16, 'light', words['ledger_line'])}"
        f"{_arrow(480, 328, 362)}"
        '<rect class="people" x="190" y="364" width="580" height="72" rx="8"/>'
        f"{_text(480, 394, 18, 'strong', words['people'], bold=True)}{_text(480, 420, 15, 'soft', words['people_line'])}"
        "</svg>\n"
    )


def _card(left: int, application: Mapping[str, Any]) -> str:
    middle = left + 140
    lines = "".join(_text(middle, 114 + 23 * place, 16, "soft", line) for place, line in enumerate(application["lines"]))
    return (
        f'<rect class="card" x="{left}" y="30" width="280" height="184" rx="8"/>'
        f"{_text(middle, 57, 15, 'soft', application['when'])}"
        f"{_text(middle, 86, 24, 'name code', application['name'], bold=True)}"
        f'{lines}<path class="line" d="M{left + 20} 158H{left + 260}" stroke-width="1" opacity=".4"/>'
        f"{_text(middle, 190, 13, 'strong', application['outcome'], bold=True)}{_arrow(middle, 216, 248)}"
    )


def _text(x: int, y: int, size: int, style: str, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text class="{style}" x="{x}" y="{y}" font-size="{size}"{weight}>{escape(text)}</text>'


def _arrow(x: int, top: int, bottom: int) -> str:
    ends = 'marker-start="url(#tip)" marker-end="url(#tip)"'
    return f'<path class="line" d="M{x} {top}V{bottom}" stroke-width="2" {ends}/>'


def report_picture(browser: Browser, language: str, picture: Path) -> None:
    """Play the demonstration in a language and photograph the report of the target that fails, down to the final score."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "areopage", "demo", "--folder", "demo", "--lang", language]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (report,) = [
            one for one in Path(folder, "demo", "runs").glob("*/report.html") if _REFUSED in one.read_text(encoding="utf-8")
        ]
        page = browser.new_page(
            viewport={"width": REPORT_WIDTH, "height": 800}, device_scale_factor=REPORT_SCALE, color_scheme="light"
        )
        page.goto(report.as_uri())
        box = page.locator(_LAST_SHOWN).first.bounding_box()
        if box is None:
            raise RuntimeError(f"{report.name} shows no {_LAST_SHOWN}")
        area = {"x": 0, "y": 0, "width": REPORT_WIDTH, "height": box["y"] + box["height"] + 20}
        page.screenshot(path=picture, clip=area, full_page=True)  # type: ignore[arg-type]
        page.close()


def main(folder: Path) -> None:
    """Draw all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for language in LANGUAGES:
            end = "" if language == "en" else f".{language}"
            (folder / f"overview{end}.svg").write_text(figure(words[language]), encoding="utf-8")
            report_picture(browser, language, folder / f"report{end}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
