"""Answers that are made up, the same every time, with the words that a search finds them by."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from areopage.ledger.read.queries import Period
from areopage.ledger.read.search import filter_words, words_of
from areopage.ledger.tables.records import CriterionResult, Evaluation

DAYS = 30
START = date(2026, 1, 1)
END = datetime(2026, 1, 1 + DAYS, tzinfo=UTC)
PERIOD = Period(start=START, end=END.date())
ONE_DAY = Period(start=date(2026, 1, 10), end=date(2026, 1, 11))
SOURCES = ("site", "application", "téléphone")
CRITERIA = tuple(f"quality.answer.{name}" for name in ("exactitude", "completude", "format", "sources"))
WEIGHTS = (0.4, 0.3, 0.15, 0.15)
SYLLABLES = (
    "ac",
    "bé",
    "ca",
    "dé",
    "er",
    "fo",
    "gi",
    "ha",
    "in",
    "ju",
    "la",
    "mé",
    "no",
    "or",
    "pa",
    "qui",
    "ré",
    "so",
    "té",
    "vo",
)


class Sentence(Struct, frozen=True):
    """A sentence and the words that it is found by."""

    text: str
    words: frozenset[str]


def sentence(words: Sequence[str]) -> Sentence:
    """Words as a sentence."""
    written = " ".join(words).capitalize() + "."
    return Sentence(text=written, words=frozenset(words_of(written)))


def make_sentences(chance: random.Random, count: int, length: int) -> list[Sentence]:
    """Sentences of made-up French, a few words in all of them, most words in few."""
    vocabulary = ["".join(chance.choice(SYLLABLES) for _ in range(chance.randint(1, 4))) for _ in range(20_000)]
    return [sentence([vocabulary[int(20_000 * chance.random() ** 3)] for _ in range(length)]) for _ in range(count)]


def made_answers(rows: int) -> Iterator[tuple[Evaluation, list[str]]]:
    """Scored answers, in the order of their times, with the words that they are found by."""
    chance = random.Random(7)
    questions = make_sentences(chance, 2000, 12)
    parts = make_sentences(chance, 5000, 20)
    notary, rare = sentence(["Notaire"]), sentence(["usucapion"])
    beginning = datetime(START.year, START.month, START.day, tzinfo=UTC)
    for number in range(rows):
        question = chance.choice(questions)
        chosen = [*chance.choices(parts, k=6), *([notary] if number % 2 else []), *([rare] if number % 20_000 == 11 else [])]
        feedback = chance.choice(parts)
        score = made_score(f"answer-{number}", beginning + timedelta(days=DAYS * number / rows), chance)
        score = replace(score, prompt=question.text, response=" ".join(one.text for one in chosen), feedback=feedback.text)
        words = question.words.union(feedback.words, *(one.words for one in chosen))
        yield score, [*filter_words(score), *words]


def made_score(id: str, moment: datetime, chance: random.Random) -> Evaluation:
    """A score without texts; one in 200 answers has none."""
    scored = chance.random() > 0.005
    marks = [min(10.0, max(0.0, round(2 * chance.gauss(7.2, 1.6)) / 2)) for _ in CRITERIA]
    overall = sum(weight * mark for weight, mark in zip(WEIGHTS, marks, strict=True))
    return Evaluation(
        id=id,
        run_id="m",
        state="evaluated",
        timestamp=moment,
        evaluated_at=moment + timedelta(minutes=1),
        suite="answer_quality",
        suite_version="1",
        language="fr",
        source=chance.choice(SOURCES),
        variant=chance.choice("AB"),
        score_global=overall if scored else None,
        grade=grade_of(overall) if scored else "unscored",
        criteria=tuple(
            CriterionResult(criterion=name, score=mark, grade=grade_of(mark)) for name, mark in zip(CRITERIA, marks, strict=True)
        ),
        strengths=("Claire",),
        weaknesses=("Sans source",),
        suggestions=("Citer l’article",),
        spread=round(chance.random() * 4, 1),
        scored=4,
        planned=4,
        prompt_tokens=900,
        completion_tokens=200,
        seconds=1.5,
    )


def grade_of(score: float) -> Any:
    """The specification's grades."""
    return "excellent" if score > 8 else "acceptable" if score >= 6 else "weak"
