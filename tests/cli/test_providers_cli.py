"""Judges and targets of several providers in one run, each on a server of its own on loopback."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Judgment
from servers.command import Command
from servers.providers import ProviderServer, Quirks
from servers.small_suite import CRITERIA, write_cases, write_suite

CASES = 3
KEY = "sk-nobody-may-see-this-key"
VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "mistral": ("MISTRAL_BASE_URL", "MISTRAL_API_KEY"),
    "openrouter": ("OPENROUTER_BASE_URL", "OPENROUTER_API_KEY"),
    "azure": ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
    "vllm": ("VLLM_BASE_URL", "VLLM_API_KEY"),
}
Servers = dict[str, ProviderServer]


@pytest.fixture
def servers() -> Iterator[Servers]:
    with contextlib.ExitStack() as stack:
        kinds = {name: "compatible" if name == "vllm" else name for name in VARIABLES}
        found = {name: ProviderServer(provider=kind, api_key=KEY) for name, kind in kinds.items()}
        for server in found.values():
            stack.enter_context(server)
        yield found


@pytest.fixture
def command(tmp_path: Path, servers: Servers) -> Command:
    environment = dict.fromkeys(("OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"), "")
    for name, (address, key) in VARIABLES.items():
        environment |= {address: servers[name].url, key: KEY}
    return Command(tmp_path, environment)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    judges = {name: {"model": f"{name}:fake-a"} for name in VARIABLES}
    evaluation = {"n_passes": 1, "hyperparameters": {"pass_1": {"temperature": 0.1, "seed": 5, "max_tokens": 400}}}
    folder = write_suite(tmp_path / "suite", judge_system={"judges": judges, "evaluation": evaluation}, models=[])
    rows = [{"prompt": f"Why is number {number} odd?", "response": f"It is {number}."} for number in range(CASES)]
    write_cases(folder / "data" / "cases.csv", rows)
    return folder


def run_of(suite: Path, *options: str) -> tuple[str | Path, ...]:
    return ("bench", "run", "--suite", suite, "--yes", *options)


def judged_by(command: Command, judge: str) -> list[Judgment]:
    """The judgments of a judge."""
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        return [one for one in ledger.judgments_numbered(range(1, ledger.last_judgment() + 1)).values() if one.judge == judge]


def outcomes(command: Command, judge: str) -> Counter[str]:
    """How many verdicts of a judge had each outcome."""
    return Counter(type(verdict.outcome).__name__ for one in judged_by(command, judge) for verdict in one.verdicts)


def steps(command: Command, judge: str) -> Counter[str]:
    """The steps of a judge's judgments."""
    return Counter(step for one in judged_by(command, judge) for step in one.steps)


def test_judges_of_all_providers_judge_one_run(command: Command, servers: Servers, suite: Path) -> None:
    servers["mistral"].quirks.thinks = "parts"
    servers["vllm"].quirks.thinks = "text"
    servers["anthropic"].quirks.thinks = "parts"
    servers["openrouter"].quirks = Quirks(thinks="field", inside=[502])
    servers["azure"].quirks.untaken = ("max_tokens", "temperature")
    done = command(*run_of(suite))
    assert done.code == 0, done.err
    assert "Coverage: 100% – " in done.out
    extra = {"openrouter": 1, "azure": 1}  # the error in a 200; the check of a server that lists no deployments
    calls = {name: len(server.calls) - extra.get(name, 0) for name, server in servers.items()}
    assert calls == dict.fromkeys(VARIABLES, CASES * len(CRITERIA))
    scores = {name: sorted(call.score for call in servers[name].calls) for name in ("anthropic", "mistral", "vllm")}
    assert len(set(map(tuple, scores.values()))) == 1  # the same prompts, so that no thought was read as a score
    assert steps(command, "anthropic")["not_sent:seed"] == CASES * len(CRITERIA)
    assert steps(command, "azure")["not_sent:temperature"] == CASES * len(CRITERIA)
    assert done.err.count("note: azure does not take the option temperature") == 1
    assert {step for step in steps(command, "openrouter") if step.startswith("answered_by:")} == {
        "answered_by:Fireworks",
        "answered_by:DeepInfra b",
    }
    remarks = " ".join(command.results()["run"]["metadata"]["remarks"])
    assert "judge azure does not take these options, which were not sent: temperature" in remarks
    assert "judge openrouter was answered by these providers behind its gateway: DeepInfra b, Fireworks" in remarks
    again = command("bench", "rescore", "latest", "--reparse", "--texts")
    assert again.code == 0, again.err
    written = command.folder / again.err.splitlines()[-1].removeprefix("written to ")
    assert (written / "results.json").read_text().count('"not_sent:temperature"') == CASES * len(CRITERIA)


def test_no_key_reaches_a_file_or_the_console(command: Command, servers: Servers, suite: Path) -> None:
    servers["azure"].quirks.filters = "prompt"
    servers["mistral"].quirks.inside = [500]
    done = command(*run_of(suite))
    checked = [command("models", "check", f"{name}:fake-a") for name in VARIABLES]
    assert KEY not in "".join((done.out, done.err, *(one.out + one.err for one in checked)))
    files = [path for path in command.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("where", ["prompt", "answer"])
def test_a_verdict_that_a_filter_stopped_is_refused_and_never_a_score(
    command: Command, servers: Servers, suite: Path, where: str
) -> None:
    servers["azure"].quirks = Quirks(filters=where, trigger="number 1 odd")
    done = command(*run_of(suite, "--judge", "azure"))
    assert (done.code, "Coverage: 66.7% " in done.out) == (3, True), done.err
    assert outcomes(command, "azure") == {"Scored": (CASES - 1) * len(CRITERIA), "Refused": len(CRITERIA)}
    assert steps(command, "azure")["filtered:violence"] == len(CRITERIA)
    asked = len(servers["azure"].calls) + len(servers["azure"].rejected) - 1  # but for the check
    assert asked == CASES * len(CRITERIA)  # once each


def test_a_target_s_answer_that_a_filter_stopped_is_filtered_and_judged_by_nobody(
    command: Command, servers: Servers, suite: Path
) -> None:
    servers["azure"].quirks = Quirks(filters="prompt", trigger="number 1 odd")
    servers["openrouter"].quirks.cost = 0.5
    done = command(*run_of(suite, "--target", "azure:fake-target", "--answers", "target", "--judge", "openrouter"))
    assert done.code in (0, 3), done.err
    with Ledger.open(command.outputs / "ledger.db") as ledger, ledger.engine.connect() as connection:
        found = Counter(row[0] for row in connection.exec_driver_sql("SELECT state FROM answers"))
    assert found == {"answered": CASES - 1, "filtered": 1}
    assert len(servers["openrouter"].calls) == (CASES - 1) * len(CRITERIA)


@pytest.mark.parametrize("name", ["anthropic", "mistral", "openrouter", "azure"])
def test_a_missing_key_ends_the_run_before_any_call_with_its_variable_s_name(command: Command, suite: Path, name: str) -> None:
    address, key = VARIABLES[name]
    del command.environment[key]
    command.environment[address] = "https://x.openai.azure.com" if name == "azure" else ""
    assert key in command(*run_of(suite, "--judge", f"{name}:some-model")).refused()
    assert not command.outputs.exists() or command.run_folders() == []


@pytest.mark.parametrize(
    ("reference", "priced"), [("anthropic:claude-sonnet-4", True), ("mistral:mistral-small-latest", True), ("vllm:any", False)]
)
def test_the_plan_knows_the_list_price_of_a_provider_s_own_server(
    command: Command, suite: Path, reference: str, priced: bool
) -> None:
    command.environment = {"HTTPS_PROXY": "http://127.0.0.1:9"}  # nothing leaves this machine
    planned = command("bench", "plan", "--suite", suite, "--judge", reference)
    assert planned.code == 0, planned.err
    assert ("list price as of" in planned.out) == priced
