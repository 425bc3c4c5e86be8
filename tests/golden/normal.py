"""Texts without what differs from one making to the next: ids, times, versions, durations, addresses, styles and scripts."""

import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from markupsafe import escape

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
MOIS = "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
HEX = rf"(\b\d+-\d+-)?(?<![.\d])\b(?=[0-9a-f]*[a-f])[0-9a-f]{{12,128}}\b|{UUID}"
LONG_DECIMAL = r"-?\b\d+\.\d{10,}(e-?\d+)?\b"
PATTERNS: tuple[tuple[str, str], ...] = (
    (r"(?s)<(style|script)\b.*?</\1>", r"<\1/>"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?( UTC)?", "TIME"),
    (rf"\b\d{{1,2}} ({MONTHS}) \d{{4}}", "DATE"),
    (rf"\b(1er|\d{{1,2}}) ({MOIS}) \d{{4}}", "DATE"),
    (r"\b20\d\d-\d\d-\d\d\b", "DATE"),
    (r"\b\d\d:\d\d( UTC)?\b|\b\d{1,2}\sh\s\d\d( UTC)?\b", "CLOCK"),
    (r'name="csrf" value="[^"]*"', 'name="csrf"'),
    (r"\b(comparison|league|trend)-([a-z-]+)-[0-9a-f]{8}\b", r"\1-\2-ID"),
    (r"(?m)^(\S+ .* \d+/\d+ +\d+ +\d+ +)\d+\.\d\d\b", r"\1DURATION"),  # of a judge's calls, on the console
    (r"(\d whole +)\d+\.\d\d\b", r"\1DURATION"),  # of a target's answers, on the console
    (r"\b\d+([.,]\d+)?\s?(ms|s|min|h)\b", "DURATION"),
    (r"\b\d+([.,]\d+)? calls/s", "RATE"),
)
DURATIONS = re.compile(r"(^|_)(seconds|duration|latency|rate|versions?|elapsed)(_|$)")


class Normal:
    """Normalises the texts of one ledger; an id bears the same name wherever it stands."""

    def __init__(self, folder: str, version: str, ids: Iterable[str] = (), ledger: str = "") -> None:
        """Args: folder, whose path is left out; version, of the package; ids, of runs, the oldest first; ledger, its place."""
        setting = f"AREOPAGE_LEDGER={ledger}"
        names = (
            {shlex.quote(setting): "AREOPAGE_LEDGER=LEDGER", shlex.quote(ledger): "LEDGER", ledger: "LEDGER"} if ledger else {}
        )
        self._fixed = [(form, name) for written, name in names.items() for form in (str(escape(written)), written)]
        self._fixed += [(folder, "FOLDER"), (f"areopage {version}", "areopage VERSION"), (f'"{version}"', '"VERSION"')]
        self._fixed += [(id, f"RUN-{number}") for number, id in enumerate(ids, 1)]

    def text(self, text: str) -> str:
        """A page, a table or a console output."""
        for known, name in self._fixed:
            text = text.replace(known, name)
        for pattern, name in PATTERNS:
            text = re.sub(pattern, name, text)
        text = re.sub(LONG_DECIMAL, lambda match: f"{float(match[0]):.9g}", text)
        return re.sub(HEX, _numbered("ID"), text)

    def html(self, text: str) -> str:
        """A page, one element a line."""
        return re.sub(r">\s*<", ">\n<", self.text(text))

    def file(self, path: Path) -> str:
        """A file, by its extension."""
        text = path.read_text(encoding="utf-8")
        return {".html": self.html, ".json": self.json, ".csv": self.csv}.get(path.suffix, self.text)(text)

    def csv(self, text: str) -> str:
        """A table; durations and versions are gone."""
        head, *rows = csv.reader(io.StringIO(text))
        kept = [column for column, name in enumerate(head) if not DURATIONS.search(name)]
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([row[column] for column in kept] for row in (head, *rows))
        return self.text(written.getvalue())

    def json(self, text: str) -> str:
        """A JSON document, indented; durations and versions are gone."""
        return self.text(json.dumps(_without_durations(json.loads(text)), ensure_ascii=False, indent=1))


def _numbered(name: str) -> Callable[[re.Match[str]], str]:
    numbers: dict[str, int] = {}
    return lambda match: f"{name}-{numbers.setdefault(match[0], len(numbers) + 1)}"


def _without_durations(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: "DURATION" if DURATIONS.search(key) and isinstance(item, int | float | str) else _without_durations(item)
            for key, item in value.items()
        }
    return [_without_durations(item) for item in value] if isinstance(value, list) else value
