"""The store of runs, answers and judgments: SQLite, or PostgreSQL by URL."""

from .people.access import SESSION_LIFE as SESSION_LIFE
from .people.access import ApiKeys as ApiKeys  # The table `api_keys`.
from .people.access import Audit as Audit  # The table `audit`
from .people.access import Sessions as Sessions  # The table `sessions`.
from .people.exams import StoredCalibration as StoredCalibration  # A calibration as a row.

# The rounds on which a judge was found to have moved, by the criterion's path, oldest first and without their items.
from .people.exams import drifts_by_path as drifts_by_path
from .people.held import HELD as HELD  # Why a held answer is in the review queue.
from .people.labels import SAMPLE as SAMPLE  # Why an answer is in the queue that was drawn at random.
from .people.labels import TEACHING as TEACHING  # Why an answer is queued whose label tells much about the judges
from .people.labels import Labels as Labels  # The table `labels`, and judges' scores of labelled answers.
from .people.labels import OfSuite as OfSuite  # Items of one suite
from .people.labels import People as People  # What people said of a run's answers, and who signed it.
from .people.labels import agreed as agreed  # What raters say together
from .people.labels import counted_labels as counted_labels  # The labels that count
from .people.standing import CanaryRound as CanaryRound  # What one round says of one judge on one criterion

# What is known of one judge on one criterion, for scores of a moment.
from .people.standing import CriterionStanding as CriterionStanding
from .people.standing import JudgeStanding as JudgeStanding  # What is known of one judge, criterion by criterion.
from .people.standing import Qualification as Qualification  # The result of one judge on one criterion in one exam
from .people.standing import compact_standings as compact_standings  # Standings without their criteria.
from .people.standing import exam_command as exam_command  # The command that examines judges as a shell takes it
from .people.standing import exam_words as exam_words  # The command that examines judges, given by name and model

# Whether a panel's standing in short says that a judge is unfit, so that no score counts.
from .people.standing import is_unfit as is_unfit

# The fields of a panel's result that say what is known of its judges.
from .people.standing import standing_fields as standing_fields
from .people.standing import standing_key as standing_key  # A hash of what a qualification holds for
from .people.standing import standing_parts as standing_parts  # The state and the names of a panel's standing in short
from .people.standing import standing_text as standing_text  # The standing of a panel in short
from .people.standing import standings as standings  # What exams and canaries say of each judge.
from .read.caches import Orphans as Orphans  # Rows without the row they refer to
from .read.caches import StaleValue as StaleValue  # A stored value that differs from its recomputation.

# The values of an evaluation, and its scores, that differ from their recomputation.
from .read.caches import evaluation_differences as evaluation_differences

# The fields of a record with an id that differ from its recomputation.
from .read.caches import field_differences as field_differences
from .read.caches import with_computed as with_computed  # A stored evaluation with the values that its judgments come to.
from .read.chain_check import ChainCheck as ChainCheck  # What a verification found.
from .read.contents import Content as Content  # `monitor`
from .read.days import DayLevel as DayLevel  # Sums of a day's scores of a source on a criterion

# The answers of one set on one day under one variant that have a score on a criterion (""
from .read.lists import EqualAnswers as EqualAnswers
from .read.lists import ScoredAnswer as ScoredAnswer  # What a comparison reads of an evaluated answer
from .read.queries import Backlog as Backlog  # How much is not evaluated yet
from .read.queries import DayScore as DayScore  # How often a score was given on one criterion on one day for one variant.
from .read.queries import EvaluationFilter as EvaluationFilter  # Which of the monitor's evaluations are wanted.
from .read.queries import Filters as Filters  # Which answers a list shows.
from .read.queries import JudgeDays as JudgeDays  # What one judge did over a period
from .read.queries import Period as Period  # Days in UTC, `end` excluded.
from .read.queries import Scope as Scope  # Which answers a figure is about.
from .read.queries import TraceFilter as TraceFilter  # Which traces are wanted
from .read.queries import last_days as last_days  # The period of a number of days, with its last day.
from .read.queries import midnight as midnight  # The moment in UTC when a day begins.
from .read.spending import Pace as Pace  # How the latest calls to a model went.
from .read.streams import PORTION as PORTION
from .read.verdict_columns import VerdictColumns as VerdictColumns  # Verdicts, a row each.
from .read.verdict_columns import VerdictKind as VerdictKind  # What verdicts of one kind have in common.
from .store import Ledger as Ledger  # An open ledger
from .tables.chain import Head as Head  # The last link of a chain
from .tables.connection import make_folder as make_folder  # Create a folder, and what is missing above it, for its owner alone.

# Create an empty file for its owner alone, unless it exists or cannot be created.
from .tables.connection import make_private_file as make_private_file
from .tables.connection import set_sqlite_pragmas as set_sqlite_pragmas  # Configure a new SQLite connection.
from .tables.connection import shown as shown  # A database URL as users write it, without its password
from .tables.connection import storage_errors as storage_errors  # Convert database and system errors into one line for the user.
from .tables.connection import url_of as url_of  # The URL of a ledger

# The beginning of the step of a judgment that names a sign that the case addresses the judge.
from .tables.records import ADDRESSED as ADDRESSED
from .tables.records import GOLDEN_SOURCE as GOLDEN_SOURCE  # The beginning of the source of golden questions' answers.
from .tables.records import GROUNDED as GROUNDED  # What a rater says under `GROUNDING`
from .tables.records import GROUNDING as GROUNDING  # The criterion of labels that say whether the documents support an answer.
from .tables.records import IN_BATCH as IN_BATCH  # The first step of a judgment whose call was made by a batch.
from .tables.records import NOT_PLANNED as NOT_PLANNED  # The kinds that are no losses
from .tables.records import NOT_WHOLE as NOT_WHOLE  # The target was reached, and the user gets no whole answer.
from .tables.records import REPLIED as REPLIED  # The model has replied
from .tables.records import SETTLED as SETTLED  # What keeps no run open.
from .tables.records import SHOWN as SHOWN  # The user has read what came, and may have read a part of an answer.
from .tables.records import WITHHELD as WITHHELD  # The finish reason of a reply whose text is withheld
from .tables.records import Answer as Answer  # One answer of a language model
from .tables.records import AnswerState as AnswerState  # `answered`
from .tables.records import CriterionResult as CriterionResult  # One criterion's score of one answer, on the suite's scale
from .tables.records import Evaluation as Evaluation  # An answer and the result of a panel.
from .tables.records import EvaluationState as EvaluationState  # `waiting`

# Over 8, 6 to 8, under 6 on a scale of 0 to 10 (answer-quality specification, dashboard section)
from .tables.records import Grade as Grade
from .tables.records import Grounded as Grounded
from .tables.records import HookCount as HookCount  # A number of answers of an hour (UTC).
from .tables.records import JudgeUse as JudgeUse  # What one judge did for one answer.
from .tables.records import Judgment as Judgment  # One call to a judge.
from .tables.records import Label as Label  # One rater's score of one answer on one criterion.
from .tables.records import PanelResult as PanelResult  # The result of a panel for one answer.
from .tables.records import Repair as Repair
from .tables.records import Reservation as Reservation  # Something that speaks against the approval of a run
from .tables.records import ReviewItem as ReviewItem  # An answer queued for review.
from .tables.records import Run as Run  # A run of the benchmark, or a panel under which answers are judged in production.
from .tables.records import RunKind as RunKind
from .tables.records import RunUse as RunUse  # What a benchmark run rests on.
from .tables.records import SignedState as SignedState  # What a sign-off is about
from .tables.records import SignOff as SignOff  # A person's approval or rejection of a run.

# What is known of one judge, over the criteria that it may judge, for scores of a moment.
from .tables.records import Standing as Standing

# What a list of runs says of a run's results, so that it need not read their cases.
from .tables.records import StoredOutcome as StoredOutcome
from .tables.records import Thoughts as Thoughts  # Where an answer's thoughts came that no judge reads
from .tables.records import Verdict as Verdict  # What one judgment says on one criterion.
from .tables.records import is_golden as is_golden  # Whether a source is that of golden questions.
from .tables.records import is_reserved as is_reserved  # Whether a source is that of golden questions, or looks like it.
from .tables.rows import chunks as chunks  # Split keys into portions that fit a query.
from .tables.rows import json_text as json_text  # Serialise a value as JSON.
from .tables.rows import readable as readable  # Read items, those with a damaged row left out
from .tables.rows import storable as storable  # Replace NUL and lone surrogates by U+FFFD, for every database.
from .tables.trace_records import Channel as Channel  # `chat`
from .tables.trace_records import Mode as Mode  # Where the text that the user got comes from.
from .tables.trace_records import Release as Release  # What became of a held answer.
from .tables.trace_records import ReleaseState as ReleaseState
from .tables.trace_records import Trace as Trace  # One answer on its way through the gate
from .tables.trace_records import decided_trace as decided_trace  # The trace of an answer that the gate has just decided on
from .write.answers import Answers as Answers  # The tables `answers` and `answer_texts`.
from .write.answers import CallTotals as CallTotals  # Calls to one model
from .write.answers import CaseAnswer as CaseAnswer  # A link from a run's case to its answer.
from .write.answers import Link as Link  # A link from a judgment's key to an answer's number, under a panel.
from .write.answers import ReusedAnswers as ReusedAnswers  # Answers of a run that were given to earlier runs
from .write.answers import StoredState as StoredState  # What is known of an answer without its texts.
from .write.answers import id_within as id_within  # The id in the ledger of an answer whose own id another source has used first.
from .write.answers import own_id as own_id  # The id that a source gave to an answer that is stored under `id_within`
from .write.answers import prompt_key as prompt_key  # The look-up key of a prompt, independent of case and white space.
from .write.batch import Batch as Batch  # Commits records in groups.
from .write.fleet import CallCounts as CallCounts  # The stored calls of a run
from .write.fleet import CallSum as CallSum  # Stored calls to one model, with their tokens
from .write.fleet import Fleet as Fleet  # The tables of runs that workers carry out.
from .write.fleet import FleetNote as FleetNote  # What a worker says of a server of a run
from .write.fleet import FleetPhase as FleetPhase  # The calls to the target or to one judge.
from .write.fleet import FleetState as FleetState
from .write.operations import Alert as Alert  # One condition that holds or held.
from .write.operations import ApiKey as ApiKey  # A key's record
from .write.operations import GoldenRun as GoldenRun  # One round of golden questions.
from .write.operations import Heartbeat as Heartbeat  # A worker's heartbeat.
from .write.operations import Role as Role  # A key's permission.
from .write.outage import LedgerOutage as LedgerOutage  # Says once that a ledger cannot be used, and once that it can again
from .write.run_writer import RunWriter as RunWriter  # Commits records in groups, each within a few milliseconds
from .write.sent_batches import PLANNED as PLANNED  # The state of a batch whose id is not known.
from .write.sent_batches import SentBatch as SentBatch  # A batch of calls of a run.
from .write.sent_batches import SentBatches as SentBatches  # The table `batches`.
from .write.shares import BudgetParts as BudgetParts  # The parts of one budget in the table `budget_parts`, for one process.
from .write.storage import JUDGEABLE as JUDGEABLE  # The policies that leave a judge whole texts to read.
from .write.storage import reduced_trace as reduced_trace  # Reduce a trace by the policy
from .write.storage import stored_answer as stored_answer  # Apply the storage policy to an answer.
from .write.storage import stored_judgment as stored_judgment  # Apply the storage policy to a judgment
from .write.storage import stored_trace as stored_trace  # Apply the storage policy to a trace
from .write.traces import TraceFeed as TraceFeed  # Traces of the channel `chat` and their changes, in append order.
from .write.traces import Traces as Traces  # The tables `decisions`, `decision_reasons` and `releases`, with their answers.
