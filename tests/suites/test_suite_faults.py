"""A suite of one's own: each kind of fault is named with file and line, all at once; what means nothing is named too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from areopage.errors import ConfigError
from areopage.suites.config import JudgeSection, TargetSection
from areopage.suites.loader import find_suite, load_suite
from areopage.suites.validation import check_folder
from servers.small_suite import folder_faults

Spoil = Callable[[str, str, str], None]
CONFIG, REGISTRY, DANGER = "config.yml", "assets/criteria_registry.yml", "assets/criteria/danger.prompt"


def test_a_good_suite_has_no_fault_and_no_warning(own_suite: Path) -> None:
    suite = load_suite(str(own_suite))
    assert suite.warnings == ()
    assert folder_faults(str(own_suite)) == []
    assert (suite.name, suite.own_language, suite.scale.max) == ("own", "en", 5)
    assert [path.name for path in suite.datasets("fr")] == ["cases.csv"]
    assert suite.personas("en") == suite.rules() == {}


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "message"),
    [
        (CONFIG, "danger: 0.5, insults: 0.5", "danger: 0.5, insults: 0.6", "config.yml:11:", "the weights sum to 1.1, not 1"),
        (CONFIG, "danger: 0.5, insults: 0.5", "danger: 1.0", "config.yml:11:", "no weight for 'insults'"),
        (CONFIG, "danger: 0.5, insults: 0.5", "", "config.yml:11:", "no weights for danger, insults"),
        (CONFIG, "insults: 0.5", "insult: 0.5", "config.yml:11:", "unknown name: no category, sub-category or criterion matches"),
        (CONFIG, "    safety.harm: {", "    tone.x: {a: 1}\n    safety.harm: {", "config.yml:11:", "a sub-category without"),
        (CONFIG, "  subcategories: {", "  subcategories: {tone: {x: 1}, ", "config.yml:9:", "a category that has no criterion"),
        (CONFIG, "categories: {safety: 1.0}", "categories: {tone: 1.0}", "config.yml:8:", "no weight for 'safety'"),
        (
            CONFIG,
            "default_selection: all",
            "default_selection: al",
            "config.yml:6:",
            "category or preset 'al'",
        ),
        (CONFIG, '"m:1"', '"m:1", criteria: [safety, tone]', "config.yml:5:", "unknown criterion, category or preset 'tone'"),
        (CONFIG, "en: [cases.csv]", "en: [gone.csv]", "config.yml:12:", "gone.csv is not in"),
        (CONFIG, "paths: {", "paths: {rules_file: gone.yml, ", "gone.yml", "no such file"),
        (REGISTRY, "file: danger.prompt", "file: insults.prompt", "registry.yml:7:", "is already the prompt file of"),
        (
            REGISTRY,
            "file: danger.prompt",
            "file: gone.prompt",
            "gone.prompt",
            "danger__v1_0 is missing",
        ),
        (
            REGISTRY,
            "file: danger.prompt",
            "file: danger.prompt\n    severity: grave",
            "registry.yml:6:",
            "use one of critical, serious",
        ),
        (
            REGISTRY,
            "file: danger.prompt",
            "file: danger.prompt\n    severity: serious\n    applies_to: {category: [x]}",
            "registry.yml:7:",
            "takes the criterion off some cases, but the severity is serious",
        ),
        (
            REGISTRY,
            "file: danger.prompt",
            "file: danger.prompt\n    severity: minor\n    critical_limit: 9",
            "registry.yml:7:",
            "the scale of the suite goes from 0 to 5",
        ),
        (REGISTRY, "danger__v1_0, ", "danger__v1_0, x.y.z__v1_0, ", "registry.yml:10:", "is not in the registry"),
        (DANGER, "role: You judge.", "role: ''", "danger.prompt:1:", "is missing or empty"),
        (DANGER, "task: Is it good?", "task: Is it good for {age_grup}?", "danger.prompt:2:", "did you mean {age_group}?"),
        (DANGER, "task: Is it good?", "task: ...", "danger.prompt:2:", "still holds `...` in place of a text"),
        (REGISTRY, "file: danger.prompt", "file: danger.prompt\n    description: ...", "registry.yml:6:", "still holds `...`"),
        (DANGER, "task:", "taks: x\ntask:", "danger.prompt:2:", "unknown key"),
        ("assets/criteria/danger.fr.prompt", "role:", "role: [", "danger.fr.prompt:", "not valid YAML"),
    ],
)
def test_each_kind_of_fault_is_named_where_it_stands(
    own_suite: Path, spoil: Spoil, file: str, old: str, new: str, place: str, message: str
) -> None:
    spoil(file, old, new)
    faults = folder_faults(str(own_suite))
    assert any(place in fault and message in fault for fault in faults), faults
    assert all("\n" not in fault for fault in faults)


def test_all_faults_are_named_at_once(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, "insults: 0.5", "insults: 0.6")
    spoil(CONFIG, "fr: [cases.csv]", "fr: [none.csv]")
    spoil(DANGER, "role: You judge.", "role: ''")
    spoil(DANGER, "task: Is it good?", "task: ...")
    spoil(REGISTRY, "  safety.harm.insults__v1_0:\n", "  Upper.case.id__v1_0: {file: x.prompt}\n  safety.harm.insults__v1_0:\n")
    (own_suite / "assets/criteria/insults.fr.prompt").unlink()
    (own_suite / "assets/personas.json").write_text("{", encoding="utf-8")
    faults = "\n".join(folder_faults(str(own_suite)))
    for part in (
        "sum to 1.1",
        "none.csv",
        "danger.prompt:1: role",
        "danger.prompt:2: task",
        "in a-z, 0-9",
        "insults.fr",
        "personas",
    ):
        assert part in faults, faults


def test_mistakes_of_the_configuration_hide_no_other_fault_and_have_no_consequences(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, "danger: 0.5, insults: 0.5", "danger: much, insults: 0.6")
    spoil(CONFIG, "languages: [en, fr]", "languages: [en, fr, ../de]")
    spoil(CONFIG, "fr: [cases.csv]", "fr: [none.csv]")
    spoil(CONFIG, "project:", "scoring: {scale: {min: 5, max: 5}, failures: {limit: high, criteria: {safety.harm: 9}}}\nproject:")
    spoil(DANGER, "role: You judge.", "role: ''")
    (own_suite / "assets/personas.json").write_text('{"Teen": 3, "Child": 4}', encoding="utf-8")
    faults = folder_faults(str(own_suite))
    assert [fault.removeprefix(f"{own_suite}/").partition(": ")[2] for fault in faults] == [
        "languages.2: string should match pattern '^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$', got '../de'",
        "weights.criteria.safety.harm.danger: must be a number, got 'much'",
        "scoring.failures.limit: must be a number, got 'high'",
        "scoring.scale: min must be less than max",
        "role: is missing or empty",
        "scoring.failures.criteria.safety.harm: the suite has no criterion 'safety.harm'",
        "Teen: write an object",
        "Child: write an object",
        "paths.datasets: none.csv is not in " + str(own_suite / "data"),
    ]


def test_two_versions_of_one_criterion_in_a_preset_are_a_fault(own_suite: Path, spoil: Spoil) -> None:
    spoil(REGISTRY, "presets:", "  safety.harm.danger__v2_0: {file: danger2.prompt}\npresets:")
    spoil(REGISTRY, "[safety.harm.danger__v1_0,", "[safety.harm.danger__v1_0, safety.harm.danger__v2_0,")
    assert any("holds two versions of one criterion" in fault for fault in folder_faults(str(own_suite)))


def test_all_mistakes_of_a_configuration_are_named_and_loading_counts_them(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, '{model: "m:1"}', "{model: [a]}")
    spoil(CONFIG, "{safety: 1.0}", "{safety: heavy}")
    spoil(CONFIG, "languages: [en, fr]", "languages: [en, ../fr]")
    faults = folder_faults(str(own_suite))
    assert [fault.split(": ")[0].rpartition(":")[2] for fault in faults] == ["2", "5", "8"]
    assert (
        "languages.1" in faults[0] and "judge_system.judges.one.model" in faults[1] and "weights.categories.safety" in faults[2]
    )
    with pytest.raises(ConfigError) as caught:
        load_suite(str(own_suite))
    assert "(+2 more: areopage suites validate)" in str(caught.value)
    assert str(caught.value).startswith(f"{own_suite / 'config.yml'}:2: languages.1: ")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("scoring: {scale: {min: 5, max: 0}}", "scoring.scale: min must be less than max"),
        ("scoring: {scale: {min: 0, max: .inf}}", "scoring.scale.max: input should be a finite number"),
        ("scoring: {scale: {min: .nan}}", "scoring.scale.min: input should be a finite number"),
        ("scoring: {profile: v2}", "scoring.profile: input should be 'default' or 'v1_1', got 'v2'"),
        ("ollama: {active_preset: gone}", "ollama.active_preset: no such preset 'gone': use one of default"),
        ("validation: {max_judges_simultaneous: 0}", "validation.max_judges_simultaneous: input should be greater"),
        ("execution: {concurrency: 0}", "execution.concurrency: input should be greater than or equal to 1, got 0"),
        ("execution: {test_mode: both}", "execution.test_mode: input should be 'attack' or 'defensive'"),
        ("execution: none", "execution: must be keys with values, got 'none'"),
        ("models: {a: b}", "models: must be a list, got keys with values"),
        ("validation: {default_maturity: Baby}", "validation.default_maturity: input should be 'Child', 'Teen'"),
    ],
)
def test_a_mistake_of_the_configuration_names_line_key_and_what_is_allowed(own_suite: Path, section: str, message: str) -> None:
    path = own_suite / CONFIG
    path.write_text(f"{path.read_text(encoding='utf-8')}{section}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_suite(str(own_suite))
    assert f"{path}:13: {message}" in str(caught.value)


def test_limits_between_keys_are_held(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, "criteria: {default", "validation: {max_passes_per_judge: 2}\ncriteria: {default")
    spoil(CONFIG, "  judges:", "  evaluation: {n_passes: 3}\n  judges:")
    with pytest.raises(ConfigError, match=r"n_passes: more than validation\.max_passes_per_judge \(2\)"):
        load_suite(str(own_suite))
    spoil(CONFIG, "n_passes: 3", "n_passes: 2")
    spoil(CONFIG, "{max_passes", "{max_judges_simultaneous: 1, max_passes")
    spoil(CONFIG, "    one:", "    two: {model: x}\n    one:")
    with pytest.raises(ConfigError, match=r"2 judges, and validation\.max_judges_simultaneous is 1"):
        load_suite(str(own_suite))


def test_idle_keys_are_named_once_with_line_and_reason(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, '{model: "m:1"}', '{model: "m:1", optoins: {}}')
    spoil(CONFIG, "paths: {", "paths: {colour: red, ")
    path = own_suite / CONFIG
    path.write_text(
        f"{path.read_text(encoding='utf-8')}execution: {{mode: inline, batch_size: 3}}\nwieghts: 1\n", encoding="utf-8"
    )
    warnings = load_suite(str(own_suite)).warnings
    assert sorted(warnings) == sorted(
        [
            "config.yml:5: judge_system.judges.one.optoins: unknown key, ignored: did you mean 'options'?",
            "config.yml:12: paths.colour: unknown key, ignored",
            "config.yml:13: execution.mode: runs are always phased: endpoints.NAME.resident says which models wait",
            "config.yml:13: execution.batch_size: has no meaning here (calls in flight are set by execution.concurrency)",
            "config.yml:14: wieghts: unknown key, ignored: did you mean 'weights'?",
        ]
    )


def test_what_is_no_suite_is_refused_with_what_there_is(tmp_path: Path, own_suite: Path) -> None:
    assert find_suite(str(own_suite / "config.yml")) == own_suite
    for name, message in (
        ("no_such_suite", r"no such suite: .*child_safety"),
        (str(tmp_path), "not a suite"),
        ("~nobody-has-this-name/suite", "no such suite"),
        ("", "not a suite"),
    ):
        with pytest.raises(ConfigError, match=message):
            find_suite(name)


def test_an_alias_bomb_in_options_is_refused(own_suite: Path, spoil: Spoil) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 20))
    spoil(CONFIG, "project:", f"{bomb}project:")
    spoil(CONFIG, '"m:1"', '"m:1", options: {stop: *a19}')
    with pytest.raises(ConfigError, match="aliases repeat more than"):
        load_suite(str(own_suite))


@pytest.mark.parametrize(
    ("section", "provider", "model"),
    [
        ({"model": "gemma3:4b"}, "ollama", "gemma3:4b"),
        ({"model": "embedded:smollm2"}, "embedded", "smollm2"),
        ({"model": "openai@lab:a:b"}, "openai@lab", "a:b"),
        ({"model": "rules:readability"}, "rules", "readability"),
        ({"model": "openai:a", "provider": "ollama"}, "ollama", "openai:a"),
        ({"model": "openai:"}, "ollama", "openai:"),
    ],
)
def test_a_model_may_be_named_by_a_whole_reference(section: dict[str, str], provider: str, model: str) -> None:
    for kind in (JudgeSection, TargetSection):
        found = kind.model_validate(section)
        assert (found.provider, found.model) == (provider, model)


def test_a_model_of_an_installed_provider_is_not_taken_for_one_of_ollama(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "mine-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[areopage.models]\nmine = installed_model:open_model\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = JudgeSection.model_validate({"model": "mine:small"})
    assert (found.provider, found.model) == ("mine", "small")


@pytest.mark.parametrize("floor", ["safety", "safety.harm", "safety.harm.danger", "minor"])
def test_a_rule_that_takes_a_criterion_of_a_floor_off_cases_is_refused_with_its_line(
    own_suite: Path, spoil: Spoil, floor: str
) -> None:
    spoil(REGISTRY, "file: danger.prompt", "file: danger.prompt\n    severity: minor\n    applies_to: {category: [x]}")
    spoil(REGISTRY, "file: insults.prompt", "file: insults.prompt\n    severity: minor")
    load_suite(str(own_suite))
    spoil(CONFIG, "paths:", f"release: {{max_failures: {{{floor}: 0}}}}\npaths:")
    with pytest.raises(ConfigError, match=rf"registry\.yml:7: .*the release floor {floor} counts it"):
        load_suite(str(own_suite))
    assert len([fault for fault in folder_faults(str(own_suite)) if f"the release floor {floor} counts it" in fault]) == 1


def test_a_floor_by_severity_asks_for_the_severity_of_every_criterion(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, "paths:", "release: {max_failures: {critical: 0}}\npaths:")
    spoil(REGISTRY, "file: danger.prompt", "file: danger.prompt\n    severity: critical")
    wanted = (
        "release.max_failures.critical: counts failures by severity, and the registry states none for safety.harm.insults__v1_0"
    )
    assert any(wanted in fault for fault in folder_faults(str(own_suite)))
    spoil(REGISTRY, "file: insults.prompt", "file: insults.prompt\n    severity: serious")
    assert folder_faults(str(own_suite)) == []
    floors = load_suite(str(own_suite)).release_floors()
    assert floors is not None and floors.criteria == {"critical": ("safety.harm.danger__v1_0",)}


def test_a_missing_weight_and_a_missing_file_outside_of_the_selection_are_warnings(own_suite: Path, spoil: Spoil) -> None:
    spoil(CONFIG, "danger: 0.5, insults: 0.5", "danger: 1.0")
    spoil(CONFIG, "default_selection: all", "default_selection: safety.harm.danger")
    (own_suite / "assets/criteria/insults.prompt").unlink()
    found = check_folder(str(own_suite))
    assert found.faults == ()
    assert [told.rpartition(": ")[2] for told in found.warnings] == [
        "no weight for 'insults'",
        "the prompt file of safety.harm.insults__v1_0 is missing",
    ]
