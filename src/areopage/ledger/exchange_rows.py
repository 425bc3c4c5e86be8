"""Exchanges as rows and back, and how a filter reads in SQL."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Row, Select, and_, exists, func, or_, select

from areopage.cases.records import Document
from areopage.gate.records import Decision
from areopage.ledger.gate_records import Exchange, ExchangeFilter, GroundingLabel, Release
from areopage.ledger.gate_tables import LONGEST_NAME, exchange_texts, exchanges, grounding_labels, releases
from areopage.ledger.rows import aware, json_text, naive, storable, storable_json
from areopage.ledger.stored_exchange import is_waiting

BINS = 20
HELD = "held"
"""Why an exchange is in the review queue."""


def question_key(question: str) -> str:
    """What an exchange is found by: the same for a question whatever its case and white space."""
    return hashlib.sha256(" ".join(storable(question).split()).casefold().encode()).hexdigest()[:32]


def held_key(exchange: Exchange) -> str:
    """The same for held-back answers that a reviewer cannot tell apart: collection, question, response, documents, and the
    gate's version; "" for what waits for nobody."""
    if not is_waiting(exchange):
        return ""
    documents = [(one.id, one.title, one.text, one.source) for one in exchange.documents]
    shown = [exchange.collection, question_key(exchange.question), exchange.generation, documents, exchange.version]
    return hashlib.sha256(storable_json(shown).encode()).hexdigest()[:32]


def bin_of(share: object) -> int | None:
    """Which of the bins over [0, 1] a figure falls into; None where there is no figure."""
    if isinstance(share, bool) or not isinstance(share, int | float) or math.isnan(share):
        return None
    return min(BINS - 1, max(0, int(min(1.0, max(0.0, share)) * BINS)))


def exchange_row(exchange: Exchange) -> dict[str, Any]:
    """What counts and lists need of an exchange, as a row of `exchanges`; its number is the database's."""
    return {
        "id": storable(exchange.id),
        "at": naive(exchange.at),
        "origin": exchange.origin,
        "collection": storable(exchange.collection)[:LONGEST_NAME],
        "verdict": exchange.verdict,
        "mode": exchange.mode,
        "response_lang": storable(exchange.response_lang)[:16],
        "question_key": question_key(exchange.question),
        "confidence_bin": bin_of(exchange.metrics.get("confidence")),
        "unsupported_bin": bin_of(exchange.p_unsupported),
        "p_unsupported": exchange.p_unsupported,
        "metrics": storable_json(exchange.metrics),
        "sources_filter": storable_json(exchange.sources_filter),
        "model": storable(exchange.model),
        "profile": storable(exchange.profile)[:32],
        "version": storable(exchange.version)[:64],
        "key": storable(exchange.key)[:LONGEST_NAME],
        "seconds": exchange.seconds,
        "gate_seconds": exchange.gate_seconds,
        "held_key": held_key(exchange),
    }


def text_row(number: int, exchange: Exchange) -> dict[str, Any]:
    """An exchange's texts as a row of `exchange_texts`."""
    return {
        "exchange": number,
        "question": storable(exchange.question),
        "generation": storable(exchange.generation),
        "answer": storable(exchange.answer),
        "documents": storable_json(exchange.documents),
        "decision": None if exchange.decision is None else storable_json(exchange.decision),
        "session": storable(exchange.session),
    }


def reason_rows(number: int, exchange: Exchange) -> list[dict[str, Any]]:
    """The codes of the reasons that decided, each once, as rows of `exchange_reasons`."""
    shared = {
        "exchange": number,
        "at": naive(exchange.at),
        "verdict": exchange.verdict,
        "origin": exchange.origin,
        "collection": storable(exchange.collection)[:LONGEST_NAME],
    }
    reasons = exchange.decision.reasons if exchange.decision else ()
    codes = dict.fromkeys(reason.code for reason in reasons if reason.decisive)
    return [shared | {"code": code} for code in codes]


def whole_rows() -> Select[Any]:
    """Exchanges with their texts; those of erased ones are NULL."""
    texts = exchange_texts.c
    columns = [texts.question, texts.generation, texts.answer, texts.documents, texts.decision, texts.session]
    joined = exchanges.outerjoin(exchange_texts, texts.exchange == exchanges.c.number)
    return select(exchanges, *columns).select_from(joined)


def exchange_of(row: Row[Any]) -> Exchange:
    """A row of `whole_rows` as an exchange."""
    erased = row.question is None
    return Exchange(
        number=row.number,
        id=row.id,
        at=aware(row.at),
        origin=row.origin,
        collection=row.collection,
        sources_filter=msgspec.json.decode(row.sources_filter, type=tuple[str, ...]),
        question=row.question or "",
        generation=row.generation or "",
        answer=row.answer or "",
        documents=() if erased else msgspec.json.decode(row.documents, type=tuple[Document, ...]),
        verdict=row.verdict,
        mode=row.mode,
        decision=None if row.decision is None else msgspec.json.decode(row.decision, type=Decision),
        metrics=msgspec.json.decode(row.metrics),
        p_unsupported=row.p_unsupported,
        response_lang=row.response_lang,
        model=row.model,
        profile=row.profile,
        version=row.version,
        session=row.session or "",
        key=row.key,
        seconds=row.seconds,
        gate_seconds=row.gate_seconds,
        erased=erased,
    )


def conditions_of(filter: ExchangeFilter, *, scan: bool = False) -> list[ColumnElement[bool]]:
    """What a filter asks of rows of `exchanges`.

    Args:
        scan: written so that no index is sought in by time, verdict or collection: whoever counts goes through the index that
            lies in his order, which is quicker than to fetch rows of a period one by one, and to sort them.
    """
    one = exchanges.c
    columns: tuple[ColumnElement[Any], ...] = (one.at, one.verdict, one.origin, one.collection)
    if scan:
        columns = tuple(func.coalesce(column, column) for column in columns)
    asked = narrow_conditions(filter, *columns)
    if filter.question is not None:
        asked.append(one.question_key == question_key(filter.question))
    if filter.unlabelled:
        asked.append(~exists().where(grounding_labels.c.exchange_id == one.id))
    return asked


def narrow_conditions(
    filter: ExchangeFilter,
    at: ColumnElement[Any],
    verdict: ColumnElement[Any],
    origin: ColumnElement[Any],
    collection: ColumnElement[Any],
) -> list[ColumnElement[bool]]:
    """What a filter asks of the columns that `exchanges` and `exchange_reasons` have in common."""
    asked: list[ColumnElement[bool]] = []
    if filter.since is not None:
        asked.append(at >= naive(filter.since))
    if filter.until is not None:
        asked.append(at < naive(filter.until))
    if filter.origins:
        asked.append(origin.in_(filter.origins))
    if filter.verdict is not None:
        asked.append(verdict == filter.verdict)
    if filter.collection is not None:
        asked.append(collection == storable(filter.collection))
    return asked


def held_back() -> ColumnElement[bool]:
    """Whether nobody got the answer of a row of `exchanges`, until people decide on it.

    Asked of rows that are sought by their ids: so that no index is sought in by verdict or origin (see `conditions_of`).
    """
    one = exchanges.c
    verdict, origin = (func.coalesce(column, column) for column in (one.verdict, one.origin))
    return and_(verdict == "human_review", origin.in_(("chat", "check")), one.mode != "shadow")


def waits(exchange_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether the exchange of an id is held back, and nobody has settled it."""
    held = exists().where(exchanges.c.id == exchange_id, held_back())
    return and_(held, ~exists().where(releases.c.exchange_id == exchange_id))


def still_asks(exchange_id: ColumnElement[Any], rater: str) -> ColumnElement[bool]:
    """Whether an exchange asks something of a rater: he has not labelled it, or its answer still waits."""
    own = and_(grounding_labels.c.exchange_id == exchange_id, grounding_labels.c.rater == storable(rater))
    return or_(~exists().where(own), waits(exchange_id))


def label_row(label: GroundingLabel) -> dict[str, Any]:
    """A label as a row."""
    return {
        "exchange_id": storable(label.exchange_id),
        "rater": storable(label.rater),
        "grounded": label.grounded,
        "sentences": json_text(label.sentences),
        "note": storable(label.note),
        "origin": label.origin,
        "created_at": naive(label.created_at),
    }


def label_of(row: Row[Any]) -> GroundingLabel:
    """A row as a label."""
    return GroundingLabel(
        exchange_id=row.exchange_id,
        rater=row.rater,
        grounded=row.grounded,
        sentences=msgspec.json.decode(row.sentences, type=tuple[int, ...]),
        note=row.note,
        origin=row.origin,
        created_at=aware(row.created_at),
    )


def release_of(row: Row[Any]) -> Release:
    """A row as a release."""
    return Release(exchange_id=row.exchange_id, state=row.state, text=row.text, rater=row.rater, at=aware(row.at))


def counting_labels(rows: Sequence[GroundingLabel]) -> dict[str, list[GroundingLabel]]:
    """The label of each rater that counts, by exchange; given in the order they came."""
    latest: dict[str, dict[str, GroundingLabel]] = {}
    for label in rows:
        latest.setdefault(label.exchange_id, {})[label.rater] = label
    return {id: list(by_rater.values()) for id, by_rater in latest.items()}
