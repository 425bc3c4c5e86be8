"""Headings of an answer, however they are set, and the sections they open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.jury.rules.heading_lines import headings, sections
from areopage.text.folding import plain
from servers import HUGE

EXPECTED = {
    "analysis": ["Analyse", "Analysis"],
    "principle": ["Principe", "Principle"],
    "rule": ["Règle", "Rule"],
    "sources": ["Sources"],
}
PIECES = st.sampled_from(
    [
        "**",
        "__",
        "#",
        "## ",
        "- ",
        "1. ",
        "IV. ",
        "Analyse",
        "RÈGLE",
        "Sources",
        " : ",
        ":",
        "\n",
        "\n\n",
        " — ",
        ". ",
        "mot ",
        "📚 ",
        "> ",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


def names(text: str) -> list[str]:
    return [section.name for section in sections(text, EXPECTED)]


@pytest.mark.parametrize(
    ("line", "style"),
    [
        ("# Analyse", "markdown"),
        ("### 1. Analyse ###", "markdown"),
        ("## **Analyse :**", "markdown"),
        ("## 📚 Analyse", "markdown"),
        ("**Analyse** : texte", "bold"),
        ("**Analyse :** texte", "bold"),
        ("**Analyse**", "bold"),
        ("**1. Analyse**", "bold"),
        ("1. **Analyse** : texte", "bold"),
        ("- __Analyse__: texte", "bold"),
        ("*Analyse* : texte", "bold"),
        ("Analyse : texte", "label"),
        ("Analyse\u00a0: texte", "label"),
        ("analyse: texte", "label"),
        ("1. Analyse : texte", "label"),
        ("2) Analyse — texte", "label"),
        ("> L'analyse : texte", "label"),
        ("ANALYSE", "line"),
        ("1. Analyse", "line"),
        ("IV. Analyse", "line"),
        ("Analyse", "line"),
    ],
)
def test_a_heading_is_found_however_it_is_set(line: str, style: str) -> None:
    (section,) = sections(f"{line}\nle contenu de la partie, en une phrase complète.", EXPECTED)
    assert (section.name, section.heading.style, section.empty) == ("analysis", style, False)
    assert section.heading.name.removeprefix("l ") == "analyse"


@pytest.mark.parametrize(
    "text",
    [
        "Je ne sais pas exactement, mais il y a des congés dans le notariat.",
        "La règle est la suivante : deux mois.",
        "Une analyse du principe donne la règle et ses sources.",
        "**30 jours** ouvrables, c'est la règle.",
        "Analyses",
        "Sourcesse : rien",
        "Les sources, dit-on, manquent : oui.",
        "",
    ],
)
def test_running_text_opens_no_section(text: str) -> None:
    assert names(text) == []


def test_the_first_of_two_sections_ends_where_the_next_expected_one_begins() -> None:
    text = "## Analyse\nun\n### Détail\ndeux\n## Règle applicable\n\n## Sources\n- article 45"
    analysis, rule, listed = sections(text, EXPECTED)
    assert text[analysis.heading.body : analysis.end] == "\nun\n### Détail\ndeux\n## "
    assert (rule.heading.text, rule.empty) == ("Règle applicable", True)
    assert text[listed.heading.body : listed.end] == "\n- article 45"


def test_labels_inside_a_paragraph_open_sections() -> None:
    assert names("Analysis: one. Principle: two. **Rule**: three; Sources: four.") == ["analysis", "principle", "rule", "sources"]


def test_a_section_that_is_opened_twice_counts_once_and_the_filled_one() -> None:
    text = "Plan :\nAnalyse\nSources\n\n**Analyse** : oui\n**Sources** : article 45"
    found = sections(text, EXPECTED)
    assert [(section.name, section.empty) for section in found] == [("analysis", False), ("sources", False)]
    assert all(section.heading.style == "bold" for section in found)


@given(TEXTS)
def test_headings_are_exact_ordered_and_their_names_are_plain(text: str) -> None:
    end = 0
    for heading in headings(text):
        assert end <= heading.start < heading.end <= heading.body
        assert text[heading.start : heading.end] == heading.text
        assert heading.name == plain(heading.text)
        end = heading.body
    assert len(names(text)) == len(set(names(text)))


@pytest.mark.parametrize(
    "piece",
    [
        "**",
        "** ",
        "#",
        "# ",
        "_",
        "*a",
        "1. ",
        "a:",
        "A : ",
        ". A : ",
        ". A ",
        ") Aa Aa",
        "\n",
        "a\n",
        "Analyse : a\n",
        "é",
        " ",
        "— ",
    ],
)
def test_many_hostile_characters_have_headings(piece: str) -> None:
    text = piece * (HUGE // len(piece))
    assert len(sections(text, EXPECTED)) <= 1
