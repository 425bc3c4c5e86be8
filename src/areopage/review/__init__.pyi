"""The human loop: what people should look at, and how far judges agree with them."""

from .agreement import EVERY as EVERY
from .agreement import AgreementReport as AgreementReport  # How far a judge agrees with people.
from .agreement import RunReview as RunReview  # How far the jury of a run agrees with people
from .agreement import ledger_worth as ledger_worth  # What the judges of a ledger's labelled answers are worth

# Labels as ratings, with overall scores for raters who gave all criteria but none
from .agreement import ratings_of as ratings_of
from .disagreements import RaterDisagreement as RaterDisagreement  # An answer on which raters disagree
from .disagreements import ReviewDisagreements as ReviewDisagreements  # Where raters disagree
from .disagreements import ReviewProgress as ReviewProgress  # How far the review is.
from .fill import FillSettings as FillSettings  # What goes to the queue.
from .fill import fill_queue as fill_queue  # Queue answers of the last days.
from .imported_ratings import import_ratings as import_ratings  # Take the labels of a CSV, XLSX, JSON Lines or Parquet file.
from .label import MAX_CORRECTION as MAX_CORRECTION
from .label import MAX_NOTE as MAX_NOTE
from .label import MAX_RATER as MAX_RATER
from .label import Given as Given  # What a rater says of an answer.
from .label import Origin as Origin
from .label import Reviewed as Reviewed  # What was stored.
from .label import Settlement as Settlement  # What is to become of a held answer.
from .label import find_answer as find_answer  # An answer with its texts.

# Whether a rater, or who acts in the rater's name, has read an answer with the judges' scores of it.
from .label import is_seen as is_seen
from .label import rater_name as rater_name  # A rater's name without stray spaces.

# Append a rater's labels of any answer, and settle it where that is asked for, with entries in the audit log.
from .label import review_answer as review_answer
from .label import undo_last as undo_last  # Undo what a rater said last
from .labelled_answers import WANTED as WANTED
from .labelled_answers import LabelSet as LabelSet  # Labelled answers.
from .labelled_answers import dataset as dataset  # The rows of a set, in the order that the traces came
from .labelled_answers import recorded as recorded  # The recorded answers with their labels, read in portions.
from .ratings_table import table_agreement as table_agreement  # Measure a table of ratings.
from .rubric import OVERALL as OVERALL

# The criteria that answers are judged by, and what each weighs in the overall score (the shares sum to 1).
from .rubric import Rubric as Rubric

# The panel of the benchmark run that an answer is reviewed for, with the run's id
from .rubric import answer_panel as answer_panel
