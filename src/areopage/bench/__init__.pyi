"""Benchmarks: a target answers a dataset, and a jury scores the answers."""

from .budget import Budget as Budget  # The budget of one command, consulted before each call
from .commands import DEFAULT_OUT as DEFAULT_OUT

# The beginning of the source of a child's turns that a model wrote.
from .conversations.children import CHILD_SOURCE as CHILD_SOURCE
from .execution.batch_judges import cancel_batches as cancel_batches  # Ask providers to cancel the batches of a run that are out
from .execution.context import AskedModels as AskedModels  # The models that are asked, and how they are reached.
from .execution.context import Observer as Observer  # Receives progress of a run.
from .execution.context import Observers as Observers  # Several observers of a run as one.
from .execution.phases import CHILD_PHASE as CHILD_PHASE

# Stands in the name of a judge's phase before the number of its round, from the second one on.
from .execution.phases import ROUND as ROUND
from .execution.phases import TARGET_PHASE as TARGET_PHASE
from .execution.run import RunPart as RunPart  # A part of a run's calls.

# The specification with the variables allowed that the user agrees to send to its foreign servers
from .execution.start import agreed as agreed
from .execution.start import begin_run as begin_run  # Return the matching unfinished run or a new run, and whether it is new.
from .execution.start import carry_on as carry_on  # Make a run's open calls, together with other processes, and compute results.
from .execution.start import folder_of as folder_of  # The folder that a run's files belong to
from .execution.start import prepare_benchmark as prepare_benchmark  # Read the suite and dataset, and check the models
from .execution.start import reopen_run as reopen_run  # Load a run from the ledger

# When an unfinished run must have begun to be resumed by the command that began it
from .execution.start import resumed_since as resumed_since

# Run a benchmark, or resume the unfinished run with the same specification.
from .execution.start import run_benchmark as run_benchmark
from .execution.start import run_folder as run_folder  # The folder of a run, created if missing
from .execution.start import settle as settle  # Record whether a run is complete, and compute its results.
from .figures.costs import totals as totals  # The known costs together, by currency.
from .figures.failing_cases import FailingScore as FailingScore  # A case that fails a criterion.
from .figures.failing_cases import failing_scores as failing_scores  # Every failing score of a run
from .figures.failures import DIMENSIONS as DIMENSIONS
from .figures.failures import case_group as case_group  # The group of a case

# How many cases fail a criterion of the categories that count first, which are named.
from .figures.failures import failures_title as failures_title
from .figures.people import human_criterion as human_criterion  # The agreement with people on one criterion, in short.
from .figures.people import human_texts as human_texts  # The agreement with people in a line or two of plain text
from .figures.people import run_reviewed as run_reviewed  # The jury of a run against people
from .figures.people import signoff_texts as signoff_texts  # A line of plain text for each sign-off, and whether it still holds.
from .figures.release import Doubt as Doubt  # Why a run settles nothing
from .figures.release import exam_steps as exam_steps  # What to do about the judges whose scores prove nothing for the release

# A line for each floor that is not met or open, with the criteria and the cases for which it is.
from .figures.release import floor_lines as floor_lines
from .figures.release import listed_verdict as listed_verdict  # The release verdict of a complete run for a list of runs
from .figures.release import no_release_text as no_release_text  # That the suite sets no floors, as one text.
from .figures.release import release_text as release_text  # What the verdict means, and which cases fail and break no floor
from .fleet.progress import PhaseProgress as PhaseProgress  # The calls to the target or to one judge
from .fleet.progress import RunProgress as RunProgress  # How far workers are with a run.
from .fleet.progress import progress_of as progress_of  # Read how far workers are with a run
from .fleet.shares import ServerShare as ServerShare  # The part of a run that the workers of one server do.
from .fleet.shares import at_worker as at_worker  # A stored run as a worker reaches its models
from .fleet.shares import shares_of as shares_of  # Part a run by the servers of its models
from .fleet.shares import strangers as strangers  # Why a worker calls no server for a share
from .fleet.shares import takes as takes  # Whether a worker that is limited to endpoints may call models.
from .fleet.work import WorkEnd as WorkEnd  # How the work on a share ended
from .fleet.work import end_run as end_run  # End a run where workers have done what they can of all its phases
from .fleet.work import planned_phases as planned_phases  # The phases of a run with about how many calls each has, in order.
from .fleet.work import work_on as work_on  # Do a share of a run together with the other workers of its server.
from .options import Flag as Flag  # How the command line names a field, and what its help says.
from .options import RunOptions as RunOptions  # The user's options
from .panels import DifferentPanels as DifferentPanels  # Two runs, or a run and production, were judged by different panels
from .panels import PanelParts as PanelParts
from .panels import PartDifference as PartDifference  # A part that two runs do not share.
from .panels import PartName as PartName
from .panels import case_clusters as case_clusters  # What each case has in common with others, by its id
from .panels import case_column as case_column  # The value of each case in a column, by the case's id
from .panels import panel_parts as panel_parts  # The parts of a run
from .panels import part_differences as part_differences  # What two runs do not share.

# In what the scores of a run differ from those that a panel of production gives.
from .panels import production_differences as production_differences
from .pass_settings import PassSettings as PassSettings  # How passes are added.
from .planning.budget import budget_of as budget_of  # The budget of some runs together
from .planning.budget import paid_models as paid_models  # The target and the judges that cost money
from .planning.budget import spent_by as spent_by  # What the calls of a run have cost, by currency

# Prepare a run of a suite in each of its languages, and check the judges that need no server.
from .planning.dry_run import dry_run as dry_run

# The specification with the bytes for each token that the ledger's calls to its models tell.
from .planning.measures import with_measures as with_measures
from .planning.precision import PrecisionPlan as PrecisionPlan  # What a wished half-width takes.
from .planning.precision import plan_assumed as plan_assumed  # A plan from a stated spread of the cases' final scores.
from .planning.precision import plan_like as plan_like  # A plan from the spread of an earlier run's scores.
from .planning.prepare import PreparedRun as PreparedRun  # A run before its first model call.
from .planning.prepare import prepare_run as prepare_run  # Build a run from the user's options.
from .planning.reassess import answers_of_run as answers_of_run  # Read the answers of a run, in any state
from .planning.run_plan import LongKind as LongKind  # `not_sent`
from .planning.run_plan import ModelPlan as ModelPlan  # What is asked of one judge, the target or the model that plays children.
from .planning.run_plan import RunPlan as RunPlan  # The plan of one run.
from .planning.run_plan import plan_run as plan_run  # Plan a run
from .planning.run_size import RunSize as RunSize  # The size of a run
from .planning.run_size import run_size as run_size  # Count what a run takes.
from .release_panel import release_judges as release_judges  # What a release verdict needs to know of each judge.
from .report.files import JUDGMENT_COLUMNS as JUDGMENT_COLUMNS
from .report.files import REPORT as REPORT
from .report.files import Export as Export  # A format
from .report.files import ExportOptions as ExportOptions  # What some formats need to know
from .report.files import exports as exports  # The formats by name
from .report.files import for_people as for_people  # A format with texts in a language.

# Write criteria.csv, the scores of the criteria with their intervals
from .report.files import write_criteria_file as write_criteria_file
from .report.files import write_judgments as write_judgments  # Write a row for each planned pass, raw texts included
from .report.files import write_pages as write_pages  # Write the pages alone, which hold the texts of the cases that they show

# Write results.json, its tables, report.html, cases.html and trust.html
from .report.files import write_run_files as write_run_files
from .report.records import SCHEMA_NAME as SCHEMA_NAME
from .report.records import CriterionDetail as CriterionDetail  # One criterion of one case.
from .report.records import RecordResult as RecordResult  # The results of one case.
from .report.records import RunResult as RunResult  # The results of the run
from .report.records import results_type as results_type  # The type of `results.json` with all figures.
from .report.run_results import record_results as record_results  # Build the results of each case, in the dataset's order.
from .report.run_results import run_result as run_result  # Build the results of the run.

# Build the report of a run for a terminal, in the run's language.
from .report.terminal import terminal_report as terminal_report

# What a list of runs says of a run's results, whatever exams say of its judges
from .results.evaluations import outcome_of_run as outcome_of_run

# Make the evaluations of a run's answers, each with the keys of its judgments.
from .results.evaluations import run_evaluations as run_evaluations

# The view of a run beside those of the same target and suite in its ledger.
from .results.history import with_history as with_history
from .results.pass_views import fold_space as fold_space  # Replace each run of white space by one space.
from .results.pass_views import pass_views as pass_views  # Return the planned passes over a case's criterion, judge by judge.
from .results.pass_views import quoted_verbatim as quoted_verbatim  # Whether a response contains an extract literally
from .results.people import LONGEST_NAME as LONGEST_NAME
from .results.people import LONGEST_NOTE as LONGEST_NOTE
from .results.people import REVIEW_KINDS as REVIEW_KINDS
from .results.people import ReviewKind as ReviewKind
from .results.people import answers_by_kind as answers_by_kind  # The ids of the answers of a run that people can label, by kind
from .results.people import queue_answers as queue_answers  # Draw answers of a run and queue them for review
from .results.people import reservation_line as reservation_line  # Something that speaks against the approval of a run.
from .results.people import reservations as reservations  # What speaks against an approval without a note, the gravest first
from .results.people import sign_run as sign_run  # Append a sign-off of a run as it is now, with an entry in the audit log.
from .results.run_view import RunView as RunView  # A run with its cases, answers, judgments and scores.
from .results.run_view import view_run as view_run  # Read a run from the ledger and aggregate its scores.
from .results.summaries import RunSummary as RunSummary  # What a list of runs says of one.
from .results.summaries import run_summaries as run_summaries  # Summaries of all runs of a ledger, newest first.

# Display names of the suite's categories, sub-categories (`category.subcategory`) and criteria (by id).
from .spec import DisplayNames as DisplayNames
from .spec import RunCase as RunCase  # A case with the ids of its criteria.
from .spec import RunSpec as RunSpec  # A run's specification
from .spec import Target as Target  # The model under test.
from .spec import damaged_rows as damaged_rows  # The cases and rejected rows of a run that cannot be read.
from .spec import fingerprint_of as fingerprint_of  # Hash the options that determine results
from .spec import load_run_cases as load_run_cases  # The cases of a run.
from .trust.page import TRUST as TRUST  # The page of a run, beside its report.

# All of it as one section of a longer report, with the parts behind the short answer folded.
from .trust.page import trust_section as trust_section
from .trust.page import trust_sections as trust_sections  # The sections of the page
from .trust.page import trust_title as trust_title  # The question that the page answers.
from .trust.records import FEW as FEW  # A group with fewer cases has no interval
from .trust.records import FINAL as FINAL  # The key of the overall score among criteria.
from .trust.records import PartScore as PartScore  # A score as the judges gave it, over `cases`, with its interval.
from .trust.records import PeopleTrust as PeopleTrust  # What people said of the answers, and how far the jury agrees with them
from .trust.records import ScoreTrust as ScoreTrust  # The score before and after people's labels correct it.
from .trust.records import Step as Step  # What would make something known that is not
from .trust.records import Trust as Trust  # How far a score can be trusted.
from .trust.records import Uncovered as Uncovered  # What a score does not rest on.

# The exam of the judges that lack one on a criterion, and the criteria that no exam can be about yet.
from .trust.run import examining_steps as examining_steps

# Fit a calibration to the blind labels of a run's random sample, and of the answers that teach most.
from .trust.run import fit_run as fit_run
from .trust.run import judged_run as judged_run  # The scores of a run's jury, by criterion and answer, and those of each judge.
from .trust.run import judges_trust as judges_trust  # What is known of each judge.

# How many random labels each criterion of a run takes, and the overall score
from .trust.run import planned_labels as planned_labels
from .trust.run import unexamined as unexamined  # What exams leave open.

# The run with the corrected means and single scores of a stored calibration beside its scores.
from .trust.run import with_calibration as with_calibration
from .words import part_facts as part_facts  # The fact that names the part of the datasets

# The notice that stands before all others where a page is about a part of the cases.
from .words import part_notices as part_notices
