"""The formats that a run is exported in, by name; each writes the same view of the run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from areopage.bench.report.files import write_judgments, write_judgments_jsonl
from areopage.bench.report.page import write_summary
from areopage.bench.results.run_view import RunView
from areopage.extensions import imported, registered
from areopage.report import TableForm, Written


class ExportOptions(NamedTuple):
    """What some formats need to know: the language of texts for people ("": the run's), and the licence of the texts."""

    language: str = ""
    licence: str = ""


Writer = Callable[[RunView, Path, ExportOptions], Written]


class Export(NamedTuple):
    """A format: the name that its file or folder has in the run's folder, and what writes it.

    Args:
        licensed: what it writes is meant to be published, and needs a licence.
        history: it compares the run with earlier ones, which the view must hold.
    """

    name: str
    write: Writer
    licensed: bool = False
    history: bool = False


def _table(form: TableForm) -> Export:
    return Export(f"judgments.{form}", lambda view, path, options: write_judgments(view, path, form))


def for_people(name: str, write: Callable[[RunView, Path, str], None], *, history: bool = False) -> Export:
    """A format with texts in a language."""

    def written(view: RunView, path: Path, options: ExportOptions) -> Written:
        write(view, path, options.language)
        return Written(0)

    return Export(name, written, history=history)


_EXPORTS: Mapping[str, Export] = {
    "csv": _table("csv"),
    "xlsx": _table("xlsx"),
    "parquet": _table("parquet"),
    "jsonl": Export("judgments.jsonl", lambda view, path, options: Written(write_judgments_jsonl(view, path))),
    "markdown": for_people("summary.md", write_summary, history=True),
}


def exports() -> dict[str, Export]:
    """The formats by name: those of the core, then those that extensions register."""
    return {**_EXPORTS, **{name: imported(place) for name, place in registered("exports").items()}}
