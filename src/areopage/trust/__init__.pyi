"""How far judges can be believed: what people's labels correct."""

from .calibration import FEWEST_LABELS as FEWEST_LABELS  # A criterion with fewer labelled answers gets no correction.
from .calibration import Calibration as Calibration  # What labels of a run correct, with everything that it rests on.
from .calibration import LabelledDays as LabelledDays  # The monitored period whose answers were labelled

# The ids of calibrations that were altered after they were fitted
from .calibration import altered_calibrations as altered_calibrations
from .label_plan import CriterionPlan as CriterionPlan  # How many labels one criterion takes
from .label_plan import plan_run as plan_run  # How many random labels each criterion of a run takes, and the overall score.

# The answers whose labels tell most about single scores and judges' weights, over all criteria together.
from .label_plan import teaching_answers as teaching_answers

# How many answers of a day the jury scored on a criterion, and the sum of these scores.
from .monitor_calibration import DayTotal as DayTotal
from .monitor_calibration import MonitoredPeriod as MonitoredPeriod  # What the jury said of the answers of a monitored period.
from .run_calibration import JudgedRun as JudgedRun  # What the jury of a run said.
