"""Put the gate's report into a file, whole or not at all."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from areopage import __version__
from areopage.report.gate.html import render_html
from areopage.report.gate.markdown import render_markdown
from areopage.report.gate.page import GateReport
from areopage.report.replacing import replacing

Form = Literal["html", "md", "json"]
FORMS: tuple[Form, ...] = ("html", "md", "json")
SCHEMA = "areopage/gate-report/1"


def file_name(form: Form) -> str:
    """What a report is called in the folder that it is written to."""
    return f"gate-report.{form}"


def render(report: GateReport, form: Form) -> str:
    """The report in one of its forms."""
    if form == "html":
        return render_html(report)
    return render_markdown(report) if form == "md" else render_json(report)


def render_json(report: GateReport) -> str:
    """The report for programs: numbers are not rounded, null where there is none, times in ISO 8601, UTC."""
    return msgspec.json.format(msgspec.json.encode(figures_of(report)), indent=2).decode() + "\n"


def figures_of(report: GateReport) -> dict[str, Any]:
    """What the JSON says; docs/reference/gate.md lists the keys."""
    figures = msgspec.structs.asdict(report.figures)
    del figures["worst"]
    scope = report.scope
    return {
        "schema": SCHEMA,
        "areopage": __version__,
        "made_at": report.made_at,
        "scope": {"since": scope.since, "until": scope.until, "collection": scope.collection},
        **figures,
        "warnings": [key.removeprefix("gate_warn_") for key, _ in report.warned],
        "text": report.text,
        "worst": report.worst,
    }


def write_gate_report(report: GateReport, form: Form, path: Path) -> None:
    """Write a report; what stood at the path is replaced.

    Raises:
        StorageError: the file cannot be written.
    """
    text = render(report, form)
    with replacing(path) as place:
        place.write_text(text, encoding="utf-8", errors="replace")
