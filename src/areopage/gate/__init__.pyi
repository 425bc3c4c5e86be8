"""May this answer leave? Evidence in, decision out: pure, in milliseconds, on a CPU."""

from .config import GateConfig as GateConfig  # The gate's rules, which are also the section `gate` of `areopage.yml`.
from .decide import Gate as Gate  # Decides whether an answer may leave.
from .grounding.model import GroundingModel as GroundingModel  # The fitted weights, as they stand in a readable JSON file
from .grounding.model import ground as ground  # Check an answer sentence by sentence against its documents.
from .grounding.model import model_of as model_of  # The model that a file's contents hold.

# For each sentence of an answer the few pieces of documents that share most of its words, and where its figures stand.
from .grounding.shared_words import shared_places as shared_places
from .reading.numbered import NumberedSource as NumberedSource  # A document with the number that stands for it in a text.

# A text with `[n]` in place of each citation, and the documents that the numbers stand for
from .reading.numbered import numbered as numbered
from .records import GATE_VERDICTS as GATE_VERDICTS
from .records import AskedJudge as AskedJudge  # The judge that was asked about doubtful sentences.
from .records import Change as Change  # What a sentence changes of a document's sentence that it nearly copies.
from .records import Decision as Decision  # What becomes of an answer, and why.
from .records import GateVerdict as GateVerdict
from .records import JudgeTrust as JudgeTrust  # What a judge's word is worth.
from .records import Place as Place  # A piece of a text
from .records import Reason as Reason  # Why an answer does not leave, or is flagged.
from .records import ReasonCode as ReasonCode
from .records import SentenceCheck as SentenceCheck  # A sentence of the answer.
from .records import SentenceJudgment as SentenceJudgment  # What a judge says of one doubtful sentence
from .records import Signal as Signal  # One thing that the gate looked at.
from .records import SignalName as SignalName

# A decision that asks a judge about its near copies, if nothing else holds the answer
from .settle import asking_about_near_copies as asking_about_near_copies

# Settle a decision by what people said of the same response over the same documents.
from .settle import settled_by_labels as settled_by_labels
from .signals import read_documents as read_documents  # The documents that are read, in their order
from .tuning.labelled import Labelled as Labelled  # An answer with what people say of it.
from .tuning.labelled import labelled_of as labelled_of  # The labelled row that a case of a dataset is
from .tuning.replay import Recorded as Recorded  # An answer as it was noted.
from .tuning.replay import Replay as Replay  # What the decisions seen so far add up to
from .tuning.replay import ReplayedChange as ReplayedChange  # A decision that changes.

# What a judge said of sentences, by their text, as far as the settled decision tells.
from .tuning.replay import judged_of as judged_of
from .tuning.replay import said_of as said_of  # What people had said of an equal answer, where that made the decision.
from .tuning.risk import CONTROLS as CONTROLS
from .tuning.risk import Control as Control
from .tuning.thresholds import Ask as Ask  # What is wanted.
from .tuning.thresholds import Outcome as Outcome  # What a threshold does to the labelled answers.
from .tuning.thresholds import Tuning as Tuning  # What came out.

# The 95 % interval of a share of labelled answers, as of no more answers than there are groups.
from .tuning.thresholds import interval as interval
from .tuning.tuned import FITTED_RESPONSES as FITTED_RESPONSES  # The same as `response_digest` has them
from .tuning.tuned import Tuned as Tuned  # Chosen thresholds.
from .tuning.tuned import tuned as tuned  # Choose thresholds on the rows that the grounding model has not seen.
from .tuning.tuned import tuned_rules as tuned_rules  # The rules with the chosen thresholds and their statement
