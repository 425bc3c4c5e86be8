"""Plan, schedule and parse judge calls: cases × criteria × judges × passes become judgments."""

# Whether the response, or a reply before it, speaks to the judge or gives a verdict
from .addressing import asks_for_score as asks_for_score
from .addressing import signs_in as signs_in  # Of a judgment's steps those that name a sign.
from .call_sizes import VERDICT_TOKENS as VERDICT_TOKENS  # Assumed of one verdict of a judge.
from .call_sizes import CallSize as CallSize  # What the calls take whose judgments the ledger lacks.
from .code_judge import CodeJudge as CodeJudge  # Judges by a function
from .fitting import Fitting as Fitting  # Cuts the documents of cases for one judge
from .judges import PROMPT_CUT as PROMPT_CUT  # The step of a judgment whose prompt the judge did not see whole.
from .judges import CallContext as CallContext  # What all calls of a run share.
from .judges import CallResult as CallResult  # What one call to a judge brought
from .judges import Judge as Judge  # A member of the jury.
from .judges import PlannedCall as PlannedCall  # One call to one judge about one or more criteria of one scope
from .judges import ScoringMethod as ScoringMethod  # `sampled`
from .model_judge import ModelJudge as ModelJudge  # A judge that calls a language model
from .opening import answers_no_prompts as answers_no_prompts  # Whether a provider is one of judges and none of language models.
from .opening import check_judge as check_judge  # Open a judge, check it and close it.
from .opening import check_model as check_model  # Open a model, check it and close it.
from .opening import is_judge_provider as is_judge_provider  # Whether a provider's judges are no language models
from .opening import open_judge as open_judge  # Open a judge without calling it.

# As `choose_judges`, without passes that repeat another one unless the suite asks for them
from .options import asked_judges as asked_judges
from .options import choose_judges as choose_judges  # Select the judges of a run.

# The settings of a stored run, with the user's servers in place of those of the same names.
from .options import reached_by as reached_by
from .panel import ContextBudget as ContextBudget  # A limit that keeps whole documents in order, as long as they fit.
from .panel import Panel as Panel  # Judges, criteria, prompts, options and scale that determine a score.
from .parsing import MAX_REPAIRED as MAX_REPAIRED
from .parsing import Opened as Opened  # An answer out of its wrappings
from .parsing import open_answer as open_answer  # Take an answer out of its wrappings.
from .planning import CallPlan as CallPlan  # The calls of one judge.
from .planning import JudgedCase as JudgedCase  # A case with a response and the criteria to judge it on
from .planning import SharedCall as SharedCall  # A planned call, and the cases that share its judgment by their ids
from .planning import ShownCases as ShownCases  # The digests of cases by scope, each computed once, at its first use
from .planning import groups_of as groups_of  # The criteria that each call of a judge about a case asks about.
from .reader import material_of as material_of  # All untrusted texts of a case.
from .reader import read_answer as read_answer  # Read an answer.
from .rescoring import GLOBAL as GLOBAL  # The name of the global score among criteria.
from .rescoring import Rescored as Rescored  # The result of a rescoring.
from .rescoring import Rescoring as Rescoring  # The changes of a rescoring
from .rescoring import gated as gated  # What the gate's judge said of doubtful sentences, in order of answers.
from .rescoring import monitored as monitored  # The monitor's evaluated answers that pass a filter.
from .rescoring import rescore as rescore  # Recompute scores, and compare them with the stored panels' scores.
from .results import Evaluated as Evaluated  # An evaluation with its inputs.
from .results import evaluated as evaluated  # Aggregate the judgments on one answer.

# Aggregate judgments that are known to be about an answer, with any keys.
from .results import evaluated_again as evaluated_again
from .results import evaluation_of as evaluation_of  # Build the evaluation of one answer from its criteria's scores.
from .results import judges_unexamined as judges_unexamined  # The standings of a panel's judges where no exam is known
from .results import reparsed as reparsed  # Read a judgment's raw texts again

# Counts consecutive failed calls, so that an unreachable server stops the run.
from .schedule import FailureStreak as FailureStreak
from .schedule import run_concurrently as run_concurrently  # Process all items in order, at most `concurrency` at once.
from .session import JudgmentStore as JudgmentStore  # Look-up and storage of judgments.
from .session import LedgerJudgments as LedgerJudgments  # The judgments of a ledger.
from .session import NoJudgments as NoJudgments  # A store without judgments, for evaluations without a ledger.
from .session import Session as Session  # The open judges of one panel.
from .session import final_of as final_of  # The final judgments of calls, by key.
