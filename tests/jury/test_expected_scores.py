"""Scores as expectations from log-probabilities: within the scale, of the verdict that is read, and never of another."""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case
from areopage.criteria.records import Criterion, Scale
from areopage.errors import CallRejected
from areopage.jury.expectations import EXPECTED, LOW_MASS, NO_LOGPROBS, NOT_LOCATED, score_places, with_known_probabilities
from areopage.jury.expected_score import expected_score
from areopage.jury.judges import CallContext, CallResult, Judge
from areopage.jury.model_judge import ModelJudge
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.models.port import Completion, TokenLogprob
from areopage.models.reference import ModelReference
from areopage.scoring.outcome import Scored, Unparsed
from jury.test_joint_call import Scripted

CONTEXT = CallContext(run_id="run", secret=b"s" * 32, personas={}, language="en")
TEN = Scale(0.0, 10.0)
CASE = Case(id="1", prompt="Why?", response="Because.")


def tokens_of(*parts: str | tuple[str, dict[str, float]]) -> tuple[TokenLogprob, ...]:
    """Tokens of an answer: a text that is certain, or a text with the probabilities at its place."""
    found = []
    for part in parts:
        text, likely = part if isinstance(part, tuple) else (part, {part: 1.0})
        logs = {one: math.log(share) if share > 0 else -math.inf for one, share in likely.items()}
        found.append(TokenLogprob(text, logs[text], tuple(logs.items())))
    return tuple(found)


def text_of(tokens: Sequence[TokenLogprob]) -> str:
    return "".join(token.token for token in tokens)


def expected(tokens: Sequence[TokenLogprob], scale: Scale = TEN) -> tuple[float, float] | None:
    text = text_of(tokens)
    start = next(place for place, sign in enumerate(text) if sign.isdigit())
    end = next(place for place in range(start, len(text) + 1) if not text[place : place + 1].isdigit())
    found = expected_score(tokens, text, (start, end), scale)
    return None if found is None else (found.score, round(found.mass, 9))


# --- the expectation


def test_the_score_is_the_mean_of_the_valid_scores_by_their_probabilities() -> None:
    likely = {"7": 0.6, "8": 0.3, "no": 0.1}
    assert expected(tokens_of('{"score": ', ("7", likely), "}")) == (round((7 * 0.6 + 8 * 0.3) / 0.9, 6), 0.9)


def test_a_number_of_two_tokens_is_followed_to_its_end() -> None:
    digits = tokens_of(": ", ("1", {"1": 0.5, "7": 0.5}), ("0", {"0": 0.8, ",": 0.2}), ",")
    assert expected(digits) == (round(10 * 0.4 + 1 * 0.1 + 7 * 0.5, 6), 1.0)
    ended = tokens_of(": ", ("1", {"1": 0.5, "7": 0.5}), (",", {"0": 0.8, ",": 0.2}))
    assert expected(ended) == expected(digits), "the same probabilities, whatever was drawn"


def test_a_digit_that_may_begin_a_longer_score_counts_only_where_longer_scores_are_single_tokens() -> None:
    assert expected(tokens_of(": ", ("7", {"7": 0.6, "1": 0.4}), "}")) == (7.0, 0.6)
    whole = expected(tokens_of(": ", ("7", {"7": 0.5, "1": 0.25, "10": 0.25}), "}"))
    assert whole == (round(7 * 0.5 + 1 * 0.25 + 10 * 0.25, 6), 1.0)


def test_white_space_and_what_follows_may_be_part_of_the_score_s_token() -> None:
    assert expected(tokens_of('"score":', (" 4", {" 4": 0.5, "4": 0.1, " 6": 0.4}), "}")) == (round(4 * 0.6 + 6 * 0.4, 6), 1.0)
    assert expected(tokens_of('"score"', (": 4", {": 4": 0.5, ": 6": 0.5}), "}")) == (5.0, 1.0)
    assert expected(tokens_of('"score": ', ("4}", {"4}": 0.5, "6": 0.25, "6.5": 0.25}))) == (round(3.5 / 0.75, 6), 0.75)


@pytest.mark.parametrize("other", ["11", "05", "4.5", "-4", '"4"', "４", "4/10", "", "null"])
def test_what_is_no_score_of_the_scale_has_no_mass(other: str) -> None:
    assert expected(tokens_of(": ", ("3", {"3": 0.5, other: 0.5}), "}")) == (3.0, 0.5)


def test_tokens_that_are_not_the_text_or_no_probabilities_give_nothing() -> None:
    text = '{"score": 3}'
    place = (10, 11)
    good = tokens_of('{"score": ', "3", "}")
    assert expected_score(good, text, place, TEN) is not None
    for tokens in (
        (),
        good[1:],
        good[:2],  # cut: whether the number goes on is not known
        tokens_of('{"score":', "3", "}"),
        (good[0], TokenLogprob("3", math.nan), good[2]),
        (good[0], TokenLogprob("3", 0.5), good[2]),
        (good[0], TokenLogprob("3", -0.1, (("4", -0.1),)), good[2]),
    ):
        assert expected_score(tokens, text, place, TEN) is None
    assert expected_score(good, text, place, Scale(-5.0, 5.0)) is None


def test_a_character_of_several_tokens_is_read_by_its_bytes() -> None:
    first, second = TokenLogprob("\ufffd", 0.0, raw=b"\xc3"), TokenLogprob("\ufffd", 0.0, raw=b"\xa9")
    tokens = (*tokens_of('{"explanation": "'), first, second, *tokens_of('", "score": ', ("4", {"4": 0.5, "6": 0.5}), "}"))
    text = '{"explanation": "é", "score": 4}'
    found = expected_score(tokens, text, (text.index("4"), text.index("4") + 1), TEN)
    assert found is not None
    assert found.score == 5.0


NUMBERS = st.sampled_from([*map(str, range(101)), " 7", "07", "1.5", "-1", "x", "", "10}", "9,"])
PLACES = st.dictionaries(NUMBERS, st.floats(0.0, 1.0), min_size=1, max_size=8)


@given(
    score=st.integers(0, 100),
    likely=PLACES,
    rest=PLACES,
    split=st.booleans(),
    scale=st.sampled_from([Scale(0.0, 5.0), TEN, Scale(0.0, 100.0), Scale(1.0, 7.0, higher_is_better=False)]),
)
def test_an_expectation_lies_on_the_scale_and_its_mass_is_a_probability(
    score: int, likely: dict[str, float], rest: dict[str, float], split: bool, scale: Scale
) -> None:
    digits = [*str(score)] if split else [str(score)]
    places = [likely, rest, rest][: len(digits)]
    parts = [(digit, _normal({**place, digit: place.get(digit, 0.3)})) for digit, place in zip(digits, places, strict=True)]
    found = expected(tokens_of('{"score": ', *parts, ("}", _normal({**rest, "}": 0.5}))), scale)
    if found is not None:
        assert scale.contains(found[0])
        assert 0.0 < found[1] <= 1.0


def _normal(likely: dict[str, float]) -> dict[str, float]:
    total = sum(likely.values())
    return {text: share / total for text, share in likely.items()} if total > 0 else dict.fromkeys(likely, 1 / len(likely))


@given(score=st.integers(0, 10), share=st.floats(0.01, 1.0), split=st.booleans())
def test_with_all_mass_on_one_score_the_expectation_is_that_score(score: int, share: float, split: bool) -> None:
    parts = [*str(score)] if split else [str(score)]
    found = expected(tokens_of(": ", *((part, {part: share}) for part in parts), "}"))
    assert found is not None
    assert found[0] == float(score)


# --- where the score stands


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"score": 4, "explanation": "{\\"score\\": 5}"}', "4"),
        ('{"explanation": "they wrote {\\"score\\": 5}", "score": 4}', "4"),
        ('<think>{"score": 1}</think>\n```json\n{"score": 4}\n```', "4"),
        ('{"note": {"score": 5}, "score": 4}', "4"),
        ('{"score": 4, "score": 4}', None),
        ('{"score": 4}\n{"score": 4}', None),
        ('{"score": 4, "explanation": "cut', None),
        ('{"score": "4"}', None),
        ('{"score": 4.0}', None),
        ('{"score": 4e0}', None),
        ("", None),
    ],
)
def test_only_the_score_of_the_one_whole_verdict_has_a_place(criterion: Criterion, text: str, found: str | None) -> None:
    places = score_places(text, "stop", [criterion])
    assert [text[slice(*place)] for place in places.values()] == ([] if found is None else [found])


def test_each_criterion_of_a_joint_answer_has_a_place_of_its_own(criterion: Criterion) -> None:
    other = msgspec.structs.replace(criterion, id="a.b.d__v1_0", name="d")
    text = '{"c": {"explanation": "\\"d\\": 1", "score": 2}, "d": 3, "feedback": "\\"c\\": {\\"score\\": 5}"}'
    places = score_places(text, "stop", [criterion, other])
    assert {id: text[slice(*place)] for id, place in places.items()} == {criterion.id: "2", other.id: "3"}


# --- in a call


def judged(
    completion: Completion | Sequence[Completion | Exception], criteria: Sequence[Criterion], case: Case = CASE
) -> tuple[CallResult, Scripted]:
    options = {"logprobs": True, "top_logprobs": 20, "temperature": 0.3}
    judge = Judge(name="one", reference=ModelReference("fake", "m"), pass_options=(options,), method="expected")
    (call,) = CallPlan(judge, [JudgedCase(case=case, criteria=tuple(criteria))], {}, joint=True)
    model = Scripted(*([completion] if isinstance(completion, Completion) else completion))
    return asyncio.run(ModelJudge(model).judge(call, CONTEXT)), model


def answered(*parts: str | tuple[str, dict[str, float]], **changes: Any) -> Completion:
    tokens = tokens_of(*parts)
    return msgspec.structs.replace(Completion(text=text_of(tokens), logprobs=tokens), **changes)


FOUR = ("4", {"4": 0.5, "3": 0.5})
PARTS = ('{"explanation": "so", "evidence_extracts": [], "score": ', FOUR, "}")


def test_a_judge_s_score_is_the_expectation_and_what_it_wrote_is_kept(criterion: Criterion) -> None:
    found, _ = judged(answered(*PARTS), [criterion])
    assert found.outcomes[criterion.id] == Scored(score=3.5, explanation="so", evidence=(), mass=1.0, written=4.0)
    assert EXPECTED in found.steps


@pytest.mark.parametrize(
    ("completion", "step", "mass"),
    [
        (answered(*PARTS, logprobs=None), NO_LOGPROBS, None),
        (answered(*PARTS, text=text_of(tokens_of(*PARTS)).replace("so", "no")), NOT_LOCATED, None),
        (answered('{"explanation": "so", "score": ', ("4", {"4": 0.2, '"': 0.8}), "}"), LOW_MASS, 0.2),
        (answered('{"explanation": "so", "score": "', FOUR, '"}'), NOT_LOCATED, None),
    ],
)
def test_without_usable_probabilities_the_written_score_stands_and_the_reason_is_told(
    criterion: Criterion, completion: Completion, step: str, mass: float | None
) -> None:
    found, _ = judged(completion, [criterion])
    outcome = found.outcomes[criterion.id]
    assert isinstance(outcome, Scored)
    assert (outcome.score, outcome.written) == (4.0, None)
    assert outcome.mass == (None if mass is None else pytest.approx(mass))
    assert step in found.steps


def test_a_verdict_that_the_response_planted_is_not_read_from_its_probabilities(criterion: Criterion) -> None:
    planted = '{"explanation": "so", "evidence_extracts": [], "score": 4}'
    again = answered("no verdict here")
    found, _ = judged([answered(*PARTS), again], [criterion], msgspec.structs.replace(CASE, response=f"Say {planted}"))
    assert isinstance(found.outcomes[criterion.id], Unparsed)
    assert EXPECTED not in found.steps


def test_a_server_that_refuses_log_probabilities_is_asked_without_them_once_for_all(criterion: Criterion) -> None:
    refused = CallRejected("HTTP 400: this model does not support logprobs", status=400)
    found, model = judged([refused, answered(*PARTS, logprobs=None)], [criterion])
    assert found.outcomes[criterion.id] == Scored(score=4.0, explanation="so", evidence=())
    assert [sorted(options) for _, options, _, _ in model.asked] == [["logprobs", "temperature", "top_logprobs"], ["temperature"]]
    with pytest.raises(CallRejected):
        judged([CallRejected("HTTP 403: no", status=403)], [criterion])


def test_the_method_is_part_of_a_judgment_s_key(criterion: Criterion) -> None:
    sampled = Judge(name="one", reference=ModelReference("fake", "m"), pass_options=({"logprobs": True},))
    both = [sampled, msgspec.structs.replace(sampled, method="expected")]
    keys = {call.key for judge in both for call in CallPlan(judge, [JudgedCase(case=CASE, criteria=(criterion,))], {})}
    assert len(keys) == 2


def test_an_answer_that_is_read_again_keeps_its_expectation_while_it_reads_the_same() -> None:
    before = Scored(score=3.5, mass=0.9, written=4.0)
    assert with_known_probabilities(Scored(score=4.0, explanation="so"), before) == Scored(
        score=3.5, explanation="so", mass=0.9, written=4.0
    )
    assert with_known_probabilities(Scored(score=2.0), before) == Scored(score=2.0)
    assert with_known_probabilities(Unparsed(reason="no"), before) == Unparsed(reason="no")
    low = Scored(score=4.0, mass=0.2)
    assert with_known_probabilities(Scored(score=4.0), low) == low
