"""Plan, schedule and parse judge calls: cases × criteria × judges × passes become judgments."""

# Whether the response, or a reply before it, speaks to the judge or gives a verdict
from .addressing import asks_for_score as asks_for_score
from .addressing import signs_in as signs_in  # Of a judgment's steps those that name a sign.
from .budget import Budget as Budget  # The budget of one command, consulted before each call
from .budget import Paid as Paid  # A model
from .budget import open_budget as open_budget  # The budget of one command.
from .budget import worst_cost as worst_cost  # What a call costs at most
from .call_sizes import VERDICT_TOKENS as VERDICT_TOKENS  # Assumed of one verdict of a judge.
from .call_sizes import CallSize as CallSize  # What the calls take whose judgments the ledger lacks.
from .call_sizes import costs_of as costs_of  # Costs by currency.
from .call_sizes import sampled as sampled  # About forty items, evenly spaced, or all where there are fewer.
from .call_sizes import size_of as size_of  # Estimate what is left of calls
from .call_sizes import together as together  # The size of several parts that have no call in common.
from .code_judge import CodeJudge as CodeJudge  # Judges by a function
from .fitting import Fitting as Fitting  # Cuts the documents of cases for one judge
from .judges import PROMPT_CUT as PROMPT_CUT  # The step of a judgment whose prompt the judge did not see whole.
from .judges import CallContext as CallContext  # What all calls of a run share.
from .judges import Judge as Judge  # A member of the jury.
from .judges import Judged as Judged  # What one call to a judge brought
from .judges import PlannedCall as PlannedCall  # One call to one judge about one or more criteria of one scope
from .judges import Price as Price  # What tokens cost, per million, in one currency.
from .judges import ScoringMethod as ScoringMethod  # `sampled`
from .model_judge import ModelJudge as ModelJudge  # A judge that calls a language model
from .opening import JUDGES as JUDGES  # The providers of judges that are not language models.
from .opening import answers_no_prompts as answers_no_prompts  # Whether a provider is one of judges and none of language models.
from .opening import check_judge as check_judge  # Open a judge, check it and close it.
from .opening import check_model as check_model  # Open a model, check it and close it.
from .opening import is_judge_provider as is_judge_provider  # Whether a provider's judges are no language models
from .opening import open_judge as open_judge  # Open a judge without calling it.
from .opening import probe_model as probe_model  # Make one small call to a model, and say in one line what it supports.
from .options import batched_judges as batched_judges  # The names of the judges whose calls go through batch services.
from .options import choose_judges as choose_judges  # Select the judges of a run.
from .options import judge_name as judge_name  # Derive a judge's name from its reference
from .options import model_settings as model_settings  # The connection settings of the suite's models, without the environment.
from .options import price_of as price_of  # Read a configured price.

# The settings of a stored run, with the user's servers in place of those of the same names.
from .options import reached_by as reached_by
from .options import suite_reference as suite_reference  # Read the reference of a suite's judge or target

# A typed reference with its file path resolved from the working directory.
from .options import typed_reference as typed_reference
from .panel import ContextBudget as ContextBudget  # A limit that keeps whole documents in order, as long as they fit.
from .panel import Panel as Panel  # Judges, criteria, prompts, options and scale that determine a score.
from .parsing import MAX_REPAIRED as MAX_REPAIRED
from .parsing import Opened as Opened  # An answer out of its wrappings
from .parsing import open_answer as open_answer  # Take an answer out of its wrappings.
from .planning import CallPlan as CallPlan  # The calls of one judge.
from .planning import Shared as Shared  # A planned call, and the cases that share its judgment by their ids
from .planning import by_scope as by_scope  # The criteria of each scope, in their order
from .planning import groups_of as groups_of  # The criteria that each call of a judge about a case asks about.
from .planning import no_passes as no_passes  # No pass.
from .planning import plan as plan  # Plan the calls of one judge, grouped by criteria
from .price_list import known_price as known_price  # The price of a model
from .reader import material_of as material_of  # All untrusted texts of a case.
from .reader import read_answer as read_answer  # Read an answer.
from .rescoring import GLOBAL as GLOBAL  # The name of the global score among criteria.
from .rescoring import Rescored as Rescored  # The result of a rescoring.
from .rescoring import Variant as Variant  # The changes of a rescoring
from .rescoring import gated as gated  # What the gate's judge said of doubtful sentences, in order of answers.
from .rescoring import monitored as monitored  # The monitor's evaluated answers that pass a filter.
from .rescoring import rescore as rescore  # Recompute scores, and compare them with the stored panels' scores.
from .results import Evaluated as Evaluated  # An evaluation with its inputs.
from .results import JudgeHealth as JudgeHealth  # How one judge did over a run.
from .results import evaluated as evaluated  # Aggregate the judgments on one answer.

# Aggregate judgments that are known to be about an answer, with any keys.
from .results import evaluated_again as evaluated_again
from .results import evaluation_of as evaluation_of  # Build the evaluation of one answer from its criteria's scores.
from .results import judges_unexamined as judges_unexamined  # The standings of a panel's judges where no exam is known
from .results import reparsed as reparsed  # Read a judgment's raw texts again
from .schedule import UNREACHABLE_IN_A_ROW as UNREACHABLE_IN_A_ROW
from .schedule import OutageWatch as OutageWatch  # Counts consecutive failed calls, so that an unreachable server stops the run.
from .schedule import concurrency_of as concurrency_of  # The number of concurrent calls to a client.
from .schedule import run_concurrently as run_concurrently  # Process all items in order, at most `concurrency` at once.
from .schedule import telling_the_last as telling_the_last  # The items one by one
from .session import BEGUN_FOR_EACH as BEGUN_FOR_EACH  # Calls begun for each call that may be open to a server.
from .session import JudgmentStore as JudgmentStore  # Look-up and storage of judgments.
from .session import LedgerJudgments as LedgerJudgments  # The judgments of a ledger.
from .session import NoJudgments as NoJudgments  # A store without judgments, for evaluations without a ledger.
from .session import Session as Session  # The open judges of one panel.
from .session import final_of as final_of  # The final judgments of calls, by key.
from .shared_budget import SharedBudget as SharedBudget  # This process's part of a budget
from .shown import JudgedCase as JudgedCase  # A case with a response and the criteria to judge it on
from .shown import ShownCases as ShownCases  # The digests of cases by scope, each computed once, at its first use
