"""A PostgreSQL database that is gone for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, make_url, text


@contextmanager
def gone(postgres: Engine, ledger: str) -> Iterator[None]:
    """Break all connections to a ledger's database, and let none come about until the block ends."""
    name = make_url(ledger).database
    with postgres.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
        connection.execute(text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"), {"name": name})
        yield
        connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"))
