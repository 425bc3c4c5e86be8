"""The parameters of the deterministic judges: the section `rules` of a suite's configuration.

    rules:
      readability:
        criteria:                      which criterion gets which measure (paths without version)
          sentence_complexity: age.readability.sentence_complexity
          vocabulary_level: age.readability.vocabulary_level
        longest_weight: 0.3            share of the longest sentence in the score of sentence_complexity, 0 to 1
        extracts: 3                    how many sentences, or words, are quoted
        languages:
          en:
            vocabulary:
              complex_syllables: 3     the fewest syllables of a hard word ...
              familiar: [animal]       ... unless it is one of these
            maturities:
              Child:
                ages: 6-8              how the explanation names the readers
                mean_sentence: {full: 8, zero: 20}        words per sentence
                longest_sentence: {full: 12, zero: 30}    words
                complex_share: {full: 0.05, zero: 0.20}   hard words / words

      answer_quality:
        criteria:                      as above
          format: quality.answer.format
          sources: quality.answer.sources
        extracts: 6                    how many headings, or references, are quoted
        sources_section: sources       which of the sections lists the sources; "" for none
        sections:                      in the order that an answer should have
          - name: analysis
            headings: {fr: [Analyse], en: [Analysis]}    by language; the first one names the section in explanations

      checks:
        criteria:                      by path, then for `every` prompt or by a prompt's digest: what the response is checked for
          imported.checks.contains:
            every: [{type: is-refusal, negated: true}]
            0123456789abcdef: [{type: contains, values: [Paris], negated: false}]

A ramp gives 5 up to `full`, 0 from `zero` on, and falls in a straight line between.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from areopage.criteria import Check
from areopage.errors import ModelError, name_list
from areopage.jury.rules.word_forms import Vocabulary
from areopage.text import plain

TOP_SCORE = 5.0
EVERY_PROMPT = "every"
_DIGEST = re.compile("[0-9a-f]{16}")
_Kind = TypeVar("_Kind")


class Ramp(Struct, frozen=True, forbid_unknown_fields=True):
    """A measure that is better when lower.

    `full` and `zero` are in the measure's own unit, 0 <= full < zero.
    """

    full: float
    zero: float

    def __post_init__(self) -> None:
        """Raise ValueError unless `full` < `zero`."""
        if not 0 <= self.full < self.zero:
            raise ValueError(f"full is {self.full:g} and zero is {self.zero:g}: write 0 <= full < zero")

    def score(self, value: float) -> float:
        """Map a measure to a score, 0 to 5: 5 up to `full`, 0 from `zero` on."""
        share = (self.zero - value) / (self.zero - self.full)
        return TOP_SCORE * min(1.0, max(0.0, share))


class Targets(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one audience reads with ease; the units stand in this module's docstring."""

    ages: str = ""
    mean_sentence: Ramp
    longest_sentence: Ramp
    complex_share: Ramp


class LanguageRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The measure of words, and the targets by maturity, of one language."""

    vocabulary: Vocabulary
    maturities: Mapping[str, Targets]


class JudgedCriteria(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The criteria, by path without version, that the two measures score."""

    sentence_complexity: str = "age.readability.sentence_complexity"
    vocabulary_level: str = "age.readability.vocabulary_level"


class ReadabilityRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `rules.readability`. Languages are named by two letters."""

    criteria: JudgedCriteria = JudgedCriteria()
    longest_weight: float = 0.3
    extracts: int = 3
    languages: Mapping[str, LanguageRules]

    def __post_init__(self) -> None:
        """Raise ValueError for a number out of its range."""
        if not 0 <= self.longest_weight <= 1:
            raise ValueError(f"longest_weight is {self.longest_weight:g}: write a share between 0 and 1")
        if self.extracts < 0:
            raise ValueError(f"extracts is {self.extracts}: write 0 or more")


class AnswerCriteria(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The criteria, by path without version, that the two measures of an answer's quality score."""

    format: str = "quality.answer.format"
    sources: str = "quality.answer.sources"


class ExpectedSection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A required section, with its possible headings by language (two letters)."""

    name: str
    headings: dict[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        """Raise ValueError for a heading that cannot match."""
        if not any(self.headings.values()):
            raise ValueError(f"the section {self.name!r} has no headings: write at least one")
        for heading in self.aliases:
            if not plain(heading):
                raise ValueError(f"the section {self.name!r} has the heading {heading!r}: write one with letters")

    @property
    def aliases(self) -> tuple[str, ...]:
        """The headings of all languages."""
        return tuple(heading for headings in self.headings.values() for heading in headings)

    def label(self, language: str) -> str:
        """The section's name in a language, else its first heading."""
        return next(iter(self.headings.get(language, ())), self.aliases[0])


class AnswerQualityRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `rules.answer_quality`; the sections are in the order that an answer should have."""

    sections: tuple[ExpectedSection, ...]
    criteria: AnswerCriteria = AnswerCriteria()
    sources_section: str = "sources"
    extracts: int = 6

    def __post_init__(self) -> None:
        """Raise ValueError for conflicting sections or a number out of range."""
        names = [section.name for section in self.sections]
        if not names:
            raise ValueError("sections is empty: write at least one")
        if len(set(names)) < len(names):
            raise ValueError(f"sections contains a name twice: {name_list(names)}")
        if self.sources_section and self.sources_section not in names:
            raise ValueError(f"sources_section is {self.sources_section!r}: use one of {name_list(names)}")
        if self.extracts < 0:
            raise ValueError(f"extracts is {self.extracts}: write 0 or more")


class CheckRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of `rules.checks`: by the path of the criterion, then for every prompt or by the digest of a prompt."""

    criteria: dict[str, dict[str, tuple[Check, ...]]]

    def __post_init__(self) -> None:
        """Raise ValueError for a key that no prompt has."""
        for path, by_prompt in self.criteria.items():
            for key in by_prompt:
                if key != EVERY_PROMPT and not _DIGEST.fullmatch(key):
                    raise ValueError(f"{path} has checks for {key!r}: write `{EVERY_PROMPT}` or the digest of a prompt")


def read_readability(rules: Mapping[str, Any]) -> ReadabilityRules:
    """Read the parameters of `rules:readability` from the suite's `rules` section."""
    section = _convert(_named(rules, "readability", "targets"), dict[str, Any], "rules.readability")
    languages: dict[str, LanguageRules] = {}  # read one by one, so that a fault can name its language
    for language, content in _convert(section.get("languages", {}), dict[str, Any], "rules.readability.languages").items():
        key = f"rules.readability.languages.{language}"
        parts = dict(_convert(content, dict[str, Any], key))
        if "maturities" in parts:
            targets = _convert(parts["maturities"], dict[str, Any], f"{key}.maturities").items()
            parts["maturities"] = {name: _convert(value, Targets, f"{key}.maturities.{name}") for name, value in targets}
        languages[language] = _convert(parts, LanguageRules, key)
    read = {"languages": languages} if "languages" in section else {}
    return _convert({**section, **read}, ReadabilityRules, "rules.readability")


def read_answer_quality(rules: Mapping[str, Any]) -> AnswerQualityRules:
    """Read the parameters of `rules:answer_quality` from the suite's `rules` section."""
    return _convert(_named(rules, "answer_quality", "sections"), AnswerQualityRules, "rules.answer_quality")


def read_checks(rules: Mapping[str, Any]) -> CheckRules:
    """Read the parameters of `rules:checks` from the suite's `rules` section."""
    return _convert(_named(rules, "checks", "criteria"), CheckRules, "rules.checks")


def _named(rules: Mapping[str, Any], name: str, needed: str) -> object:
    if name not in rules:
        sections = f" (it holds {name_list(map(str, rules))})" if rules else ""
        raise ModelError(f"rules.{name}: missing from the suite's configuration{sections}: rules:{name} needs its {needed}")
    return rules[name]


def _convert(value: object, kind: type[_Kind], key: str) -> _Kind:
    """Convert a plain value to a record; a fault names the whole key."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        raise ModelError(f"{key}{place.rstrip('`')}: {message}") from error
