"""The monitor: submissions, scores, their counts and their index of words, alerts, workers, keys, reviews and labels."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Apply."""
    op.add_column("runs", sa.Column("kind", sa.String(16), nullable=False, server_default="bench"))
    create_submissions()
    create_quality_scores()
    create_quality_parts()
    create_search()
    create_counts()
    create_alerts()
    create_rounds_and_workers()
    create_access()
    create_reviews()


def text(name: str, length: int = 0, **options: Any) -> "sa.Column[str]":
    """A column of text that is never NULL; a length of 0 means that any is taken."""
    return sa.Column(name, sa.String(length) if length else sa.Text(), nullable=False, **options)


def key(name: str, length: int) -> "sa.Column[str]":
    """A column of text of the primary key."""
    return sa.Column(name, sa.String(length), primary_key=True)


def whole(name: str, **options: Any) -> "sa.Column[int]":
    """A column of whole numbers that is never NULL."""
    return sa.Column(name, sa.Integer, nullable=False, **options)


def number() -> "sa.Column[int]":
    """The key that the database counts up."""
    return sa.Column("number", sa.Integer, primary_key=True, autoincrement=True)


def moment(name: str, nullable: bool = False) -> "sa.Column[Any]":
    """A column of times in UTC."""
    return sa.Column(name, sa.DateTime, nullable=nullable)


def real(name: str, nullable: bool = True) -> "sa.Column[float]":
    """A column of real numbers."""
    return sa.Column(name, sa.Float, nullable=nullable)


def create_submissions() -> None:
    """What was handed over."""
    op.create_table(
        "submissions",
        number(),
        text("id", 128, unique=True),
        sa.Column("received_at", sa.DateTime, nullable=False, index=True),
        moment("answered_at"),
        text("state", 16),
        whole("attempts"),
        moment("next_attempt_at"),
        text("reason"),
        text("language", 16),
        text("source", 128),
        text("variant", 64),
        text("case"),
    )
    op.create_index("ix_submissions_state_next", "submissions", ["state", "next_attempt_at"])
    op.create_index("ix_submissions_state_received", "submissions", ["state", "received_at"])


def create_quality_scores() -> None:
    """What it scored."""
    op.create_table(
        "quality_scores",
        number(),
        text("id", 128, unique=True),
        sa.Column("run_id", sa.String(128), sa.ForeignKey("runs.id"), nullable=False),
        moment("timestamp"),
        moment("evaluated_at"),
        text("suite", 128),
        text("suite_version", 64),
        text("language", 16),
        text("source", 128),
        text("variant", 64),
        *(text(name) for name in ("question", "answer")),
        *(real(name) for name in ("exactitude", "completude", "format", "sources", "score_global")),
        text("band", 16),
        *(text(name) for name in ("feedback", "strengths", "weaknesses", "suggestions", "reason", "standing")),
        whole("scored"),
        whole("planned"),
        real("spread"),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("completion_tokens", sa.Integer),
        real("seconds", nullable=False),
        real("cost"),
        text("currency", 8),
    )
    covered = ["timestamp", "number", "source", "variant", "suite", "score_global"]
    op.create_index("ix_quality_scores_timestamp", "quality_scores", covered)
    op.create_index("ix_quality_scores_band", "quality_scores", ["band", "timestamp", "number"])
    op.create_index("ix_quality_scores_source", "quality_scores", ["source", "timestamp", "number"])
    op.create_index("ix_quality_scores_global", "quality_scores", ["score_global", "timestamp", "source", "variant", "number"])
    there = sa.text("spread IS NOT NULL")
    spread = ["spread", "timestamp", "source", "variant", "number"]
    op.create_index("ix_quality_scores_spread", "quality_scores", spread, sqlite_where=there, postgresql_where=there)
    op.create_index("ix_quality_scores_evaluated", "quality_scores", ["evaluated_at", "number"])


def create_quality_parts() -> None:
    """The criteria of a score, and the judgments that it rests on."""
    op.create_table(
        "quality_criteria",
        sa.Column("quality_number", sa.Integer, sa.ForeignKey("quality_scores.number"), primary_key=True),
        key("criterion", 256),
        whole("position"),
        real("score"),
        text("band", 16),
        real("agreement"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "evaluation_judgments",
        key("submission_id", 128),
        key("key", 64),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_evaluation_judgments_key", "evaluation_judgments", ["key"])


def create_search() -> None:
    """The index of words and filters, of each database's own kind; `areopage.ledger.search` fills and asks it.

    PostgreSQL keeps the words apart from their rows (TOAST), so that a word that stands everywhere leads to few pages.
    """
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE quality_search USING fts5(words, tokenize='ascii', detail='none', columnsize=0)")
        return
    op.execute("CREATE TABLE quality_search (number INTEGER PRIMARY KEY, words TSVECTOR NOT NULL) WITH (toast_tuple_target=128)")
    op.execute("ALTER TABLE quality_search ALTER COLUMN words SET STORAGE EXTERNAL")
    op.execute("CREATE INDEX ix_quality_search_words ON quality_search USING gin (words)")


def create_counts() -> None:
    """What every figure of a period is folded from."""
    op.create_table(
        "quality_counts",
        sa.Column("day", sa.Date, primary_key=True),
        *(key(name, size) for name, size in (("variant", 64), ("criterion", 256))),
        sa.Column("score", sa.Float, primary_key=True),
        *(key(name, size) for name, size in (("suite", 128), ("source", 128))),
        whole("answers"),
        *(real(name, nullable=False) for name in ("total", "squares")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "quality_days",
        sa.Column("day", sa.Date, primary_key=True),
        *(key(name, size) for name, size in (("suite", 128), ("source", 128), ("variant", 64))),
        *(whole(name) for name in ("scored", "unscored", "failed", "left_out")),
        real("seconds", nullable=False),
        *(whole(name) for name in ("prompt_tokens", "completion_tokens")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "judge_days",
        sa.Column("day", sa.Date, primary_key=True),
        *(key(name, size) for name, size in (("judge", 256), ("model", 256), ("outcome", 16), ("currency", 8))),
        *(whole(name) for name in ("verdicts", "calls")),
        real("seconds", nullable=False),
        *(whole(name) for name in ("prompt_tokens", "completion_tokens")),
        real("cost", nullable=False),
        sqlite_with_rowid=False,
    )


def create_alerts() -> None:
    """Conditions that hold or held."""
    op.create_table(
        "alerts",
        number(),
        text("rule", 64),
        text("subject", 256),
        text("state", 16),
        moment("opened_at"),
        moment("last_seen_at"),
        moment("closed_at", nullable=True),
        whole("times"),
        text("title"),
        text("body"),
        text("submission_id", 128),
        text("delivery", 16),
        whole("attempts"),
        moment("next_attempt_at"),
        text("delivery_error"),
    )
    op.create_index("ix_alerts_state", "alerts", ["state", "rule", "subject"])
    op.create_index("ix_alerts_delivery", "alerts", ["delivery", "next_attempt_at"])
    op.create_index("ix_alerts_submission", "alerts", ["submission_id"])
    still = sa.text("state = 'open'")
    op.create_index("uq_alerts_open", "alerts", ["rule", "subject"], unique=True, sqlite_where=still, postgresql_where=still)


def create_rounds_and_workers() -> None:
    """Workers' signs of life, and rounds of golden questions."""
    op.create_table(
        "workers",
        key("executor", 128),
        text("host"),
        whole("process"),
        moment("started_at"),
        moment("seen_at"),
        text("state", 16),
    )
    op.create_table(
        "golden_runs",
        key("id", 128),
        text("suite", 128),
        moment("started_at"),
        moment("finished_at", nullable=True),
        *(whole(name) for name in ("asked", "answered", "scored")),
        real("mean"),
        text("compared_to", 128),
        real("change"),
        text("verdict", 16),
        text("reason"),
    )


def create_access() -> None:
    """Who may enter, and who did what."""
    op.create_table(
        "api_keys",
        key("id", 32),
        text("name", 128),
        text("hash", 64, unique=True),
        text("role", 16),
        moment("created_at"),
        moment("revoked_at", nullable=True),
    )
    op.create_table(
        "audit",
        number(),
        sa.Column("at", sa.DateTime, nullable=False, index=True),
        text("actor", 128),
        text("action", 32),
        text("subject", 256, index=True),
        text("detail"),
    )


def create_reviews() -> None:
    """What people should look at, and what they said."""
    op.create_table(
        "review_items",
        number(),
        text("submission_id", 128),
        text("why", 32),
        moment("created_at"),
        text("state", 16),
        whole("wanted"),
    )
    op.create_index("ix_review_items_submission", "review_items", ["submission_id"], unique=True)
    op.create_index("ix_review_items_state", "review_items", ["state", "number"])
    op.create_table(
        "labels",
        number(),
        text("submission_id", 128),
        text("rater", 128),
        text("criterion", 256),
        real("score", nullable=False),
        text("note"),
        text("origin", 16),
        moment("created_at"),
    )
    op.create_index("ix_labels_answer", "labels", ["submission_id", "criterion", "rater"])
