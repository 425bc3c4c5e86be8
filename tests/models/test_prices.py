"""What models cost: the configuration's price first, then the provider's list price, at the provider's own server alone."""

import datetime

import pytest

from areopage.models.prices import Price, known_price, price_list
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings

OWN = Price(input_per_million=9.0, output_per_million=9.0, currency="EUR")
ELSEWHERE = ModelSettings(environment={"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
MISTRAL = ModelSettings(endpoints={"m": Endpoint(provider="openai", base_url="https://api.mistral.ai/v1")})


def test_the_table_has_a_date_and_prices_of_every_provider() -> None:
    table = price_list()
    assert table.noted <= datetime.datetime.now(datetime.UTC).date() and table.currency == "USD"
    assert set(table.hosts) == {
        "api.openai.com",
        "api.anthropic.com",
        "api.mistral.ai",
        "generativelanguage.googleapis.com",
    }
    assert all(0 < prompt <= answer for models in table.hosts.values() for prompt, answer in models.values())


@pytest.mark.parametrize(
    ("host", "model", "same_as"),
    [
        ("api.openai.com", "gpt-4.1-2025-04-14", "gpt-4.1"),
        ("api.openai.com", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("api.anthropic.com", "claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("api.mistral.ai", "mistral-small-latest", "mistral-small"),
        ("api.mistral.ai", "mistral-small-2506", "mistral-small"),
        ("generativelanguage.googleapis.com", "models/gemini-2.5-flash", "gemini-2.5-flash"),
    ],
)
def test_a_dated_version_has_the_price_of_its_model(host: str, model: str, same_as: str) -> None:
    found = price_list().price_of(host, model)
    assert found is not None and found.listed == price_list().noted.isoformat()
    assert (found.input_per_million, found.output_per_million) == price_list().hosts[host][same_as]


@pytest.mark.parametrize("model", ["gpt-4o-audio-preview", "gpt-4", "claude-sonnet-4-5", "gpt-4.1-mini-ft"])
def test_another_model_whose_name_begins_alike_has_no_price(model: str) -> None:
    assert price_list().price_of("api.openai.com", model) is None
    assert price_list().price_of("api.anthropic.com", model) is None


def test_the_configuration_wins_and_a_list_price_holds_at_the_providers_own_server_alone() -> None:
    reference = ModelReference.parse("openai:gpt-4.1")
    listed = known_price(None, reference, {}, ModelSettings())
    assert listed is not None and listed.listed and listed.input_per_million == 2.0
    assert known_price(None, reference, {"openai:gpt-4.1": OWN}, ModelSettings()) == OWN
    assert known_price(OWN, reference, {"openai:gpt-4.1": listed}, ModelSettings()) == OWN
    assert known_price(None, reference, {}, ELSEWHERE) is None
    assert known_price(None, ModelReference.parse("openai@m:mistral-large-latest"), {}, MISTRAL) is not None
    assert known_price(None, ModelReference.parse("ollama:gpt-4.1"), {}, ModelSettings()) is None
