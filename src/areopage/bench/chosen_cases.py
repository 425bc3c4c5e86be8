"""The part of a dataset, or of the cases of a run, that the user chooses by the values of columns."""

from collections.abc import Sequence

from areopage.bench.panels import case_column
from areopage.bench.spec import ChosenPart
from areopage.cases import Case, field_named, normalise_maturity
from areopage.errors import DatasetError, UserError, name_list

_LISTED = 20


def chosen_cases(cases: Sequence[Case], where: Sequence[str]) -> tuple[tuple[Case, ...], ChosenPart | None]:
    """The cases that meet conditions; of several values of one column one is enough.

    Args:
        where: texts of the form COLUMN=VALUE; a column is `tag`, a field of a case or a column of the dataset.
    """
    if not where:
        return tuple(cases), None
    wanted: dict[str, set[str]] = {}
    for condition in where:
        column, sign, value = condition.partition("=")
        if not sign or not column.strip():
            raise UserError(f"--where {condition!r}: give COLUMN=VALUE, e.g. age=9-12")
        wanted.setdefault(column.strip(), set()).add(value.strip())
    kept = tuple(cases)
    for column, values in wanted.items():
        if column.casefold() in ("tag", "tags"):
            values_of = {case.id: case.tags for case in kept}
        else:
            values_of = {id: (value,) for id, value in case_column(kept, column).items()}
        accepted = {_normal(column, value) for value in values}
        left = tuple(case for case in kept if accepted & {_normal(column, value) for value in values_of[case.id]})
        if not left:
            present = dict.fromkeys(value for case in kept for value in values_of[case.id] if value)
            raise DatasetError(
                f"no case has {column}={' or '.join(sorted(values))}: there are {name_list(list(present), _LISTED)}"
            )
        kept = left
    part = ChosenPart(where=tuple(dict.fromkeys(where)), cases=len(kept), total=len(cases))
    return kept, part


def _normal(column: str, value: str) -> str:
    """A value as it is compared: an age as the band that it is in, another one without its case."""
    if field_named(column) == "maturity":
        try:
            return normalise_maturity(value) or ""
        except ValueError as fault:
            raise UserError(f"--where {column}={value}: {fault}") from fault
    return value.casefold()
