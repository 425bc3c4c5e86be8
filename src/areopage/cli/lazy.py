"""Command groups that import their commands on use, so that help is fast."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click
import typer


class LazyGroup(click.Group):
    """A group of commands, each named by module and function."""

    def __init__(
        self,
        name: str,
        help: str,
        groups: Mapping[str, click.Group] | None = None,
        commands: Mapping[str, tuple[str, str]] | None = None,
        **options: Any,
    ) -> None:
        """Args:
        groups: groups below this one, by name.
        commands: for each command `module:function` below `areopage.cli`, and one line of help.
        """
        super().__init__(name, help=help, no_args_is_help=True, **options)
        self.groups, self.places = dict(groups or {}), dict(commands or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of groups, then of commands."""
        return [*self.groups, *self.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name in self.groups:
            return self.groups[cmd_name]
        if cmd_name not in self.places:
            return None
        module, _, function = self.places[cmd_name][0].partition(":")
        return _command_of(getattr(import_module(f"areopage.cli.{module}"), function))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        rows = [(name, group.help or "") for name, group in self.groups.items()]
        rows += [(name, line) for name, (_, line) in self.places.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _command_of(function: Callable[..., Any]) -> click.Command:
    """Build a command from a function's annotations."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.command()(function)
    return typer.main.get_command(app)
