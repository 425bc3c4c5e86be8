"""Names of tools by whose call a model gives the answer that it was asked for, though no tool was offered."""

from areopage.text.patterns import late_pattern

_LETTERS = late_pattern(r"[^\W\d_]+")
_HUMP = late_pattern(r"(?<=[a-zà-ÿ])(?=[A-Z])")
_ANSWERS = (
    "answer appraisal assessment evaluation final grade grades grading json judge judgement judgment object output rating "
    "ratings reply respond response result results review schema score scores scoring structured text verdict verdicts "
    "évaluation jugement résultat notation appréciation réponse rate assess evaluate"
)
_AROUND = (
    "a an as call class create data emit for format formatted function functions give jury llm model my of overall print produce "
    "provide quality record report return save send set submit task the to tool tools with write"
)
_NOUNS = frozenset(_ANSWERS.split())
_WORDS = _NOUNS | frozenset(_AROUND.split())


def names_answer(name: str) -> bool:
    """Whether a tool's name has words for an answer or a verdict alone: `submit_evaluation`, not `search` or `rate_hotel`."""
    words = {word.lower() for word in _LETTERS.findall(_HUMP.sub(" ", name))}
    return words <= _WORDS and not words.isdisjoint(_NOUNS)
