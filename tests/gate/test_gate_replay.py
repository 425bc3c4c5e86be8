"""Other rules over recorded answers."""

from msgspec.structs import replace

from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.replay import Recorded, Replay
from areopage.suites.gate import load_gate_config

CONFIG = load_gate_config()
LOOSE = replace(CONFIG, thresholds=replace(CONFIG.thresholds, deliver=1.0, hold=1.0))
STRICT = replace(CONFIG, thresholds=replace(CONFIG.thresholds, deliver=0.0, hold=0.0))
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


def test_texts_that_are_not_what_the_gate_saw_are_noticed() -> None:
    version = Gate(STRICT).version
    done = replayed(STRICT, replace(ANSWER, version=version), replace(ANSWER, version=version, judged=True), ANSWER)
    assert done.unlike == 1


def test_answers_that_a_judge_would_be_asked_about_are_counted() -> None:
    band = replace(CONFIG, grey_band=True, thresholds=replace(CONFIG.thresholds, deliver=0.0, hold=1.0))
    assert replayed(band, ANSWER).asks_judge == 1
