"""Messages and numbers in each language."""

import re
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from areopage.embedded.weights import SMOLLM2
from areopage.locales import MISSING, REMARKS_FILE, Locale, Note
from areopage.report.elements import report_locale
from areopage.report.judges.qualification import judge_reason

EN, FR = report_locale("en"), report_locale("fr-CA")


def test_a_value_with_dollar_signs_and_braces_stays_as_it_is() -> None:
    assert EN.say("not_valid_judge", judge="$judge ${x} {0} %s") == "Unfit judge: $judge ${x} {0} %s"


def test_french_numbers_have_a_comma_and_narrow_spaces() -> None:
    assert FR.number(1234.5) == "1\u202f234,50"
    assert EN.number(1234.5) == "1,234.50"
    assert (FR.number(-0.125, 3), FR.number(None), FR.number(float("nan"))) == ("−0,125", MISSING, MISSING)
    assert (FR.short(5.0), EN.short(0.75), FR.whole(1_000_000)) == ("5", "0.75", "1\u202f000\u202f000")


@pytest.mark.parametrize(
    ("share", "shown"), [(1.0, "100%"), (0.0, "0%"), (0.99999, "99.9%"), (0.00001, "0.1%"), (0.5, "50.0%"), (0.957, "95.7%")]
)
def test_a_share_is_only_0_or_100_percent_where_nothing_or_all_is_meant(share: float, shown: str) -> None:
    assert EN.percent(share) == shown


def test_french_puts_a_space_before_the_percent_sign() -> None:
    assert FR.percent(0.841) == "84,1\xa0%"


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True), st.integers(min_value=0, max_value=3))
def test_a_share_between_0_and_1_is_never_shown_as_either(share: float, digits: int) -> None:
    assert 0 < float(EN.percent(share, digits).rstrip("%")) < 100


def test_a_probability_between_0_and_1_is_never_shown_as_either() -> None:
    assert [EN.probability(value) for value in (0.9997, 0.0002, 0.237, 1.0, None)] == ["0.99", "0.01", "0.24", "1.00", MISSING]
    assert FR.probability(0.9997) == "0,99"


def test_dates_are_in_each_languages_form() -> None:
    moment = datetime(2027, 1, 1, 9, 5, tzinfo=UTC)
    assert (EN.date(moment), FR.date(moment)) == ("1\xa0January 2027", "1er\xa0janvier 2027")
    assert (EN.moment(moment)[-9:], FR.moment(moment)[-11:]) == ("09:05 UTC", "9\xa0h\xa005 UTC".rjust(11)[-11:])


def test_french_is_singular_for_zero_and_english_is_not() -> None:
    assert (FR.count("criteria", 0), FR.count("criteria", 2)) == ("0 critère", "2 critères")
    assert (EN.count("criteria", 0), EN.count("criteria", 1)) == ("0 criteria", "1 criterion")


def test_french_spaces_before_high_signs_do_not_break() -> None:
    assert FR.say("use_real_judges") == "Utilisez de vrais juges\xa0:"
    assert "mieux" in FR.say("scale_higher", min="0", max="5").partition("\u202f;")[2]


def test_clauses_have_the_semicolon_of_their_language() -> None:
    assert EN.clauses(("one", "two")) == "one; two"
    assert FR.clauses(("un", "deux")) == "un\u202f; deux"


def test_a_remark_is_told_in_both_languages() -> None:
    remark = Note("rejected_rows", {"file": "c.csv", "row": "3", "reason": "…", "n": 2})
    assert str(remark) == "2 rows are rejected: see rejected.csv (first: c.csv row 3: …)"
    assert remark.text("fr") == "2 lignes rejetées\xa0: voir rejected.csv (la première\xa0: c.csv, ligne 3\xa0: …)"
    columns = Note("unread_columns", {"columns": tuple("abcdefghij")})
    assert str(columns) == "columns kept as metadata only: a, b, c, d, e, f, g, h (+2 more)"
    assert columns.text("fr").endswith("a, b, c, d, e, f, g, h (+2 autres)")
    assert columns.text("de") == str(columns)


def test_every_remark_that_is_made_has_its_message() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in REMARKS_FILE.parent.rglob("*.py"))
    made = set(re.findall(r'Note\(\s*"([a-z_]+)"', source))
    assert made | {"more_names"} == set(yaml.safe_load(REMARKS_FILE.read_text(encoding="utf-8")))


def test_the_reason_why_the_bundled_model_is_unfit_is_told_in_the_reports_language() -> None:
    reason = SMOLLM2.unfit
    assert judge_reason(EN, reason) == reason
    assert "trop petit pour juger" in judge_reason(FR, reason)
    assert judge_reason(FR, "another reason") == "another reason"


@pytest.mark.parametrize(
    ("value", "told"), [(0.6, "0,60 point"), (1.82, "1,82 point"), (2.0, "2,00 points"), (1234.5, "1\u202f234,50 points")]
)
def test_french_numbers_take_the_plural_from_two_on(value: float, told: str) -> None:
    french = Locale(code="fr", messages={"moved": "la note bouge de $size point(s)"})
    assert french.say("moved", size=french.number(value)) == f"la note bouge de {told}"


def test_a_noun_agrees_with_the_number_before_it_and_a_verb_with_the_one_that_it_names() -> None:
    def said(code: str, message: str, **values: object) -> str:
        return Locale(code=code, messages={"key": message}).say("key", **values)

    english = "$failed of $cases {case|cases} {failed:fails|fail}"
    shown = [said("en", english, failed=failed, cases=cases) for failed, cases in (("1", "76"), ("0", "1"), (2, 1_000))]
    assert shown == ["1 of 76 cases fails", "0 of 1 case fail", "2 of 1000 cases fail"]
    french = "$n {réponse est retenue|réponses sont retenues}"
    numbers = ("0", "1", "1,82", "2", "1\u202f234", "plusieurs")
    assert [said("fr", french, n=n).rpartition(" ")[2] for n in numbers] == ["retenue"] * 3 + ["retenues"] * 3
    assert said("en", "$text {one|many}", text="{a|b} $x") == "{a|b} $x many", "a value is never a form"
