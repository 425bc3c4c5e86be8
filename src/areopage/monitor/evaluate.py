"""One attempt at an evaluation (load, judge, store, alert), and the progress of a worker's attempts."""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from datetime import UTC, datetime
from traceback import format_tb
from typing import Any, Literal, TypeVar

from msgspec import Struct, structs

from areopage.errors import StorageError
from areopage.jury import Evaluated, JudgmentStore, LedgerJudgments, signs_in
from areopage.ledger import (
    Answer,
    Backlog,
    Evaluation,
    Judgment,
    Ledger,
    ReviewItem,
    compact_standings,
    is_golden,
    standing_fields,
    stored_answer,
    stored_judgment,
)
from areopage.monitor.alerts.jobs import due_answer_alert, open_alerting
from areopage.monitor.config import MonitorConfig
from areopage.monitor.quality_judge import QualityJudge
from areopage.records import record_from
from areopage.scoring import Given, TimedOut, Unreachable
from areopage.text import stored_text
from areopage.work import Backoff, Finished, Handler, ItemOutcome, Pending, RateLimit, Retry

LOG = logging.getLogger(__name__)
NAME = "evaluation"
IDLE_POLLING, IDLE_POLLING_OF_A_FILE = 0.5, 0.8
"""Seconds between two looks at the queue while no answer waits. Together with the worker's looks at the ledger
(`WorkerPace.dispatch`), which are more frequent at a file, an answer is claimed within a second."""
T = TypeVar("T")

ADDRESSED = "addressed"
"""Why an answer is in the review queue that addresses the judge."""
WINDOW = 30.0
FAILURES = 3
"""A judge counts as down after this number of failed calls in a row."""
LOG_PAUSE = 2.0
End = Literal["evaluated", "unscored", "again", "given_up"]
"""How an attempt ended: with a score, finally without one, to be made again, or with no attempt left."""


class WorkerProgress(Struct, frozen=True, kw_only=True):
    """A worker's completed work since its start, and all remaining work.

    Args:
        evaluated: answers that got a score; `unscored` those that finally got none.
        again: attempts that brought nothing and will be made again.
        given_up: answers that no attempt is left for.
        rate: answers a second over the last half minute, or since the start where that is shorter.
        backlog: of the ledger.
        cost: what was paid so far, by currency.
        seconds: since the start.
    """

    evaluated: int
    unscored: int
    again: int
    given_up: int
    rate: float
    backlog: Backlog
    cost: dict[str, float]
    seconds: float

    @property
    def left(self) -> int:
        """The number of unevaluated answers."""
        return self.backlog.waiting

    @property
    def seconds_left(self) -> float | None:
        """The estimated remaining seconds; None if unknown."""
        return self.left / self.rate if self.rate > 0 else None


class ProgressCounter:
    """Counts attempts as they end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._ends: Counter[str] = Counter()
        self._cost: dict[str, float] = {}
        self._moments: deque[float] = deque()

    def add(self, end: End | None, paid: Sequence[Judgment] = ()) -> None:
        """Add an ended attempt (None: none) and its paid calls."""
        if end is not None:
            self._ends[end] += 1
        for judgment in paid:
            if judgment.cost is not None and judgment.currency:
                self._cost[judgment.currency] = self._cost.get(judgment.currency, 0.0) + judgment.cost
        if end in ("evaluated", "unscored"):
            self._moments.append(self._clock())

    def now(self, backlog: Backlog) -> WorkerProgress:
        """The current progress."""
        moment = self._clock()
        while self._moments and self._moments[0] < moment - WINDOW:
            self._moments.popleft()
        seconds = moment - self._began
        return WorkerProgress(
            evaluated=self._ends["evaluated"],
            unscored=self._ends["unscored"],
            again=self._ends["again"],
            given_up=self._ends["given_up"],
            rate=len(self._moments) / max(1e-3, min(seconds, WINDOW)),
            backlog=backlog,
            cost=dict(self._cost),
            seconds=seconds,
        )


class _OnlyScores:
    """A store in which what is no score counts as not asked yet."""

    def __init__(self, store: JudgmentStore) -> None:
        self._store, self.secret = store, store.secret

    async def known(self, keys: Sequence[str]) -> Mapping[str, Judgment]:
        return {key: judgment for key, judgment in (await self._store.known(keys)).items() if judgment.is_whole}

    def append(self, judgment: Judgment, settled: Callable[[], None]) -> "Future[Any] | None":
        return self._store.append(judgment, settled)


class Outages:
    """Which judges are down, as this process has seen it. All its methods are called in one event loop."""

    def __init__(self, probe_pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._clock = probe_pause, clock
        self._failures: dict[str, int] = {}
        self._next_probe = 0.0
        self._wake = False
        self._seen: set[str] = set()

    def note(self, judgments: Iterable[Judgment]) -> None:
        """Note calls that were just made."""
        for judgment in judgments:
            fault = next(
                (verdict.outcome for verdict in judgment.verdicts if isinstance(verdict.outcome, TimedOut | Unreachable)), None
            )
            if fault is None:
                self._answered(judgment.judge)
                continue
            judge, reason = judgment.judge, fault.reason if isinstance(fault, Unreachable) else "no answer in time"
            self._failures[judge] = self._failures.get(judge, 0) + 1
            if self._failures[judge] == FAILURES:
                LOG.warning("judge %s fails: answers wait and are tried again until it works: %s", judge, reason)
                self._next_probe = self._clock() + self._pause

    def _answered(self, judge: str) -> None:
        was_down = self._failures.pop(judge, 0) >= FAILURES
        if was_down:
            LOG.warning("judge %s works again: the answers that waited for it are tried now", judge)
        # what waited before this process had started waits for nothing any more either
        self._wake = self._wake or was_down or judge not in self._seen
        self._seen.add(judge)

    @property
    def any(self) -> bool:
        """Whether a judge is down."""
        return any(count >= FAILURES for count in self._failures.values())

    def probe_is_due(self) -> bool:
        """Whether an answer should be tried now to see if a judge works again; the next probe is due after the pause."""
        if self._clock() < self._next_probe or not self.any:
            return False
        self._next_probe = self._clock() + self._pause
        return True

    def woken(self) -> bool:
        """Whether answers that wait for another attempt should be tried now; says so once."""
        wake, self._wake = self._wake and not self.any, False
        return wake


class Evaluator:
    """Evaluates answers for one ledger. Repeated or concurrent evaluations leave one score."""

    def __init__(
        self,
        ledger: Ledger,
        judge: QualityJudge,
        config: MonitorConfig,
        threads: Executor,
        progress: ProgressCounter,
        outages: Outages | None = None,
    ) -> None:
        self._ledger, self._judge, self._config, self._threads = ledger, judge, config, threads
        self._section, self._progress, self._outages = config.section.worker, progress, outages or Outages(0.0)
        self._answers, self._evaluations = ledger.answers, ledger.evaluations
        storage = config.storage
        self._judgments = LedgerJudgments(ledger, lambda judgment: stored_judgment(judgment, storage.text, storage.max_chars))
        self._alerting = open_alerting(ledger, config)
        self._has_reduced, self._emptied_at = False, 0.0

    def handler(self, ready: Callable[[], bool], pause: float) -> Handler:
        """Build the work engine's handler."""
        section, limit = self._section, self._section.rate_limit

        async def run(id: str, attempt: int) -> ItemOutcome:
            return await self.run(id, attempt) if ready() else Retry(reason="no judge yet", after=pause, counted=False)

        return Handler(
            name=NAME,
            run=run,
            gave_up=self._gave_up,
            pending=lambda after, most: (
                [Pending(number, id) for number, id in self._evaluations.pending(after, most)] if ready() else ()
            ),
            concurrency=section.concurrency,
            idle_polling=IDLE_POLLING_OF_A_FILE if self._ledger.is_sqlite else IDLE_POLLING,
            rate_limit=RateLimit(items=limit.answers, seconds=limit.seconds) if limit else None,
            attempts=section.attempts,
            backoff=Backoff(first=section.pause, longest=section.longest_pause),
            woken=self._outages.woken,
        )

    async def probe(self) -> None:
        """Try the answer that has waited longest, to see whether the judges work again; not counted if it fails."""
        waiting = await self._in_thread(lambda: self._evaluations.waiting(1, tried=True))
        paid: list[Judgment] = []
        judged = await self._judged(waiting[0].id, paid) if waiting else None
        if judged is not None and not judged[1].retryable:
            await self._finish(*judged, paid)
        else:
            self._progress.add(None, paid)

    async def run(self, id: str, attempt: int) -> ItemOutcome:
        """Make one attempt at an answer; skip answers without a pending score."""
        paid: list[Judgment] = []
        last = attempt + 1 >= self._section.attempts
        try:
            judged = await self._judged(id, paid)
            if judged is None:
                return Finished()
            answer, evaluated = judged
            if not evaluated.retryable or (last and evaluated.run_id and evaluated.score_global is not None):
                await self._finish(answer, evaluated, paid)
                return Finished()
            reason, panel, keys = self._stored_reason(evaluated.retryable, evaluated), evaluated.run_id, _keys_of(evaluated)
        except StorageError:
            raise
        except Exception as fault:  # noqa: BLE001 - any bug is a failed attempt
            reason, panel, keys = self._stored_reason(f"{type(fault).__name__}: {fault}"), "", []
            # without the message of the fault, which may quote the answer
            LOG.error("answer %s: %s\n%s", id, reason or type(fault).__name__, "".join(format_tb(fault.__traceback__)))
        if last or await self._in_thread(lambda: self._evaluations.note_failure(id, reason)):
            self._progress.add(None if last else "again", paid)
            return Retry(reason=reason)
        # the answer was erased meanwhile: so are the texts of its judges
        self._progress.add(None, paid)
        await self._in_thread(lambda: self._ledger.erasure.erase_late(id, panel, keys))
        return Finished()

    async def _judged(self, id: str, paid: list[Judgment]) -> tuple[Answer, Evaluated] | None:
        """Ask the judges about an answer; None if nothing is due. Each call is added to `paid`."""
        begun = await self._in_thread(lambda: self._begin(id))
        if begun is None:
            return None
        answer, store = begun
        evaluated = await self._judge.evaluate_case(answer.case, store, paid.append)
        self._outages.note(paid)
        return answer, evaluated

    async def _finish(self, answer: Answer, evaluated: Evaluated, paid: Sequence[Judgment]) -> None:
        await self._in_thread(lambda: self._store(answer, evaluated, datetime.now(UTC)))
        self._progress.add("evaluated" if evaluated.score_global is not None else "unscored", paid)

    def _gave_up(self, id: str, reason: str) -> None:
        """Give an answer up: its texts are reduced as a judged answer's are. The reason was, where it may quote texts."""
        answer = self._answers.get(id)
        self._evaluations.give_up(id, reason, None if answer is None or answer.erased else self._reduced(answer))
        self._has_reduced = True  # only now, as `empty_log` may run at the same time
        self._progress.add("given_up")

    def _begin(self, id: str) -> tuple[Answer, JudgmentStore] | None:
        """Load the answer and link its judgments; None if nothing is due.

        A worker that died may have left judgments of an answer that was erased meanwhile: their texts go. Of an answer that was
        evaluated before and waits again, only scores count as known.
        """
        evaluation, answer = self._evaluations.get(id), self._answers.get(id)
        if evaluation is not None and evaluation.state == "erased":
            self._ledger.erasure.erase_late(id, "", ())
        if evaluation is None or answer is None or answer.erased or evaluation.state != "waiting":
            return None
        self._evaluations.link(id, self._judge.run().id, self._judge.keys(answer.case))
        return answer, _OnlyScores(self._judgments) if evaluation.run_id else self._judgments

    def _store(self, answer: Answer, evaluated: Evaluated, now: datetime) -> None:
        """Write the score and the alert, and log the alert."""
        evaluation = self._stored_evaluation(answer, evaluated, now)
        panel = self._judge.panel
        standings = compact_standings(self._ledger.qualifications.standings(panel.judges, panel.criteria, joint=panel.joint))
        is_addressing = any(signs_in(judgment.steps) for judgment in evaluated.judgments)
        score = structs.replace(evaluation, **standing_fields(standings))
        alert = due_answer_alert(self._alerting, score, now, addressing=is_addressing)
        finished = self._evaluations.finish(evaluation, _keys_of(evaluated), self._reduced(answer), alert, evaluated.judgments)
        self._has_reduced = True
        if finished and is_addressing and evaluation.score_global is None and not is_golden(answer.source):
            raters = self._config.section.review.raters
            item = ReviewItem(answer_id=answer.id, why=ADDRESSED, created_at=now, wanted=raters)
            self._ledger.review_queue.add([item])
        if finished and alert is not None:  # no text of the answer: logs are kept by others, and nothing erases them
            LOG.warning("%s | %s", alert.title, self._alerting.locale.answer_page(answer.id))

    @property
    def log_has_texts(self) -> bool:
        """Whether the database's log may hold texts that the storage policy removed."""
        return self._has_reduced and self._config.storage.text != "full"

    def empty_log(self) -> None:
        """Overwrite in the database's log the texts that the storage policy removed; every few seconds, and if there are any."""
        now = time.monotonic()
        if not self.log_has_texts or now - self._emptied_at < LOG_PAUSE:
            return
        self._emptied_at, self._has_reduced = now, False
        if not self._ledger.erasure.empty_log(soon=True):
            self._has_reduced = True

    def _reduced(self, answer: Answer) -> Answer | None:
        """The answer with what stays of its texts; None where all of them do."""
        storage = self._config.storage
        if storage.text == "full":
            return None
        return stored_answer(answer, storage.text, storage.max_chars)

    def _stored_reason(self, reason: str, evaluated: Evaluated | None = None) -> str:
        """What stays of why there is no score. With the policy `none` the judges and what came of them."""
        storage = self._config.storage
        if storage.text == "none" and evaluated is not None and reason:
            outcomes = ((judgment.judge, verdict.outcome) for judgment in evaluated.judgments for verdict in judgment.verdicts)
            failed = (f"{judge} {outcome.name}" for judge, outcome in outcomes if not isinstance(outcome, Given))
            return ", ".join(dict.fromkeys(failed))
        return stored_text(reason, storage.text, storage.max_chars)

    def _stored_evaluation(self, answer: Answer, evaluated: Evaluated, now: datetime) -> Evaluation:
        storage = self._config.storage

        def kept(text: str) -> str:
            return stored_text(text, storage.text, storage.max_chars)

        return record_from(
            Evaluation,
            evaluated,
            id=answer.id,
            timestamp=answer.answered_at,
            received_at=answer.received_at,
            evaluated_at=now,
            language=answer.language or evaluated.language,
            source=answer.source,
            variant=answer.variant,
            prompt=kept(answer.case.prompt_text),
            response=kept(answer.case.response or ""),
            reason=self._stored_reason(evaluated.reason, evaluated),
            feedback=kept(evaluated.feedback),
            strengths=tuple(kept(text) for text in evaluated.strengths),
            weaknesses=tuple(kept(text) for text in evaluated.weaknesses),
            suggestions=tuple(kept(text) for text in evaluated.suggestions),
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _keys_of(evaluated: Evaluated) -> list[str]:
    return [judgment.key for judgment in evaluated.judgments]
