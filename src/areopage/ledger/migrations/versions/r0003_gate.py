"""The gate: exchanges with their texts and reasons, labels of grounding, releases; and the collections of a key."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Apply."""
    op.add_column("api_keys", sa.Column("collections", sa.Text(), nullable=False, server_default=""))
    create_exchanges()
    create_exchange_parts()
    create_reviews()


def text(name: str, length: int = 0, **options: Any) -> "sa.Column[str]":
    """A column of text that is never NULL; a length of 0 means that any is taken."""
    return sa.Column(name, sa.String(length) if length else sa.Text(), nullable=False, **options)


def number() -> "sa.Column[int]":
    """The key that the database counts up."""
    return sa.Column("number", sa.Integer, primary_key=True, autoincrement=True)


def exchange() -> "sa.Column[int]":
    """The key of what belongs to an exchange."""
    return sa.Column("exchange", sa.Integer, sa.ForeignKey("exchanges.number"), primary_key=True)


def moment(name: str, nullable: bool = False) -> "sa.Column[Any]":
    """A column of times in UTC."""
    return sa.Column(name, sa.DateTime, nullable=nullable)


def create_exchanges() -> None:
    """Answers on their way out."""
    op.create_table(
        "exchanges",
        number(),
        text("id", 32, unique=True),
        moment("at"),
        text("origin", 16),
        text("collection", 128),
        text("verdict", 16),
        text("mode", 16),
        text("response_lang", 16),
        text("question_key", 32),
        sa.Column("confidence_bin", sa.Integer),
        sa.Column("unsupported_bin", sa.Integer),
        sa.Column("p_unsupported", sa.Float),
        *(text(name) for name in ("metrics", "sources_filter", "model")),
        text("profile", 32),
        text("version", 64),
        text("key", 128),
        sa.Column("seconds", sa.Float),
        sa.Column("gate_seconds", sa.Float),
    )
    figures = ["verdict", "mode", "response_lang", "confidence_bin", "unsupported_bin"]
    op.create_index("ix_exchanges_figures", "exchanges", [*figures, "at", "origin", "collection"])
    op.create_index("ix_exchanges_at", "exchanges", ["at", "number"])
    op.create_index("ix_exchanges_verdict", "exchanges", ["verdict", "at", "number"])
    op.create_index("ix_exchanges_collection", "exchanges", ["collection", "at", "number"])
    op.create_index("ix_exchanges_question", "exchanges", ["question_key", "at", "number"])


def create_exchange_parts() -> None:
    """Their texts, and the reasons that decided."""
    op.create_table(
        "exchange_texts",
        exchange(),
        *(text(name) for name in ("question", "generation", "answer", "documents")),
        sa.Column("decision", sa.Text()),
        text("session"),
    )
    op.create_table(
        "exchange_reasons",
        exchange(),
        sa.Column("code", sa.String(32), primary_key=True),
        moment("at"),
        text("verdict", 16),
        text("origin", 16),
        text("collection", 128),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_exchange_reasons_code", "exchange_reasons", ["code", "at", "verdict", "origin", "collection"])


def create_reviews() -> None:
    """What people said of answers that were held back, and what became of these."""
    op.create_table(
        "grounding_labels",
        number(),
        text("exchange_id", 32),
        text("rater", 128),
        text("grounded", 16),
        *(text(name) for name in ("sentences", "note")),
        text("origin", 16),
        moment("created_at"),
    )
    op.create_index("ix_grounding_labels_exchange", "grounding_labels", ["exchange_id", "rater"])
    op.create_table(
        "releases",
        sa.Column("exchange_id", sa.String(32), primary_key=True),
        text("state", 16),
        text("text"),
        text("rater", 128),
        moment("at", nullable=True),
    )
