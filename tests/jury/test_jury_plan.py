"""The plan: what a key depends on, what it does not, and in which order a judge is asked."""

import subprocess
import sys
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.personas import JudgeConfig, Persona
from areopage.cases.records import Case, Document, Turn
from areopage.criteria.records import Criterion, Scale
from areopage.digest import digest_of
from areopage.jury.judges import Judge, PlannedCall
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.models.prices import Price
from areopage.models.reference import ModelReference

CRITERION = Criterion(
    id="a.b.c__v1_0",
    category="a",
    subcategory="b",
    name="c",
    version="1.0",
    label="See",
    role="You judge.",
    task="Is it good?",
    age_context="The reader is {age_group}.",
    scoring_guide="0 bad, 5 good",
    output_format="score",
    scale=Scale(0.0, 5.0),
)
JUDGE = Judge(
    name="one", reference=ModelReference("fake", "m"), pass_options=({"temperature": 0.1}, {"temperature": 0.1}), digest="d"
)
CASE = Case(
    id="1", prompt="Why?", response="Because.", documents=(Document(id="d", text="t", title="T"),), reference="R", maturity="Teen"
)
PERSONA = Persona(
    name="Teen",
    maturity_band="9-12",
    reading_level="A2",
    tone=(),
    content_allow=(),
    content_block=(),
    guidance=(),
    policy_notes=(),
    judge_config=JudgeConfig(
        age_group_code="9-12",
        target_sentence_length=10,
        target_complex_ratio=0.1,
        is_minor=True,
        safety_threshold="strict",
        auto_block_risks=(),
        educational_exceptions=(),
    ),
)
PRICE = Price(input_per_million=2.0, output_per_million=10.0, currency="EUR")
# a change of one means that all that was paid for is paid for again
FIRST_KEY = "e3c397961b987a912cc348760f64f6d2c14caf809db31c9a2985613aff05b03e"
SECOND_KEY = "10f09e5011e517d0109fb7962d12d4434b1582ce74442d2ec4866841dbc9acf1"


def planned(
    case: Case = CASE, criterion: Criterion = CRITERION, judge: Judge = JUDGE, persona: Persona | None = PERSONA, salt: str = ""
) -> list[PlannedCall]:
    personas = {"Teen": persona, "Child": persona} if persona else {}
    return list(CallPlan(judge, [JudgedCase(case=case, criteria=(criterion,))], personas, salt))


def keys(**changes: Any) -> list[str]:
    return [call.key for call in planned(**changes)]


def changed(record: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(record, **fields)


def test_keys_are_the_same_today_and_in_any_process() -> None:
    assert keys() == [FIRST_KEY, SECOND_KEY]
    code = f"import importlib.util as u; s = u.spec_from_file_location('p', {__file__!r}); m = u.module_from_spec(s)\n"
    code += "s.loader.exec_module(m); print(*m.keys())"
    for seed in ("0", "1"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        assert ended.stdout.split() == [FIRST_KEY, SECOND_KEY]


CHANGES: dict[str, dict[str, Any]] = {
    "prompt": {"case": changed(CASE, prompt="Why not?")},
    "turns": {"case": changed(CASE, prompt=(Turn(role="user", content="Why?"), Turn(role="assistant", content="?")))},
    "response": {"case": changed(CASE, response="Because!")},
    "no response": {"case": changed(CASE, response=None)},
    "empty response": {"case": changed(CASE, response="")},
    "document text": {"case": changed(CASE, documents=(Document(id="d", text="u", title="T"),))},
    "document title": {"case": changed(CASE, documents=(Document(id="d", text="t", title="U"),))},
    "title and text moved": {"case": changed(CASE, documents=(Document(id="d", text="", title="Tt"),))},
    "documents": {"case": changed(CASE, documents=CASE.documents * 2)},
    "no documents": {"case": changed(CASE, documents=())},
    "reference": {"case": changed(CASE, reference="S")},
    "no reference": {"case": changed(CASE, reference=None)},
    "maturity": {"case": changed(CASE, maturity="Child")},
    "no persona": {"persona": None},
    "persona age": {"persona": changed(PERSONA, judge_config=changed(PERSONA.judge_config, age_group_code="8-12"))},
    "persona reading": {"persona": changed(PERSONA, reading_level="B1")},
    "persona tone": {"persona": changed(PERSONA, tone=("warm",))},
    "persona band": {"persona": changed(PERSONA, maturity_band="9-13")},
    "persona of age": {
        "persona": changed(PERSONA, judge_config=changed(PERSONA.judge_config, is_minor=not PERSONA.judge_config.is_minor))
    },
    "persona safety": {"persona": changed(PERSONA, judge_config=changed(PERSONA.judge_config, safety_threshold="lax"))},
    "persona risks": {"persona": changed(PERSONA, judge_config=changed(PERSONA.judge_config, auto_block_risks=("risk",)))},
    "persona exceptions": {
        "persona": changed(PERSONA, judge_config=changed(PERSONA.judge_config, educational_exceptions=("art",)))
    },
    "version": {"criterion": changed(CRITERION, id="a.b.c__v1_1", version="1.1")},
    "language": {"criterion": changed(CRITERION, language="fr")},
    "role": {"criterion": changed(CRITERION, role="You judge")},
    "task": {"criterion": changed(CRITERION, task="x")},
    "may not apply": {"criterion": changed(CRITERION, may_not_apply=True)},
    "age_context": {"criterion": changed(CRITERION, age_context="x")},
    "scoring_guide": {"criterion": changed(CRITERION, scoring_guide="x")},
    "examples": {"criterion": changed(CRITERION, examples="x")},
    "output_format": {"criterion": changed(CRITERION, output_format="x")},
    "scale": {"criterion": changed(CRITERION, scale=Scale(0.0, 10.0))},
    "polarity": {"criterion": changed(CRITERION, scale=Scale(0.0, 5.0, False))},
    "judge name": {"judge": changed(JUDGE, name="two")},
    "provider": {"judge": changed(JUDGE, reference=ModelReference("other", "m"))},
    "model": {"judge": changed(JUDGE, reference=ModelReference("fake", "n"))},
    "endpoint": {"judge": changed(JUDGE, reference=ModelReference("fake", "m", "lab"))},
    "digest": {"judge": changed(JUDGE, digest="e")},
    "options": {"judge": changed(JUDGE, pass_options=({"temperature": 0.2}, {"temperature": 0.1, "seed": 1}))},
    "salt": {"salt": "anew"},
}


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_key_changes_with(change: str) -> None:
    assert set(keys(**CHANGES[change])).isdisjoint(keys())


def test_no_two_of_these_changes_share_a_key() -> None:
    found = [key for change in CHANGES.values() for key in keys(**change)] + keys()
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "changes",
    [
        {"case": changed(CASE, id="2", category="x", subcategory="y", source="z", criteria_selection="all", metadata={"a": 1})},
        {"case": changed(CASE, documents=(Document(id="e", text="t", title="T", score=0.5, source="s", metadata={"b": 2}),))},
        {"criterion": changed(CRITERION, label="Other", description="New")},
        {"judge": changed(JUDGE, criteria=("a",), unfit="too small", price=PRICE)},
        {"persona": changed(PERSONA, guidance=("x",), content_block=("y",), policy_notes=("z",))},
        {"judge": changed(JUDGE, pass_options=({"temperature": 0.1},) * 3)},
    ],
)
def test_a_key_does_not_change_with_what_the_judge_is_not_shown(changes: dict[str, Any]) -> None:
    assert keys(**changes)[:2] == keys()


def test_options_count_whatever_the_order_they_are_written_in() -> None:
    one = changed(JUDGE, pass_options=({"a": 1, "b": {"c": 2, "d": 3}},))
    other = changed(JUDGE, pass_options=({"b": {"d": 3, "c": 2}, "a": 1},))
    assert keys(judge=one) == keys(judge=other)


def test_passes_with_the_same_options_have_keys_of_their_own() -> None:
    first, second = planned()
    assert first.options == second.options
    assert first.key != second.key


def test_two_cases_of_one_content_share_their_keys() -> None:
    cases = [JudgedCase(case=changed(CASE, id=name), criteria=(CRITERION,)) for name in "xy"]
    found = list(CallPlan(JUDGE, cases, {}))
    assert [call.case.id for call in found] == ["x", "x", "y", "y"]
    assert [call.key for call in found[:2]] == [call.key for call in found[2:]]


@given(
    contents=st.lists(st.sampled_from("pqrs"), min_size=1, max_size=12),
    lacking=st.sets(st.integers(0, 11)),
    counts=st.lists(st.integers(0, 2), min_size=12, max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=4),
)
def test_every_key_is_planned_once_however_a_plan_is_cut(
    contents: list[str], lacking: set[int], counts: list[int], cuts: list[int]
) -> None:
    other = changed(CRITERION, id="a.b.d__v1_0", name="d")
    cases = [
        JudgedCase(case=changed(CASE, id=str(n), prompt=text), criteria=(CRITERION,) if n in lacking else (CRITERION, other))
        for n, text in enumerate(contents)
    ]
    whole = CallPlan(JUDGE, cases, {}, passes_of=lambda case, *_: range(1, counts[int(case)] + 1))
    sharing: dict[str, list[str]] = {}
    for call in whole:
        sharing.setdefault(call.key, []).append(call.case.id)
    bounds = sorted({0, len(cases), *(min(cut, len(cases)) for cut in cuts)})
    parts = [one for group in whole.groups for start, stop in pairwise(bounds) for one in whole.shared(group, start, stop)]
    assert {one.call.key: list(one.cases) for one in parts} == sharing
    assert len(parts) == len(sharing)
    assert all(one.call.case.id == one.cases[0] for one in parts)


def test_a_judge_goes_through_all_cases_of_one_criterion_before_the_next() -> None:
    other = changed(CRITERION, id="a.b.d__v1_0", name="d")
    cases = [JudgedCase(case=changed(CASE, id=str(n), prompt=f"{n}"), criteria=(CRITERION, other)) for n in range(3)]
    found = [(call.criteria[0].name, call.case.id, call.pass_index) for call in CallPlan(JUDGE, cases, {})]
    assert found == [(name, str(n), number) for name in "cd" for n in range(3) for number in (1, 2)]


def test_cases_with_the_same_reader_follow_each_other_within_a_criterion() -> None:
    readers = {"0": "Teen", "1": "Child", "2": "Teen", "3": ""}
    cases = [JudgedCase(case=changed(CASE, id=name, maturity=reader), criteria=(CRITERION,)) for name, reader in readers.items()]
    assert [call.case.id for call in CallPlan(JUDGE, cases, {}) if call.pass_index == 1] == ["3", "1", "0", "2"]


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ((), True),
        (("a",), True),
        (("a.b",), True),
        (("a.b.c",), True),
        (("a.b.c__v1_0",), True),
        (("a.b.c__v1_1",), False),
        (("b",), False),
        (("x", "a.b"), True),
        (("a.b.",), False),
    ],
)
def test_a_judge_is_planned_for_its_own_criteria_only(limits: tuple[str, ...], allowed: bool) -> None:
    assert bool(planned(judge=changed(JUDGE, criteria=limits))) is allowed


WORD = st.text(alphabet=st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=6,
)


@given(JSON)
def test_a_digest_survives_storing_and_reading(value: Any) -> None:
    assert digest_of(value) == digest_of(msgspec.json.decode(msgspec.json.encode(value)))
    assert len(digest_of(value)) == 64


def test_a_price_is_per_million_tokens() -> None:
    assert PRICE.of(500_000, 100_000) == pytest.approx(2.0)
    assert PRICE.of(None, None) == 0
