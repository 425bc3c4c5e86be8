"""The monitor's tables as the newest migration leaves them: what was handed over, what it scored, and what follows from it.

The index of words and filters over `quality_scores` is not among them: it is of another kind in each database (see `search`).
Tables that are only read by their whole key lie in that key's order in SQLite (no row ids): half the size, half the seeks.
"""

from sqlalchemy import Column, Date, DateTime, Float, ForeignKey, Index, Integer, String, Table, Text, text

from areopage.ledger.tables import metadata

submissions = Table(
    "submissions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(128), nullable=False, unique=True),
    Column("received_at", DateTime, nullable=False, index=True),
    Column("answered_at", DateTime, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", DateTime, nullable=False),
    Column("reason", Text, nullable=False),
    Column("language", String(16), nullable=False),
    Column("source", String(128), nullable=False),
    Column("variant", String(64), nullable=False),
    Column("case", Text, nullable=False),
    Index("ix_submissions_state_next", "state", "next_attempt_at"),
    Index("ix_submissions_state_received", "state", "received_at"),
)

quality_scores = Table(
    "quality_scores",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(128), nullable=False, unique=True),
    Column("run_id", String(128), ForeignKey("runs.id"), nullable=False),
    Column("timestamp", DateTime, nullable=False),
    Column("evaluated_at", DateTime, nullable=False),
    Column("suite", String(128), nullable=False),
    Column("suite_version", String(64), nullable=False),
    Column("language", String(16), nullable=False),
    Column("source", String(128), nullable=False),
    Column("variant", String(64), nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    # the specification's four criteria; those of any suite are in quality_criteria
    Column("exactitude", Float),
    Column("completude", Float),
    Column("format", Float),
    Column("sources", Float),
    Column("score_global", Float),
    Column("band", String(16), nullable=False),
    Column("feedback", Text, nullable=False),
    Column("strengths", Text, nullable=False),
    Column("weaknesses", Text, nullable=False),
    Column("suggestions", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("standing", Text, nullable=False),
    Column("scored", Integer, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("spread", Float),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float, nullable=False),
    Column("cost", Float),
    Column("currency", String(8), nullable=False),
    # what is asked of all scores of some hours is answered from this index alone
    Index("ix_quality_scores_timestamp", "timestamp", "number", "source", "variant", "suite", "score_global"),
    Index("ix_quality_scores_band", "band", "timestamp", "number"),
    Index("ix_quality_scores_source", "source", "timestamp", "number"),
    # the lowest scores, and the largest spreads, of a period: what the other columns rule out is passed over inside the index
    Index("ix_quality_scores_global", "score_global", "timestamp", "source", "variant", "number"),
    Index(
        "ix_quality_scores_spread",
        "spread",
        "timestamp",
        "source",
        "variant",
        "number",
        sqlite_where=text("spread IS NOT NULL"),
        postgresql_where=text("spread IS NOT NULL"),
    ),
    Index("ix_quality_scores_evaluated", "evaluated_at", "number"),
)

quality_criteria = Table(
    "quality_criteria",
    metadata,
    Column("quality_number", Integer, ForeignKey("quality_scores.number"), primary_key=True),
    Column("criterion", String(256), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("score", Float),
    Column("band", String(16), nullable=False),
    Column("agreement", Float),
    sqlite_with_rowid=False,
)

evaluation_judgments = Table(
    "evaluation_judgments",
    metadata,
    Column("submission_id", String(128), primary_key=True),
    Column("key", String(64), primary_key=True),
    Index("ix_evaluation_judgments_key", "key"),
    sqlite_with_rowid=False,
)

# How often each score was given, by day: every mean, interval, band and histogram of a period is folded from these.
# The criterion "" is the global score. `score` is rounded to two decimals, for bands and histograms; `total` and `squares` are
# the sums of the scores and of their squares as they were given, for means and intervals.
quality_counts = Table(
    "quality_counts",
    metadata,
    # the key begins with what days are grouped by: the sums are formed on the way, nothing is sorted
    Column("day", Date, primary_key=True),
    Column("variant", String(64), primary_key=True),
    Column("criterion", String(256), primary_key=True),
    Column("score", Float, primary_key=True),
    Column("suite", String(128), primary_key=True),
    Column("source", String(128), primary_key=True),
    Column("answers", Integer, nullable=False),
    Column("total", Float, nullable=False),
    Column("squares", Float, nullable=False),
    sqlite_with_rowid=False,
)

# The suite "" holds what no suite judged: what was given up, and what sampling left out.
quality_days = Table(
    "quality_days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("suite", String(128), primary_key=True),
    Column("source", String(128), primary_key=True),
    Column("variant", String(64), primary_key=True),
    Column("scored", Integer, nullable=False),
    Column("unscored", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("left_out", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# The outcome "" holds what is known of calls: their number, seconds, tokens and cost; the others count verdicts.
judge_days = Table(
    "judge_days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("judge", String(256), primary_key=True),
    Column("model", String(256), primary_key=True),
    Column("outcome", String(16), primary_key=True),
    Column("currency", String(8), primary_key=True),
    Column("verdicts", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cost", Float, nullable=False),
    sqlite_with_rowid=False,
)

alerts = Table(
    "alerts",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("rule", String(64), nullable=False),
    Column("subject", String(256), nullable=False),
    Column("state", String(16), nullable=False),
    Column("opened_at", DateTime, nullable=False),
    Column("last_seen_at", DateTime, nullable=False),
    Column("closed_at", DateTime),
    Column("times", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("submission_id", String(128), nullable=False),
    Column("delivery", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", DateTime, nullable=False),
    Column("delivery_error", Text, nullable=False),
    Index("ix_alerts_state", "state", "rule", "subject"),
    Index("ix_alerts_delivery", "delivery", "next_attempt_at"),
    Index("ix_alerts_submission", "submission_id"),
    # two workers that see the same condition at once open one alert
    Index(
        "uq_alerts_open",
        "rule",
        "subject",
        unique=True,
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
)

workers = Table(
    "workers",
    metadata,
    Column("executor", String(128), primary_key=True),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("started_at", DateTime, nullable=False),
    Column("seen_at", DateTime, nullable=False),
    Column("state", String(16), nullable=False),
)

golden_runs = Table(
    "golden_runs",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("suite", String(128), nullable=False),
    Column("started_at", DateTime, nullable=False),
    Column("finished_at", DateTime),
    Column("asked", Integer, nullable=False),
    Column("answered", Integer, nullable=False),
    Column("scored", Integer, nullable=False),
    Column("mean", Float),
    Column("compared_to", String(128), nullable=False),
    Column("change", Float),
    Column("verdict", String(16), nullable=False),
    Column("reason", Text, nullable=False),
)
