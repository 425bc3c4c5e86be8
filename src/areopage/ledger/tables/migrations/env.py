"""Alembic's entry point: runs migrations on the ledger's connection."""

from alembic import context

from areopage.ledger.tables.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
