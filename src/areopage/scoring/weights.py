"""Weights of the three levels of scores, and other weights for some parts, which are laid over those that a panel has.

A level is named by its place, as in a file of weights: `weights.categories`, `weights.subcategories.safety`,
`weights.criteria.safety.sexual`.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import ClassVar

from msgspec import Struct

from areopage.criteria import Criterion
from areopage.locales import Note

Levels = dict[str, Mapping[str, float]]
LevelNames = dict[str, dict[str, None]]
"""The names at each level, in order."""

_CATEGORIES, _SUBCATEGORIES, _CRITERIA = "weights.categories", "weights.subcategories.", "weights.criteria."


class Weights(Struct, frozen=True, kw_only=True):
    """Weights as configured; each inner mapping is one level below its key and should sum to 1.

    Args:
        categories: category -> weight.
        subcategories: category -> sub-category -> weight.
        criteria: "category.subcategory" -> criterion's name -> weight.
    """

    SUM_TOLERANCE: ClassVar[float] = 1e-6

    categories: Mapping[str, float] = {}
    subcategories: Mapping[str, Mapping[str, float]] = {}
    criteria: Mapping[str, Mapping[str, float]] = {}

    def names(self, criteria: Iterable[Criterion]) -> LevelNames:
        """The names at each level of a tree of criteria: their own, and those that have a weight."""
        names: LevelNames = {}
        for criterion in criteria:
            names.setdefault(_CATEGORIES, {})[criterion.category] = None
            names.setdefault(f"{_SUBCATEGORIES}{criterion.category}", {})[criterion.subcategory] = None
            names.setdefault(f"{_CRITERIA}{criterion.category}.{criterion.subcategory}", {})[criterion.name] = None
        for place, level in self._levels.items():
            names.setdefault(place, {}).update(dict.fromkeys(level))
        return names

    def faults(self, names: LevelNames) -> list[str]:
        """What is wrong with these weights for a tree: each name that it does not have, with near matches; or, where it has all
        of them, each level whose weights leave nothing for its other parts."""
        unknown: list[str] = []
        overfull: list[str] = []
        for place, level in self._levels.items():
            if place not in names:
                unknown.append(f"{place}: there is no such level{_hint(place, names)}")
                continue
            unknown += [f"{place}: there is no {name!r}{_hint(name, names[place])}" for name in level if name not in names[place]]
            others = [name for name in names[place] if name not in level]
            total = sum(level.values())
            if others and total > 1 + Weights.SUM_TOLERANCE:
                left = f"the weights sum to {total:.6g} and leave nothing for {', '.join(others)}: give shares of 1"
                overfull.append(f"{place}: {left}")
        return unknown or overfull

    def laid_over(self, base: "Weights", names: LevelNames) -> "Weights":
        """Lay these weights over those of a tree that has all their names.

        At a level with weights of these, the other parts share what they leave of 1, in proportion to their own weights. All
        other levels stay as they are.
        """
        levels = base._levels
        merged: Levels = dict(levels)
        for place, level in self._levels.items():
            others = [name for name in names[place] if name not in level]
            left = max(0.0, 1.0 - sum(level.values()))
            shares = level_weights(place, others, levels.get(place, {}))[0] if others else {}
            merged[place] = {**level, **{name: left * shares[name] for name in others}}
        return _weights(merged)

    def only(self, names: LevelNames) -> "Weights":
        """The weights without the names that a tree does not have."""
        levels = {place: level for place, level in self._levels.items() if place in names}
        return _weights({place: {name: level[name] for name in level if name in names[place]} for place, level in levels.items()})

    @property
    def _levels(self) -> Levels:
        levels: Levels = {_CATEGORIES: self.categories} if self.categories else {}
        levels |= {f"{_SUBCATEGORIES}{name}": level for name, level in self.subcategories.items() if level}
        return levels | {f"{_CRITERIA}{name}": level for name, level in self.criteria.items() if level}


def _hint(name: str, names: Iterable[str]) -> str:
    names = list(names)
    near = get_close_matches(name, names, n=2, cutoff=0.75)
    return f": did you mean {' or '.join(near)}?" if near else f": use one of {', '.join(names)}"


def _weights(levels: Levels) -> Weights:
    def below(prefix: str) -> dict[str, Mapping[str, float]]:
        return {place.removeprefix(prefix): level for place, level in levels.items() if place.startswith(prefix)}

    return Weights(categories=levels.get(_CATEGORIES, {}), subcategories=below(_SUBCATEGORIES), criteria=below(_CRITERIA))


def level_weights(where: str, names: Sequence[str], configured: Mapping[str, float]) -> tuple[dict[str, float], tuple[Note, ...]]:
    """The weights of the names of one level, at least one, which sum to 1, and warnings; `where` names the level in them.

    No usable weights: equal ones. Some missing: they get the mean of the others. A configured level that does not sum to 1
    is normalised. Each of these gives a warning. Weights of other names count for the sum only.
    """
    warnings: list[Note] = []
    weights = {name: configured[name] for name in names if name in configured}
    if not weights or sum(weights.values()) <= 0:
        if configured or len(names) > 1:
            if weights:
                warnings.append(Note("zero_weights", {"where": where, "names": tuple(names)}))
            else:
                warnings.append(Note("no_weights", {"where": where, "names": tuple(names)}))
        return {name: 1.0 / len(names) for name in names}, tuple(warnings)
    total = sum(configured.values())
    if abs(total - 1.0) > Weights.SUM_TOLERANCE:
        warnings.append(Note("weights_sum", {"where": where, "total": f"{total:.6g}"}))
    missing = [name for name in names if name not in weights]
    if missing:
        warnings.append(Note("weights_missing", {"where": where, "names": tuple(missing)}))
    filler = sum(weights.values()) / len(weights)
    filled = {name: weights.get(name, filler) for name in names}
    whole = sum(filled.values())
    return {name: weight / whole for name, weight in filled.items()}, tuple(warnings)
