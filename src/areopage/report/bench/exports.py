"""The formats that a run is exported in, by name; each writes the same view of the run.

A writer takes the view and the place, and `licence` where the format is licensed.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from areopage.bench.results.run_view import RunView
from areopage.report.bench.files import write_judgments, write_judgments_jsonl
from areopage.report.bench.huggingface import write_huggingface
from areopage.report.bench.inspect_log import write_inspect_log
from areopage.report.tables import TableForm, Written


class Export(NamedTuple):
    """A format: the name that its file or folder has in the run's folder, and what writes it.

    `licensed`: what it writes is meant to be published, and needs to be told the licence of the texts.
    """

    name: str
    write: Callable[..., Written]
    licensed: bool = False


def _table(view: RunView, path: Path, form: TableForm) -> Written:
    return write_judgments(view, path, form)


def _recording(view: RunView, path: Path) -> Written:
    return Written(write_judgments_jsonl(view, path))


EXPORTS: Mapping[str, Export] = {
    "csv": Export("judgments.csv", partial(_table, form="csv")),
    "huggingface": Export("dataset", write_huggingface, licensed=True),
    "inspect": Export("inspect.eval", write_inspect_log),
    "jsonl": Export("judgments.jsonl", _recording),
    "parquet": Export("judgments.parquet", partial(_table, form="parquet")),
    "xlsx": Export("judgments.xlsx", partial(_table, form="xlsx")),
}
