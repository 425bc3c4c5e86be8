"""The counts that a display of a run shows: calls by phase, tokens and cost."""

import time
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from areopage.bench import CHILD_PHASE, ROUND, TARGET_PHASE, AskedModels
from areopage.ledger import Answer, Judgment
from areopage.scoring import GIVEN_NAMES

RATE_AFTER = 1.0  # seconds

_GOOD = ("answered", *GIVEN_NAMES)


class Tally:
    """Cost of a run so far."""

    def __init__(self, spec: AskedModels, spent: Mapping[str, float] = MappingProxyType({})) -> None:
        """Args:
        spent: before, by currency.
        """
        self.prices = {judge.name: judge.price for judge in spec.judges if judge.price is not None}
        for name, asked in ((TARGET_PHASE, spec.target), (CHILD_PHASE, spec.child)):
            if asked is not None and asked.price is not None:
                self.prices[name] = asked.price
        self.tokens = 0
        self.costs = {price.currency: spent.get(price.currency, 0.0) for price in self.prices.values()}

    def spend(self, name: str, record: Answer | Judgment) -> None:
        """Count what a call took."""
        self.tokens += (record.prompt_tokens or 0) + (record.completion_tokens or 0)
        if name in self.prices:
            price, cost = self.prices[name], record.cost if isinstance(record, Judgment) else None
            self.costs[price.currency] += price.of(record.prompt_tokens, record.completion_tokens) if cost is None else cost

    def spent(self) -> str:
        """The tokens of this command, and the cost of the run so far where prices are known."""
        costs = (f", {cost:.4f} {currency}" for currency, cost in sorted(self.costs.items()) if currency)
        return f"in all {self.tokens:,} tokens{''.join(costs)}"


class PhaseCount:
    """The calls of a phase: how many there are, how many the ledger held at its begin, and what became of those made since."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.total = self.kept = self.done = 0
        self.first_at = self.told_at = time.monotonic()
        self.outcomes: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """The calls that are not finished."""
        return max(0, self.total - self.kept - self.done)

    @property
    def rate(self) -> float:
        """Finished calls in a second since the first one, which may have waited for other phases; 0 where it is not known yet."""
        since = time.monotonic() - self.first_at
        return (self.done - 1) / since if self.done > 1 and since >= RATE_AFTER else 0.0

    def pace(self) -> str:
        """The rate and the time left, where they are known."""
        return f"{self.rate:.1f}/s, {self.left / self.rate:.0f} s left" if self.rate else ""

    def add(self, outcome: str) -> None:
        """Count a finished call."""
        if not self.done:
            self.first_at = self.told_at = time.monotonic()
        self.done += 1
        self.outcomes[outcome] += 1

    def health(self) -> str:
        """The outcomes of the calls, failures by name."""
        good = sum(self.outcomes[name] for name in _GOOD)
        failed = [f"{count} {name}" for name, count in sorted(self.outcomes.items()) if name not in _GOOD]
        return ", ".join([f"{good} ok", *failed])


class PhaseCounts:
    """The phases of a run, several at once; those of a judge that is asked in rounds follow each other."""

    def __init__(self) -> None:
        self.by_name: dict[str, PhaseCount] = {}
        self._asked: dict[str, PhaseCount] = {}
        self._newest: PhaseCount | None = None

    def note(self, name: str, total: int, kept: int) -> PhaseCount:
        """Note how many calls a phase has, and how many of them the ledger holds."""
        found = self.by_name.setdefault(name, PhaseCount(name))
        found.total, found.kept = total, kept
        self._asked[name.partition(ROUND)[0]] = self._newest = found
        return found

    def of(self, asked: str) -> PhaseCount | None:
        """The present phase of the target or a judge, by its name; the newest where no phase has this name."""
        return self._asked.get(asked, self._newest)
