"""`areopage cases convert`: read any dataset and write it in another format."""

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from areopage.cases import Dataset, DatasetSource, column_of, load_dataset, source_of, write_rejected
from areopage.cli.exit_codes import DONE, INCONCLUSIVE
from areopage.cli.options import tell_cut, tell_rejected
from areopage.errors import UserError, counted, name_list
from areopage.report import FORMS_BY_SUFFIX, TableColumn, replacing, write_rows

_TEXTS = (
    "id",
    "prompt",
    "response",
    "reference",
    "category",
    "subcategory",
    "maturity",
    "source",
    "criteria_selection",
    "system",
)
_NESTED = ("documents", "tags", "child")
_SHOWN = 5
_SEPARATOR = re.compile("[,;]")


def convert(
    source: Annotated[Path, typer.Argument(metavar="FILE|FOLDER", help="A dataset, an .eval log, or a Hugging Face folder.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="What to write: .jsonl, .csv, .xlsx or .parquet.")],
    split: Annotated[str, typer.Option(metavar="NAME", help="Split of a folder. Default: test, validation or train.")] = "",
    subset: Annotated[str, typer.Option(metavar="NAME", help="Configuration of a folder's card. Default: its default.")] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=NAME", help="The column that holds a field (repeatable): prompt=instruction."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N usable cases.")] = None,
    rejected: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rejected rows as CSV.")] = None,
) -> None:
    """Read a dataset and write its cases in another format. Exit code 3: some rows could not be used."""
    form = FORMS_BY_SUFFIX.get(out.suffix.lower())
    if form is None:
        raise UserError(f"{out}: the ending says no format: use one of {name_list(FORMS_BY_SUFFIX, limit=10)}")
    named = source_of(source)
    columns = {name: field for assignment in column or () for name, field in column_of(assignment, "--column").items()}
    data = load_dataset(
        [
            DatasetSource(
                path=named.path, subset=subset or named.subset, split=split or named.split, columns={**named.columns, **columns}
            )
        ],
        default_maturity="",
        limit=limit,
    )
    if form != "jsonl" and any(not isinstance(case.prompt, str) for case in data.cases):
        raise UserError(f"{out}: the dataset has conversations, which only JSON Lines hold: write a .jsonl file")
    if form != "jsonl" and any(_SEPARATOR.search(tag) for case in data.cases for tag in case.tags):
        raise UserError(f"{out}: a tag has a comma or a semicolon, which only JSON Lines hold: write a .jsonl file")
    head, rows = _table(data, joined=form != "jsonl")
    written = write_rows(out, form, head, rows)
    tell_cut(written.cut)
    if rejected is not None:
        with replacing(rejected) as place:
            write_rejected(data.rejected, place)
    if data.rejected:
        tell_rejected(data.rejected, len(data.rejected), "row", _SHOWN, rejected)
    typer.echo(f"written: {out} ({counted(written.rows, 'case')})")
    raise typer.Exit(INCONCLUSIVE if data.rejected else DONE)


def _table(data: Dataset, *, joined: bool) -> tuple[list[TableColumn], list[list[Any]]]:
    names = list(dict.fromkeys(name for case in data.cases for name in case.metadata))
    every = [
        *(TableColumn(name) if name != "prompt" else TableColumn(name, "json") for name in _TEXTS),
        *(TableColumn(name, "json") for name in _NESTED),
        *(TableColumn(name, "json") for name in names),
    ]
    rows: list[list[Any]] = []
    for case in data.cases:
        plain = msgspec.to_builtins(case)
        if joined:
            plain["tags"] = ", ".join(case.tags)
        rows.append([*(plain[name] for name in (*_TEXTS, *_NESTED)), *(case.metadata.get(name) for name in names)])
    used = [place for place in range(len(every)) if any(row[place] not in (None, "", [], {}) for row in rows)]
    return [every[place] for place in used], [[row[place] for place in used] for row in rows]
