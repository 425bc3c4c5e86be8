"""Other weights for some parts of the tree: they are laid over those that a panel has.

A level is named by its place, as in a file of weights: `weights.categories`, `weights.subcategories.safety`,
`weights.criteria.safety.sexual`.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from areopage.criteria import Criterion
from areopage.scoring.tree import SUM_TOLERANCE, Weights, level_weights

Levels = dict[str, Mapping[str, float]]
Names = dict[str, dict[str, None]]
"""The names at each level, in order."""

_CATEGORIES, _SUBCATEGORIES, _CRITERIA = "weights.categories", "weights.subcategories.", "weights.criteria."


def names_of(criteria: Iterable[Criterion], weights: Weights) -> Names:
    """The names at each level of a tree: those of the criteria, and those that have a weight."""
    names: Names = {}
    for one in criteria:
        names.setdefault(_CATEGORIES, {})[one.category] = None
        names.setdefault(f"{_SUBCATEGORIES}{one.category}", {})[one.subcategory] = None
        names.setdefault(f"{_CRITERIA}{one.category}.{one.subcategory}", {})[one.name] = None
    for place, level in _levels(weights).items():
        names.setdefault(place, {}).update(dict.fromkeys(level))
    return names


def unknown_names(given: Weights, names: Names) -> list[str]:
    """What is wrong with each name that a tree does not have, with near matches."""
    faults: list[str] = []
    for place, level in _levels(given).items():
        if place not in names:
            faults.append(f"{place}: there is no such level{_hint(place, names)}")
            continue
        faults.extend(f"{place}: there is no {name!r}{_hint(name, names[place])}" for name in level if name not in names[place])
    return faults


def _hint(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = get_close_matches(name, known, n=2, cutoff=0.75)
    return f": did you mean {' or '.join(near)}?" if near else f": use one of {', '.join(known)}"


def overfull_levels(given: Weights, names: Names) -> list[str]:
    """What is wrong with each level whose given weights leave nothing for its other parts."""
    faults: list[str] = []
    for place, level in _levels(given).items():
        others = [name for name in names.get(place, {}) if name not in level]
        total = sum(level.values())
        if others and total > 1 + SUM_TOLERANCE:
            faults.append(f"{place}: the weights sum to {total:.6g} and leave nothing for {', '.join(others)}: give shares of 1")
    return faults


def merged_weights(own: Weights, given: Weights, names: Names) -> Weights:
    """Lay some weights over a tree's own.

    At a level with given weights, the other parts share what these leave of 1, in proportion to their own weights. All other
    levels stay as they are.

    Args:
        names: of the tree; all that is given must be among them.
    """
    held = _levels(own)
    merged: Levels = dict(held)
    for place, level in _levels(given).items():
        others = [name for name in names[place] if name not in level]
        left = max(0.0, 1.0 - sum(level.values()))
        shares = level_weights(place, others, held.get(place, {}))[0] if others else {}
        merged[place] = {**level, **{name: left * shares[name] for name in others}}
    return _weights(merged)


def known_part(given: Weights, names: Names) -> Weights:
    """The weights without the names that a tree does not have."""
    levels = {place: level for place, level in _levels(given).items() if place in names}
    return _weights({place: {name: level[name] for name in level if name in names[place]} for place, level in levels.items()})


def _levels(weights: Weights) -> Levels:
    levels: Levels = {_CATEGORIES: weights.categories} if weights.categories else {}
    levels |= {f"{_SUBCATEGORIES}{name}": level for name, level in weights.subcategories.items() if level}
    return levels | {f"{_CRITERIA}{name}": level for name, level in weights.criteria.items() if level}


def _weights(levels: Levels) -> Weights:
    def below(prefix: str) -> dict[str, Mapping[str, float]]:
        return {place.removeprefix(prefix): level for place, level in levels.items() if place.startswith(prefix)}

    return Weights(categories=levels.get(_CATEGORIES, {}), subcategories=below(_SUBCATEGORIES), criteria=below(_CRITERIA))
