"""Judges that are rules in code: deterministic and free of charge.

| reference | module | judges |
|---|---|---|
| `rules:readability` | `areopage.jury.rules.readability` | sentence length and vocabulary, by age and language |
| `rules:checks` | `areopage.jury.rules.checks` | exact checks of a response, of every prompt or of one |
| `rules:answer_quality` | `areopage.jury.rules.answer_quality` | the sections of an answer, and the sources it cites |
"""

from areopage.errors import ModelError
from areopage.jury.code_judge import CodeJudge
from areopage.jury.rules.answer_quality import answer_quality_judge
from areopage.jury.rules.checks import checks_judge
from areopage.jury.rules.parameters import read_answer_quality, read_checks, read_readability
from areopage.jury.rules.readability import readability_judge
from areopage.models import ModelReference, ModelSettings

KNOWN = ("readability", "answer_quality", "checks")


def open_judge(reference: ModelReference, settings: ModelSettings) -> CodeJudge:
    """Open the rules of a reference with the suite's parameters.

    Raises:
        ModelError: no such rules, or their parameters are missing or wrong.
    """
    if reference.model == "readability":
        return readability_judge(reference, read_readability(settings.rules))
    if reference.model == "answer_quality":
        return answer_quality_judge(reference, read_answer_quality(settings.rules))
    if reference.model == "checks":
        return checks_judge(reference, read_checks(settings.rules))
    raise ModelError(f"unknown rules {str(reference)!r}: use one of {', '.join(f'rules:{name}' for name in KNOWN)}")
