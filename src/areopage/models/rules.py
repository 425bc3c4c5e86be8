"""Judges that are rules and not models: the same response always gets the same score, for nothing.

| reference | module | judges |
|---|---|---|
| `rules:readability` | `areopage.models.rules_readability` | sentence length and vocabulary, by age and language |
| `rules:answer_quality` | `areopage.models.rules_answer_quality` | the sections of an answer, and the sources it cites |
"""

from areopage.errors import ModelError
from areopage.models.port import LanguageModel
from areopage.models.reference import ModelReference
from areopage.models.rules_answer_quality import AnswerQualityJudge
from areopage.models.rules_parameters import read_answer_quality, read_readability
from areopage.models.rules_readability import ReadabilityJudge
from areopage.models.settings import ModelSettings

KNOWN = ("readability", "answer_quality")


def open_model(reference: ModelReference, settings: ModelSettings) -> LanguageModel:
    """Open the rules of a reference, with the parameters of the suite.

    Raises:
        ModelError: no such rules, or their parameters are missing or wrong.
    """
    if reference.model == "readability":
        return ReadabilityJudge(reference, read_readability(settings.rules))
    if reference.model == "answer_quality":
        return AnswerQualityJudge(reference, read_answer_quality(settings.rules))
    raise ModelError(f"unknown rules {str(reference)!r}: use one of {', '.join(f'rules:{name}' for name in KNOWN)}")
