"""The judge `rules:readability`: how easily its audience can read a response.

It answers two criteria, each with a score from 0 to 5, mapped to the scale that is asked for and rounded to one decimal:

- sentence complexity: (1 - w) * ramp(mean words per sentence) + w * ramp(words of the longest sentence), w = `longest_weight`;
- vocabulary level: ramp(share of hard words).

A ramp is 5 up to the target, 0 from a limit on and straight between; targets stand per language and maturity in the suite
(`areopage.jury.rules.parameters`). A sentence without a word (a line of digits) does not count.

A response of less than four words, in another script or in another language than the reader's gets no score.
"""

import unicodedata
from functools import partial

from areopage.cases import Case
from areopage.criteria import Criterion, Scale
from areopage.digest import digest_of
from areopage.jury.code_judge import CodeJudge, rescaled
from areopage.jury.rules.parameters import TOP_SCORE, LanguageRules, ReadabilityRules, Targets
from areopage.jury.rules.word_forms import NO_WORDS, complex_word_share, is_complex, syllables, words
from areopage.models import ModelReference
from areopage.scoring import Outcome, Refused, Scored
from areopage.text import is_in_language, sentences

# Part of the digest, hence of every judgment's key: raise it when a change here or in `text` can move a score.
CODE_VERSION = "2"
_LEAST_WORDS = 4
_LEAST_LATIN = 0.7  # of the letters
_EXTRACT_LENGTH = 240  # characters; a longer extract is cut at a word

OWN_SCALE = Scale(0.0, TOP_SCORE)


def readability_judge(reference: ModelReference, rules: ReadabilityRules) -> CodeJudge:
    """Build the judge of readability for an audience."""
    return CodeJudge(
        reference,
        partial(_judge_readability, rules, str(reference)),
        digest=digest_of([CODE_VERSION, rules]),
        criteria=(rules.criteria.sentence_complexity, rules.criteria.vocabulary_level),
    )


def _judge_readability(rules: ReadabilityRules, judge: str, case: Case, criterion: Criterion, language: str) -> Outcome:
    """Judge a response on one of the two criteria; a language or a maturity without targets is refused."""
    spoken = language.lower()[:2]
    language_rules = rules.languages.get(spoken)
    if language_rules is None:
        names = ", ".join(rules.languages)
        return Refused(reason=f"{judge} has no targets for the language {language!r}: it knows {names}")
    targets = language_rules.maturities.get(case.maturity)
    if targets is None:
        names = ", ".join(language_rules.maturities)
        return Refused(reason=f"{judge} has no targets for the maturity {case.maturity!r}: it knows {names}")
    response = case.response or ""
    if reason := _unmeasurable(response, spoken):
        return Refused(reason=reason)
    audience = targets.ages or case.maturity
    if criterion.path == rules.criteria.sentence_complexity:
        weight = rules.longest_weight
        outcome = _judge_sentences(response, spoken, targets, audience, longest_weight=weight, extracts=rules.extracts)
    else:
        outcome = _judge_vocabulary(response, spoken, language_rules, targets, audience, extracts=rules.extracts)
    return rescaled(outcome, OWN_SCALE, criterion.scale)


def _unmeasurable(response: str, language: str) -> str:
    """Why a response cannot be measured, in the reader's language; "" if it can."""
    count, french = len(words(response)), language == "fr"
    if not count:
        return NO_WORDS["fr" if french else "en"]
    letters = [sign for sign in response if sign.isalpha()]
    latin = sum(sign.isascii() or unicodedata.name(sign, "").startswith("LATIN") for sign in letters)
    if latin < _LEAST_LATIN * len(letters):
        reason = "not measured: the response is written in another script than the reader's"
        return "non mesuré\u00a0: la réponse n’est pas dans l’écriture du lecteur" if french else reason
    if count < _LEAST_WORDS:
        reason = f"too little to measure: the response has {count} of at least {_LEAST_WORDS} words"
        return (
            f"trop court\u00a0: nombre de mots de la réponse\u00a0: {count}\u00a0; minimum\u00a0: {_LEAST_WORDS}"
            if french
            else reason
        )
    if not is_in_language(response, language):
        reason = f"not measured: the response is not in the reader's language ({language})"
        return "non mesuré\u00a0: la réponse n’est pas dans la langue du lecteur (fr)" if french else reason
    return ""


def _judge_sentences(
    response: str, language: str, targets: Targets, audience: str, *, longest_weight: float, extracts: int
) -> Scored:
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
    quotes: list[str] = []  # a long one is cut at a word
    for span in over[:extracts]:
        cut = span.text[:_EXTRACT_LENGTH]
        quotes.append(span.text if len(span.text) <= _EXTRACT_LENGTH else cut.rpartition(" ")[0] or cut)
    return Scored(
        explanation=_explain_sentences(mean, longest, targets, audience, language),
        score=round(score, 1),
        evidence=tuple(quotes),
    )


def _judge_vocabulary(
    response: str, language: str, rules: LanguageRules, targets: Targets, audience: str, *, extracts: int
) -> Scored:
    """Judge the share of hard words of a response that has at least one word; the hardest words are quoted.

    Args are those of `_judge_sentences`, with the language's measure of hard words in `rules`.
    """
    all_words = words(response)
    share = complex_word_share(all_words, language, rules.vocabulary)
    hard = sorted(
        {word for word in all_words if is_complex(word, language, rules.vocabulary)},
        key=lambda word: (-syllables(word, language), -len(word), word),
    )
    return Scored(
        explanation=_explain_vocabulary(share, len(all_words), rules.vocabulary.complex_syllables, targets, audience, language),
        score=round(targets.complex_share.score(share), 1),
        evidence=tuple(hard[:extracts]),
    )


def _explain_sentences(mean: float, longest: int, targets: Targets, audience: str, language: str) -> str:
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
    """A number with at most one decimal and the language's decimal mark."""
    text = f"{value:.1f}".removesuffix(".0")
    return text.replace(".", ",") if language == "fr" else text
