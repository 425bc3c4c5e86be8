"""The tables of answers and of what was said about them: runs, judgments, evaluations, decisions and releases.

Rows are appended; every score is a cache that can be recomputed. Texts lie apart from figures: a walk over a million answers does
not read them, and erasing an answer empties few rows.
"""

from sqlalchemy import Column, DateTime, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, text

LONGEST_NAME = 128
"""Characters that are kept of a collection's and of an API key's name."""
_WHERE = "where"

metadata = MetaData()


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of the rows that meet a condition.

    The condition is kept beside the index until tables are created: SQLAlchemy imports every database whose options an index
    names, and PostgreSQL's adapters take longer to import than all tables.
    """
    return Index(name, *columns, unique=unique, info={_WHERE: text(where)})


def name_conditions(database: str) -> None:
    """Give the partial indexes their conditions, for a database by SQLAlchemy's name."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if _WHERE in index.info:
                index.dialect_kwargs[f"{database}_where"] = index.info[_WHERE]


# --- runs: what determines scores


# A run of the benchmark, or a panel under which answers are judged in production; `spec` is the JSON of all that determines it.
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
    # the JSON of what a list of runs says of its results, which can be recomputed; NULL before they are computed
    Column("outcome", Text),
)

run_cases = Table(
    "run_cases",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("case", Text, nullable=False),
    # the answer that was given to the case, or that it brings along; NULL until there is one
    Column("answer", Integer, ForeignKey("answers.number")),
    partial_index("ix_run_cases_answer", "answer", where="answer IS NOT NULL"),
)

run_rejected = Table(
    "run_rejected",
    metadata,
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("row", Text, nullable=False),
)

# --- answers

answers = Table(
    "answers",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(128), nullable=False, unique=True),
    Column("origin", String(16), nullable=False),
    # of a call to a target the hash of all that determines it, so that it is not paid for twice; "" for others
    Column("key", String(64), nullable=False),
    Column("run_id", String(128), ForeignKey("runs.id")),
    Column("state", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("finish_reason", Text, nullable=False),
    # where a model under test wrote what it thought: "" nowhere, "apart" or "in_text"
    Column("thoughts", String(16), nullable=False, server_default=""),
    Column("source", String(LONGEST_NAME), nullable=False),
    Column("variant", String(64), nullable=False),
    Column("language", String(16), nullable=False),
    Column("model", Text, nullable=False),
    Column("api_key", String(LONGEST_NAME), nullable=False),
    Column("received_at", DateTime, nullable=False),
    Column("answered_at", DateTime, nullable=False),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float),
    # a hash of the prompt, to find answers by; "" once the answer is erased
    Column("prompt_key", String(32), nullable=False),
    partial_index("ix_answers_key", "key", where="key != ''"),
    partial_index("ix_answers_run", "run_id", where="run_id IS NOT NULL"),
    Index("ix_answers_received", "received_at", "number"),
    Index("ix_answers_prompt", "prompt_key", "received_at", "number"),
)

# An answer without a row here is erased, or was left out by sampling.
answer_texts = Table(
    "answer_texts",
    metadata,
    Column("answer", Integer, ForeignKey("answers.number"), primary_key=True),
    Column("prompt", Text, nullable=False),
    Column("response", Text),
    Column("thinking", Text, nullable=False, server_default=""),
    Column("documents", Text, nullable=False),
    # the JSON of the turns of a conversation, NULL where the prompt is one text
    Column("turns", Text),
    # the JSON of all else that a case has: reference, category, audience, metadata
    Column("details", Text, nullable=False),
    # what the user read in place of the response, and the client's own id of the conversation
    Column("delivered", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("trace_id", Text, nullable=False, server_default=""),
    # the JSON of the gate's decision, which quotes the texts; NULL where the gate was not asked
    Column("decision", Text),
    # of a submitted answer a salt and a hash of its prompt and response as they came: another answer under its id is told by it
    Column("given", String(80), nullable=False, server_default=""),
    # random, made anew whenever the texts change; the chain's digest of the texts cannot be guessed without it
    Column("salt", String(32), nullable=False, server_default=""),
)

# --- judgments

judgments = Table(
    "judgments",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(64), nullable=False, index=True),
    Column("run_id", String(128), ForeignKey("runs.id"), nullable=False, index=True),
    Column("judge", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("pass_index", Integer, nullable=False),
    # the number of the reply of a conversation that was judged; 0: the case as a whole
    Column("turn", Integer, nullable=False, server_default="0"),
    Column("raw_text", Text, nullable=False),
    Column("repair_text", Text, nullable=False),
    Column("finish_reason", Text, nullable=False),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float, nullable=False),
    Column("repair", String(16), nullable=False),
    Column("steps", Text, nullable=False),
    # how many calls it took, the one to repair the text included, and what they cost; NULL where no price is known
    Column("calls", Integer, nullable=False),
    Column("cost", Float),
    Column("currency", String(8), nullable=False),
    Column("created_at", DateTime, nullable=False),
    # what stays of its texts: full, truncated, redacted or none
    Column("stored", String(16), nullable=False),
)

MISSED = "outcome IN ('timed_out', 'unreachable')"
"""A judge was asked and did not answer."""

verdicts = Table(
    "verdicts",
    metadata,
    Column("judgment_id", Integer, ForeignKey("judgments.id"), primary_key=True),
    Column("criterion", String(256), primary_key=True),
    Column("outcome", String(16), nullable=False),
    Column("score", Float),
    # of log-probabilities: the mass on valid scores, and the score as the judge wrote it where `score` is their expectation
    Column("mass", Float),
    Column("written", Float),
    Column("explanation", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("ix_verdicts_criterion_outcome", "criterion", "outcome"),
    partial_index("ix_verdicts_missed", "judgment_id", "outcome", where=MISSED),
)

# --- evaluations: an answer judged by a panel, with its cached scores

# `run_id` is the panel's; NULL while no panel has judged the answer. What lists filter and sort by stands here once more.
evaluations = Table(
    "evaluations",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("answer", Integer, ForeignKey("answers.number"), nullable=False),
    Column("run_id", String(128), ForeignKey("runs.id")),
    Column("origin", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("received_at", DateTime, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("timestamp", DateTime, nullable=False),
    Column("evaluated_at", DateTime),
    Column("suite", String(128), nullable=False),
    Column("suite_version", String(64), nullable=False),
    Column("language", String(16), nullable=False),
    Column("source", String(LONGEST_NAME), nullable=False),
    Column("variant", String(64), nullable=False),
    Column("score_global", Float),
    # "" until it is evaluated
    Column("grade", String(16), nullable=False),
    Column("feedback", Text, nullable=False),
    Column("strengths", Text, nullable=False),
    Column("weaknesses", Text, nullable=False),
    Column("suggestions", Text, nullable=False),
    Column("scored", Integer, nullable=False),
    Column("not_applicable", Integer, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("spread", Float),
    Column("prompt_tokens", Integer),
    Column("completion_tokens", Integer),
    Column("seconds", Float, nullable=False),
    Column("cost", Float),
    Column("currency", String(8), nullable=False),
    Index("uq_evaluations_answer", "answer", "run_id", unique=True),
    Index("ix_evaluations_state", "state", "number"),
    Index("ix_evaluations_received", "state", "received_at"),
    # what is asked of all scores of some hours is answered from this index alone
    Index("ix_evaluations_timestamp", "timestamp", "number", "origin", "state", "source", "variant", "suite", "score_global"),
    Index("ix_evaluations_grade", "grade", "timestamp", "number"),
    Index("ix_evaluations_source", "source", "timestamp", "number"),
    # the lowest scores, and the largest spreads, of a period: what the other columns rule out is passed over inside the index
    Index("ix_evaluations_global", "score_global", "timestamp", "origin", "source", "variant", "number"),
    partial_index(
        "ix_evaluations_spread",
        "spread",
        "timestamp",
        "origin",
        "source",
        "variant",
        "number",
        where="spread IS NOT NULL",
    ),
    Index("ix_evaluations_evaluated", "evaluated_at", "number"),
)

evaluation_scores = Table(
    "evaluation_scores",
    metadata,
    Column("evaluation", Integer, ForeignKey("evaluations.number"), primary_key=True),
    Column("criterion", String(256), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("score", Float),
    Column("grade", String(16), nullable=False),
    Column("agreement", Float),
    sqlite_with_rowid=False,
)

# Which judgments were asked for about an answer under a panel; one judgment may serve several answers with the same content, and
# several panels that share a judge.
answer_judgments = Table(
    "answer_judgments",
    metadata,
    Column("answer", Integer, ForeignKey("answers.number"), primary_key=True),
    Column("run_id", String(128), ForeignKey("runs.id"), primary_key=True),
    Column("key", String(64), primary_key=True),
    # the number of the judgment that the answer's scores rest on; NULL until it is evaluated. Calls about equal answers that are
    # open at the same time leave several judgments under a key
    Column("judgment", Integer),
    Index("ix_answer_judgments_key", "key"),
    sqlite_with_rowid=False,
)

# the evaluations of answers with equal texts, but for those without an equal one; `first` is one of each set
equal_answers = Table(
    "equal_answers",
    metadata,
    Column("evaluation", Integer, ForeignKey("evaluations.number"), primary_key=True, autoincrement=False),
    Column("first", Integer, nullable=False),
    Column("timestamp", DateTime, nullable=False),
    Index("ix_equal_answers_timestamp", "timestamp"),
)

_BY_NAME = """(SELECT s.score FROM evaluation_scores s WHERE s.evaluation = e.number AND '.' || s.criterion LIKE '%.{name}'
    ORDER BY s.position LIMIT 1) AS {name}"""

# The answer-quality specification's table, for queries: one row for each monitored answer that was judged.
QUALITY_VIEW = f"""
CREATE VIEW quality_scores AS SELECT e.number, a.id, e.timestamp, e.evaluated_at, e.suite, e.suite_version, e.language, e.source,
    e.variant, t.prompt AS question, t.response AS answer, {_BY_NAME.format(name="exactitude")},
    {_BY_NAME.format(name="completude")}, {_BY_NAME.format(name="format")}, {_BY_NAME.format(name="sources")},
    e.score_global, e.grade, e.feedback, e.strengths, e.weaknesses, e.suggestions, e.reason
FROM evaluations e JOIN answers a ON a.number = e.answer LEFT JOIN answer_texts t ON t.answer = e.answer
WHERE e.origin = 'monitor' AND e.state = 'evaluated'
"""  # noqa: S608 - there is no input in it

# --- decisions of the gate

decisions = Table(
    "decisions",
    metadata,
    Column("answer", Integer, ForeignKey("answers.number"), primary_key=True),
    Column("at", DateTime, nullable=False),
    Column("channel", String(16), nullable=False),
    Column("collection", String(LONGEST_NAME), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("language", String(16), nullable=False),
    # which of the equal bins over [0, 1] the figure falls into; NULL where it is not known
    Column("confidence_bin", Integer),
    Column("unsupported_bin", Integer),
    Column("p_unsupported", Float),
    # sentences that nearly copy a document, their meaning not checked; NULL where nothing was read
    Column("meaning_not_checked", Integer),
    Column("metrics", Text, nullable=False),
    Column("sources_filter", Text, nullable=False),
    Column("profile", String(32), nullable=False),
    Column("version", String(64), nullable=False),
    Column("gate_seconds", Float),
    # of a held answer a hash of all that a reviewer decides on: equal ones share a release; "" for others and once it is erased
    Column("held_key", String(32), nullable=False),
    # a hash of collection, response and documents, by which labels hold for equal answers; "" once it is erased
    Column("text_key", String(32), nullable=False),
    # counts are formed by going through this index alone: it lies in the order that they are grouped by, nothing is sorted
    Index(
        "ix_decisions_figures",
        "verdict",
        "mode",
        "language",
        "confidence_bin",
        "unsupported_bin",
        "at",
        "channel",
        "collection",
    ),
    Index("ix_decisions_at", "at", "answer"),
    Index("ix_decisions_verdict", "verdict", "at", "answer"),
    Index("ix_decisions_collection", "collection", "at", "answer"),
    Index("ix_decisions_channel", "channel", "at", "answer"),
    # queries must say, too, that the key is not ""
    partial_index(
        "ix_decisions_held",
        "held_key",
        "answer",
        where="held_key != ''",
    ),
)

# Which decisive reasons a decision has; what counts are narrowed by stands here once more.
decision_reasons = Table(
    "decision_reasons",
    metadata,
    Column("answer", Integer, ForeignKey("answers.number"), primary_key=True),
    Column("code", String(32), primary_key=True),
    Column("at", DateTime, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("channel", String(16), nullable=False),
    Column("collection", String(LONGEST_NAME), nullable=False),
    Index("ix_decision_reasons_code", "code", "at", "verdict", "channel", "collection"),
    sqlite_with_rowid=False,
)

# Answers of the pipeline whose texts were reduced or erased, in that order; exports of traces follow it.
trace_changes = Table(
    "trace_changes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("answer", Integer, ForeignKey("answers.number"), nullable=False, index=True),
)

# A held answer without a row here waits.
releases = Table(
    "releases",
    metadata,
    Column("answer_id", String(128), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("rater", String(128), nullable=False),
    Column("at", DateTime),
)
