"""One evaluation: load the answer, ask the jury for what is not known yet, write the score once, raise the alert."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct, structs

from areopage.jury.results import Evaluated
from areopage.jury.session import LedgerJudgments
from areopage.ledger.answers import Answers
from areopage.ledger.erasure import erase_late
from areopage.ledger.evaluations import OPEN_STATES, Evaluations
from areopage.ledger.records import Answer, Evaluation, Judgment
from areopage.ledger.storage import stored_answer, stored_judgment, stored_text
from areopage.ledger.store import Ledger
from areopage.monitor.alerts.duties import open_desk, raise_answer_alert
from areopage.monitor.attempts import Attempts, Ending
from areopage.monitor.config import MonitorConfig
from areopage.monitor.quality_judge import QualityJudge

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
        self._answers, self._evaluations = Answers(ledger), Evaluations(ledger)
        self._judgments = LedgerJudgments(ledger, self._stored_judgment)
        self._desk = open_desk(ledger, config)
        self.attempts = Attempts(self._evaluations, config.section.worker)

    async def evaluate(self, id: str, attempt: int) -> Ended:
        """Make one attempt at an answer.

        Args:
            id: the answer's.
            attempt: how many were made before; another number than the evaluation's says that another worker was quicker.

        Raises:
            StorageError: the ledger cannot be read or written.
        """
        answer = await self._in_thread(lambda: self._begin(id, attempt))
        if answer is None:
            return Ended(ending="passed")
        paid: list[Judgment] = []
        found = await self._judge.evaluate_case(answer.case, self._judgments, paid.append)
        now = datetime.now(UTC)
        if found.retryable and (not found.run_id or found.score_global is None or not self.attempts.last(attempt)):
            ending = await self._in_thread(lambda: self.attempts.failed(id, attempt, found.retryable, now))
            if ending == "passed":
                await self._in_thread(lambda: self._tidy(id, found))
            return _ended(ending, paid, found.retryable)
        await self._in_thread(lambda: self._finish(answer, found, now))
        return _ended("evaluated" if found.score_global is not None else "unscored", paid, found.reason)

    def _begin(self, id: str, attempt: int) -> Answer | None:
        """The answer, linked to the judgments that it needs; None where nothing is to be done."""
        evaluation, answer = self._evaluations.get(id), self._answers.get(id)
        if evaluation is None or answer is None or answer.erased:
            return None
        if evaluation.state not in OPEN_STATES or evaluation.attempts != attempt:
            return None
        self._evaluations.link(id, self._judge.run().id, self._judge.keys(answer.case))
        return answer

    def _finish(self, answer: Answer, found: Evaluated, now: datetime) -> None:
        """Write the score. The alert goes first: a crash in between raises it again, and it is only counted once more."""
        evaluation = self._stored_evaluation(answer, found, now)
        if evaluation.score_global is not None:
            raise_answer_alert(self._desk, evaluation, now)
        storage = self._config.storage
        kept = None if storage.text == "full" else stored_answer(answer, storage.text, storage.max_chars)
        self._evaluations.finish(evaluation, _keys_of(found), kept)

    def _tidy(self, id: str, found: Evaluated) -> None:
        """Where the answer was erased during an attempt that failed, what the judges wrote of it is erased as well."""
        erase_late(self._ledger, id, found.run_id, _keys_of(found))

    def _stored_judgment(self, judgment: Judgment) -> Judgment:
        return stored_judgment(judgment, self._config.storage.text, self._config.storage.max_chars)

    def _stored_evaluation(self, answer: Answer, found: Evaluated, now: datetime) -> Evaluation:
        """The evaluation as the ledger keeps it."""
        storage = self._config.storage

        def kept(text: str) -> str:
            return stored_text(text, storage.text, storage.max_chars)

        fields = {name: getattr(found, name) for name in Evaluation.__struct_fields__}
        return structs.replace(
            Evaluation(**fields),
            id=answer.id,
            timestamp=answer.answered_at,
            received_at=answer.received_at,
            evaluated_at=now,
            language=answer.language or found.language,
            source=answer.source,
            variant=answer.variant,
            prompt=kept(answer.case.prompt_text),
            response=kept(answer.case.response or ""),
            feedback=kept(found.feedback),
            strengths=tuple(kept(text) for text in found.strengths),
            weaknesses=tuple(kept(text) for text in found.weaknesses),
            suggestions=tuple(kept(text) for text in found.suggestions),
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _ended(ending: Ending, paid: list[Judgment], reason: str) -> Ended:
    costs = [one for one in paid if one.cost is not None]
    cost = sum(one.cost or 0.0 for one in costs) if costs else None
    return Ended(ending=ending, reason=reason, cost=cost, currency=costs[0].currency if costs else "")


def _keys_of(found: Evaluated) -> list[str]:
    return [judgment.key for judgment in found.judgments]
