"""Judge single answers from Python.

async with QualityJudge.from_suite("answer_quality", judges=["ollama:qwen3:8b"]) as judge:
    found = await judge.evaluate(prompt, response, documents)
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from areopage.cases import Case
from areopage.criteria import load_criteria
from areopage.errors import DatasetError, ModelError, UserError, name_list
from areopage.jury import (
    ContextBudget,
    Evaluated,
    JudgedCase,
    JudgmentStore,
    NoJudgments,
    Panel,
    Session,
    asked_judges,
    evaluated,
)
from areopage.ledger import Judgment, Run
from areopage.models import ModelSettings, Traffic, require_connections
from areopage.monitor.answer_case import Documents, case_of
from areopage.monitor.hook.messages import Prompt
from areopage.scoring import DEFAULT
from areopage.suites import Suite, choose_language, load_suite

CONNECTIONS = 64
OUTAGE_SECONDS = 10.0
"""Calls wait no longer for a server that is gone: the answer is evaluated later."""
WHOLE_BUDGET = ContextBudget()


class QualityJudge:
    """Judges answers on a suite's criteria.

    One instance serves many answers at once, from any event loop.
    """

    def __init__(
        self,
        panel: Panel,
        settings: ModelSettings,
        outage_seconds: float,
        *,
        remarks: Sequence[str] = (),
    ) -> None:
        """Use this panel; `from_suite` creates a judge from a suite.

        Args:
            settings: how models are reached, the environment included.
            outage_seconds: how long calls wait for a server that is gone.
            remarks: what the reader should know of the configuration.
        """
        self.calls = settings.contact_lines(judge.reference for judge in panel.judges)
        """Where the judges' calls go; see `ModelSettings.contact_lines`."""
        self._remarks, self._settings = tuple(remarks), settings
        self.traffic = Traffic(outage_seconds)
        """The calls to the judges' servers."""
        self._session = Session(panel, settings, NoJudgments(), traffic=self.traffic)

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
        allowed_variables: Sequence[str] = (),
    ) -> Self:
        """Create a judge from a suite's criteria, scale and weights; calls no model.

        Args:
            suite: a bundled suite's name, a suite's folder, or a loaded suite.
            judges: names of the suite's judges or references such as "ollama:qwen3:8b"; none: all judges of the suite.
            language: of the judges' prompts; None: the suite's own.
            joint: ask a model about all criteria in one call; else criterion by criterion.
            passes: how often each model is asked, in place of the suite's `n_passes`.
            context: how much of the documents models are shown.
            environment: where addresses and keys of servers are looked up; None: the process's environment variables.
            allowed_variables: those of them whose values the suite's own servers may be sent.

        Raises:
            ConfigError, CriteriaError, ModelError: the suite or a judge is wrong.
        """
        loaded = suite if isinstance(suite, Suite) else load_suite(str(suite))
        wanted = (judges,) if isinstance(judges, str) else tuple(judges)
        asked = loaded.asking(joint=joint, **({"n_passes": passes} if passes else {}))
        panel, remarks = _panel_of(asked, wanted, language, context)
        variables = dict(os.environ) if environment is None else environment
        settings = loaded.model_settings(panel.language, CONNECTIONS).allowing(allowed_variables)
        settings = msgspec.structs.replace(settings, environment=variables)
        outage_seconds = min(loaded.config.execution.outage_seconds, OUTAGE_SECONDS)
        return cls(panel, settings, outage_seconds, remarks=remarks)

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
    ) -> Evaluated:
        """Evaluate an answer. Failures of judges are part of the result.

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
            _one_of("prompt", prompt, "question", question),
            _one_of("response", response, "answer", answer),
            _one_of("documents", documents, "context_chunks", context_chunks, needed=False),
            id=id,
        )
        return await self.evaluate_case(chosen)

    def evaluate_sync(
        self,
        prompt: Prompt | None = None,
        response: str | None = None,
        documents: Documents = None,
        **options: Any,
    ) -> Evaluated:
        """Run `evaluate` from synchronous code.

        It blocks the calling thread; a separate event loop does the work.

        Inside a running event loop it works too, and blocks that loop: `await evaluate(...)` does not.
        """
        return self._session.own_loop().wait_for(self.evaluate(prompt, response, documents, **options))

    async def attach(
        self, payload: Mapping[str, Any], prompt: Prompt, response: str, documents: Documents = None, *, evaluate: bool = True
    ) -> dict[str, Any]:
        """Add `quality_score` to an answer's payload, unless `evaluate` is false.

        The answer goes out in any case: where there is no score, the values are None and `reason` says why.
        """
        if not evaluate:
            return dict(payload)
        try:
            score = (await self.evaluate(prompt, response, documents)).quality_score
        except UserError as fault:
            empty = dict.fromkeys((*self.panel.names.values(), "score_global"))
            score = {**empty, "feedback": "", "reason": str(fault)}
        return {**payload, "quality_score": score}

    async def evaluate_case(
        self, case: Case, store: JudgmentStore | None = None, on_judgment: Callable[[Judgment], None] | None = None
    ) -> Evaluated:
        """Evaluate a case.

        Args:
            store: where judgments are looked up and kept: what it holds is not paid for again; None: nowhere.
            on_judgment: called with each new judgment as it arrives.

        Raises:
            DatasetError: the case has no response.
            CriteriaError: no judge may judge any criterion.
            MissingExtra: a judge's model needs a package that is not installed.
            StorageError: judgments could not be read or stored.
        """
        if case.response is None:
            raise DatasetError(f"the case {case.id} has no response to judge")
        started, judgments = time.perf_counter(), dict[str, Judgment]()
        run_id = fault = ""
        try:
            panel = await self._session.check()
            run_id = self._session.run.id
            calls = list(panel.planned_calls([JudgedCase(case=case, criteria=panel.criteria)]))
            judgments = await self._session.known(calls, store)
            await self._session.ask(calls, judgments, on_judgment, store=store)
        except ModelError as unusable:
            fault = str(unusable)
        result = evaluated(self.panel, run_id, case, judgments, datetime.now(UTC), fault=fault)
        return msgspec.structs.replace(result, seconds=time.perf_counter() - started, remarks=self.remarks)

    # --- what it judges by

    def require_connections(self, answers: int) -> None:
        """Refuse to judge more answers at once than the process may open connections for.

        Raises:
            ModelError: the connections do not fit.
        """
        cases = [JudgedCase(case=Case(id="any", prompt="any", response="any"), criteria=self.panel.criteria)]
        calls = Counter(call.judge.reference for call in self.panel.planned_calls(cases))
        at_once = min(self._settings.connections, answers * max(calls.values(), default=0))
        require_connections(calls, at_once, self._settings, "monitor.worker.concurrency")

    async def check(self) -> None:
        """Check that every judge can be called; the first evaluation also does this.

        Raises:
            ServerDown, ModelMissing, ModelError, MissingExtra: a judge's model cannot be used.
            CriteriaError: no judge may judge any criterion.
        """
        await self._session.check()

    @property
    def panel(self) -> Panel:
        """The panel, with the results of its judges' checks once checked."""
        return self._session.panel

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the configuration."""
        unjudged = self.panel.unjudged
        left_out = (f"left out, since no judge may judge it: {name_list(unjudged)}",) if unjudged else ()
        return (*self._remarks, *left_out)

    def run(self) -> Run:
        """The ledger's record of the panel.

        Raises:
            ModelError: the judges were not checked yet, so that their versions are not known.
        """
        return self._session.run

    def keys(self, case: Case) -> list[str]:
        """The keys of a case's judgments.

        Raises:
            ModelError: as for `run`.
        """
        panel = self._session.checked
        return [call.key for call in panel.planned_calls([JudgedCase(case=case, criteria=panel.criteria)])]

    # --- life

    async def aclose(self) -> None:
        """Close the running event loop's models and `evaluate_sync`'s; later calls reopen them."""
        await self._session.aclose()

    def close(self) -> None:
        """Close what `evaluate_sync` opened. The interpreter's exit also closes it."""
        self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _one_of(name: str, value: Any, alias: str, other: Any, *, needed: bool = True) -> Any:
    """What is given under one of two names; None where it is given under none and not needed."""
    if value is not None and other is not None:
        raise TypeError(f"give {name} or {alias}, not both")
    if needed and value is None and other is None:
        raise TypeError(f"give {name} or {alias}")
    return other if value is None else value


def _panel_of(suite: Suite, judges: Sequence[str], language: str | None, context: ContextBudget) -> tuple[Panel, list[str]]:
    """The panel that a suite and the user's wishes give, before any judge is checked, and what the reader should know of it."""
    chosen = choose_language(suite, language)
    ids = suite.registry.select(suite.config.criteria.default_selection)
    loaded = load_criteria(suite.registry, ids, suite.criteria_folder, chosen, suite.own_language, suite.scale)
    if loaded.faults:
        raise loaded.faults[0]
    remarks = list(suite.warnings)
    if loaded.untranslated:
        remarks.append(f"no text in {chosen!r}, {suite.own_language!r} is used: {name_list(loaded.untranslated)}")
    chosen_judges, notes = asked_judges(suite, judges)
    remarks += map(str, notes)
    evaluation = suite.config.judge_system.evaluation
    panel = Panel(
        suite=suite.name,
        suite_version=suite.config.project.version,
        language=chosen,
        criteria=loaded.criteria,
        judges=chosen_judges,
        personas=suite.personas(chosen),
        weights=suite.weights,
        scale=suite.scale,
        profile=DEFAULT.with_quorum(evaluation.quorum),
        failures=suite.failure_rules(),
        joint=evaluation.joint,
        context=context,
    )
    return panel, remarks
