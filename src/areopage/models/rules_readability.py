"""The judge `rules:readability`: how easy a response is to read for its audience.

It answers two criteria, each with a score from 0 to 5, mapped to the scale that is asked for and rounded to one decimal:

- sentence complexity: (1 - w) * ramp(mean words per sentence) + w * ramp(words of the longest sentence), w = `longest_weight`;
- vocabulary level: ramp(share of hard words).

A ramp is 5 up to the target, 0 from a limit on and straight between; targets stand per language and maturity in the suite
(`areopage.models.rules_parameters`). A sentence without a word (a line of digits) does not count.
"""

import hashlib
import time
from collections.abc import Sequence
from typing import Literal

import msgspec

from areopage.criteria.records import Scale
from areopage.errors import CallRejected
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema, Subject
from areopage.models.reference import ModelReference
from areopage.models.rules_parameters import TOP_SCORE, LanguageRules, ReadabilityRules, Targets
from areopage.models.rules_verdict import Verdict, completed
from areopage.text.sentences import Span, sentences
from areopage.text.words import complex_word_share, is_complex, syllables, words

# Part of the digest, hence of every judgment's key: raise it when a change here or in `text` can move a score.
CODE_VERSION = "1"
_EXTRACT_LENGTH = 240  # characters; a longer extract is cut at a word

Measure = Literal["sentence_complexity", "vocabulary_level"]

OWN_SCALE = Scale(0.0, TOP_SCORE)


class ReadabilityJudge:
    """Scores how easy a response is to read for its audience. See `areopage.models.port.LanguageModel`."""

    max_concurrency: int | None = None

    def __init__(self, reference: ModelReference, rules: ReadabilityRules) -> None:
        """Judge by these rules."""
        self.reference = reference
        self._rules = rules

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria it may judge, as paths without version."""
        return (self._rules.criteria.sentence_complexity, self._rules.criteria.vocabulary_level)

    async def check(self) -> ModelStatus:
        """The digest covers the parameters and the version of the code; one pass says all."""
        content = msgspec.json.encode((CODE_VERSION, self._rules), order="deterministic")
        return ModelStatus(digest=hashlib.sha256(content).hexdigest(), criteria=self.criteria, deterministic=True)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, subject: Subject | None = None
    ) -> Completion:
        """Judge the subject's response; messages, options and schema do not matter.

        Returns:
            The verdict as JSON: `explanation` in the subject's language, `score`, `evidence_extracts`.

        Raises:
            CallRejected: no subject, no words in the response, or a criterion, language or maturity without rules.
        """
        started = time.perf_counter()
        if subject is None:
            raise CallRejected(f"{self.reference} judges a case and was given none")
        measure = self._measure_of(subject.criterion)
        language, rules, targets = self._targets_of(subject)
        response = subject.case.response or ""
        if not words(response):
            raise CallRejected("nothing to measure: the response has no words")
        audience = targets.ages or subject.case.maturity
        if measure == "sentence_complexity":
            verdict = judge_sentences(
                response, language, targets, audience, longest_weight=self._rules.longest_weight, extracts=self._rules.extracts
            )
        else:
            verdict = judge_vocabulary(response, language, rules, targets, audience, extracts=self._rules.extracts)
        return completed(verdict, OWN_SCALE, subject.scale, time.perf_counter() - started)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _measure_of(self, criterion: str) -> Measure:
        """Which measure answers a criterion, given by id or path."""
        path = criterion.partition("__v")[0]
        if path == self._rules.criteria.sentence_complexity:
            return "sentence_complexity"
        if path == self._rules.criteria.vocabulary_level:
            return "vocabulary_level"
        raise CallRejected(f"{self.reference} has no rule for the criterion {criterion!r}: it judges {', '.join(self.criteria)}")

    def _targets_of(self, subject: Subject) -> tuple[str, LanguageRules, Targets]:
        """The language, its rules and the targets of the case's maturity."""
        language = subject.language.lower()[:2]
        rules = self._rules.languages.get(language)
        if rules is None:
            known = ", ".join(self._rules.languages)
            raise CallRejected(f"{self.reference} has no targets for the language {subject.language!r}: it knows {known}")
        targets = rules.maturities.get(subject.case.maturity)
        if targets is None:
            known = ", ".join(rules.maturities)
            raise CallRejected(f"{self.reference} has no targets for the maturity {subject.case.maturity!r}: it knows {known}")
        return language, rules, targets


def judge_sentences(
    response: str, language: str, targets: Targets, audience: str, *, longest_weight: float, extracts: int
) -> Verdict:
    """Judge the length of the sentences of a response that has at least one word.

    Args:
        response: the text.
        language: "en" or "fr".
        targets: words per sentence, on average and at most.
        audience: the readers' ages, for the explanation.
        longest_weight: the longest sentence's share in the score, 0 to 1.
        extracts: how many of the sentences over the target are quoted, longest first (the longest where none is over).
    """
    counted = [(count, span) for span in sentences(response, language) if (count := len(words(span.text)))]
    counted.sort(key=lambda pair: (-pair[0], pair[1].start))
    mean = sum(count for count, _ in counted) / len(counted)
    longest = counted[0][0]
    score = (1 - longest_weight) * targets.mean_sentence.score(mean) + longest_weight * targets.longest_sentence.score(longest)
    over = [span for count, span in counted if count > targets.mean_sentence.full] or [counted[0][1]]
    return Verdict(
        explanation=_explain_sentences(mean, longest, targets, audience, language),
        score=round(score, 1),
        evidence_extracts=tuple(_quote(span) for span in over[:extracts]),
    )


def judge_vocabulary(
    response: str, language: str, rules: LanguageRules, targets: Targets, audience: str, *, extracts: int
) -> Verdict:
    """Judge the share of hard words of a response that has at least one word; the hardest words are quoted.

    Args are those of `judge_sentences`, with the language's measure of hard words in `rules`.
    """
    found = words(response)
    share = complex_word_share(found, language, rules.vocabulary)
    hard = sorted(
        {word for word in found if is_complex(word, language, rules.vocabulary)},
        key=lambda word: (-syllables(word, language), -len(word), word),
    )
    return Verdict(
        explanation=_explain_vocabulary(share, len(found), rules.vocabulary.complex_syllables, targets, audience, language),
        score=round(targets.complex_share.score(share), 1),
        evidence_extracts=tuple(hard[:extracts]),
    )


def _quote(span: Span) -> str:
    """The sentence, or as many of its first words as an extract may hold."""
    if len(span.text) <= _EXTRACT_LENGTH:
        return span.text
    return span.text[:_EXTRACT_LENGTH].rpartition(" ")[0] or span.text[:_EXTRACT_LENGTH]


def _explain_sentences(mean: float, longest: int, targets: Targets, audience: str, language: str) -> str:
    """The numbers behind the score, in words."""
    mean_text, target = _number(mean, language), _number(targets.mean_sentence.full, language)
    limit = _number(targets.longest_sentence.full, language)
    if language == "fr":
        return (
            f"Moyenne de {mean_text}\u00a0mots par phrase\u00a0; la cible pour {audience}\u00a0ans est de {target}. "
            f"Phrase la plus longue\u00a0: {longest}\u00a0mots\u00a0; la limite est de {limit}."
        )
    return (
        f"Mean {mean_text} words per sentence; the target for {audience} is {target}. "
        f"Longest sentence: {longest} words; the limit is {limit}."
    )


def _explain_vocabulary(share: float, total: int, complex_syllables: int, targets: Targets, audience: str, language: str) -> str:
    """The numbers behind the score, in words."""
    percent, target = _number(100 * share, language), _number(100 * targets.complex_share.full, language)
    if language == "fr":
        return (
            f"{percent}\u00a0% des mots ({total}\u00a0en tout) ont au moins {complex_syllables}\u00a0syllabes "
            f"sans être familiers\u00a0; la cible pour {audience}\u00a0ans est de {target}\u00a0%."
        )
    return (
        f"{percent}% of the words ({total} in all) have {complex_syllables} syllables or more and are not familiar; "
        f"the target for {audience} is {target}%."
    )


def _number(value: float, language: str) -> str:
    """At most one decimal, with the language's decimal mark."""
    text = f"{value:.1f}".removesuffix(".0")
    return text.replace(".", ",") if language == "fr" else text
