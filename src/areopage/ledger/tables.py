"""The ledger's tables as the newest migration leaves them."""

from sqlalchemy import Column, DateTime, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

REVISION = "0001"
"""The newest revision of the tables; a new ledger is stamped with it."""

metadata = MetaData()

ledger_meta = Table(
    "ledger_meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("suite", Text, nullable=False),
    Column("fingerprint", String(64), nullable=False, index=True),
    Column("folder", Text, nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("finished_at", DateTime),
    Column("spec", Text, nullable=False),
)

run_cases = Table(
    "run_cases",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("case", Text, nullable=False),
)

run_rejected = Table(
    "run_rejected",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("row", Text, nullable=False),
)

answers = Table(
    "answers",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(64), nullable=False, index=True),
    Column("run_id", String(128), ForeignKey("runs.id"), nullable=False, index=True),
    Column("case_id", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("finish_reason", Text, nullable=False),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float, nullable=False),
    Column("created_at", DateTime, nullable=False),
)

judgments = Table(
    "judgments",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(64), nullable=False, index=True),
    Column("run_id", String(128), ForeignKey("runs.id"), nullable=False, index=True),
    Column("judge", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("pass_index", Integer, nullable=False),
    Column("raw_text", Text, nullable=False),
    Column("repair_text", Text, nullable=False),
    Column("finish_reason", Text, nullable=False),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float, nullable=False),
    Column("repair", String(16), nullable=False),
    Column("steps", Text, nullable=False),
    Column("created_at", DateTime, nullable=False),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("judgment_id", Integer, ForeignKey("judgments.id"), primary_key=True),
    Column("criterion", String(256), primary_key=True),
    Column("outcome", String(16), nullable=False),
    Column("score", Float),
    Column("explanation", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("ix_verdicts_criterion_outcome", "criterion", "outcome"),
)
