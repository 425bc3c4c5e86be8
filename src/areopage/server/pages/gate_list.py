"""How the gate decides: rates over a period, confidences and risks, reasons, and the list of decisions."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from markupsafe import Markup
from msgspec import Struct, structs
from starlette.requests import Request
from starlette.responses import Response

from areopage.gate.records import GATE_VERDICTS, GateVerdict
from areopage.ledger.access import Audit
from areopage.ledger.queries import Period, TraceFilter
from areopage.ledger.records import Channel
from areopage.ledger.traces import Traces
from areopage.locales import Locale
from areopage.rag.records import MOST_PROMPT
from areopage.report.model import histogram
from areopage.report.render import draw
from areopage.scoring.shares import share_of
from areopage.server.access import Actor, require
from areopage.server.context import context_of
from areopage.server.pages.filters import CUSTOM, period_of
from areopage.server.pages.rendering import language, render

PER_PAGE = 50
DEFAULT_PERIOD = "30"
CHANNELS: tuple[Channel, ...] = get_args(Channel)
MOST_NAME = 128
BARS = 10
Reader = Annotated[Actor, Depends(require("read"))]

router = APIRouter(include_in_schema=False)


class GateChosen(Struct, frozen=True, kw_only=True):
    """What an address asks for. `period` is None for all time; `before` is the number of the last line of the page before."""

    name: str
    period: Period | None
    verdict: GateVerdict | None = None
    channel: Channel | None = None
    collection: str | None = None
    prompt: str = ""
    unlabelled: bool = False
    before: int | None = None

    @property
    def last_day(self) -> date | None:
        """The last day of the period, included; None for all."""
        return self.period.end - timedelta(days=1) if self.period else None

    @property
    def narrowed(self) -> bool:
        """Whether anything but the period is chosen."""
        return bool(self.verdict or self.channel or self.collection is not None or self.prompt or self.unlabelled)

    @property
    def filter(self) -> TraceFilter:
        """As the ledger takes it."""
        return TraceFilter(
            since=_midnight(self.period.start) if self.period else None,
            until=_midnight(self.period.end) if self.period else None,
            channels=(self.channel,) if self.channel else (),
            verdict=self.verdict,
            collection=self.collection,
            prompt=self.prompt or None,
            unlabelled=self.unlabelled,
        )

    def query(self, **changes: str | None) -> str:
        """The query of an address that asks for the same; changes replace single parts, None removes one."""
        parts: dict[str, str | None] = {"period": self.name}
        if self.name == CUSTOM and self.period and self.last_day:
            parts |= {"from": self.period.start.isoformat(), "to": self.last_day.isoformat()}
        parts |= {"verdict": self.verdict, "channel": self.channel, "collection": self.collection, "q": self.prompt or None}
        parts |= {"unlabelled": "1" if self.unlabelled else None} | changes
        return urlencode([(name, value) for name, value in parts.items() if value is not None], errors="replace")


class Histogram(Struct, frozen=True, kw_only=True):
    """A chart in ten bars, and all of its bins as lines: where each begins, and how many."""

    chart: Markup
    lines: tuple[tuple[str, int], ...]


@router.get("/gate")
def show_gate(request: Request, reader: Reader) -> Response:
    """The figures of the period and one page of the list, the newest first; a scoped key sees its own collections alone."""
    context, spoken = context_of(request), language(request)
    asked = _gate_chosen(request.query_params, context.now().date(), reader)
    traces = Traces(context.ledger)
    # a verdict, a question or a wish narrows the list; the rates are about all answers of the period
    summary = traces.summary(structs.replace(asked.filter, verdict=None, prompt=None, unlabelled=False))
    found = traces.list(asked.filter, limit=PER_PAGE + 1, before=asked.before)
    rows = found[:PER_PAGE]
    Audit(context.ledger).note(reader.name, "read", "", f"a list of {len(rows)} traces")
    values: Mapping[str, Any] = {
        "asked": asked,
        "summary": summary,
        "rates": [(verdict, share_of(summary.verdicts.get(verdict, 0), summary.traces)) for verdict in GATE_VERDICTS],
        "rows": rows,
        "older": asked.query(before=str(rows[-1].answer.number)) if len(found) > PER_PAGE else None,
        "thresholds": context.gate.config.thresholds,
        "confidences": _confidence_chart(summary.confidences, spoken, "gate_confidences"),
        "risks": _confidence_chart(summary.p_unsupported, spoken, "gate_risks"),
        "reasons": list(summary.reasons.items()),
        "verdicts": GATE_VERDICTS,
        "channels": CHANNELS,
        "scope": reader.collections,
        "host": request.url.netloc,
    }
    return render(request, "gate_list.html.j2", **values)


def _gate_chosen(query: Mapping[str, str], today: date, reader: Actor) -> GateChosen:
    """What a request asks for, read leniently; of a scoped key's collections one is always chosen."""
    name, period = period_of(query, today, DEFAULT_PERIOD)
    if query.get("period") == "all" and name != CUSTOM:
        name, period = "all", None
    before, collection = query.get("before", ""), query.get("collection", "").strip()[:MOST_NAME] or None
    if reader.collections and collection not in reader.collections:
        collection = reader.collections[0]
    return GateChosen(
        name=name,
        period=period,
        verdict=next((one for one in GATE_VERDICTS if one == query.get("verdict")), None),
        channel=next((one for one in CHANNELS if one == query.get("channel")), None),
        collection=collection,
        prompt=query.get("q", "").replace("\r\n", "\n").strip()[:MOST_PROMPT],
        unlabelled="unlabelled" in query,
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 10 else None,
    )


def _midnight(day: date) -> datetime:
    """When a day begins, in UTC."""
    return datetime.combine(day, time(), UTC)


def _confidence_chart(counts: Sequence[int], spoken: Locale, title: str) -> Histogram | None:
    """A chart of a share in [0, 1], and the same as a table; None where nothing is counted."""
    if not any(counts):
        return None
    width = len(counts) // BARS
    bars = [sum(counts[at : at + width]) for at in range(0, len(counts), width)]
    lines = [(spoken.number(at / len(counts), 2), count) for at, count in enumerate(counts)]
    return Histogram(chart=draw(histogram(spoken.say(title), bars, spoken), spoken), lines=tuple(lines))
