"""What models cost: the price of the configuration, else the provider's list price from the bundled table `prices.yml`.

A list price holds for the provider's own server alone, and carries the day on which it was noted.
"""

import datetime
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from areopage.jury.judges import Price
from areopage.models import ModelReference, ModelSettings

PRICES_FILE = Path(__file__).with_name("prices.yml")
_VERSION = re.compile(r"-(latest|\d{3,8}|\d{4}-\d{2}-\d{2})")
"""What providers put behind the name of a model for one version of it."""


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
        found = names.get(model)
        if found is None:
            bases = (name for name in names if model.startswith(name) and _VERSION.fullmatch(model[len(name) :]))
            found = next((names[name] for name in bases), None)
        if found is None:
            return None
        return Price(
            input_per_million=found[0], output_per_million=found[1], currency=self.currency, listed=self.noted.isoformat()
        )


@cache
def price_list() -> PriceList:
    """The bundled table."""
    return msgspec.yaml.decode(PRICES_FILE.read_bytes(), type=PriceList)


def known_price(
    own: Price | None, reference: ModelReference, configured: Mapping[str, Price], settings: ModelSettings
) -> Price | None:
    """The price of a model: its own, else that of `prices` in the configuration, else its provider's list price.

    Args:
        own: stated where the judge or the target is configured.
        configured: by reference.
        settings: with the environment, which may name another server than the provider's.
    """
    if own is not None:
        return own
    if (stated := configured.get(str(reference))) is not None:
        return stated
    contact = settings.contact(reference)
    host = urlsplit(contact.address).hostname if contact is not None else None
    return price_list().price_of(host, reference.model) if host else None
