"""From suite and wishes to a run's specification, its fingerprint, its size and the keys of its calls."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from areopage.bench.keys import answer_calls, answered_cases
from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import PreparedRun, prepare_run
from areopage.bench.planning.run_plan import plan_run
from areopage.bench.spec import RunSpec, encode_spec, fingerprint_of
from areopage.cases.records import Case
from areopage.errors import ConfigError, DatasetError, ModelError, StorageError, UserError
from areopage.jury.planning import CallPlan
from areopage.jury.rescoring import Rescoring
from areopage.ledger.tables.records import Answer, Run
from areopage.suites.loader import load_suite
from servers.small_suite import CRITERIA, QUESTIONS, write_cases, write_config


def prepared(suite: Path, **wishes: object) -> PreparedRun:
    """A run of the suite with some wishes."""
    return prepare_run(load_suite(str(suite)), RunOptions(**wishes))  # type: ignore[arg-type]


def run_of(spec: str) -> Run:
    """A stored run with this specification."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return Run(id="x", suite="small", fingerprint="f", folder="", created_at=now, finished_at=None, spec=spec)


def test_a_specification_survives_the_ledger_without_the_environment(suite: Path) -> None:
    spec = prepared(suite).spec
    secret = msgspec.structs.replace(spec.settings, environment={"OPENAI_API_KEY": "secret"})
    text = encode_spec(msgspec.structs.replace(spec, settings=secret))
    assert "secret" not in text
    assert encode_spec(RunSpec.of(run_of(text))) == text


def test_a_specification_of_another_version_is_named(suite: Path) -> None:
    data = json.loads(encode_spec(prepared(suite).spec))
    del data["judges"]
    with pytest.raises(StorageError, match="run x: it was written by another version of areopage"):
        RunSpec.of(run_of(json.dumps(data)))


def test_the_fingerprint_is_of_what_determines_the_results_and_of_nothing_else(suite: Path) -> None:
    def fingerprint(**wishes: object) -> str:
        run = prepared(suite, **wishes)
        return fingerprint_of(run.spec, run.cases)

    same = [fingerprint(), fingerprint(concurrency=17), fingerprint(limit=-1), fingerprint(criteria="everything", passes=2)]
    assert len(set(same)) == 1
    wishes: list[dict[str, object]] = [
        {"mode": "defensive"},
        {"language": "fr"},
        {"profile": "v1_1"},
        {"passes": 3},
        {"limit": 2},
        {"judges": ("alpha",)},
        {"target": "ollama:other"},
        {"criteria": "safety"},
        {"salt": "x"},
    ]
    others = [fingerprint(**wish) for wish in wishes]
    assert len({*same, *others}) == 1 + len(wishes)
    write_config(suite, execution={"concurrency": 2, "call_timeout": 5}, ollama={"default": {"host": "moved", "port": 1}})
    assert fingerprint() == same[0]


def test_the_size_of_a_run_is_known_before_it_is_paid_for(suite: Path) -> None:
    run = prepared(suite)
    plan = plan_run(run.spec, run.cases)
    size = plan.size
    assert (size.cases, size.criteria, size.answer_calls, size.judge_calls) == (5, 4, 5, {"alpha": 40, "beta": 40})
    assert (size.calls, size.loads) == (85, 3)
    assert plan.prompt_tokens > 80 * 100
    assert plan.answer_tokens == 5 * 200 + 80 * 120


def test_the_cost_of_a_run_is_estimated_where_prices_are_known(suite: Path) -> None:
    def price(model: str, output: float, currency: str) -> dict[str, object]:
        return {"model": model, "price": {"input_per_million": 0, "output_per_million": output, "currency": currency}}

    write_config(
        suite,
        judge_system={"judges": {"alpha": price("fake-a", 10, "EUR"), "beta": {"model": "fake-b"}}},
        models=[price("fake-target", 1_000, "USD")],
    )
    run = prepared(suite, passes=2)
    assert plan_run(run.spec, run.cases).costs == pytest.approx({"USD": 5 * 200 * 1e-3, "EUR": 40 * 120 * 1e-5})


def test_judges_that_ask_no_model_spend_no_tokens(suite: Path) -> None:
    write_config(suite, judge_system={"judges": {"alpha": {"model": "x.jsonl", "provider": "replay"}}})
    rows = [{"prompt": "a?", "response": "b"}]
    run = prepared(suite, datasets=(write_cases(suite / "r.csv", rows),))
    plan = plan_run(run.spec, run.cases)
    assert (plan.prompt_tokens, plan.answer_tokens, plan.size.loads, plan.size.answer_calls) == (0, 0, 0, 0)


def test_without_a_response_or_a_target_there_is_nothing_to_judge(suite: Path) -> None:
    write_config(suite, models=[])
    with pytest.raises(ModelError, match="some cases have no response and no target is named: give --target"):
        prepared(suite)


def test_a_mode_that_is_not_enabled_is_refused(suite: Path) -> None:
    write_config(suite, test_modes={"attack": {"enabled": False}})
    with pytest.raises(ConfigError, match=r"test_modes.attack.enabled: the mode attack is not enabled"):
        prepared(suite)
    assert prepared(suite, mode="defensive").spec.mode == "defensive"


def test_the_configured_limit_is_remarked_and_the_users_is_not(suite: Path) -> None:
    write_config(suite, execution={"test_prompts_limit": 2})
    run = prepared(suite)
    assert len(run.cases) == 2
    assert "only the first 2 usable cases are taken (execution.test_prompts_limit; --limit -1 takes all)" in map(
        str, run.spec.remarks
    )
    assert len(prepared(suite, limit=-1).cases) == len(QUESTIONS)
    assert not [remark for remark in prepared(suite, limit=3).spec.remarks if "only the first" in str(remark)]


def test_a_language_without_a_dataset_asks_for_one(suite: Path) -> None:
    write_config(suite, paths={"datasets": {"en": ["cases.csv"]}})
    with pytest.raises(DatasetError, match="has no dataset of its own in 'fr': give --dataset FILE"):
        prepared(suite, language="fr")


def test_missing_maturities_are_counted(suite: Path) -> None:
    rows = [{"prompt": "a?", "age": "10"}, {"prompt": "b?", "age": ""}]
    run = prepared(suite, datasets=(write_cases(suite / "r.csv", rows),))
    assert [item.case.maturity for item in run.cases] == ["Teen", "Child"]
    assert "1 of 2 cases names no maturity: it is judged as Child" in map(str, run.spec.remarks)


def test_the_key_of_a_judgment_is_that_of_what_is_judged_and_not_of_the_cases_name(suite: Path) -> None:
    def keys(rows: list[dict[str, str]]) -> set[str]:
        run = prepared(suite, datasets=(write_cases(suite / "r.csv", rows),))
        judged = answered_cases(run.spec, run.cases, {})
        return {call.key for judge in run.spec.judges for call in CallPlan(judge, judged, run.spec.personas)}

    one = keys([{"id": "1", "prompt": "a?", "response": "b", "age": "10"}])
    assert len(one) == 4 * 2 * 2
    assert keys([{"id": "another", "prompt": "a?", "response": "b", "age": "10"}]) == one
    for other in ({"prompt": "a!"}, {"response": "c"}, {"age": "7"}):
        assert not keys([{"id": "1", "prompt": "a?", "response": "b", "age": "10", **other}]) & one


def test_the_key_of_an_answer_is_that_of_the_messages_and_the_model(suite: Path) -> None:
    def keys(**wishes: object) -> list[str]:
        run = prepared(suite, **wishes)
        return [call.key for call in answer_calls(run.spec, run.cases)]

    assert keys() == keys(passes=1, judges=("beta",))
    assert keys() == keys(salt="s")
    for wish in ({"mode": "defensive"}, {"target": "ollama:x"}):
        assert not set(keys(**wish)) & set(keys())


def test_a_case_whose_target_has_not_answered_is_not_judged(suite: Path) -> None:
    run = prepared(suite)
    calls = answer_calls(run.spec, run.cases)
    answers = {call.case.id: answer_to(call.key, state) for call, state in zip(calls, ("answered", "timed_out"), strict=False)}
    judged = answered_cases(run.spec, run.cases, answers)
    assert [(item.case.id, item.case.response) for item in judged] == [("c0", "Yes.")]
    assert [criterion.id for criterion in judged[0].criteria] == list(CRITERIA)


def answer_to(key: str, state: str) -> Answer:
    """An answer of the target."""
    now = datetime.now(UTC)
    return Answer(
        id=key,
        origin="bench",
        case=Case(id="c", prompt="?", response="Yes." if state == "answered" else None),
        key=key,
        run_id="r",
        state=state,  # type: ignore[arg-type]
        finish_reason="stop",
        seconds=0.1,
        received_at=now,
        answered_at=now,
    )


def test_a_variant_names_its_changes_and_leaves_a_judge(suite: Path) -> None:
    spec = prepared(suite).spec
    change = Rescoring(without_judges=("beta",), reparse=True)
    assert change.describe() == "without beta; raw texts parsed again"
    assert [judge.name for judge in change.applied_to(spec, spec.quorum).judges] == ["alpha"]
    assert Rescoring().describe() == ""
    assert Rescoring().applied_to(spec, spec.quorum) == spec
    with pytest.raises(UserError, match="the run has no judge 'x': it has alpha, beta"):
        Rescoring(without_judges=("x",)).applied_to(spec, spec.quorum)
    with pytest.raises(UserError, match="no judge would be left"):
        Rescoring(without_judges=("alpha", "beta")).applied_to(spec, spec.quorum)
