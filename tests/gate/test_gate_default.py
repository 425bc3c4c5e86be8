"""The gate's own rules, with a grounding that each test states; and the whole gate with the shipped weights."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import msgspec
import pytest

from areopage.app.gate_rules import load_gate, load_rules
from areopage.cases.records import Document
from areopage.gate import rules_default
from areopage.gate.config import GateConfig, Thresholds
from areopage.gate.decide import Gate
from areopage.gate.grounding.claims import Claim, ClaimKind
from areopage.gate.grounding.examine import SentenceGrounding
from areopage.gate.grounding.model import Grounding, GroundingModel
from areopage.gate.records import Decision, Place, SentenceJudgment
from areopage.report.gate.decisions import explain
from areopage.text.sentence_ends import sentences

SHIPPED = load_rules()
BAND = Thresholds(deliver=0.3, hold=0.7)
QUESTION = "Quel est le délai du bail ?"
Ask = Callable[..., Decision]


def place(response: str, text: str) -> Place:
    start = response.index(text)
    return Place(start=start, end=start + len(text), text=text)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Decide on an answer; the probabilities of its sentences and its unsupported claims are stated."""

    def asked(
        response: str,
        *p_unsupported: float,
        missing: Sequence[tuple[ClaimKind, str]] = (),
        scores: Sequence[float | None] = (0.9, 0.8),
        prompt: str = QUESTION,
        **changes: Any,
    ) -> Decision:
        def ground(model: GroundingModel, prompt: str, response: str, documents: Sequence[Document], language: str) -> Grounding:
            found = []
            for span, p in zip(sentences(response, language), p_unsupported or (0.0,) * 9, strict=False):
                stated = [Claim(kind=kind, place=place(response, text), state="missing") for kind, text in missing]
                own = tuple(claim for claim in stated if span.start <= claim.place.start < span.end)
                found.append(
                    SentenceGrounding(
                        start=span.start,
                        end=span.end,
                        text=span.text,
                        claim=True,
                        p_unsupported=p,
                        features={"coverage": 1 - p},
                        claims=own,
                        document="doc1",
                    )
                )
            return Grounding(p_unsupported=max(p_unsupported, default=0.0), sentences=tuple(found), features={})

        monkeypatch.setattr(rules_default, "ground", ground)
        documents = [Document(id=f"doc{n}", text="Le bail dure trois ans.", score=score) for n, score in enumerate(scores, 1)]
        return Gate(msgspec.structs.replace(SHIPPED, **changes)).decide(prompt, response, documents)

    return asked


def decisive(decision: Decision) -> list[str]:
    return [reason.code for reason in decision.reasons if reason.decisive]


def test_a_supported_answer_leaves(ask: Ask) -> None:
    decision = ask("Le bail dure trois ans [doc1].", 0.1)
    assert (decision.verdict, decision.reasons, decision.cited_ids) == ("deliver", (), ("doc1",))
    assert (decision.metrics.quality_pass, decision.metrics.escalate, decision.metrics.hallucination) == (True, False, False)
    assert (decision.response_lang, decision.prompt_lang, decision.p_unsupported) == ("fr", "fr", 0.1)


def test_nothing_to_rest_on_or_nothing_said_goes_to_the_fallback(ask: Ask) -> None:
    for decision, code in (
        (ask("Le bail dure trois ans.", scores=()), "no_documents"),
        (ask("Le bail dure trois ans.", 0.9, scores=(0.49, 0.4)), "not_relevant"),
        (ask(" \n"), "empty_response"),
        (ask("… — !"), "empty_response"),
    ):
        assert (decision.verdict, decisive(decision)) == ("fallback", [code])


@pytest.mark.parametrize(
    "response",
    [
        "[doc1]",
        "[doc9]",
        "Selon le document [doc1].",
        "Quel est le délai du bail ?",
        "quel est le délai du bail [doc1, doc2] (doc1)",
        "Question : Quel est le délai du bail ? Réponse :",
        "Souhaitez-vous en savoir plus ?",
    ],
)
@pytest.mark.parametrize("scores", [(0.9, 0.8), (0.6, 0.0)])
def test_an_answer_that_claims_nothing_and_refuses_nothing_is_no_answer(response: str, scores: tuple[float, ...]) -> None:
    documents = [Document(id=f"doc{n}", text="Le bail dure trois ans.", score=score) for n, score in enumerate(scores, 1)]
    decision = Gate(SHIPPED).decide(QUESTION, response, documents)
    assert (decision.verdict, decisive(decision)) == ("fallback", ["no_claim"])
    assert not decision.metrics.quality_pass


def test_an_answer_in_the_words_of_a_yes_or_no_question_is_an_answer() -> None:
    documents = [Document(id="doc1", text="Le livret est gratuit.", score=0.9)]
    for prompt in ("Le livret est-il gratuit ?", "Est-ce que le livret est gratuit ?"):
        assert Gate(SHIPPED).decide(prompt, "Le livret est gratuit [doc1].", documents).verdict == "deliver"


def test_little_confidence_goes_to_the_fallback_and_very_little_to_people(ask: Ask) -> None:
    low = ask("Le bail dure trois ans.", scores=(0.4, 0.6))
    assert (low.verdict, decisive(low)) == ("fallback", ["low_confidence"])
    very_low = ask("Le bail dure trois ans.", scores=(0.3, 0.6))
    assert (very_low.verdict, very_low.metrics.escalate) == ("human_review", True)


def test_confidence_rests_on_the_documents_that_the_answer_cites_or_else_comes_nearest_to(ask: Ask) -> None:
    scores = (0.9, 0.1, 0.0, 0.6, 0.1)
    nearest = ask("Le bail dure trois ans.", scores=scores)
    assert (nearest.verdict, nearest.metrics.avg_score, nearest.metrics.confidence) == ("deliver", 0.9, 0.72)
    cited = ask("Le bail dure trois ans [doc1][doc4].", scores=scores)
    assert (cited.verdict, cited.metrics.avg_score, cited.signal("retrieval").value) == ("deliver", 0.75, 0.75)  # type: ignore[union-attr]
    weak = ask("Le bail dure trois ans [doc2].", scores=scores)
    assert (weak.verdict, decisive(weak)) == ("human_review", ["low_confidence"])
    unscored = ask("Le bail dure trois ans [doc2].", scores=(0.9, None, 0.6))
    assert unscored.metrics.avg_score == 0.9


def test_documents_without_scores_leave_the_rules_on_them_aside(ask: Ask) -> None:
    for scores in ((None, float("nan")), (1.7e308, 1.7e308)):
        decision = ask("Le bail dure trois ans.", scores=scores)
        assert (decision.verdict, decision.reasons) == ("deliver", ())
        assert (decision.metrics.avg_score, decision.metrics.confidence) == (None, None)


def test_a_pure_refusal_leaves_whatever_the_model_says_of_it(ask: Ask) -> None:
    decision = ask("Je ne trouve pas cette information dans les documents.", 0.99, scores=(0.6, 0.1))
    assert (decision.verdict, decision.refusal, decision.reasons) == ("deliver", True, ())
    followed = ask("Je ne trouve pas cette information dans les documents. Le bail dure dix ans.", 0.99, 0.99)
    assert (followed.verdict, followed.refusal) == ("human_review", False)


@pytest.mark.parametrize(
    ("kind", "text"), [("amount", "500 €"), ("date", "1er mai 2024"), ("reference", "article 12"), ("percentage", "3 %")]
)
def test_a_hard_claim_that_no_document_holds_goes_to_people(ask: Ask, kind: ClaimKind, text: str) -> None:
    response = f"Le bail dure trois ans. Il s’agit de {text} ici."
    decision = ask(response, 0.0, 0.1, missing=[(kind, text)])
    code = "unsupported_reference" if kind == "reference" else "unsupported_figure"
    assert (decision.verdict, decisive(decision)) == ("human_review", [code])
    reason = decision.reasons[0]
    assert (reason.place, reason.sentence, reason.document) == (place(response, text), 1, "doc1")
    assert decision.metrics.hallucination


def test_a_claim_of_a_kind_that_is_not_hard_is_only_told(ask: Ask) -> None:
    decision = ask("Le bail dure dix ans.", 0.1, missing=[("quantity", "dix ans")])
    assert (decision.verdict, [(reason.code, reason.decisive) for reason in decision.reasons]) == (
        "deliver",
        [("unsupported_figure", False)],
    )
    assert ask("Le bail dure dix ans.", missing=[("quantity", "dix ans")], hard=("quantity",)).verdict == "human_review"


def test_ids_that_do_not_exist_go_to_people_where_citations_are_checked(ask: Ask) -> None:
    decision = ask("Le bail dure trois ans [doc7].")
    assert (decision.verdict, decisive(decision), decision.unknown_ids) == ("human_review", ["unknown_citation"], ("doc7",))
    ignored = ask("Le bail dure trois ans [doc7].", citations="ignored")
    assert (ignored.verdict, [reason.code for reason in ignored.reasons]) == ("deliver", ["unknown_citation"])


def test_an_answer_without_citation_goes_to_the_fallback_where_one_is_required(ask: Ask) -> None:
    decision = ask("Le bail dure trois ans.", citations="required")
    assert (decision.verdict, decisive(decision)) == ("fallback", ["no_citation"])
    assert ask("Le bail dure trois ans (document 1).", citations="required").verdict == "deliver"


def test_the_model_holds_an_answer_back_and_names_the_worst_sentences_first(ask: Ask) -> None:
    decision = ask("Le bail dure trois ans. Le loyer est fixe. La cave est vide.", 0.6, 0.1, 0.8)
    assert decision.verdict == "human_review"
    assert [(reason.code, reason.sentence) for reason in decision.reasons] == [
        ("unsupported_sentence", 2),
        ("unsupported_sentence", 0),
    ]
    assert {(reason.value, reason.threshold) for reason in decision.reasons} == {(0.8, SHIPPED.thresholds.hold)}
    assert ask("Le bail dure trois ans.", SHIPPED.thresholds.hold).verdict == "human_review"  # the threshold itself holds back


def test_another_language_is_told_or_sent_to_the_fallback(ask: Ask) -> None:
    english = "The lease is for three years."
    told = ask(english)
    assert (told.verdict, [(reason.code, reason.decisive) for reason in told.reasons]) == ("deliver", [("other_language", False)])
    assert ask(english, language="fallback").verdict == "fallback"
    assert ask(english, language="fallback", prompt="Bail ?").verdict == "deliver"  # too little text tells a language


def test_an_answer_that_is_too_long_is_held_back_unread(ask: Ask) -> None:
    decision = ask("Le bail dure trois ans.", 0.9, max_characters=10)
    assert (decision.verdict, decisive(decision), decision.sentences) == ("human_review", ["too_long"], ())


def test_people_go_before_the_fallback(ask: Ask) -> None:
    decision = ask(
        "Le bail dure trois ans et coûte 500 €.", missing=[("amount", "500 €")], scores=(0.4, 0.6), citations="required"
    )
    assert decision.verdict == "human_review"
    assert decisive(decision) == ["low_confidence", "no_citation", "unsupported_figure"]


def test_decisive_reasons_come_first(ask: Ask) -> None:
    decision = ask("The lease is for three years [doc9].")
    assert [reason.code for reason in decision.reasons] == ["unknown_citation", "other_language"]


THREE = "Le bail dure trois ans. Le loyer est fixe. La cave est vide."


def test_between_the_thresholds_a_judge_is_asked_if_there_is_one(ask: Ask) -> None:
    decision = ask(THREE, 0.4, 0.1, 0.5, thresholds=BAND, grey_band=True)
    assert (decision.needs_judge, decision.doubtful, decision.verdict) == (True, (2, 0), "human_review")
    lenient = ask(THREE, 0.4, 0.1, 0.5, thresholds=BAND, grey_band=True, unsettled="deliver")
    assert (lenient.needs_judge, lenient.verdict) == (True, "deliver")
    alone = ask(THREE, 0.4, 0.1, 0.5, thresholds=BAND)
    assert (alone.needs_judge, alone.doubtful, alone.verdict, decisive(alone)) == (
        False,
        (),
        "human_review",
        ["unsupported_sentence", "unsupported_sentence"],
    )
    assert ask(THREE, 0.3, thresholds=BAND, grey_band=True).needs_judge is False
    assert ask(THREE, 0.7, thresholds=BAND, grey_band=True).needs_judge is False


def test_no_judge_is_asked_where_something_else_holds_the_answer_back(ask: Ask) -> None:
    decision = ask("Le bail coûte 500 €.", 0.5, missing=[("amount", "500 €")], thresholds=BAND, grey_band=True)
    assert (decision.needs_judge, decision.verdict, decisive(decision)) == (False, "human_review", ["unsupported_figure"])


def settle(decision: Decision, *said: tuple[int, bool | None], **changes: Any) -> Decision:
    gate = Gate(msgspec.structs.replace(SHIPPED, thresholds=BAND, grey_band=True, **changes))
    return gate.resolve(decision, [SentenceJudgment(sentence=index, supported=supported) for index, supported in said])


def test_a_judge_settles_what_lies_between(ask: Ask) -> None:
    decision = ask(THREE, 0.4, 0.1, 0.5, thresholds=BAND, grey_band=True)
    free = settle(decision, (0, True), (2, True))
    assert (free.verdict, free.judged, free.needs_judge, decisive(free)) == ("deliver", True, False, [])
    assert (free.metrics.quality_pass, free.metrics.escalate, free.doubtful) == (True, False, ())
    held = settle(decision, (0, True), (2, False))
    assert (held.verdict, held.judged, decisive(held), held.reasons[0].sentence) == (
        "human_review",
        True,
        ["judge_unsupported"],
        2,
    )
    assert held.metrics.hallucination
    assert settle(decision, (0, True), (0, False), (2, True)).verdict == "human_review"  # of two judges one says no


def test_what_no_judge_settled_fails_closed_unless_told_otherwise(ask: Ask) -> None:
    decision = ask(THREE, 0.4, 0.1, 0.5, thresholds=BAND, grey_band=True)
    for said in ((), ((0, True),), ((0, True), (2, None)), ((0, True), (17, True))):
        left = settle(decision, *said)
        assert (left.verdict, left.judged, set(decisive(left))) == ("human_review", False, {"judge_failed"})
    lenient = settle(decision, (0, None), unsettled="deliver")
    assert (lenient.verdict, decisive(lenient), lenient.reasons[0].code) == ("deliver", [], "judge_failed")


def test_a_settled_decision_stays_as_it_is(ask: Ask) -> None:
    decision = ask(THREE, 0.9)
    assert settle(decision, (0, True)) is decision


def test_each_signal_tells_what_it_took_by_the_callers_clock() -> None:
    ticks = count()
    documents = [Document(id="doc1", text="Le bail dure trois ans.", score=0.9)]
    timed = Gate(SHIPPED, clock=lambda: float(next(ticks))).decide(QUESTION, "Le bail dure trois ans [doc1].", documents)
    assert [signal.seconds for signal in timed.signals] == [1.0] * 11
    names = {signal.name for signal in timed.signals}
    assert len(names) == 11
    plain = Gate(SHIPPED).decide(QUESTION, "Le bail dure trois ans [doc1].", documents)
    assert {signal.seconds for signal in plain.signals} == {None}
    assert plain.verdict == "deliver"
    citations = plain.signal("citations")
    assert citations is not None
    assert (citations.value, [place.text for place in citations.places]) == (1.0, ["[doc1]"])


def test_the_version_changes_with_rules_thresholds_and_weights() -> None:
    assert SHIPPED.grounding is not None
    changed = [
        SHIPPED,
        GateConfig(profile="v1_1"),
        msgspec.structs.replace(SHIPPED, top=4),
        msgspec.structs.replace(SHIPPED, thresholds=Thresholds(hold=0.6)),
        msgspec.structs.replace(SHIPPED, grounding=msgspec.structs.replace(SHIPPED.grounding, name="other")),
    ]
    versions = [Gate(config).version for config in changed]
    assert len(set(versions)) == len(changed)
    assert all(len(version) == 12 for version in versions)
    assert Gate(load_rules()).version == versions[0]


def test_a_gate_that_cannot_decide_is_refused() -> None:
    with pytest.raises(ValueError, match="grounding model"):
        Gate(GateConfig())
    with pytest.raises(ValueError, match="must not exceed hold"):
        Gate(msgspec.structs.replace(SHIPPED, thresholds=Thresholds(deliver=0.6, hold=0.5)))


CREDITED = (
    Document(id="doc1", text="La cotisation des salariés est due au premier jour du trimestre civil."),
    Document(id="doc2", text="Le congé de naissance accordé aux pères dure vingt-cinq jours calendaires."),
)


@pytest.mark.parametrize("citation", ["[doc1]", "(document 1)"])
def test_a_sentence_credited_to_the_wrong_document_is_told_and_decisive_where_citations_are_required(citation: str) -> None:
    response = f"Le congé de naissance des pères dure vingt-cinq jours calendaires {citation}."
    decision = Gate(SHIPPED).decide("Combien de jours ?", response, CREDITED)
    (reason,) = decision.reasons
    assert (decision.verdict, reason.code, reason.decisive, reason.document) == (
        "deliver",
        "misattributed_citation",
        False,
        "doc2",
    )
    assert reason.place is not None and reason.place.text == citation
    strict = Gate(msgspec.structs.replace(SHIPPED, citations="required")).decide("Combien de jours ?", response, CREDITED)
    assert (strict.verdict, decisive(strict)) == ("human_review", ["misattributed_citation"])


def test_a_sentence_credited_to_the_document_that_holds_it_or_to_both_is_left_alone() -> None:
    for citation in ("[doc2]", "[doc1, doc2]"):
        response = f"Le congé de naissance des pères dure vingt-cinq jours calendaires {citation}."
        assert Gate(SHIPPED).decide("Combien de jours ?", response, CREDITED).reasons == ()


PRIZE = Document(id="best", text="La prime est de 250 € par an.", score=0.6)
CROWD = [Document(id=f"other{n}", text="Le bail dure trois ans.", score=0.9) for n in range(12)]


def test_every_document_is_read_however_many_there_are() -> None:
    decision = Gate(SHIPPED).decide("Quelle est la prime ?", "La prime est de 250 € par an [best].", [*CROWD, PRIZE])
    assert (decision.verdict, decision.metrics.num_sources, decision.cited_ids) == ("deliver", 13, ("best",))


def test_under_a_limit_cited_documents_and_the_best_are_read_and_the_others_are_told() -> None:
    gate = Gate(msgspec.structs.replace(SHIPPED, top=3))
    cited = gate.decide("Quelle est la prime ?", "La prime est de 250 € par an [best].", [*CROWD, PRIZE])
    best = gate.decide(
        "Quelle est la prime ?", "La prime est de 250 € par an.", [*CROWD, msgspec.structs.replace(PRIZE, score=0.95)]
    )
    for decision in (cited, best):
        assert (decision.verdict, decision.metrics.num_sources) == ("deliver", 3)
        (told,) = decision.reasons
        assert (told.code, told.decisive, told.value, told.threshold) == ("unread_documents", False, 10.0, 3.0)
        assert explain(decision, "en") == ["10 documents were not read (limit: 3) (information only: no effect on the verdict)."]


def test_confidence_is_computed_from_the_best_scores() -> None:
    weak = [Document(id=f"weak{n}", text="Le bail dure trois ans.", score=0.1) for n in range(15)]
    decision = Gate(SHIPPED).decide(QUESTION, "Le bail dure trois ans.", [*weak, *CROWD[:5]])
    assert (decision.verdict, decision.metrics.avg_score, decision.metrics.confidence) == ("deliver", 0.9, 0.72)


def test_a_figure_that_no_document_has_raises_the_probability(ask: Ask) -> None:
    response = "Le bail dure trois ans. Il coûte 900 €."
    decision = ask(response, 0.02, 0.03, missing=[("amount", "900 €")])
    assert decision.p_unsupported is not None
    assert decision.p_unsupported > 0.9
    assert [one.p_unsupported is not None and one.p_unsupported > 0.9 for one in decision.sentences] == [False, True]
    told = ask(response, 0.02, 0.03, missing=[("amount", "900 €")], hard=("date",))
    assert (told.verdict, told.p_unsupported) == ("deliver", 0.03)


@pytest.mark.parametrize(
    ("response", "documents"),
    [
        ("La prime est de 250 € par an.", []),
        ("", [PRIZE]),
        ("[best]", [PRIZE]),
        ("Merci !", [PRIZE]),
        ("Je ne trouve pas cette information dans les documents.", [PRIZE]),
        ("mot " * 30_000, [PRIZE]),
    ],
)
def test_what_was_not_read_or_claims_nothing_has_no_probability(response: str, documents: list[Document]) -> None:
    assert Gate(SHIPPED).decide("Quelle est la prime ?", response, documents).p_unsupported is None


@pytest.mark.parametrize("response", ["Merci !", "Thank you very much!", "Bonjour et bienvenue."])
def test_thanks_and_greetings_are_no_answer(response: str) -> None:
    decision = Gate(SHIPPED).decide("Quelle est la prime ?", response, [PRIZE])
    assert (decision.verdict, decisive(decision)) == ("fallback", ["no_claim"])


@pytest.mark.parametrize("response", ["Oui.", "Non", "Yes [best].", "**No.**"])
def test_a_lone_yes_or_no_goes_to_people(response: str) -> None:
    decision = Gate(SHIPPED).decide("La prime est-elle de 250 € ?", response, [PRIZE])
    assert (decision.verdict, decisive(decision), decision.p_unsupported) == ("human_review", ["bare_answer"], None)


def test_a_low_word_comparison_is_not_called_probable(ask: Ask) -> None:
    doubtful = ask("Le bail dure trois ans.", 0.02, thresholds=Thresholds(deliver=0.0, hold=0.9))
    assert "probably" not in explain(doubtful, "en")[0]
    assert "(word comparison: 0.02; threshold for delivery: 0.00)" in explain(doubtful, "en")[0]
    likely = ask("Le bail dure trois ans.", 0.95, thresholds=Thresholds(deliver=0.0, hold=0.9))
    assert "probably not supported" in explain(likely, "en")[0]


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ("D'après mes connaissances générales, la prime de naissance est de 250 €.", "mes connaissances générales"),
        ("La prime de naissance (pas explicitement mentionnée dans les documents) est de 250 €.",
         "pas explicitement mentionnée dans les documents"),
        ("To my knowledge, la prime de naissance est de 250 €.", "To my knowledge"),
        ("La prime est de 250 € (not explicitly mentioned in the passages).", "not explicitly mentioned in the passages"),
    ],
)  # fmt: skip
def test_words_that_admit_that_something_is_not_from_the_documents_are_told(response: str, words: str) -> None:
    documents = [Document(id="doc1", text="La prime de naissance est de 250 €.", score=0.9)]
    told = [reason for reason in load_gate().decide("?", response, documents).reasons if reason.code == "admission"]
    assert [reason.place.text for reason in told if reason.place] == [words]
    assert not any(reason.decisive for reason in told)


def test_a_plain_answer_admits_nothing() -> None:
    documents = [Document(id="doc1", text="La prime de naissance est de 250 €, mentionnée dans le contrat.", score=0.9)]
    decision = load_gate().decide("?", "La prime de naissance est de 250 €, mentionnée dans le contrat.", documents)
    assert "admission" not in [reason.code for reason in decision.reasons]
