"""A team's own bot as a model, against a bot on loopback."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from areopage.cases.records import Case, Document
from areopage.errors import CallRejected, CallUnreachable, ModelError, ModelMissing, ServerDown
from areopage.models.adapters import MODEL_ADAPTERS, open_model
from areopage.models.http_bot import HttpBot, filled, question_of, value_at
from areopage.models.port import Completion, Message
from areopage.models.reference import ModelReference
from areopage.models.settings import Bot, ModelSettings

if TYPE_CHECKING:
    from pathlib import Path

    from servers.command import Command
    from servers.fake_bot import FakeBot

QUESTION = (Message("system", "You are a helpful assistant."), Message("user", "Combien {id} de congés ? {0} %s"))
CASE = Case(id="c-1", prompt="x")


@pytest.fixture(name="bot")
def running_bot() -> Any:
    from servers.fake_bot import FakeBot

    with FakeBot() as running:
        yield running


def settings_for(url: str, environment: dict[str, str] | None = None, **fields: Any) -> ModelSettings:
    known: dict[str, Any] = {"url": url, "request": {"question": "{prompt}"}}
    return ModelSettings(bots={"support": Bot(**(known | fields))}, environment=environment or {})


def ask(settings: ModelSettings, messages: tuple[Message, ...] = QUESTION) -> Completion:
    async def once() -> Completion:
        model = open_model(ModelReference.parse("http:support"), settings)
        try:
            return await model.generate(messages, {"temperature": 1}, {"type": "object"}, case=CASE)
        finally:
            await model.aclose()

    return asyncio.run(once())


def check(settings: ModelSettings) -> Any:
    async def once() -> Any:
        model = open_model(ModelReference.parse("http:support"), settings)
        try:
            return await model.check()
        finally:
            await model.aclose()

    return asyncio.run(once())


def test_a_bot_gets_the_question_alone_and_its_answer_is_found(bot: "FakeBot") -> None:
    completion = ask(settings_for(f"{bot.url}/chat/"))
    assert completion.text == "So: Combien {id} de congés ? {0} %s"
    assert (bot.asked[0].method, bot.asked[0].path) == ("POST", "/chat/")
    assert bot.asked[0].body == {"question": "Combien {id} de congés ? {0} %s"}
    assert "http" in MODEL_ADAPTERS


def test_placeholders_are_replaced_wherever_they_stand_and_only_once(bot: "FakeBot") -> None:
    bot.reply = lambda asked: (200, {"choices": [{"message": {"content": json.dumps(asked.body)}}]})
    template = {"messages": [{"role": "user", "content": "Q: {prompt} ({id})"}], "k": 3, "{prompt}": None, "{other}": "{x}"}
    completion = ask(settings_for(bot.url, request=template, answer="choices.0.message.content"))
    assert json.loads(completion.text) == {
        "messages": [{"role": "user", "content": "Q: Combien {id} de congés ? {0} %s (c-1)"}],
        "k": 3,
        "{prompt}": None,
        "{other}": "{x}",
    }


@given(st.text(), st.text())
def test_what_is_put_in_is_never_looked_through_again(prompt: str, case_id: str) -> None:
    assert filled("a{prompt}b{id}c{", {"{prompt}": prompt, "{id}": case_id}) == f"a{prompt}b{case_id}c{{"


def test_several_turns_become_one_text_led_by_their_roles() -> None:
    turns = (Message("system", "s"), Message("user", "Hello"), Message("assistant", "Yes?"), Message("user", "And?"))
    assert question_of(turns) == "user: Hello\nassistant: Yes?\nuser: And?"


def test_a_get_puts_the_question_into_the_query_beside_what_the_address_has(bot: "FakeBot") -> None:
    bot.reply = lambda asked: (200, "plain & simple")
    url = f"{bot.url}/ask?key=s3cret-key&lang=fr"
    completion = ask(settings_for(url, method="GET", request={"q": "{prompt}", "n": 2, "raw": True}, answer=""))
    assert completion.text == "plain & simple"
    wanted = {"key": "s3cret-key", "lang": "fr", "q": "Combien {id} de congés ? {0} %s", "n": "2", "raw": "true"}
    assert (bot.asked[0].method, bot.asked[0].query) == ("GET", wanted)


def test_a_key_in_the_query_or_a_header_reaches_the_bot_and_no_message(bot: "FakeBot") -> None:
    bot.reply = lambda _: (400, {"error": "bad key tok-12345"})
    settings = settings_for(
        f"{bot.url}/ask?key=s3cret-key",
        {"BOT_TOKEN": "tok-12345", "BOT_PLAIN": "plain-678"},
        headers={"Authorization": "Bearer env:BOT_TOKEN", "X-Key": "env:BOT_PLAIN", "X-Team": "notaires"},
    )
    with pytest.raises(CallRejected) as fault:
        ask(settings)
    sent = bot.asked[0]
    assert (sent.headers["Authorization"], sent.headers["X-Key"]) == ("Bearer tok-12345", "plain-678")
    assert (sent.headers["X-Team"], sent.query) == ("notaires", {"key": "s3cret-key"})
    assert "s3cret-key" not in str(fault.value)
    assert "tok-12345" not in str(fault.value)
    assert "bad key ***" in str(fault.value)


def test_the_documents_that_the_bot_names_are_kept(bot: "FakeBot") -> None:
    found = [{"doc_titre": "CCN", "text": "30 jours ouvrables", "page": 3}, "Article 45"]
    bot.reply = lambda _: (200, {"data": {"reply": "30 jours", "sources": found}})
    completion = ask(settings_for(bot.url, answer="data.reply", documents="data.sources"))
    assert completion.documents == (
        Document(id="doc1", title="CCN", text="30 jours ouvrables", metadata={"page": 3}),
        Document(id="doc2", text="Article 45"),
    )


@pytest.mark.parametrize(
    ("reply", "paths", "said"),
    [
        ({"reply": "x", "meta": 1}, {}, "(bots.support.answer) of what it returned there is no 'answer': it has reply, meta"),
        ({"a": {"b": 1}}, {"answer": "a.c"}, "there is no 'c': under 'a' it has b"),
        ({"a": [1]}, {"answer": "a.1.text"}, "there is no '1': under 'a' it has a list of 1"),
        ({"a": "x"}, {"answer": "a.b"}, "there is no 'b': under 'a' it has a text"),
        ([], {}, "there is no 'answer': it has a list of 0"),
        ({}, {}, "there is no 'answer': it has nothing"),
        ({"answer": None}, {}, "stands null, not a text"),
        ({"answer": ["x"]}, {}, "stands a list, not a text"),
        ({"answer": "x"}, {"documents": "docs"}, "(bots.support.documents) of what it returned there is no 'docs'"),
        ({"answer": "x", "docs": [{"title": "t"}]}, {"documents": "docs"}, "document 1 has no text"),
    ],
)
def test_an_answer_of_another_shape_says_what_stands_there(bot: "FakeBot", reply: Any, paths: dict[str, Any], said: str) -> None:
    bot.reply = lambda _: (200, reply)
    with pytest.raises(CallRejected) as fault:
        ask(settings_for(bot.url, **paths))
    assert said in str(fault.value)


def test_no_documents_are_none(bot: "FakeBot") -> None:
    bot.reply = lambda _: (200, {"answer": "", "docs": None})
    completion = ask(settings_for(bot.url, documents="docs"))
    assert (completion.text, completion.documents) == ("", ())


@pytest.mark.parametrize(("status", "kind"), [(302, CallRejected), (429, CallUnreachable), (500, CallUnreachable)])
def test_redirects_pauses_and_failures_are_told_as_by_every_server(bot: "FakeBot", status: int, kind: type[Exception]) -> None:
    bot.reply = lambda _: (status, {"error": "no"})
    bot.answer_headers = {"Location": "http://127.0.0.1/elsewhere?key=1", "Retry-After": "7"}
    with pytest.raises(kind) as fault:
        ask(settings_for(bot.url))
    assert "key=1" not in str(fault.value)
    if isinstance(fault.value, CallUnreachable):
        assert fault.value.retry_after == 7.0


def test_a_page_of_html_is_no_answer(bot: "FakeBot") -> None:
    bot.reply = lambda _: (200, b"<html>Log in</html>")
    bot.answer_headers = {"Content-Type": "text/html"}
    with pytest.raises(CallUnreachable, match="not the JSON expected"):
        ask(settings_for(bot.url))


def test_a_check_asks_nothing_and_says_that_a_bot_is_no_judge(bot: "FakeBot") -> None:
    status = check(settings_for(bot.url))
    assert bot.asked == []
    assert "what is judged" in status.unfit
    assert status.digest != check(settings_for(bot.url, request={"q": "{prompt}"})).digest


def test_a_bot_that_is_away_is_named_with_its_address(bot: "FakeBot") -> None:
    url = f"{bot.url}/chat"
    bot.__exit__(None, None, None)
    with pytest.raises(ServerDown, match=r"the bot 'support' does not answer at http://127\.0\.0\.1:\d+/chat"):
        check(settings_for(url))
    bot.__enter__()


@pytest.mark.parametrize(
    ("reference", "fields", "kind", "said"),
    [
        ("http:other", {}, ModelMissing, "no bot 'other': use one of the configuration's `bots` (support)"),
        ("http@lab:support", {}, ModelError, "write http:support"),
        ("http:support", {"request": {"q": "hello"}}, ModelError, 'no text of it holds "{prompt}"'),
        ("http:support", {"url": "support.example"}, ModelError, "is not the address of a server"),
        ("http:support", {"headers": {"X": "env:NOPE"}}, ModelError, "the environment variable NOPE is not set"),
        ("http:support", {"method": "GET", "request": {"q": ["{prompt}"]}}, ModelError, "use method POST"),
    ],
)
def test_a_wrong_bot_is_told_before_anything_is_asked(
    reference: str, fields: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as fault:
        open_model(ModelReference.parse(reference), settings_for(fields.pop("url", "http://127.0.0.1:9"), **fields))
    assert said in str(fault.value)


def test_the_whole_is_at_the_empty_path() -> None:
    assert value_at("text", "") == "text"
    assert value_at({"": 1}, "") == {"": 1}


def test_a_bot_is_a_language_model() -> None:
    model = open_model(ModelReference.parse("http:support"), settings_for("http://127.0.0.1:9"))
    assert isinstance(model, HttpBot)
    assert (str(model.reference), model.max_concurrency) == ("http:support", None)


def test_a_bench_run_takes_a_bot_of_the_suite_as_its_target(bot: "FakeBot", suite: "Path", command: "Command") -> None:
    from servers.small_suite import QUESTIONS, write_config

    write_config(suite, bots={"support": {"url": f"{bot.url}/chat", "request": {"question": "{prompt}"}, "answer": "answer"}})
    ended = command("bench", "run", "--suite", suite, "--target", "http:support")
    assert ended.code == 0, ended.err
    assert sorted(asked.body["question"] for asked in bot.asked) == sorted(QUESTIONS)
    results = json.loads(next(command.outputs.glob("*/results.json")).read_text(encoding="utf-8"))
    assert "So: Why is the sky blue?" in json.dumps(results)


def test_a_key_that_a_bot_does_not_know_is_a_mistake_at_its_line(bot: "FakeBot", suite: "Path", command: "Command") -> None:
    from servers.small_suite import write_config

    write_config(suite, bots={"support": {"url": bot.url, "anwser": "x"}})
    line = command("suites", "validate", suite).out + command("bench", "run", "--suite", suite).err
    assert "bots.support.anwser" in line
