"""Commands that reports tell their readers to use."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from areopage.bench.results.run_data import RunData
from areopage.report import Span

DEFAULT_OUT = "outputs"


def out_option(view: RunData) -> tuple[str, ...]:
    """Where the runs are; the folder is named by its last part, so that no path of a machine is in a report."""
    place = Path(view.run.folder).parent.name
    return ("--out", place) if place not in ("", DEFAULT_OUT) else ()


def run_command(view: RunData, *words: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A command about a run: `areopage`, its words, the run's id, and its options."""
    return ("areopage", *words, view.run.id, *options, *out_option(view))


def command_span(words: Sequence[str]) -> Span:
    """A command as a shell takes it."""
    return Span(shlex.join(words), "code")
