"""What earlier calls tell about models: the bytes of their prompts for each token, the length of their answers, their seconds."""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import structs

from areopage.bench.spec import RunSpec
from areopage.criteria import PromptSizer
from areopage.errors import AreopageError
from areopage.jury import Fitting
from areopage.ledger import Ledger
from areopage.models import Gauge, ModelReference, ModelStatus

LEAST_CALLS = 5
"""Fewer calls measure nothing."""


def gauge_of(reference: ModelReference, status: ModelStatus) -> Gauge:
    """What a check tells of a model's window; the embedded model tells what a call gets that asks for none."""
    if reference.provider == "embedded":
        return Gauge(default=status.context_length)
    return Gauge(stated=status.context_length)


def with_measures(spec: RunSpec, ledger: Ledger | None) -> RunSpec:
    """The specification with the bytes for each token that the ledger's calls to its models tell."""
    if ledger is None:
        return spec
    gauges = dict(spec.gauges)
    for model, gauge in spec.gauges.items():
        sizes = list(_stored_sizes(model, ledger))
        tokens = sum(counted for _, counted in sizes)
        if len(sizes) >= LEAST_CALLS and tokens:
            gauges[model] = structs.replace(gauge, bytes_per_token=sum(size for size, _ in sizes) / tokens, calls=len(sizes))
    return structs.replace(spec, gauges=gauges)


def _stored_sizes(model: str, ledger: Ledger) -> Iterator[tuple[int, int]]:
    """The bytes of prompts that a model was sent as a judge of the benchmark, and the tokens that its server counted."""

    @lru_cache(maxsize=16)
    def spec_named(run_id: str) -> tuple[RunSpec, PromptSizer] | None:
        try:
            spec = RunSpec.of(ledger.run(run_id))
        except AreopageError:  # a panel of production, or written by another version
            return None
        return spec, PromptSizer(spec.personas)

    for stored in ledger.spending.judged_prompts(model):
        panel = spec_named(stored.run_id)
        if panel is None or stored.answer.erased:
            continue
        (spec, sizer), by_id = panel, panel[0].criteria_by_id()
        judge = next((judge for judge in spec.judges if judge.name == stored.judge), None)
        if judge is None or not set(stored.criteria) <= by_id.keys():
            continue
        asked = tuple(criterion for criterion in spec.criteria if criterion.id in stored.criteria)
        fitting = Fitting(judge, spec.gauges.get(str(judge.reference)), spec.personas, sizer)
        yield sizer.size(asked, fitting.fitted(stored.answer.case, asked, joint=spec.joint).at(stored.turn)), stored.tokens
