"""Other rules over answers that were decided on before: which verdicts would change, and is that for the better?"""

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from areopage.cases import Document
from areopage.gate.decide import Gate
from areopage.gate.records import Decision, GateVerdict, SentenceJudgment
from areopage.gate.settle import settled_by_labels
from areopage.gate.tuning.labelled import Label

Obstacle = Literal["erased", "not_kept", "no_response", "no_documents", "nothing_generated", "altered"]
"""Why an answer cannot be decided on again: its texts are erased, or the storage policy did not keep them; the log that it was
imported from did not hold the response, or the documents; documents were not relevant then, so that no response was generated,
and would be now; or the very version that decided then decides otherwise now, so that a policy cut or redacted what it saw."""

_NOT_READ = frozenset(["no_documents", "not_relevant"])
LONGEST_QUOTE = 300


class Recorded(Struct, frozen=True, kw_only=True):
    """An answer as it was noted.

    Args:
        version: the gate's that decided then, "" where it is not known.
        judged: what a judge said of sentences then, by their text; see `judged_of`.
        num_sources: how many documents the gate saw.
        said: whether people said then that its documents support an equal answer; it settles the decision under any rules.
        label: people's.
    """

    id: str
    at: str
    prompt: str
    response: str
    documents: tuple[Document, ...]
    verdict: GateVerdict
    reasons: tuple[str, ...] = ()
    p_unsupported: float | None = None
    version: str = ""
    judged: Mapping[str, bool] = {}
    said: bool | None = None
    num_sources: int = 0
    erased: bool = False
    imported: bool = False
    label: Label | None = None


class DecisionSide(Struct, frozen=True, kw_only=True):
    """What one configuration says of an answer: the decisive reasons' codes, and the words that they are about."""

    verdict: GateVerdict
    reasons: tuple[str, ...]
    p_unsupported: float | None
    quotes: tuple[str, ...] = ()
    needs_judge: bool = False


class ReplayedChange(Struct, frozen=True, kw_only=True):
    """A decision that changes. `better` says whether the new one agrees with people where the old one did not; None: no label."""

    id: str
    at: str
    question: str
    old: DecisionSide
    new: DecisionSide
    label: Label | None
    better: bool | None


class Replay:
    """What the decisions seen so far add up to; holds counts alone, however many there are.

    Attributes:
        seen, replayed: answers, and those of them that could be decided on again.
        obstacles: why others could not.
        changes: how many verdicts change, by (old, new).
        asks_judge: how many the new configuration would ask a judge about who did not settle them then.
        labelled, old_agrees, new_agrees: replayed answers with a label, and how many of them each side agrees with.
    """

    def __init__(self, new: Gate, old: Gate | None) -> None:
        """Args:
        old: None compares with what was recorded.
        """
        self._new, self._old = new, old
        self.seen = self.replayed = self.asks_judge = 0
        self.labelled = self.old_agrees = self.new_agrees = 0
        self.obstacles: Counter[Obstacle] = Counter()
        self.changes: Counter[tuple[GateVerdict, GateVerdict]] = Counter()

    @property
    def changed(self) -> int:
        """How many verdicts change."""
        return sum(self.changes.values())

    def take(self, recorded: Recorded) -> ReplayedChange | None:
        """Decide on an answer again; its change, if there is one."""
        self.seen += 1
        obstacle = _obstacle_of(recorded)
        if obstacle is not None:
            self.obstacles[obstacle] += 1
            return None
        decision = _decided(self._new, recorded)
        if not recorded.response.strip() and not any(reason.code in _NOT_READ for reason in decision.reasons):
            self.obstacles["nothing_generated"] += 1
            return None
        if recorded.version == self._new.version and recorded.verdict != decision.verdict:
            self.obstacles["altered"] += 1
            return None
        after = _side_of(decision)
        before = DecisionSide(verdict=recorded.verdict, reasons=recorded.reasons, p_unsupported=recorded.p_unsupported)
        if self._old is not None:
            before = _side_of(_decided(self._old, recorded))
        self.replayed += 1
        self.asks_judge += after.needs_judge
        agreed = (
            None if recorded.label is None else (_agrees(before.verdict, recorded.label), _agrees(after.verdict, recorded.label))
        )
        if agreed is not None:
            self.labelled += 1
            self.old_agrees += agreed[0]
            self.new_agrees += agreed[1]
        if before.verdict == after.verdict:
            return None
        self.changes[before.verdict, after.verdict] += 1
        better = None if agreed is None or agreed[0] == agreed[1] else agreed[1]
        return ReplayedChange(
            id=recorded.id, at=recorded.at, question=recorded.prompt, old=before, new=after, label=recorded.label, better=better
        )


def _decided(gate: Gate, recorded: Recorded) -> Decision:
    """What a gate decides; with what people said then, or a judge where the gate wants one, if that settles it."""
    decision = gate.decide(recorded.prompt, recorded.response, recorded.documents)
    if recorded.said is not None:
        return settled_by_labels(decision, supported=recorded.said)
    said = [SentenceJudgment(sentence=at, supported=recorded.judged.get(decision.sentences[at].text)) for at in decision.doubtful]
    supported = [judgment.supported for judgment in said]
    return gate.resolve(decision, said) if False in supported or None not in supported else decision


def said_of(decision: Decision) -> bool | None:
    """What people had said of an equal answer, where that made the decision."""
    codes = {reason.code for reason in decision.reasons}
    return False if "labelled_unsupported" in codes else True if "labelled_supported" in codes else None


def judged_of(decision: Decision) -> dict[str, bool]:
    """What a judge said of sentences, by their text, as far as the settled decision tells.

    Where the judge refuted one, it does not tell what the judge said of the others.
    """
    if any(reason.code == "unexamined_judge" and reason.decisive for reason in decision.reasons):
        return {}
    about = {
        code: {reason.sentence for reason in decision.reasons if reason.code == code and reason.sentence is not None}
        for code in ("judge_unsupported", "judge_failed", "unsupported_sentence")
    }
    texts = {at: check.text for at, check in enumerate(decision.sentences) if check.text}
    if refuted := about["judge_unsupported"]:
        return {texts[at]: False for at in sorted(refuted) if at in texts}
    supported = about["unsupported_sentence"] - about["judge_failed"] if decision.judged or about["judge_failed"] else ()
    return {texts[at]: True for at in sorted(supported) if at in texts}


def _obstacle_of(recorded: Recorded) -> Obstacle | None:
    if recorded.erased:
        return "erased"
    if recorded.imported and not recorded.response.strip():
        return "no_response"
    if recorded.imported and not recorded.documents:
        return "no_documents"
    return "not_kept" if recorded.num_sources and not recorded.documents else None


def _side_of(decision: Decision) -> DecisionSide:
    decisive = [reason for reason in decision.reasons if reason.decisive]
    quotes = dict.fromkeys(reason.place.text for reason in decisive if reason.place is not None)
    return DecisionSide(
        verdict=decision.verdict,
        reasons=tuple(dict.fromkeys(reason.code for reason in decisive)),
        p_unsupported=decision.p_unsupported,
        quotes=tuple(text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…" for text in quotes),
        needs_judge=decision.needs_judge,
    )


def _agrees(verdict: GateVerdict, label: Label) -> bool:
    return (verdict == "deliver") == (label == "yes")
