"""Recognise the columns of a table of ratings, in English and French."""

from collections.abc import Sequence
from typing import Any

from areopage.cases.columns import fold_name

ANSWER = ("id", "submission_id", "answer_id", "item", "item_id", "case_id", "identifiant", "réponse_id", "élément")
RATER = (
    "rater",
    "annotator",
    "reviewer",
    "coder",
    "évaluateur",
    "évaluatrice",
    "annotateur",
    "annotatrice",
    "relecteur",
    "relectrice",
)
NOTE = ("note", "notes", "comment", "comments", "remark", "commentaire", "commentaires", "remarque", "observation")
CRITERION = ("criterion", "dimension", "aspect", "critère")
SCORE = ("score", "rating", "label", "notation", "valeur")
JUDGE = ("judge", "juge", "jury")
PEOPLE = (
    "human",
    "humain",
    "people",
    "person",
    "personne",
    "rater",
    "annotator",
    "évaluateur",
    "annotateur",
    "relecteur",
    "label",
)


def column_of(names: Sequence[str], spellings: Sequence[str]) -> int | None:
    """The position of the first column with one of these names."""
    wanted = {fold_name(spelling) for spelling in spellings}
    return next((at for at, name in enumerate(names) if fold_name(name) in wanted), None)


def columns_beginning(names: Sequence[str], spellings: Sequence[str]) -> list[int]:
    """The positions of the columns whose names begin with one of these: human, human1, human_2."""
    starts = tuple(fold_name(spelling) for spelling in spellings)
    return [at for at, name in enumerate(names) if fold_name(name).startswith(starts)]


def shown(names: Sequence[str]) -> list[str]:
    """Column names as a message shows them."""
    return [repr(name[:40]) for name in names if name]


def cell_text(cell: Any) -> str:
    """A cell as text; a whole number has no decimals, even where the file adds them."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
