"""Audit a judge: ask it about harmless changes and attacks, and say what they do to its scores.

The questions go through the jury's session and the ledger: what was asked once is not asked again, so an audit can be resumed.
Its judgments belong to a panel of the kind "audit". How an answer would be read without a protection of reading follows from the
judge's own text, without another call.
"""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from json_repair import repair_json
from msgspec import Struct, structs

from areopage.errors import UserError
from areopage.exams.asking import (
    Asker,
    Asking,
    AskingObserver,
    AskingWishes,
    asking_of,
    checked,
    criteria_named,
    evenly_spaced,
    outcome_on,
)
from areopage.exams.attacks import load_attacks
from areopage.exams.effects import Effect, Noise, ProbeAnswer, Resistance, effects_of, noise_of, resistance_of
from areopage.exams.probes import BASE, PROBES, Probe, names_of_families
from areopage.exams.questions import (
    EVERYTHING,
    NOTHING,
    READ_WITHOUT,
    AuditMaterial,
    AuditQuestion,
    bad_criterion,
    graded_responses,
    pairs_of,
    planned,
    questions,
)
from areopage.jury import MAX_REPAIRED, PROMPT_CUT, CallSize, Judge, Panel, PlannedCall, material_of, read_answer, signs_in
from areopage.ledger import Judgment, Ledger
from areopage.scoring import Outcome, Scored, Unparsed
from areopage.suites import Suite, choose_language
from areopage.text import split_thoughts

CASES = 20
"""How many graded responses are changed, where the user names no number."""


class AuditWishes(AskingWishes, frozen=True, kw_only=True):
    """What the user wants.

    Args:
        judge: a judge of the suite, a model reference or NAME=REF.
        language: of the responses and of the judge's prompt; None: the suite's own.
        limit: how many graded responses, evenly spaced; None: all.
        attacks: how many attacks, evenly spaced; None: all.
        without: protections that are also left out; see `questions.ASKED_WITHOUT`.
    """

    judge: str
    probes: tuple[Probe, ...] = PROBES
    language: str | None = None
    limit: int | None = CASES
    attacks: int | None = None
    without: tuple[str, ...] = ()


class PreparedAudit(Struct, frozen=True, kw_only=True):
    """An audit before its first call."""

    asking: Asking
    material: AuditMaterial
    wishes: AuditWishes


class AuditResult(Struct, frozen=True, kw_only=True):
    """What an audit found.

    Args:
        judge, reference, digest: who was asked; `unfit` why it is unfit to judge, "" where nothing is known.
        low, high, higher_is_better: the suite's scale, in whose points effects are.
        cases: unchanged responses; `judgments` that the figures rest on, `unanswered` those without a score.
        own_model: how the judge's family is named in the probe of self-preference; `other_model` the other one.
    """

    suite: str
    suite_version: str
    judge: str
    reference: str
    digest: str
    unfit: str
    language: str
    low: float
    high: float
    higher_is_better: bool
    probes: tuple[Probe, ...]
    without: tuple[str, ...]
    cases: int
    judgments: int
    unanswered: int
    noise: Noise
    effects: tuple[Effect, ...]
    resistance: tuple[Resistance, ...]
    own_model: str
    other_model: str
    made_at: datetime


def prepare_audit(suite: Suite, wishes: AuditWishes) -> PreparedAudit:
    """Read the cases and choose the judge; nothing is asked.

    Raises:
        ConfigError, DatasetError, CriteriaError, ModelError: the suite, its graded responses or the judge cannot be used.
    """
    language = choose_language(suite, wishes.language)
    every, pairs = graded_responses(suite, language), pairs_of(suite, wishes.limit)
    ids = dict.fromkeys([key for graded in every for key in graded.bands] + [key for pair in pairs for key in pair.criteria])
    asking = asking_of(suite, [wishes.judge], ids, language, wishes)
    material = AuditMaterial(
        graded=every,
        pairs=pairs,
        bad=every,
        attacks=evenly_spaced(load_attacks(), wishes.attacks),
    )
    return PreparedAudit(asking=asking, material=material, wishes=wishes)


class JudgeAudit:
    """One audit: `plan` says what is left to ask, `carry_out` asks it."""

    def __init__(self, prepared: PreparedAudit, ledger: Ledger) -> None:
        self._prepared, self._ledger = prepared, ledger
        self._asking = prepared.asking
        self._questions: tuple[AuditQuestion, ...] = ()
        self._calls: dict[int, tuple[PlannedCall, ...]] = {}
        self._held: dict[str, Judgment] = {}

    @property
    def panel(self) -> Panel:
        """The panel; with the judge's digest once planned."""
        return self._asking.panel

    @property
    def judge(self) -> Judge:
        """The judge that is audited."""
        return self.panel.judges[0]

    async def plan(self) -> CallSize:
        """Check the judge, and say what is left to ask."""
        self._asking = await checked(self._asking)
        wishes, material = self._prepared.wishes, self._prepared.material
        bad = tuple(graded for graded in material.bad if bad_criterion(self.panel, self.judge, graded) is not None)
        graded = tuple(graded for graded in material.graded if criteria_named(self.panel, graded.bands, self.judge))
        chosen = structs.replace(material, graded=evenly_spaced(graded, wishes.limit), bad=evenly_spaced(bad, wishes.limit))
        self._questions = questions(self.panel, self.judge, chosen, wishes.probes, wishes.without)
        if not self._questions:
            raise UserError(f"{self.judge.name} judges none of the graded responses of {self.panel.suite} with these probes")
        self._calls = planned(self.panel, self.judge, self._questions)
        calls = [call for call, _ in self._asked()]
        async with Asker(self._asking, self._ledger, "audit") as asker:
            return CallSize.of(self.panel, calls, await asker.known(calls))

    def _asked(self) -> list[tuple[PlannedCall, str]]:
        """All calls, each with the id of the unchanged case."""
        return [(call, self._questions[place].case) for place in sorted(self._calls) for call in self._calls[place]]

    async def carry_out(self, observer: AskingObserver | None = None) -> AuditResult:
        """Ask what is left, and compute the figures; what has arrived before an error is kept."""
        if not self._questions:
            await self.plan()
        async with Asker(self._asking, self._ledger, "audit", observer) as asker:
            await asker.ask(f"audit of {self.judge.name}", self._asked(), self._held, observer)
        return await asyncio.to_thread(self._result)

    def _result(self) -> AuditResult:
        answers = [row for place, question in enumerate(self._questions) for row in self._answered(place, question)]
        noise, scale, wishes = noise_of(answers), self.panel.scale, self._prepared.wishes
        direct = [answer for answer in answers if answer.without not in READ_WITHOUT]
        own_model, other = names_of_families(self.judge.reference.model)
        return AuditResult(
            suite=self.panel.suite,
            suite_version=self.panel.suite_version,
            judge=self.judge.name,
            reference=str(self.judge.reference),
            digest=self.judge.digest,
            unfit=self.judge.unfit,
            language=self.panel.language,
            low=scale.min,
            high=scale.max,
            higher_is_better=scale.higher_is_better,
            probes=wishes.probes,
            without=wishes.without,
            cases=len({answer.case for answer in direct if answer.variant == BASE}),
            judgments=len(direct),
            unanswered=sum(answer.score is None for answer in direct),
            noise=noise,
            effects=effects_of(direct, scale.max - scale.min),
            resistance=resistance_of(answers, self._prepared.material.attacks, noise, scale),
            own_model=own_model,
            other_model=other,
            made_at=datetime.now(UTC),
        )

    def _answered(self, place: int, question: AuditQuestion) -> list[ProbeAnswer]:
        """The judgments of one question; those on attacks also as they would be read without a protection of reading."""
        rows: list[ProbeAnswer] = []
        probes, is_model = self._prepared.wishes.probes, self.judge.is_model
        of_injections = "injections" in probes and (question.probe == "injections" or question.variant == BASE)
        for call in self._calls.get(place, ()):
            judgment = self._held[call.key]
            readings = [
                (position, question.without, outcome_on(judgment, criterion.id))
                for position, criterion in enumerate(call.criteria)
            ]
            if question.without == EVERYTHING:
                readings = [(position, name, outcome_without(judgment, call, EVERYTHING)) for position, name, _ in readings]
            if question.without == NOTHING and of_injections and is_model:
                readings += [(0, name, outcome_without(judgment, call, name)) for name in READ_WITHOUT]
            for position, without, outcome in readings:
                criterion = call.criteria[position]
                rows.append(
                    ProbeAnswer(
                        probe=question.probe,
                        variant=question.variant,
                        without=without,
                        case=question.case,
                        criterion=criterion.id,
                        pass_index=call.pass_index,
                        score=criterion.scale.map_to(outcome.score, self.panel.scale) if isinstance(outcome, Scored) else None,
                        place=position,
                        asked=len(call.criteria),
                        addressed=bool(signs_in(judgment.steps)),
                    )
                )
        return rows


def outcome_without(judgment: Judgment, call: PlannedCall, name: str) -> Outcome:
    """The outcome of a judgment on one criterion if a protection of reading, or "everything", were left out."""
    (criterion,), raw = call.criteria, judgment.raw_text
    stored = judgment.verdicts[0].outcome
    if not raw or (PROMPT_CUT in judgment.steps and name not in ("window", EVERYTHING)):
        return stored
    material = "" if name in ("planted", EVERYTHING) else material_of(call.case)
    if name in ("doubt", EVERYTHING):
        raw = _last_verdict(raw)
    read = read_answer(raw, "stop" if judgment.repair_text else judgment.finish_reason, (criterion,), material)
    outcome = read.outcomes[criterion.id]
    if isinstance(outcome, Unparsed) and judgment.repair_text and name != EVERYTHING:
        return read_answer(judgment.repair_text, judgment.finish_reason, (criterion,), material).outcomes[criterion.id]
    return outcome


def _last_verdict(text: str) -> str:
    """What a plain repair of broken JSON makes of an answer: the last of its objects that has a score."""
    bare = split_thoughts(text, judge=True).answer
    try:
        repaired: Any = repair_json(bare[max(bare.find("{"), 0) :][:MAX_REPAIRED], return_objects=True)
    except (ValueError, RecursionError, AssertionError, LookupError, TypeError):
        return text
    objects = [
        item for item in (repaired if isinstance(repaired, list) else [repaired]) if isinstance(item, Mapping) and "score" in item
    ]
    return json.dumps(objects[-1]) if objects else text
