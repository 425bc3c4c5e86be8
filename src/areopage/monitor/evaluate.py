"""One evaluation: load the answer, ask the jury for what is not known yet, write the score once, raise the alert."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct

from areopage.ledger.quality import QualityScores
from areopage.ledger.quality_records import QualityScore, Submission
from areopage.ledger.records import Judgment
from areopage.ledger.store import Ledger
from areopage.ledger.submissions import Submissions
from areopage.monitor.alerts.duties import open_desk, raise_answer_alert
from areopage.monitor.attempts import OPEN, Attempts, Ending
from areopage.monitor.config import MonitorConfig
from areopage.monitor.evaluation import Evaluation
from areopage.monitor.quality_judge import QualityJudge
from areopage.monitor.storage import stored_case, stored_judgment, stored_text

T = TypeVar("T")


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
        self._scores = QualityScores(ledger)
        self._desk = open_desk(ledger, config)
        self.attempts = Attempts(Submissions(ledger), config.section.worker)

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
        submission, known = begun
        commits: list[asyncio.Future[None]] = []
        paid: list[Judgment] = []

        def record(judgment: Judgment) -> None:
            kept = self._kept(judgment)
            paid.append(judgment)
            commits.append(asyncio.get_running_loop().run_in_executor(self._threads, self._ledger.append, [kept]))

        try:
            found = await self._judge.evaluate_case(submission.case, known, record)
        finally:
            # whatever happens: what was paid for is in the ledger before anybody asks for it again
            await asyncio.gather(*commits)
        now = datetime.now(UTC)
        if found.retryable and (not found.run_id or found.score_global is None or not self.attempts.last(attempt)):
            ending = await self._in_thread(lambda: self.attempts.failed(id, attempt, found.retryable, now))
            if ending == "passed":
                await self._in_thread(lambda: self._tidy(id, found))
            return self._ended(ending, found, paid, found.retryable)
        await self._in_thread(lambda: self._finish(submission, found, now))
        return self._ended("evaluated" if found.score_global is not None else "unscored", found, paid, found.reason)

    def _begin(self, id: str, attempt: int) -> tuple[Submission, dict[str, Judgment]] | None:
        submission = self.attempts.submissions.get(id)
        if submission is None or submission.state not in OPEN or submission.attempts != attempt:
            return None
        keys = self._judge.keys(submission.case)
        self._scores.link(id, keys)
        return submission, self._ledger.judgments(keys)

    def _kept(self, judgment: Judgment) -> Judgment:
        storage = self._config.storage
        return stored_judgment(judgment, storage.text, storage.max_chars)

    def _finish(self, submission: Submission, found: Evaluation, now: datetime) -> None:
        """Write the score. The alert goes first: a crash in between raises it again, and it is only counted once more."""
        score = self._score(submission, found, now)
        if score.score_global is not None:
            raise_answer_alert(self._desk, score, now)
        storage = self._config.storage
        kept = stored_case(submission.case, storage.text, storage.max_chars)
        self._scores.finish(score, found.uses, keys_of(found), kept)

    def _tidy(self, id: str, found: Evaluation) -> None:
        """Where the answer was erased during an attempt that failed, what the judges wrote of it goes as well."""
        submission = self.attempts.submissions.get(id)
        if submission is None or submission.state == "left_out":
            self._scores.link(id, keys_of(found))
            self._scores.erase([id])

    def _score(self, submission: Submission, found: Evaluation, now: datetime) -> QualityScore:
        storage, terms, case = self._config.storage, self._judge.terms, submission.case

        def kept(text: str) -> str:
            return stored_text(text, storage.text, storage.max_chars)

        return QualityScore(
            id=submission.id,
            run_id=found.run_id,
            timestamp=submission.answered_at,
            evaluated_at=now,
            suite=terms.suite,
            suite_version=terms.suite_version,
            language=submission.language or terms.language,
            source=case.source,
            variant=submission.variant,
            question=kept(case.prompt_text),
            answer=kept(case.response or ""),
            score_global=found.score_global,
            band=found.band,
            criteria=found.criteria,
            feedback=kept(found.feedback),
            strengths=tuple(kept(text) for text in found.strengths),
            weaknesses=tuple(kept(text) for text in found.weaknesses),
            suggestions=tuple(kept(text) for text in found.suggestions),
            reason=found.reason,
            standing=found.standing,
            scored=found.scored,
            planned=found.planned,
            spread=found.spread,
            prompt_tokens=found.prompt_tokens,
            completion_tokens=found.completion_tokens,
            seconds=found.seconds,
            cost=found.cost,
            currency=found.currency,
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
