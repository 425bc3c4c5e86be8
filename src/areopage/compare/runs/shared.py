"""What two runs share, and so what of them is compared.

Runs of different panels are refused. On request the comparison takes what they have in common, and says so: the judges that are
the same, the criteria with the same texts, and the cases with the same content, by the weights and limits of the first run.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from areopage.bench import (
    DifferentPanels,
    PartName,
    RunCase,
    RunSpec,
    RunView,
    case_clusters,
    panel_parts,
    part_differences,
    view_run,
)
from areopage.cases import Case
from areopage.compare.runs.records import Shared
from areopage.compare.statistics.levels import Basis, Design, Difference, compare_paired
from areopage.criteria import Criterion
from areopage.digest import digest_of
from areopage.errors import UserError, name_list
from areopage.jury import Rescoring
from areopage.ledger import Ledger
from areopage.scoring import Leaf, RecordScores, score_tree

FREE: tuple[PartName, ...] = ("suite", "floors")
"""What compared runs need not share: the version of the suite's files, and the floors; neither changes a score."""


class RunPair(Struct, frozen=True, kw_only=True):
    """Two runs reduced to what they share: with the shared judges, and with the cases of the first one by id."""

    basis: Basis
    shared: Shared
    first: dict[str, RecordScores]
    other: dict[str, RecordScores]
    views: tuple[RunView, RunView]
    cases: dict[str, RunCase]
    design: Design[Difference]


def paired_runs(
    ledger: Ledger, first: RunView, other: RunView, cluster: str, *, anyway: bool, where: Sequence[str] = ()
) -> RunPair:
    """Reduce two runs to what they share."""
    cases = [view.items for view in (first, other)]
    parts = [panel_parts(view.spec, items) for view, items in zip((first, other), cases, strict=True)]
    differs = tuple(difference for difference in part_differences(*parts) if difference.part not in FREE)
    if differs and not anyway:
        raise DifferentPanels(first.run.id, other.run.id, differs)
    left_out: dict[str, tuple[str, ...]] = {}
    if differs:
        first, other, left_out["judges"] = _with_shared_judges(ledger, first, other, where)
    criteria = shared_criteria(first.spec.criteria, other.spec.criteria)
    left_out["criteria"] = _missing(
        (criterion.id for criterion in (*first.spec.criteria, *other.spec.criteria)), {criterion.id for criterion in criteria}
    )
    by_id = [{item.case.id: item for item in items} for items in cases]
    ids = [id for id, item in by_id[0].items() if id in by_id[1] and _content(item.case) == _content(by_id[1][id].case)]
    left_out["cases"] = _missing((*by_id[0], *by_id[1]), set(ids))
    if not criteria or not ids:
        raise UserError(f"{first.run.id} and {other.run.id} have no {'cases' if criteria else 'criteria'} in common")
    basis = Basis(criteria=criteria, scale=first.spec.scale, failures=first.spec.failures)
    asked = [msgspec.structs.replace(by_id[0][id].case, response=None) for id in ids]
    return RunPair(
        basis=basis,
        shared=Shared(
            cases=len(ids),
            criteria=len(criteria),
            judges=len(first.spec.judges),
            left_out={name: names for name, names in left_out.items() if names},
            differs=differs,
        ),
        first=reduced_scores(first, first.spec, ids, criteria),
        other=reduced_scores(other, first.spec, ids, criteria),
        views=(first, other),
        cases=by_id[0],
        design=partial(compare_paired, clusters=case_clusters(asked, cluster)),
    )


def _with_shared_judges(
    ledger: Ledger, first: RunView, other: RunView, where: Sequence[str]
) -> tuple[RunView, RunView, tuple[str, ...]]:
    """Both runs with the judges that are the same in both, by the rules of the first; and the names of the others."""
    if first.spec.scale != other.spec.scale:
        raise UserError(f"{first.run.id} and {other.run.id} cannot be compared: their scores are on different scales")
    digests = [
        {judge.name: digest_of(msgspec.structs.replace(judge, price=None)) for judge in view.spec.judges}
        for view in (first, other)
    ]
    same = {name for name, digest in digests[0].items() if digests[1].get(name) == digest}
    if not same:
        raise UserError(
            f"{first.run.id} and {other.run.id} have no judge in common: {name_list(digests[0])} against {name_list(digests[1])}"
        )
    views = [
        view_run(
            view.run,
            ledger,
            Rescoring(profile=first.spec.profile, without_judges=tuple(name for name in judges if name not in same)),
            where=where,
        )
        for view, judges in zip((first, other), digests, strict=True)
    ]
    return views[0], views[1], _missing((*digests[0], *digests[1]), same)


def _missing(names: Iterable[str], kept: set[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name not in kept)


def shared_criteria(first: Iterable[Criterion], other: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """The criteria that are the same to the letter in both."""
    digests = {criterion.id: digest_of(criterion) for criterion in other}
    return tuple(criterion for criterion in first if digests.get(criterion.id) == digest_of(criterion))


def _content(case: Case) -> str:
    return digest_of(msgspec.structs.replace(case, response=None, source="", metadata={}, criteria_selection=""))


def reduced_scores(view: RunView, spec: RunSpec, ids: Sequence[str], criteria: Sequence[Criterion]) -> dict[str, RecordScores]:
    """The scores of some cases on some criteria, with the weights of a specification."""
    by_id, wanted = {criterion.id: criterion for criterion in criteria}, set(ids)
    by_case: dict[str, RecordScores] = {}
    for record in view.scores.records:
        if record.case_id in wanted:
            scores = tuple(score for score in record.criteria if score.criterion in by_id)
            tree, _ = score_tree([Leaf.of(by_id[score.criterion], score) for score in scores], spec.weights)
            by_case[record.case_id] = msgspec.structs.replace(record, tree=tree, criteria=scores)
    return by_case
