"""The list of attacks, and the protections that an audit can leave out."""

import re

import msgspec
import pytest

from areopage.cases.records import Case, Document
from areopage.criteria.fence import HARDENED, Hardening
from areopage.criteria.prompts import judge_prompt
from areopage.criteria.records import Criterion
from areopage.exams.attacks import KINDS, AttackBlanks, attack_text, load_attacks, placed, twin_text
from areopage.jury.judges import Judge
from areopage.jury.panel import Panel
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.models.reference import ModelReference
from areopage.scoring.records import Profile

CRITERION = Criterion(
    id="a.b.c__v1_0",
    category="a",
    subcategory="b",
    name="c",
    version="1.0",
    role="You judge.",
    task="Is it good?",
    scoring_guide="0 bad, 5 good",
    output_format='{"explanation": "why", "score": 0-5}',
)
JUDGE = Judge(name="one", reference=ModelReference("fake", "m"), pass_options=({},))
CASE = Case(id="1", prompt="Why?", response="Because <|im_start|>.", documents=(Document(id="d", text="A page."),))
WITHOUT = {
    name: msgspec.structs.replace(HARDENED, **{name: False}) for name in ("fence", "tokens", "reminder", "schema", "planted")
}


def test_the_list_has_at_least_sixty_attacks_of_every_kind_and_place() -> None:
    attacks = load_attacks()
    assert len({attack.id for attack in attacks}) == len(attacks) >= 60
    assert {attack.kind for attack in attacks} == set(KINDS)
    assert {attack.place for attack in attacks} == {"prompt", "response", "document", "title", "reference"}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_each_attack_and_its_twin_are_filled_in_in_both_languages(language: str) -> None:
    blanks = AttackBlanks(language=language, top=5, keys=("first_key", "second_key"))
    for attack in load_attacks():
        text, twin = attack_text(attack, blanks), twin_text(attack, blanks)
        assert text != twin
        assert set(attack.twin) == {"en", "fr"}
        left = re.findall(r"\{(?:order|top|first|second|stolen|padding|number|hidden|spaced|wide|base64|why)\}", text + twin)
        assert left == [], attack.id


def test_french_attacks_hold_french_orders_and_no_english_ones() -> None:
    texts = {
        language: [attack_text(one, AttackBlanks(language=language, top=5, keys=("a", "b"))) for one in load_attacks()]
        for language in ("en", "fr")
    }
    orders = {"en": "The score is 5", "fr": "La note est 5"}
    held = {(language, order): sum(orders[order] in text for text in texts[language]) for language in orders for order in orders}
    assert held["en", "en"] == held["fr", "fr"] >= 60
    assert held["en", "fr"] == held["fr", "en"] == 0
    assert not any(words in text for text in texts["fr"] for words in ("A model answer", "Answer with", "He said"))


@pytest.mark.parametrize("place", ["prompt", "response", "document", "title", "reference"])
def test_an_attack_stands_in_its_place_and_nowhere_else(place: str) -> None:
    for case in (CASE, Case(id="2", prompt="Why?", response="So.")):
        changed = msgspec.to_builtins(placed(case, place, "ATTACK"))  # type: ignore[arg-type]
        part = "documents" if place in ("document", "title") else place
        assert "ATTACK" in str(changed[part])
        assert [name for name, value in changed.items() if value != msgspec.to_builtins(case)[name]] == [part]


def test_a_prompt_lacks_only_the_protection_that_is_left_out() -> None:
    texts = {name: judge_prompt((CRITERION,), CASE, None, b"s", without).user for name, without in WITHOUT.items()}
    whole = judge_prompt((CRITERION,), CASE, None, b"s").user
    assert texts["schema"] == texts["planted"] == whole
    assert "<<<" not in texts["fence"]
    assert "RESPONSE:\nBecause <\u200b|im_start|>." in texts["fence"]
    assert texts["tokens"] == whole.replace("\u200b", "")
    assert whole.startswith(texts["reminder"])
    assert "do not follow it" in whole.removeprefix(texts["reminder"])


def test_judgments_without_a_protection_of_the_prompt_have_keys_of_their_own() -> None:
    def key(hardening: Hardening) -> str:
        (call,) = CallPlan(JUDGE, [JudgedCase(case=CASE, criteria=(CRITERION,))], {}, hardening=hardening)
        assert call.hardening == hardening
        return call.key

    keys = {name: key(without) for name, without in WITHOUT.items()}
    assert keys.pop("planted") == key(HARDENED)  # it is about reading alone
    assert len({*keys.values(), key(HARDENED)}) == len(keys) + 1


def test_a_panel_always_asks_with_all_protections() -> None:
    scale = CRITERION.scale
    panel = Panel(
        suite="s", suite_version="1", language="en", criteria=(CRITERION,), judges=(JUDGE,), scale=scale,
        profile=Profile.named("default"),
    )  # fmt: skip
    (call,) = panel.planned_calls([JudgedCase(case=CASE, criteria=(CRITERION,))])
    assert call.hardening == HARDENED == Hardening()
    assert all(msgspec.to_builtins(HARDENED).values())
    assert "hardening" not in Panel.__struct_fields__
