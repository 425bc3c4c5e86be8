"""What fits into a model's window: measured bytes for each token where there are any, else what is too long for every model."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.errors import PromptTooLong
from areopage.models.port import Completion, Message
from areopage.models.reference import ModelReference
from areopage.models.retry import Retrying
from areopage.models.window import ANSWER_ROOM, Gauge

MEASURED = Gauge(bytes_per_token=4.0, calls=60)
WINDOW = {"num_ctx": 1000}


@pytest.mark.parametrize(
    ("gauge", "options", "window"),
    [
        (Gauge(), {}, None),
        (Gauge(), {"num_ctx": 4096}, 4096),
        (Gauge(stated=2048), {"num_ctx": 4096}, 2048),
        (Gauge(stated=8192), {"num_ctx": 4096}, 4096),
        (Gauge(default=4096), {}, 4096),
        (Gauge(default=4096), {"n_ctx": 8192}, 8192),
        (Gauge(stated=8192), {"num_ctx": "many"}, 8192),
    ],
)
def test_the_window_is_the_smaller_one_of_the_calls_option_and_the_servers(
    gauge: Gauge, options: dict[str, Any], window: int | None
) -> None:
    assert gauge.window(options) == window


def test_a_measured_prompt_that_leaves_no_room_for_an_answer_is_not_sent() -> None:
    assert MEASURED.refusal(4 * (1000 - ANSWER_ROOM), WINDOW) == ""
    told = MEASURED.refusal(4 * 1000, WINDOW)
    assert told == "the prompt has about 1000 tokens, and num_ctx is 1000: raise num_ctx or shorten the case"
    assert "window holds 500: shorten the case" in Gauge(stated=500, bytes_per_token=4.0).refusal(4000, {})


def test_without_measures_only_what_is_too_long_for_every_model_is_not_sent_and_the_rest_may_not_fit() -> None:
    gauge = Gauge()
    assert "more than 1000 tokens" in gauge.refusal(6000, WINDOW)
    assert not gauge.refusal(5000, WINDOW) and gauge.may_not_fit(5000, WINDOW, 120)
    assert not gauge.may_not_fit(6000, WINDOW, 120)  # it is not sent
    assert not gauge.may_not_fit(2000, WINDOW, 120)
    assert not gauge.may_not_fit(10**9, {}, 120) and not gauge.refusal(10**9, {})


@given(size=st.integers(0, 10**6), window=st.integers(1, 10**5), ratio=st.none() | st.floats(1.0, 6.0))
def test_a_longer_prompt_never_fits_where_a_shorter_one_does_not(size: int, window: int, ratio: float | None) -> None:
    gauge, options = Gauge(bytes_per_token=ratio), {"num_ctx": window}
    if gauge.refusal(size, options):
        assert gauge.refusal(size + 1000, options)
    held = gauge.holds(options, ANSWER_ROOM)
    assert (held is not None and not gauge.refusal(int(held), options)) or window <= ANSWER_ROOM


class Model:
    """A model that counts its calls."""

    reference = ModelReference.parse("ollama:any")
    max_concurrency = None
    asked = 0

    async def generate(self, messages: Any, options: Any, schema: Any = None, *, case: Any = None) -> Completion:
        self.asked += 1
        return Completion(text="x")


def test_a_prompt_that_does_not_fit_never_reaches_the_server() -> None:
    model = Model()
    guarded = Retrying(model, gauge=MEASURED)  # type: ignore[arg-type]
    with pytest.raises(PromptTooLong, match=r"ollama:any: the prompt has about 1000 tokens, and num_ctx is 1000"):
        asyncio.run(guarded.generate((Message("system", "x" * 2000), Message("user", "é" * 1000)), WINDOW))
    assert model.asked == 0
    asyncio.run(guarded.generate((Message("user", "x" * 2000),), WINDOW))
    assert model.asked == 1
