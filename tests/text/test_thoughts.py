"""Thoughts in every spelling: they are no part of an answer, and what only mentions them is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.text.thoughts import split_thoughts

HIDDEN = 'Perhaps {"score": 0}?'
ANSWER = '{"score": 4}'
BLOCKS = (
    f"<think>{HIDDEN}</think>",
    f"<THINK>{HIDDEN}</Think>\n",
    f'<think time="3.2s" id="1">{HIDDEN}</think>',
    f"<think>a <think>{HIDDEN}</think> b</think>",
    f"<think>a</think>\n<think>{HIDDEN}</think>",
    f"<thinking>{HIDDEN}</thinking>",
    f"<thinking>{HIDDEN}</think>",
    f"<thought>{HIDDEN}</thought>",
    f"<inner_thoughts>{HIDDEN}</inner_thoughts>",
    f"<chain_of_thought>{HIDDEN}</chain_of_thought>",
    f"<mm:think>{HIDDEN}</mm:think>",
    f"<reasoning_content>{HIDDEN}</reasoning_content>",
    f"<internal_monologue>{HIDDEN}</internal_monologue>",
    f"<pensée>{HIDDEN}</pensée>",
    f"<start_of_thought>{HIDDEN}<end_of_thought>",
    f"&lt;think&gt;{HIDDEN}&lt;/think&gt;",
    f"[REASONING]{HIDDEN}[/REASONING]",
    f"<reasoning>{HIDDEN}</reasoning>",
    f"<seed:think>{HIDDEN}</seed:think>",
    f"＜think＞{HIDDEN}＜/think＞",
    f"[THINK]{HIDDEN}[/THINK]",
    f"◁think▷{HIDDEN}◁/think▷",
    f"<|START_THINKING|>{HIDDEN}<|END_THINKING|>",
    f"<|begin_of_thought|>{HIDDEN}<|end_of_thought|>",
    f"<unused94>thought\n{HIDDEN}<unused95>",
    f"<|begin_of_reasoning|>{HIDDEN}<|end_of_reasoning|>",
    f"<|thought_begin|>{HIDDEN}<|thought_end|>",
    f"<|inner_prefix|>{HIDDEN}<|inner_suffix|>",
    f"<|channel>thought\n{HIDDEN}<channel|>",
    f"<|im_start|>think\n{HIDDEN}<|im_end|>",
    f"{HIDDEN}</think>\n",
    f"<|channel|>analysis<|message|>{HIDDEN}<|end|><|start|>assistant<|channel|>final<|message|>",
    f"<|channel|>analysis<|message|>{HIDDEN}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    f"{HIDDEN}<|end|><|start|>assistant<|channel|>final<|message|>",
    f"analysis{HIDDEN}assistantfinal",
    f"analysisWe must judge. {HIDDEN}assistantcommentaryHm.assistantfinal",
)


@pytest.mark.parametrize("judge", [True, False])
@pytest.mark.parametrize("block", BLOCKS)
def test_what_stands_behind_the_thoughts_is_the_answer(block: str, judge: bool) -> None:
    parts = split_thoughts(block + ANSWER, judge=judge)
    assert parts.answer.strip() == ANSWER
    assert "score" not in parts.answer.replace(ANSWER, "") and parts.state in ("closed", "unopened")
    assert HIDDEN in parts.thoughts, "nothing of the text is lost"


@pytest.mark.parametrize("block", BLOCKS[:3] + BLOCKS[5:30])
def test_thoughts_within_and_behind_an_answer_are_no_part_of_it(block: str) -> None:
    parts = split_thoughts(f"Before. {block} Between. {block} Behind.")
    assert parts.answer.split() == ["Before.", "Between.", "Behind."]


@pytest.mark.parametrize("name", ["réflexion", "plan", "details", "brouillon", "step-1", "x:y"])
def test_a_block_of_any_name_before_a_judge_s_verdict_is_thoughts(name: str) -> None:
    assert split_thoughts(f"<{name}>{HIDDEN}</{name}>{ANSWER}", judge=True).answer == ANSWER
    assert split_thoughts(f"\n[{name}]{HIDDEN}[/{name}]{ANSWER}", judge=True).answer == ANSWER
    open_block = split_thoughts(f'<{name} type="a">{HIDDEN}', judge=True)
    assert (open_block.answer, open_block.state) == ("", "open")
    assert split_thoughts(f"<{name}>{HIDDEN}</{name}>{ANSWER}").state == "none"


@pytest.mark.parametrize("name", ["answer", "final_answer", "verdict", "output", "json", "réponse", "p", "Result", "score"])
def test_a_block_that_is_called_the_answer_is_the_answer(name: str) -> None:
    for text in (f"<{name}>{ANSWER}</{name}>", f"[{name}]{ANSWER}"):
        assert split_thoughts(text, judge=True).answer == text


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{HIDDEN} Hm",
        f"Well.\n<thinking>{HIDDEN}",
        f"<|channel|>analysis<|message|>{HIDDEN} Hm",
        f"<|channel|>commentary<|message|>{HIDDEN}",
        f"analysisWe need to judge. {HIDDEN}",
        f"[THINK]{HIDDEN}",
    ],
)
def test_thoughts_without_an_end_leave_no_verdict(text: str) -> None:
    for judge in (True, False):
        parts = split_thoughts(text, judge=judge)
        assert parts.state == "open" and "score" not in parts.answer


def test_an_open_tag_within_a_line_is_thought_by_a_judge_and_said_by_others() -> None:
    text = 'Use the <think> tag {"score": 0}'
    assert split_thoughts(text, judge=True).state == "open"
    assert split_thoughts(text).answer == text


@pytest.mark.parametrize(
    "text",
    [
        "No thoughts at all.",
        "",
        "In the template, `<think>` opens the block and `</think>` closes it.",
        "```\n<think>example</think>\n```\nThat is how it looks.",
        '{"explanation": "The answer shows <think>its thoughts</think> to the child", "score": 1}',
        'Here: {"explanation": "it shows <think> tags", "score": 1} as said.',
        "analysis: the answer is kind.",
        "Analysis of the answer follows.",
        "analysis of the final text",
    ],
)
def test_what_only_mentions_thoughts_stays_as_it_is(text: str) -> None:
    for judge in (True, False):
        assert split_thoughts(text, judge=judge).answer == text


TAGS = ("<think>", "</think>", "<thinking a='b'>", "[THINK]", "[/THINK]", "<|channel|>final<|message|>")
PIECES = st.sampled_from([*TAGS, "{", "}", "`", "```", "\n", "a", '"'])


@given(st.lists(PIECES, max_size=30))
def test_any_text_is_parted_without_inventing_a_character(pieces: list[str]) -> None:
    text = "".join(pieces)
    for judge in (True, False):
        parts = split_thoughts(text, judge=judge)
        assert len(parts.answer) + len(parts.thoughts.replace("\n", "")) <= len(text)
        if parts.state == "none":
            assert parts.answer == text


@pytest.mark.parametrize(
    "unit", ["<think>", "</think>", "{<think>", '{"a": 1}<think></think>', "`<think>", "<think " + "a" * 150, "analysis"]
)
def test_a_huge_text_is_parted_in_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text, started = unit * (size // len(unit)), time.thread_time()
        split_thoughts(text, judge=True)
        return time.thread_time() - started

    seconds(1_000)
    assert seconds(400_000) < 3.0
