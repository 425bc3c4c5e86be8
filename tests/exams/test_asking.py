"""Asking judges outside of a run: what calls take, and what a suite's servers are sent."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from areopage.bench import paid_models
from areopage.cases.records import Case
from areopage.exams.asking import Asking, AskingWishes, agreed, asking_of
from areopage.jury.call_sizes import VERDICT_TOKENS, CallSize
from areopage.jury.planning import JudgedCase
from areopage.models.contacts import Contact
from areopage.suites.loader import load_suite
from servers.small_suite import write_config, write_suite

CRITERIA = ("safety.harm.danger__v1_0", "safety.harm.insults__v1_0")
PRICE = {"input_per_million": 1.0, "output_per_million": 2.0, "currency": "EUR"}


def judges(**fields: Any) -> dict[str, Any]:
    return {"judges": {"alpha": {"model": "fake-a", **fields}, "rules": {"model": "rules:answer_quality"}}}


def asking(folder: Path, language: str = "en", **config: Any) -> Asking:
    place = write_suite(folder / "suite")
    write_config(place, **config)
    return asking_of(load_suite(str(place)), [], CRITERIA, language, AskingWishes(concurrency=3, timeout=7.0))


def test_sizes_leave_out_what_the_ledger_has_and_what_code_judges(tmp_path: Path) -> None:
    one = asking(tmp_path, judge_system=judges(price=PRICE))
    cases = [
        JudgedCase(case=Case(id=str(number), prompt=f"Why {number}?", response="So."), criteria=one.panel.criteria)
        for number in range(3)
    ]
    calls = list(one.panel.planned_calls(cases))
    whole = CallSize.of(one.panel, [*calls, *calls])  # equal calls count once
    assert (whole.planned, whole.stored, whole.calls, whole.by_judge["alpha"]) == (len(calls), 0, len(calls), 6)
    left = CallSize.of(one.panel, calls, [call.key for call in calls if call.judge.name == "alpha"][:4])
    assert (left.stored, left.by_judge["alpha"], left.completion_tokens) == (4, 2, 2 * VERDICT_TOKENS)
    assert whole.costs["EUR"] == pytest.approx((whole.prompt_tokens + 2 * whole.completion_tokens) / 1e6, rel=1e-3)
    both = CallSize.of_all([whole, left])
    assert (both.calls, both.costs["EUR"]) == (whole.calls + left.calls, whole.costs["EUR"] + left.costs["EUR"])


def test_a_judge_with_a_price_costs_money_and_code_does_not(tmp_path: Path) -> None:
    assert paid_models(asking(tmp_path, judge_system=judges(price=PRICE)), {}) == ("alpha",)


def test_the_user_is_asked_once_for_all_parts_and_a_refusal_allows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_KEY", "secret")
    endpoints = {"theirs": {"base_url": "https://judge.example/v1", "api_key_env": "THEIR_KEY"}}
    system = {"judges": {"far": {"model": "openai@theirs:any"}}}
    parts = [asking(tmp_path, language, judge_system=system, endpoints=endpoints) for language in ("en", "fr")]
    asked: list[Sequence[Contact]] = []

    def answer(contacts: Sequence[Contact]) -> bool:
        asked.append(contacts)
        return len(asked) == 2

    assert [one.settings.allowed_variables for one in agreed(parts, answer)] == [frozenset()] * 2
    assert [one.settings.allowed_variables for one in agreed(parts, answer)] == [{"THEIR_KEY"}] * 2
    assert [[(one.address, one.variables) for one in contacts] for contacts in asked] == [
        [("https://judge.example/v1", ("THEIR_KEY",))]
    ] * 2
    assert (parts[0].concurrency, parts[0].settings.timeouts.total) == (3, 7.0)
