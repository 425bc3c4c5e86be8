"""What the monitor exports is judged again by `bench reassess`: the same answers with the same documents reach the judges."""

import json
import re
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from servers import PATIENCE
from servers.configured import write_config

if TYPE_CHECKING:
    from servers.command import Command
    from servers.fake_answers import Call
    from servers.fake_llm import FakeServer

DOCUMENT = {"id": "d1", "title": "Article 45", "text": "Trente jours\nouvrables par an.", "source": "code.pdf", "score": 0.9}
ANSWERS: list[dict[str, Any]] = [
    {"id": "plain", "prompt": "Combien de jours ?", "response": "Trente jours.", "documents": [DOCUMENT]},
    {"id": "bare", "prompt": '=SUM(A1), "quoted"; and\na second line?', "response": "-5 °C, c’est froid.", "documents": []},
    {
        "id": "talk",
        "prompt": [
            {"role": "user", "content": "Bonjour ?"},
            {"role": "assistant", "content": "Bonjour."},
            {"role": "user", "content": "Et mes congés ?"},
        ],
        "response": "Trente jours ouvrables.",
        "documents": [DOCUMENT, {"text": "Un texte seul."}],
        "variant": "b",
        "language": "fr",
        "source": "desk/2",
        "metadata": {"user": "u1", "page": 3},
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
    },
    {"id": "007", "prompt": "Numéro 007 ?", "response": "Oui, le 007.", "documents": ["Le 007 existe.", "Un autre."]},
]
JUDGE = ("--suite", "answer_quality", "--judge", "openai:fake-b", "--passes", "1", "--joint", "--yes")


def content_of(call: "Call") -> str:
    """What a judge reads, without the markers that are drawn for each call."""
    return re.sub(r"[0-9a-f]{8,}", "#", json.dumps(json.loads(call.body)["messages"], ensure_ascii=False))


@pytest.fixture
def judged(command: "Command", server: "FakeServer") -> Counter[str]:
    """What the monitor's judges were asked, after a worker has judged the answers over HTTP."""
    from servers.monitored import evaluated, opened, wait_until

    write_config(command.folder, judges=["openai:fake-a"], worker={"pause": 0.2}, ledger="kept/ledger.db", language="fr")
    lines = command.folder / "answers.jsonl"
    lines.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in ANSWERS), encoding="utf-8")
    assert command("monitor", "submit", lines, "--source", "bot").code == 0
    process = command.begin("monitor", "worker")
    with opened(str(command.folder / "kept" / "ledger.db")) as ledger:
        wait_until(lambda: evaluated(ledger) >= len(ANSWERS))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    asked = Counter(content_of(call) for call in server.verdict_calls)
    server.calls.clear()
    return asked


EXPORTS = [
    *(("monitor", "export", "--out", f"e.{kind}", "--text", "full") for kind in ("jsonl", "csv", "xlsx", "parquet")),
    ("monitor", "export", "--out", "e.csv", "--text", "full", "--semicolons"),
    *(("ledger", "export", "--out", "led", "--format", kind) for kind in ("jsonl", "csv", "xlsx", "parquet")),
]


@pytest.mark.parametrize("export", EXPORTS, ids=" ".join)
def test_an_export_of_the_monitor_is_judged_again_with_all_that_the_judges_had(
    command: "Command", server: "FakeServer", judged: Counter[str], export: tuple[str, ...]
) -> None:
    assert command(*export).code == 0
    file = f"led/answers.{export[-1]}" if export[0] == "ledger" else export[3]
    ended = command("bench", "reassess", file, *JUDGE, "--lang", "fr")
    assert ended.code in (0, 1, 3) and "Traceback" not in ended.err and "rejected" not in ended.err + ended.out, ended.err
    found = command.results()
    assert {one["metadata"]["id"] for one in found["records"]} == {one["id"] for one in ANSWERS}
    assert found["run"]["metadata"]["counts"]["unscored"] == 0
    assert server.target_calls == []
    assert Counter(content_of(call) for call in server.verdict_calls) == judged
