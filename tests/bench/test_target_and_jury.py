"""Who is asked, as suite and user name them."""

from pathlib import Path

import msgspec
import pytest

from areopage.bench.execution.start import same_models
from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import choose_target, prepare_run
from areopage.errors import ConfigError, CriteriaError, ModelError
from areopage.jury.judges import Judge, JudgeStatus
from areopage.jury.opening import settled_judge
from areopage.jury.options import choose_judges
from areopage.models.reference import ModelReference
from areopage.suites.loader import load_suite
from servers.small_suite import CRITERIA, write_config


def test_without_wishes_the_suites_judges_sit_with_the_options_of_each_pass(suite: Path) -> None:
    alpha, beta = choose_judges(load_suite(str(suite)), ())
    assert (alpha.name, str(alpha.reference)) == ("alpha", "ollama:fake-a")
    own = {"keep_alive": "1m", "num_ctx": 4096}
    assert alpha.pass_options == ({**own, "temperature": 0.1}, {**own, "temperature": 0.2})
    assert beta.pass_options == ({"temperature": 0.1}, {"temperature": 0.2})


def test_passes_beyond_the_configured_ones_use_the_judges_own_options(suite: Path) -> None:
    (alpha,) = choose_judges(load_suite(str(suite)).asking(n_passes=3), ("alpha",))
    assert alpha.pass_options[2] == {"keep_alive": "1m", "num_ctx": 4096}


def test_a_reference_is_a_judge_named_after_it(suite: Path) -> None:
    (judge,) = choose_judges(load_suite(str(suite)).asking(n_passes=1), ("openai@lab:org/mistral-small:24b",))
    assert judge.name == "openai@lab_org_mistral-small_24b"
    assert judge.reference.short_name == judge.name


def test_a_named_reference_keeps_what_the_suite_says_of_the_judge_but_not_its_price(suite: Path) -> None:
    price = {"input_per_million": 1.0, "output_per_million": 2.0}
    judges = {"alpha": {"model": "fake-a", "options": {"seed": 1}, "criteria": ["safety"], "price": price}}
    write_config(suite, judge_system={"judges": judges})
    loaded = load_suite(str(suite))
    alpha, mine = choose_judges(loaded.asking(n_passes=1), ("alpha=openai:gpt-x=1", "mine=ollama:a"))
    assert (alpha.name, str(alpha.reference), alpha.criteria, alpha.price) == ("alpha", "openai:gpt-x=1", ("safety",), None)
    assert alpha.pass_options == ({"seed": 1, "temperature": 0.1},)
    assert (mine.name, mine.criteria, mine.pass_options) == ("mine", (), ({"temperature": 0.1},))


def test_one_model_may_sit_twice_under_two_names(suite: Path) -> None:
    first, second = choose_judges(load_suite(str(suite)).asking(n_passes=1), ("one=ollama:a", "two=ollama:a"))
    assert (first.name, second.name) == ("one", "two")
    with pytest.raises(ModelError, match="is given twice"):
        choose_judges(load_suite(str(suite)).asking(n_passes=1), ("ollama:a", "ollama:a"))


def test_a_preset_in_a_judges_scope_stands_for_its_criteria(suite: Path) -> None:
    judges = {"alpha": {"model": "fake-a", "criteria": ["everything"]}, "beta": {"model": "fake-b", "criteria": ["tone.voice"]}}
    write_config(suite, judge_system={"judges": judges})
    alpha, beta = choose_judges(load_suite(str(suite)).asking(n_passes=1), ())
    assert alpha.criteria == CRITERIA
    assert beta.criteria == ("tone.voice",)


def test_a_suite_without_judges_needs_one_on_the_command_line(suite: Path) -> None:
    write_config(suite, judge_system=None)
    loaded = load_suite(str(suite))
    with pytest.raises(ConfigError, match=r"judge_system\.judges: no judge configured: add one, or give --judge"):
        choose_judges(loaded, ())
    assert len(choose_judges(loaded, ("ollama:a",))) == 1


def test_a_recording_that_the_user_types_is_looked_for_where_the_user_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ModelReference.typed("replay:a/b.jsonl").model == str(tmp_path.resolve() / "a" / "b.jsonl")
    assert ModelReference.typed("ollama:a/b").model == "a/b"


def test_the_target_is_the_first_enabled_model_unless_one_is_named(suite: Path) -> None:
    models = [
        {"provider": "ollama", "model": "off", "enabled": False, "options": {"seed": 7}, "single_prompt": True},
        {"provider": "ollama", "model": "on"},
    ]
    write_config(suite, models=models, test_modes={"defensive": {"system_prompt": "Be kind."}})
    loaded = load_suite(str(suite))
    found = choose_target(loaded, None, "attack")
    assert found is not None
    assert (str(found.reference), found.system_prompt) == ("ollama:on", "")
    configured = choose_target(loaded, "ollama:off", "defensive")
    assert configured is not None
    assert (configured.options, configured.single_prompt, configured.system_prompt) == ({"seed": 7}, True, "Be kind.")
    named = choose_target(loaded, "openai:x", "attack")
    assert named is not None
    assert (named.options, named.single_prompt) == ({}, False)
    write_config(suite, models=[])
    assert choose_target(load_suite(str(suite)), None, "attack") is None


def test_settings_carry_the_active_preset_only_where_the_suite_names_one(suite: Path) -> None:
    assert load_suite(str(suite)).model_settings("en", 3).ollama_base_url == "http://127.0.0.1:9"
    write_config(suite, ollama=None)
    settings = load_suite(str(suite)).model_settings("en", 3)
    assert settings.ollama_base_url == ""
    assert settings.connections == 3
    assert settings.environment == {}


def test_what_a_model_says_of_itself_settles_the_judge() -> None:
    judge = Judge(name="a", reference=ModelReference.parse("rules:x"), pass_options=({}, {}, {}))
    settled = settled_judge(judge, JudgeStatus(digest="d", unfit="unfit", criteria=("age",), kind="code"), "fr")
    assert (settled.digest, settled.unfit, settled.criteria, settled.passes) == ("d-fr", "unfit", ("age",), 1)
    assert settled_judge(judge, JudgeStatus(digest="d"), "fr").digest == "d"


def test_a_criterion_without_a_judge_is_remarked_and_a_jury_without_a_criterion_refused(suite: Path) -> None:
    judges = {"alpha": {"model": "fake-a", "criteria": ["safety"]}}
    write_config(suite, judge_system={"judges": judges})
    loaded = load_suite(str(suite))
    spec = prepare_run(loaded, RunOptions()).spec
    checked = {spec.judges[0].reference: JudgeStatus()}
    assert spec.checked(checked).unjudged == (CRITERIA[2], CRITERIA[3])
    with pytest.raises(CriteriaError, match="alpha cannot judge any"):
        prepare_run(loaded, RunOptions(criteria="tone")).spec.checked(checked)


def test_a_run_is_not_resumed_with_other_weights_than_it_began_with(suite: Path) -> None:
    spec = prepare_run(load_suite(str(suite)), RunOptions()).spec
    changed = msgspec.structs.replace(spec, judges=(msgspec.structs.replace(spec.judges[0], digest="new"), *spec.judges[1:]))
    same_models(spec, spec)
    with pytest.raises(ModelError, match="alpha is not the model that the run began with"):
        same_models(spec, changed)


def test_a_replayed_judge_is_planned_only_on_what_was_recorded_of_it() -> None:
    status = JudgeStatus(digest="d", recorded={"a": ("age",), "b": ("safety",)})
    for name, scope in (("a", ("age",)), ("b", ("safety",)), ("c", ())):
        judge = Judge(name=name, reference=ModelReference.parse("replay:x.jsonl"), pass_options=({},))
        assert settled_judge(judge, status, "en").criteria == scope
