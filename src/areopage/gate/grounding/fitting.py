"""Fit the grounding model: two logistic regressions with a ridge penalty, one on sentences and one on answers.

The answers' model is fitted on what the sentences' model says of answers that it has not seen, so that neither trusts the other
too much. Everything is deterministic for a given seed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.cases import Document
from areopage.gate.grounding.examine import examine
from areopage.gate.grounding.model import GroundingModel, Linear, Weight, answer_features

Floats = NDArray[np.float64]

SENTENCE_FEATURES = {
    "unknown": "logarithm of 1 + the number of words that neither the documents nor the question have",
    "unknown_count": "the number of those words",
    "unknown_light": "logarithm of 1 + how many of them state little by themselves (important, various, généralement)",
    "pairs_missing": "the share of its neighbouring words that are no neighbours in any document",
    "length": "logarithm of 1 + the number of words that mean something",
    "edge": "for the first sentence and the last: the share of the answer's sentences that stand between them; 0 for others",
}
ANSWER_FEATURES = {
    "odds": "logarithm of the sum of the sentences' odds: of a single sentence, what its model says",
}
# Answers of a language model that read the documents hardly ever show it, and those that rest on other documents always do. Its
# weight is fitted on made-up rows as well, after the others and without moving them.
FOREIGN = "foreign"
FOREIGN_SAYS = "how far more than half of the claims' words are unknown to documents and question, from 0 to 0.5"
SENTENCE_PENALTY, ANSWER_PENALTY = 10.0, 3.0
FOREIGN_PENALTY = 0.01
MADE_COUNTS = 0.05  # of a real row
INNER_FOLDS = 5
STEPS = 50


class FittingRow(Struct, frozen=True, kw_only=True):
    """A labelled answer; `unsupported` is None where only the whole is labelled. A `made` one counts for `foreign` alone."""

    prompt: str
    response: str
    documents: tuple[Document, ...]
    language: str
    ungrounded: bool
    unsupported: tuple[tuple[int, int], ...] | None
    group: str
    made: bool = False


class FeatureTable(Struct, frozen=True):
    """The features of all rows: `sentences` has a line for each claim; its label may be NaN, `rows` is its answer."""

    sentences: Floats
    labels: Floats
    rows: NDArray[np.int64]
    counts: Floats
    answers: Floats
    made: NDArray[np.bool_]
    groups: NDArray[np.int64]


def tabulate(rows: Sequence[FittingRow]) -> FeatureTable:
    """Look at all answers once."""
    lines: list[list[float]] = []
    labels: list[float] = []
    owners: list[int] = []
    counts: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        for sentence in examine(row.prompt, row.response, row.documents, row.language):
            if sentence.claim:
                lines.append([sentence.features[name] for name in SENTENCE_FEATURES])
                labels.append(_label(row, sentence.start, sentence.end))
                owners.append(number)
                counts.append((len(sentence.unsupported), sentence.words))
    names = {group: number for number, group in enumerate(sorted({row.group for row in rows}))}
    return FeatureTable(
        np.array(lines, dtype=np.float64).reshape(-1, len(SENTENCE_FEATURES)),
        np.array(labels, dtype=np.float64),
        np.array(owners, dtype=np.int64),
        np.array(counts, dtype=np.float64).reshape(-1, 2),
        np.array([row.ungrounded for row in rows], dtype=np.float64),
        np.array([row.made for row in rows], dtype=np.bool_),
        np.array([names[row.group] for row in rows], dtype=np.int64),
    )


def _label(row: FittingRow, start: int, end: int) -> float:
    if not row.ungrounded:
        return 0.0
    if row.unsupported is None:
        return float("nan")
    return float(any(first < end and last > start for first, last in row.unsupported))


def fit(
    rows: Sequence[FittingRow],
    *,
    name: str = "grounding",
    provenance: dict[str, Any] | None = None,
    base: GroundingModel | None = None,
    seed: int = 0,
) -> GroundingModel:
    """The model that fits these answers; without a row that is made up, the weight of `foreign` is that of `base`.

    Raises:
        ValueError: the answers carry one label only, or no sentence claims anything.
    """
    table = tabulate(rows)
    return fit_table(table, np.arange(len(rows)), name=name, provenance=provenance or {}, base=base, seed=seed)


def fit_table(
    table: FeatureTable,
    used: NDArray[np.int64],
    *,
    name: str = "grounding",
    provenance: dict[str, Any] | None = None,
    base: GroundingModel | None = None,
    seed: int = 0,
) -> GroundingModel:
    """The model that fits some of a table's answers; see `fit`."""
    real = used[~table.made[used]]
    if not np.isin(table.rows, real).any() or len(set(table.answers[real].tolist())) < 2:
        raise ValueError("labels: both grounded and ungrounded answers with claims are required")
    sentence = _sentence_model(table, real)
    inner = folds(table.groups, INNER_FOLDS, seed)
    answers: dict[int, dict[str, float]] = {}
    for fold in range(INNER_FOLDS):
        rest = real[inner[real] != fold]
        model = _sentence_model(table, rest) if len(rest) else sentence
        answers |= answers_of(table, model, used[inner[used] == fold])
    kept = np.array(sorted(answers), dtype=np.int64)
    lines = np.array([[answers[row][key] for key in ANSWER_FEATURES] for row in kept.tolist()])
    foreign = np.array([answers[row][FOREIGN] for row in kept.tolist()])
    genuine = ~table.made[kept]
    answer = _ridge(lines[genuine], table.answers[kept][genuine], ANSWER_FEATURES, ANSWER_PENALTY)
    if base is not None and genuine.all():
        weight = next((part.weight for part in base.answer.weights if part.feature == FOREIGN), 0.0)
    else:
        counts = np.where(genuine, 1.0, MADE_COUNTS)
        weight = _added(foreign, table.answers[kept], counts, logits_of(answer, lines))
    part = Weight(feature=FOREIGN, weight=round(weight, 4), mean=0.0, scale=1.0, says=FOREIGN_SAYS)
    return GroundingModel(
        name=name,
        provenance=provenance or {},
        sentence=sentence,
        answer=Linear(bias=answer.bias, weights=(*answer.weights, part)),
    )


def answers_of(table: FeatureTable, sentence: Linear, used: NDArray[np.int64]) -> dict[int, dict[str, float]]:
    """The features of answers that claim something, by their row."""
    logits = logits_of(sentence, table.sentences)
    answers: dict[int, dict[str, float]] = {}
    order = np.argsort(table.rows, kind="stable")
    first = np.searchsorted(table.rows[order], used, side="left")
    last = np.searchsorted(table.rows[order], used, side="right")
    for row, start, stop in zip(used.tolist(), first.tolist(), last.tolist(), strict=True):
        claims = order[start:stop]
        if len(claims):
            answers[row] = answer_features(logits[claims].tolist(), table.counts[claims].tolist())
    return answers


def logits_of(linear: Linear, lines: Floats) -> Floats:
    """The log odds of many lines at once; the same as `Linear.logit` of each."""
    weights = np.array([part.weight for part in linear.weights])
    means = np.array([part.mean for part in linear.weights])
    scales = np.array([part.scale for part in linear.weights])
    logits: Floats = np.clip((lines - means) / scales @ weights + linear.bias, -30.0, 30.0)
    return logits


def folds(groups: NDArray[np.int64], number: int, seed: int) -> NDArray[np.int64]:
    """A fold for each row; groups stay together."""
    shuffled = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    chosen: NDArray[np.int64] = shuffled[groups] % number
    return chosen


def _sentence_model(table: FeatureTable, used: NDArray[np.int64]) -> Linear:
    """The sentences' model; where only whole answers are labelled, an ungrounded one's worst-looking sentence stands for it."""
    mine = np.isin(table.rows, used)
    lines, labels, rows = table.sentences[mine], table.labels[mine].copy(), table.rows[mine]
    column = list(SENTENCE_FEATURES).index("unknown_count")
    for row in np.unique(rows[np.isnan(labels)]):
        claims = np.flatnonzero(rows == row)
        labels[claims] = np.nan
        labels[claims[np.argmax(lines[claims, column])]] = 1.0
    labelled = ~np.isnan(labels)
    return _ridge(lines[labelled], labels[labelled], SENTENCE_FEATURES, SENTENCE_PENALTY)


def _ridge(lines: Floats, labels: Floats, says: dict[str, str], penalty: float) -> Linear:
    """Logistic regression on standardised features by Newton's method; the bias is not penalised."""
    means, scales = lines.mean(axis=0), lines.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    inputs = np.column_stack([(lines - means) / scales, np.ones(len(lines))])
    penalties = np.append(np.full(lines.shape[1], penalty), 1e-6)
    weights = np.zeros(lines.shape[1] + 1)
    for _ in range(STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(inputs @ weights, -30.0, 30.0)))
        slope = inputs.T @ (chances - labels) + penalties * weights
        curve = (inputs * (chances * (1.0 - chances))[:, None]).T @ inputs + np.diag(penalties)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    parts = zip(says.items(), weights, means, scales, strict=False)
    return Linear(
        bias=round(float(weights[-1]), 4),
        weights=tuple(
            Weight(
                feature=name, weight=round(float(weight), 4), mean=round(float(mean), 4), scale=round(float(scale), 4), says=text
            )
            for (name, text), weight, mean, scale in parts
        ),
    )


def _added(values: Floats, labels: Floats, counts: Floats, offsets: Floats) -> float:
    """The weight of one more feature beside a model that is kept: logistic regression without a bias; never negative."""
    weight = 0.0
    for _ in range(STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(offsets + weight * values, -30.0, 30.0)))
        slope = float((counts * (chances - labels) * values).sum()) + FOREIGN_PENALTY * weight
        curve = float((counts * chances * (1.0 - chances) * values**2).sum()) + FOREIGN_PENALTY
        step = max(-5.0, min(5.0, slope / curve))
        weight -= step
        if abs(step) < 1e-9:
            break
    return max(0.0, weight)
