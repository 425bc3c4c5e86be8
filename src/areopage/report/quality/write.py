"""Put a quality report into a file, whole or not at all."""

from datetime import date
from pathlib import Path
from typing import Literal

from areopage.report.quality.figures_json import render_json
from areopage.report.quality.html import render_html
from areopage.report.quality.markdown import render_markdown
from areopage.report.quality.page import QualityReport
from areopage.report.replacing import replacing

Form = Literal["html", "md", "json"]
FORMS: tuple[Form, ...] = ("html", "md", "json")


def file_name(day: date, form: Form) -> str:
    """What a report of a day is called."""
    return f"quality-report-{day.isoformat()}.{form}"


def render(report: QualityReport, form: Form) -> str:
    """The report in one of its forms."""
    if form == "html":
        return render_html(report)
    return render_markdown(report) if form == "md" else render_json(report)


def write_quality_report(report: QualityReport, form: Form, path: Path) -> None:
    """Write a report; what stood at the path is replaced.

    Raises:
        StorageError: the file cannot be written.
    """
    text = render(report, form)
    with replacing(path) as place:
        place.write_text(text, encoding="utf-8", errors="replace")
