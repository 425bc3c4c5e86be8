"""What models cost: the price of the configuration, else the provider's list price from the bundled table `prices.yml`.

A list price holds for the provider's own server alone, and carries the day on which it was noted.
"""

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from areopage.models.port import Completion, Message, Options
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

ASSUMED_MOST = 4096
"""Tokens of an answer that are set aside where no option limits it."""
LIMITS = ("max_completion_tokens", "max_tokens", "num_predict", "n_predict")
"""The options that limit the tokens of an answer."""
_FEWEST_BYTES = 2.0  # of a token of running text; prompts take more
BATCH_FACTOR = 0.5
"""What providers of batch services ask of the price, where the configuration does not say."""

PRICES_FILE = Path(__file__).with_name("prices.yml")
_VERSION = re.compile(r"-(latest|\d{3,8}|\d{4}-\d{2}-\d{2})")
"""What providers put behind the name of a model for one version of it."""


class Price(Struct, frozen=True, kw_only=True):
    """What tokens cost, per million, in one currency.

    `batch_factor` is the part of it that a call of a batch costs. `listed` is the day on which a list price was noted, as
    YYYY-MM-DD; "" for a price of the configuration.
    """

    input_per_million: float
    output_per_million: float
    currency: str
    batch_factor: float = BATCH_FACTOR
    listed: str = ""

    @property
    def is_free(self) -> bool:
        """Whether tokens cost nothing."""
        return self.input_per_million == 0 and self.output_per_million == 0

    def of(self, prompt_tokens: float | None, completion_tokens: float | None) -> float:
        """The price of one call; unknown counts cost nothing."""
        spent = (prompt_tokens or 0) * self.input_per_million + (completion_tokens or 0) * self.output_per_million
        return spent / 1_000_000

    def of_completion(self, completion: Completion) -> float:
        """The price of an answer: what the provider says in US dollars, else that of its tokens as they are billed."""
        if completion.cost is not None and self.currency == "USD":
            return completion.cost
        billed = completion.prompt_tokens if completion.billed_tokens is None else completion.billed_tokens
        return self.of(billed, completion.completion_tokens)

    def worst_of(self, messages: Sequence[Message], options: Options) -> float:
        """What a call costs at most: two bytes a token of the prompt, and the longest answer that its options allow."""
        size = sum(len(message.content.encode("utf-8", "replace")) for message in messages)
        limit = answer_limit(options)
        return self.of(round(size / _FEWEST_BYTES), ASSUMED_MOST if limit is None else limit)

    def in_batch(self) -> "Price":
        """The price of calls of a batch."""
        return replace(
            self,
            input_per_million=self.input_per_million * self.batch_factor,
            output_per_million=self.output_per_million * self.batch_factor,
            batch_factor=1.0,
        )


class PriceList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List prices per million tokens, of prompts and of answers, by the host of the provider's server and the model's name.

    Args:
        noted: the day on which they were noted.
    """

    noted: datetime.date
    currency: str
    hosts: dict[str, dict[str, tuple[float, float]]]

    def price_of(self, host: str, model: str) -> Price | None:
        """The list price of a model, under its own name or that of which it is a version; None where there is none."""
        names = self.hosts.get(host, {})
        model = model.removeprefix("models/")
        price = names.get(model)
        if price is None:
            bases = (name for name in names if model.startswith(name) and _VERSION.fullmatch(model[len(name) :]))
            price = next((names[name] for name in bases), None)
        if price is None:
            return None
        return Price(
            input_per_million=price[0], output_per_million=price[1], currency=self.currency, listed=self.noted.isoformat()
        )


@cache
def price_list() -> PriceList:
    """The bundled table."""
    return msgspec.yaml.decode(PRICES_FILE.read_bytes(), type=PriceList)


def known_price(
    stated_price: Price | None, reference: ModelReference, configured: Mapping[str, Price], settings: ModelSettings
) -> Price | None:
    """The price of a model: its own, else that of `prices` in the configuration, else its provider's list price."""
    if stated_price is not None:
        return stated_price
    if (stated := configured.get(str(reference))) is not None:
        return stated
    contact = settings.contact(reference)
    host = urlsplit(contact.address).hostname if contact is not None else None
    return price_list().price_of(host, reference.model) if host else None


def answer_limit(options: Options) -> int | None:
    """The most tokens of an answer by a call's options; None where none limits it."""
    limits = [value for name in LIMITS if type(value := options.get(name)) is int and value > 0]
    return min(limits, default=None)


def costs_of(spent: Iterable[tuple[Price | None, float, float]]) -> dict[str, float]:
    """Costs by currency.

    Args:
        spent: a model's price, and its tokens of prompts and of answers; without a price they are left out.
    """
    costs: dict[str, float] = {}
    for price, prompts, answers in spent:
        if price is not None:
            costs[price.currency] = costs.get(price.currency, 0.0) + price.of(round(prompts), round(answers))
    return costs
