"""The gate: counts of exchanges by day, and their lists by origin."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

KEY = {"origin": 16, "collection": 128, "verdict": 16, "kind": 16, "value": 32}
COUNTED = {
    "mode": ("exchanges", "mode"),
    "language": ("exchanges", "response_lang"),
    "confidence": ("exchanges", "confidence_bin"),
    "unsupported": ("exchanges", "unsupported_bin"),
    "reason": ("exchange_reasons", "code"),
}
"""What is counted: its table and column."""


def upgrade() -> None:
    """Apply; what is there already is counted."""
    made = op.create_table(
        "exchange_days",
        sa.Column("day", sa.Date, primary_key=True),
        *(sa.Column(name, sa.String(length), primary_key=True) for name, length in KEY.items()),
        sa.Column("exchanges", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    for kind, (table, column) in COUNTED.items():
        found = sa.table(table, *map(sa.column, ("at", "origin", "collection", "verdict", column)))
        value = sa.cast(found.c[column], sa.String(32))
        place = (sa.func.date(found.c.at), found.c.origin, found.c.collection, found.c.verdict)
        counted = sa.select(*place, sa.literal_column(f"'{kind}'"), value, sa.func.count())
        counted = counted.where(found.c[column].is_not(None)).group_by(*place, value)
        op.execute(made.insert().from_select(["day", *KEY, "exchanges"], counted))
    op.create_index("ix_exchanges_origin", "exchanges", ["origin", "at", "number"])
