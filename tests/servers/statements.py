"""SQL is compiled once in a process of tests, not once for each of the many ledgers that it opens."""

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

DIALECTS = (SQLiteDialect_pysqlite, PGDialect_psycopg)
STATEMENTS = 5000


def share_compiled_statements() -> None:
    """Let all engines of one kind of database that are opened from now on keep their compiled statements in one place.

    SQLAlchemy finds a compiled statement by the statement's structure and the dialect. All dialects of SQLite are alike here, and
    all of PostgreSQL: no engine of this package or of dbos gives its dialect options, and the tests have one server.
    """
    kept: LRUCache[Any, Any] = LRUCache(STATEMENTS)

    def share(connection: Connection) -> None:
        if isinstance(connection.dialect, DIALECTS):
            connection.engine._compiled_cache = kept

    def alike(one: object, other: object) -> bool:
        return type(one) is type(other)

    def number(one: object) -> int:
        return hash(type(one))

    event.listen(Engine, "engine_connect", share)
    for dialect in DIALECTS:
        for name, method in (("__eq__", alike), ("__hash__", number)):
            setattr(dialect, name, method)
