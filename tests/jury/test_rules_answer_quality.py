"""The judge of an answer's sections and sources: its documented scores, its reasons, and what it declines."""

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case, Document
from areopage.criteria.records import Scale
from areopage.errors import ModelError
from areopage.jury.judges import JudgeBackend
from areopage.jury.opening import open_judge
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.scoring.outcome import Outcome, Refused, Scored
from servers import HUGE

from .rule_calls import asked, criterion_of

BUNDLED = Path(__file__).parents[2] / "src/areopage/suites/bundled/answer_quality/rules.yml"
RULES: dict[str, Any] = yaml.safe_load(BUNDLED.read_text(encoding="utf-8"))
FORMAT, SOURCES = "quality.answer.format__v1_0", "quality.answer.sources__v1_0"
TEN = Scale(0, 10)

# The two answers of the specification.
GOOD = """**Analyse** : La question porte sur le nombre de jours de congés payés.

**Principe** : Selon la CCN Notariat, les clercs bénéficient de congés payés annuels.

**Règle** :
- 30 jours ouvrables de congés payés par an
- Acquis à raison de 2.5 jours par mois de travail effectif

**Sources** :
- CCN Notariat - Article 45 (Congés payés)
"""
VAGUE = "Je ne sais pas exactement, mais il y a des congés dans le notariat."
CCN = Document(id="d1", title="CCN Article 45", text="Les clercs bénéficient de 30 jours...")


def opened(rules: dict[str, Any] | None = None) -> JudgeBackend:
    return open_judge(ModelReference.parse("rules:answer_quality"), ModelSettings(rules=RULES if rules is None else rules))


def case_of(response: str | None, *documents: Document) -> Case:
    return Case(id="1", prompt="Combien de congés payés ai-je ?", response=response, documents=documents)


def outcome_of(
    case: Case, criterion: str, rules: dict[str, Any] | None = None, *, language: str = "fr", scale: Scale = TEN
) -> Outcome:
    (outcome,) = asked(opened(rules), case, criterion_of(criterion, scale), language=language).outcomes.values()
    return outcome


def scored(outcome: Outcome) -> Scored:
    assert isinstance(outcome, Scored)
    return outcome


def judge(response: str, criterion: str, *documents: Document, language: str = "fr") -> Scored:
    return scored(outcome_of(case_of(response, *documents), criterion, language=language))


def test_the_good_answer_of_the_specification_scores_high_and_the_vague_one_low() -> None:
    assert judge(GOOD, FORMAT, CCN).score == 10
    # One of its two figures, 2.5 days a month, is in no document.
    assert judge(GOOD, SOURCES, CCN).score == 9
    assert judge(VAGUE, FORMAT, CCN).score == 1
    assert judge(VAGUE, SOURCES, CCN).score == 0


@pytest.mark.parametrize(
    ("response", "score"),
    [
        ("Une phrase.", 1),
        ("Un paragraphe.\n\nUn autre paragraphe.", 1),
        ("Voici :\n- un point\n- un autre", 2),
        ("## Réponse\nTrente jours.", 3),
        ("Trente jours.\n\nSources : article 45", 4),
        ("Analyse : a.\nSources : b.", 5),
        ("Sources : b.\nAnalyse : a.", 4.5),
        ("Analyse : a.\nRègle :\nSources : b.", 5),
        ("Analysis: a.\nPrinciple: b.\nSources: c.", 6),
        ("Analyse : a.\nPrincipe : b.\nRègle :\nSources : d.", 8),
        ("Principe : a.\nAnalyse : b.\nRègle : c.\nSources : d.", 8),
        ("Sources : a.\nRègle : b.\nPrincipe : c.\nAnalyse : d.", 7),
        ("Analyse :\nPrincipe :\nRègle :\nSources :", 2),
        ("Analysis: a. Principle: b. Rule: c. Sources: d.", 10),
        ("# 1. Analyse\na\n# 2. Principe\nb\n# 3. Règle\nc\n# 4. Sources\nd", 10),
    ],
)
def test_the_format_score_is_the_documented_one(response: str, score: float) -> None:
    assert judge(response, FORMAT).score == score


TITLED = Document(
    id="ccd-18", title="Code de démonstration du patrimoine, article P 784 – Donations", text="Abattement de 80 000 €."
)


@pytest.mark.parametrize(
    ("response", "documents", "score"),
    [
        ("Il y a trente ans peut-être.", [CCN], 0),
        ("Sources : aucune.", [CCN], 0),
        ("Selon la loi, il y en a.", [CCN], 2),
        ("Selon l'article 46 de la CCN, oui.", [CCN], 3),
        ("Le Code civil le dit.", [CCN], 3),
        ("Sources : le guide du clerc.", [CCN], 4),
        ("La CCN Notariat le dit.", [CCN], 5),
        ("La CCN Notariat dit 40 jours.", [CCN], 4),
        ("Selon le code de démonstration du patrimoine, oui.", [TITLED], 5),
        ("Articles 45 et 46 de la CCN.", [CCN], 7.7),
        ("Voir l'article 45.", [CCN], 8),
        ("CCN, article 45.", [CCN], 10),
        ("CCN, article 45 : 31 jours.", [CCN], 8),
        ("Code de démonstration du patrimoine, article P784 : 80 000,00 euros.", [TITLED], 10),
        ("Trente jours [1].", [CCN], 10),
        ("Quarante jours [1].", [CCN], 8),
        ("30 jours [1].", [CCN], 10),
        ("30 jours [D1].", [CCN], 10),
        ("30 jours [2].", [CCN], 3),
        ("30 jours (source : CCN Article 45).", [CCN], 10),
        ("CCN, article 45 : 30 jours.", [], 7),
        ("Voir l'article 46.", [], 7),
        ("La CCN Notariat le dit.", [], 5),
        ("Rien.", [], 0),
    ],
)
def test_the_sources_score_is_the_documented_one(response: str, documents: list[Document], score: float) -> None:
    assert judge(response, SOURCES, *documents).score == score


def test_a_figure_of_the_question_needs_no_source() -> None:
    case = Case(id="1", prompt="J'ai 31 jours ?", response="Oui, 31 jours : CCN, article 45.", documents=(CCN,))
    assert scored(outcome_of(case, SOURCES)).score == 10


def test_the_explanation_says_what_was_found_in_the_subjects_language() -> None:
    assert judge("Analyse : a.\nSources :", FORMAT).explanation == (
        "Sections trouvées\u00a0(2 sur 4)\u00a0: Analyse, Sources. Manquantes\u00a0: Principe, Règle. Vides\u00a0: Sources."
    )
    assert judge("Rule: a.\nAnalysis: b.", FORMAT, language="en").explanation == (
        "Sections found (2 of 4): Rule, Analysis. Missing: Principle, Sources. Out of the expected order: 1."
    )
    assert judge("Non.", FORMAT, language="en").explanation == (
        "None of the expected sections: Analysis, Principle, Rule, Sources."
    )
    assert judge("Articles 45 et 46 : 31 jours.", SOURCES, CCN).explanation == (
        "Références citées\u00a0: 2, dont 2 précises. Introuvables dans les documents\u00a0: Articles 45 et 46. "
        "Chiffres absents des documents\u00a0: 31 jours."
    )
    assert judge("See article 45.", SOURCES, language="en").explanation == (
        "References cited: 1, of which 1 precise. No documents are given: they cannot be verified."
    )
    assert judge("Sans.", SOURCES, language="en").explanation == "No source is cited."


def test_headings_and_citations_are_quoted_up_to_the_limit() -> None:
    assert judge(GOOD, FORMAT).evidence == ("Analyse", "Principe", "Règle", "Sources")
    assert judge(GOOD, SOURCES, CCN).evidence == ("CCN Notariat", "Article 45")
    few = deepcopy(RULES)
    few["answer_quality"]["extracts"] = 1
    assert scored(outcome_of(case_of(GOOD), FORMAT, few)).evidence == ("Analyse",)


PIECES = st.sampled_from(
    [
        "**Analyse** : ",
        "Règle",
        "\n",
        "Sources :",
        "article 45",
        " ",
        "30 jours",
        "[1]",
        "CCN",
        "selon la loi",
        "\u0301",
        "- ",
        "# ",
    ]
)


@given(
    st.one_of(st.text(), st.lists(PIECES).map("".join)),
    st.sampled_from([FORMAT, SOURCES]),
    st.lists(st.text(max_size=20), max_size=2),
    st.sampled_from(["fr", "en", "fr-CA", "de"]),
)
def test_every_response_with_a_word_gets_a_score_and_exact_extracts(
    text: str, criterion: str, titles: list[str], language: str
) -> None:
    response = text + " mot"
    documents = [Document(id=f"d{place}", title=title, text=text) for place, title in enumerate(titles)]
    verdict = judge(response, criterion, *documents, language=language)
    assert 0.0 <= verdict.score <= 10.0
    assert verdict.score == round(verdict.score, 1)
    assert verdict.explanation
    assert all(extract and extract in response for extract in verdict.evidence)


def test_the_score_lies_on_the_scale_that_is_asked_for() -> None:
    outcomes = [outcome_of(case_of(GOOD, CCN), SOURCES, scale=scale) for scale in (Scale(), TEN, Scale(0, 10, False))]
    assert [scored(outcome).score for outcome in outcomes] == [4.5, 9.0, 1.0]


@pytest.mark.parametrize(
    ("response", "criterion", "message"),
    [
        ("Oui", "quality.answer.exactitude__v1_0", "it judges quality.answer.format, quality.answer.sources"),
        (None, FORMAT, "rien à mesurer"),
        (" \n 42 !", SOURCES, "rien à mesurer"),
    ],
)
def test_what_the_rules_do_not_cover_is_refused_with_the_reason(response: str | None, criterion: str, message: str) -> None:
    outcome = outcome_of(case_of(response), criterion)
    assert isinstance(outcome, Refused)
    assert message in outcome.reason


def test_it_may_judge_the_criteria_that_its_parameters_name() -> None:
    changed = deepcopy(RULES)
    changed["answer_quality"]["criteria"]["format"] = "form.text.layout"
    status = asyncio.run(opened(changed).check())
    assert status.criteria == ("form.text.layout", "quality.answer.sources")
    assert status.kind == "code"
    usual = asyncio.run(opened().check())
    assert usual.criteria == ("quality.answer.format", "quality.answer.sources")
    assert usual.digest == asyncio.run(opened().check()).digest != status.digest


def test_the_digest_changes_with_the_order_of_the_sections() -> None:
    changed = deepcopy(RULES)
    changed["answer_quality"]["sections"].reverse()
    assert asyncio.run(opened(changed).check()).digest != asyncio.run(opened().check()).digest


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("extracts", -1, "rules.answer_quality: extracts is -1: write 0 or more"),
        ("extracts", "many", "rules.answer_quality.extracts: Expected `int`"),
        ("sections", [], "rules.answer_quality: sections is empty"),
        ("sections", [{"name": "a", "headings": {}}], "rules.answer_quality.sections[0]: the section 'a' has no headings"),
        ("sections", [{"name": "a", "headings": {"fr": ["*"]}}], "the section 'a' has the heading '*'"),
        ("sections", [{"name": "a", "headings": {"fr": ["A"]}}] * 2, "sections contains a name twice: a, a"),
        ("sources_section", "law", "sources_section is 'law': use one of analysis, principle, rule, sources"),
        ("criteria", {"style": "x"}, "rules.answer_quality.criteria: Object contains unknown field `style`"),
        ("weights", 1, "rules.answer_quality: Object contains unknown field `weights`"),
    ],
)
def test_a_wrong_parameter_is_refused_by_its_key(key: str, value: object, message: str) -> None:
    rules = deepcopy(RULES)
    rules["answer_quality"][key] = value
    with pytest.raises(ModelError) as caught:
        opened(rules)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_suite_without_the_section_is_told_its_key() -> None:
    with pytest.raises(ModelError, match=r"rules\.answer_quality: missing from .* \(it holds readability\)"):
        opened({"readability": {}})


@pytest.mark.parametrize("piece", ["**Analyse** : ", "article 45, ", "[", "1 000 ", "a\n", "CCN "])
def test_a_long_hostile_answer_is_judged(piece: str) -> None:
    response = "mot " + piece * (HUGE // len(piece))
    document = Document(id="d1", title="CCN Article 45", text=response)
    for criterion in (FORMAT, SOURCES):
        assert 0 <= judge(response, criterion, document).score <= 10
