"""Claims on answers that tests make: a sample of answers becomes a run, and the run decides."""

from .claims import SampleClaim as SampleClaim  # A claim on a sample of answers.
from .claims import claim_of as claim_of  # Read the marker of a test.
from .decisions import LONGEST as LONGEST
from .decisions import SHOWN_CASES as SHOWN_CASES
from .decisions import ClaimDecision as ClaimDecision  # What is decided about a claim.
from .decisions import percent as percent  # A share in percent.
from .runs import RunsFolder as RunsFolder  # Where the runs of tests are
from .runs import decide as decide  # Judge the answers of a test and decide on its claim
from .runs import decide_answer as decide_answer  # Judge one answer
from .runs import sample_of as sample_of  # An empty sample with the cases of a claim
from .samples import AnswerSample as AnswerSample  # Cases, and the answers to them in the order in which they came.
