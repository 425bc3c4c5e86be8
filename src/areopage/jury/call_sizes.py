"""What calls to judges take: how many are left, tokens and costs, estimated from the prompts of a sample."""

from collections.abc import Collection, Iterable, Sequence
from typing import Self, TypeVar

from msgspec import Struct

from areopage.criteria import judge_prompt
from areopage.jury.judges import PlannedCall
from areopage.jury.panel import Panel
from areopage.models import CHARACTERS_PER_TOKEN, costs_of

VERDICT_TOKENS = 120
"""Assumed of one verdict of a judge."""
_SAMPLE = 40

_Item = TypeVar("_Item")


class CallSize(Struct, frozen=True, kw_only=True):
    """What the calls take whose judgments the ledger lacks.

    Args:
        planned: how many different calls there are; `stored`: those of them whose judgment the ledger has.
        by_judge: how many calls each judge is left with.
        prompt_tokens, completion_tokens: of the calls that are left to models; a token counts as four characters.
        costs: of the calls that are left to judges with a price, by currency.
    """

    planned: int
    stored: int
    by_judge: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    costs: dict[str, float]

    @property
    def calls(self) -> int:
        """How many calls are left."""
        return self.planned - self.stored

    @classmethod
    def of(cls, panel: Panel, calls: Iterable[PlannedCall], stored: Collection[str] = ()) -> Self:
        """Estimate what is left of calls; the prompts of a sample are rendered for each judge."""
        planned = {call.key: call for call in calls}
        by_judge: dict[str, list[PlannedCall]] = {judge.name: [] for judge in panel.judges}
        for key, call in planned.items():
            if key not in stored:
                by_judge[call.judge.name].append(call)
        prompts = {name: _prompt_tokens(panel, left) for name, left in by_judge.items()}
        verdicts = {name: sum(len(call.criteria) for call in left) for name, left in by_judge.items()}
        answers = {judge.name: verdicts[judge.name] * VERDICT_TOKENS * judge.is_model for judge in panel.judges}
        return cls(
            planned=len(planned),
            stored=len(planned) - sum(map(len, by_judge.values())),
            by_judge={name: len(left) for name, left in by_judge.items()},
            prompt_tokens=round(sum(prompts.values())),
            completion_tokens=sum(answers.values()),
            costs=costs_of((judge.price, prompts[judge.name], answers[judge.name]) for judge in panel.judges),
        )

    @classmethod
    def of_all(cls, sizes: Iterable["CallSize"]) -> Self:
        """The size of several parts that have no call in common."""
        costs: dict[str, float] = {}
        by_judge: dict[str, int] = {}
        parts = list(sizes)
        for part in parts:
            for currency, amount in part.costs.items():
                costs[currency] = costs.get(currency, 0.0) + amount
            for name, count in part.by_judge.items():
                by_judge[name] = by_judge.get(name, 0) + count
        return cls(
            planned=sum(part.planned for part in parts),
            stored=sum(part.stored for part in parts),
            by_judge=by_judge,
            prompt_tokens=sum(part.prompt_tokens for part in parts),
            completion_tokens=sum(part.completion_tokens for part in parts),
            costs=costs,
        )


def sampled(items: Sequence[_Item]) -> Sequence[_Item]:
    """About forty items, evenly spaced, or all where there are fewer."""
    return items[:: max(1, len(items) // _SAMPLE)]


def _prompt_tokens(panel: Panel, calls: Sequence[PlannedCall]) -> float:
    """The tokens of the prompts of all calls of one judge; code reads none."""
    if not calls or not calls[0].judge.is_model:
        return 0.0
    sample, length = sampled(calls), 0
    for call in sample:
        prompt = judge_prompt(call.criteria, call.case, panel.personas.get(call.case.maturity), b"", call.hardening)
        length += len(prompt.system) + len(prompt.user)
    return length / len(sample) * len(calls) / CHARACTERS_PER_TOKEN
