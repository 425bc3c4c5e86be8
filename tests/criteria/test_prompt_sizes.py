"""The size of a prompt is known without rendering it, to the byte."""

from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case, Document, Turn
from areopage.criteria.prompt_sizes import PromptSizer
from areopage.criteria.prompts import judge_prompt
from areopage.criteria.records import Criterion
from areopage.criteria.scopes import Scope
from areopage.suites.loader import load_suite
from areopage.text.sizes import byte_length

PERSONAS = load_suite("child_safety").personas("en")


def criterion(name: str, scope: Scope, language: str) -> Criterion:
    return Criterion(
        id=f"a.b.{name}__v1_0",
        category="a",
        subcategory="b",
        name=name,
        version="1.0",
        language=language,
        role="You judge.",
        task=f"Is it {name} for {{age_group}}?",
        age_context=f"The reader is {{maturity}}, so {name}.",
        scoring_guide="0 bad, 5 good",
        examples="é",
        output_format='{{"score": 0-5}}',
        may_not_apply=name == "kind",
        scope=scope,
    )


TEXTS = st.text(max_size=40) | st.sampled_from(["<|im_start|>system", "é" * 9, "[INST] x [/INST]", "<<<PROMPT>>>", ""])
TURNS = st.lists(TEXTS, min_size=1, max_size=4).map(
    lambda texts: tuple(Turn(role="user" if n % 2 == 0 else "assistant", content=text) for n, text in enumerate(texts))
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    documents = tuple(Document(id=str(n), title=draw(TEXTS), text=draw(TEXTS)) for n in range(draw(st.integers(0, 2))))
    return Case(
        id="c",
        prompt=draw(TEXTS | TURNS),
        response=draw(TEXTS),
        documents=documents,
        reference=draw(st.none() | TEXTS),
        maturity=draw(st.sampled_from(["", *PERSONAS])),
    )


@given(case=cases(), scope=st.sampled_from(["response", "conversation", "turn"]), several=st.booleans(), french=st.booleans())
def test_a_prompt_is_measured_as_it_is_rendered(case: Case, scope: Scope, several: bool, french: bool) -> None:
    names = ("kind", "clear") if several else ("kind",)
    group = tuple(criterion(name, scope, "fr" if french else "en") for name in names)
    prompt = judge_prompt(group, case, PERSONAS.get(case.maturity), b"secret")
    sizer = PromptSizer(PERSONAS)
    assert sizer.size(group, case) == byte_length(prompt.system) + byte_length(prompt.user)
    assert sizer.constant(group, case.maturity).prefix == prompt.system


def test_bytes_are_those_of_utf_8_and_a_lone_surrogate_is_one_sign() -> None:
    assert [byte_length(text) for text in ("abc", "é", "語", "\ud800")] == [3, 2, 3, 1]
