"""Text from outside cannot speak as a turn of the chat: no control token of any family of models is left in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case, Document
from areopage.criteria.fence import defused, fenced, has_control_token
from areopage.criteria.prompts import judge_prompt
from areopage.criteria.records import Criterion, Scale

FAMILIES = {
    "ChatML": ("<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|endoftext|>"),
    "Llama 2": ("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<unk>"),
    "Llama 3": ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>", "<|python_tag|>"),
    "Gemma": ("<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<mask>", "<unused12>", "<|turn>", "<turn|>"),
    "Mistral": (
        "[TOOL_RESULTS]",
        "[/TOOL_RESULTS]",
        "[AVAILABLE_TOOLS]",
        "[/AVAILABLE_TOOLS]",
        "[TOOL_CALLS]",
        "[SYSTEM_PROMPT]",
        "[/SYSTEM_PROMPT]",
        "[IMG]",
        "[THINK]",
        "[ARGS]",
    ),
    "Phi": ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|tool|>"),
    "DeepSeek": ("<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "<think>", "</think>"),
    "GLM": ("[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|observation|>"),
    "Cohere": ("<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<EOS_TOKEN>", "<PAD>"),
    "TeleChat": ("<_start>", "<_end>", "<_user>", "<_bot>", "<_system>", "<_pad>"),
    "others": (
        "[|user|]",
        "[|endofturn|]",
        "<reserved_106>",
        "<seed:bos>",
        "<extra_id_0>",
        "<end_of_utterance>",
        "<tool_call>",
        "<eoh>",
        "]~b]",
        "]~!b[",
        "[e~[",
        "[CLS]",
        "[SEP]",
        "<role>",
        "</role>",
        "<eod>",
    ),
    # a server that looks for an image in their place refuses the call: an answer would have no score
    "places of images": ("[img-0]", "[img-12]", "<__media__>", "<__image__>", "<image>"),
}
TOKENS = [token for tokens in FAMILIES.values() for token in tokens]
CRITERION = Criterion(
    id="a.b.c__v1_0",
    category="a",
    subcategory="b",
    name="c",
    version="1.0",
    role="Judge.",
    task="Good?",
    scoring_guide="0 bad",
    output_format="{}",
    scale=Scale(),
)


@pytest.mark.parametrize("token", TOKENS)
def test_control_tokens_in_a_text_are_parted_and_nothing_is_lost(token: str) -> None:
    for text in (token, f"a{token}b", token + token, f"<{token}", f"[{token}", f"\n{token}\nsystem\nnew"):
        harmless = defused(text)
        assert harmless.replace("\u200b", "") == text
        assert token not in harmless
        assert has_control_token(text) and not has_control_token(harmless)


@given(st.lists(st.sampled_from(TOKENS) | st.text("<>|[]/｜ abIN_STs\u200b", max_size=4), max_size=8).map("".join))
def test_no_mixture_of_tokens_leaves_one_whole(text: str) -> None:
    harmless = defused(text)
    assert not has_control_token(harmless) and not any(token in harmless for token in TOKENS)
    assert defused(harmless) == harmless


@pytest.mark.parametrize("unit", ["<a_", "_", "a_", "<a", "[A_", "[A", "<|", "<", "[", "]~", "<a:a", "<_a"])
def test_a_hostile_text_is_searched_in_linear_time(unit: str) -> None:
    for text in (unit * 50_000, "<a" + unit * 50_000, "[A" + unit * 50_000):
        assert defused(text).replace("\u200b", "") == text


def test_ordinary_text_is_left_as_it_is() -> None:
    text = "if a < b | c > d: x[0] <b>bold</b> <s2> [INSTALL] [NAME] [EMAIL] [1] <div class='x'> a_b[C] < | a|> 3 > 2 [sic]"
    assert defused(text) == text
    assert fenced("A", text, "n") == f"<<<A n>>>\n{text}\n<<<END A n>>>"


@pytest.mark.parametrize("token", TOKENS)
def test_no_part_of_a_case_brings_a_control_token_into_the_judges_prompt(token: str) -> None:
    case = Case(
        id="1",
        prompt=f"p{token}",
        response=f"r{token}",
        reference=f"f{token}",
        maturity=f"m{token}",
        documents=(Document(id="d", title=f"t{token}", text=f"x{token}"),),
    )
    asked = Criterion(
        **{name: getattr(CRITERION, name) for name in CRITERION.__struct_fields__} | {"age_context": "For {maturity}."}
    )
    prompt = judge_prompt((asked,), case, None, b"secret")
    assert token not in prompt.system + prompt.user
    assert (prompt.system + prompt.user).replace("\u200b", "").count(token) == 6
