"""Measure agreement in a table of a judge's and people's scores, without a ledger.

Two forms. Wide: item, criterion (optional), judge, and a column for each person (human1, rater_2, annotateur ...). Long: item,
rater, criterion (optional), score, where one of the raters is named as the judge.
"""

import math
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct

from areopage.cases import BadRow, Row, fold_name, has_header, read_rows
from areopage.errors import DatasetError, UserError, name_list
from areopage.locales import one_line
from areopage.review.agreement import AgreementReport
from areopage.scoring import HumanAgreement, JuryWorth, Rating

ANSWER = ("id", "submission_id", "answer_id", "item", "item_id", "case_id", "identifiant", "réponse_id", "élément")
RATER = (
    *("rater", "annotator", "reviewer", "coder", "évaluateur", "évaluatrice", "annotateur", "annotatrice", "relecteur"),
    "relectrice",
)
CORRECTION = ("correction", "corrected", "corrected answer", "réponse corrigée")
NOTE = ("note", "notes", "comment", "comments", "remark", "commentaire", "commentaires", "remarque", "observation")
CRITERION = ("criterion", "dimension", "aspect", "critère")
SCORE = ("score", "rating", "label", "notation", "valeur")
JUDGE = ("judge", "juge", "jury")
PEOPLE = (
    *("human", "humain", "people", "person", "personne", "rater", "annotator", "évaluateur", "annotateur", "relecteur"),
    "label",
)
MAX_RATINGS = 1_000_000
FORMS = "wide: item, judge, human1, human2 ...; long: item, rater, score; a column criterion is optional in both"


def column_of(names: Sequence[str], spellings: Sequence[str]) -> int | None:
    """The position of the first column with one of these names."""
    wanted = {fold_name(spelling) for spelling in spellings}
    return next((at for at, name in enumerate(names) if fold_name(name) in wanted), None)


def shown(names: Sequence[str]) -> list[str]:
    """Column names as a message shows them."""
    return [repr(name[:40]) for name in names if name]


def cell_text(cell: Any) -> str:
    """A cell as text; a whole number has no decimals, even where the file adds them."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


class Layout(Struct, frozen=True):
    """The positions of the columns. Wide: `judge` and `people`; long: `rater` and `score`."""

    item: int
    criterion: int | None
    judge: int | None
    people: tuple[int, ...]
    rater: int | None
    score: int | None


def table_agreement(path: Path, judge: str = "") -> AgreementReport:
    """Measure a table of ratings.

    Args:
        judge: in a long table the rater who counts as the judge; in a wide one the judge's column, where it is not called judge.

    Raises:
        DatasetError: the file cannot be read, or is neither of the two forms.
        UserError: the judge is not named, or gave no score.
    """
    judge, ratings, rejected = _read_table(path, judge)
    scores: dict[str, dict[str, float]] = {}
    for rating in ratings:
        if rating.rater == judge:
            scores.setdefault(rating.criterion, {})[rating.item] = rating.score
    people = [rating for rating in ratings if rating.rater != judge]
    if not scores:
        raters = name_list(dict.fromkeys(rating.rater for rating in ratings))
        raise UserError(f"{path}: name the rater that is the judge with --judge: {raters or 'the table contains no rating'}")
    criteria = dict.fromkeys(rating.criterion for rating in ratings)
    values = [rating.score for rating in ratings]
    width = max(values) - min(values)  # no scale is known: all scores take its place
    return AgreementReport(
        judge=judge,
        labelled=len({rating.item for rating in people}),
        names={criterion: criterion for criterion in criteria if criterion},
        agreement=HumanAgreement.of(scores, people, dict.fromkeys(criteria, (min(values), max(values)))),
        worth=JuryWorth.of({judge: scores}, people, people, width) if width > 0 else None,
        rejected=tuple(rejected),
    )


def _read_table(path: Path, judge: str) -> tuple[str, Collection[Rating], list[tuple[int, str]]]:
    """The rater that counts as the judge, the ratings, and the rows that cannot be used."""
    ratings: dict[tuple[str, str, str], Rating] = {}
    rejected: list[tuple[int, str]] = []
    name = judge
    with closing(read_rows(path)) as rows:
        for row in rows:
            if isinstance(row, BadRow):
                rejected.append((row.number, row.reason))
                continue
            try:
                layout = _layout_of(row.names, path, judge)
                if layout.judge is not None:
                    name = row.names[layout.judge]
                for rating in _ratings_in(row, layout):
                    key = rating.item, rating.rater, rating.criterion
                    if key in ratings:
                        remark = f"{one_line(rating.rater, 40)} rated {one_line(rating.item, 40)} before: the last rating counts"
                        rejected.append((row.number, remark))
                    ratings[key] = rating
            except (DatasetError, UserError) as fault:
                if isinstance(fault, DatasetError) and has_header(path):
                    raise
                rejected.append((row.number, str(fault)))
            if len(ratings) > MAX_RATINGS:
                raise DatasetError(f"{path}: more than {MAX_RATINGS:,} ratings: split the file")
    return name, ratings.values(), rejected


def _layout_of(names: Sequence[str], path: Path, judge: str) -> Layout:
    item, criterion = column_of(names, ANSWER), column_of(names, CRITERION)
    rater, score = column_of(names, RATER), column_of(names, SCORE)
    if item is not None and rater is not None and score is not None:
        return Layout(item, criterion, None, (), rater, score)
    column = column_of(names, [judge] if judge else JUDGE)
    starts, others = tuple(map(fold_name, PEOPLE)), (item, criterion, column)
    people = tuple(at for at, name in enumerate(names) if fold_name(name).startswith(starts) and at not in others)
    if item is None or column is None or not people:
        raise DatasetError(f"{path}: the columns do not form a table of ratings ({FORMS}); found {name_list(shown(names), 12)}")
    return Layout(item, criterion, column, people, None, None)


def _ratings_in(row: Row, layout: Layout) -> list[Rating]:
    item, criterion = cell_text(row.cells[layout.item]), ""
    if layout.criterion is not None:
        criterion = cell_text(row.cells[layout.criterion])
        criterion = "" if fold_name(criterion) in ("overall", "global") else criterion
    if not item:
        raise UserError("the row has no item")
    if layout.rater is not None and layout.score is not None:
        cells = [(cell_text(row.cells[layout.rater]), row.cells[layout.score])]
    else:
        cells = [(row.names[at], row.cells[at]) for at in (layout.judge, *layout.people) if at is not None]
    if not all(rater for rater, _ in cells):
        raise UserError("the row has no rater")
    return [
        Rating(item=item, rater=rater, criterion=criterion, score=_number(cell, rater))
        for rater, cell in cells
        if cell_text(cell)
    ]


def _number(cell: Any, rater: str) -> float:
    text = cell_text(cell)
    try:
        value = float(text.replace(",", ".")) if not isinstance(cell, bool) else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{text[:40]!r} of {rater[:40]} is not a number")
    return value
