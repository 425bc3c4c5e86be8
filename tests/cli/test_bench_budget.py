"""`--budget`: a run stops before it can cost more, keeps everything, and goes on with a higher budget."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from areopage.bench.planning.budget import spent_by
from areopage.bench.spec import RunSpec
from areopage.ledger.store import Ledger
from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_config

PRICE = {"input_per_million": 0.0, "output_per_million": 1000.0, "currency": "EUR"}  # a token of an answer costs 0.001 EUR
MOST = 200
PLENTY = "1000"


def priced(suite: Path, **changes: Any) -> None:
    judges = {
        name: {**CONFIG["judge_system"]["judges"][name], "options": {"num_predict": MOST}, "price": PRICE}
        for name in ("alpha", "beta")
    }
    system = {**CONFIG["judge_system"], "judges": judges, **changes}
    models = [{"provider": "ollama", "model": "fake-target", "options": {"num_predict": MOST}, "price": PRICE}]
    write_config(suite, judge_system=system, models=models)


def spent_in(command: Command) -> float:
    """What the ledger says that the newest run has cost."""
    with Ledger.open(command.outputs / "ledger.db") as ledger:
        (run,) = ledger.runs()
        return spent_by(run, RunSpec.of(run), ledger).get("EUR", 0.0)


def test_a_run_stops_before_it_costs_more_and_a_higher_budget_resumes_it_without_paying_twice(
    command: Command, server: FakeServer, suite: Path
) -> None:
    priced(suite)
    run = ("bench", "run", "--suite", suite, "--yes")
    stopped = command(*run, "--budget", "1.00")
    assert "the budget of 1 EUR is spent" in stopped.refused(4)
    assert "budget: 1 EUR; no call begins" in stopped.err
    assert "everything is kept, go on with: areopage bench resume " in stopped.err and "--budget AMOUNT" in stopped.err
    before = spent_in(command)
    assert 1.0 - MOST * 0.001 < before <= 1.0
    first = len(server.calls)
    assert server.answered == first < 85
    again = command("bench", "resume", "latest", "--yes", "--budget", "1.00")
    assert again.code == 4 and len(server.calls) == first
    done = command("bench", "resume", "latest", "--yes", "--budget", PLENTY)
    assert done.code == 0, done.err
    assert len(server.calls) == 85 and server.repeated() == 0
    assert spent_in(command) > before
    assert f"{spent_in(command):.4f} EUR" in done.err  # the progress line counts what was spent before


def test_a_budget_under_the_price_of_a_call_is_not_called_spent(command: Command, server: FakeServer, suite: Path) -> None:
    priced(suite)
    message = command("bench", "run", "--suite", suite, "--yes", "--budget", "0").refused(4)
    assert "the budget of 0 EUR is less than a call may cost: the next call to " in message
    assert not server.calls


@pytest.mark.parametrize("price", ["{}", "{input_per_million: 1}", "{input: 1, output: 2}"])
def test_a_price_of_which_a_part_is_missing_is_refused_and_not_taken_for_free(
    command: Command, server: FakeServer, suite: Path, price: str
) -> None:
    (command.folder / "areopage.yml").write_text(f'prices:\n  "ollama:fake-a": {price}\n', encoding="utf-8")
    message = command("bench", "run", "--suite", suite, "--yes").refused()
    assert "areopage.yml:2: prices.ollama:fake-a" in message
    write_config(suite, judge_system={"judges": {"alpha": {"model": "fake-a", "price": yaml.safe_load(price)}}})
    (command.folder / "areopage.yml").unlink()
    message = command("bench", "run", "--suite", suite, "--yes").refused()
    assert "judge_system.judges.alpha.price." in message and "_per_million: this key is missing" in message
    assert not server.calls and not command.run_folders()


def test_a_budget_that_cannot_be_kept_is_refused_before_anything_is_written(
    command: Command, server: FakeServer, suite: Path
) -> None:
    own = CONFIG["judge_system"]["judges"]
    dollars = {"alpha": {**own["alpha"], "price": PRICE}, "beta": {**own["beta"], "price": PRICE | {"currency": "USD"}}}
    priced(suite, judges=dollars)
    message = command("bench", "run", "--suite", suite, "--yes", "--budget", "5").refused()
    assert "--budget needs prices in one currency, and these are in EUR, USD" in message
    write_config(suite)
    assert "--budget has nothing to limit" in command("bench", "run", "--suite", suite, "--yes", "--budget", "5").refused()
    assert not server.calls and not command.run_folders()


def test_a_paid_model_without_a_price_is_named(command: Command, server: FakeServer, suite: Path) -> None:
    config = {"endpoints": {"far": {"base_url": server.openai_url.replace("127.0.0.1", "0.0.0.0"), "api_key_env": "FAR_KEY"}}}
    (command.folder / "areopage.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command.environment["FAR_KEY"] = "x"
    run = ("bench", "run", "--suite", suite, "--yes", "--judge", "openai@far:fake-a", "--budget", "1000", "--limit", "1")
    assert "none is known of openai_far_fake-a" in command(*run).refused().replace("@", "_")
    config["prices"] = {"openai@far:fake-a": {"input_per_million": 1, "output_per_million": 1, "currency": "EUR"}}  # type: ignore[dict-item]
    (command.folder / "areopage.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    ended = command(*run)
    assert ended.code == 0, ended.err


def test_the_budget_of_several_targets_is_that_of_all_runs_together(command: Command, server: FakeServer, suite: Path) -> None:
    priced(suite)
    targets = ("--target", "ollama:fake-target", "--target", "ollama:fake-a", "--passes", "1", "--limit", "2")
    stopped = command("bench", "run", "--suite", suite, "--yes", *targets, "--budget", "0.5")
    assert "the budget of 0.5 EUR is spent" in stopped.refused(4)
    calls = len(server.calls)
    done = command("bench", "run", "--suite", suite, "--yes", *targets, "--budget", PLENTY)
    assert done.code == 0, done.err
    assert len(server.calls) > calls and server.repeated() == 0
