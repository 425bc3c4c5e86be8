"""A prompt that a server cut is noticed by what the server counts, and one that cannot fit is not sent."""

import asyncio

import pytest

from areopage.errors import CallRejected
from areopage.models.ollama import OllamaModel
from areopage.models.ollama import open_model as open_ollama
from areopage.models.openai import OpenAIModel
from areopage.models.openai import open_model as open_openai
from areopage.models.port import Completion, Message
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.models.window import PromptMeter, cut_text
from servers.fake_llm import FakeServer

SYSTEM = Message("system", "You judge an answer. Say how correct it is and give a score between zero and ten. " * 20)
FRENCH = "Le salarié dont le contrat est rompu perçoit une indemnité égale à un cinquième de mois par année d’ancienneté. "
# a text and how many characters of it make a token, as a small English vocabulary has it
TEXTS = {
    "English": ("The employee whose contract is ended receives an allowance for each year of service. ", 5.0),
    "French": (FRENCH, 3.1),
    "law": ("Art. L. 1234-9, al. 2 : 1/5 de 2 345,67 € ; cf. Cass. soc., 3 mai 2018, n° 16-26.850. ", 1.4),
    "code": ('{"a": [1, 2, {"b": null}], "c_d": "x/y"}; if (i < n) { s += f(i, 0x1F); } ', 1.6),
    "Chinese": ("合同解除的员工每工作一年可获得相当于五分之一个月工资的补偿金。", 0.55),
    "Arabic": ("يتلقى الموظف الذي انتهى عقده تعويضا عن كل سنة من الخدمة. ", 1.0),
}


def asked(text: str) -> tuple[Message, ...]:
    return (SYSTEM, Message("user", text))


def longer_than(window: int, name: str, times: float) -> str:
    """A text whose tokens, with the system message's, are so many times the window."""
    sentence, characters = TEXTS[name]
    wanted = (window * times - len(SYSTEM.content) / 5.0) * characters
    return sentence * (int(wanted / len(sentence)) + 1)


def opened(server: FakeServer, provider: str) -> OllamaModel | OpenAIModel:
    environment = {"OLLAMA_HOST": server.address, "OPENAI_BASE_URL": server.openai_url}
    open_model = open_ollama if provider == "ollama" else open_openai
    return open_model(ModelReference(provider, "fake-a"), ModelSettings(environment=environment))


def answers(server: FakeServer, provider: str, *texts: str, num_ctx: int | None = None) -> list[Completion]:
    """What a model answers to one text after the other."""

    async def ask() -> list[Completion]:
        model = opened(server, provider)
        try:
            return [await model.generate(asked(text), {"num_ctx": num_ctx} if num_ctx else {}) for text in texts]
        finally:
            await model.aclose()

    return asyncio.run(ask())


@pytest.mark.parametrize("window", [1536, 4096, 8192, 16384])
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("times", [1.01, 1.3, 5.0])
def test_whatever_ollama_cuts_is_noticed(name: str, window: int, times: float) -> None:
    text = longer_than(window, name, times)
    with FakeServer(prompt_tokens=window) as server:  # counts what it kept: the whole window
        try:
            (completion,) = answers(server, "ollama", text, num_ctx=window)
        except CallRejected as fault:
            assert f"num_ctx is {window}" in str(fault) and not server.calls
        else:
            assert completion.prompt_cut


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("window", [4096, 8192])
def test_a_cut_by_an_openai_server_with_a_window_of_its_own_is_noticed(name: str, window: int) -> None:
    with FakeServer(prompt_tokens=window) as server:
        (completion,) = answers(server, "openai", longer_than(window, name, 1.2))
    assert completion.prompt_cut


def test_an_uncommon_window_of_an_openai_server_is_noticed_where_the_options_name_it() -> None:
    with FakeServer(prompt_tokens=5_000) as server:
        (unnamed,) = answers(server, "openai", longer_than(5_000, "Arabic", 1.2))
        (named,) = answers(server, "openai", longer_than(5_000, "Arabic", 1.2), num_ctx=5_000)
    assert (unnamed.prompt_cut, named.prompt_cut) == (False, True)


def test_a_count_far_under_what_earlier_replies_let_expect_is_a_cut() -> None:
    meter = PromptMeter()
    short, long = asked(FRENCH * 20), asked(FRENCH * 400)
    assert not meter.was_cut(short, 1_100, None)
    assert meter.was_cut(long, 5_000, None)
    assert not meter.was_cut(long, 13_000, None)


def test_one_word_is_never_less_than_a_token() -> None:
    assert PromptMeter().was_cut(asked("one two three " * 3_000), 3_000, None)
    assert not PromptMeter().was_cut(asked("one two three " * 3_000), 9_400, None)


def test_a_prompt_that_cannot_fit_is_not_sent() -> None:
    text = "one two three " * 3_000
    with FakeServer() as server:
        with pytest.raises(CallRejected, match=r"the prompt has more than 5\d{3} tokens, and num_ctx is 4096: raise num_ctx"):
            answers(server, "ollama", text, num_ctx=4096)
        assert server.calls == []
        (sent,) = answers(server, "ollama", text, num_ctx=16_384)
    assert not sent.prompt_cut


def test_earlier_replies_tell_that_a_prompt_cannot_fit() -> None:
    first, second = FRENCH * 60, FRENCH * 120
    assert not PromptMeter().refusal(asked(second), 3_500, "num_ctx")
    with FakeServer(prompt_tokens=3_400) as server:
        with pytest.raises(CallRejected, match="num_ctx is 3500"):
            answers(server, "ollama", first, second, num_ctx=3_500)
        assert len(server.calls) == 1


@pytest.mark.parametrize(("name", "tokens"), [("English", 3_900), ("French", 3_900), ("code", 4_000), ("Chinese", 4_000)])
def test_a_prompt_that_fits_is_sent_and_taken(name: str, tokens: int) -> None:
    with FakeServer(prompt_tokens=tokens) as server:
        for provider in ("ollama", "openai"):
            for completion in answers(server, provider, *[longer_than(tokens, name, 0.98)] * 2, num_ctx=4096):
                assert not completion.prompt_cut


def test_a_prompt_whose_beginning_made_room_for_the_answer_was_cut() -> None:
    with FakeServer(prompt_tokens=4_070) as server:
        server.faults.replies = ["x" * 400]
        (completion,) = answers(server, "ollama", "Hello.", num_ctx=4096)
    assert completion.prompt_cut


def test_a_prompt_that_has_just_as_many_tokens_as_a_usual_window_is_whole_if_that_was_to_be_expected() -> None:
    meter = PromptMeter()
    prose = [Message("user", "The sky is blue and the sea is deep. " * 89)]  # 801 words
    assert meter.fills_a_usual_window(prose, 1024)  # nothing is known of the model
    assert not meter.fills_a_usual_window(prose, 1025)
    meter.was_cut(prose, 1030, None)
    assert not meter.fills_a_usual_window(prose, 1024)
    assert meter.fills_a_usual_window([Message("user", prose[0].content * 2)], 1024)


@pytest.mark.parametrize(
    ("provider", "options", "advice"),
    [
        ("ollama", {}, "the server cut the prompt: raise num_ctx or shorten the case"),
        ("ollama", {"num_ctx": 4096}, "the server cut the prompt at num_ctx 4096: raise num_ctx or shorten the case"),
        ("openai", {}, "the server cut the prompt: raise the server's context length or shorten the case"),
        ("openai", {"num_ctx": 4096}, "the server cut the prompt: raise the server's context length or shorten the case"),
    ],
)
def test_only_ollama_is_told_to_raise_the_option_that_is_its_own(provider: str, options: dict[str, int], advice: str) -> None:
    assert cut_text(provider, options) == advice
