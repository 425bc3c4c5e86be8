"""Entry of the command `areopage`."""

import sys
from typing import Annotated, NoReturn

import click
import typer

from areopage import __version__
from areopage.cli import bench, criteria, demo, gate, keys, models, monitor, rag, review, suites
from areopage.cli.agreement import agreement
from areopage.cli.serve import serve
from areopage.errors import UserError

USER_ERROR = 2
INTERRUPTED = 130

app = typer.Typer(
    name="areopage",
    help="A jury of judges that says whether answers of a language model are safe, right and grounded.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(bench.app, name="bench")
app.add_typer(criteria.app, name="criteria")
app.add_typer(suites.app, name="suites")
app.add_typer(models.app, name="models")
app.add_typer(monitor.app, name="monitor")
app.add_typer(keys.app, name="keys")
app.add_typer(gate.app, name="gate")
app.add_typer(review.app, name="review")
app.add_typer(rag.app, name="rag")
app.add_typer(demo.app, name="demo")
app.command("agreement")(agreement)
app.command("serve")(serve)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"areopage {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command; a mistake that the user can mend is one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as usage:
        usage.show()
        sys.exit(USER_ERROR)
    except click.ClickException as usage:
        complain(f"{usage.format_message()} (--help shows all options)")
    except UserError as fault:
        complain(str(fault))
    except (click.Abort, KeyboardInterrupt):
        typer.echo("areopage: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # whoever read our output has gone; the interpreter would complain once more while flushing
        sys.stdout = None
        sys.exit(INTERRUPTED)
    except UnicodeEncodeError:
        complain("a name holds bytes that are not UTF-8: rename the file, or write it otherwise")
    except OSError as fault:
        complain(f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault))
    sys.exit(code if isinstance(code, int) else 0)


def complain(message: str) -> NoReturn:
    """One line on stderr, and the exit code of a user's mistake."""
    typer.echo(f"areopage: {' '.join(message.split())}", err=True)
    sys.exit(USER_ERROR)
