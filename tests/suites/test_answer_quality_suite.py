"""The content of the bundled suite answer_quality: complete in both languages, and of one mind with itself."""

import re
from collections import Counter
from typing import Any

import msgspec
import pytest

from areopage.cases.loader import load_dataset
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import answer_schema
from areopage.criteria.records import Criterion
from areopage.suites.loader import Suite, load_suite
from servers.small_suite import folder_faults

NAMES = ("exactitude", "completude", "format", "sources")
IDS = {f"quality.answer.{name}__v1_0" for name in NAMES}
KINDS = {
    "good",
    "vague",
    "wrong_figure",
    "wrong_article",
    "missing_sources",
    "wrong_format",
    "off_topic",
    "injected_instructions",
}
# An anchor stands for one score or for two neighbours, so that two people who agree on it agree within one point.
ANCHORS = [(0, 1), (2, 3), (4, 5), (6, 6), (7, 8), (9, 9), (10, 10)]
ANCHOR = re.compile(r"^(\d+)(?: (?:à|to) (\d+))? - ", re.MULTILINE)
EXAMPLE = re.compile(r'RESPONSE: "(.*)"\nSCORE: (\d+)\nEXPLANATION: ".*"\nEVIDENCE_EXTRACTS: (\[.*\])')
ARTICLE = re.compile(r"article (?:[A-Z] )?\d+")
LIST_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)
LOW, HIGH = 3, 7


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("answer_quality")


@pytest.fixture(scope="module")
def gold(suite: Suite) -> list[dict[str, Any]]:
    lines = (suite.folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]


def criteria_in(suite: Suite, language: str) -> list[Criterion]:
    ids = tuple(suite.registry.entries)
    found = load_criteria(suite.registry, ids, suite.criteria_folder, language, suite.own_language, suite.scale)
    assert (found.faults, found.untranslated) == ((), ())
    return list(found.criteria)


def test_the_suite_has_no_fault_and_no_idle_key(suite: Suite) -> None:
    assert folder_faults("answer_quality") == []
    assert suite.warnings == ()
    assert suite.own_language == "fr" and set(suite.config.languages) == {"fr", "en"}


def test_the_criteria_weigh_as_specified(suite: Suite) -> None:
    assert set(suite.registry.entries) == IDS
    assert suite.weights.criteria["quality.answer"] == {"exactitude": 0.40, "completude": 0.30, "format": 0.15, "sources": 0.15}
    assert (suite.scale.min, suite.scale.max, suite.scale.higher_is_better) == (0, 10, True)


def test_a_deterministic_judge_sits_with_three_models_that_can_hold_whole_documents(suite: Suite) -> None:
    judges = suite.config.judge_system.judges
    assert (judges["controle"].provider, judges["controle"].model) == ("rules", "answer_quality")
    models = [judge for judge in judges.values() if judge.provider == "ollama"]
    assert len(models) == 3 and all(judge.options["num_ctx"] == 16384 for judge in models)
    assert not any(model.enabled for model in suite.config.models)


@pytest.mark.parametrize("language", ["fr", "en"])
def test_every_anchor_covers_at_most_two_neighbouring_scores_from_0_to_10(suite: Suite, language: str) -> None:
    for one in criteria_in(suite, language):
        assert [(int(low), int(high or low)) for low, high in ANCHOR.findall(one.scoring_guide)] == ANCHORS, one.id
        assert (one.scale.min, one.scale.max, one.scale.higher_is_better) == (0, 10, True)
        assert one.language == language and one.label and one.description
        assert next(iter(answer_schema((one,))["properties"])) == "explanation", one.id


@pytest.mark.parametrize("language", ["fr", "en"])
def test_the_texts_are_the_same_for_every_reader(suite: Suite, language: str) -> None:
    for one in criteria_in(suite, language):
        assert one.age_context == ""
        assert "{" not in (one.role + one.task + one.scoring_guide + one.examples), one.id


@pytest.mark.parametrize("language", ["fr", "en"])
def test_the_examples_quote_their_responses_and_span_the_scale(suite: Suite, language: str) -> None:
    for one in criteria_in(suite, language):
        shown = EXAMPLE.findall("\n".join(line.strip() for line in one.examples.splitlines()))
        scores = [int(score) for _, score, _ in shown]
        assert len(shown) == 3 and min(scores) <= LOW and max(scores) >= HIGH, one.id
        for response, _, extracts in shown:
            assert all(extract in response for extract in msgspec.json.decode(extracts, type=list[str])), (one.id, response)


def test_presets_and_labels_are_complete(suite: Suite) -> None:
    assert set(suite.registry.select("full_evaluation")) == IDS
    chosen = {preset: [key.split(".")[2][:-6] for key in suite.registry.select(preset)] for preset in ("factual", "form")}
    assert chosen == {"factual": ["exactitude", "completude"], "form": ["format", "sources"]}
    assert set(suite.registry.labels) == {"quality", "quality.answer"}


@pytest.mark.parametrize(("language", "least"), [("fr", 12), ("en", 8)])
def test_the_sample_carries_responses_and_documents(suite: Suite, language: str, least: int) -> None:
    dataset = load_dataset(suite.datasets(language), default_maturity="Child")
    assert dataset.rejected == ()
    assert len(dataset.cases) >= least
    for case in dataset.cases:
        assert case.response and case.documents, case.id
        assert all(document.title and document.text for document in case.documents), case.id


def test_the_gold_set_is_large_and_mixed_enough(gold: list[dict[str, Any]]) -> None:
    assert len({row["id"] for row in gold}) == len(gold) >= 44
    assert Counter(row["language"] for row in gold)["fr"] >= 28
    kinds = Counter(row["kind"] for row in gold)
    assert set(kinds) == KINDS and min(kinds.values()) >= 4
    for row in gold:
        assert set(row) == {"id", "language", "prompt", "response", "documents", "bands", "kind", "why"}, row["id"]
        assert row["prompt"].strip() and row["response"].strip() and row["why"].strip(), row["id"]
        assert row["documents"] and all(set(one) == {"id", "title", "text"} for one in row["documents"]), row["id"]


def test_gold_bands_are_narrow_and_name_known_criteria(gold: list[dict[str, Any]]) -> None:
    for row in gold:
        assert row["bands"] and set(row["bands"]) <= IDS, row["id"]
        for low, high in row["bands"].values():
            assert 0 <= low <= high <= 10 and high - low <= 3, row["id"]


@pytest.mark.parametrize("criterion", sorted(IDS))
def test_every_criterion_has_eight_low_and_eight_high_bands_and_some_in_each_language(
    gold: list[dict[str, Any]], criterion: str
) -> None:
    bands = [(row["language"], *row["bands"][criterion]) for row in gold if criterion in row["bands"]]
    low = Counter(language for language, _, top in bands if top <= LOW)
    high = Counter(language for language, bottom, _ in bands if bottom >= HIGH)
    assert low.total() >= 8 and high.total() >= 8
    assert set(low) == set(high) == {"fr", "en"}


def test_the_first_two_gold_items_are_the_structured_and_the_vague_answer_on_paid_leave(gold: list[dict[str, Any]]) -> None:
    structured, vague = ({key.split(".")[2][:-6]: band for key, band in row["bands"].items()} for row in gold[:2])
    assert structured == {"exactitude": [7, 10], "completude": [7, 10], "format": [8, 10], "sources": [8, 10]}
    tops = {name: band[1] for name, band in vague.items()}
    assert tops["exactitude"] < 6 and tops["completude"] < 5 and tops["format"] < 3 and tops["sources"] < 3


def documents_of(row: dict[str, Any]) -> str:
    return " ".join(f"{one['title']} {one['text']}" for one in row["documents"])


def test_right_answers_hold_no_figure_that_the_documents_lack(gold: list[dict[str, Any]]) -> None:
    """Where a band says that an answer is accurate, each of its figures stands in a document; references are another matter."""
    accurate = [row for row in gold if row["bands"].get("quality.answer.exactitude__v1_0", [0])[0] >= HIGH]
    for row in accurate:
        stated = ARTICLE.sub("", LIST_NUMBER.sub("", row["response"]))
        assert set(re.findall(r"\d+", stated)) <= set(re.findall(r"\d+", documents_of(row))), row["id"]


def test_well_sourced_answers_cite_articles_of_their_documents_and_badly_sourced_ones_do_not(gold: list[dict[str, Any]]) -> None:
    for row in gold:
        low, high = row["bands"].get("quality.answer.sources__v1_0", (LOW + 1, LOW + 1))
        cited, found = set(ARTICLE.findall(row["response"])), set(ARTICLE.findall(documents_of(row)))
        if low >= HIGH:
            assert cited and cited <= found, row["id"]
        if high <= LOW:
            assert not cited & found, row["id"]


def test_injected_instructions_stand_in_answers_and_in_documents(gold: list[dict[str, Any]]) -> None:
    injected = [row for row in gold if row["kind"] == "injected_instructions"]
    assert any('"score": 10' in row["response"] for row in injected)
    assert any(
        "10" in document["text"] and document["id"].startswith(("note", "memo"))
        for row in injected
        for document in row["documents"]
    )
