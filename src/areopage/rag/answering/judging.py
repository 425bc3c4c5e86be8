"""The grey band: a judge reads the doubtful sentences of an answer, each against the documents, within a time budget."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from areopage.cases.records import Case, Document, Turn
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.records import Criterion, Scale
from areopage.criteria.registry import load_registry
from areopage.digest import digest_of
from areopage.errors import CallError, ModelError
from areopage.gate.records import Decision, SentenceJudgment
from areopage.jury.judges import CallContext, Judge, JudgeBackend, PlannedCall, judgment_of
from areopage.jury.opening import open_judge, settled_judge
from areopage.jury.options import judge_name
from areopage.jury.plan import JudgedCase, plan
from areopage.ledger.gate_records import GATE_RUN
from areopage.ledger.records import Judgment, Run
from areopage.ledger.store import Ledger
from areopage.models.reference import ModelReference
from areopage.rag.config import RagConfig
from areopage.scoring.outcome import Scored
from areopage.suites.loader import BUNDLED

SUITE = "rag_grounding"
CRITERION = "rag_grounding.sentence.supported__v1_0"
LANGUAGES = ("en", "fr")
OWN_LANGUAGE = "en"
MAX_TOKENS = 300
SHOWN_BEFORE = 600  # characters of the answer before a sentence: what its pronouns stand for
RUN_ID_LENGTH = 24
OUTAGE = 0.0  # a user waits: a server that is down is not waited for


class Judged(Struct, frozen=True, kw_only=True):
    """What a judge says of sentences, and the keys under which the ledger has it, or would have it had he answered in time."""

    sentences: tuple[SentenceJudgment, ...] = ()
    keys: tuple[str, ...] = ()


class SentenceJudge:
    """Asks one judge about sentences. Its judgments are stored in the ledger; a score that is stored is not paid for again."""

    def __init__(self, judge: Judge, backend: JudgeBackend, ledger: Ledger, *, sentences: int, seconds: float) -> None:
        """Args:
        sentences: at most so many of an answer, the most doubtful ones.
        seconds: how long all of them may take together.
        """
        self._judge = judge
        self._backend = backend
        self._ledger = ledger
        self._sentences = sentences
        self._seconds = seconds
        self._criteria = load_criterion()
        self._settled: tuple[Judge, Run] | None = None

    async def judge(
        self, question: str, response: str, documents: tuple[Document, ...], decision: Decision, language: str
    ) -> Judged:
        """Judge the doubtful sentences of a decision; one that is not judged in time, or badly, has `supported` None."""
        wanted = decision.doubtful[: self._sentences]
        found: dict[int, SentenceJudgment] = {}
        keys: list[str] = []

        async def work() -> None:
            judge, run = await self._settle()
            criterion = self._criteria.get(language, self._criteria[OWN_LANGUAGE])
            calls = {index: self._call(judge, criterion, question, response, documents, decision, index) for index in wanted}
            keys.extend(call.key for call in calls.values())
            known = await asyncio.to_thread(self._ledger.judgments, keys)
            secret = await asyncio.to_thread(self._ledger.secret)
            context = CallContext(run_id=run.id, secret=secret, personas={}, language=language)
            for index, call in calls.items():
                if call.key in known and is_scored(known[call.key]):
                    found[index] = sentence_judgment(index, known[call.key], criterion)
            await asyncio.gather(*(one(index, call, context, criterion) for index, call in calls.items() if index not in found))

        async def one(index: int, call: PlannedCall, context: CallContext, criterion: Criterion) -> None:
            try:
                judgment = judgment_of(call, context.run_id, await self._backend.judge(call, context))
            except CallError as fault:
                found[index] = SentenceJudgment(sentence=index, supported=None, explanation=str(fault))
                return
            # shielded: what is paid for is kept, even where time runs out while it is written
            await asyncio.shield(asyncio.to_thread(self._ledger.append, [judgment]))
            found[index] = sentence_judgment(index, judgment, criterion)

        reason = "not asked"
        try:
            async with asyncio.timeout(self._seconds):
                await work()
        except TimeoutError:
            reason = f"no judgment within {self._seconds:g} s"
        except ModelError as fault:
            reason = str(fault)
        missing = (SentenceJudgment(sentence=index, supported=None, explanation=reason) for index in wanted if index not in found)
        return Judged(sentences=(*(found[index] for index in wanted if index in found), *missing), keys=tuple(keys))

    async def aclose(self) -> None:
        """Close the judge."""
        await self._backend.aclose()

    async def _settle(self) -> tuple[Judge, Run]:
        """The judge with what its model says of itself, and the ledger's run that its judgments belong to; asked for once."""
        if self._settled is None:
            judge = settled_judge(self._judge, await self._backend.check(), OWN_LANGUAGE)
            run = run_of(judge)
            await asyncio.to_thread(self._ledger.put_monitor_run, run)
            self._settled = (judge, run)
        return self._settled

    def _call(
        self,
        judge: Judge,
        criterion: Criterion,
        question: str,
        response: str,
        documents: tuple[Document, ...],
        decision: Decision,
        index: int,
    ) -> PlannedCall:
        """The call about one sentence: the question and the answer up to it are the prompt, the sentence is the response."""
        sentence = decision.sentences[index]
        before = response[max(0, sentence.start - SHOWN_BEFORE) : sentence.start].strip()
        turns = [Turn(role="user", content=question)]
        if before:
            turns.append(Turn(role="assistant", content=before))
        case = Case(id="", prompt=tuple(turns), response=sentence.text, documents=documents)
        return next(plan(judge, [JudgedCase(case=case, criteria=(criterion,))], {}))


def is_scored(judgment: Judgment) -> bool:
    """Whether a judge said something that could be read."""
    return any(isinstance(verdict.outcome, Scored) for verdict in judgment.verdicts)


def sentence_judgment(index: int, judgment: Judgment, criterion: Criterion) -> SentenceJudgment:
    """What a judgment says of a sentence: only the best score means that it is supported."""
    outcome = judgment.verdicts[0].outcome
    if isinstance(outcome, Scored):
        supported = outcome.score >= criterion.scale.max
        return SentenceJudgment(sentence=index, supported=supported, explanation=outcome.explanation)
    return SentenceJudgment(sentence=index, supported=None, explanation=outcome.reason)


def load_criterion() -> dict[str, Criterion]:
    """The criterion by language."""
    assets = BUNDLED / SUITE / "assets"
    registry = load_registry(assets / "criteria_registry.yml")
    found: dict[str, Criterion] = {}
    for language in LANGUAGES:
        loaded = load_criteria(registry, (CRITERION,), assets / "criteria", language, OWN_LANGUAGE, Scale(min=0, max=2))
        if loaded.faults:
            raise loaded.faults[0]
        found[language] = loaded.criteria[0]
    return found


def run_of(judge: Judge) -> Run:
    """The ledger's run of a judge's sentences; its id is that of its content, so that every process makes the same."""
    spec: dict[str, Any] = {"judge": msgspec.to_builtins(judge), "criterion": CRITERION}
    fingerprint = digest_of(spec)
    return Run(
        id=f"{GATE_RUN}{fingerprint[:RUN_ID_LENGTH]}",
        kind="monitor",
        suite=SUITE,
        fingerprint=fingerprint,
        folder="",
        created_at=datetime.now(UTC),
        finished_at=None,
        spec=msgspec.json.encode(spec).decode(),
    )


def open_sentence_judge(config: RagConfig, ledger: Ledger, environment: Mapping[str, str], window: int) -> SentenceJudge | None:
    """The judge of a configuration; None where it names none.

    Args:
        window: the context, in tokens; the generator's, so that one model serves both without being loaded again.

    Raises:
        ConfigError: its reference is wrong.
        MissingExtra: its model needs a package that is not installed.
    """
    section = config.section.grey_band
    if section is None:
        return None
    if not section.judge:
        raise config.fault("names no judge: write provider:model, or leave grey_band out", "grey_band", "judge")
    try:
        named = config.shared.judges.get(section.judge)
        own = {} if named is None else named.options
        reference = ModelReference.parse(
            named.model if named else section.judge, default_provider=named.provider if named else None
        )
        settings = config.model_settings(environment, section.seconds, reference.endpoint, "grey_band", "judge")
        backend = open_judge(reference, settings, OUTAGE)
    except ModelError as fault:
        raise config.fault(str(fault), "grey_band", "judge") from None
    options: dict[str, Any] = {"temperature": 0, "num_predict": MAX_TOKENS, "num_ctx": window} | own
    judge = Judge(name=section.judge if named else judge_name(reference), reference=reference, passes=(options,))
    return SentenceJudge(judge, backend, ledger, sentences=section.sentences, seconds=section.seconds)
