"""A dataset as it is named: a file or a folder and, behind a `#`, which part of it is read and which columns hold which fields.

    questions#subset=main,split=test
    answers.csv#prompt=Question,response=Reply of the bot

A comma or another special character in a name is written as in a URL (`%2C`).
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from areopage.cases.columns import ALIASES
from areopage.errors import DatasetError, name_list
from areopage.extensions import required

MARK = "#"


class DatasetSource(Struct, frozen=True, kw_only=True):
    """A dataset, and what of it is read.

    Args:
        path: a file with one of the extensions of `readers.SUFFIXES`, or a folder of a Hugging Face dataset.
        subset, split: of a folder; "" for the default.
        columns: the field of a column whose own name says another one, or none, by that name.
    """

    path: Path
    subset: str = ""
    split: str = ""
    columns: Mapping[str, str] = {}

    def files(self) -> list[Path]:
        """The files that hold it."""
        if self.path.is_dir():
            files: list[Path] = required("datasets", "folder", "reading a folder of data")(self.path, self.subset, self.split)
            return files
        if (self.split or self.subset) and self.path.exists():  # the reader names a path that does not exist
            raise DatasetError(f"{self.path}: split and subset are for folders, and this is none")
        return [self.path]


def source_of(named: Path) -> DatasetSource:
    """The dataset of a name; what is behind a `#` belongs to the file's own name if there is such a file."""
    text = str(named)
    if MARK not in text or named.exists():
        return DatasetSource(path=named)
    ends = (place for place, character in enumerate(text) if character == MARK)
    end = next((place for place in ends if Path(text[:place]).exists()), None)
    if end is None:
        return DatasetSource(path=named)
    parts, columns = {"subset": "", "split": ""}, dict[str, str]()
    for part in text[end + 1 :].split(","):
        key, _, value = part.partition("=")
        if key in parts and value:
            parts[key] = unquote(value)
        else:
            columns |= column_of(part, named)
    return DatasetSource(path=Path(text[:end]), **parts, columns=columns)


def column_of(assignment: str, said_in: object) -> dict[str, str]:
    """The field of a column, by the column's name, of `FIELD=NAME`."""
    field, _, name = assignment.partition("=")
    if not name or field not in ALIASES:
        raise DatasetError(f"{said_in}: {assignment!r}: write FIELD=NAME with one of {name_list(ALIASES, limit=20)}")
    return {unquote(name): field}
