"""Inserts with a rule for existing rows, the same in SQLite and PostgreSQL.

Rows are given in the order of their keys, so that two transactions on PostgreSQL that touch the same ones wait for each other
and never in a circle.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite

RowValues = dict[str, Any]
AnyInsert = postgresql.Insert | sqlite.Insert


def insert_into(connection: Connection, table: Table) -> AnyInsert:
    """Build an INSERT that supports conflict rules of the connection's database."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def _key_names(table: Table) -> list[str]:
    """The columns of a table's primary key."""
    return [column.name for column in table.primary_key.columns]


def insert_missing(connection: Connection, table: Table, rows: Sequence[RowValues]) -> None:
    """Insert rows; rows with an existing key are kept."""
    if rows:
        connection.execute(insert_into(connection, table).on_conflict_do_nothing(), _by_key(table, rows))


def insert_or_replace(connection: Connection, table: Table, row: RowValues) -> None:
    """Insert a row, or replace the values of an existing row."""
    keys = _key_names(table)
    statement = insert_into(connection, table)
    given = statement.excluded
    changes = {name: given[name] for name in row if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changes), [row])


def insert_or_add(connection: Connection, table: Table, rows: Sequence[RowValues]) -> None:
    """Insert rows of counts, or add their counts to existing rows."""
    if not rows:
        return
    keys = _key_names(table)
    statement = insert_into(connection, table)
    given = statement.excluded
    sums = {name: table.c[name] + given[name] for name in rows[0] if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=sums), _by_key(table, rows))


def _by_key(table: Table, rows: Sequence[RowValues]) -> list[RowValues]:
    """Sort rows by the table's primary key."""
    names = _key_names(table)
    return sorted(rows, key=lambda row: [row[name] for name in names])
