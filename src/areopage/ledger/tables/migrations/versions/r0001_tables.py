"""Create every table of the metadata."""

from alembic import op

from areopage.ledger.tables.connection import create_tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Apply."""
    create_tables(op.get_bind())
