"""The quality of answers in production: evaluations, alerts, golden questions."""

from .alerts.deliver import AlertMessage as AlertMessage  # A message of plain text.
from .alerts.deliver import send as send  # Send a message to every address in turn

# Close an incident because a person accepts the new level, which is the reference from then on
from .alerts.falls import accept_level as accept_level
from .alerts.jobs import alert_jobs as alert_jobs  # The scheduled jobs of alerts
from .alerts.jobs import open_alerting as open_alerting  # Build the alerting of a monitor whose suite is loaded.
from .alerts.jobs import settle as settle  # Open, count or close the alert of a finding
from .alerts.rules import ANSWER as ANSWER
from .alerts.rules import DROP as DROP
from .alerts.rules import RULES as RULES  # All rules, in the order in which lists show their alerts

# The title and the body of a weak answer's alert, in the locale's language.
from .alerts.rules import answer_texts as answer_texts
from .alerts.rules import canary_finding as canary_finding  # Bad where the judge moved on the criterion
from .alerts.rules import question_line as question_line  # The line of a single answer's alert with the question
from .alerts.texts import monitor_locale as monitor_locale  # The locale of a monitor's alerts

# Documents as records, as objects (`doc_titre`, `text` and the other spellings of `cases.documents`) or as bare texts.
from .answer_case import Documents as Documents
from .answer_case import case_of as case_of  # Build the case of an answer.
from .config import MonitorConfig as MonitorConfig  # A monitor's configuration.
from .config import MonitorSection as MonitorSection  # The section `monitor`.
from .evaluate import WorkerProgress as WorkerProgress  # A worker's completed work since its start, and all remaining work.
from .figures import CriterionFigures as CriterionFigures  # One criterion over a period
from .figures import DayFigures as DayFigures  # One day's mean per criterion ("" the global one)
from .figures import JudgeFigures as JudgeFigures  # What one judge did
from .figures import Mean as Mean  # A mean with its 95 % interval, on the scale
from .figures import PeriodFigures as PeriodFigures  # Everything about a period.
from .figures import criterion_labels as criterion_labels  # Display names of a suite's criteria by path, in the registry's order.
from .figures import most_frequent as most_frequent  # The variant with the most answers, the first by name of equals
from .golden import Golden as Golden  # Loaded golden questions.
from .golden import golden_jobs as golden_jobs  # The scheduled job that begins rounds
from .golden import golden_section as golden_section  # Return the section

# Compute the figures of a finished round again from its answers' scores.
from .golden_rounds import recomputed_round as recomputed_round
from .hook.counts import Losses as Losses  # What all hooks of a spool lost so far, by kind, and recorded with a doubt, by kind.
from .hook.endpoints import QualityHook as QualityHook  # The middleware.

# Decorate a sync or async function or generator function to submit its answers for evaluation.
from .hook.functions import monitored as monitored
from .hook.messages import Prompt as Prompt  # What the user asked
from .hook.messages import writable as writable  # Replace lone surrogates, which JSON may hold, by U+FFFD.
from .hook.spool_files import rejected_lines as rejected_lines  # Count the rejected lines of a spool.
from .hook.spool_files import waiting_bytes as waiting_bytes  # Count the bytes of a spool that are not submitted yet.
from .hook.submission import FIRST_YEAR as FIRST_YEAR
from .hook.submission import LAST_YEAR as LAST_YEAR
from .hook.submission import submission_of as submission_of  # Build and check a submission.
from .intake import Intake as Intake  # Stores submitted answers.
from .intake import submissions_of as submissions_of  # Convert a dataset's rows.
from .quality_judge import OUTAGE_SECONDS as OUTAGE_SECONDS  # Calls wait no longer for a server that is gone
from .quality_judge import QualityJudge as QualityJudge  # Judges answers on a suite's criteria.

# A difference of two means (later minus earlier, or variant minus the other), its 95 % interval, and the two-sided p-value.
from .scored_answers import MeanChange as MeanChange
from .worker import MonitorWorker as MonitorWorker  # A worker of the monitor
from .worker import erase_older as erase_older  # Erase answers received before a moment
from .worker import retention_job as retention_job  # The job that applies `storage.retention_days`

# Let given-up answers wait again, and end the pause of those that wait for another attempt
from .worker import retry_answers as retry_answers
