"""Counts over exchanges, formed by the database."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, exists, func, select

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
    """Counts of the exchanges that a filter lets through."""
    one = exchanges.c
    columns = (one.verdict, one.mode, one.response_lang, one.confidence_bin, one.unsupported_bin)
    found = (
        select(*columns, func.count().label("rows"))
        .where(*conditions_of(filter, scan=filter.question is None))
        .group_by(*columns)
    )
    verdicts, modes, languages = Counter[str](), Counter[str](), Counter[str]()
    confidences, unsupported = [0] * BINS, [0] * BINS
    for row in connection.execute(found):
        verdicts[row.verdict] += row.rows
        modes[row.mode] += row.rows
        languages[row.response_lang] += row.rows
        if row.confidence_bin is not None:
            confidences[row.confidence_bin] += row.rows
        if row.unsupported_bin is not None:
            unsupported[row.unsupported_bin] += row.rows
    labelled, ungrounded = labelled_of(connection, filter)
    return ExchangeSummary(
        exchanges=verdicts.total(),
        verdicts=dict(verdicts),
        modes=dict(modes),
        reasons=reasons_of(connection, filter),
        languages=dict(languages),
        confidences=tuple(confidences),
        p_unsupported=tuple(unsupported),
        labelled=labelled,
        ungrounded_delivered=ungrounded,
    )


def reasons_of(connection: Connection, filter: ExchangeFilter) -> dict[str, int]:
    """How many exchanges each reason decided, the most frequent first."""
    reason = exchange_reasons.c
    asked = narrow_conditions(filter, reason.at, reason.verdict, reason.origin, reason.collection)
    if filter.question is not None or filter.unlabelled:
        asked.append(exists().where(exchanges.c.number == reason.exchange, *conditions_of(filter)))
    found = select(reason.code, func.count().label("rows")).where(*asked).group_by(reason.code)
    rows = sorted(connection.execute(found), key=lambda row: (-row.rows, row.code))
    return {row.code: row.rows for row in rows}


def labelled_of(connection: Connection, filter: ExchangeFilter) -> tuple[int, int]:
    """How many exchanges have labels, and how many of these were delivered though people say that they are not grounded."""
    if filter.unlabelled:
        return 0, 0
    query = select(grounding_labels, exchanges.c.verdict).join(exchanges, exchanges.c.id == grounding_labels.c.exchange_id)
    rows = connection.execute(query.where(*conditions_of(filter)).order_by(grounding_labels.c.number)).all()
    by_exchange = counting_labels([label_of(row) for row in rows])
    delivered = {row.exchange_id for row in rows if row.verdict == "deliver"}
    ungrounded = sum(1 for id in delivered if agreed(by_exchange[id])[0] != "yes")
    return len(by_exchange), ungrounded
