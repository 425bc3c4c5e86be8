"""The tables about people as the newest migration leaves them: who may enter, who read what, what they labelled."""

from sqlalchemy import Column, DateTime, Float, Index, Integer, String, Table, Text

from areopage.ledger.tables import metadata

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(128), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("revoked_at", DateTime),
    # a JSON list of names; "" for all
    Column("collections", Text, nullable=False, server_default=""),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", DateTime, nullable=False, index=True),
    Column("actor", String(128), nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", String(256), nullable=False, index=True),
    Column("detail", Text, nullable=False),
)

review_items = Table(
    "review_items",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("submission_id", String(128), nullable=False),
    Column("why", String(32), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("state", String(16), nullable=False),
    Column("wanted", Integer, nullable=False),
    Index("ix_review_items_submission", "submission_id", unique=True),
    Index("ix_review_items_state", "state", "number"),
)

# A later label of one rater on one criterion of one answer replaces the earlier one in every figure; none is overwritten.
# The criterion "" is the overall score.
labels = Table(
    "labels",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("submission_id", String(128), nullable=False),
    Column("rater", String(128), nullable=False),
    Column("criterion", String(256), nullable=False),
    Column("score", Float, nullable=False),
    Column("note", Text, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Index("ix_labels_answer", "submission_id", "criterion", "rater"),
)
