"""Commands `areopage serve`, `areopage keys` and `areopage init`."""

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from areopage.app import find_config, open_ledger, write_template
from areopage.cli.options import ConfigOption, actor, named_place, one_of, tell
from areopage.errors import MissingExtra, UserError
from areopage.ledger import Role

ROLES: tuple[Role, ...] = ("ingest", "ask", "read", "write", "admin")
LONGEST_NAME = 64
LONGEST_COLLECTION = 128
PARTS = ("fastapi", "uvicorn", "prometheus_client", "python_multipart", "dbos")


def serve(
    config: ConfigOption = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Address to listen on; default: server.host.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="PORT", min=0, max=65535, help="Port to listen on; default: server.port; 0 takes a free port."
        ),
    ] = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Serve API and pages only; run `areopage monitor worker` separately.")
    ] = False,
) -> None:
    """Serve the API and the pages and evaluate submitted answers; a section `rag` adds question answering."""
    settings = find_config(config).listening_at(host, port)
    if not all(find_spec(part) for part in PARTS):
        raise MissingExtra("areopage serve", "server")
    from areopage.server import run_server  # needs the extra

    run_server(settings, tell, worker=not no_worker)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Target folder, created if missing. Default: the current folder.")
    ] = Path(),
) -> None:
    """Write an areopage.yml with every key, its default and its meaning."""
    typer.echo(f"written to {write_template(folder)}")


def create_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the key's owner, as shown in the audit log.")],
    role: Annotated[
        str, typer.Option("--role", metavar="ingest|ask|read|write|admin", help="Permissions of the key; see the API reference.")
    ],
    collection: Annotated[
        list[str] | None,
        typer.Option(
            "--collection",
            "--source",
            metavar="NAME",
            help="Collection or source of answers that the key is limited to (repeatable); default all.",
        ),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Create a key and show it once; the ledger stores only its hash."""
    chosen = one_of("--role", role, ROLES)
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise UserError(f"NAME: give 1 to {LONGEST_NAME} printable characters")
    scope = [collection_name.strip() for collection_name in collection or ()]
    if not all(0 < len(collection_name) <= LONGEST_COLLECTION and collection_name.isprintable() for collection_name in scope):
        raise UserError(f"--collection: give 1 to {LONGEST_COLLECTION} printable characters")
    with open_ledger(find_config(config), create=True) as ledger:
        record, key = ledger.api_keys.create(name.strip(), chosen, scope)
        ledger.audit.note(actor(), "key_create", record.id, ", ".join([record.name, record.role, *record.collections]))
    typer.echo(key)
    allowed = ", ".join([record.role, *(f"only {collection_name}" for collection_name in record.collections)])
    tell(f"key {record.id} of {record.name} ({allowed}): store it now, it will not be shown again")


def list_keys(config: ConfigOption = None) -> None:
    """List keys: id, role, day of creation, state, name and collections."""
    with open_ledger(find_config(config)) as ledger:
        keys = ledger.api_keys.list()
        if not keys:
            create = shlex.join(["areopage", "keys", "create", "NAME", *named_place(config)])
            typer.echo(f"no keys: the server accepts local requests only ({create} makes one)")
        for key in keys:
            state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "valid"
            scope = f"  (only {', '.join(key.collections)})" if key.collections else ""
            typer.echo(f"{key.id}  {key.role:<6}  {key.created_at:%Y-%m-%d}  {state}  {key.name}{scope}")


def revoke_key(
    id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `areopage keys list` shows it.")],
    config: ConfigOption = None,
) -> None:
    """Revoke a key; servers notice within seconds."""
    with open_ledger(find_config(config)) as ledger:
        if not ledger.api_keys.revoke(id):
            listed = shlex.join(["areopage", "keys", "list", *named_place(config)])
            raise UserError(f"there is no valid key with the id {id!r}: {listed} shows them")
        ledger.audit.note(actor(), "key_revoke", id)
    typer.echo(f"revoked: {id}")
