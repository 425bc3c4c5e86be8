"""The duty that fills the review queue, for whoever runs a worker."""

import asyncio
from datetime import datetime

from areopage.ledger.store import Ledger
from areopage.monitor.config import MonitorConfig
from areopage.monitor.duties import Duty
from areopage.monitor.thresholds import thresholds_of
from areopage.review.fill import FillSettings, fill_queue
from areopage.suites.loader import load_suite

HOURLY = "20 * * * *"


def fill_settings(config: MonitorConfig) -> FillSettings:
    """What goes to the queue, as `monitor.yml` says.

    Raises:
        ConfigError: the suite cannot be loaded, or a threshold is not on its scale.
    """
    review, scale = config.section.review, load_suite(config.suite).scale
    limits = thresholds_of(config, scale)
    return FillSettings(
        threshold=limits.answer if review.low_scores else None,
        higher_is_better=scale.higher_is_better,
        spread=limits.spread,
        sample=review.sample,
        raters=review.raters,
    )


def review_duty(ledger: Ledger, config: MonitorConfig) -> Duty:
    """Fill the queue every hour."""

    async def fill(due: datetime) -> None:
        await asyncio.to_thread(fill_queue, ledger, fill_settings(config), due)

    return Duty(name="review", schedule=HOURLY, run=fill)
