"""Runs, their cases, answers, judgments and verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "ledger_meta",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(128), primary_key=True),
        sa.Column("suite", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False, index=True),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("finished_at", sa.DateTime),
        sa.Column("spec", sa.Text, nullable=False),
    )
    op.create_table(
        "run_cases",
        sa.Column("run_id", sa.String(128), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("case", sa.Text, nullable=False),
    )
    op.create_table(
        "run_rejected",
        sa.Column("run_id", sa.String(128), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("row", sa.Text, nullable=False),
    )
    create_answers()
    create_judgments()


def create_answers() -> None:
    """The table of answers."""
    op.create_table(
        "answers",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key", sa.String(64), nullable=False, index=True),
        sa.Column("run_id", sa.String(128), sa.ForeignKey("runs.id"), nullable=False, index=True),
        sa.Column("case_id", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("finish_reason", sa.Text, nullable=False),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("completion_tokens", sa.Integer),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
    )


def create_judgments() -> None:
    """The two tables of judgments."""
    op.create_table(
        "judgments",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key", sa.String(64), nullable=False, index=True),
        sa.Column("run_id", sa.String(128), sa.ForeignKey("runs.id"), nullable=False, index=True),
        sa.Column("judge", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("pass_index", sa.Integer, nullable=False),
        sa.Column("raw_text", sa.Text, nullable=False),
        sa.Column("repair_text", sa.Text, nullable=False),
        sa.Column("finish_reason", sa.Text, nullable=False),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("completion_tokens", sa.Integer),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("repair", sa.String(16), nullable=False),
        sa.Column("steps", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "verdicts",
        sa.Column("judgment_id", sa.Integer, sa.ForeignKey("judgments.id"), primary_key=True),
        sa.Column("criterion", sa.String(256), primary_key=True),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("explanation", sa.Text, nullable=False),
        sa.Column("evidence", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_index("ix_verdicts_criterion_outcome", "verdicts", ["criterion", "outcome"])
