"""Selections of criteria: presets, categories, sub-categories, names, exact ids, and lists of these."""

from collections.abc import Iterable
from difflib import get_close_matches

from areopage.criteria.registry import Registry, RegistryEntry
from areopage.errors import CriteriaError, name_list


def select_criteria(selection: str, registry: Registry) -> tuple[str, ...]:
    """Resolve a comma list such as `basic_safety, age.readability, ethics.moral.harmful_advice__v1_0`.

    Where a part names no version, the newest version of each criterion is taken. Order is kept, duplicates are removed.

    Returns:
        Criterion ids, at least one.

    Raises:
        CriteriaError: a part names nothing; near matches are listed.
    """
    parts = [part.strip() for part in selection.split(",") if part.strip()]
    if not parts:
        raise CriteriaError("the selection of criteria is empty: give a preset, a category or a criterion")
    chosen: dict[str, None] = {}
    for part in parts:
        chosen.update(dict.fromkeys(_select_part(part, registry)))
    return tuple(chosen)


def _select_part(part: str, registry: Registry) -> tuple[str, ...]:
    """The ids that one part of a selection names."""
    if part in registry.presets:
        if not registry.presets[part].criteria:
            raise CriteriaError(
                f"the preset {part!r} contains no criterion of the registry: choose another preset, or add criteria to it"
            )
        return registry.presets[part].criteria
    if part in registry.entries:
        return (part,)
    below = newest(entry for entry in registry.entries.values() if entry.path == part or entry.path.startswith(part + "."))
    if not below:
        raise CriteriaError(_unknown_message(part, registry))
    return tuple(entry.id for entry in below)


def newest(entries: Iterable[RegistryEntry]) -> list[RegistryEntry]:
    """Of several versions of one criterion the newest, in the order of first mention."""
    best: dict[str, RegistryEntry] = {}
    for entry in entries:
        held = best.get(entry.path)
        if held is None or entry.version_number > held.version_number:
            best[entry.path] = entry
    return list(best.values())


def _unknown_message(part: str, registry: Registry) -> str:
    """What to say of a name that nothing has."""
    names = {*registry.presets, *registry.entries}
    for entry in registry.entries.values():
        names.update((entry.category, f"{entry.category}.{entry.subcategory}", entry.path))
    near = get_close_matches(part, sorted(names), n=4, cutoff=0.6)
    near += [name for name in sorted(names) if part.lower() in name.lower() and name not in near][:4]
    hint = f"did you mean {' or '.join(near[:4])}?" if near else f"presets are {name_list(registry.presets)}"
    return f"unknown criterion, category or preset {part!r}: {hint} (areopage criteria list shows all)"
