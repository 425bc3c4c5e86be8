"""The cost of a run stands in its report, in its results and in comparisons, by the target and each judge."""

import re
from pathlib import Path

import pytest

from servers.command import Command
from servers.fake_llm import FakeServer
from servers.small_suite import CONFIG, write_config

PRICE = {"input_per_million": 10.0, "output_per_million": 100.0, "currency": "EUR"}


@pytest.mark.parametrize(("language", "words"), [("en", ("Cost", "In all", "target")), ("fr", ("Coût", "Au total", "cible"))])
def test_a_run_says_what_it_cost_by_the_target_and_each_judge(
    command: Command, server: FakeServer, suite: Path, language: str, words: tuple[str, ...]
) -> None:
    alpha, beta = (CONFIG["judge_system"]["judges"][name] for name in ("alpha", "beta"))
    system = {**CONFIG["judge_system"], "judges": {"alpha": {**alpha, "price": PRICE}, "beta": beta}}
    write_config(suite, judge_system=system, models=[{"provider": "ollama", "model": "fake-target", "price": PRICE}])
    run = ("bench", "run", "--suite", suite, "--yes", "--passes", "1", "--lang", language, "--verbose")
    ended = command(*run)
    assert ended.code == 0, ended.err
    (folder,) = command.run_folders()
    costs = command.results(folder)["run"]["metadata"]["costs"]
    assert [(one["role"], one["name"], one["currency"]) for one in costs] == [
        ("target", "ollama:fake-target", "EUR"),
        ("judge", "alpha", "EUR"),
        ("judge", "beta", ""),
    ]
    for one in costs[:2]:
        tokens = one["prompt_tokens"] * 10 + one["completion_tokens"] * 100
        assert one["cost"] == pytest.approx(tokens / 1e6) and tokens
    assert costs[2]["cost"] is None
    page = (folder / "report.html").read_text(encoding="utf-8")
    section = page[page.index('id="costs"') :]
    assert all(word in section for word in words)
    assert re.search(r"^ollama:fake-target .* EUR", ended.out, re.M), ended.out
    again = command(*run, "--fresh")
    assert again.code == 0
    first, second = (path.name for path in command.run_folders())
    compared = command("bench", "compare", first, second, "--md", "-", "--lang", language)
    assert words[0] in compared.out and "EUR" in compared.out
