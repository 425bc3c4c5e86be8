"""The content of the bundled suite child_safety: complete in both languages, and of one mind with itself."""

import re
from typing import Any

import msgspec
import pytest

from areopage.cases.loader import load_dataset
from areopage.cases.records import MATURITIES, Case
from areopage.criteria.applicability import applies
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import answer_schema
from areopage.criteria.records import Criterion
from areopage.scoring.exams.figures import examine
from areopage.scoring.exams.records import ExamItem
from areopage.suites.gold import read_gold
from areopage.suites.loader import Suite, load_suite
from servers.small_suite import folder_faults

ANCHOR = re.compile(r"^\s*(\d+)\s*[-–:]", re.MULTILINE)
EXAMPLE_SCORE = re.compile(r"^\s*SCORE\s*: (\d+)\s*$", re.MULTILINE)
NOT_APPLICABLE = {"en": "criterion does not apply", "fr": "critère ne s'applique pas"}
UNTOUCHED = {
    "en": re.compile(
        r"(?i)does not touch|at issue|no occasion|no such|nothing to praise|calls for no|holds no|without any claim"
    ),
    "fr": re.compile(r"(?i)ne touche|n'aborde|en jeu|occasion|rien à louer|n'appelle pas|aucune idée|n'affirme aucun"),
}
FIVE = {
    "en": re.compile(r"(?i)(gives?|scores?|score is) 5|^\s*5 - "),
    "fr": re.compile(r"(?i)(attribuez|reçoit|note est) 5|^\s*5 - "),
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("child_safety")


def criteria_in(suite: Suite, language: str) -> dict[str, Criterion]:
    ids = tuple(suite.registry.entries)
    found = load_criteria(suite.registry, ids, suite.criteria_folder, language, suite.own_language, suite.scale)
    assert (found.faults, found.untranslated) == ((), ())
    return {one.id: one for one in found.criteria}


def test_the_suite_has_no_fault_and_no_idle_key(suite: Suite) -> None:
    assert folder_faults("child_safety") == []
    assert suite.warnings == ()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_all_28_criteria_exist_with_anchors_from_0_to_5(suite: Suite, language: str) -> None:
    criteria = criteria_in(suite, language)
    assert len(criteria) == 28
    for one in criteria.values():
        assert one.language == language
        assert [int(found) for found in ANCHOR.findall(one.scoring_guide)] == [0, 1, 2, 3, 4, 5], one.id
        assert (one.scale.min, one.scale.max, one.scale.higher_is_better) == (0, 5, True)
        assert "{age_group}" in one.age_context, one.id
        assert one.label and one.description and one.examples
        # the words of the reader stay out of the constant part, which servers keep from case to case
        assert "{" not in (one.role + one.task + one.scoring_guide + one.examples), one.id
        assert next(iter(answer_schema((one,))["properties"])) == "explanation", one.id


def test_the_languages_agree_on_anchors_and_scores_of_the_examples(suite: Suite) -> None:
    english, french = criteria_in(suite, "en"), criteria_in(suite, "fr")
    for key, one in english.items():
        shown = EXAMPLE_SCORE.findall(one.examples)
        assert len(shown) >= 2 and set(shown) <= set("012345"), key
        assert len(EXAMPLE_SCORE.findall(french[key].examples)) == len(shown), key
        assert one.label != french[key].label or key.endswith("sycophancy__v1_0"), key


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_criterion_whose_rubric_speaks_of_a_matter_left_untouched_may_not_apply(suite: Suite, language: str) -> None:
    for key, one in criteria_in(suite, language).items():
        assert (NOT_APPLICABLE[language] in one.task) == one.may_not_apply, key
        for text in re.split(r"[.;]\s", f"{one.task}\n{one.scoring_guide}"):
            assert not (UNTOUCHED[language].search(text) and FIVE[language].search(text)), (key, text)


def test_presets_and_labels_are_complete(suite: Suite) -> None:
    full, conversations = (set(suite.registry.select(name)) for name in ("full_evaluation", "conversations"))
    assert full | conversations == set(suite.registry.entries)
    assert full == {id for id, entry in suite.registry.entries.items() if entry.scope == "response"} and len(full) == 25
    names = {key for one in suite.registry.entries.values() for key in (one.category, f"{one.category}.{one.subcategory}")}
    assert set(suite.registry.labels) == names
    for name in (*names, *suite.registry.entries):
        assert suite.registry.label(name, "en") and suite.registry.label(name, "fr")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_personas_cover_every_maturity(suite: Suite, language: str) -> None:
    assert set(suite.personas(language)) == set(MATURITIES)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_datasets_load_without_a_rejected_row_and_their_selections_exist(suite: Suite, language: str) -> None:
    dataset = load_dataset(suite.datasets(language), default_maturity="Child")
    assert (dataset.rejected, dataset.maturity_defaulted) == ((), 0)
    assert len(dataset.cases) >= 40
    assert {case.maturity for case in dataset.cases} == set(MATURITIES)
    for case in dataset.cases:
        if case.criteria_selection:
            suite.registry.select(case.criteria_selection)


def gold(suite: Suite) -> list[dict[str, Any]]:
    lines = (suite.folder / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]


def test_the_gold_set_names_known_criteria_with_bands_on_the_scale(suite: Suite) -> None:
    rows = gold(suite)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["language"] in suite.config.languages and row["maturity"] in MATURITIES
        assert all(text.strip() for text in said_in(row)) and row["bands"]
        for criterion, (low, high) in row["bands"].items():
            assert criterion in suite.registry.entries, row["id"]
            assert suite.scale.min <= low <= high <= suite.scale.max, row["id"]
            assert high - low < 4, row["id"]
        for criterion in row.get("not_applicable", ()):
            assert suite.registry.entries[criterion].may_not_apply, row["id"]


def test_the_gold_set_has_six_good_and_six_bad_answers_for_every_criterion_in_every_language(suite: Suite) -> None:
    rows = gold(suite)
    for language in suite.config.languages:
        for criterion in suite.registry.entries:
            bands = [row["bands"][criterion] for row in rows if row["language"] == language and criterion in row["bands"]]
            assert sum(high <= 2 for _, high in bands) >= 6, (language, criterion)
            assert sum(low >= 3.5 for low, _ in bands) >= 6, (language, criterion)


def test_a_judge_without_fault_can_be_qualified_on_every_criterion(suite: Suite) -> None:
    rows = read_gold(suite)
    for criterion in suite.registry.entries:
        items = [
            ExamItem(row=row.id, language=row.language, low=low, high=high, passes=(middle,) * 3, variants={"layout": middle})
            for row in rows
            for low, high in [row.bands.get(criterion, (None, None))]
            if low is not None and high is not None
            for middle in [(low + high) / 2]
        ]
        assert examine(criterion, items, suite.scale, suite.exam_marks()).state == "qualified", criterion


def test_criteria_on_conversations_have_gold_rows_that_are_conversations(suite: Suite) -> None:
    on_conversations = {id for id, entry in suite.registry.entries.items() if entry.scope != "response"}
    assert on_conversations == set(suite.registry.select("conversations"))
    for row in gold(suite):
        if on_conversations & row["bands"].keys():
            roles = [turn["role"] for turn in row["prompt"]]
            assert roles == (["user", "assistant"] * len(roles))[: len(roles)] and len(roles) % 2 == 1 and len(roles) >= 3, row[
                "id"
            ]


def test_no_two_gold_rows_say_the_same(suite: Suite) -> None:
    texts = [" ".join(said_in(row)).casefold() for row in gold(suite)]
    assert len(set(texts)) == len(texts)


def said_in(row: dict[str, Any]) -> list[str]:
    """The texts of a gold row: its prompt or turns, then its response."""
    prompt = row["prompt"]
    return [*([prompt] if isinstance(prompt, str) else [turn["content"] for turn in prompt]), row["response"]]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_rules_leave_every_critical_and_serious_criterion_to_the_judges_of_every_case(suite: Suite, language: str) -> None:
    entries = [suite.registry.entries[id] for id in suite.registry.select("full_evaluation")]
    assert all(entry.severity for entry in suite.registry.entries.values())
    for case in load_dataset(suite.datasets(language), default_maturity="Child").cases:
        left_out = [entry for entry in entries if not applies(entry.applies_to, case)]
        assert {entry.severity for entry in left_out} <= {"minor"}, case.id


def test_a_case_without_a_category_is_judged_on_every_criterion(suite: Suite) -> None:
    assert all(applies(entry.applies_to, Case(id="1", prompt="?")) for entry in suite.registry.entries.values())
