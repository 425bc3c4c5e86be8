"""Work that survives the death of its process: handlers, a durable queue, workers and recovery."""

from .database import queue_url as queue_url  # Where the queue of a ledger lies.

# Pauses that double, from `first` to `longest` seconds, each varied by a quarter so that retries do not coincide.
from .handlers import Backoff as Backoff
from .handlers import Finished as Finished  # The item is done, or nothing is left to do for it.
from .handlers import Handler as Handler  # One kind of work.
from .handlers import ItemOutcome as ItemOutcome  # How one run of an item ended.
from .handlers import ItemQueue as ItemQueue  # How the items of one kind of work are queued.
from .handlers import Pending as Pending  # An item that the ledger says is to be done
from .handlers import RateLimit as RateLimit  # At most `items` begin in `seconds`, over all processes.
from .handlers import Retry as Retry  # The item is to be run again.
from .handlers import ScheduledJob as ScheduledJob  # A periodic task.
from .locks import exclusive as exclusive  # Wait until no other process holds a lock, and hold it.
from .locks import try_exclusive as try_exclusive  # Yield whether this process holds a lock until the block ends.
from .queue import Queue as Queue  # The queue of a worker pool, open.
from .shared_limits import SharedLimits as SharedLimits  # Keeps a process's calls within its part of each server's limits
from .shared_limits import is_on_this_machine as is_on_this_machine  # Whether an address is one of the computer itself.
from .signals import stop_signals as stop_signals  # An event that the first signal sets.
from .worker import USUAL_PACE as USUAL_PACE
from .worker import OpenWorker as OpenWorker  # A worker in the running event loop
from .worker import Work as Work  # What a worker works for
from .worker import Worker as Worker  # One worker
from .worker import WorkerPace as WorkerPace  # How often a worker does its regular work, in seconds.
from .worker import WorkerPool as WorkerPool  # Workers with the same handlers and jobs.
from .worker import open_worker as open_worker  # Open a worker in the running event loop, which works until the block ends.
from .workers import WorkerId as WorkerId  # A worker's id, held until it is released or its process dies.
