"""The gate's tables as the newest migration leaves them.

What counts and lists need is in `exchanges`, in short rows; texts are apart, so that going through a million rows does not read
them, and so that erasing an exchange is removing one row.
"""

from sqlalchemy import Column, Date, DateTime, Float, ForeignKey, Index, Integer, String, Table, Text, text

from areopage.ledger.tables import metadata

LONGEST_NAME = 128
"""Characters that are kept of a collection's and a key's name."""

exchanges = Table(
    "exchanges",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("at", DateTime, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("collection", String(LONGEST_NAME), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("response_lang", String(16), nullable=False),
    # a hash of the question, to find it by; "" once it is erased
    Column("question_key", String(32), nullable=False),
    # which of the equal bins over [0, 1] the figure falls into; NULL where it is not known
    Column("confidence_bin", Integer),
    Column("unsupported_bin", Integer),
    Column("p_unsupported", Float),
    Column("metrics", Text, nullable=False),
    Column("sources_filter", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("profile", String(32), nullable=False),
    Column("version", String(64), nullable=False),
    Column("key", String(LONGEST_NAME), nullable=False),
    Column("seconds", Float),
    Column("gate_seconds", Float),
    # of a held-back answer a hash of all that a reviewer decides on: equal ones wait as one; "" once it is erased
    Column("held_key", String(32), nullable=False, server_default=""),
    # counts are formed by going through this index alone: it lies in the order that they are grouped by, nothing is sorted
    Index(
        "ix_exchanges_figures",
        "verdict",
        "mode",
        "response_lang",
        "confidence_bin",
        "unsupported_bin",
        "at",
        "origin",
        "collection",
    ),
    Index("ix_exchanges_at", "at", "number"),
    Index("ix_exchanges_verdict", "verdict", "at", "number"),
    Index("ix_exchanges_collection", "collection", "at", "number"),
    Index("ix_exchanges_question", "question_key", "at", "number"),
    Index("ix_exchanges_origin", "origin", "at", "number"),
    # whoever looks something up in it has to say that the key is not "", too
    Index(
        "ix_exchanges_held",
        "held_key",
        "number",
        sqlite_where=text("held_key != ''"),
        postgresql_where=text("held_key != ''"),
    ),
)

# An exchange without a row here is erased.
exchange_texts = Table(
    "exchange_texts",
    metadata,
    Column("exchange", Integer, ForeignKey("exchanges.number"), primary_key=True),
    Column("question", Text, nullable=False),
    Column("generation", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("documents", Text, nullable=False),
    Column("decision", Text),
    Column("session", Text, nullable=False),
)

# Which decisive reasons an exchange has; what counts are narrowed by stands here once more.
exchange_reasons = Table(
    "exchange_reasons",
    metadata,
    Column("exchange", Integer, ForeignKey("exchanges.number"), primary_key=True),
    Column("code", String(32), primary_key=True),
    Column("at", DateTime, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("origin", String(16), nullable=False),
    Column("collection", String(LONGEST_NAME), nullable=False),
    Index("ix_exchange_reasons_code", "code", "at", "verdict", "origin", "collection"),
    sqlite_with_rowid=False,
)

# Which judgments the grey band's judge gave on an exchange's sentences; one may serve several exchanges.
exchange_judgments = Table(
    "exchange_judgments",
    metadata,
    Column("exchange", Integer, ForeignKey("exchanges.number"), primary_key=True),
    Column("key", String(64), primary_key=True),
    Index("ix_exchange_judgments_key", "key"),
    sqlite_with_rowid=False,
)

# How many exchanges of a day (UTC) have a value of a kind: periods of whole days are summed from here.
exchange_days = Table(
    "exchange_days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("origin", String(16), primary_key=True),
    Column("collection", String(LONGEST_NAME), primary_key=True),
    Column("verdict", String(16), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("value", String(32), primary_key=True),
    Column("exchanges", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# A later label of one rater on one exchange replaces the earlier one in every figure; none is overwritten.
grounding_labels = Table(
    "grounding_labels",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("exchange_id", String(32), nullable=False),
    Column("rater", String(128), nullable=False),
    Column("grounded", String(16), nullable=False),
    Column("sentences", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("origin", String(16), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Index("ix_grounding_labels_exchange", "exchange_id", "rater"),
)

# A held-back answer without a row here waits.
releases = Table(
    "releases",
    metadata,
    Column("exchange_id", String(32), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("rater", String(128), nullable=False),
    Column("at", DateTime),
)
