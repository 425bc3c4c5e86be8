"""All figures of a run, in the order in which they are shown."""

from functools import lru_cache
from typing import Any

from areopage.bench.figures.adaptive_passes import ADAPTIVE_PASSES
from areopage.bench.figures.ages import AGE_SCORES
from areopage.bench.figures.agreement import AGREEMENT
from areopage.bench.figures.answers import ANSWER_STATES, REUSED_ANSWERS, SOURCES, TARGET_CALLS
from areopage.bench.figures.calibration import CALIBRATION
from areopage.bench.figures.conversations import CONVERSATIONS, DRIFTS
from areopage.bench.figures.costs import COSTS
from areopage.bench.figures.coverage import COMPLETE, COUNTS, COVERAGE, LOST_CRITERIA
from areopage.bench.figures.disputes import DISPUTES
from areopage.bench.figures.failing_cases import FAILING_CASES
from areopage.bench.figures.failures import FAILURE_GROUPS, FAILURES, UNSCORED_FIRST
from areopage.bench.figures.figure import Figure
from areopage.bench.figures.history import HISTORY, MODES
from areopage.bench.figures.judges import JUDGES, QUALIFICATION
from areopage.bench.figures.jury_worth import JURY_WORTH
from areopage.bench.figures.missing import MISSING, UNANSWERED
from areopage.bench.figures.over_refusal import OVER_REFUSAL
from areopage.bench.figures.people import PEOPLE, SIGN_OFFS
from areopage.bench.figures.release import RELEASE
from areopage.bench.figures.remarks import LEDGER_HEADS, REJECTED, REMARKS, SIGNATURES, VARIANT
from areopage.bench.figures.scores import DETECTABLE, FINAL_INTERVAL, IF_MISSING, INTERVALS, SETTLED_WEIGHTS, WEIGHT_WARNINGS
from areopage.bench.figures.worst import RANKED
from areopage.bench.trust.run import RUN_TRUST
from areopage.extensions import imported, registered

FIGURES: tuple[Figure[Any], ...] = (
    *(SIGN_OFFS, FAILURES, FAILURE_GROUPS, OVER_REFUSAL, FINAL_INTERVAL, INTERVALS, DETECTABLE, IF_MISSING),
    *(HISTORY, MODES, DISPUTES, RELEASE, FAILING_CASES, UNSCORED_FIRST, AGE_SCORES, RANKED),
    *(DRIFTS, CONVERSATIONS, JUDGES, COMPLETE, ANSWER_STATES, TARGET_CALLS, REUSED_ANSWERS, COSTS, AGREEMENT, JURY_WORTH),
    *(QUALIFICATION, COVERAGE, COUNTS, LOST_CRITERIA, SOURCES, CALIBRATION, VARIANT, SETTLED_WEIGHTS, WEIGHT_WARNINGS),
    *(ADAPTIVE_PASSES, PEOPLE, UNANSWERED, MISSING, REJECTED, REMARKS, LEDGER_HEADS, SIGNATURES, RUN_TRUST),
)


@lru_cache(maxsize=1)
def all_figures() -> tuple[Figure[Any], ...]:
    """The figures of a run, and those that extensions register."""
    return (*FIGURES, *map(imported, registered("figures").values()))
