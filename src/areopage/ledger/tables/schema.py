"""The tables of the ledger: those of answers, and here those of counts, people and operations.

Rows are appended; every count is a cache that can be recomputed.
Tables that are only read by their whole key are stored in that key's order in SQLite (no row ids): half the size, half the seeks.
The index of words over answers is not among them: it differs by database (see `search`).
"""

from sqlalchemy import Boolean, Column, Date, DateTime, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text
from sqlalchemy.types import BigInteger

from areopage.ledger.tables import answer_tables
from areopage.ledger.tables.answer_tables import LONGEST_NAME, partial_index

REVISION = "0001"

metadata = answer_tables.metadata

ledger_meta = Table(
    "ledger_meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

# --- counts by day (UTC)

# How often each score was given: every mean, interval and histogram of a period is aggregated from these. The criterion "" is the
# global score. `score` is rounded to two decimals, for grades and histograms; `total` is the sum of scores as they were given.
# The key begins with what days are grouped by: nothing is sorted.
score_days = Table(
    "score_days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("variant", String(64), primary_key=True),
    Column("criterion", String(256), primary_key=True),
    Column("score", Float, primary_key=True),
    Column("suite", String(128), primary_key=True),
    Column("origin", String(16), primary_key=True),
    Column("source", String(LONGEST_NAME), primary_key=True),
    Column("answers", Integer, nullable=False),
    Column("total", Float, nullable=False),
    sqlite_with_rowid=False,
)

# How many answers, calls or verdicts have a value of a kind, and what they took. The suite "" holds what no suite judged. Kinds:
# - `evaluation`: values scored, unscored, failed, left_out
# - `judge`: name the judge, detail its model, values outcomes, "" for its calls
# - of the gate's decisions `mode`, `language`, `confidence`, `unsupported`, `reason`: name the verdict, origin the channel,
#   source the collection
days = Table(
    "days",
    metadata,
    Column("day", Date, primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("name", String(256), primary_key=True),
    Column("value", String(64), primary_key=True),
    Column("detail", String(256), primary_key=True),
    Column("origin", String(16), primary_key=True),
    Column("suite", String(128), primary_key=True, server_default=""),
    Column("source", String(LONGEST_NAME), primary_key=True),
    Column("variant", String(64), primary_key=True, server_default=""),
    Column("currency", String(8), primary_key=True, server_default=""),
    Column("count", Integer, nullable=False),
    Column("seconds", Float, nullable=False, server_default="0"),
    Column("prompt_tokens", BigInteger, nullable=False, server_default="0"),
    Column("completion_tokens", BigInteger, nullable=False, server_default="0"),
    Column("cost", Float, nullable=False, server_default="0"),
    sqlite_with_rowid=False,
)

# What the hooks of bots lost, or recorded with a doubt, by hour (UTC). `tally` is the file in which a process counted it.
hook_counts = Table(
    "hook_counts",
    metadata,
    Column("tally", String(64), primary_key=True),
    Column("hour", DateTime, primary_key=True),
    Column("source", String(LONGEST_NAME), primary_key=True),
    Column("variant", String(64), primary_key=True),
    Column("why", String(32), primary_key=True),
    Column("recorded", Boolean, primary_key=True),
    Column("answers", Integer, nullable=False),
    Index("ix_hook_counts_hour", "hour"),
    sqlite_with_rowid=False,
)

# --- people: labels, review, access

# A later label of one rater on one criterion of one answer replaces the earlier one in every figure; none is overwritten. The
# criterion "" is the overall score, "grounding" whether the documents support the answer (0 no, 1 partly, 2 yes).
labels = Table(
    "labels",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("answer_id", String(128), nullable=False),
    Column("rater", String(128), nullable=False),
    Column("criterion", String(256), nullable=False),
    Column("score", Float, nullable=False),
    # the JSON of the indexes of the sentences that no document supports
    Column("sentences", Text, nullable=False),
    Column("note", Text, nullable=False),
    # what the answer should have said; "" where the rater says nothing of it
    Column("correction", Text, nullable=False),
    Column("origin", String(16), nullable=False),
    # whether the rater had seen neither a judge's scores nor the gate's decision
    Column("blind", Boolean, nullable=False),
    Column("created_at", DateTime, nullable=False),
    # whether it decides between the labels of other raters
    Column("decides", Boolean, nullable=False),
    # "given", or "undone" once its rater has taken it back
    Column("state", String(16), nullable=False),
    # of a grounding label the `text_key` of its decision, else ""
    Column("text_key", String(32), nullable=False),
    partial_index("ix_labels_text", "text_key", where="text_key != ''"),
    Index("ix_labels_answer", "answer_id", "criterion", "rater"),
    Index("ix_labels_criterion", "criterion", "number"),
)

review_items = Table(
    "review_items",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("answer_id", String(128), nullable=False),
    Column("why", String(32), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("state", String(16), nullable=False),
    Column("wanted", Integer, nullable=False),
    # the run whose criteria raters score; "" for the server's suite
    Column("run_id", String(128), nullable=False),
    Index("ix_review_items_answer", "answer_id", "run_id", unique=True),
    Index("ix_review_items_state", "state", "number"),
)

# Who approved or rejected a run, and what exactly; none is overwritten. `signed` is the JSON of digests of the run's results and
# labels, `digest` a SHA-256 over it and over everything else in the row.
signoffs = Table(
    "signoffs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(128), nullable=False, index=True),
    Column("name", String(128), nullable=False),
    Column("role", String(128), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("note", Text, nullable=False),
    Column("signed_at", DateTime, nullable=False),
    Column("signed", Text, nullable=False),
    Column("digest", String(64), nullable=False),
)

# The results of exams of judges, one judge on one criterion each; none is changed. `path` is the criterion's, without its
# version; `keys` is the JSON of what a result holds for, `result` of figures and marks, `items` of what was said row by row.
qualifications = Table(
    "qualifications",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("exam", String(64), nullable=False, index=True),
    Column("at", DateTime, nullable=False),
    Column("suite", Text, nullable=False),
    Column("judge", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("criterion", String(256), nullable=False),
    Column("path", String(256), nullable=False),
    Column("template", String(16), nullable=False),
    Column("languages", Text, nullable=False),
    Column("keys", Text, nullable=False),
    Column("gold", String(64), nullable=False),
    Column("whole", Boolean, nullable=False),
    Column("salt", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("items", Text, nullable=False),
    Index("ix_qualifications_path", "path", "number"),
)

# Rounds of canaries: some rows of an exam asked again, one judge on one criterion each; none is changed. `round` is the id of the
# round, `exam` that of the exam it is compared with, `sequence` its number since then. `result` is the JSON of what the rounds so
# far say, `items` of what was said row by row.
canary_rounds = Table(
    "canary_rounds",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("round", String(64), nullable=False),
    Column("exam", String(64), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("at", DateTime, nullable=False),
    Column("suite", Text, nullable=False),
    Column("judge", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("criterion", String(256), nullable=False),
    Column("path", String(256), nullable=False),
    Column("keys", Text, nullable=False),
    Column("moved", Boolean, nullable=False),
    Column("result", Text, nullable=False),
    Column("items", Text, nullable=False),
    # two processes that finish one round at once store it once
    Index("uq_canary_rounds_round", "round", "criterion", unique=True),
    Index("ix_canary_rounds_exam", "exam", "number"),
    partial_index("ix_canary_rounds_moved", "path", "number", where="moved"),
)

# What people's labels correct in judges' scores. `body` is canonical JSON without any text of an answer, `digest` its SHA-256,
# and `id` the beginning of that; none is overwritten.
calibrations = Table(
    "calibrations",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("suite", String(128), nullable=False),
    Column("run_id", String(128), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("body", Text, nullable=False),
    Column("digest", String(64), nullable=False),
)

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
    Column("collections", Text, nullable=False),
    partial_index(
        "uq_api_keys_name",
        "name",
        unique=True,
        where="revoked_at IS NULL",
    ),
)

# Open sessions of pages. `hash` is that of the cookie, 256 random bits that only the browser keeps.
sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("key_id", String(32), nullable=False),
    Column("opened_at", DateTime, nullable=False, index=True),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", DateTime, nullable=False, index=True),
    Column("actor", String(128), nullable=False),
    # of the API key that acted; "" for the command line, a job, and a request without a key
    Column("key_id", String(32), nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", String(256), nullable=False, index=True),
    Column("detail", Text, nullable=False),
)

# Links of hash chains, one for each transaction that adds or changes rows of evidence (see `chain`). `members` is the JSON of
# their changes, tables and keys, `digests` their digests in this order. Links are never changed or removed.
chain = Table(
    "chain",
    metadata,
    # across all chains: of two changes of one row the later has the higher number
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("writer", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("rows", Integer, nullable=False),
    Column("members", Text, nullable=False),
    Column("digests", LargeBinary, nullable=False),
    Index("uq_chain_sequence", "writer", "sequence", unique=True),
)

# --- operations

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
    Column("answer_id", String(128), nullable=False),
    Column("delivery", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", DateTime, nullable=False),
    Column("delivery_error", Text, nullable=False),
    # the JSON of what a rule must know to close it, and how it stands
    Column("details", Text, nullable=False),
    Column("situation", Text, nullable=False),
    Column("accepted_by", String(128), nullable=False),
    Column("accepted_note", Text, nullable=False),
    # the number of the alert that names its incident; 0: it names its own
    Column("incident", Integer, nullable=False),
    Index("ix_alerts_state", "state", "rule", "subject"),
    Index("ix_alerts_incident", "rule", "incident"),
    Index("ix_alerts_delivery", "delivery", "next_attempt_at"),
    Index("ix_alerts_answer", "answer_id"),
    # two workers that see the same condition at once open one alert
    partial_index(
        "uq_alerts_open",
        "rule",
        "subject",
        unique=True,
        where="state = 'open'",
    ),
)

workers = Table(
    "workers",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("pool", String(160), nullable=False),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("started_at", DateTime, nullable=False),
    Column("seen_at", DateTime, nullable=False),
    Column("state", String(16), nullable=False),
)

# Calls of a run that were sent to a provider's batch service. `token` is ours, and the provider stores it with the batch. A batch
# is noted before it is created: `asked_at` is when its creation was asked for, and `batch_id` is "" until the provider's id is
# known. `keys` are the digests (32 bytes each) that the results of its calls are stored under, empty once they are. No prompt is
# stored.
batches = Table(
    "batches",
    metadata,
    Column("token", String(32), primary_key=True),
    Column("run_id", String(128), nullable=False, index=True),
    Column("phase", String(256), nullable=False),
    Column("model", Text, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("keys", LargeBinary, nullable=False),
    Column("file_id", String(256), nullable=False),
    Column("batch_id", String(256), nullable=False),
    # the provider's word and counts when they were last seen
    Column("status", String(32), nullable=False),
    Column("completed", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("message", Text, nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("asked_at", DateTime),
    Column("seen_at", DateTime),
    # when all that it brought was stored
    Column("ended_at", DateTime),
)

# Benchmark runs that workers carry out. `state` is "open" (workers take part), "stopped" (by the user), "spent" (the budget)
# or "ended" (nothing is left, or what is left needs another try).
fleet_runs = Table(
    "fleet_runs",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("asked_at", DateTime, nullable=False),
    Column("ended_at", DateTime),
    # what it may cost, in the currency of its prices; NULL: no limit
    Column("budget", Float),
)

# The calls to the target or to one judge of such a run: how many there are (an estimate until a worker begins), how many the
# ledger had already, and whether workers have done what they can. `left_open` tells whether calls are left that another try
# could bring.
fleet_phases = Table(
    "fleet_phases",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("name", String(256), primary_key=True),
    Column("total", Integer, nullable=False),
    Column("kept", Integer, nullable=False),
    Column("began_at", DateTime),
    Column("ended_at", DateTime),
    Column("left_open", Boolean, nullable=False),
)

# What workers say of such a run, once each: servers that one of them leaves to others, and faults.
fleet_notes = Table(
    "fleet_notes",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("worker", String(160), primary_key=True),
    Column("server", String(256), primary_key=True),
    Column("text", Text, nullable=False),
    Column("at", DateTime, nullable=False),
)

# Which part of a server's limits each process has, so that all of them together stay within the limits. `slots` is how many calls
# the process may have open, `rate` its part of the requests and tokens a minute, in [0, 1]; both are 0 without demand. Times are
# those of the database's clock, in seconds.
endpoint_shares = Table(
    "endpoint_shares",
    metadata,
    Column("server", String(64), primary_key=True),
    Column("holder", String(160), primary_key=True),
    Column("slots", Integer, nullable=False),
    Column("rate", Float, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("seen_at", Float, nullable=False),
)

# Which part of a budget each process has, so that all of them together stay within it. `scope` is a digest of the runs whose
# budget it is, `spent_before` what they had spent when the first of the present processes began. `set_aside` is for open calls,
# `free` what may be set aside beside that. Times are those of the database's clock, in seconds.
budget_parts = Table(
    "budget_parts",
    metadata,
    Column("scope", String(64), primary_key=True),
    Column("holder", String(160), primary_key=True),
    Column("spent_before", Float, nullable=False),
    Column("spent", Float, nullable=False),
    Column("set_aside", Float, nullable=False),
    Column("free", Float, nullable=False),
    Column("wants", Boolean, nullable=False),
    Column("seen_at", Float, nullable=False),
)

# which answer a question of a round has, noted before it is asked
golden_questions = Table(
    "golden_questions",
    metadata,
    Column("golden_run", String(128), primary_key=True),
    Column("answer_id", String(128), primary_key=True),
    Column("question", Text, nullable=False),
)

golden_runs = Table(
    "golden_runs",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("suite", String(128), nullable=False),
    Column("started_at", DateTime, nullable=False),
    # when all its questions had been asked
    Column("asked_at", DateTime),
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
