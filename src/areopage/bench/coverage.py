"""How much of what a run selects is judged."""

from collections import Counter

from msgspec import Struct

from areopage.bench.spec import RunSpec


class RunCoverage(Struct, frozen=True, kw_only=True):
    """How much of what was selected is judged: a score was given, or that the criterion does not apply.

    Args:
        scored, not_applicable, planned: passes; a criterion that is not judged counts as planned as often as the others on
            average.
        criteria: how many are judged.
        lost: the ids of the selected criteria that are not: no judge may judge them, or their prompt files cannot be used.
    """

    scored: int
    not_applicable: int
    planned: int
    criteria: int
    lost: tuple[str, ...]

    @property
    def share(self) -> float:
        """Passes in which a judge has judged over planned ones, in [0, 1]; 0 when none was planned."""
        return (self.scored + self.not_applicable) / self.planned if self.planned else 0.0

    @property
    def none_applies(self) -> bool:
        """Whether all that was judged is that no criterion applies to any case."""
        return not self.scored and 0 < self.not_applicable == self.planned

    @property
    def selected(self) -> int:
        """The number of selected criteria."""
        return self.criteria + len(self.lost)


def run_coverage(spec: RunSpec, selected: Counter[str], scored: int, not_applicable: int) -> RunCoverage:
    """The coverage of a run.

    Args:
        selected: for how many cases each criterion is selected; criteria that could not be loaded are in the specification.
        scored: the passes with a score.
        not_applicable: the passes that say that the criterion does not apply.
    """
    lost = {**spec.lost, **{key: selected[key] for key in spec.unjudged if selected[key]}}
    judged = {key: count for key, count in selected.items() if key not in lost}
    criteria = spec.criteria_by_id()
    planned = sum(count * len(one.passes) for key, count in judged.items() for one in spec.judges if one.may_judge(criteria[key]))
    planned += round(planned * sum(lost.values()) / max(1, sum(judged.values())))
    return RunCoverage(scored=scored, not_applicable=not_applicable, planned=planned, criteria=len(judged), lost=tuple(lost))
