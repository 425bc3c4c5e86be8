"""Pure mathematics over judgments: no input or output, no clock, no randomness that is not a parameter."""

from .agreement_with_people import WORST as WORST
from .agreement_with_people import CorrelationClaim as CorrelationClaim  # Whether the true correlation is over `bound`.
from .agreement_with_people import CriterionAgreement as CriterionAgreement  # A judge against people on one criterion
from .agreement_with_people import Disagreement as Disagreement  # An item where judge and people are far apart
from .agreement_with_people import HumanAgreement as HumanAgreement  # A judge against people.
from .agreement_with_people import Rating as Rating  # One rater's score of one item on one criterion
from .arrays import Column as Column
from .arrays import Flags as Flags
from .arrays import Matrix as Matrix  # Of two dimensions or more.
from .arrays import Places as Places
from .chance_agreement import Ac2 as Ac2  # AC2 with its interval, like `Alpha`
from .chance_agreement import Alpha as Alpha  # α with its 95 % interval over units
from .chance_agreement import gwet_ac2 as gwet_ac2  # AC2 = (p_a − p_e) / (1 − p_e) with ordinal weights.
from .chance_agreement import krippendorff_alpha as krippendorff_alpha  # Ordinal α

# A calibration as it is applied to a run or to a monitored period.
from .corrected import AppliedCalibration as AppliedCalibration

# A mean score corrected by people's labels, with its 95 % interval, on the run's scale.
from .corrected import CorrectedScore as CorrectedScore
from .corrected import CorrectedShare as CorrectedShare  # A share in [0, 1] corrected by labels, with its 95 % interval.
from .corrected import MappedScore as MappedScore  # What people are expected to give one answer where the jury gave it its score

# A share in [0, 1] of a random part of a finite population, with its 95 % interval.
from .corrected import SampledShare as SampledShare
from .correlation import TINY as TINY
from .correlation import Correlation as Correlation  # Pearson's r.
from .correlation import Estimate as Estimate  # A figure with its 95 % interval
from .exams.drift import DriftSeries as DriftSeries  # What a judge said of a canary's rows
from .exams.drift import moved as moved  # Which members of a family moved
from .exams.figures import examine as examine  # Compute an exam's figures on one criterion.
from .exams.records import EXAM_NOT_APPLICABLE as EXAM_NOT_APPLICABLE
from .exams.records import HIGH as HIGH  # A band that begins at or above this share of the scale is a high one.
from .exams.records import LOW as LOW  # A band that ends at or below this share of the scale is a low one
from .exams.records import CriterionExam as CriterionExam  # How a judge did on one criterion of a gold set.
from .exams.records import ExamItem as ExamItem  # What one judge said of one gold row on one criterion.
from .exams.records import ExamState as ExamState
from .exams.records import Look as Look  # What one round adds.
from .exams.records import Mark as Mark  # Whether a figure reaches its mark.
from .exams.records import Marks as Marks  # What a judge must reach on each criterion.
from .exams.records import Said as Said  # What one call says
from .exams.records import Shift as Shift  # How far the latest scores lie from those before, in points.
from .exams.records import is_undecided as is_undecided  # Whether an exam that is not passed is not failed either
from .failure_rules import FailureRules as FailureRules  # What a failure is.
from .failures import FailingCases as FailingCases  # The cases that fail any of some criteria.
from .failures import FailureCount as FailureCount  # How many cases fail, of those that the criterion applies to.
from .failures import Failures as Failures  # The failures of a run.
from .failures import GroupFailures as GroupFailures  # The failures of a group of cases, such as those of one age

# A jury's failures against people's, over the items that both scored
from .failures_by_people import FailuresSeen as FailuresSeen
from .failures_by_people import HumanFailures as HumanFailures  # Failures by people and by the jury.
from .families import ALPHA as ALPHA  # The level of every family.
from .families import holm as holm  # Correct the p-values of a family by Holm's method
from .folding import Consistency as Consistency  # Consistency of judges.
from .folding import RecordScores as RecordScores  # The scores of one case.
from .folding import RunScores as RunScores  # The scores of a run, on `scale`.
from .folding import fold as fold  # Fold planned passes into the scores of each record and of the run.
from .grades import DECIMALS as DECIMALS  # Scores are counted, and put into grades, as they are shown
from .grades import WEAK_UNDER as WEAK_UNDER  # Shares of the scale at which the grades part.
from .grades import Grade as Grade  # Over 80 % of the scale, from 60 % to 80 %, under 60 %
from .grades import ScoreTally as ScoreTally  # How many answers got each score.

# The score of a criterion from which on an answer is weak, whatever its global score
from .grades import critical_floor as critical_floor
from .grades import grade_limits as grade_limits  # Where the grade "acceptable" begins and ends on a scale
from .grades import grade_of as grade_of  # The grade of a score, rounded as it is shown

# Values and how often each was seen, > 0, and the ends of their range
from .intervals.differences import CountedValues as CountedValues

# The interval of the mean of the first minus that of the second, and the p-value of no difference.
from .intervals.differences import difference_interval as difference_interval

# The shape of the unseen value's weight with which an interval leaves out the truth in no more than 1 − level of all samples.
from .intervals.means import GUARANTEED as GUARANTEED
from .intervals.means import LEVEL as LEVEL
from .intervals.means import mean_interval as mean_interval  # The interval of the mean of independent values from a range.
from .intervals.means import mean_intervals as mean_intervals  # The intervals of many means
from .intervals.planning import Detectable as Detectable  # What a run can tell.
from .intervals.planning import least_enough as least_enough  # The least number from `start` (≥ 1) on that is enough

# The scores of the nodes of a tree as means of one value for each cluster of cases.
from .intervals.scores import CaseValues as CaseValues
from .intervals.scores import Interval as Interval  # A 95 % interval, in units of the suite's scale.
from .intervals.scores import cluster_numbers as cluster_numbers  # The number of each case's cluster, from 0

# How far from 0 Student's t stays with the probability 0.95, for degrees of freedom >= 1.
from .intervals.student_t import critical_t as critical_t

# The agreement over all scores of a run, with failures on the criteria that count first, and by a criterion's id.
from .outcome import FAILED_NAMES as FAILED_NAMES
from .outcome import GIVEN_NAMES as GIVEN_NAMES
from .outcome import OUTCOME_NAMES as OUTCOME_NAMES
from .outcome import Given as Given  # The outcomes of a judge that has judged.
from .outcome import NotApplicable as NotApplicable  # The judge says that the criterion does not apply to the case
from .outcome import Outcome as Outcome
from .outcome import PlannedPass as PlannedPass  # One planned verdict
from .outcome import Refused as Refused  # The judge declined to judge.
from .outcome import Scored as Scored  # The judge gave a score that lies on the criterion's scale (in that scale's own units).
from .outcome import TimedOut as TimedOut  # No answer came in time.
from .outcome import Unparsed as Unparsed  # The judge answered, and no score could be read from the answer.
from .outcome import Unreachable as Unreachable  # The judge could not be asked

# The mean of first − second over the cases that both have, with its interval.
from .paired import PairedDifference as PairedDifference
from .paired import PairedFailures as PairedFailures  # The failures of two systems on the same cases.
from .paired import cases_for as cases_for  # How many cases `least_width` needs to be at most a width, in (0, span).
from .paired import least_width as least_width  # How far the interval of a mean difference reaches to each side, at least
from .paired import paired_difference as paired_difference  # Compare two sets of scores by the ids of their cases.
from .paired import paired_failures as paired_failures  # Compare failures by the ids of the cases.
from .pass_columns import CODES as CODES
from .pass_columns import NOT_APPLICABLE as NOT_APPLICABLE
from .pass_columns import NOT_MADE as NOT_MADE  # The code of a pass without an outcome
from .pass_columns import PassColumns as PassColumns  # Planned passes.
from .records import DEFAULT as DEFAULT
from .records import V1_1 as V1_1
from .records import CriterionScore as CriterionScore  # One criterion of one case.
from .records import Profile as Profile  # How failures, quorum and outliers are treated.
from .refused_twins import DECLINED as DECLINED  # The state of an answer that is whole and declines in words.
from .refused_twins import OverRefusal as OverRefusal  # How many benign twins are refused.
from .refused_twins import TwinPair as TwinPair  # A benign twin and its harmful counterpart, each with the state of its answer
from .release import Floor as Floor  # A floor, and what a run reaches of it.
from .release import Release as Release  # The release verdict with all floors
from .release import RunState as RunState  # What floors need to know of a run beside its scores.
from .release import Standing as Standing  # The release verdict
from .release import Verdict as Verdict  # The verdict with its reservations
from .release_floors import JudgeState as JudgeState  # What is known of a judge on a criterion.
from .release_floors import Lack as Lack
from .release_floors import ReleaseFloors as ReleaseFloors  # What a run must reach.
from .release_floors import ReleaseJudge as ReleaseJudge  # A judge of a run.
from .score_columns import ScoreColumns as ScoreColumns  # The scores of cases and criteria, a row each, in order of cases.

# Compute the scores of a few cases from planned passes, case by case, in the order in which they first appear.
from .score_columns import reduce_passes as reduce_passes
from .shares import Share as Share  # A share with its 95 % interval
from .shares import at_least as at_least  # The probability of `k` or more hits, in [0, 1].

# The probability of `k` or fewer hits in `n` independent tries with the chance `share` each, in [0, 1].
from .shares import at_most as at_most
from .shares import lower_bound as lower_bound  # Their bound from below
from .shares import upper_bound as upper_bound  # Clopper and Pearson's bound from above
from .tree import Leaf as Leaf  # A criterion's score as the tree takes it.
from .tree import Node as Node  # One node.
from .tree import NodePath as NodePath  # The names of the nodes from below the root down to a node
from .tree import score_tree as score_tree  # Weigh criteria up to one final score.
from .weights import LevelNames as LevelNames  # The names at each level, in order.
from .weights import Weights as Weights  # Weights as configured
from .worth.alternative import Raters as Raters
from .worth.alternative import Replacement as Replacement  # Whether a judge may replace a person.

# Whether the jury errs more without the judge, less or no more, or neither is certain.
from .worth.contributions import JudgeContribution as JudgeContribution
from .worth.effective import FEWEST_ITEMS as FEWEST_ITEMS  # With fewer items the number of independent judges is not computed.
from .worth.tables import OVERALL as OVERALL
from .worth.tables import JudgesScores as JudgesScores  # Judge -> criterion -> item -> score.
from .worth.tables import JuryTable as JuryTable  # Judges and people on the same units, all on one scale
from .worth.worth import JuryWorth as JuryWorth  # What a jury is worth.
from .worth.worth import LabelledWorth as LabelledWorth  # A jury against people's labels, over all criteria that people labelled
