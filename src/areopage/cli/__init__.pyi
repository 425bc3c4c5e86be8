"""Command line: one module per group of commands; heavy imports happen inside commands."""

from .exit_codes import INCONCLUSIVE as INCONCLUSIVE  # Too little could be read or scored to tell.
from .exit_codes import INTERRUPTED as INTERRUPTED
from .options import ConfigOption as ConfigOption
from .options import one_of as one_of  # The allowed value equal to `name`, or None without a name.
from .options import tell as tell  # Print a line on stderr.
from .process import command as command  # Run the command as a process of its own.
from .progress.pace import PLAIN_EVERY as PLAIN_EVERY
