"""A folder of the V1.1 system runs unchanged; its scores are checked by hand. Needs `../shared` beside the repository."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import yaml

from servers import PATIENCE
from servers.command import Command, passes_of, scores_of
from servers.fake_answers import true_answer
from servers.fake_llm import FakeServer

SHARED = Path(__file__).parents[3] / "shared"
FOLDER = SHARED / "data" / "child_safety_assets_v1_1"
MOCK = SHARED / "bench" / "mock_llm.py"
MODELS = ("qwen3:8b", "phi4:14b", "gemma3:27b", "gemma3:4b")
JUDGES = {"judge_qwen8b": "qwen3:8b", "judge_phi14b": "phi4:14b", "judge_gemma27b": "gemma3:27b"}
OVER_OPENAI = [text for name, model in JUDGES.items() for text in ("--judge", f"{name}=openai:{model}")]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared, which holds a V1.1 folder, is not beside the repository")


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """The command beside a server that has the folder's models."""
    with FakeServer(models=MODELS) as server:
        yield Command(tmp_path, {"OLLAMA_HOST": server.address, "OPENAI_BASE_URL": server.openai_url, "SERVER": server.address})


@pytest.fixture
def mock_server() -> Iterator[str]:
    """The address of the shared mock server, which is a process of its own."""
    arguments = [sys.executable, str(MOCK), "--port", "0", "--strict-models", "--models", ",".join(MODELS)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[2].removeprefix("http://")
    finally:
        process.kill()
        process.communicate()


def stats(address: str) -> dict[str, Any]:
    """What the mock server has counted."""
    with urllib.request.urlopen(f"http://{address}/stats", timeout=PATIENCE) as response:
        found: dict[str, Any] = json.load(response)
    return found


def test_the_folder_runs_as_it_stands_over_either_protocol_to_equal_results(tmp_path: Path, mock_server: str) -> None:
    command = Command(tmp_path, {"OLLAMA_HOST": mock_server, "OPENAI_BASE_URL": f"http://{mock_server}/v1"})
    before = {path: path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    native = command.process("bench", "run", "--suite", FOLDER, "--profile", "v1_1", "--verbose")
    assert native.code == 0, native.err
    assert stats(mock_server)["per_model"] == {"gemma3:4b": 3, "qwen3:8b": 72, "phi4:14b": 72, "gemma3:27b": 72}
    assert "config.yml:53: judge_system.consistency.enabled: has no meaning here" in native.err
    assert "Coverage: 100% – " in native.out
    compatible = command("bench", "run", "--suite", FOLDER, "--profile", "v1_1", "--target", "openai:gemma3:4b", *OVER_OPENAI)
    assert compatible.code == 0, compatible.err
    assert "has no meaning here" not in compatible.err
    assert "note: 19 keys of the configuration without a meaning here (--verbose and run.log list them)" in compatible.err
    assert stats(mock_server)["calls"] == 2 * 219
    first, second = (command.results(folder) for folder in command.run_folders())
    assert first["run"]["metadata"]["coverage"] == {"scored": 216, "not_applicable": 0, "planned": 216}
    assert scores_of(first) == scores_of(second)
    assert {path: path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()} == before


def test_one_record_and_the_run_checked_by_hand_under_v1_1(tmp_path: Path) -> None:
    with FakeServer(models=MODELS) as server:
        command = Command(tmp_path, {"OLLAMA_HOST": server.address})
        ended = command("bench", "run", "--suite", FOLDER, "--profile", "v1_1")
        assert ended.code == 0, ended.err
        calls = list(server.verdict_calls)
    results = command.results()
    weights = yaml.safe_load((FOLDER / "config.yml").read_text(encoding="utf-8"))["weights"]
    finals: list[dict[str, float]] = []
    for record in results["records"]:
        response = true_answer("gemma3:4b", record["metadata"]["prompt"])
        assert record["metadata"]["response"] == response
        assert record["metadata"]["maturity"] == "Child"
        criteria: dict[str, float] = {}
        for criterion, detail in record["detailed_criteria"].items():
            file = FOLDER / "assets" / "criteria" / Path(*criterion.split(".")).with_suffix(".prompt")
            role = yaml.safe_load(file.read_text(encoding="utf-8"))["role"]
            judged = [call for call in calls if response in call.user and call.system.startswith(role)]
            # judge = mean of its passes; criterion = mean over the judges
            by_judge = {name: mean(call.score for call in judged if call.model == model) for name, model in JUDGES.items()}
            assert [sum(call.model == model for call in judged) for model in JUDGES.values()] == [3, 3, 3]
            assert {name: judge["score"] for name, judge in detail["judges"].items()} == pytest.approx(by_judge)
            assert detail["score"] == pytest.approx(mean(by_judge.values()))
            criteria[criterion] = mean(by_judge.values())
        assert len(criteria) == 8
        final, subcategories = weigh(criteria, weights)
        assert record["subcategory_scores"] == pytest.approx(subcategories)
        assert record["final_aggregate_score"] == pytest.approx(final)
        finals.append(criteria)
    averaged = {criterion: mean(one[criterion] for one in finals) for criterion in finals[0]}
    assert results["run"]["final_aggregate_score"] == pytest.approx(weigh(averaged, weights)[0])


def weigh(criteria: dict[str, float], weights: dict[str, Any]) -> tuple[float, dict[str, float]]:
    """The final score and those of the sub-categories, by the formulas of V1.1: one category only, so its weight is 1."""
    sums: dict[str, list[tuple[float, float]]] = {}
    for criterion, score in criteria.items():
        subcategory, _, name = criterion.partition("__")[0].rpartition(".")
        sums.setdefault(subcategory, []).append((weights["criteria"][subcategory][name], score))
    subcategories = {name: sum(w * s for w, s in found) / sum(w for w, _ in found) for name, found in sums.items()}
    shares = {name: weights["subcategories"]["anthropomorphism"][name.partition(".")[2]] for name in subcategories}
    return sum(shares[name] * score for name, score in subcategories.items()) / sum(shares.values()), subcategories


def test_missing_prompt_files_are_named_and_the_rest_runs(command: Command) -> None:
    ended = command("bench", "run", "--suite", FOLDER, "--criteria", "full_evaluation", "--limit", "1", "--passes", "1")
    assert ended.code == 3, ended.err
    assert "Coverage: 36.4% – " in ended.out and "8 of 22 criteria are judged" in ended.out
    registry = yaml.safe_load((FOLDER / "assets" / "criteria_registry.yml").read_text(encoding="utf-8"))
    wanted = registry["presets"]["full_evaluation"]["criteria"]
    there = {path.stem for path in FOLDER.rglob("*.prompt")}
    missing = [criterion for criterion in wanted if criterion.rpartition(".")[2] not in there]
    assert len(missing) == 14
    for criterion in missing:
        assert f"the prompt file of {criterion} is missing" in ended.err
    assert len(passes_of(command.results())) == 8 * 3


def test_its_own_dataset_of_another_shape_is_read_with_maturities_and_categories(command: Command) -> None:
    dataset = FOLDER / "data" / "test_mini.csv"
    ended = command("bench", "run", "--suite", FOLDER, "--dataset", dataset, "--passes", "1", "--criteria", "anthropomorphism")
    assert ended.code == 0, ended.err
    found = [(record["metadata"]["category"], record["metadata"]["maturity"]) for record in command.results()["records"]]
    assert found == [("Sexual", "Teen")] * 3
