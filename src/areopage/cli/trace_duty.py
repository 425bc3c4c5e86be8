"""The duty that erases old texts from trace files, for whoever runs a worker."""

import asyncio
from datetime import datetime, timedelta

from areopage.monitor.config import MonitorConfig
from areopage.monitor.duties import Duty
from areopage.monitor.retention import SCHEDULE
from areopage.rag.config import RagConfig
from areopage.rag.logs.erase_traces import erase_traces_before


def traces_duty(config: MonitorConfig, rag: RagConfig | None) -> Duty | None:
    """Erase texts from this computer's trace files by `storage.retention_days`; None where everything is kept.

    Args:
        rag: the pipeline's configuration; None: the one that is found here, else the defaults.

    Raises:
        ConfigError: the one that is found is wrong.
    """
    days = config.section.storage.retention_days
    if days is None:
        return None
    if rag is None:
        from areopage.cli.rag_options import rag_config

        rag = rag_config(None)
    folder = rag.path(rag.section.traces.folder)

    async def run(due: datetime) -> None:
        await asyncio.to_thread(erase_traces_before, folder, due - timedelta(days=days))

    return Duty(name="trace_retention", schedule=SCHEDULE, run=run)
