"""How much of the documents a judge is shown, and how many calls it is given at once."""

import asyncio
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Document
from areopage.jury.judges import CallContext, CallResult, JudgeBackend, JudgeStatus, PlannedCall
from areopage.jury.panel import ContextBudget
from areopage.models.reference import ModelReference
from areopage.monitor.quality_judge import QualityJudge

if TYPE_CHECKING:
    from servers.fake_llm import FakeServer


def texts(*sizes: int) -> list[Document]:
    """Documents of so many characters."""
    return [Document(id=str(place), text="x" * size) for place, size in enumerate(sizes)]


@given(
    st.lists(st.integers(1, 60), max_size=8),
    st.integers(1, 40),
    st.none() | st.integers(1, 5),
    st.none() | st.integers(1, 30),
)
def test_what_is_shown_are_the_first_documents_whole_and_within_the_budget(
    sizes: list[int], tokens: int, chunks: int | None, characters: int | None
) -> None:
    documents = texts(*sizes)
    shown, left_out = ContextBudget(max_tokens=tokens, max_chunks=chunks, max_chars=characters).fit(documents)
    assert sum(len(one.text) for one in shown) <= tokens * 4
    assert [one.id for one in shown] == [one.id for one in documents[: len(shown)]]
    assert len(shown) <= (chunks or len(sizes))
    whole = [one for one, given in zip(shown, documents, strict=False) if len(one.text) == min(len(given.text), characters or 99)]
    assert left_out == len(documents) - len(whole)
    assert bool(shown) is bool(documents)


def test_documents_behind_the_first_that_does_not_fit_are_left_out() -> None:
    shown, left_out = ContextBudget(max_tokens=100).fit(texts(100, 400, 10))
    assert ([one.id for one in shown], left_out) == (["0"], 2)


def test_a_first_document_larger_than_the_budget_is_cut_and_counted() -> None:
    document = Document(id="a", title="title", text="x" * 1000)
    (shown,), left_out = ContextBudget(max_tokens=100).fit([document])
    assert (shown.title, len(shown.text), left_out) == ("title", 395, 1)


def test_the_specifications_three_chunks_of_two_hundred_characters() -> None:
    shown, left_out = ContextBudget(max_chunks=3, max_chars=200).fit(texts(500, 100, 300, 400))
    assert ([len(one.text) for one in shown], left_out) == ([200, 100, 200], 1)


class OneAtATime:
    """A judge that takes one call at a time, and notes if it is given more."""

    max_concurrency: int | None = 1

    def __init__(self, judge: JudgeBackend) -> None:
        self._judge = judge
        self.inside = self.most = 0

    @property
    def reference(self) -> ModelReference:
        return self._judge.reference

    async def check(self) -> JudgeStatus:
        return await self._judge.check()

    async def aclose(self) -> None:
        await self._judge.aclose()

    async def judge(self, call: PlannedCall, context: CallContext) -> CallResult:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            return await self._judge.judge(call, context)
        finally:
            self.inside -= 1


def test_a_model_is_given_no_more_calls_at_once_than_it_can_take(server: "FakeServer") -> None:
    server.latency = 0.01
    environment = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k"}

    async def run() -> int:
        async with QualityJudge.from_suite(judges=["openai:fake-a"], environment=environment) as judge:
            pool = judge._session._pool()
            (reference,) = pool.references
            one = pool._open[reference] = OneAtATime(pool.judge(reference))
            await asyncio.gather(*(judge.evaluate(f"q{n}", "a") for n in range(10)))
            return one.most

    assert asyncio.run(run()) == 1
    assert len(server.calls) == 10
