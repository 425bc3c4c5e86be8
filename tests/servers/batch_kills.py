"""Named moments at which a process that sends batches kills itself.

`KILL` in its environment is one of `KILLS`, or of `KILLS_WITHOUT_FILES` with `SERVICE=AnthropicBatches`.
"""

KILLED_AT = """
import os, signal
from areopage.bench.execution.batch_phase import BatchCalls
from areopage.ledger.write.sent_batches import SentBatches
from areopage.models.anthropic_batches import AnthropicBatches
from areopage.models.openai_batches import OpenAIBatches

service = {"AnthropicBatches": AnthropicBatches}.get(os.environ.get("SERVICE"), OpenAIBatches)
name, moment = os.environ["KILL"].split(" ")
owner = next(one for one in (SentBatches, service, BatchCalls) if hasattr(one, name))
made = getattr(owner, name)

def dies():
    os.kill(os.getpid(), signal.SIGKILL)

def plain(self, *given):
    if moment == "after":
        made(self, *given)
    dies()

async def awaited(self, *given):
    if moment == "after":
        await made(self, *given)
    dies()

setattr(owner, name, plain if owner is SentBatches else awaited)
"""
KILLS = (
    *("note before", "note after", "withdraw before", "upload after", "uploaded after", "asked before", "asked after"),
    *("create after", "created after", "seen after", "results after", "flush before", "flush after", "ended after"),
    "discarded before",
)
"""In the order in which a run that is resumed after each comes by them."""
KILLS_WITHOUT_FILES = (
    *("note before", "note after", "withdraw before", "asked before", "asked after", "create after", "created after"),
    *("seen after", "results after", "flush before", "flush after", "ended after", "discarded before"),
)
"""The same for a service that has no files."""
