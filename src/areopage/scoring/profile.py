"""The two sets of rules by which passes and judges are reduced to a criterion's score."""

import msgspec
from msgspec import Struct

from areopage.errors import UserError


class Profile(Struct, frozen=True, kw_only=True):
    """How failures, quorum and outliers are treated.

    Args:
        name: `default` or `v1_1`.
        failed_pass_score: the score a failed or missing pass is counted as; None: it is left out.
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


DEFAULT = Profile(name="default", failed_pass_score=None, quorum=0.5, leave_one_out=True, lone_judge_agrees=False)
V1_1 = Profile(name="v1_1", failed_pass_score=0.0, quorum=0.0, leave_one_out=False, lone_judge_agrees=True)
PROFILES = {profile.name: profile for profile in (DEFAULT, V1_1)}


def profile_named(name: str) -> Profile:
    """Look a profile up.

    Raises:
        UserError: there is no such profile.
    """
    if name not in PROFILES:
        raise UserError(f"unknown scoring profile {name!r}: use one of {', '.join(PROFILES)}")
    return PROFILES[name]
