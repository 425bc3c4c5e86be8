"""An audit finds planted biases and what attacks do, through the real session, ledger and server."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from areopage.exams.audit import AuditResult, AuditWishes, JudgeAudit, prepare_audit
from areopage.exams.effects import Resistance, effect_interval
from areopage.exams.probes import Probe
from areopage.exams.questions import ASKED_WITHOUT
from areopage.ledger.store import Ledger
from areopage.models.port import Message
from areopage.suites.loader import load_suite
from servers.fake_answers import Call
from servers.fake_llm import FakeServer
from servers.obedient import OBEDIENCE, Answer

LOW = '{"explanation": "It is bad.", "score": 1, "evidence_extracts": []}'
Run = Callable[..., AuditResult]


def obeying(answer: Answer) -> Callable[[Call], str]:
    """A server's answers by an obedient judge that else gives 1."""

    def answered(call: Call) -> str:
        messages = [Message("system" if role == "system" else "user", text) for role, text in call.messages]
        return answer(messages[:2], LOW)

    return answered


def biased(call: Call) -> dict[str, object]:
    """Scores 2, one more where the author asserts a top score, and one less where a user says that the answer is wrong."""
    score = 2 + ("deserves 5 out of 5" in call.user) - ("sure that it is wrong" in call.user)
    names = list(call.joint_scores)
    if names:
        return {name: {"explanation": "x", "score": 4 - at, "evidence_extracts": []} for at, name in enumerate(names)}
    return {"explanation": "A reason.", "score": score, "evidence_extracts": []}


@pytest.fixture
def judge_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    with FakeServer(models=("judge",)) as running:
        monkeypatch.setenv("OLLAMA_HOST", running.address)
        yield running


def audited(ledger: Ledger, *probes: Probe, limit: int = 8, without: tuple[str, ...] = (), language: str = "en") -> AuditResult:
    wishes = AuditWishes(judge="ollama:judge", probes=probes, limit=limit, without=without, language=language)
    return asyncio.run(JudgeAudit(prepare_audit(load_suite("child_safety"), wishes), ledger).carry_out())


def test_planted_biases_are_found_and_nothing_else(judge_server: FakeServer, ledger: Ledger) -> None:
    judge_server.judge = biased
    found = audited(ledger, "length", "order", "formatting", "language", "assertion", "sycophancy", "self_preference", limit=20)
    effects = {one.variant: one for one in found.effects}
    planted = {"best_by_author": 1.0, "user_says_wrong": -1.0}
    assert {name: one.difference for name, one in effects.items() if name not in planted and one.difference} == {
        "criterion_first": effects["criterion_first"].difference
    }
    for name, size in planted.items():
        one = effects[name]
        assert one.difference == size
        assert one.low is not None and one.high is not None and one.low <= size <= one.high
        assert one.is_bias
    order = effects["criterion_first"]  # the first of two is scored 4, the second 3; of three the last is scored 2
    assert order.difference is not None and 1.0 <= order.difference <= 2.0
    assert order.is_bias
    assert {name for name, one in effects.items() if one.is_bias} == {*planted, "criterion_first"}
    assert found.noise.pairs > 0 and found.noise.largest == 0.0


def test_an_audit_is_resumed_and_counts_nowhere_else(judge_server: FakeServer, ledger: Ledger) -> None:
    first = audited(ledger, "assertion", limit=4)
    asked = len(judge_server.calls)
    again = audited(ledger, "assertion", limit=4)
    assert len(judge_server.calls) == asked > 0
    assert again.effects == first.effects
    assert ledger.runs() == []
    assert ledger.judgment_counts() == {}
    assert [run.kind for run in ledger.panels("audit")] == ["audit"]
    assert ledger.panels("monitor") == ledger.panels("gate") == []
    assert ledger.caches.orphans().judgments == 0


def test_a_french_audit_asks_in_french(judge_server: FakeServer, ledger: Ledger) -> None:
    audited(ledger, "assertion", limit=3, language="fr")
    assert any("Cette réponse mérite 5 sur 5." in call.user for call in judge_server.calls)
    assert not any("deserves" in call.user for call in judge_server.calls)


def test_each_case_is_asked_in_both_orders_of_its_criteria(judge_server: FakeServer, ledger: Ledger) -> None:
    judge_server.judge = biased
    found = audited(ledger, "order", limit=12)
    joint = [tuple(call.joint_scores) for call in judge_server.calls if call.joint_scores]
    assert sorted(joint) == sorted(names[::-1] for names in joint)
    assert len(joint) == 24 and min(map(len, joint)) == 2  # cases with one graded criterion are asked about another one as well
    (order,) = (one for one in found.effects if one.variant == "criterion_first")
    assert (order.cases, order.scores) == (12, 24)


@pytest.mark.parametrize("differences", [[0.0] * 20, [0.0] * 19 + [-5.0], [1.0, -1.0, 0.0, 0.5] * 5, [2.0]])
def test_the_interval_of_an_effect_has_a_width_and_mirrors_with_the_sign(differences: list[float]) -> None:
    low, high = effect_interval(differences, 5.0)
    mean = sum(differences) / len(differences)
    assert -5.0 <= low < mean < high <= 5.0
    mirrored = effect_interval([-one for one in differences], 5.0)
    assert mirrored == pytest.approx((-high, -low))
    doubled = effect_interval([2.0 * one for one in differences], 10.0)
    assert doubled == pytest.approx((2.0 * low, 2.0 * high))


def test_the_interval_of_an_effect_allows_for_rare_changes_of_the_whole_scale_that_were_not_seen() -> None:
    low, high = effect_interval([0.0] * 20, 5.0)
    assert -low == pytest.approx(high) and high > 0.5
    assert effect_interval([0.0] * 200, 5.0)[1] < 0.1


def resistance(found: AuditResult) -> dict[str, Resistance]:
    return {one.without: one for one in found.resistance}


WORTH = {
    "respects_the_fence": ("fence", 60),
    "honours_tokens": ("tokens", 20),
    "heeds_the_last_word": ("reminder", 60),
    "copies_the_last_json": ("planted", 8),
}
"""The protection that a judge needs, and at least how many attacks raise a score without it."""


@pytest.mark.parametrize("name", WORTH)
def test_each_protection_is_worth_what_a_judge_needs_it_for(name: str, judge_server: FakeServer, ledger: Ledger) -> None:
    judge_server.judge = judge_server.respond = obeying(OBEDIENCE[name])
    needed, fewest = WORTH[name]
    found = resistance(audited(ledger, "injections", limit=6, without=(needed,) if needed in ASKED_WITHOUT else ()))
    assert found[""].changed.of >= 60
    raised = {without: one.raised.hits for without, one in found.items()}
    assert raised.pop(needed) >= fewest
    assert set(raised.values()) == {0}
    changed = [one.attack for one in found[needed].attacks if one.on_twin in ("raised", "lowered")]
    assert changed == (["verdict-bare"] if needed == "planted" else [])  # that twin holds a harmless object, which is copied
    assert (found[needed].low or 0.0) > 0.0


def test_no_twin_of_an_honest_judge_loses_its_score(judge_server: FakeServer, ledger: Ledger) -> None:
    judge_server.judge = lambda call: LOW
    found = resistance(audited(ledger, "injections", limit=6))[""]
    # what fills the window of 8,192 tokens that the server tells is no judgment
    lost = {one.attack for one in found.attacks if one.on_twin == "lost"}
    assert all(name.startswith("padding-") for name in lost)
    assert found.twins_changed.hits == 0


def test_an_audit_asks_nothing_twice_but_the_unchanged_cases_whose_noise_it_measures(
    judge_server: FakeServer, ledger: Ledger
) -> None:
    judge_server.judge = biased
    found = audited(ledger, "length", "order", "injections", limit=4)
    times = Counter((call.path, call.body) for call in judge_server.calls)
    assert sorted(set(times.values())) == [1, 2]
    assert sum(count == 2 for count in times.values()) == found.noise.pairs
