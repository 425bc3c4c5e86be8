"""The judge `rules:answer_quality`: required sections and verifiable sources.

It answers two criteria, each with a score from 0 to 10, mapped to the scale that is asked for and rounded to one decimal.
What it sees is form: whether a cited article says what the answer says is for another judge. The sources are scored in
`areopage.jury.rules.sources`. The format, where p of the n expected sections have a heading:

    p = 0       1 for running text, 2 with a list, 3 with other headings
    0 < p < n   3 + 4 * filled sections / n - 0.5 * sections out of order
    p = n       10 - 2 * empty sections - (1.5 + 0.5 * sections out of order, if any are)

and never under 1. Out of order are the sections outside the longest run in the expected order. So 10 is all sections, in order
and filled; 7 to 9 all of them with a fault; 4 to 6 a part of them; 0 to 3 no structure.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

from areopage.cases import Case
from areopage.criteria import Criterion, Scale
from areopage.digest import digest_of
from areopage.jury.code_judge import CodeJudge, rescaled
from areopage.jury.rules.heading_lines import AnswerSection, headings, sections
from areopage.jury.rules.parameters import AnswerQualityRules, ExpectedSection
from areopage.jury.rules.sources import judge_sources
from areopage.jury.rules.word_forms import NO_WORDS, words
from areopage.models import ModelReference
from areopage.scoring import Outcome, Refused, Scored

# Part of the digest, hence of every judgment's key: raise it when a change here or in `text` can move a score.
CODE_VERSION = "1"
OWN_SCALE = Scale(0.0, 10.0)

_LIST_ITEM = re.compile(r"^[ \t]{0,12}(?:[-*+•–]|[0-9]{1,3}[.)])[ \t]", re.MULTILINE)


def answer_quality_judge(reference: ModelReference, rules: AnswerQualityRules) -> CodeJudge:
    """Build the judge of an answer's form and sources."""
    return CodeJudge(
        reference,
        partial(_judge_answer, rules),
        digest=digest_of(["answer_quality", CODE_VERSION, rules]),
        criteria=(rules.criteria.format, rules.criteria.sources),
    )


def _judge_answer(rules: AnswerQualityRules, case: Case, criterion: Criterion, language: str) -> Outcome:
    """Judge a response on one of the two criteria; the explanation is in French or else in English."""
    response = case.response or ""
    spoken = "fr" if language.lower().startswith("fr") else "en"
    if not words(response):
        return Refused(reason=NO_WORDS[spoken])
    if criterion.path == rules.criteria.format:
        outcome = _judge_format(response, spoken, rules)
    else:
        outcome = judge_sources(case, response, spoken, rules)
    return rescaled(outcome, OWN_SCALE, criterion.scale)


def _judge_format(response: str, language: str, rules: AnswerQualityRules) -> Scored:
    """Judge whether a response has the expected sections, in order and filled; the headings are quoted."""
    present = sections(response, {section.name: section.aliases for section in rules.sections})
    if not present:
        expected = ", ".join(section.label(language) for section in rules.sections)
        none = "Aucune des sections attendues\u00a0" if language == "fr" else "None of the expected sections"
        other = any(heading.style in ("markdown", "bold") for heading in headings(response))
        structure = 3.0 if other else 2.0 if _LIST_ITEM.search(response) else 1.0
        return Scored(explanation=f"{none}: {expected}.", score=structure, evidence=())
    order = {section.name: place for place, section in enumerate(rules.sections)}
    stray = len(present) - _longest_run([order[section.name] for section in present])
    empty = [section for section in present if section.empty]
    if len(present) == len(rules.sections):
        score = 10 - 2 * len(empty) - (1.5 + 0.5 * stray if stray else 0.0)
    else:
        score = 3 + 4 * (len(present) - len(empty)) / len(rules.sections) - 0.5 * stray
    return Scored(
        explanation=_explain(present, empty, stray, rules.sections, language),
        score=round(max(1.0, score), 1),
        evidence=tuple(section.heading.text for section in present[: rules.extracts]),
    )


def _longest_run(places: Sequence[int]) -> int:
    """The length of the longest rising subsequence."""
    ends: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)


def _explain(
    present_sections: Sequence[AnswerSection],
    empty: Sequence[AnswerSection],
    stray: int,
    expected: Sequence[ExpectedSection],
    language: str,
) -> str:
    labels = {section.name: section.label(language) for section in expected}
    names = {section.name for section in present_sections}
    present = ", ".join(labels[section.name] for section in present_sections)
    missing = ", ".join(label for name, label in labels.items() if name not in names)
    blank = ", ".join(labels[section.name] for section in empty)
    if language == "fr":
        parts = [f"Sections trouvées\u00a0({len(present_sections)} sur {len(expected)})\u00a0: {present}."]
        parts += [f"Manquantes\u00a0: {missing}."] if missing else []
        parts += [f"Vides\u00a0: {blank}."] if blank else []
        parts += [f"Hors de l'ordre attendu\u00a0: {stray}."] if stray else []
    else:
        parts = [f"Sections found ({len(present_sections)} of {len(expected)}): {present}."]
        parts += [f"Missing: {missing}."] if missing else []
        parts += [f"Empty: {blank}."] if blank else []
        parts += [f"Out of the expected order: {stray}."] if stray else []
    return " ".join(parts)
