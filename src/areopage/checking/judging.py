"""The grey band's judge: checks the doubtful sentences of an answer in one call, within a time budget.

The judge reads the sentences, one a line, and the passages of the documents that concern them: an answer costs at most about
3,000 tokens. It scores them together; the words that it quotes say which of them are not supported.
"""

import asyncio
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Literal

from msgspec import Struct, structs

from areopage.cases import Case, Document, Turn
from areopage.checking.config import RagConfig
from areopage.criteria import Criterion, Scale, load_criteria, load_registry
from areopage.errors import ModelError, name_list
from areopage.gate import AskedJudge, Decision, JudgeTrust, SentenceCheck, SentenceJudgment
from areopage.jury import (
    Judge,
    JudgedCase,
    LedgerJudgments,
    NoJudgments,
    Panel,
    PlannedCall,
    Session,
    open_judge,
)
from areopage.ledger import Judgment, Ledger
from areopage.models import ModelReference, ModelSettings, Traffic
from areopage.scoring import DEFAULT, NotApplicable, Scored
from areopage.suites import BUNDLED, CONFIG_FILE
from areopage.text import Span, plain, stems

SUITE = "rag_grounding"
SUITE_VERSION = "1.0.0"
CRITERION = "rag_grounding.sentence.supported__v1_0"
SCALE = Scale(min=0, max=2)
LANGUAGES = ("en", "fr")
OWN_LANGUAGE = "en"
MAX_TOKENS = 300
TRIES = 2  # of a call that fails
OUTAGE = 0.0  # a user waits: a server that is down is not waited for
SHOWN_BEFORE = 400  # characters of the answer before the first sentence: what its pronouns stand for
SHOWN_PROMPT = 600  # characters of the question
SHOWN_SENTENCES = 1_200  # characters of the sentences; further ones are not judged
SHOWN_PASSAGES = 3_000  # characters of the documents
_PIECE = 500  # characters of a passage
_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
_GAP = " […] "


class Judged(Struct, frozen=True, kw_only=True):
    """The judgments on sentences, with their judge, panel and keys."""

    sentences: tuple[SentenceJudgment, ...] = ()
    judge: AskedJudge | None = None
    panel: str = ""
    keys: tuple[str, ...] = ()


class ConfiguredJudge(Struct, frozen=True, kw_only=True):
    """The judge of a configuration, and how its model is reached."""

    judge: Judge
    settings: ModelSettings

    def panel(self, language: str, criterion: Criterion) -> Panel:
        """The judge with the criterion in a language."""
        return Panel(
            suite=SUITE,
            suite_version=SUITE_VERSION,
            language=language,
            criteria=(criterion,),
            judges=(self.judge,),
            scale=SCALE,
            profile=DEFAULT,
        )


class SentenceJudge:
    """Judges sentences with one judge.

    Judgments are stored in the ledger, where there is one; final ones are not paid for again.
    """

    def __init__(
        self,
        judge: ConfiguredJudge,
        ledger: Ledger | None,
        *,
        sentences: int,
        seconds: float,
        unexamined: Literal["hold", "deliver"] = "hold",
        examine_with: str = "",
    ) -> None:
        """Use this judge with the bundled criterion in the answer's language.

        Args:
            ledger: keeps the judgments, and knows the exams.
            sentences: the largest number of sentences of an answer; the most doubtful ones.
            seconds: how long all of them may take together.
            unexamined: what a judge that took no exam may do.
            examine_with: the command that examines it.
        """
        self._judge, self._examine_with = judge, examine_with
        self._accepted = unexamined == "deliver"
        self._ledger, self._sentences, self._seconds = ledger, sentences, seconds
        self._unkept = NoJudgments()
        store = self._unkept if ledger is None else LedgerJudgments(ledger)
        self._sessions = {
            language: Session(
                judge.panel(language, criterion), judge.settings, store, kind="gate", traffic=Traffic(OUTAGE, attempts=TRIES)
            )
            for language, criterion in load_criterion().items()
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
        wanted = within_one_call(decision.sentences, decision.doubtful[: self._sentences])
        calls: list[PlannedCall] = []
        judgments: dict[str, Judgment] = {}
        trust: JudgeTrust | None = None
        reason, panel_id = "not asked", ""
        try:
            async with asyncio.timeout(self._seconds):
                session = self._sessions.get(language, self._sessions[OWN_LANGUAGE])
                panel = await self._checked(session)
                panel_id = session.run.id
                trust = await asyncio.to_thread(self._trust, panel)
                case = judged_case(prompt, response, documents, decision.sentences, wanted)
                calls = list(panel.planned_calls([JudgedCase(case=case, criteria=panel.criteria)]))[:1]
                judgments |= await session.known(calls)
                await session.ask(calls, judgments, store=None if keep else self._unkept)
        except TimeoutError:
            reason = f"no judgment within {self._seconds:g} s"
        except ModelError as fault:
            reason = str(fault)
        judgment = judgments.get(calls[0].key) if calls else None
        judge = self._judge.judge
        exam = "" if trust in ("examined", "provisional") else self._examine_with
        return Judged(
            sentences=tuple(
                SentenceJudgment(sentence=at, supported=None, explanation=reason)
                if judgment is None or trust is None
                else _sentence_judgment(decision, wanted, at, judgment, trust)
                for at in wanted
            ),
            judge=trust and AskedJudge(name=judge.name, model=str(judge.reference), standing=trust, examine_with=exam),
            panel=panel_id,
            keys=tuple(call.key for call in calls),
        )

    def exam_remark(self) -> str:
        """What users should know before the judge is asked; "" where its model has passed an exam in each language.

        It calls no model.
        """
        reference = str(self._judge.judge.reference)
        exams = [] if self._ledger is None else self._ledger.qualifications.list(suite=SUITE)
        passed = [exam for exam in exams if exam.whole and exam.model == reference]
        states = {language: exam.state for exam in passed for language in exam.languages}  # the latest of each language
        lacking = [language for language in LANGUAGES if states.get(language) != "qualified"]
        if not lacking:
            return ""
        accepted = self._accepted and not any(language in states for language in lacking)
        may = "the configuration accepts its word" if accepted else "it can hold answers, not release them"
        return f"the gate's judge {reference} has passed no exam in {name_list(lacking)}: {may} (exam: {self._examine_with})"

    def _trust(self, panel: Panel) -> JudgeTrust:
        insisted: JudgeTrust = "accepted" if self._accepted else "unexamined"
        if self._ledger is None:
            return insisted
        (standing,) = self._ledger.qualifications.standings(panel.judges, panel.criteria)
        if standing.state == "qualified":
            return "provisional" if standing.provisional else "examined"
        failed = any(
            criterion.state in ("not_qualified", "drifted") or criterion.failed_otherwise for criterion in standing.criteria
        )
        return "failed" if failed else insisted

    async def aclose(self) -> None:
        """Close the judge."""
        for session in self._sessions.values():
            await session.aclose()

    async def _checked(self, session: Session) -> Panel:
        panel = await session.check()
        if self._ledger is not None and session.run.id not in self._stored:
            await asyncio.to_thread(self._ledger.put_panel, session.run)
            self._stored.add(session.run.id)
        return panel


def _sentence_judgment(
    decision: Decision, indexes: Sequence[int], index: int, judgment: Judgment, trust: JudgeTrust
) -> SentenceJudgment:
    """What a judgment means for a sentence: only the best score means that it is supported.

    A lower score refutes the sentences whose words the judge quotes, and all of them where it quotes none. Of the others it says
    nothing.
    """
    outcome = judgment.verdicts[0].outcome
    if isinstance(outcome, Scored):
        supported = outcome.score >= SCALE.max
        quotes = [plain(extract) for extract in outcome.evidence]
        quoted = {at for at in indexes for quote in quotes if quote and quote in plain(decision.sentences[at].text)}
        if not supported and quoted and index not in quoted:
            return SentenceJudgment(sentence=index, supported=None, explanation=outcome.explanation)
        return SentenceJudgment(sentence=index, supported=supported, explanation=outcome.explanation, standing=trust)
    reason = outcome.explanation if isinstance(outcome, NotApplicable) else outcome.reason
    return SentenceJudgment(sentence=index, supported=None, explanation=reason)


def within_one_call(sentences: Sequence[Span | SentenceCheck], indexes: Sequence[int]) -> tuple[int, ...]:
    """The first of some sentences that one call may show together; always one."""
    kept: list[int] = []
    left = SHOWN_SENTENCES
    for index in indexes:
        left -= len(sentences[index].text)
        if kept and left < 0:
            break
        kept.append(index)
    return tuple(kept)


def judged_case(
    prompt: str, response: str, documents: Sequence[Document], sentences: Sequence[Span | SentenceCheck], indexes: Sequence[int]
) -> Case:
    """Some sentences as a case: the prompt and the response up to the first of them are its prompt, they are its response."""
    shown = [sentences[index] for index in sorted(indexes)]
    before = response[max(0, shown[0].start - SHOWN_BEFORE) : shown[0].start].strip()
    turns = [Turn(role="user", content=prompt[:SHOWN_PROMPT])]
    if before:
        turns.append(Turn(role="assistant", content=before))
    texts = [" ".join(sentence.text.split())[:SHOWN_SENTENCES] for sentence in shown]
    # a right answer in other words may share none with its document: the question does
    passages = passages_for([*texts, prompt[:SHOWN_PROMPT]], documents, SHOWN_PASSAGES)
    return Case(id="", prompt=tuple(turns), response="\n".join(texts), documents=passages)


def passages_for(sentences: Sequence[str], documents: Sequence[Document], most: int) -> tuple[Document, ...]:
    """The documents reduced to the passages that share the rarest words with each sentence, `most` characters in all.

    Where no passage shares a word with a sentence, the first ones are left; at least one is.
    """
    if sum(len(document.text) for document in documents) <= most:
        return tuple(documents)
    pieces = [(at, text) for at, document in enumerate(documents) for text in _pieces(document.text)]
    words = [frozenset(stems(text)) for _, text in pieces]
    spread = Counter(word for stems in words for word in stems)
    chosen: set[int] = set()
    left = most
    rankings: list[list[int]] = []
    for asked in (frozenset(stems(sentence)) for sentence in sentences):
        scores = [(fsum(1 / spread[word] for word in asked & stems), -number) for number, stems in enumerate(words)]
        rankings.append([-number for score, number in sorted(scores, reverse=True) if score > 0])
    if not any(rankings):
        rankings = [list(range(len(pieces)))]
    for place in range(max(map(len, rankings), default=0)):
        for ranking in rankings:
            number = ranking[place] if place < len(ranking) else -1
            if number < 0 or number in chosen or (chosen and len(pieces[number][1]) > left):
                continue
            chosen.add(number)
            left -= len(pieces[number][1]) + len(_GAP)
    shortened: list[Document] = []
    for at, document in enumerate(documents):
        text, before = "", -1
        for number in sorted(index for index in chosen if pieces[index][0] == at):
            text += ("" if before < 0 else " " if before == number - 1 else _GAP) + pieces[number][1]
            before = number
        if before >= 0:
            shortened.append(structs.replace(document, text=text))
    return tuple(shortened)


def _pieces(text: str) -> Iterator[str]:
    piece = ""
    for part in _END.split(text):
        for start in range(0, len(part), _PIECE):
            cut = part[start : start + _PIECE]
            if piece and len(piece) + len(cut) >= _PIECE:
                yield piece
                piece = ""
            piece = f"{piece} {cut}".strip()
    if piece:
        yield piece


def load_criterion() -> dict[str, Criterion]:
    """Load the criterion by language."""
    assets = BUNDLED / SUITE / "assets"
    registry = load_registry(assets / "criteria_registry.yml")
    criteria: dict[str, Criterion] = {}
    for language in LANGUAGES:
        loaded = load_criteria(registry, (CRITERION,), assets / "criteria", language, OWN_LANGUAGE, SCALE)
        if loaded.faults:
            raise loaded.faults[0]
        criteria[language] = loaded.criteria[0]
    return criteria


def open_sentence_judge(
    config: RagConfig, ledger: Ledger | None, environment: Mapping[str, str], window: int
) -> SentenceJudge | None:
    """Open the configured judge; None without a judge.

    Args:
        ledger: keeps the judgments; None: nothing does.
        window: see `configured_judge`.

    Raises:
        ConfigError, MissingExtra: as for `configured_judge`.
    """
    judge, section = configured_judge(config, environment, window), config.section.grey_band
    if judge is None or section is None:
        return None
    return SentenceJudge(
        judge,
        ledger,
        sentences=section.sentences,
        seconds=section.seconds,
        unexamined=section.unexamined,
        examine_with=exam_command(config, ledger),
    )


def configured_judge(config: RagConfig, environment: Mapping[str, str], window: int) -> ConfiguredJudge | None:
    """The judge that a configuration names; None without a judge. Nothing is called.

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
        defaults = {} if named is None else named.options
        reference = ModelReference.parse(
            named.model if named else section.judge, default_provider=named.provider if named else None
        )
        if reference.provider == "embedded" and section.unexamined == "hold":
            raise config.fault(
                "the embedded model is too small to judge: name another model, or write unexamined: deliver to insist",
                "grey_band",
                "judge",
            )
        settings = config.model_settings(environment, section.seconds, reference.endpoint, "grey_band", "judge")
        open_judge(reference, settings)  # a reference that fits no provider is reported at the start; nothing is called
    except ModelError as fault:
        raise config.fault(str(fault), "grey_band", "judge") from None
    options: dict[str, Any] = {"temperature": 0, "num_predict": MAX_TOKENS, "num_ctx": window} | defaults
    judge = Judge(
        name=section.judge if named else reference.short_name,
        reference=reference,
        pass_options=(options,),
        price=named.price.price() if named and named.price else None,
    )
    return ConfiguredJudge(judge=judge, settings=settings)


def exam_command(config: RagConfig, ledger: Ledger | None) -> str:
    """The command that examines the judge; it names the open ledger, without a password, where that is not the file's."""
    document, words = config.document, ["areopage", "gate", "qualify"]
    if document is not None and str(document.path) != CONFIG_FILE:
        words += ["--config", str(document.path)]
    in_file = "" if document is None else document.data.get("ledger") or ""
    if ledger is not None and config.shared.ledger != in_file:
        words += ["--ledger", ledger.place]
    return shlex.join(words)
