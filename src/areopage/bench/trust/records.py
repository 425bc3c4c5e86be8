"""How far a score can be trusted: what is known of its judges, of people's labels and of what was left out, in one record.

It is made from a benchmark run or from a period of production, and is the same for both. Scores and differences are in points of
the suite's scale; intervals are at 95 %; null is what is not known.
"""

from typing import Literal

from msgspec import Struct

from areopage.bench.figures.people import HumanCriterion
from areopage.criteria import Scale
from areopage.ledger import Standing
from areopage.scoring import AppliedCalibration, Estimate, FailuresSeen, JudgeContribution, JuryWorth

FEW = 5
"""A group with fewer cases has no interval: it hardly tells anything."""

FINAL = "final"
"""The key of the overall score among criteria."""


class JudgeTrust(Struct, frozen=True, kw_only=True):
    """One judge.

    Args:
        standing: what exams say of it now.
        examined_in: the languages of the exams that count, of all criteria that it was examined on.
        units: pairs of answer and criterion that it scored and people labelled; the three figures rest on them.
        leniency: mean of judge − people; null with too few labels.
        noise: standard deviation of that difference; null with too few labels.
        contribution: whether the jury errs less without it.
    """

    standing: Standing
    examined_in: tuple[str, ...] = ()
    units: int = 0
    leniency: Estimate | None = None
    noise: Estimate | None = None
    contribution: JudgeContribution = "unknown"


class PeopleTrust(Struct, frozen=True, kw_only=True):
    """What people said of the answers, and how far the jury agrees with them; only labels given blind count.

    Args:
        answers: labelled answers that the figures are about; `labels` of them, by `raters` people.
        of: the answers that people could have labelled; null where that is not known.
        at_random: all of them were drawn at random; else the figures do not speak for all answers.
        others: further labelled answers that were chosen for a reason, and are left out.
        unblind: labels that do not count, as their raters had seen the judges' scores.
        origins: how the labels were given, with their number: web, api, cli, import; empty where that is not known.
        languages, ages: the labelled answers by language and by age; empty where cases state none.
        criteria: by a criterion's id, and `final`, the overall score.
        first: failures on the criteria that count first; null outside of runs.
    """

    answers: int
    labels: int
    raters: int
    of: int | None
    at_random: bool
    others: int
    unblind: int
    origins: dict[str, int]
    languages: dict[str, int]
    ages: dict[str, int]
    criteria: dict[str, HumanCriterion]
    first: FailuresSeen | None


class LabelsNeeded(Struct, frozen=True, kw_only=True):
    """How many labelled answers, drawn at random, a precision of every corrected score takes.

    Args:
        precision: half the width of the interval.
        answers: how many in all; `labelled` of them are labelled already.
        every: all answers would have to be labelled.
        assumed: it rests on an assumed agreement, as fewer than ten answers are labelled.
    """

    precision: float
    answers: int
    labelled: int
    every: bool
    assumed: bool


class PartScore(Struct, frozen=True, kw_only=True):
    """A score as the judges gave it, over `cases`, with its interval."""

    score: float | None
    low: float | None
    high: float | None
    cases: int


class ScoreTrust(Struct, frozen=True, kw_only=True):
    """The score before and after people's labels correct it.

    Args:
        final: as the judges gave it.
        criteria: the same by a criterion's id.
        calibration: what corrects it; null where no labels do.
        altered: the ids of the suite's calibrations that were altered after they were fitted, and are not used.
        needed: how many labels a correction takes; empty outside of runs.
        difference: the smallest difference between two such scores that four of five comparisons find certain.
        failures: the smallest share of failing cases of which at least one was seen, with a certainty of 97.5 %.
        failure_cases: the cases that failures are counted among.
        if_missing: the score if all missing verdicts were the worst, and the best; null where none is missing.
    """

    scale: Scale
    final: PartScore
    criteria: dict[str, PartScore]
    calibration: AppliedCalibration | None
    altered: tuple[str, ...]
    needed: tuple[LabelsNeeded, ...]
    difference: float | None
    failures: float | None
    failure_cases: int
    if_missing: tuple[float, float] | None


class Group(Struct, frozen=True, kw_only=True):
    """A group of cases, such as those of one age.

    Args:
        hidden: the share of such cases that may fail though none of these does, with a certainty of 97.5 %; 1 without cases.
        few: fewer cases than this are too few.
        ages: of an audience: `9-12`; "" where that is not known.
    """

    name: str
    cases: int
    hidden: float
    few: int = FEW
    ages: str = ""


class Unexamined(Struct, frozen=True, kw_only=True):
    """What exams of judges leave open.

    Args:
        criteria: ids of those on which a judge was never examined.
        without_gold: of these the ones that no answer of the exams was about.
        languages: those of the suite in which the exams that count had no answer.
    """

    criteria: tuple[str, ...] = ()
    without_gold: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


class Uncovered(Struct, frozen=True, kw_only=True):
    """What a score does not rest on. Criteria are named by id.

    Args:
        cases: cases or answers that were to be judged; `unanswered` without an answer, `unscored` without a whole score.
        waiting, sampled_out: answers of production that wait, and that sampling left out.
        rejected: rows of the datasets that could not be used.
        conversations: cases of several turns; null where that is not known.
        languages: those of the suite with their cases; empty where that is not known.
        ages: the audiences of the suite and of the cases; empty where there are none.
        categories: the cases' own ones.
        not_judged: criteria that were selected and that no judge judged.
        never_apply: criteria without a score, of which verdicts say that they do not apply.
        without_score: other criteria without a single score.
        few: criteria with the number of their scores, where these are fewer than `FEW`.
        missing: verdicts that are missing, of `planned`.
        complete: no call is left to make.
    """

    cases: int
    unanswered: int
    unscored: int
    waiting: int = 0
    sampled_out: int = 0
    rejected: int = 0
    conversations: int | None = None
    languages: tuple[Group, ...] = ()
    ages: tuple[Group, ...] = ()
    categories: tuple[Group, ...] = ()
    not_judged: tuple[str, ...] = ()
    never_apply: tuple[str, ...] = ()
    without_score: tuple[str, ...] = ()
    few: dict[str, int] = {}
    unexamined: Unexamined = Unexamined()
    missing: int = 0
    planned: int = 0
    complete: bool = True


StepName = Literal["resume", "examine", "gold", "label", "more_labels", "calibrate", "period_label"]


class Step(Struct, frozen=True, kw_only=True):
    """What would make something known that is not: `areopage` with these words.

    Args:
        labels: how many answers to label; 0 for other steps.
        precision: what they give, half the width of an interval; null for other steps.
        criteria: that reference answers are wanted for; empty for other steps.
    """

    name: StepName
    command: tuple[str, ...]
    labels: int = 0
    precision: float | None = None
    criteria: tuple[str, ...] = ()


class Trust(Struct, frozen=True, kw_only=True):
    """How far a score can be trusted.

    Args:
        about: a benchmark run, or a period of production.
        names: what people call the criteria, by id.
        judges: in the panel's order.
        jury: what the judges are worth together; null where no answer of a period is labelled.
        people: null where no label counts.
        steps: what would make something known that is not, the most important first.
    """

    about: Literal["run", "period"]
    suite: str
    names: dict[str, str]
    judges: tuple[JudgeTrust, ...]
    jury: JuryWorth | None
    people: PeopleTrust | None
    score: ScoreTrust
    uncovered: Uncovered
    steps: tuple[Step, ...]
