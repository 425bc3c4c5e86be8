"""Profiles of scoring, and the records of a judge's score and of a criterion's score: `score_columns` computes them."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from areopage.criteria import Scale
from areopage.errors import UserError


class Profile(Struct, frozen=True, kw_only=True):
    """How failures, quorum and outliers are treated.

    Args:
        name: `default` or `v1_1`.
        failed_pass_score: the score of a failed pass; None: it is left out. A pass that was never made is always left out.
        quorum: the share of planned judges (0 to 1) that must have scored, else the criterion is unscored.
        leave_one_out: outliers by the leave-one-out rule; else by |z| > 2 as documented for V1.1.
        lone_judge_agrees: a single judge counts as agreement 1, as V1.1's formula gives; else there is none to measure.
    """

    name: str
    failed_pass_score: float | None
    quorum: float
    leave_one_out: bool
    lone_judge_agrees: bool

    def with_quorum(self, quorum: float) -> "Profile":
        """The profile with a suite's quorum; one that knows no quorum stays as it is."""
        return msgspec.structs.replace(self, quorum=quorum) if self.quorum else self

    @staticmethod
    def named(name: str) -> "Profile":
        """The profile of a name; a UserError where there is none."""
        if name not in PROFILES:
            raise UserError(f"unknown scoring profile {name!r}: use one of {', '.join(PROFILES)}")
        return PROFILES[name]


DEFAULT = Profile(name="default", failed_pass_score=None, quorum=0.5, leave_one_out=True, lone_judge_agrees=False)
V1_1 = Profile(name="v1_1", failed_pass_score=0.0, quorum=0.0, leave_one_out=False, lone_judge_agrees=True)
PROFILES = {profile.name: profile for profile in (DEFAULT, V1_1)}


class JudgeScore(Struct, frozen=True, kw_only=True):
    """One judge on one criterion of one case. `score` is on the suite's scale; None when no pass counts.

    `variance` is the sample variance of the counted passes (0 under two). `scored`, `not_applicable` and `planned` count passes.
    `worst` is the worst score that a pass gave; `waives`: more passes say that the criterion does not apply than count.
    """

    judge: str
    score: float | None
    variance: float
    scored: int
    planned: int
    not_applicable: int = 0
    waives: bool = False
    worst: float | None = None


class CriterionScore(Struct, frozen=True, kw_only=True):
    """One criterion of one case. `score` is None below the quorum; `agreement` is None under two judges
    (V1.1: under one).

    `outliers` are names of judges who stand apart; they are named and still counted. `applies` is False where the judges settle
    that the criterion does not apply to the case, or a rule says so (`by_rule`): then there is no score, and none is missing.
    `turns` are the scores of a conversation's replies, where these are judged; else `turn` is 0.
    That of the case is the worst of them; a reply without a score may be the worst: see `score_columns`.
    """

    case_id: str
    criterion: str
    score: float | None
    agreement: float | None
    outliers: tuple[str, ...]
    judges: tuple[JudgeScore, ...]
    applies: bool = True
    by_rule: bool = False
    turn: int = 0
    turns: tuple["CriterionScore", ...] = ()

    @property
    def planned_passes(self) -> Iterator[tuple[str, int, int]]:
        """Judge, turn and number of each planned pass, judge by judge."""
        for judge in self.judges:
            for reply in self.turns or (self,):
                planned = next((score.planned for score in reply.judges if score.judge == judge.judge), 0)
                yield from ((judge.judge, reply.turn, number) for number in range(1, planned + 1))

    @property
    def worst_reply(self) -> "CriterionScore":
        """The score of the reply whose judges `judges` are; the score itself where no single reply is judged."""
        replies = (reply for reply in self.turns if reply.applies and reply.score == self.score)
        return next(replies, self)

    def fails(self, limits: Mapping[str, float], scale: Scale) -> bool:
        """Whether the score lies at or beyond the criterion's limit; a missing one does not."""
        return self.score is not None and scale.reaches(self.score, limits[self.criterion])

    @property
    def is_missing(self) -> bool:
        """Whether the criterion applies and has no score."""
        return self.applies and self.score is None

    @property
    def is_disputed(self) -> bool:
        """Whether some passes give a score, and others say that the criterion does not apply."""
        return self.scored > 0 and self.not_applicable > 0

    @property
    def not_applicable(self) -> int:
        """Passes that say that the criterion does not apply."""
        return sum(judge.not_applicable for judge in self.judges)

    @property
    def scored(self) -> int:
        """Passes that gave a score."""
        return sum(judge.scored for judge in self.judges)

    @property
    def planned(self) -> int:
        """Passes that were planned."""
        return sum(judge.planned for judge in self.judges)

    @staticmethod
    def spread_of(scores: Iterable["CriterionScore"]) -> float | None:
        """The largest difference between two judges on one criterion; None where no criterion has two."""
        differences: list[float] = []
        for score in scores:
            values = [judge.score for judge in score.judges if judge.score is not None]
            if len(values) > 1:
                differences.append(max(values) - min(values))
        return max(differences, default=None)
