"""Write the exchanges that hooks hear to a spool, and count what became of them."""

import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import structs

from areopage.errors import SubmissionError
from areopage.ledger import is_golden
from areopage.monitor.hook.doubts import doubts_of
from areopage.monitor.hook.exchange import Exchange, Unrecognised
from areopage.monitor.hook.fields import labels_of
from areopage.monitor.hook.language_codes import is_language
from areopage.monitor.hook.spool import LOST, Spool
from areopage.monitor.hook.submission import MAX_ID, MAX_LANGUAGE, MAX_SOURCE, MAX_TRACE_ID, MAX_VARIANT, submission_of

RECORDED, NOT_FOUND, UNFINISHED, FAILED, SKIPPED, REFUSED = (
    *("recorded", "not_found", "unfinished", "failed", "skipped", "refused"),
)
LABEL = "label"
"""The kind of doubt about an answer whose id, source, variant, language or trace id could not be used."""

_LONGEST = {"id": MAX_ID, "source": MAX_SOURCE, "variant": MAX_VARIANT, "language": MAX_LANGUAGE, "trace_id": MAX_TRACE_ID}


class Recorder:
    """Writes exchanges to a spool and counts outcomes."""

    def __init__(self, spool: Spool, *, source: str, variant: str, language: str) -> None:
        self.counts: Counter[str] = Counter()
        self.doubts: Counter[str] = Counter()
        self._spool, self._usual = spool, {"source": source, "variant": variant, "language": language}

    def record(self, exchange: Exchange, where: str = "") -> None:
        """Append an exchange to the spool, and count what is doubtful about it."""
        labels = {name: getattr(exchange, name) for name in _LONGEST}
        usable = {name: text for name, text in labels.items() if text and _is_usable(name, text)}
        try:
            submission = submission_of(**structs.asdict(exchange) | dict.fromkeys(labels, "") | self._usual | usable)
        except SubmissionError as fault:
            self.miss(LOST, f"{where}: {fault}" if where else str(fault), labels)
            return
        if not self._spool.append(submission):
            self.counts[LOST] += 1
            return
        self.counts[RECORDED] += 1
        unusable = [LABEL] if any(text and name not in usable for name, text in labels.items()) else []
        for kind in (*doubts_of(submission), *unusable):
            self.doubts[kind] += 1
            self._spool.doubt(kind, where or submission.source, submission.id, submission.source, submission.variant)

    @contextmanager
    def unharmed(self, where: str) -> Iterator[None]:
        """Suppress internal errors, count the answer as lost, and log once."""
        try:
            yield
        except Unrecognised as fault:
            self.miss(NOT_FOUND, f"{where}: {fault}")
        # an extraction and documents that are read only now are the bot's code, and may raise anything
        except Exception as fault:  # noqa: BLE001 - the answer is given in any case
            self.miss(LOST, f"{where}: {''.join(traceback.format_exception_only(fault))}")

    def miss(self, why: str, reason: str, labels: Mapping[str, Any] = {}) -> None:
        """Count an answer that is not submitted, in this process and for the worker."""
        usable = self._usual | {name: text for name, text in labels_of(labels) if _is_usable(name, text)}
        self._spool.lose(reason, why, usable["source"], usable["variant"])
        self.counts[why] += 1


def _is_usable(name: str, text: str) -> bool:
    """Whether the label of a call can be stored; the reserved source of golden questions is not a bot's."""
    if len(text) > _LONGEST[name] or not text.isprintable():
        return False
    return not (name == "language" and not is_language(text)) and not (name == "source" and is_golden(text))
