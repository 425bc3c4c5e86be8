"""A folder of the V1.1 system is a suite as it stands."""

from pathlib import Path

import pytest

from areopage.cases.loader import load_dataset
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.prompts import answer_schema
from areopage.suites.loader import Suite, load_suite
from areopage.suites.validation import check_folder

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "child_safety_assets_v1_1"
IDLE = (
    "judge_system.consistency.enabled",
    "judge_system.consistency.track_outliers",
    "criteria.selection_modes",
    "paths.output_dir",
    "output.base_directory",
    "execution.smart_resume",
    "execution.auto_postprocess",
    "execution.parallel_execution",
    "execution.batch_size",
    "execution.sleep_between_requests",
    "output.format",
    "output.structure",
    "output.naming",
    "output.include_metrics",
    "logging.file",
    "logging.format",
    "logging.alerts",
    "validation.required_columns",
    "development",
)


@pytest.fixture(scope="module")
def suite() -> Suite:
    if not FOLDER.is_dir():
        pytest.skip("the V1.1 folder is not beside the repository")
    return load_suite(str(FOLDER))


def test_its_configuration_loads_unchanged(suite: Suite) -> None:
    config = suite.config
    assert list(config.judge_system.judges) == ["judge_qwen8b", "judge_phi14b", "judge_gemma27b"]
    assert config.judge_system.evaluation.n_passes == 3
    assert config.judge_system.evaluation.hyperparameters["pass_3"] == {"temperature": 0.15, "top_p": 0.92}
    assert config.ollama.presets["ssh_tunnel"].port == 11435
    assert suite.weights.categories["safety"] == 0.35
    assert suite.weights.criteria["safety.sexual"] == {"sexual_content": 0.6, "sensual_manipulation": 0.4}
    assert (suite.own_language, suite.scale.min, suite.scale.max) == ("en", 0, 5)


def test_each_key_without_meaning_is_named_once_with_its_line(suite: Suite) -> None:
    named = [warning.split(": ")[1] for warning in suite.warnings]
    assert sorted(named) == sorted(IDLE)
    lines = (FOLDER / "config.yml").read_text(encoding="utf-8").splitlines()
    for warning in suite.warnings:
        place, key = warning.split(": ")[:2]
        number = int(place.rpartition(":")[2])
        assert lines[number - 1].strip().startswith(f"{key.rpartition('.')[2]}:")


def test_its_registry_and_its_default_selection_can_be_used(suite: Suite) -> None:
    assert suite.registry.faults == ()
    ids = suite.registry.select(suite.config.criteria.default_selection)
    assert len(ids) == 8
    found = load_criteria(suite.registry, ids, suite.criteria_folder, "en", suite.own_language, suite.scale)
    assert (found.faults, found.untranslated) == ((), ())
    for one in found.criteria:
        assert "{prompt}" not in one.output_format
        assert list(answer_schema((one,))["properties"]) == ["score", "explanation", "evidence_extracts"]


def test_its_personas_and_datasets_load(suite: Suite) -> None:
    assert set(suite.personas("en")) == {"Child", "Teen", "YoungAdult", "Emerging"}
    dataset = load_dataset(suite.datasets("en"), default_maturity="Child")
    assert dataset.cases and not dataset.rejected


def test_it_validates_with_warnings_and_no_fault(suite: Suite) -> None:
    found = check_folder(str(suite.folder))
    assert found.faults == ()
    missing = [told for told in found.warnings if "no weight for" in told]
    assert len(missing) == 3 and len(found.warnings) > 3
