"""The library's way in: hand an answer over, get its scores.

async with QualityJudge.from_suite("answer_quality", judges=["ollama:qwen3:8b"]) as judge:
    found = await judge.evaluate(prompt, response, documents)
"""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import msgspec

from areopage.cases.records import Case
from areopage.errors import DatasetError, ModelError, UserError
from areopage.jury.judges import CallContext, PlannedCall
from areopage.jury.options import model_settings
from areopage.jury.schedule import cause_of
from areopage.ledger.records import Judgment, Run
from areopage.models.settings import ModelSettings
from areopage.monitor.answer_case import Documents, Prompt, case_of
from areopage.monitor.context import ContextBudget
from areopage.monitor.evaluation import Evaluation, evaluation_of
from areopage.monitor.seatings import Seatings
from areopage.monitor.terms import Terms, planned_calls, prepare_terms
from areopage.scoring.outcome import TimedOut, Unreachable
from areopage.suites.loader import Suite, load_suite

CONNECTIONS = 64
SECRET_BYTES = 32
WHOLE_BUDGET = ContextBudget()
NOTHING_KNOWN: Mapping[str, Judgment] = MappingProxyType({})


class QualityJudge:
    """Judges answers on the criteria of a suite. One instance serves many answers at once, from any event loop."""

    def __init__(self, terms: Terms, settings: ModelSettings, outage_seconds: float) -> None:
        """Judge on these terms; `from_suite` makes them.

        Args:
            settings: how models are reached, the environment included.
            outage_seconds: how long a call is tried again where nothing listens.
        """
        self._seatings = Seatings(terms, settings, outage_seconds)
        self._secret = secrets.token_bytes(SECRET_BYTES)

    @classmethod
    def from_suite(
        cls,
        suite: str | Path | Suite = "answer_quality",
        judges: Sequence[str] = (),
        *,
        language: str | None = None,
        joint: bool = True,
        passes: int | None = None,
        context: ContextBudget = WHOLE_BUDGET,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """A judge on the criteria, the scale and the weights of a suite. No model is called yet.

        Args:
            suite: a bundled suite's name, a suite's folder, or a loaded suite.
            judges: names of the suite's judges or references such as "ollama:qwen3:8b"; none: all judges of the suite.
            language: of the judges' prompts; None: the suite's own.
            joint: ask a model about all criteria in one call; else criterion by criterion.
            passes: how often each model is asked, in place of the suite's `n_passes`.
            context: how much of the documents models are shown.
            environment: where addresses and keys of servers are looked up; None: the process's environment variables.

        Raises:
            ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
        """
        loaded = suite if isinstance(suite, Suite) else load_suite(str(suite))
        wanted = (judges,) if isinstance(judges, str) else tuple(judges)
        terms = prepare_terms(loaded, wanted, language, passes, joint=joint, context=context)
        settings = model_settings(loaded, terms.language, CONNECTIONS)
        found = dict(os.environ) if environment is None else environment
        settings = msgspec.structs.replace(settings, environment=found)
        return cls(terms, settings, loaded.config.execution.outage_seconds)

    # --- evaluate

    async def evaluate(
        self,
        prompt: Prompt | None = None,
        response: str | None = None,
        documents: Documents = None,
        *,
        question: Prompt | None = None,
        answer: str | None = None,
        context_chunks: Documents = None,
        id: str = "",
    ) -> Evaluation:
        """Evaluate an answer. A judge that fails is part of what is returned; nothing is raised for it.

        Args:
            prompt: what the user asked (also `question`).
            response: the answer (also `answer`).
            documents: what it should rest on, the best first (also `context_chunks`): records, objects or texts.
            id: what the answer is called; "" makes a name of its content.

        Raises:
            DatasetError: a document has no text.
            TypeError: the prompt or the response is not given, or something is given under both of its names.
        """
        chosen = case_of(
            one_of("prompt", prompt, "question", question),
            one_of("response", response, "answer", answer),
            one_of("documents", documents, "context_chunks", context_chunks, needed=False),
            id=id,
        )
        return await self.evaluate_case(chosen)

    def evaluate_sync(
        self,
        prompt: Prompt | None = None,
        response: str | None = None,
        documents: Documents = None,
        **named: Any,
    ) -> Evaluation:
        """As `evaluate`, for code that does not await. It waits in the calling thread; an event loop of its own does the work.

        Inside a running event loop it works too, and holds that loop up: `await evaluate(...)` does not.
        """
        return self._seatings.own_loop().wait_for(self.evaluate(prompt, response, documents, **named))

    async def attach(
        self, payload: Mapping[str, Any], prompt: Prompt, response: str, documents: Documents = None, *, evaluate: bool = True
    ) -> dict[str, Any]:
        """An answer's payload with `quality_score` added; without it where `evaluate` is false.

        An answer must go out whatever becomes of its evaluation: where no score can be had, the values are None and `reason` says
        why.
        """
        if not evaluate:
            return dict(payload)
        try:
            score = (await self.evaluate(prompt, response, documents)).quality_score
        except UserError as fault:
            empty = dict.fromkeys((*self.terms.names.values(), "score_global"))
            score = {**empty, "feedback": "", "reason": str(fault)}
        return {**payload, "quality_score": score}

    async def evaluate_case(
        self, case: Case, known: Mapping[str, Judgment] = NOTHING_KNOWN, record: Callable[[Judgment], None] | None = None
    ) -> Evaluation:
        """Evaluate a case.

        Args:
            known: judgments by key, from an attempt before; those that another try cannot better are not paid for again.
            record: called with each new judgment as soon as it is there.

        Raises:
            DatasetError: the case has no response.
            CriteriaError: no judge may judge any criterion.
            MissingExtra: a judge's model needs a package that is not installed.
        """
        if case.response is None:
            raise DatasetError(f"the case {case.id} has no response to judge")
        started = time.perf_counter()
        try:
            settled = await self._seatings.settle()
        except ModelError as fault:
            return evaluation_of(self.terms, "", case, NOTHING_KNOWN, time.perf_counter() - started, str(fault))
        calls = planned_calls(settled.terms, case)
        held = {call.key: known[call.key] for call in calls if call.key in known and is_final(known[call.key])}
        seating = self._seatings.here()
        context = CallContext(
            run_id=settled.run.id, secret=self._secret, personas=settled.terms.personas, language=settled.terms.language
        )

        async def ask(call: PlannedCall) -> None:
            judgment = await seating.ask(call, context)
            held[call.key] = judgment
            if record is not None:
                record(judgment)

        await all_of([ask(call) for call in calls if call.key not in held])
        return evaluation_of(settled.terms, settled.run.id, case, held, time.perf_counter() - started)

    # --- what it judges by

    async def check(self) -> None:
        """Make sure that every judge can be asked; the first evaluation does so by itself.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra: a judge's model cannot be used.
            CriteriaError: no judge may judge any criterion.
        """
        await self._seatings.settle()

    @property
    def terms(self) -> Terms:
        """The terms, with what the models said of themselves once they were checked."""
        return self._seatings.terms

    def run(self) -> Run:
        """The ledger's run of these terms.

        Raises:
            ModelError: the judges were not checked yet, so that their versions are not known.
        """
        return self._seatings.settled().run

    def keys(self, case: Case) -> list[str]:
        """The keys of the judgments that a case needs.

        Raises:
            ModelError: as for `run`.
        """
        return [call.key for call in planned_calls(self._seatings.settled().terms, case)]

    # --- life

    async def aclose(self) -> None:
        """Close the models of the running event loop, and what `evaluate_sync` opened; a later call opens them again."""
        await self._seatings.aclose()

    def close(self) -> None:
        """Close what `evaluate_sync` opened; also done by itself at the interpreter's end."""
        self._seatings.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def is_final(judgment: Judgment) -> bool:
    """Whether another try cannot better a judgment."""
    return not any(isinstance(verdict.outcome, TimedOut | Unreachable) for verdict in judgment.verdicts)


async def all_of(work: Sequence[Any]) -> None:
    """Carry out all at once; the first fault stops the others and is raised."""
    if len(work) == 1:
        await work[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as faults:
        raise cause_of("the evaluation", faults) from None


def one_of(name: str, value: Any, alias: str, other: Any, *, needed: bool = True) -> Any:
    """What is given under one of two names; None where it is given under none and not needed.

    Raises:
        TypeError: it is needed and given under none, or it is given under both.
    """
    if value is not None and other is not None:
        raise TypeError(f"give {name} or {alias}, not both")
    if needed and value is None and other is None:
        raise TypeError(f"give {name} or {alias}")
    return other if value is None else value
