"""Alerts on their way out, to real HTTP receivers on loopback."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from areopage.monitor.alerts.deliver import ATTEMPTS, AlertMessage, masked, next_attempt, place_of, resolved, send
from servers.quality import MOMENT

if TYPE_CHECKING:
    from servers.fake_bot import FakeBot

# a module of its own, as it is read
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


@pytest.fixture(name="receiver")
def running_receiver() -> Iterator["FakeBot"]:
    from servers.fake_bot import FakeBot

    with FakeBot(reply=lambda _: (200, {})) as running:
        yield running


def address_of(receiver: "FakeBot") -> str:
    return receiver.url.replace("http://", "json://")


def test_a_message_arrives_as_plain_text(receiver: "FakeBot") -> None:
    body = "Question: <b>x</b> {{y}} *z* [l](http://e)\n- Aucune source — é"
    sent = send([address_of(receiver)], AlertMessage(title="Réponse faible", body=body), {})
    assert [(one.place, one.error) for one in sent] == [("url 1 (json://…)", "")]
    assert (receiver.asked[0].body["title"], receiver.asked[0].body["message"]) == ("Réponse faible", body)


def test_a_webhook_gets_the_severity_and_the_fields_of_an_alert(receiver: "FakeBot") -> None:
    message = AlertMessage(title="t", body="b", severity="warning", rule="answer", key="answer:a-1", answer_id="a-1", score=3.25)
    send([f"{address_of(receiver)}/?:score=mark&:team=quality"], message, {})
    send([address_of(receiver)], AlertMessage(title="t", body="b"), {})
    first, second = (asked.body for asked in receiver.asked)
    assert (first["type"], first["rule"], first["key"], first["id"], first["mark"]) == (
        "warning",
        "answer",
        "answer:a-1",
        "a-1",
        3.25,
    )
    assert first["team"] == "quality"
    assert (second["type"], second["rule"], second["key"], second["id"], second["score"]) == ("info", None, None, None, None)


def test_an_address_may_stand_in_the_environment(receiver: "FakeBot") -> None:
    sent = send(["env:HOOK", "env:NONE"], AlertMessage(title="t", body="b"), {"HOOK": f"{address_of(receiver)}/secret-path"})
    assert [(one.place, one.error) for one in sent] == [
        ("url 1 (env:HOOK)", ""),
        ("url 2 (env:NONE)", "the environment variable NONE is not set"),
    ]
    assert receiver.asked[0].path == "/secret-path"


def test_a_dead_receiver_is_an_error_without_its_address(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        sent = send(["json://someone:hunter22@127.0.0.1:9/tok-abcdef?key=sesame77"], AlertMessage(title="t", body="b"), {})
    assert sent[0].error
    shown = sent[0].error + sent[0].place + caplog.text
    assert not any(secret in shown for secret in ("hunter22", "tok-abcdef", "sesame77", "someone"))


@pytest.mark.parametrize("url", ["slack://TOKENabcdef/xyz", "nonsense://secret-thing", "hello"])
def test_what_is_no_address_is_told_and_never_logged(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        sent = send([url], AlertMessage(title="t", body="b"), {})
    assert "no Apprise URL" in sent[0].error
    assert url.partition("://")[2] == "" or url.partition("://")[2] not in sent[0].place + sent[0].error + caplog.text


def test_a_receiver_that_refuses_is_an_error(receiver: "FakeBot") -> None:
    receiver.reply = lambda _: (503, {})
    sent = send([address_of(receiver)], AlertMessage(title="t", body="b"), {})
    assert "503" in sent[0].error


def test_pauses_double_up_to_an_hour_and_end_after_about_seven() -> None:
    pauses = []
    now = MOMENT
    for attempt in range(1, ATTEMPTS):
        following = next_attempt(attempt, now)
        assert following is not None
        pauses.append(following - now)
        now = following
    assert pauses[:3] == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]
    assert max(pauses) == timedelta(hours=1)
    assert timedelta(hours=5) < now - MOMENT < timedelta(hours=8)
    assert next_attempt(ATTEMPTS, now) is None


def test_places_and_messages_hold_nothing_secret() -> None:
    assert place_of(2, "env:SLACK_URL") == "url 2 (env:SLACK_URL)"
    assert place_of(1, "slack://TokenA/TokenB") == "url 1 (slack://…)"
    assert place_of(1, "TokenA") == "url 1 (…)"
    assert masked("failed at TokenA\nTokenB", "slack://TokenA/TokenB") == "failed at *** ***"
    assert resolved("env:X", {"X": " json://h \n"}) == "json://h"
