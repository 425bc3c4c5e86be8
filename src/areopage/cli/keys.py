"""`areopage keys`: who may use the server: create, list, revoke."""

from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.monitor_options import ConfigOption, monitor_ledger
from areopage.cli.monitor_store import actor
from areopage.cli.rag_options import one_ledger_config

app = typer.Typer(help="API keys of the server: who may read, hand over answers, or erase.", no_args_is_help=True)

if TYPE_CHECKING:
    from areopage.ledger.operations import Role

ROLES: "tuple[Role, ...]" = ("ask", "read", "write", "admin")
LONGEST_NAME = 64
LONGEST_COLLECTION = 128


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is; the audit log says so.")],
    role: Annotated[str, typer.Option("--role", metavar="ask|read|write|admin", help="What it allows: see the API reference.")],
    collection: Annotated[
        list[str] | None,
        typer.Option("--collection", metavar="NAME", help="Documents that it may ask about (repeatable); default all."),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Make a key and show it, once: only its hash is kept."""
    from areopage.errors import UserError
    from areopage.ledger.access import ApiKeys, Audit

    chosen = next((known for known in ROLES if known == role), None)
    if chosen is None:
        raise UserError(f"--role {role!r} does not exist: give ask, read, write or admin")
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise UserError(f"NAME: give 1 to {LONGEST_NAME} printable characters")
    scope = [one.strip() for one in collection or ()]
    if not all(0 < len(one) <= LONGEST_COLLECTION and one.isprintable() for one in scope):
        raise UserError(f"--collection: give 1 to {LONGEST_COLLECTION} printable characters")
    with monitor_ledger(one_ledger_config(config), create=True) as ledger:
        record, key = ApiKeys(ledger).create(name.strip(), chosen, scope)
        Audit(ledger).note(actor(), "key_create", record.id, ", ".join([record.name, record.role, *record.collections]))
    typer.echo(key)
    allowed = ", ".join([record.role, *(f"only {one}" for one in record.collections)])
    typer.echo(f"key {record.id} of {record.name} ({allowed}): store it now, it is not shown again", err=True)


@app.command("list")
def list_keys(config: ConfigOption = None) -> None:
    """List keys: id, role, day of creation, whether it is revoked, name, and the collections that it is confined to."""
    from areopage.ledger.access import ApiKeys

    with monitor_ledger(one_ledger_config(config)) as ledger:
        for key in ApiKeys(ledger).list():
            state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "valid"
            scope = f"  (only {', '.join(key.collections)})" if key.collections else ""
            typer.echo(f"{key.id}  {key.role:<5}  {key.created_at:%Y-%m-%d}  {state}  {key.name}{scope}")


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `areopage keys list` shows it.")],
    config: ConfigOption = None,
) -> None:
    """Revoke a key; servers notice within seconds."""
    from areopage.errors import UserError
    from areopage.ledger.access import ApiKeys, Audit

    with monitor_ledger(one_ledger_config(config)) as ledger:
        if not ApiKeys(ledger).revoke(id):
            raise UserError(f"there is no valid key with the id {id!r}: areopage keys list shows them")
        Audit(ledger).note(actor(), "key_revoke", id)
    typer.echo(f"revoked: {id}")
