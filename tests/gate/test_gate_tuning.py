"""Thresholds that are chosen from labels: what they promise, what they cost, and that the gate then does just that."""

import gzip
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from areopage.app.gate_rules import load_rules
from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.decide import Gate
from areopage.gate.tuning.labelled import Labelled, response_digest
from areopage.gate.tuning.thresholds import NEVER, Ask, ScoredAnswer, open_gate, scored, split, tune, tuned_config
from areopage.gate.tuning.tuned import FITTED_RESPONSES, fingerprint_of, refit_half, statement_of, unseen_by

RAGTRUTH = Path(__file__).parents[3] / "shared" / "data" / "ragtruth_qa_half" / "rows.jsonl.gz"
WORDS = [
    "notaire",
    "vente",
    "maison",
    "contrat",
    "délai",
    "paiement",
    "acte",
    "propriété",
    "succession",
    "impôt",
    "terrain",
    "bail",
    "loyer",
    "garantie",
    "prêt",
]
INVENTED = [
    "girafe",
    "volcan",
    "sonate",
    "cyclone",
    "orchidée",
    "navette",
    "glacier",
    "trompette",
    "mosaïque",
    "pirate",
    "comète",
    "lagune",
    "dragon",
]


@pytest.fixture(scope="module")
def config() -> GateConfig:
    return load_rules()


def rows(count: int, wrong: float = 0.0, seed: int = 0, score: float = 0.2) -> list[ScoredAnswer]:
    random = np.random.default_rng(seed)
    return [ScoredAnswer(unit=f"row {n}", score=score, ungrounded=bool(random.random() < wrong)) for n in range(count)]


def labelled(count: int, seed: int = 0, groups: int | None = None) -> list[Labelled]:
    """Answers that copy their document, half of them with a sentence that nothing supports."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(count):
        words = random.choice(WORDS, 12).tolist()
        text = f"Le {' '.join(words[:6])} suit le {' '.join(words[6:])}."
        bad = bool(random.random() < 0.5)
        response = text + (f" Une {' '.join(random.choice(INVENTED, 7).tolist())} accompagne chaque dossier." if bad else "")
        made.append(
            Labelled(
                id=str(number),
                prompt=f"Que suit le {words[0]} ?",
                response=response,
                documents=(Document(id="d", text=text),),
                grounded="no" if bad else "yes",
                group="" if groups is None else str(number % groups),
            )
        )
    return made


def judged(given: Sequence[Labelled], config: GateConfig) -> list[ScoredAnswer]:
    gate = open_gate(config)
    return [scored(row, gate.decide(row.prompt, row.response, row.documents)) for row in given]


def test_the_gate_delivers_just_what_the_tuning_counted(config: GateConfig) -> None:
    given = labelled(120)
    tuning = tune(judged(given, config), Ask(risk=0.1), config)
    assert tuning.certified
    gate = Gate(tuned_config(config, tuning, {}))
    delivered = [row for row in given if gate.decide(row.prompt, row.response, row.documents).verdict == "deliver"]
    assert len(delivered) == tuning.chosen.delivered
    assert sum(row.ungrounded for row in delivered) == tuning.chosen.wrong
    assert tuning.chosen.false_alarms == tuning.chosen.grounded - sum(not row.ungrounded for row in delivered)


def test_what_other_rules_hold_back_is_never_counted_as_delivered(config: GateConfig) -> None:
    row = replace(labelled(1)[0], response="Le délai est fixé par l'article 1234 du code civil.", grounded="no")
    assert judged([row], config)[0].score == NEVER


def test_a_refusal_is_delivered_at_any_threshold(config: GateConfig) -> None:
    row = replace(labelled(1)[0], response="Je ne trouve pas cette information dans les documents.")
    assert judged([row], config)[0].score == 0.0


def grouped(sizes: Sequence[int], bad: int, seed: int = 0) -> list[ScoredAnswer]:
    """Groups of so many answers, one of which is ungrounded in each `bad`-th group."""
    random = np.random.default_rng(seed)
    return [
        ScoredAnswer(unit=f"group {group}", score=float(random.uniform(0.02, 0.2)), ungrounded=group % bad == 0 and one == 0)
        for group, size in enumerate(sizes)
        for one in range(size)
    ]


def test_all_labels_of_a_group_count_whatever_their_order(config: GateConfig) -> None:
    """One answer of each of these groups would show 13 of 78 to be ungrounded at worst; their means show far fewer."""
    given = grouped([6] * 78, bad=6)
    tuning = tune(given, Ask(risk=0.1), config)
    assert tuning.certified
    assert (tuning.rows, tuning.groups, tuning.ungrounded) == (468, 78, 13)
    assert (tuning.chosen.answers, tuning.chosen.delivered, tuning.chosen.wrong) == (468, 468, 13)
    assert tune(given[::-1], Ask(risk=0.1), config).chosen == tuning.chosen


def test_a_group_has_the_same_weight_however_many_answers_it_has(config: GateConfig) -> None:
    many_right = [ScoredAnswer(unit="large", score=0.1, ungrounded=False)] * 5_000
    others = [ScoredAnswer(unit=f"small {n}", score=0.1, ungrounded=n % 2 == 0) for n in range(60)]
    assert not tune([*many_right, *others], Ask(risk=0.3), config).certified


def test_the_present_threshold_stays_where_no_other_delivers_more(config: GateConfig) -> None:
    tuning = tune(rows(200, score=0.1), Ask(risk=0.02), config)
    assert (tuning.chosen.delivered, tuning.chosen.threshold) == (200, config.thresholds.deliver)


def test_a_new_threshold_lies_in_the_middle_of_those_that_deliver_as_many(config: GateConfig) -> None:
    for present in (0.02, 0.9):
        now = replace(config, thresholds=replace(config.thresholds, deliver=present, hold=present))
        given = [*rows(200, score=0.1), *(ScoredAnswer(unit=f"bad {n}", score=0.5, ungrounded=True) for n in range(60))]
        for control in ("delivered", "all", "average"):
            chosen = tune(given, Ask(risk=0.02, control=control), now).chosen
            assert chosen.delivered == 200
            assert chosen.threshold == pytest.approx(0.3, abs=0.02)


def test_no_looser_threshold_takes_the_place_of_one_that_delivers_as_many(config: GateConfig) -> None:
    present = replace(config, thresholds=replace(config.thresholds, deliver=0.1003, hold=0.1003))
    assert tune(rows(200, score=0.1), Ask(risk=0.02), present).chosen.threshold == 0.1003
    assert tune(rows(200, score=0.1), Ask(risk=0.02, control="average"), present).chosen.threshold == 0.1003


def test_copies_of_one_witness_certify_nothing(config: GateConfig) -> None:
    alone = rows(20)
    copies = [one for one in alone for _ in range(100)]
    assert tune(rows(149), Ask(risk=0.02), config).certified
    tuning = tune(copies, Ask(risk=0.02), config)
    assert (tuning.rows, tuning.groups, tuning.certified) == (2000, 20, False)
    assert tuning.needed is not None
    assert tuning.needed.least == 149


def test_the_halves_share_no_group_and_do_not_depend_on_the_order() -> None:
    given = labelled(60, groups=13)
    fitted, unseen = split(given, 1)
    assert not {row.unit for row in fitted} & {row.unit for row in unseen}
    assert len(fitted) + len(unseen) == 60
    assert {row.id for row in split(given[::-1], 1)[0]} == {row.id for row in fitted}


def test_answers_with_a_response_that_the_model_was_fitted_on_are_left_out_with_their_group() -> None:
    given = labelled(12, groups=4)
    seen = given[0]
    provenance = {FITTED_RESPONSES: [response_digest(f"\n{seen.response}  ")]}
    left = unseen_by(provenance, given)
    assert seen.unit not in {row.unit for row in left}
    assert {row.unit for row in given} - {row.unit for row in left} == {
        row.unit for row in given if row.response == seen.response
    }


@pytest.mark.skipif(not RAGTRUTH.exists(), reason="the labelled sets lie beside the repository")
def test_the_set_that_the_shipped_weights_were_fitted_on_certifies_nothing(config: GateConfig) -> None:
    assert config.grounding is not None
    with gzip.open(RAGTRUTH, "rt", encoding="utf-8") as lines:
        raw = [json.loads(line) for line in lines]
    document = Document(id="1", text="The passages in another form than when the model was fitted.")
    rows = [
        Labelled(id=str(number), prompt=row["query"], response=row["response"], documents=(document,), grounded="yes")
        for number, row in enumerate(raw)
    ]
    assert unseen_by(config.grounding.provenance, rows) == []


def test_a_refitted_model_is_certified_on_answers_that_it_has_not_seen(config: GateConfig) -> None:
    given = labelled(160, groups=80)
    made = refit_half(given, config.top, 0, {"labels": "made up"})
    assert unseen_by(made.model.provenance, given) == made.unseen
    assert unseen_by({}, given) == given
    assert not {row.unit for row in made.fitted} & {row.unit for row in made.unseen}
    assert made.model.provenance["sha256"] == fingerprint_of(made.fitted)
    fitted = replace(config, grounding=made.model)
    scores = judged(made.unseen, fitted)
    bad = [one.score for one in scores if one.ungrounded]
    good = [one.score for one in scores if not one.ungrounded]
    assert min(bad) > max(good)
    assert tune(scores, Ask(risk=0.2), fitted).certified


def test_one_group_cannot_both_fit_and_certify() -> None:
    with pytest.raises(ValueError, match="one group"):
        split(labelled(5, groups=1), 0)


def test_without_a_certificate_there_is_a_guess_that_is_called_one(config: GateConfig) -> None:
    tuning = tune(rows(30, wrong=0.3), Ask(risk=0.02), config)
    assert not tuning.certified
    assert tuning.guess is not None
    said = statement_of(tuning, by="", at="", program="1", labels={}, deliver=tuning.guess, refit=None)
    assert said["certified"] is False
    assert "result" not in said


def test_nothing_to_deliver_is_no_certificate(config: GateConfig) -> None:
    held = rows(300, score=NEVER)
    tuning = tune(held, Ask(risk=0.02, control="all"), config)
    assert not tuning.certified
    assert tuning.guess is None


def test_the_grey_band_has_a_certified_end_on_both_sides(config: GateConfig) -> None:
    low, middle, high = rows(400, score=0.1), rows(100, wrong=0.4, score=0.5), rows(100, wrong=1.0, score=0.9)
    given = [replace(one, unit=f"{place}-{one.unit}") for place, part in enumerate((low, middle, high)) for one in part]
    tuning = tune(given, Ask(risk=0.02, grey_band=True, precision=0.8), config)
    assert tuning.holding is not None
    assert tuning.holding.threshold is not None
    made = tuned_config(config, tuning, {})
    assert made.grey_band
    assert 0.1 < made.thresholds.deliver < 0.5 < made.thresholds.hold <= 0.9


def test_without_a_certain_second_threshold_all_that_is_doubtful_goes_to_the_judge(config: GateConfig) -> None:
    tuning = tune(rows(400, score=0.1), Ask(risk=0.02, grey_band=True, precision=0.8), config)
    assert tuning.holding is not None
    assert tuning.holding.threshold is None
    assert tuned_config(config, tuning, {}).thresholds.hold == 1.0


def test_without_a_grey_band_both_thresholds_are_one(config: GateConfig) -> None:
    made = tuned_config(config, tune(rows(200), Ask(risk=0.02), config), {"by": "anne"})
    assert made.thresholds.deliver == made.thresholds.hold
    assert made.tuned == {"by": "anne"}
    assert made.thresholds.confidence == config.thresholds.confidence


def test_the_documented_rule_has_no_threshold_to_choose() -> None:
    with pytest.raises(ValueError, match="v1_1"):
        open_gate(GateConfig(profile="v1_1"))


def test_the_fingerprint_tells_labels_apart_and_not_their_order() -> None:
    given = labelled(6)
    assert fingerprint_of(given) == fingerprint_of(given[::-1])
    assert fingerprint_of(given) == fingerprint_of([replace(row, id="x", place="y") for row in given])
    assert fingerprint_of(given) != fingerprint_of([replace(given[0], grounded="partly"), *given[1:]])


@pytest.mark.parametrize("ask", [Ask(risk=0.0), Ask(confidence=1.0), Ask(precision=math.nan)])
def test_shares_that_are_none_are_refused(ask: Ask, config: GateConfig) -> None:
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        tune(rows(3), ask, config)
