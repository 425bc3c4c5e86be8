"""Text analysis in English and French; pure: no I/O, no clock."""

from .declining import declines as declines  # Whether an answer declines in words and does little else.
from .figure_forms import BEFORE_AMOUNT as BEFORE_AMOUNT  # A currency at the end of a text in lower case.
from .figure_forms import MONEY_SIGNS as MONEY_SIGNS
from .figure_forms import FigureKind as FigureKind

# The figures of a text that is `Readable` with years before 1900 and, where `days`, days without a year.
from .figure_forms import FigureText as FigureText
from .figure_forms import TextFigure as TextFigure  # A figure
from .figure_forms import digits_of_date as digits_of_date  # The digits that every writing of a date has
from .figure_forms import figures as figures  # All figures of a text in order
from .figure_forms import supports as supports  # Whether a figure that is held says what is claimed.
from .folding import beginning as beginning  # An expression for where some words in lower case begin
from .folding import lower_case as lower_case  # The text in lower case, as long as it was

# As `pattern.finditer(text)`, for one whose matches all begin at one of `starts`, which ascend.
from .folding import matches_at as matches_at
from .folding import plain as plain  # The words of a text in lower case without accents, one space between them
from .folding import starts_of as starts_of  # Where a part of a text begins, up to a number of times.
from .folding import unaccented as unaccented  # The text without accents, its letters apart from them (NFKD).
from .language import is_in_language as is_in_language  # Whether a text is in "fr" or "en", as far as its function words tell
from .language import language_of as language_of  # "fr" or "en", or "" for too little text
from .lexicon import CURRENCIES as CURRENCIES  # By ISO code
from .lexicon import ENGLISH_MONTHS as ENGLISH_MONTHS
from .lexicon import ENGLISH_MONTHS_CUT as ENGLISH_MONTHS_CUT
from .lexicon import FIRST_NAMES as FIRST_NAMES
from .lexicon import FRENCH_MONTHS as FRENCH_MONTHS
from .lexicon import MONEY as MONEY  # By ISO code
from .lexicon import PERIODS as PERIODS  # By a number of months
from .lexicon import UNIT_CUES as UNIT_CUES  # By the unit of durations, and by factor
from .lexicon import UNIT_PATTERN as UNIT_PATTERN  # A unit of time in lower case
from .lexicon import UNIT_WORDS as UNIT_WORDS  # By name
from .lexicon import unit_of as unit_of  # The name of a unit of time, as `UNIT_PATTERN` finds it

# The words that numbers are made of, without those that are articles as well.
from .number_phrases import ABOUT as ABOUT  # What stands before the number of a group
from .number_phrases import WORDED as WORDED  # The slash of a share that stands in words
from .number_words import NUMBER_WORDS as NUMBER_WORDS
from .numbers import DIGITS as DIGITS
from .numbers import decimal_of as decimal_of  # The value of a number in English or French writing.
from .own_patterns import compiled as compiled  # Compile patterns.
from .patterns import late_pattern as late_pattern  # What `re.compile` returns, compiled at its first use.
from .readable import Readable as Readable  # A text as it is read for its numbers.
from .reference_forms import LATIN as LATIN  # What parts articles of one number
from .reference_forms import Reference as Reference  # A reference

# The articles, sections, laws and rulings of a text alone, in order of their start
from .reference_forms import legal_references as legal_references
from .reference_forms import references as references  # All references of a text, in order of their start
from .sentence_ends import Span as Span  # A piece of a text
from .sentence_ends import sentences as sentences  # Cut a text into its sentences, in order and without overlap.
from .sizes import byte_length as byte_length  # How many bytes a text has in UTF-8
from .stemming import WORD as WORD
from .stemming import denies as denies  # Whether a text, in lower case and with straight apostrophes, denies anything.
from .stemming import is_light as is_light  # Whether a word carries little meaning.
from .stemming import parted as parted  # The text with a space for every character that parts words
from .stemming import stem as stem  # The stem of a word as `WORD` finds it
from .stemming import stems as stems  # The stems of a text in order, without the words that mean nothing alone.
from .stemming import stems_of as stems_of  # The stem of each word, "" for one that means nothing alone.
from .storing import Policy as Policy
from .storing import policy_with as policy_with  # A policy under which redaction also takes out what matches patterns
from .storing import stored_text as stored_text  # What stays of one text.
from .storing import stored_values as stored_values  # Metadata with what stays of each text in it, however deep.
from .terminals import visible as visible  # An untrusted text without terminal control characters
from .thoughts import split_thoughts as split_thoughts  # Part what a model thought from what it answered.
from .tool_names import names_answer as names_answer  # Whether a tool's name is of words for an answer or a verdict alone

# The value of a JSON text whose halves of characters are replaced, and that may hold NaN.
from .whole_json import decode_any as decode_any

# A JSON value whose texts hold U+FFFD in place of each half of a character.
from .whole_json import whole_characters as whole_characters

# The name of the criterion that a withheld reply fails, where its case is judged on it.
from .withholding import FAILED as FAILED
from .withholding import MARKERS as MARKERS  # What is stored and shown in place of a reply.
from .withholding import VERSION as VERSION  # Of the lists below
from .withholding import marked_as as marked_as  # Which content a response stands for that is a marker and nothing else.
from .withholding import withheld_content as withheld_content  # Why a text is to be withheld
from .written_forms import as_read as as_read  # The text as the module's docstring says
from .written_forms import unbroken as unbroken  # The text with its words and numbers joined that a line end parts.
