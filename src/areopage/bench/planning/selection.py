"""Which criteria each case of a run is judged on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import msgspec
from msgspec import structs

from areopage.bench.spec import RunCase
from areopage.cases import MATURITIES, Case, Dataset, RejectedRow
from areopage.criteria import SINGLE, Criterion, Registry, applies, concerns, load_criteria
from areopage.errors import CriteriaError, name_list
from areopage.locales import Note
from areopage.scoring import ReleaseFloors
from areopage.suites import Suite

CONVERSATIONS = "conversations"
"""The preset of a suite's criteria on conversations."""

Selected = tuple[Case, tuple[str, ...]]
"""A case with the ids of the criteria that it is to be judged on."""


def choose_criteria(
    suite: Suite, dataset: Dataset, selection: str, *, override: bool
) -> tuple[list[Selected], list[RejectedRow]]:
    """Select each case's criteria: its own, else the run's; of a conversation also the suite's criteria on conversations.

    A case with an invalid selection is rejected.
    """
    default = suite.registry.select(selection)
    wanted = {*default, *_on_conversations(suite)}
    in_talks = default if override else tuple(key for key in suite.registry.entries if key in wanted)
    chosen: list[Selected] = []
    rejected: list[RejectedRow] = []
    for case in dataset.cases:
        if override or not case.criteria_selection:
            chosen.append((case, in_talks if case.is_conversation else default))
            continue
        try:
            chosen.append((case, suite.registry.select(case.criteria_selection)))
        except CriteriaError as fault:
            rejected.append(rejected_case(case, str(fault), dataset))
    if not chosen:
        raise CriteriaError(f"no case is left: {rejected[0].reason}")
    return chosen, rejected


def conversations_off(suite: Suite, cases: Sequence[RunCase]) -> tuple[str, ...]:
    """The ids of the suite's criteria on conversations that some conversation is not judged on."""
    talks = [item for item in cases if item.case.is_conversation]
    return tuple(key for key in _on_conversations(suite) if any(key not in item.criteria for item in talks))


def _on_conversations(suite: Suite) -> tuple[str, ...]:
    preset = suite.registry.presets.get(CONVERSATIONS)
    return preset.criteria if preset is not None else ()


def by_reply(criteria: Mapping[str, Criterion], floors: ReleaseFloors | None, cases: Sequence[RunCase]) -> tuple[Criterion, ...]:
    """The criteria of a run: with a conversation among the cases, those of the floors judge each reply."""
    every = tuple(criteria.values())
    if floors is None or not any(item.case.is_conversation for item in cases):
        return every
    deciding = floors.deciding(every)
    return tuple(
        structs.replace(criterion, scope="reply") if criterion.scope == "response" and criterion.id in deciding else criterion
        for criterion in every
    )


def not_selected(suite: Suite, selection: str, chosen: Sequence[Selected]) -> list[str]:
    """The criteria that neither the run nor a case selects, but for those on conversations where no case is one."""
    selected = {*suite.registry.select(selection), *(key for _, ids in chosen for key in ids)}
    outside = suite.registry.left_out_of(selected)
    scopes = {key: suite.registry.entries[key].scope for key in outside}
    return [key for key in outside if any(concerns(scopes[key], case) for case, _ in chosen)]


def usable_criteria(suite: Suite, chosen: Sequence[Selected], language: str) -> tuple[dict[str, Criterion], list[Note]]:
    """The loadable criteria by id, and a remark on each other criterion."""
    wanted = {key for _, ids in chosen for key in ids}
    ids = tuple(key for key in suite.registry.entries if key in wanted)
    limit = suite.config.validation.max_criteria_per_benchmark
    if len(ids) > limit:
        raise CriteriaError(f"{len(ids)} criteria are selected, and validation.max_criteria_per_benchmark is {limit}")
    loaded = load_criteria(suite.registry, ids, suite.criteria_folder, language, suite.own_language, suite.scale)
    if not loaded.criteria:
        raise CriteriaError(f"none of the {len(ids)} selected criteria can be used: {loaded.faults[0]}")
    remarks = [Note("criterion_left_out", {"told": str(fault)}) for fault in loaded.faults]
    if loaded.untranslated:
        languages = {"wanted": language, "used": suite.own_language}
        remarks.append(Note("untranslated", {**languages, "criteria": tuple(loaded.untranslated)}))
    return {criterion.id: criterion for criterion in loaded.criteria}, remarks


def cases_with_criteria(
    chosen: Sequence[Selected], criteria: Mapping[str, Criterion], dataset: Dataset
) -> tuple[tuple[RunCase, ...], dict[str, int], list[RejectedRow]]:
    """Keep the usable criteria of each case, and count the cases of the others; reject cases without any."""
    cases: list[RunCase] = []
    lost: Counter[str] = Counter()
    rejected: list[RejectedRow] = []
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}  # cases with equal criteria share them
    for case, ids in chosen:
        if ids not in kept:
            kept[ids] = tuple(key for key in ids if key in criteria)
        if usable := kept[ids]:
            cases.append(RunCase(case=case, criteria=usable))
            lost.update(key for key in ids if key not in criteria)
        else:
            rejected.append(rejected_case(case, f"none of its criteria can be used: {name_list(ids)}", dataset))
    return tuple(cases), dict(lost), rejected


def rejected_case(case: Case, reason: str, dataset: Dataset) -> RejectedRow:
    """A rejected case, as the row it came from."""
    file, row = dataset.places[case.id]
    return RejectedRow(file=file, row=row, reason=reason, content=case.prompt_text)


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
