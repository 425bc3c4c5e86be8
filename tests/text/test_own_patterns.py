"""Patterns of a user's own take out what they match, however it is written, and never take long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.text.own_patterns import MOST_WAYS, compiled
from areopage.text.personal import redact
from areopage.text.storing import policy_with, stored_text
from servers import HUGE

CUSTOMER = compiled([r"\bCL-\d{6,10}\b", r"(?i)\bdossier\s{0,3}n?°?\s{0,3}[A-Z]{2}\d{4}"])


@pytest.mark.parametrize(
    "written",
    ["CL-123456", "CL-1234567890", "ＣＬ－１２３４５６", "CL-12\u200b34\u200d56", "CL\u2060-123\ufeff456", "dossier n° AB1234"],
)
def test_a_match_goes_in_whatever_signs_it_is_written(written: str) -> None:
    assert redact(f"Mon numéro : {written}, merci.", CUSTOMER) == "Mon numéro : [REDACTED], merci."


def test_hidden_addresses_go_without_patterns_too() -> None:
    assert redact("Écrivez à ｊｅａｎ＠ｅｘｅｍｐｌｅ．ｆｒ, merci.") == "Écrivez à [EMAIL], merci."
    assert redact("Écrivez à je\u200ban@exem\u200bple.fr, merci.") == "Écrivez à [EMAIL], merci."


def test_signs_that_other_scripts_need_stay() -> None:
    for text in ("می\u200cخواهم", "👩\u200d🔬", "क्\u200dष"):
        assert redact(text) == text


def test_patterns_belong_to_the_policy_that_redacts() -> None:
    text = "Client CL-123456."
    assert stored_text(text, policy_with("redacted", CUSTOMER), 500) == "Client [REDACTED]."
    assert stored_text(text, policy_with("full", CUSTOMER), 500) == text
    assert stored_text(text, "redacted", 500) == text


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"(a+)+b", r"(a|a)*b", r"a*a*a*b", r"(?:a{1,9}){1,9}b", r"\d+", r"a{2,}", r"(a)\1", r"a{1,99}a{1,99}a{1,99}b"),
        *("(", "[", "a?", "", "x" * 300, r"a{1,1000}b"),
    ],
)
def test_a_pattern_that_could_take_long_or_matches_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        compiled([pattern])


@pytest.mark.parametrize(
    "pattern", [r"\bCL-\d{6,10}\b", r"[A-Z]{2}\d{4,12}", r"[*+]x{1,3}", r"\+33\d{9}", r"(?:AB|CD)\d{3}", r"a{1,16}?b"]
)
def test_usual_patterns_are_taken(pattern: str) -> None:
    assert len(compiled([pattern])) == 1


@pytest.mark.parametrize("pattern", [r"\d{1,16}\d{1,16}x", r"[a1]{1,200}x", r"a?a?a?a?a?a?a?a?b"])
def test_no_pattern_that_is_taken_takes_long(pattern: str) -> None:
    (found,) = compiled([pattern])
    for text in ("1" * (HUGE // 10), "a" * (HUGE // 10)):
        redact(text, (found,))


@given(st.text(alphabet="a1{},?+*()|[]\\\\d", max_size=12))
def test_what_is_taken_is_bounded(pattern: str) -> None:
    try:
        found = compiled([pattern])
    except ValueError:
        return
    redact("a1" * 200, found)
    assert MOST_WAYS > 1
