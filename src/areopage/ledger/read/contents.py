"""What a ledger holds of each application, for menus."""

from typing import Literal, get_args

from sqlalchemy import Connection, exists, or_, select

from areopage.ledger.tables.answer_tables import decisions, evaluations, runs
from areopage.ledger.tables.schema import alerts, days, golden_runs, labels

Content = Literal["monitor", "runs", "gate", "labels"]
"""`monitor`: answers of production, alerts, rounds of golden questions; `runs`: benchmark runs; `gate`: decisions."""


def contents_of(connection: Connection) -> frozenset[Content]:
    """Whose rows there are. Evaluations are looked up in the counts by day and among those that wait, not all of them."""
    monitored = (
        select(days.c.day).where(days.c.kind == "evaluation", days.c.origin == "monitor"),
        select(evaluations.c.number).where(evaluations.c.state == "waiting", evaluations.c.origin == "monitor"),
        select(alerts.c.number),
        select(golden_runs.c.id),
    )
    query = select(
        or_(*(exists(rows) for rows in monitored)),
        exists(select(runs.c.id).where(runs.c.kind == "bench")),
        exists(select(decisions.c.answer)),
        exists(select(labels.c.answer_id)),
    )
    names: tuple[Content, ...] = get_args(Content)
    return frozenset(name for name, held in zip(names, connection.execute(query).one(), strict=True) if held)
