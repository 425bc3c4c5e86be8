"""What earlier calls tell about models: the bytes of their prompts for each token, the length of their answers, their seconds."""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import structs

from areopage.bench.spec import RunSpec, spec_of
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
    return structs.replace(spec, gauges={name: _measured(gauge, name, ledger) for name, gauge in spec.gauges.items()})


def _measured(gauge: Gauge, model: str, ledger: Ledger) -> Gauge:
    sizes = list(_stored_sizes(model, ledger))
    tokens = sum(counted for _, counted in sizes)
    if len(sizes) < LEAST_CALLS or not tokens:
        return gauge
    return structs.replace(gauge, bytes_per_token=sum(size for size, _ in sizes) / tokens, calls=len(sizes))


def _stored_sizes(model: str, ledger: Ledger) -> Iterator[tuple[int, int]]:
    """The bytes of prompts that a model was sent as a judge of the benchmark, and the tokens that its server counted."""

    @lru_cache(maxsize=16)
    def spec_named(run_id: str) -> tuple[RunSpec, PromptSizer] | None:
        try:
            spec = spec_of(ledger.run(run_id))
        except AreopageError:  # a panel of production, or written by another version
            return None
        return spec, PromptSizer(spec.personas)

    for one in ledger.spending.judged_prompts(model):
        found = spec_named(one.run_id)
        if found is None or one.answer.erased:
            continue
        (spec, sizer), by_id = found, found[0].criteria_by_id()
        judge = next((judge for judge in spec.judges if judge.name == one.judge), None)
        if judge is None or not set(one.criteria) <= by_id.keys():
            continue
        own = tuple(criterion for criterion in spec.criteria if criterion.id in one.criteria)
        fitting = Fitting(judge, spec.gauges.get(str(judge.reference)), spec.personas, sizer)
        yield sizer.size(own, fitting.fitted(one.answer.case, own, joint=spec.joint).case.at(one.turn)), one.tokens
