"""What the commands, the files, the pages and the API show of a ledger: each view by the name of its golden file."""

from collections.abc import Iterator, Sequence

from starlette.testclient import TestClient

import areopage
from areopage.ledger.store import Ledger
from areopage.ledger.tables.records import Answer
from areopage.server.app import create_app
from areopage.server.context import ServerContext
from server.seeded import GATE, NOW, SUITE, WEAK_ID
from servers.command import Command
from servers.configured import app_config, write_config

from .normal import Normal

RUN_FILES = ("results.json", "results.csv", "criteria.csv", "report.html", "cases.html", "trust.html")
EXPORTS = {"summary.md": "markdown", "junit.xml": "junit", "results.sarif.json": "sarif"}
MONITOR_API = {
    "evaluations": "/v1/evaluations?limit=5",
    "evaluation": f"/v1/evaluations/{WEAK_ID}",
    "figures": "/v1/figures?days=9",
    "alerts": "/v1/alerts",
    "agreement": "/v1/agreement?days=30",
}
MONITOR_PAGES = {
    "monitor": "/monitor?period=30",
    "answers": "/monitor/answers",
    "answer": f"/monitor/answers/{WEAK_ID}",
    "alerts": "/monitor/alerts",
    "queue": "/monitor/queue",
    "golden": "/monitor/golden",
    "variants": "/monitor/variants",
    "agreement": "/agreement",
    "trust": "/trust",
    "review": "/review",
}
HELD, DELIVERED = f"{31:032x}", f"{1:032x}"
GATE_API = {"traces": "/v1/traces?limit=5", "held": f"/v1/traces/{HELD}", "delivered": f"/v1/traces/{DELIVERED}"}
GATE_PAGES = {"gate": "/gate?period=all", "held": f"/gate/{HELD}", "delivered": f"/gate/{DELIVERED}"}

Views = Iterator[tuple[str, str]]


def normal_of(command: Command, runs: Sequence[str] = ()) -> Normal:
    """The texts of a ledger without its place, which is another with each database, and a file of the folder else."""
    with opened(command) as ledger:
        place = ledger.place if "://" in ledger.place else command.environment["AREOPAGE_LEDGER"]
    return Normal(str(command.folder), areopage.__version__, runs, place)


def bench_views(command: Command, language: str) -> Views:
    """A ledger of runs: console, files of the newest run, comparison, league, trend, pages."""
    with opened(command) as ledger:
        runs = [run.id for run in ledger.runs() if run.kind == "bench"][::-1]
    normal = normal_of(command, runs)
    newest = command.outputs / runs[-1]
    command("bench", "report", "latest")
    yield "console/list.txt", normal.text(command("bench", "list").out)
    yield "console/show.txt", normal.text(command("bench", "show", "latest").out)
    yield "console/show_verbose.txt", normal.text(command("bench", "show", "latest", "--verbose").out)
    for name in RUN_FILES:
        yield f"files/{name}", normal.file(newest / name)
    for name, form in EXPORTS.items():
        file = command.folder / name
        command("bench", "export", "latest", "--format", form, "--file", file, "--lang", language)
        yield f"files/{name}", normal.file(file)
    pages = {"runs": "/runs", "run": f"/runs/{runs[-1]}", "trust": f"/runs/{runs[-1]}/trust"}
    if len(runs) > 1:
        for name, arguments in {
            "compare": ("compare", *runs[:2]),
            "league": ("league", *runs[1:]),
            "trend": ("trend", "--target", "ollama:fake-target"),
        }.items():
            before = set(command.outputs.iterdir())
            yield f"console/{name}.txt", normal.text(command("bench", *arguments, "--lang", language).out)
            if name != "trend":
                verbose = command("bench", *arguments, "--lang", language, "--verbose")
                yield f"console/{name}_verbose.txt", normal.text(verbose.out)
            for folder in set(command.outputs.iterdir()) - before:
                for file in sorted(folder.iterdir()):
                    yield f"files/{name}/{file.name}", normal.file(file)
        pages["compare"] = f"/compare?a={runs[0]}&b={runs[1]}"
    yield from served(command, language, normal, pages, {})


def monitor_views(command: Command, language: str) -> Views:
    """A ledger of a monitor: console, report, pages and API."""
    write_config(command.folder, ledger=command.environment["AREOPAGE_LEDGER"], language=language)
    normal = normal_of(command)
    yield "console/status.txt", normal.text(command("monitor", "status").out)
    yield "console/alerts.txt", normal.text(command("monitor", "alerts", "list").out)
    for form in ("html", "md", "json"):
        file = command.folder / f"report.{form}"
        ended = command("monitor", "report", "--days", "9", "--until", f"{NOW:%Y-%m-%d}", "--lang", language, "--out", file)
        assert ended.code == 0, ended.err
        yield f"files/report.{form}", normal.file(file)
    ended = command("monitor", "compare", "A", "--since", "2026-11-01", "--until", f"{NOW:%Y-%m-%d}", "--json")
    yield "console/compare.json", normal.json(ended.out)
    yield from served(command, language, normal, MONITOR_PAGES, MONITOR_API)


def gate_views(command: Command, language: str) -> Views:
    """A ledger of the gate: report, replay, pages and API."""
    write_config(command.folder, ledger=command.environment["AREOPAGE_LEDGER"], language=language)
    normal = normal_of(command)
    for form in ("html", "md", "json"):
        file = command.folder / f"gate.{form}"
        ended = command("gate", "report", "--lang", language, "--format", form, "--output", file)
        assert ended.code == 0, ended.err
        yield f"files/gate.{form}", normal.file(file)
    yield "console/replay.txt", normal.text(command("gate", "replay", "--rules", "v1_1").out)
    yield from served(command, language, normal, GATE_PAGES, GATE_API)


def served(command: Command, language: str, normal: Normal, pages: dict[str, str], api: dict[str, str]) -> Views:
    """Pages and bodies of the API, as a server over the ledger gives them."""
    with opened(command) as ledger:
        config = app_config(command.folder)
        context = ServerContext(ledger=ledger, config=config, suite=SUITE, submit=_refused, now=lambda: NOW, gate=GATE)
        client = TestClient(create_app(context), base_url="http://127.0.0.1:8600", client=("127.0.0.1", 50000))
        for kind, paths, form, shown in (
            ("pages", pages, "text/html", normal.html),
            ("api", api, "application/json", normal.json),
        ):
            for name, path in paths.items():
                answer = client.get(path, headers={"accept": form, "accept-language": language})
                assert answer.status_code == 200, f"{path}: {answer.text}"
                yield f"{kind}/{name}.{form.rpartition('/')[2]}", shown(answer.text)


def opened(command: Command) -> Ledger:
    """The ledger of a command."""
    return Ledger.open(command.environment["AREOPAGE_LEDGER"])


async def _refused(_: Sequence[Answer]) -> Sequence[bool]:
    raise AssertionError("nothing is submitted")
