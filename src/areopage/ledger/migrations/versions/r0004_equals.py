"""The gate: which held-back answers are equal, and which judgments belong to an exchange."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Apply. Answers that wait already have no key: each stays an item of its own."""
    op.add_column("exchanges", sa.Column("held_key", sa.String(32), nullable=False, server_default=""))
    keyed = sa.text("held_key != ''")
    op.create_index("ix_exchanges_held", "exchanges", ["held_key", "number"], sqlite_where=keyed, postgresql_where=keyed)
    op.create_table(
        "exchange_judgments",
        sa.Column("exchange", sa.Integer, sa.ForeignKey("exchanges.number"), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_exchange_judgments_key", "exchange_judgments", ["key"])
