"""The language of a text."""

import pytest

from areopage.text.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Quel est le délai de rétractation ?", "fr"),
        ("Délai de rétractation de l’acquéreur", "fr"),
        ("What was Enron's exact revenue in 2000?", "en"),
        ("How to dispute a charge", "en"),
        ("Le délai est de dix jours, d’après « The Law of Contracts ».", "fr"),
        ("Enron", ""),
        ("1998", ""),
        ("", ""),
        ("שלום עולם", ""),
    ],
)
def test_function_words_tell_the_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_language_is_read_from_the_beginning_alone() -> None:
    assert language_of("Le délai est de dix jours. " * 100 + "It is the end of this text and that of the others. " * 1000) == "fr"
