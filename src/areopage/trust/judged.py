"""What the jury of a run said: its scores, and those of each judge."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from areopage.jury import Panel

Scores = Mapping[str, Mapping[str, float]]
"""Criterion's path ("" is the overall score) -> answer -> score on the panel's scale."""


class JudgedRun(Struct, frozen=True, kw_only=True):
    """What the jury of a run said.

    Args:
        scores: of the jury.
        by_judge: criterion's path -> answer -> score of each judge, in the panel's order; None where one gave none.
        limits: of failures, by a criterion's path.
    """

    panel: Panel
    run_id: str
    scores: Scores
    by_judge: Mapping[str, Mapping[str, Sequence[float | None]]]
    limits: Mapping[str, float]

    def voted(self, path: str) -> list[str]:
        """The answers with the jury's score on a criterion, and one of a judge at least."""
        scores = self.by_judge.get(path, {})
        return [item for item in self.scores.get(path, {}) if any(score is not None for score in scores.get(item, ()))]
