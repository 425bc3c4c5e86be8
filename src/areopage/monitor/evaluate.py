"""One evaluation: load the answer, ask the jury for what is not known yet, write the score once, raise the alert."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct

from areopage.ledger import records
from areopage.ledger.answers import Answers
from areopage.ledger.erasure import erase_late
from areopage.ledger.evaluations import OPEN_STATES, Evaluations
from areopage.ledger.records import Answer, Judgment
from areopage.ledger.storage import stored_answer, stored_judgment, stored_text
from areopage.ledger.store import Ledger
from areopage.monitor.alerts.duties import open_desk, raise_answer_alert
from areopage.monitor.attempts import Attempts, Ending
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluation import Evaluation
from areopage.monitor.quality_judge import QualityJudge

T = TypeVar("T")


FIGURES = (
    *("run_id", "score_global", "band", "criteria", "reason", "standing", "scored", "planned", "spread"),
    *("prompt_tokens", "completion_tokens", "seconds", "cost", "currency"),
)
"""What the ledger keeps of an evaluation as it was found."""


class Ended(Struct, frozen=True, kw_only=True):
    """The end of an attempt, and what was newly paid for it; `cost` is None where no price is known."""

    ending: Ending
    reason: str = ""
    cost: float | None = None
    currency: str = ""


class Evaluator:
    """Evaluates answers for one ledger. Evaluating twice, or at the same time elsewhere, leaves one score."""

    def __init__(self, ledger: Ledger, judge: QualityJudge, config: MonitorConfig, threads: Executor) -> None:
        """Args:
        ledger: where answers, judgments and scores lie.
        judge: who judges.
        config: for storage, alerts, attempts.
        threads: where the ledger is spoken to.

        Raises:
            ConfigError: the suite cannot be loaded.
        """
        self._ledger, self._judge, self._config, self._threads = ledger, judge, config, threads
        self._answers, self._evaluations = Answers(ledger), Evaluations(ledger)
        self._desk = open_desk(ledger, config)
        self.attempts = Attempts(self._evaluations, config.section.worker)

    async def evaluate(self, id: str, attempt: int) -> Ended:
        """Make one attempt at an answer.

        Args:
            id: the submission's.
            attempt: how many were made before; another number than the submission's says that somebody was quicker.

        Raises:
            StorageError: the ledger cannot be read or written.
        """
        begun = await self._in_thread(lambda: self._begin(id, attempt))
        if begun is None:
            return Ended(ending="passed")
        answer, known = begun
        commits: list[asyncio.Future[None]] = []
        paid: list[Judgment] = []

        def record(judgment: Judgment) -> None:
            kept = self._kept(judgment)
            paid.append(judgment)
            commits.append(asyncio.get_running_loop().run_in_executor(self._threads, self._ledger.append, [kept]))

        try:
            found = await self._judge.evaluate_case(answer.case, known, record)
        finally:
            # whatever happens: what was paid for is in the ledger before anybody asks for it again
            await asyncio.gather(*commits)
        now = datetime.now(UTC)
        if found.retryable and (not found.run_id or found.score_global is None or not self.attempts.last(attempt)):
            ending = await self._in_thread(lambda: self.attempts.failed(id, attempt, found.retryable, now))
            if ending == "passed":
                await self._in_thread(lambda: self._tidy(id, found))
            return self._ended(ending, found, paid, found.retryable)
        await self._in_thread(lambda: self._finish(answer, found, now))
        return self._ended("evaluated" if found.score_global is not None else "unscored", found, paid, found.reason)

    def _begin(self, id: str, attempt: int) -> tuple[Answer, dict[str, Judgment]] | None:
        evaluation, answer = self._evaluations.get(id), self._answers.get(id)
        if evaluation is None or answer is None or answer.erased:
            return None
        if evaluation.state not in OPEN_STATES or evaluation.attempts != attempt:
            return None
        keys = self._judge.keys(answer.case)
        self._evaluations.link(id, keys)
        return answer, self._ledger.judgments(keys)

    def _kept(self, judgment: Judgment) -> Judgment:
        storage = self._config.section.storage
        return stored_judgment(judgment, storage.text, storage.max_chars)

    def _finish(self, answer: Answer, found: Evaluation, now: datetime) -> None:
        """Write the score. The alert goes first: a crash in between raises it again, and it is only counted once more."""
        evaluation = self._stored(answer, found, now)
        if evaluation.score_global is not None:
            raise_answer_alert(self._desk, evaluation, now)
        storage = self._config.section.storage
        kept = None if storage.text == "full" else stored_answer(answer, storage.text, storage.max_chars)
        self._evaluations.finish(evaluation, keys_of(found), kept)

    def _tidy(self, id: str, found: Evaluation) -> None:
        """Where the answer was erased during an attempt that failed, what the judges wrote of it is erased as well."""
        erase_late(self._ledger, id, keys_of(found))

    def _stored(self, answer: Answer, found: Evaluation, now: datetime) -> records.Evaluation:
        """The evaluation as the ledger keeps it."""
        storage, terms = self._config.section.storage, self._judge.terms

        def kept(text: str) -> str:
            return stored_text(text, storage.text, storage.max_chars)

        return records.Evaluation(
            id=answer.id,
            state="evaluated",
            timestamp=answer.answered_at,
            received_at=answer.received_at,
            evaluated_at=now,
            suite=terms.suite,
            suite_version=terms.suite_version,
            language=answer.language or terms.language,
            source=answer.source,
            variant=answer.variant,
            prompt=kept(answer.case.prompt_text),
            response=kept(answer.case.response or ""),
            feedback=kept(found.feedback),
            strengths=tuple(kept(text) for text in found.strengths),
            weaknesses=tuple(kept(text) for text in found.weaknesses),
            suggestions=tuple(kept(text) for text in found.suggestions),
            **{name: getattr(found, name) for name in FIGURES},
        )

    def _ended(self, ending: Ending, found: Evaluation, paid: list[Judgment], reason: str) -> Ended:
        prices = {judge.name: judge.price for judge in self._judge.terms.judges if judge.price is not None}
        costs = [prices[one.judge].of(one.prompt_tokens, one.completion_tokens) for one in paid if one.judge in prices]
        return Ended(ending=ending, reason=reason, cost=sum(costs) if prices else None, currency=found.currency)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def keys_of(found: Evaluation) -> list[str]:
    """The keys of an evaluation's judgments."""
    return [judgment.key for judgment in found.judgments]
