"""The grey band's judge: checks doubtful sentences within a time budget."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from areopage.cases.records import Case, Document, Turn
from areopage.criteria.prompt_file import load_criteria
from areopage.criteria.records import Criterion, Scale
from areopage.criteria.registry import load_registry
from areopage.errors import ModelError
from areopage.gate.records import Decision, SentenceJudgment
from areopage.jury.judges import Judge, PlannedCall
from areopage.jury.opening import open_judge
from areopage.jury.options import judge_name
from areopage.jury.panel import Panel, planned_calls
from areopage.jury.session import LedgerJudgments, NoJudgments, Session
from areopage.jury.shown import JudgedCase
from areopage.ledger.records import Judgment
from areopage.ledger.store import Ledger
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.models.traffic import Traffic
from areopage.rag.config import RagConfig
from areopage.scoring.outcome import NotApplicable, Scored
from areopage.scoring.reduce import DEFAULT
from areopage.suites.loader import BUNDLED

SUITE = "rag_grounding"
SUITE_VERSION = "1.0.0"
CRITERION = "rag_grounding.sentence.supported__v1_0"
SCALE = Scale(min=0, max=2)
LANGUAGES = ("en", "fr")
OWN_LANGUAGE = "en"
MAX_TOKENS = 300
SHOWN_BEFORE = 600  # characters of the answer before a sentence: what its pronouns stand for
OUTAGE = 0.0  # a user waits: a server that is down is not waited for


class Judged(Struct, frozen=True, kw_only=True):
    """The judgments on sentences, with their panel and keys."""

    sentences: tuple[SentenceJudgment, ...] = ()
    panel: str = ""
    keys: tuple[str, ...] = ()


class SentenceJudge:
    """Judges sentences with one judge.

    Judgments are stored in the ledger, where there is one; final ones are not paid for again.
    """

    def __init__(self, judge: Judge, settings: ModelSettings, ledger: Ledger | None, *, sentences: int, seconds: float) -> None:
        """Use this judge with the bundled criterion in the answer's language.

        Args:
            settings: how its model is reached.
            sentences: the largest number of sentences of an answer; the most doubtful ones.
            seconds: how long all of them may take together.
        """
        self._ledger, self._sentences, self._seconds = ledger, sentences, seconds
        self._unkept = NoJudgments()
        store = self._unkept if ledger is None else LedgerJudgments(ledger)
        self._sessions = {
            language: Session(panel, settings, store, kind="gate", traffic=Traffic(OUTAGE))
            for language, panel in _panels(judge).items()
        }
        self._stored: set[str] = set()

    async def judge(
        self,
        prompt: str,
        response: str,
        documents: tuple[Document, ...],
        decision: Decision,
        language: str,
        *,
        keep: bool = True,
    ) -> Judged:
        """Judge a decision's doubtful sentences; `supported` is None for missing judgments.

        Args:
            keep: store new judgments.
        """
        wanted = decision.doubtful[: self._sentences]
        calls: dict[int, PlannedCall] = {}
        held: dict[str, Judgment] = {}
        reason, panel_id = "not asked", ""
        try:
            async with asyncio.timeout(self._seconds):
                session = self._sessions.get(language, self._sessions[OWN_LANGUAGE])
                panel = await self._checked(session)
                panel_id = session.run.id
                cases = {index: _sentence_case(prompt, response, documents, decision, index) for index in wanted}
                calls = {index: _call(panel, case) for index, case in cases.items()}
                held |= await session.known(calls.values())
                await session.ask(calls.values(), held, store=None if keep else self._unkept)
        except TimeoutError:
            reason = f"no judgment within {self._seconds:g} s"
        except ModelError as fault:
            reason = str(fault)
        judgments = {index: held[call.key] for index, call in calls.items() if call.key in held}
        return Judged(
            sentences=(
                *(_sentence_judgment(index, judgments[index]) for index in wanted if index in judgments),
                *(SentenceJudgment(sentence=at, supported=None, explanation=reason) for at in wanted if at not in judgments),
            ),
            panel=panel_id,
            keys=tuple(call.key for call in calls.values()),
        )

    async def aclose(self) -> None:
        """Close the judge."""
        for session in self._sessions.values():
            await session.aclose()

    async def _checked(self, session: Session) -> Panel:
        """The session's panel, which the ledger knows before it gets judgments under it."""
        panel = await session.check()
        if self._ledger is not None and session.run.id not in self._stored:
            await asyncio.to_thread(self._ledger.put_panel, session.run)
            self._stored.add(session.run.id)
        return panel


def _panels(judge: Judge) -> dict[str, Panel]:
    return {
        language: Panel(
            suite=SUITE,
            suite_version=SUITE_VERSION,
            language=language,
            criteria=(criterion,),
            judges=(judge,),
            scale=SCALE,
            profile=DEFAULT,
        )
        for language, criterion in load_criterion().items()
    }


def _sentence_case(prompt: str, response: str, documents: tuple[Document, ...], decision: Decision, index: int) -> Case:
    """One sentence as a case: the prompt and the response up to the sentence are its prompt, the sentence is its response."""
    sentence = decision.sentences[index]
    before = response[max(0, sentence.start - SHOWN_BEFORE) : sentence.start].strip()
    turns = [Turn(role="user", content=prompt)]
    if before:
        turns.append(Turn(role="assistant", content=before))
    return Case(id="", prompt=tuple(turns), response=sentence.text, documents=documents)


def _call(panel: Panel, case: Case) -> PlannedCall:
    return next(planned_calls(panel, [JudgedCase(case=case, criteria=panel.criteria)]))


def _sentence_judgment(index: int, judgment: Judgment) -> SentenceJudgment:
    """What a judgment means for a sentence: only the best score means that it is supported."""
    outcome = judgment.verdicts[0].outcome
    if isinstance(outcome, Scored):
        return SentenceJudgment(sentence=index, supported=outcome.score >= SCALE.max, explanation=outcome.explanation)
    reason = outcome.explanation if isinstance(outcome, NotApplicable) else outcome.reason
    return SentenceJudgment(sentence=index, supported=None, explanation=reason)


def load_criterion() -> dict[str, Criterion]:
    """Load the criterion by language."""
    assets = BUNDLED / SUITE / "assets"
    registry = load_registry(assets / "criteria_registry.yml")
    found: dict[str, Criterion] = {}
    for language in LANGUAGES:
        loaded = load_criteria(registry, (CRITERION,), assets / "criteria", language, OWN_LANGUAGE, SCALE)
        if loaded.faults:
            raise loaded.faults[0]
        found[language] = loaded.criteria[0]
    return found


def open_sentence_judge(
    config: RagConfig, ledger: Ledger | None, environment: Mapping[str, str], window: int
) -> SentenceJudge | None:
    """Open the configured judge; None without a judge.

    Args:
        ledger: keeps the judgments; None: nothing does.
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
        open_judge(reference, settings)  # a reference that fits no provider is reported at the start; nothing is called
    except ModelError as fault:
        raise config.fault(str(fault), "grey_band", "judge") from None
    options: dict[str, Any] = {"temperature": 0, "num_predict": MAX_TOKENS, "num_ctx": window} | own
    judge = Judge(name=section.judge if named else judge_name(reference), reference=reference, passes=(options,))
    return SentenceJudge(judge, settings, ledger, sentences=section.sentences, seconds=section.seconds)
