"""How many threads a model in this process computes with.

The number changes no answer (see `load_server`), so that it may follow the load of the machine.
"""

import os
from collections.abc import Iterable
from pathlib import Path

_SHARE = 0.75  # of the time of its threads: with less, other programs hold the model up at every token
_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def idle_cores() -> int:
    """The cores that nothing else uses by the load average of the last minute, but at least half of all.

    Half of the processors where the system tells neither its cores nor its load.
    """
    processors = _usable()
    siblings = _siblings(processors)
    if not siblings or not hasattr(os, "getloadavg"):
        return max(1, len(processors) // 2)
    return threads_for(len(siblings), os.getloadavg()[0])


def threads_for(cores: int, load: float) -> int:
    """The threads for a machine with this many cores and this load average."""
    return max(1, cores // 2, cores - round(load))


def threads_granted(threads: int, cpu_seconds: float, seconds: float) -> int:
    """The threads for which the processors had time.

    As many as there were if they got at least 75 % of the time. A thread that waits for a busy processor holds all others up.
    """
    granted = cpu_seconds / seconds
    return threads if granted >= _SHARE * threads else max(1, min(threads, round(granted)))


def _usable() -> list[int]:
    """The numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _siblings(processors: Iterable[int]) -> set[str]:
    """The cores of processors, each by the processors that it counts as; empty where the system does not tell."""
    try:
        return {Path(_SIBLINGS.format(number)).read_text() for number in processors}
    except OSError:
        return set()
