"""The process of the command: how it begins, and how it ends without taking the interpreter apart."""

import atexit
import os
import signal
import sys
import threading

_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


def command() -> None:
    """Run the command as a process of its own.

    Pydantic takes no plugins unless its variable is set: it would search all that is installed for them, and a plugin is shown
    every configuration that is checked. While the package is imported, Ctrl-C ends the process as one that does not handle it.
    """
    os.environ.setdefault(_PLUGINS, "__all__")
    handled = signal.getsignal(signal.SIGINT)
    if handled is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from areopage.cli.main import main

    signal.signal(signal.SIGINT, handled)
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int) and _is_done():
            os._exit(end.code)
        raise


def _is_done() -> bool:
    """Do what waits for the end of the process; False: the interpreter is to wait for threads, or to name a closed output."""
    if threading.active_count() > 1:
        return False
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True
