"""A run is parted by server: each phase is in one share, in the same way in every process; strange servers are not called."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.bench.fleet.shares import at_worker, shares_of, strangers, takes
from areopage.bench.spec import RunSpec, Target, encode_spec
from areopage.jury.judges import Judge
from areopage.ledger.tables.records import Run
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings
from areopage.suites.config_file import OwnEndpoint, SharedSections
from report.report_runs import spec_of
from servers.judged_answers import NOW

MODELS = ("openai@one:a", "openai@two:b", "ollama:c", "ollama@gpu:d", "embedded:e", "rules:length")
ENDPOINTS = {
    "one": Endpoint(provider="openai", base_url="https://one.example/v1"),
    "two": Endpoint(provider="openai", base_url="https://two.example/v1"),
    "gpu": Endpoint(provider="ollama", base_url="http://gpu:11434"),
}


def spec_with(judges: list[str], target: str | None) -> RunSpec:
    """A run of some judges and a target, as the ledger has it."""
    made = tuple(
        Judge(
            name=f"j{place}", reference=ModelReference.parse(text), pass_options=({},), kind="code" if text[0] == "r" else "model"
        )
        for place, text in enumerate(judges)
    )
    asked = None if target is None else Target(reference=ModelReference.parse(target))
    spec = msgspec.structs.replace(spec_of(), judges=made, target=asked, settings=ModelSettings(endpoints=ENDPOINTS))
    run = Run(id="r", suite="s", fingerprint="f", folder="", created_at=NOW, finished_at=None, spec=encode_spec(spec))
    return RunSpec.of(run)


@given(st.lists(st.sampled_from(MODELS), min_size=1, max_size=6), st.none() | st.sampled_from(MODELS[:5]))
def test_each_phase_is_in_one_share_and_no_server_in_two(judges: list[str], target: str | None) -> None:
    shares = shares_of(spec_with(judges, target))
    if len(shares) == 1:
        assert shares[0].phases is None
        return
    phases = [name for share in shares for name in share.phases or ()]
    assert sorted(phases) == sorted([*(["target"] if target else []), *(f"j{place}" for place in range(len(judges)))])
    servers = [server for share in shares for server in share.servers]
    assert len(servers) == len(set(servers))
    assert len({share.part.pool("r") for share in shares}) == len(shares)


@pytest.mark.parametrize(
    ("endpoints", "taken"),
    [((), True), (("one",), False), (("one", "ollama"), True), (("openai@one", "ollama"), True), (("two",), False)],
)
def test_a_worker_limited_to_endpoints_takes_only_their_shares(endpoints: tuple[str, ...], *, taken: bool) -> None:
    models = [ModelReference.parse(text) for text in ("openai@one:a", "ollama:c", "rules:length")]
    assert takes(models, endpoints) == taken


def test_a_server_that_only_the_stored_run_names_is_not_called() -> None:
    stored = spec_with(["openai@one:a", "openai@two:b"], None)
    own = SharedSections(endpoints={"one": OwnEndpoint(provider="openai", base_url="http://localhost:1/v1")})
    spec = at_worker(stored, own)
    one, two = (judge.reference for judge in spec.judges)
    assert strangers([one], spec.settings) == ""
    assert "https://two.example/v1 is not in this worker's areopage.yml: define 'two' there" in strangers([two], spec.settings)
    assert spec.settings.endpoints["one"].base_url == "http://localhost:1/v1"


def test_the_ollama_server_of_a_stored_run_is_not_called_unless_it_is_this_computer() -> None:
    stored = spec_with(["ollama:c"], None)
    for address, kept in (("http://169.254.169.254:80", ""), ("http://127.0.0.1:11434", "http://127.0.0.1:11434")):
        settings = msgspec.structs.replace(stored.settings, ollama_base_url=address)
        assert at_worker(msgspec.structs.replace(stored, settings=settings), SharedSections()).settings.ollama_base_url == kept
