"""How well the gate tells grounded answers from ungrounded ones. One JSON line; about two minutes.

    python benchmarks/gate_accuracy.py

- ragtruth: 437 answers of six models to questions over three passages each; people marked what the passages do not support.
  Cross-validation by source, the threshold chosen inside the folds, the mean over several seeds; intervals by drawing sources
  anew. `gate` is the decision that counts: the model at its threshold or another rule of the gate. Beside it the documented
  rule, the naive one (every number of the answer stands in a passage), each signal alone, and what the model cannot see, by
  kind of error.
- french: answers made of questions on encyclopedia articles and of official pages, right ones and wrong ones, on articles
  that the model was not fitted on; the shipped rules decide.
- other sets: the shipped model on claims with their references, on summaries, and on French answers in free writing, none of
  which it was fitted on; by length, beside the share of an answer's words that the documents lack.

The sets lie in ../shared/data beside the repository and are not part of it.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from gate_free_french import ANSWERS, Texts, written
from gate_french import Made, made_of_pages, made_of_questions
from gate_labels import DATA, PAGES, RAGTRUTH, made_rows, questions, ragtruth_rows, read
from gate_measures import Flags, Floats, Whole, auroc, balanced_accuracy, choose, f1, intervals, unseen
from msgspec.structs import replace

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.grounding.examine import examine
from areopage.gate.grounding.fitting import (
    ANSWER_FEATURES,
    FOREIGN,
    SENTENCE_FEATURES,
    FeatureTable,
    FittingRow,
    answers_of,
    fit_table,
    folds,
    tabulate,
)
from areopage.gate.grounding.model import GroundingModel, ground, probability
from areopage.text.stemming import stems

SEEDS = 5
OUTER, INNER = 5, 5
FEWEST = 10  # right answers and wrong ones of a length, for an AUROC
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
GROUPS = {
    "words that the documents do not have": ("unknown", "unknown_count", "unknown_light"),
    "neighbouring words": ("pairs_missing",),
    "place and length": ("length", "edge"),
}


def held(gate: Gate, rows: Iterable[FittingRow | Made]) -> Flags:
    """Whether the gate holds each answer back."""
    return np.array([gate.decide(row.prompt, row.response, row.documents).verdict != "deliver" for row in rows], dtype=np.bool_)


def cross_validated(
    config: GateConfig, rows: Sequence[FittingRow], table: FeatureTable, wrong: Flags
) -> tuple[dict[str, float], Floats, Flags, Flags]:
    """The measures' means over the seeds; of each answer its mean probability, and whether most seeds' gates hold it back."""
    count = len(rows)
    everything = np.arange(len(table.answers))
    sums: dict[str, list[float]] = defaultdict(list)
    mean, votes_balanced, votes_f1 = np.zeros(count), np.zeros(count), np.zeros(count)
    for seed in range(SEEDS):
        fold = folds(table.groups, OUTER, seed)
        scores, caught, caught_f1 = np.zeros(count), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for one in range(OUTER):
            rest = everything[fold != one]
            out = everything[(fold == one) & ~table.made]
            model = fit_table(table, rest, seed=seed)
            inner = unseen(table, rest, seed + 100, INNER)
            known = rest[~table.made[rest]]
            scores[out] = probabilities(table, model, out)[out]
            for measure, flags in ((balanced_accuracy, caught), (f1, caught_f1)):
                threshold = choose(wrong[known], inner[known], measure)
                flags[out] = held(gate_with(config, model, threshold), [rows[row] for row in out])
        mean += scores / SEEDS
        votes_balanced += caught / SEEDS
        votes_f1 += caught_f1 / SEEDS
        for name, value in (
            ("auroc", auroc(wrong, scores)),
            ("f1, threshold for f1", f1(wrong, caught_f1)),
            ("balanced accuracy, threshold for it", balanced_accuracy(wrong, caught)),
            ("f1, threshold for balanced accuracy", f1(wrong, caught)),
        ):
            sums[name].append(value)
    return {name: round(float(np.mean(values)), 3) for name, values in sums.items()}, mean, votes_balanced > 0.5, votes_f1 > 0.5


def gate_with(config: GateConfig, model: GroundingModel, threshold: float) -> Gate:
    """The gate with another model and threshold."""
    return Gate(replace(config, grounding=model, thresholds=replace(config.thresholds, deliver=threshold, hold=threshold)))


def probabilities(table: FeatureTable, model: GroundingModel, used: Whole) -> Floats:
    """p_unsupported of some answers, in their places."""
    found = np.zeros(len(table.answers))
    for row, features in answers_of(table, model.sentence, used).items():
        found[row] = probability(model.answer.logit(features))
    return found


def alone(scores: Floats, wrong: Flags, groups: Whole) -> dict[str, float]:
    """A single signal, the threshold chosen inside the folds."""
    values: dict[str, list[float]] = {"f1": [], "balanced accuracy": []}
    for seed in range(SEEDS):
        fold = folds(groups, OUTER, seed)
        for name, measure in (("f1", f1), ("balanced accuracy", balanced_accuracy)):
            caught = np.zeros(len(wrong), np.bool_)
            for one in range(OUTER):
                rest = fold != one
                grid = np.unique(scores[rest])
                best = max(grid[:: max(1, len(grid) // 200)], key=lambda bound: measure(wrong[rest], scores[rest] >= bound))
                caught[~rest] = scores[~rest] >= best
            values[name].append(measure(wrong, caught))
    return {"auroc": round(auroc(wrong, scores), 3)} | {name: round(float(np.mean(found)), 3) for name, found in values.items()}


def signals(rows: Sequence[FittingRow]) -> dict[str, Floats]:
    """Signals of each answer: the most suspicious sentence, or the whole."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        examined = examine(row.prompt, row.response, row.documents, row.language)
        claims = [one for one in examined if one.claim]
        for name in ("unknown_count", "pairs_missing", "negation_alone"):
            found[f"{name}, worst sentence"].append(max((one.features.get(name, 0.0) for one in claims), default=0.0))
        found["share of unknown words, worst sentence"].append(
            max((len(one.unsupported) / one.words for one in claims), default=0.0)
        )
        found["coverage, lowest sentence"].append(-min((one.features["coverage"] for one in claims), default=1.0))
        stated = [claim for one in examined for claim in one.claims]
        found["unsupported figures and references"].append(float(sum(not claim.supported for claim in stated)))
        found["length of the answer"].append(float(sum(one.words for one in claims)))
    return {name: np.array(values) for name, values in found.items()}


def naive(rows: Sequence[FittingRow]) -> Flags:
    """Whether a number of the answer stands in no passage."""
    flags = []
    for row in rows:
        held_numbers = set(NUMBER.findall("\n".join(document.text for document in row.documents)))
        flags.append(not set(NUMBER.findall(row.response)) <= held_numbers)
    return np.array(flags, dtype=np.bool_)


def rule(wrong: Flags, caught: Flags) -> dict[str, float]:
    """The measures of a rule without a threshold."""
    return {"f1": round(f1(wrong, caught), 3), "balanced accuracy": round(balanced_accuracy(wrong, caught), 3)}


def without(table: FeatureTable, names: Sequence[str]) -> FeatureTable:
    """The table with some features made the same everywhere, so that they weigh nothing."""
    lines = table.sentences.copy()
    for name in names:
        lines[:, list(SENTENCE_FEATURES).index(name)] = 0.0
    return replace(table, sentences=lines)


def reliability(wrong: Flags, scores: Floats) -> list[list[float]]:
    """In eighths of the answers: mean probability, share of ungrounded ones."""
    order = np.argsort(scores, kind="stable")
    return [[round(float(scores[part].mean()), 2), round(float(wrong[part].mean()), 2)] for part in np.array_split(order, 8)]


def calibration(wrong: Flags, scores: Floats, lengths: Whole) -> dict[str, list[float]]:
    """For all and for thirds by length: the least and most words, mean probability, share of ungrounded, Brier score, ECE."""
    order = np.argsort(lengths, kind="stable")
    parts = {"all": order} | dict(zip(("short", "middle", "long"), np.array_split(order, 3), strict=True))
    return {
        name: [
            int(lengths[part].min()),
            int(lengths[part].max()),
            *(round(float(value.mean()), 3) for value in (scores[part], wrong[part], (scores[part] - wrong[part]) ** 2)),
            round(calibration_error(wrong[part], scores[part]), 3),
        ]
        for name, part in parts.items()
    }


def calibration_error(wrong: Flags, scores: Floats) -> float:
    """The mean difference, in eighths of the answers, between probability and share."""
    parts = np.array_split(np.argsort(scores, kind="stable"), 8)
    return float(sum(abs(scores[part].mean() - wrong[part].mean()) * len(part) for part in parts) / len(scores))


def ragtruth(config: GateConfig) -> dict[str, Any]:
    raw = read(RAGTRUTH)
    rows = ragtruth_rows(raw)
    table = tabulate([*rows, *made_rows()])
    wrong, groups = table.answers[: len(rows)] > 0, table.groups[: len(rows)]
    means, scores, caught, caught_f1 = cross_validated(config, rows, table, wrong)
    bounds = intervals(
        groups,
        {
            "auroc": lambda rows: auroc(wrong[rows], scores[rows]),
            "f1, threshold for f1": lambda rows: f1(wrong[rows], caught_f1[rows]),
            "balanced accuracy, threshold for it": lambda rows: balanced_accuracy(wrong[rows], caught[rows]),
        },
    )
    kinds = np.array([kind_of(row) for row in raw])
    everything = np.arange(len(table.answers))
    dropped = {
        name: np.mean([unseen(without(table, names), everything, seed, OUTER)[: len(rows)] for seed in range(SEEDS)], axis=0)
        for name, names in GROUPS.items()
    }
    first = GateConfig(profile="v1_1")
    documented = np.array([Gate(first).decide(row.prompt, row.response, row.documents).metrics.hallucination for row in rows])
    return {
        "answers": len(rows),
        "ungrounded": int(wrong.sum()),
        "gate": means,
        "intervals": bounds,
        "reliability": reliability(wrong, scores),
        "calibration": calibration(wrong, scores, np.array([len(stems(row.response)) for row in rows])),
        "documented rule": rule(wrong, documented),
        "naive number rule": rule(wrong, naive(rows)),
        "always held back": rule(wrong, np.ones_like(wrong)),
        "alone": {name: alone(values, wrong, groups) for name, values in signals(rows).items()},
        "auroc by kind of error": {
            kind: [int((kinds == kind).sum()), round(auroc(wrong[mine], scores[mine]), 3)]
            for kind in ("conflict", "subtle", "evident")
            if (mine := (kinds == kind) | (kinds == "")).any()
        },
        "auroc without": {name: round(auroc(wrong, found), 3) for name, found in dropped.items()},
    }


def kind_of(row: dict[str, Any]) -> str:
    """`conflict` where every mark is one, `subtle` where every mark is a subtle addition, `evident` otherwise; "" for none."""
    labels = {span["label_type"] for span in row["spans"]}
    if not labels:
        return ""
    if labels == {"Evident Conflict"}:
        return "conflict"
    return "subtle" if labels == {"Subtle Baseless Info"} else "evident"


def french(gate: Gate, cases: Sequence[Made]) -> dict[str, Any]:
    """Shares held back: of the right answers (false alarms), and of the wrong ones, by how they were made."""
    caught = held(gate, cases)
    wrong = np.array([case.wrong and not case.kind.startswith("swapped") for case in cases], dtype=np.bool_)
    swapped = np.array([case.kind.startswith("swapped") for case in cases], dtype=np.bool_)
    right = ~wrong & ~swapped
    kinds: dict[str, list[bool]] = defaultdict(list)
    for case, flag in zip(cases, caught.tolist(), strict=True):
        kinds[case.kind].append(flag)
    groups = np.unique([case.group for case in cases], return_inverse=True)[1]
    share: Callable[[Flags], Callable[[Whole], float]] = lambda of: lambda rows: float(caught[rows][of[rows]].mean())  # noqa: E731
    return {
        "right, held back": round(float(caught[right].mean()), 4),
        "wrong, held back": round(float(caught[wrong].mean()), 4),
        "swapped within the documents, held back": round(float(caught[swapped].mean()), 4),
        "intervals": intervals(groups, {"right": share(right), "wrong": share(wrong), "swapped": share(swapped)}),
        "kinds": {kind: [len(flags), round(sum(flags) / len(flags), 3)] for kind, flags in kinds.items()},
    }


def transfer(model: GroundingModel) -> dict[str, Any]:
    """AUROC of the shipped model on sets that it was not fitted on, beside that of the share of words that the documents lack."""
    sets = {
        name: [
            _single(row["question"] or "", row["claim"], numbered(row["references"]), row["attribution_label"] != "attributable")
            for row in read(f"attributionbench/{file}.jsonl.gz")
        ]
        for name, file in (("attributionbench", "test500"), ("attributionbench, dev", "dev"))
    }
    sets["faithbench"] = [
        _single("", row["summary"], numbered([row["source"]]), str(row["worst_label"]).startswith("Unwanted"), row["source"])
        for row in read("faithbench_half/rows.jsonl.gz")
    ]
    texts = Texts()
    for path in sorted(ANSWERS.glob("*.jsonl")):
        sets[f"french, {path.stem}"] = [
            _single(texts.question(row), row.answer, texts.documents(row), row.wrong, row.group, "fr")
            for row in written(path.name)
            if row.agreed
        ]
    return {name: beside_the_share(model, rows) for name, rows in sets.items()}


def _single(
    prompt: str, response: str, documents: tuple[Document, ...], wrong: bool, group: str = "", language: str = "en"
) -> FittingRow:
    return FittingRow(
        prompt=prompt,
        response=response,
        documents=documents,
        language=language,
        ungrounded=wrong,
        unsupported=None,
        group=group or prompt,
    )


def beside_the_share(model: GroundingModel, rows: Sequence[FittingRow]) -> dict[str, list[Any]]:
    """By the number of words that mean something: answers, AUROC of p and of the share, the difference's interval."""
    words = [stems(row.response) for row in rows]
    held_words = [
        {root for document in row.documents for root in (*stems(document.text), *stems(document.title))} for row in rows
    ]
    share = np.array(
        [sum(root not in own for root in roots) / max(1, len(roots)) for roots, own in zip(words, held_words, strict=True)]
    )
    doubt = np.array([ground(model, row.prompt, row.response, row.documents, row.language).p_unsupported or 0.0 for row in rows])
    wrong: Flags = np.array([row.ungrounded for row in rows], dtype=np.bool_)
    groups = np.unique([row.group for row in rows], return_inverse=True)[1]
    lengths = np.array([len(roots) for roots in words])
    found: dict[str, list[Any]] = {}
    for name, low, high in (("all", 0, 10**9), ("under 10", 0, 10), ("10 to 19", 10, 20), ("20 and more", 20, 10**9)):
        mine = np.flatnonzero((lengths >= low) & (lengths < high))
        if min(int(wrong[mine].sum()), int((~wrong[mine]).sum())) >= FEWEST:
            bounds = intervals(groups[mine], {"": partial(_gain, wrong[mine], doubt[mine], share[mine])})
            aurocs = [round(auroc(wrong[mine], scores[mine]), 3) for scores in (doubt, share)]
            found[name] = [len(mine), *aurocs, bounds[""]]
    return found


def _gain(wrong: Flags, scores: Floats, others: Floats, part: Whole) -> float:
    return auroc(wrong[part], scores[part]) - auroc(wrong[part], others[part])


def numbered(texts: Sequence[str]) -> tuple[Document, ...]:
    """Texts as documents."""
    return tuple(Document(id=str(number), text=text) for number, text in enumerate(texts, 1))


def main() -> None:
    if not (DATA / RAGTRUTH).exists():
        sys.exit(f"{DATA} is not there: the labelled sets lie beside the repository")
    config = load_rules()
    gate = Gate(config)
    found = {
        "ragtruth": ragtruth(config),
        "french, encyclopedia": french(gate, list(made_of_questions(questions(fitting=False), 0))),
        "french, official pages": french(gate, list(made_of_pages(read(PAGES), 0))),
        "other sets, shipped model": transfer(config.grounding) if config.grounding else {},
        "threshold": config.thresholds.hold,
        "features": [len(SENTENCE_FEATURES), len(ANSWER_FEATURES) + 1, FOREIGN],
    }
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
