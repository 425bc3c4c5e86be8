"""How far judges can be believed: their exams, audits, and what people's labels correct."""

from .asking import Asking as Asking  # A panel, and how its judges are reached
from .asking import AskingWishes as AskingWishes  # The user's options on calls
from .asking import agreed as agreed  # The same with the variables allowed that the user agrees to send to servers of the suite
from .audit import CASES as CASES  # How many graded responses are changed, where the user names no number.
from .audit import AuditResult as AuditResult  # What an audit found.
from .audit import AuditWishes as AuditWishes  # What the user wants.
from .audit import JudgeAudit as JudgeAudit  # One audit
from .audit import PreparedAudit as PreparedAudit  # An audit before its first call.
from .audit import prepare_audit as prepare_audit  # Read the cases and choose the judge
from .calibration import FEWEST_LABELS as FEWEST_LABELS  # A criterion with fewer labelled answers gets no correction.
from .calibration import Calibration as Calibration  # What labels of a run correct, with everything that it rests on.
from .calibration import LabelledDays as LabelledDays  # The monitored period whose answers were labelled

# The ids of calibrations that were altered after they were fitted
from .calibration import altered_calibrations as altered_calibrations
from .canary import Canary as Canary  # The next round of one judge, before its first call.
from .canary import CanaryResult as CanaryResult  # What a round found, one criterion each
from .canary import exams_after_drift as exams_after_drift  # The exam, with the judges apart that moved since theirs
from .canary import is_due as is_due  # Whether a round is due
from .canary import plan_canaries as plan_canaries  # Plan the next round of each judge of an exam

# Refuse judges that have no exam which a round could be compared with.
from .canary import require_references as require_references

# Ask the judge what the ledger lacks of a round, and store what the round shows once every call has an answer.
from .canary import run_canary as run_canary
from .effects import Effect as Effect  # The effect of one change on scores.

# What attacks do to stored scores, with one protection left out ("" for none, "everything" for all).
from .effects import Resistance as Resistance
from .exam import ExamResult as ExamResult  # What an exam found, one judge on one criterion each

# Ask the judges what the ledger lacks, and store what the exam shows once every call has an answer.
from .exam import run_exam as run_exam
from .exam_plan import Exam as Exam  # An exam before its first call.
from .exam_plan import ExamPart as ExamPart  # The rows of one language, and how judges are asked about them.
from .exam_plan import ExamWishes as ExamWishes  # The user's options
from .exam_plan import limited as limited  # So many rows of each language, evenly spaced
from .exam_plan import prepare_exam as prepare_exam  # Plan an exam
from .label_plan import CriterionPlan as CriterionPlan  # How many labels one criterion takes
from .label_plan import plan_run as plan_run  # How many random labels each criterion of a run takes, and the overall score.

# The answers whose labels tell most about single scores and judges' weights, over all criteria together.
from .label_plan import teaching_answers as teaching_answers

# How many answers of a day the jury scored on a criterion, and the sum of these scores.
from .monitor_calibration import DayTotal as DayTotal
from .monitor_calibration import MonitoredPeriod as MonitoredPeriod  # What the jury said of the answers of a monitored period.
from .probes import PROBES as PROBES
from .questions import ASKED_WITHOUT as ASKED_WITHOUT  # The protections that change what a judge is asked, by name.
from .run_calibration import JudgedRun as JudgedRun  # What the jury of a run said.
