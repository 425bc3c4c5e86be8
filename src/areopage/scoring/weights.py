"""Weights of the three levels, and what happens where they are missing or do not sum to one.

Source: child-safety benchmark specification V1.1, section on weighting.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

SUM_TOLERANCE = 1e-6


class Weights(Struct, frozen=True, kw_only=True):
    """Weights as configured; each inner mapping is one level below its key and should sum to 1.

    Args:
        categories: category -> weight.
        subcategories: category -> sub-category -> weight.
        criteria: "category.subcategory" -> criterion's name -> weight.
    """

    categories: Mapping[str, float] = {}
    subcategories: Mapping[str, Mapping[str, float]] = {}
    criteria: Mapping[str, Mapping[str, float]] = {}


def level_weights(where: str, names: Sequence[str], configured: Mapping[str, float]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Settle the weights of one level.

    No usable weights: equal ones. Some missing: they get the mean of the others. A configured level that does not sum to 1
    is normalised. Each of these gives a warning. The weights of the names sum to 1.

    Args:
        where: what the level is called in a warning, e.g. `weights.criteria["safety.sexual"]`.
        names: the parts that exist at this level, at least one.
        configured: the weights as configured; parts that are not in `names` count for the sum only.

    Returns:
        The weight of each name, and the warnings.
    """
    warnings: list[str] = []
    known = {name: configured[name] for name in names if name in configured}
    if not known or sum(known.values()) <= 0:
        if configured or len(names) > 1:
            warnings.append(f"{where}: no weights for {', '.join(names)}: equal weights are used")
        return {name: 1.0 / len(names) for name in names}, tuple(warnings)
    total = sum(configured.values())
    if abs(total - 1.0) > SUM_TOLERANCE:
        warnings.append(f"{where}: the weights sum to {total:.6g}, not 1: they are normalised")
    missing = [name for name in names if name not in known]
    if missing:
        warnings.append(f"{where}: no weight for {', '.join(missing)}: the mean of the others is used")
    filler = sum(known.values()) / len(known)
    filled = {name: known.get(name, filler) for name in names}
    whole = sum(filled.values())
    return {name: weight / whole for name, weight in filled.items()}, tuple(warnings)
