"""`areopage schema`: print the JSON schema of a file."""

from typing import Annotated

import typer

from areopage.cli.options import one_of


def schema(name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Without a name: list them.")] = None) -> None:
    """Print the JSON schema of a file that areopage reads or writes."""
    from areopage.app import published_schemas, schema_text

    if name is None:
        typer.echo("\n".join(published_schemas()))
    else:
        one_of("NAME", name, tuple(published_schemas()))
        typer.echo(schema_text(name), nl=False)
