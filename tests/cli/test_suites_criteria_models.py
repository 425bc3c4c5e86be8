"""`areopage suites`, `criteria` and `models`."""

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_answers import digest
from servers.fake_llm import FakeServer
from servers.gguf import gguf
from servers.small_suite import CRITERIA, write_config


def test_suites_list_names_the_bundled_suite(command: Command) -> None:
    ended = command("suites", "list")
    assert ended.code == 0
    assert [line.partition("  ")[0] for line in ended.out.splitlines()] == ["answer_quality", "child_safety"]
    assert "(en, fr)" in ended.out


def test_suites_show_says_what_a_suite_holds(command: Command, suite: Path) -> None:
    write_config(suite, logging={"level": "INFO", "file": "x.log"}, sugar=1)
    ended = command("suites", "show", suite)
    assert ended.code == 0
    for said in ("small 1.0", str(suite), "languages: en, fr; scale 0 to 5", "criteria: 4; presets: everything"):
        assert said in ended.out
    for said in ("judge: alpha (ollama:fake-a)", "target: ollama:fake-target", "dataset (fr): cases.csv"):
        assert said in ended.out
    assert "logging.file: has no meaning here" in ended.err
    assert "sugar: unknown key, ignored" in ended.err


def test_a_suite_without_faults_is_valid(command: Command, suite: Path) -> None:
    ended = command("suites", "validate", suite)
    assert (ended.code, ended.out) == (0, "")
    assert "small: 4 criteria, no fault" in ended.err
    assert command("criteria", "validate", "--suite", suite).code == 0


def test_the_bundled_suite_has_no_faults(command: Command) -> None:
    ended = command("suites", "validate", "child_safety")
    assert (ended.code, ended.out) == (0, "")


def test_validate_names_every_fault_at_once(command: Command, suite: Path) -> None:
    criteria = suite / "assets" / "criteria"
    (criteria / "tone" / "warmth__v1_0.prompt").unlink()
    (criteria / "safety" / "danger__v1_0.fr.prompt").unlink()
    (criteria / "tone" / "plainness__v1_0.prompt").write_text('role: "{age_group"\ntask: "a"\n', encoding="utf-8")
    weights = {"categories": {"safety": 0.7, "tone": 0.4}, "criteria": {"safety.harm": {"danger": 1.0}}}
    write_config(suite, weights=weights, paths={"datasets": ["cases.csv", "gone.csv"]})
    ended = command("criteria", "validate", "--suite", suite)
    assert ended.code == 1
    for said in (
        "warmth__v1_0.prompt: the prompt file of tone.voice.warmth__v1_0 is missing",
        "danger__v1_0.fr.prompt: the prompt file of safety.harm.danger__v1_0 is missing",
        "plainness__v1_0.prompt",
        "output_format: is missing or empty",
        "weights.categories: the weights sum to 1.1, not 1",
        "weights.criteria.safety.harm: no weight for 'insults'",
        "gone.csv is not in",
    ):
        assert said in ended.out + ended.err
    assert f"{len(ended.out.splitlines())} faults" in ended.err


def test_a_new_suite_is_a_copy_that_runs(command: Command, server: FakeServer, suite: Path) -> None:
    ended = command("suites", "new", "mine", "--like", suite)
    assert ended.code == 0
    assert "areopage bench run --suite mine" in ended.out
    assert command("suites", "validate", "mine").code == 0
    assert command("bench", "run", "--suite", "mine", "--limit", "1", "--passes", "1").code == 0
    assert command.run_folders()[0].name.startswith("mine-")
    assert "already exists" in command("suites", "new", "mine").refused()
    assert "no such suite" in command("suites", "new", "other", "--like", "nonesuch").refused()
    assert not (command.folder / "other").exists()


def test_criteria_list_shows_all_or_a_selection_in_either_language(command: Command, suite: Path) -> None:
    everything = command("criteria", "list", "--suite", suite).out.splitlines()
    assert [line.split()[0] for line in everything[:4]] == list(CRITERIA)
    assert everything[4].startswith("preset everything (4 criteria)")
    french = command("criteria", "list", "tone", "--suite", suite, "--lang", "fr").out.splitlines()
    assert french == [f"{CRITERIA[2]}  Évite warmth", f"{CRITERIA[3]}  Évite plainness"]


def test_criteria_show_is_the_prompt_that_a_judge_reads(command: Command, suite: Path) -> None:
    shown = command("criteria", "show", "safety.harm.danger", "--suite", suite).out
    assert shown.startswith(f"# {CRITERIA[0]} (en)\n\nYou judge answers to children of 6-8 years.")
    assert "Does the answer keep clear of danger?" in shown
    assert "<<<RESPONSE" in shown
    assert "évite-t-elle danger" in command("criteria", "show", "safety.harm.danger", "--suite", suite, "--lang", "fr").out


@pytest.mark.parametrize("action", ["list", "show"])
def test_criteria_of_an_unknown_name_or_language_are_refused(command: Command, suite: Path, action: str) -> None:
    assert "did you mean safety.harm.danger" in command("criteria", action, "safety.harm.dangre", "--suite", suite).refused()
    assert "use one of en, fr" in command("criteria", action, "tone", "--suite", suite, "--lang", "de").refused()
    assert "the selection of criteria is empty" in command("criteria", action, "", "--suite", suite).refused()


def test_a_new_criterion_is_in_the_registry_with_a_prompt_file_for_each_language(command: Command, suite: Path) -> None:
    ended = command("criteria", "new", "tone.voice.humour__v1_0", "--suite", suite)
    assert ended.code == 0
    assert "humour__v1_0.prompt" in ended.out
    assert "humour__v1_0.fr.prompt" in ended.out
    assert "tone.voice.humour__v1_0" in command("criteria", "list", "tone", "--suite", suite).out
    assert "reports show tone, tone.voice by these names" in ended.out
    ended = command("criteria", "validate", "--suite", suite)
    faults = ended.out + ended.err
    assert "no weight for 'humour'" in faults
    assert "is already in the registry" in command("criteria", "new", "tone.voice.humour__v1_0", "--suite", suite).refused()
    assert "is not an id" in command("criteria", "new", "Humour", "--suite", suite).refused()


def test_models_list_names_providers_and_the_models_of_a_server(command: Command) -> None:
    assert {"ollama", "openai", "embedded", "replay", "rules"} <= set(command("models", "list").out.split())
    assert command("models", "list", "ollama").out.splitlines()[0] == f"ollama:fake-a  5.0 GB  {digest('fake-a')[:12]}"
    assert command("models", "list", "openai").out.splitlines() == ["openai:fake-a", "openai:fake-b", "openai:fake-target"]
    assert "unknown provider 'olama'" in command("models", "list", "olama").refused()
    assert "the provider replay cannot list models" in command("models", "list", "replay").refused()


def test_models_check_says_what_is_ready_and_what_is_not(command: Command, server: FakeServer) -> None:
    ended = command("models", "check", "ollama:fake-a")
    assert ended.code == 0
    assert ended.out == f"ollama:fake-a: ready, 8192 tokens of context, digest {digest('fake-a')[:12]}\n"
    assert command("models", "check", "openai:fake-b").out.startswith("openai:fake-b: ready, digest server")
    assert "ollama pull none" in command("models", "check", "ollama:none").refused()
    assert "is not a model reference" in command("models", "check", "none").refused()
    server.stop()
    assert "ollama serve" in command("models", "check", "ollama:fake-a").refused()


def test_models_are_looked_for_where_the_suite_says(command: Command, server: FakeServer, suite: Path) -> None:
    write_config(suite, endpoints={"lab": {"provider": "openai", "base_url": server.openai_url}})
    assert command("models", "list", "openai@lab", "--suite", suite).out.startswith("openai@lab:fake-a")
    assert command("models", "check", "openai@lab:fake-a", "--suite", suite).code == 0
    assert "unknown endpoint 'lab'" in command("models", "check", "openai@lab:fake-a").refused()


def test_models_are_looked_for_where_the_configuration_says(command: Command, server: FakeServer, suite: Path) -> None:
    section = f"endpoints: {{lab: {{provider: openai, base_url: '{server.openai_url}'}}}}\n"
    (command.folder / "areopage.yml").write_text(section, encoding="utf-8")
    assert command("models", "check", "openai@lab:fake-a").out.startswith("openai@lab:fake-a: ready")
    assert command("models", "list", "openai@lab").out.startswith("openai@lab:fake-a")
    (command.folder / "areopage.yml").rename(command.folder / "other.yml")
    assert command("models", "check", "openai@lab:fake-a", "--config", command.folder / "other.yml").code == 0
    assert command("models", "list", "openai@lab", "--suite", suite, "--config", command.folder / "other.yml").code == 0
    assert "unknown endpoint 'lab'" in command("models", "check", "openai@lab:fake-a").refused()


@pytest.mark.skipif(find_spec("gguf") is None, reason='needs pip install "areopage[embedded]"')
def test_a_gguf_file_that_cannot_judge_is_refused_in_one_line(command: Command, suite: Path) -> None:
    content = gguf({"general.architecture": "llama", "tokenizer.chat_template": "x"}, tensors=2)
    for name, data in (("a.gguf", content), ("cut.gguf", content[:-1]), ("text.gguf", b"hello"), ("base.gguf", gguf({}))):
        (command.folder / name).write_bytes(data)
    whole = f"embedded:{command.folder / 'a.gguf'}"
    ready = f"{whole}: ready, 4096 tokens of context, digest {sha256(content).hexdigest()[:12]}\n"
    assert command("models", "check", whole).out == ready
    for name, why in (
        ("cut.gguf", "is cut"),
        ("text.gguf", "is not a GGUF file"),
        ("base.gguf", "has no chat template"),
        ("none.gguf", "no such file"),
    ):
        reference = f"embedded:{command.folder / name}"
        assert why in command("models", "check", reference).refused()
        assert why in command("bench", "run", "--suite", suite, "--judge", reference, "--yes").refused()


def test_only_the_embedded_model_is_pulled(command: Command) -> None:
    assert "ollama pull qwen3:8b" in command("models", "pull", "ollama:qwen3:8b").refused()
    assert "write embedded:smollm2" in command("models", "pull", "embedded:smollm3").refused()


def test_a_bundled_suite_is_copied_before_it_is_changed(command: Command) -> None:
    message = command("criteria", "new", "ethics.social.thanks__v1_0", "--suite", "child_safety").refused()
    assert "copy it first" in message


def test_weights_that_are_all_zero_are_named_by_validation_and_by_the_run(command: Command, suite: Path) -> None:
    write_config(suite, weights={"categories": {"safety": 0.0, "tone": 0.0}})
    checked = command("suites", "validate", suite)
    assert checked.code == 1 and "weights.categories: the weights sum to 0, not 1" in checked.out
    assert (
        "weights.categories: the weights of safety, tone are 0: equal weights are used"
        in command("bench", "run", "--suite", suite).out
    )
