"""What determines a run's scores beside its target: runs are compared only where all of it is the same.

The cases are a part of it: those that the user chooses by the values of columns.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from areopage.bench.pass_settings import PassSettings
from areopage.bench.spec import ChosenPart, RunCase, RunSpec
from areopage.cases import Case, field_named, fold_name, normalise_maturity
from areopage.digest import digest_of, short_digest
from areopage.errors import DatasetError, UserError, name_list
from areopage.jury import ContextBudget, Judge, Panel

PartName = Literal[
    "suite",
    "language",
    "mode",
    "judges",
    "criteria",
    "prompts",
    "documents",
    "personas",
    "scale",
    "weights",
    "profile",
    "failures",
    "floors",
    "cases",
    "child",
]

_LONGEST_VALUE = 80
_COLUMNS = ("maturity", "category", "subcategory", "source")


class PanelPart(Struct, frozen=True):
    """One part: a digest of what it holds, and a text about it."""

    digest: str
    text: str


PanelParts = Mapping[PartName, PanelPart]


class PartDifference(Struct, frozen=True, kw_only=True):
    """A part that two runs do not share."""

    part: PartName
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.part} ({self.first} / {self.second})" if self.first != self.second else self.part


class DifferentPanels(UserError):
    """Two runs, or a run and production, were judged by different panels; `differs` says in what."""

    def __init__(self, first: str, other: str, differs: Sequence[PartDifference]) -> None:
        parts = "; ".join(map(str, differs))
        super().__init__(
            f"{first} and {other} cannot be compared, for they differ in: {parts} (--anyway compares what they have in common)"
        )
        self.differs = tuple(differs)


def panel_parts(spec: RunSpec, cases: Sequence[RunCase]) -> PanelParts:
    """The parts of a run; prices, responses and the remarks of datasets play no part.

    A run whose answers come with the cases has no mode.
    """
    judges = [msgspec.structs.replace(judge, price=None) for judge in spec.judges]
    asked = [
        (msgspec.structs.replace(item.case, response=None, source="", metadata={}, criteria_selection=""), item.criteria)
        for item in cases
    ]
    parts: dict[PartName, PanelPart] = {
        "suite": _part([spec.suite, spec.suite_version], f"{spec.suite} {spec.suite_version}"),
        "judges": _part(judges if spec.adaptive is None else [*judges, spec.adaptive], _judge_list(spec, spec.adaptive)),
        "criteria": _part(spec.criteria, f"{len(spec.criteria)}"),
        "prompts": _part([spec.joint, spec.context], _calls_text(spec)),
        "profile": _part([spec.profile, spec.quorum], spec.profile.name),
        "floors": _part([spec.release, spec.min_coverage]),
        "cases": _part(asked, f"{len(cases)}"),
        "child": _part(spec.child, str(spec.child.reference) if spec.child else ""),
    }
    if spec.target is not None:
        parts["mode"] = _part(spec.mode, spec.mode)
    return _in_order(_common_parts(spec) | parts)


def production_differences(spec: RunSpec, cases: Sequence[RunCase], panel: Panel) -> tuple[PartDifference, ...]:
    """In what the scores of a run differ from those that a panel of production gives.

    The names of judges, and the share of documents that models are shown, play no part where they change no call: where every
    document of the run would have been shown whole.
    """
    fits = spec.context == panel.context or (
        panel.context is not None and all(panel.context.fit(item.case.documents)[0] == item.case.documents for item in cases)
    )
    return part_differences(
        _judging_parts(spec, spec.adaptive, "" if fits else _budget(spec.context)),
        _judging_parts(panel, None, "" if fits else _budget(panel.context)),
    )


def _judging_parts(panel: Panel, adaptive: PassSettings | None, documents: str) -> PanelParts:
    """The parts that a run and a panel of production both have."""
    judges = [msgspec.structs.replace(judge, name="", price=None) for judge in panel.judges]
    parts: dict[PartName, PanelPart] = {
        "judges": _part([sorted(map(digest_of, judges)), adaptive], _judge_list(panel, adaptive)),
        "criteria": _part(sorted(digest_of(criterion) for criterion in panel.criteria), f"{len(panel.criteria)}"),
        "prompts": _part(panel.joint, _calls_text(panel)),
        "documents": _part(documents, documents),
        "profile": _part(panel.profile, panel.profile.name),
    }
    return _in_order(_common_parts(panel) | parts)


def _common_parts(panel: Panel) -> dict[PartName, PanelPart]:
    """The parts that runs and panels of production say alike."""
    return {
        "language": _part(panel.language, panel.language),
        "personas": _part(panel.personas, f"{len(panel.personas)}"),
        "scale": _part(panel.scale, f"{panel.scale.min:g} to {panel.scale.max:g}"),
        "weights": _part(panel.weights),
        "failures": _part(panel.failures),
    }


def _part(content: object, text: str = "") -> PanelPart:
    return PanelPart(digest_of(content), text)


def _in_order(parts: PanelParts) -> PanelParts:
    return {name: parts[name] for name in get_args(PartName) if name in parts}


def _calls_text(panel: Panel) -> str:
    return "all criteria in one call" if panel.joint else "one call for each criterion"


def _budget(budget: ContextBudget | None) -> str:
    return "whole" if budget is None else f"at most {budget.max_tokens} tokens"


def _judge_list(panel: Panel, adaptive: PassSettings | None) -> str:
    return name_list(_judge_text(judge, judge.passes if adaptive is None else adaptive.start) for judge in panel.judges)


def _judge_text(judge: Judge, first: int) -> str:
    passes = f"{judge.passes}" if first >= judge.passes else f"{first} to {judge.passes}"
    method = "" if judge.method == "sampled" else f", {judge.method} score"
    return f"{judge.name}: {short_digest(str(judge.reference))} × {passes}{method}"


def part_differences(first: PanelParts, second: PanelParts) -> tuple[PartDifference, ...]:
    """What two runs do not share."""
    return tuple(
        PartDifference(part=part, first=first[part].text, second=second[part].text)
        for part in first
        if part in second and first[part].digest != second[part].digest
    )


def case_column(cases: Sequence[Case], column: str) -> dict[str, str]:
    """The value of each case in a column, by the case's id: a field by any of its names ("age"), else a column of the dataset.

    Raises:
        UserError: no case has it; those that there are are named.
    """
    field = field_named(column)
    columns = {fold_name(name): name for case in cases for name in case.metadata}
    if field in _COLUMNS:
        return {case.id: _short(getattr(case, field)) for case in cases}
    if column not in columns.values() and fold_name(column) not in columns:
        raise UserError(f"the cases have no column {column!r}: there are {name_list([*_COLUMNS, *columns.values()])}")
    name = column if column in columns.values() else columns[fold_name(column)]
    return {case.id: _short(case.metadata.get(name)) for case in cases}


def case_clusters(cases: Sequence[Case], column: str = "") -> dict[str, str]:
    """What each case has in common with others, by its id: its value in a column, else its prompt where others have the same."""
    if column:
        return {id: value for id, value in case_column(cases, column).items() if value}
    prompts = Counter(case.prompt_text for case in cases)
    return {case.id: case.prompt_text for case in cases if case.prompt_text and prompts[case.prompt_text] > 1}


def _short(value: object) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


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
