"""The rules of a suite that say, before any call, which criteria do not apply to a case."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

import msgspec

from areopage.bench.spec import RunCase
from areopage.cases import MATURITIES, Case
from areopage.criteria import SINGLE, Registry, applies, concerns
from areopage.errors import CriteriaError, name_list
from areopage.locales import Note

_WORDS = {"category": "category", "subcategory": "sub-category", "tags": "tag", "maturity": "maturity"}


def with_rules(cases: Sequence[RunCase], registry: Registry, *, whole: bool) -> tuple[tuple[RunCase, ...], list[Note]]:
    """Take from each case the criteria that by their rules do not apply to it; remark on criteria that apply to none.

    Args:
        whole: these are all cases of the suite's own datasets, so that a rule that excludes them all is a mistake.
    """
    ruled = tuple(_ruled(item, registry) for item in cases)
    excluded = Counter(key for item in ruled for key in item.ruled_out)
    left = Counter(key for item in ruled for key in item.criteria)
    without = tuple(key for key in excluded if not left[key])
    nowhere = tuple(key for key in without if registry.entries[key].scope in SINGLE)
    if without and not nowhere and not left:
        raise CriteriaError(f"{name_list(without)} judge conversations, and no case is one: choose other criteria or cases")
    if nowhere and (whole or not left):
        rule = registry.document.error(
            f"the rule excludes all {excluded[nowhere[0]]} cases: mend it, or leave the criterion out of the selection",
            *("criteria", nowhere[0], "applies_to"),
        )
        more = f" (so do the rules of {name_list(nowhere[1:])})" if nowhere[1:] else ""
        raise CriteriaError(f"{rule}{more}")
    return ruled, [Note("ruled_out_everywhere", {"criteria": without})] if without else []


def _ruled(item: RunCase, registry: Registry) -> RunCase:
    entries = {key: registry.entries[key] for key in item.criteria}
    kept = [key for key, entry in entries.items() if concerns(entry.scope, item.case) and applies(entry.applies_to, item.case)]
    if len(kept) == len(item.criteria):
        return item
    ruled_out = tuple(key for key in item.criteria if key not in kept)
    return msgspec.structs.replace(item, criteria=tuple(kept), ruled_out=ruled_out)


def unknown_names(registry: Registry, cases: Sequence[Case]) -> list[str]:
    """One line for each category, sub-category and tag that a rule names and no case has, with the nearest name that one has."""
    vocabulary: dict[str, set[str]] = {
        "category": {case.category for case in cases} | {entry.category for entry in registry.entries.values()},
        "subcategory": {name for case in cases for name in (case.subcategory, f"{case.category}.{case.subcategory}")}
        | {name for entry in registry.entries.values() for name in (entry.subcategory, f"{entry.category}.{entry.subcategory}")},
        "tags": {tag for case in cases for tag in case.tags},
        "maturity": set(MATURITIES),
    }
    folded = {field: {name.casefold() for name in names} for field, names in vocabulary.items()}
    lines: dict[str, None] = {}
    for entry in registry.entries.values():
        for field, name in (pair for rule in entry.applies_to for pair in rule.every_name()):
            if name.casefold() not in folded[field]:
                near = get_close_matches(name, sorted(vocabulary[field] - {""}), n=1)
                hint = f": did you mean {near[0]!r}?" if near else ""
                place = ("criteria", entry.id, "applies_to")
                lines[str(registry.document.error(f"no case has the {_WORDS[field]} {name!r}{hint}", *place))] = None
    return list(lines)
