"""A run as a folder of a Hugging Face dataset: `cases.parquet`, `judgments.parquet` and the card `README.md`.

The card's metadata says which file is which configuration and what its columns hold, so that
`datasets.load_dataset(FOLDER, NAME)` reads it. The user states the licence of the texts.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Any

import msgspec
import yaml

from areopage.bench import JUDGMENT_COLUMNS, Export, RunView, record_results, write_judgments
from areopage.errors import UserError
from areopage.report import CellKind, TableColumn, Written, write_rows
from areopage.suites import new_folder

CASES, JUDGMENTS = "cases", "judgments"
SPLIT = "test"
_TEXTS = Path(__file__).with_name("huggingface.yml")
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,60}")
_FEATURES: dict[CellKind, dict[str, str]] = {
    "text": {"dtype": "string"},
    "json": {"dtype": "string"},
    "number": {"dtype": "float64"},
    "whole": {"dtype": "int64"},
    "flag": {"dtype": "bool"},
    "moment": {"dtype": "timestamp[us, tz=UTC]"},
    "texts": {"sequence": "string"},
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_OF_CASE = (
    *map(TableColumn, ("id", "category", "subcategory", "maturity", "source", "system", "prompt")),
    *(TableColumn("turns", "json"), TableColumn("response"), TableColumn("response_state"), TableColumn("reference")),
    *(TableColumn("documents", "json"), TableColumn("tags", "texts"), TableColumn("metadata", "json")),
    *(TableColumn("score", "number"), TableColumn("failed_criteria", "texts")),
)


def write_huggingface(view: RunView, folder: Path, licence: str) -> Written:
    """Write the folder, which appears only once it is complete."""
    if not _LICENCE.fullmatch(licence):
        raise UserError("--licence: give the identifier of a licence for these texts, such as cc-by-4.0 or other")
    if folder.exists():
        raise UserError(f"{folder} is there already: name a new folder with --file")
    criteria = [criterion.id for criterion in view.spec.criteria]
    columns = [*_OF_CASE, *(TableColumn(f"score:{id}", "number") for id in criteria)]
    with new_folder(folder) as made:
        made.mkdir(mode=0o700)
        data = made / "data"
        data.mkdir()
        cases = write_rows(data / f"{CASES}.parquet", "parquet", columns, _case_rows(view, criteria))
        judgments = write_judgments(view, data / f"{JUDGMENTS}.parquet", "parquet")
        counts = {CASES: (columns, cases.rows), JUDGMENTS: (JUDGMENT_COLUMNS, judgments.rows)}
        import pyarrow.parquet  # write_rows says where it is missing

        sizes: dict[str, tuple[int, int]] = {}  # bytes of the file, and of its values without compression
        for name in counts:
            file = data / f"{name}.parquet"
            about = pyarrow.parquet.read_metadata(file)
            unpacked = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
            sizes[name] = file.stat().st_size, unpacked
        (made / "README.md").write_text(_card(view, licence, counts, sizes), encoding="utf-8")
    return cases


HUGGINGFACE = Export("dataset", lambda view, path, options: write_huggingface(view, path, options.licence), licensed=True)


def _case_rows(view: RunView, criteria: Sequence[str]) -> Iterator[list[Any]]:
    for case, record in zip(view.cases, record_results(view), strict=True):
        scores = [detail.score if (detail := record.detailed_criteria.get(id)) else None for id in criteria]
        yield [
            *(case.id, case.category, case.subcategory, case.maturity, case.source, case.system, case.prompt_text),
            *(msgspec.to_builtins(case.turns), case.response, view.response_state(case), case.reference),
            *(msgspec.to_builtins(case.documents), case.tags, case.metadata),
            *(record.final_aggregate_score, record.metadata.failures, *scores),
        ]


def _card(
    view: RunView, licence: str, counts: dict[str, tuple[Sequence[TableColumn], int]], sizes: dict[str, tuple[int, int]]
) -> str:
    rows = counts[CASES][1]
    metadata = {
        "license": licence,
        "language": [view.spec.language.partition("-")[0].lower()],
        "pretty_name": f"areopage {view.spec.suite} {view.run.id}",
        "size_categories": [next((name for most, name in _SIZES if rows < most), "n>1M")],
        "tags": ["areopage", "llm-evaluation", "llm-as-a-judge"],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if name == CASES else {}),
                "data_files": [{"split": SPLIT, "path": f"data/{name}.parquet"}],
            }
            for name in counts
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": column.name, **_FEATURES[column.kind]} for column in columns],
                "splits": [{"name": SPLIT, "num_bytes": sizes[name][1], "num_examples": number}],
                "download_size": sizes[name][0],
                "dataset_size": sizes[name][1],
            }
            for name, (columns, number) in counts.items()
        ],
    }
    texts = yaml.safe_load(_TEXTS.read_text(encoding="utf-8"))
    words = texts.get(view.spec.language.partition("-")[0].lower(), texts["en"])
    scale = view.spec.scale
    body = Template(words["card"]).substitute(
        title=_plain(f"{view.spec.suite} {view.run.id}"),
        target=_plain(str(view.spec.target.reference)) if view.spec.target else words["recorded"],
        judges=", ".join(_plain(str(judge.reference)) for judge in view.spec.judges),
        cases=rows,
        judgments=counts[JUDGMENTS][1],
        low=f"{scale.min:g}",
        high=f"{scale.max:g}",
        direction=words["higher" if scale.higher_is_better else "lower"],
    )
    return f"---\n{yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True)}---\n\n{body}"


def _plain(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split()) + "`"
