"""What commands that ask models share: agreement, confirmation, progress, and the end of a command that was stopped."""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

import typer

from areopage.bench import AskedModels, Observer, paid_models
from areopage.cli.exit_codes import INCONCLUSIVE, INTERRUPTED
from areopage.cli.options import tell
from areopage.cli.progress.run_display import PlainProgress
from areopage.errors import DamagedLedger, ServerDown, StorageError, UserError, name_list
from areopage.models import Contact

_TERMINAL_VARIABLES = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"})
"""Variables that say of another output that it is a terminal, as rich understands them."""


def ask_to_send(asked: Sequence[Contact]) -> bool:
    """Whether the user agrees, on a terminal, to send variables to servers that a suite or a stored run defines."""
    if not sys.stdin.isatty():
        return False
    for contact in asked:
        tell(f"the suite sends the value of {name_list(contact.variables)} to {contact.address}")
    if not typer.confirm("Send it?", default=False, err=True):
        raise typer.Exit(INTERRUPTED)
    return True


def confirm(specs: Sequence[AskedModels], *, yes: bool) -> None:
    """Ask whether to begin.

    Raises:
        UserError: there is no terminal to ask on, and a model costs money.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        if paid := dict.fromkeys(name for spec in specs for name in paid_models(spec, os.environ)):
            raise UserError(
                f"{name_list(paid)}: these models cost money, and there is no terminal to ask on: give --yes to start"
            )
    elif not typer.confirm("Go on?", default=True, err=True):
        raise typer.Exit(INTERRUPTED)


def told_size(prompt_tokens: int, completion_tokens: int, costs: Mapping[str, float]) -> str:
    """Tokens, and costs by currency where there are prices."""
    cost = ""
    if costs:
        from areopage.report import report_locale

        cost = report_locale("en").costs(costs)
    return f"about {prompt_tokens:,} prompt and {completion_tokens:,} answer tokens{f', about {cost}' if cost else ''}"


@contextmanager
def asking_display(spec: AskedModels, spent: Mapping[str, float] = MappingProxyType({})) -> Iterator[Observer]:
    """The display that fits where the output goes.

    Args:
        spent: before, by currency.
    """
    if sys.stderr.isatty() or not _TERMINAL_VARIABLES.isdisjoint(os.environ):
        from rich.console import Console  # takes long: output that no terminal shows does without

        console = Console(stderr=True)
        if console.is_terminal:
            from areopage.cli.progress.live_display import LiveProgress

            with LiveProgress(spec, console, spent) as live:
                yield live
                return
    with PlainProgress(spec, spent) as plain:
        yield plain


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """SIGTERM and a lost terminal stop the run as Ctrl-C does: what has arrived is stored, and the user is told how to go on.

    A process in the background of a script ignores Ctrl-C, but not SIGTERM; one under `nohup` ignores the loss of its terminal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextmanager
def resumed_by_the_same_command() -> Iterator[None]:
    """End a command that was stopped, or lost its server, with its exit code: what has arrived is kept."""
    kept = "what has arrived is kept: the same command goes on from there"
    try:
        with ended_like_ctrl_c():
            yield
    except KeyboardInterrupt:
        tell(f"\nstopped; {kept}")
        raise typer.Exit(INTERRUPTED) from None
    except DamagedLedger:
        raise  # the same command meets it again
    except (ServerDown, StorageError) as fault:
        tell(f"areopage: {' '.join(str(fault).split())}; {kept}")
        raise typer.Exit(INCONCLUSIVE) from None
