"""Other rules over recorded answers."""

import pytest
from msgspec.structs import replace

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.records import SentenceJudgment
from areopage.gate.settle import settled_by_labels
from areopage.gate.tuning.replay import Recorded, Replay, judged_of, said_of

CONFIG = load_rules()
LOOSE = replace(CONFIG, thresholds=replace(CONFIG.thresholds, deliver=1.0, hold=1.0))
STRICT = replace(CONFIG, thresholds=replace(CONFIG.thresholds, deliver=0.0, hold=0.0))
BAND = replace(CONFIG, grey_band=True, thresholds=replace(CONFIG.thresholds, deliver=0.0, hold=1.0))
DOCUMENT = Document(id="d", text="Le délai de rétractation est de quatorze jours après la livraison du bien.", score=0.8)
ANSWER = Recorded(
    id="1",
    at="2026-11-16T12:00:00+00:00",
    prompt="Quel est le délai de rétractation ?",
    response="Le délai de rétractation est de quatorze jours après la livraison du bien.",
    documents=(DOCUMENT,),
    verdict="deliver",
)


def replayed(config: GateConfig, *answers: Recorded, old: GateConfig | None = None) -> Replay:
    done = Replay(Gate(config), None if old is None else Gate(old))
    for answer in answers:
        done.take(answer)
    return done


def test_every_decision_that_changes_is_told_with_both_sides() -> None:
    change = Replay(Gate(STRICT), None).take(replace(ANSWER, reasons=("low_confidence",), p_unsupported=0.1))
    assert change is not None
    assert (change.old.verdict, change.new.verdict) == ("deliver", "human_review")
    assert change.old.reasons == ("low_confidence",)
    assert change.new.reasons == ("unsupported_sentence",)
    assert change.new.quotes == (ANSWER.response,)


def test_what_stays_is_counted_and_not_listed() -> None:
    done = replayed(LOOSE, ANSWER)
    assert (done.seen, done.replayed, done.changed) == (1, 1, 0)


def test_two_configurations_are_compared_without_what_was_recorded() -> None:
    done = replayed(STRICT, replace(ANSWER, verdict="fallback"), old=LOOSE)
    assert dict(done.changes) == {("deliver", "human_review"): 1}


def test_what_people_said_of_an_equal_answer_holds_under_other_rules() -> None:
    held, released = replace(ANSWER, verdict="human_review", said=False), replace(ANSWER, said=True)
    assert replayed(LOOSE, held).changed == replayed(STRICT, released).changed == 0
    decision = Gate(CONFIG).decide(ANSWER.prompt, ANSWER.response, ANSWER.documents)
    assert (said_of(decision), said_of(settled_by_labels(decision, supported=False))) == (None, False)


def test_labels_say_which_side_is_right() -> None:
    done = replayed(STRICT, replace(ANSWER, label="no"), replace(ANSWER, label="partly"), replace(ANSWER, label="yes"), ANSWER)
    assert (done.labelled, done.new_agrees, done.old_agrees) == (3, 2, 1)
    better = Replay(Gate(STRICT), None).take(replace(ANSWER, label="no"))
    worse = Replay(Gate(STRICT), None).take(replace(ANSWER, label="yes"))
    assert better is not None
    assert worse is not None
    assert (better.better, worse.better) == (True, False)


def test_what_cannot_be_decided_on_again_is_counted_by_its_obstacle() -> None:
    bare = replace(ANSWER, documents=(), imported=True)
    gone = replace(ANSWER, erased=True, response="")
    never = replace(ANSWER, verdict="fallback", response="")
    done = replayed(STRICT, gone, bare, replace(bare, response=""), never)
    assert dict(done.obstacles) == {"erased": 1, "no_documents": 1, "no_response": 1, "nothing_generated": 1}
    assert (done.seen, done.replayed, done.changed) == (4, 0, 0)


def test_an_answer_that_was_never_generated_is_replayed_where_its_documents_still_do_not_serve() -> None:
    none = replace(ANSWER, documents=(), response="", verdict="fallback")
    poor = replace(ANSWER, documents=(replace(DOCUMENT, score=0.1),), response="", verdict="fallback")
    done = replayed(CONFIG, none, poor)
    assert (done.replayed, done.changed) == (2, 0)


def test_a_version_that_decides_otherwise_than_it_did_was_given_other_texts_and_changes_nothing() -> None:
    done = replayed(STRICT, replace(ANSWER, version=Gate(STRICT).version), ANSWER)
    assert dict(done.obstacles) == {"altered": 1}
    assert (done.replayed, done.changed) == (1, 1)


def test_an_answer_whose_texts_the_storage_policy_did_not_keep_changes_nothing() -> None:
    done = replayed(CONFIG, replace(ANSWER, prompt="", response="", documents=(), num_sources=1))
    assert dict(done.obstacles) == {"not_kept": 1}
    assert done.changed == 0


def test_answers_that_a_judge_would_be_asked_about_are_counted() -> None:
    assert replayed(BAND, ANSWER).asks_judge == 1


@pytest.mark.parametrize("supported", [True, False, None])
def test_what_a_judge_said_then_settles_the_replay_too(supported: bool | None) -> None:
    gate = Gate(BAND)
    decision = gate.decide(ANSWER.prompt, ANSWER.response, ANSWER.documents)
    settled = gate.resolve(decision, [SentenceJudgment(sentence=at, supported=supported) for at in decision.doubtful])
    one = replace(ANSWER, verdict=settled.verdict, version=settled.version, judged=judged_of(settled))
    done = replayed(BAND, one, replace(one, version="another"))
    assert (done.replayed, done.changed, dict(done.obstacles)) == (2, 0, {})
    assert done.asks_judge == (2 if supported is None else 0)


def test_of_several_sentences_the_refuted_one_alone_is_known() -> None:
    gate = Gate(BAND)
    decision = gate.decide(ANSWER.prompt, f"{ANSWER.response} La livraison du bien suit le délai.", ANSWER.documents)
    first, second = sorted(decision.doubtful)
    judgments = [SentenceJudgment(sentence=first, supported=False), SentenceJudgment(sentence=second, supported=None)]
    assert judged_of(gate.resolve(decision, judgments)) == {decision.sentences[first].text: False}
    assert judged_of(decision) == {}
