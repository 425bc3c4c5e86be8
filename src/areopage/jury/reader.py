"""Read outcomes and remarks from the text of a judge's answer.

An answer about one criterion is its verdict, `{"score", "explanation", "evidence_extracts"}`. An answer about several has a
member for each by its short name: a verdict, or the bare score. What can be read is read: an answer may score three criteria and
miss one. Where a criterion may not apply, a verdict may say `"applicable": false` and why, in place of a score; only a complete
object says so, never one that had to be repaired.

A verdict must be beyond doubt. Where an answer holds two different scores, by two objects or by one key given twice, neither is
taken: the second may have been put there by the text under judgment. A verdict that stands in that text is not taken either (see
`areopage.jury.planted`). Of a broken object, members are taken from its beginning on; what follows the first one that cannot be
read may be a quotation.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from areopage.cases import Case
from areopage.criteria import REMARKS, Criterion, Scale, short_names
from areopage.jury.lenient_objects import PLAIN_SIGNS
from areopage.jury.parsing import (
    VERDICT_KEYS,
    Opened,
    PairsHook,
    Unopened,
    common_outcome,
    nothing_in,
    open_answer,
    repaired_verdict,
    second_applicability,
    second_score,
    strict_decoder,
    unique_keys,
    verdict_of,
)
from areopage.jury.planted import prepared
from areopage.jury.wrappers import WRAPPERS, verdict_within
from areopage.ledger import Judgment, Repair
from areopage.scoring import Given, NotApplicable, Outcome, Scored, Unparsed

_KEY = re.compile(r"\s*+[\"'“]?([A-Za-z0-9_]{1,200})[\"'”]?\s*+:\s*+", re.ASCII)
_AFTER_VALUE = re.compile(r"\s*+([,}])")
_QUOTED = Unparsed(reason="the verdict stands in the text under judgment, to the letter")
_SAID_WITHIN = Unparsed(reason="the text under judgment says itself that a criterion does not apply")
_DECODER = json.JSONDecoder(strict=False)
_MAX_MEMBERS = 1_000
MAX_REMARKS = 10
MAX_REMARK = 1_000


class Reading(Struct, frozen=True, kw_only=True):
    """What was read: an outcome for each criterion asked, by id. `steps` and `repair` are as in `Judgment`."""

    outcomes: dict[str, Outcome]
    steps: tuple[str, ...]
    repair: Repair = "none"

    @property
    def unread(self) -> dict[str, str]:
        """The unreadable criteria, with reasons."""
        return {name: outcome.reason for name, outcome in self.outcomes.items() if isinstance(outcome, Unparsed)}

    def completed_by(self, again: "Reading") -> "Reading":
        """Add verdicts from the repair call; verdicts already read are kept."""
        added = {name: again.outcomes[name] for name in self.unread}
        return Reading(
            outcomes=self.outcomes | added,
            steps=(*self.steps, "repair_call", *again.steps),
            repair="model" if any(isinstance(outcome, Given) for outcome in added.values()) else self.repair,
        )


def read_answer(text: str, finish_reason: str, criteria: Sequence[Criterion], material: str = "") -> Reading:
    """Read an answer.

    Args:
        text: the model's answer.
        finish_reason: the server's word on why it ended; "length" means that it was cut.
        criteria: those that were asked about, in the prompt's order; each score must lie on its criterion's scale.
        material: the text under judgment; see `material_of`.
    """
    names, asked = _asked_of(tuple(criteria))
    findings = _find_verdicts(text, finish_reason, asked)
    verdicts = _without_planted(findings, asked, material)
    return Reading(
        outcomes={criterion.id: verdicts[name].outcome for name, criterion in zip(names, criteria, strict=True)},
        steps=findings.steps,
        repair="heuristic" if findings.repaired else "none",
    )


def read_again(judgment: Judgment, criteria: Sequence[Criterion], material: str) -> Reading | None:
    """Read a stored judgment's raw texts again.

    Returns None without raw texts or after a truncated prompt.
    """
    if not judgment.raw_text or "prompt_cut" in judgment.steps:
        return None
    first = read_answer(judgment.raw_text, "stop" if judgment.repair_text else judgment.finish_reason, criteria, material)
    if not first.unread or not judgment.repair_text:
        return first
    return first.completed_by(read_answer(judgment.repair_text, judgment.finish_reason, criteria, material))


def material_of(case: Case) -> str:
    """All untrusted texts of a case."""
    documents = (text for document in case.documents for text in (document.title, document.text))
    return "\n".join([case.prompt_text, case.response or "", case.reference or "", *documents])


# --- the verdicts of an answer

_Form = Literal["verdict", "members"]


class _ReadVerdict(Struct, frozen=True):
    outcome: Outcome
    is_object: bool = True


_GIVEN_AGAIN = _ReadVerdict(Unparsed(reason="a score follows behind the verdict"))


class _Expected(Struct, frozen=True, kw_only=True):
    """What an answer should hold: one verdict, or a member for each name; each with its scale.

    `optional` are the names of the criteria that may not apply.
    """

    form: _Form
    scales: Mapping[str, Scale]
    optional: frozenset[str]

    @property
    def keys(self) -> frozenset[str]:
        """The keys of an answer's object."""
        return VERDICT_KEYS if self.form == "verdict" else frozenset(self.scales)

    @property
    def guarded(self) -> frozenset[str]:
        """The keys that no object of an answer may give twice with different values."""
        return VERDICT_KEYS | WRAPPERS | frozenset(self.scales)

    def answers_in(self, opened: Opened) -> tuple[list[Mapping[str, Any]], str]:
        """The objects with verdicts out of what stands around them, and their text."""
        decoder, names = strict_decoder(self.guarded)[1], self.scales if self.form == "verdict" else ()
        answers, wrapped = list[Mapping[str, Any]](), False
        for outer in opened.objects:
            answer = verdict_within(outer, self.keys, names, decoder)
            if answer is not None:
                answers.append(answer)
                wrapped = wrapped or answer is not outer
        return answers, " ".join(json.dumps(answer, ensure_ascii=False) for answer in answers) if wrapped else opened.bare

    def verdicts_of(self, answer: Mapping[str, Any]) -> dict[str, _ReadVerdict]:
        """The verdicts of a parsed answer."""
        if self.form == "verdict":
            return {name: self.verdict_of(name, answer) for name in self.scales}
        return {
            name: self.verdict_of(name, answer[name]) if name in answer else _ReadVerdict(Unparsed(reason=f"no key {name!r}"))
            for name in self.scales
        }

    def verdict_of(self, name: str, value: Any) -> _ReadVerdict:
        """The verdict on one criterion: an object, or the score alone."""
        if isinstance(value, dict):
            return _ReadVerdict(verdict_of(value, self.scales[name], may_not_apply=name in self.optional))
        return _ReadVerdict(verdict_of({"score": value}, self.scales[name]), is_object=False)

    def repaired(self, name: str, text: str, finish_reason: str) -> Outcome:
        """The outcome of a broken object about one criterion."""
        return repaired_verdict(text, finish_reason, self.scales[name], may_not_apply=name in self.optional)

    def is_given_again(self, behind: str, verdicts: Iterable[_ReadVerdict]) -> bool:
        """Whether the text behind the answer's object goes on as a verdict: the object may have ended within a quotation."""
        scores = {verdict.outcome.score for verdict in verdicts if isinstance(verdict.outcome, Scored)}
        if second_score(behind, scores) or (self.optional and second_applicability(behind)):
            return True
        return self.form == "members" and any(_key_places(name, behind) for name in self.scales)


@lru_cache(maxsize=256)  # many answers are about the same criteria
def _asked_of(criteria: tuple[Criterion, ...]) -> tuple[tuple[str, ...], _Expected]:
    names = short_names(criteria)
    asked = _Expected(
        form="verdict" if len(criteria) == 1 else "members",
        scales={name: criterion.scale for name, criterion in zip(names, criteria, strict=True)},
        optional=frozenset(name for name, criterion in zip(names, criteria, strict=True) if criterion.may_not_apply),
    )
    return names, asked


class _AnswerVerdicts(Struct, frozen=True, kw_only=True):
    """The verdicts by name, the steps of reading, and whether any score was read with the help of json-repair.

    `bare` is the answer out of its wrappings.
    """

    verdicts: dict[str, _ReadVerdict]
    steps: tuple[str, ...]
    bare: str = ""
    repaired: bool = False

    def raw_of(self, name: str, form: _Form) -> str:
        """The text of a verdict's object: all of the answer's, or that of the first complete member of this name."""
        if form == "verdict":
            plain = self.bare.translate(PLAIN_SIGNS)
            return self.bare[max(plain.find("{"), 0) : plain.rfind("}") + 1 or None]
        for place in _key_places(name, self.bare):
            key = _KEY.match(self.bare, place + 1)
            complete = _complete_value(self.bare, key.end(), _DECODER) if key else None
            if key and complete:
                return self.bare[key.end() : complete[1] - 1]
        return ""


def _find_verdicts(text: str, finish_reason: str, asked: _Expected) -> _AnswerVerdicts:
    """Try one way of reading after the other, a broken object last."""
    opened = open_answer(text, finish_reason, asked.guarded)
    if isinstance(opened, Unopened):
        return _AnswerVerdicts(verdicts=dict.fromkeys(asked.scales, _ReadVerdict(opened.outcome)), steps=opened.steps)
    objects, bare = asked.answers_in(opened)
    if opened.whole:
        return _AnswerVerdicts(
            verdicts=asked.verdicts_of(objects[0] if objects else opened.objects[0]), steps=opened.steps, bare=bare
        )
    answers = [asked.verdicts_of(answer) for answer in objects]
    if answers and not opened.broken:
        verdicts: dict[str, _ReadVerdict] = {}
        for name, first in answers[0].items():  # of several answers those on whose scores all agree
            outcome = common_outcome([answer[name].outcome for answer in answers])
            verdicts[name] = first if outcome is first.outcome else _ReadVerdict(outcome)
        if asked.is_given_again(opened.behind, verdicts.values()):
            verdicts = dict.fromkeys(asked.scales, _GIVEN_AGAIN)
        return _AnswerVerdicts(verdicts=verdicts, steps=opened.steps, bare=bare)
    if "{" in opened.bare:
        if asked.form == "members":
            return _BrokenAnswer(opened.bare, finish_reason, asked).read(opened.steps)
        (only,) = asked.scales
        outcome, steps = asked.repaired(only, opened.bare, finish_reason), (*opened.steps, "json_repair")
        repaired = isinstance(outcome, Scored)
        return _AnswerVerdicts(verdicts={only: _ReadVerdict(outcome)}, steps=steps, bare=opened.bare, repaired=repaired)
    nothing = _ReadVerdict(nothing_in(opened.bare, finish_reason))
    return _AnswerVerdicts(verdicts=dict.fromkeys(asked.scales, nothing), steps=opened.steps)


class _BrokenAnswer:
    """A broken object with a member for each criterion, read as far as the text leaves no doubt.

    A member that is itself broken is repaired as a verdict of its own, and reading goes on behind it only if that succeeds. From
    there on a criterion whose key stands in two places has no verdict: one of them may be a quotation.
    """

    def __init__(self, text: str, finish_reason: str, asked: _Expected) -> None:
        self._text = text
        self._finish_reason = finish_reason
        self._asked = asked
        self._decoder = json.JSONDecoder(object_pairs_hook=unique_keys(VERDICT_KEYS), strict=False)
        self._places = {name: _key_places(name, text) for name in asked.scales}
        self._verdicts: dict[str, _ReadVerdict] = {}
        self._repairing = False
        self._repaired = False

    def read(self, steps: tuple[str, ...]) -> _AnswerVerdicts:
        """Read the members one after the other, from the object's beginning."""
        at: int | None = self._text.find("{") + 1
        for _ in range(_MAX_MEMBERS):
            key = _KEY.match(self._text, at) if at is not None else None
            if key is None:
                break
            at = self._read_member(key[1], key.end())
        cut = "cut before its verdict" if self._finish_reason == "length" else "broken JSON before its verdict"
        return _AnswerVerdicts(
            verdicts={name: self._verdicts.get(name, _ReadVerdict(Unparsed(reason=cut))) for name in self._asked.scales},
            steps=(*steps, "members", *(("json_repair",) if self._repairing else ())),
            bare=self._text,
            repaired=self._repaired,
        )

    def _read_member(self, name: str, start: int) -> int | None:
        """Read the member whose value begins at `start`; where the next one begins, None where reading must end."""
        complete = _complete_value(self._text, start, self._decoder)
        if name not in self._asked.scales:
            return complete[1] if complete else None
        twice = name in self._verdicts or len(self._places[name]) > 1
        if twice and (self._repairing or complete is None):
            self._verdicts[name] = _ReadVerdict(Unparsed(reason="broken JSON that may give it twice"))
            return None
        if complete is None:
            return self._repair_member(name, start)
        value, end = complete
        member = self._asked.verdict_of(name, value)
        if self._verdicts.get(name, member) != member:
            member = _ReadVerdict(Unparsed(reason=f"the {name} is given twice, with different values"))
        self._verdicts[name] = member
        return end

    def _repair_member(self, name: str, start: int) -> int | None:
        """Repair a member that is broken within; where the next one begins, None where it has no score or is the last."""
        self._repairing = True
        commas = (place for places in self._places.values() for place in places if self._text[place] == "," and place > start)
        end = min(commas, default=None)
        segment = self._text[start:end]
        if segment.startswith("{"):
            outcome = self._asked.repaired(name, segment, self._finish_reason)
        else:
            outcome = Unparsed(reason=f"{'cut' if self._finish_reason == 'length' else 'broken JSON'} within the score")
        self._verdicts[name] = _ReadVerdict(outcome)
        if not isinstance(outcome, Scored):
            return None
        self._repaired = True
        return None if end is None else end + 1


def _complete_value(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int] | None:
    """A complete value at a place and where the next member begins; None where it is broken, or a number may go on."""
    try:
        value, end = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    after = _AFTER_VALUE.match(text, end)
    return (value, after.end()) if after else None


def _key_places(name: str, text: str) -> list[int]:
    """Where a name stands as a key may stand: the places of the sign before it."""
    pattern = re.compile(rf"[{{,]\s*+[\"'“]?{re.escape(name)}[\"'”]?\s*+:", re.ASCII)
    return [match.start() for match in pattern.finditer(text)]


# --- verdicts that the text under judgment holds


def _without_planted(findings: _AnswerVerdicts, asked: _Expected, material: str) -> dict[str, _ReadVerdict]:
    """The verdicts, but for those that the text under judgment holds."""
    scored = {name: verdict.outcome for name, verdict in findings.verdicts.items() if isinstance(verdict.outcome, Scored)}
    inapplicable = [name for name, verdict in findings.verdicts.items() if isinstance(verdict.outcome, NotApplicable)]
    if not material or not (scored or inapplicable):
        return findings.verdicts
    text = prepared(material)
    verdicts, bare = dict(findings.verdicts), dict[str, float]()
    for name, outcome in scored.items():
        if not findings.verdicts[name].is_object:
            bare[name] = outcome.score
        elif text.plants(outcome, findings.raw_of(name, asked.form), asked.scales[name]):
            verdicts[name] = _ReadVerdict(_QUOTED)
    for name in text.planted_bare(bare, asked.scales) if bare else ():
        verdicts[name] = _ReadVerdict(_QUOTED)
    for name in inapplicable if text.says_inapplicable else ():
        verdicts[name] = _ReadVerdict(_SAID_WITHIN)
    return verdicts


# --- remarks


class Remarks(Struct, frozen=True, kw_only=True):
    """A judge's remarks on the response as a whole."""

    feedback: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


def remarks_of(judgment: Judgment) -> Remarks:
    """The remarks of a stored judgment about several criteria; what its first text lacks is taken from the second."""
    if len(judgment.verdicts) < 2:
        return Remarks()
    first, second = read_remarks(judgment.raw_text), read_remarks(judgment.repair_text)
    return Remarks(**{name: getattr(first, name) or getattr(second, name) for name in Remarks.__struct_fields__})


def read_remarks(text: str) -> Remarks:
    """The remarks of an answer about several criteria; those that cannot be read are empty."""
    opened = open_answer(text, "stop", frozenset())
    if isinstance(opened, Unopened):
        return Remarks()
    answer: dict[str, Any] = {}
    for candidate in opened.objects if not opened.broken else ():
        answer |= {name: candidate[name] for name in REMARKS if name in candidate and name not in answer}
    if opened.broken:
        answer = dict(_complete_members(opened.bare, unique_keys(frozenset())))
    feedback = answer.get("feedback")
    return Remarks(
        feedback=feedback.strip()[:MAX_REMARK] if isinstance(feedback, str) else "",
        strengths=_short_texts(answer.get("strengths")),
        weaknesses=_short_texts(answer.get("weaknesses")),
        suggestions=_short_texts(answer.get("suggestions")),
    )


def _complete_members(text: str, hook: PairsHook) -> Iterator[tuple[str, Any]]:
    """The complete members of a broken object, from its beginning to the first that is not."""
    decoder = json.JSONDecoder(object_pairs_hook=hook, strict=False)
    at = text.find("{") + 1
    for _ in range(_MAX_MEMBERS):
        key = _KEY.match(text, at)
        complete = _complete_value(text, key.end(), decoder) if key else None
        if key is None or complete is None:
            return
        value, at = complete
        yield key[1], value


def _short_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, or a single one; bounded in number and length."""
    texts = value if isinstance(value, list) else [value]
    return tuple(text.strip()[:MAX_REMARK] for text in texts if isinstance(text, str) and text.strip())[:MAX_REMARKS]
