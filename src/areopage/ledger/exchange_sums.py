"""Counts over exchanges, formed by the database."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, exists, func, select

from areopage.ledger.exchange_days import ExchangeCounts, day_counts, is_of_days
from areopage.ledger.exchange_rows import BINS, conditions_of, counting_labels, label_of, narrow_conditions
from areopage.ledger.gate_records import ExchangeFilter, ExchangeSummary, Grounded, GroundingLabel
from areopage.ledger.gate_tables import exchange_reasons, exchanges, grounding_labels

WORSE_FIRST: tuple[Grounded, ...] = ("no", "partly", "yes")


def agreed(labels: Sequence[GroundingLabel]) -> tuple[Grounded, tuple[int, ...]]:
    """What raters say together: the word of most of them, of equally many the worse one; and the sentences that no document
    supports by half of them or more.

    Args:
        labels: of one exchange, one of each rater; at least one.
    """
    words = Counter(label.grounded for label in labels)
    grounded = max(WORSE_FIRST, key=lambda word: words[word])  # of equal ones `max` takes the first
    marked = Counter(sentence for label in labels for sentence in set(label.sentences))
    return grounded, tuple(sorted(sentence for sentence, raters in marked.items() if 2 * raters >= len(labels)))


def summed(connection: Connection, filter: ExchangeFilter) -> ExchangeSummary:
    """Counts of the exchanges that a filter lets through: whole days are quick at any size, all else goes through them."""
    counts = day_counts(connection, filter) if is_of_days(filter) else row_counts(connection, filter)
    labelled, ungrounded = labelled_of(connection, filter)
    return ExchangeSummary(
        exchanges=counts.verdicts.total(),
        verdicts=dict(counts.verdicts),
        modes=dict(counts.of("mode")),
        reasons=dict(sorted(counts.of("reason").items(), key=lambda one: (-one[1], one[0]))),
        languages=dict(counts.of("language")),
        confidences=tuple(counts.of("confidence")[str(at)] for at in range(BINS)),
        p_unsupported=tuple(counts.of("unsupported")[str(at)] for at in range(BINS)),
        labelled=labelled,
        ungrounded_delivered=ungrounded,
    )


def row_counts(connection: Connection, filter: ExchangeFilter) -> ExchangeCounts:
    """The counts of any filter, of the rows themselves."""
    one = exchanges.c
    columns = (one.verdict, one.mode, one.response_lang, one.confidence_bin, one.unsupported_bin)
    found = (
        select(*columns, func.count().label("rows"))
        .where(*conditions_of(filter, scan=filter.question is None))
        .group_by(*columns)
    )
    counts = ExchangeCounts()
    for row in connection.execute(found):
        counts.add(row.verdict, "mode", row.mode, row.rows)
        counts.add(row.verdict, "language", row.response_lang, row.rows)
        if row.confidence_bin is not None:
            counts.add(row.verdict, "confidence", str(row.confidence_bin), row.rows)
        if row.unsupported_bin is not None:
            counts.add(row.verdict, "unsupported", str(row.unsupported_bin), row.rows)
    for row in connection.execute(reasons_of(filter)):
        counts.add(row.verdict, "reason", row.code, row.rows)
    return counts


def reasons_of(filter: ExchangeFilter) -> Select[Any]:
    """How many exchanges of each verdict each reason decided."""
    reason = exchange_reasons.c
    asked = narrow_conditions(filter, reason.at, reason.verdict, reason.origin, reason.collection)
    if filter.question is not None:  # few: sought by the question, and not the other way round
        asked.append(reason.exchange.in_(select(exchanges.c.number).where(*conditions_of(filter))))
    elif filter.unlabelled:
        asked.append(exists().where(exchanges.c.number == reason.exchange, *conditions_of(filter)))
    return select(reason.verdict, reason.code, func.count().label("rows")).where(*asked).group_by(reason.verdict, reason.code)


def labelled_of(connection: Connection, filter: ExchangeFilter) -> tuple[int, int]:
    """How many exchanges have labels, and how many of these were delivered though people say that they are not grounded."""
    if filter.unlabelled:
        return 0, 0
    query = select(grounding_labels, exchanges.c.verdict).join(exchanges, exchanges.c.id == grounding_labels.c.exchange_id)
    # labels are few: each one's exchange is sought, and not the labels of each exchange of a period
    asked = conditions_of(filter, scan=filter.question is None)
    rows = connection.execute(query.where(*asked).order_by(grounding_labels.c.number)).all()
    by_exchange = counting_labels([label_of(row) for row in rows])
    delivered = {row.exchange_id for row in rows if row.verdict == "deliver"}
    ungrounded = sum(1 for id in delivered if agreed(by_exchange[id])[0] != "yes")
    return len(by_exchange), ungrounded
