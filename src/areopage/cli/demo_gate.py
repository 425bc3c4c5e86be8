"""The demo of the gate: an invented help desk, real retrieval, a real model that makes things up, and the fate of its answers."""

import asyncio
import os
import shlex
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import Console

from areopage.cli.demo_show import Show
from areopage.cli.rag_progress import IngestDisplay
from areopage.gate.decide import Gate
from areopage.gate.records import GATE_VERDICTS, GateVerdict
from areopage.jury.opening import check_model
from areopage.ledger.exchanges import Exchanges
from areopage.ledger.gate_records import ExchangeFilter
from areopage.ledger.store import Ledger
from areopage.locales import locale_for, one_line
from areopage.rag.config import CONFIG_FILE, RagConfig
from areopage.rag.demo.material import DOCUMENTS, EMBEDDED, Prepared, lay_out, read_script
from areopage.rag.generation.generator import model_of, open_generator
from areopage.rag.ingestion.ingest import Ingestion, IngestReport
from areopage.rag.records import ChatQuestion, Retriever
from areopage.rag.retrieval.collection import open_store
from areopage.rag.retrieval.open_embedder import open_embedder
from areopage.rag.retrieval.retriever import open_retriever
from areopage.rag.service import RagService
from areopage.report.gate import file_name, gate_report
from areopage.report.gate_figures import gather
from areopage.report.render import write_report
from areopage.suites.gate import load_gate

WORDS = Path(__file__).with_name("demo_words.yml")
# Instead of the ledger's: with it the prompts, and so the answers, are the same at every run. The fenced pages are ours.
SECRET = b"areopage demo gate"
SESSION = "demo"
PATIENCE = 90.0  # seconds after which no other question is begun
LONGEST_TEXT = 600  # characters of an answer that are shown


def run_demo(folder: Path, language: str, model: str) -> None:
    """Lay the demo out in a folder, and play it.

    Raises:
        StorageError: the folder cannot be used.
        ModelMissing, ModelError, MissingExtra: the model is not there.
        CallError: the model does not answer.
    """
    started = time.monotonic()
    show = Show(locale_for(language, WORDS))
    config = lay_out(folder, model)
    asyncio.run(check_model(*model_of(config, dict(os.environ))))
    show.say("demo_ingests", folder=folder)
    ingested = asyncio.run(ingest(config, folder / DOCUMENTS))
    show.say("demo_ingested", files=ingested.files, chunks=ingested.chunks, model=model)
    if model == EMBEDDED:
        show.say("demo_tiny")
    ledger = Ledger.open(config.ledger)
    try:
        verdicts = asyncio.run(play(config, ledger, show, started))
        report = write_demo_report(ledger, language, folder)
    finally:
        ledger.close()
    show.blank()
    seconds = show.locale.whole(round(time.monotonic() - started))
    show.say("demo_seen", **{verdict: verdicts[verdict] for verdict in GATE_VERDICTS}, seconds=seconds)
    for verdict in GATE_VERDICTS:
        if not verdicts[verdict]:
            show.say("demo_unseen", verdict=show.locale.messages["demo_verdicts"][verdict])
    show.say("demo_limit")
    name_places(show, folder, config, report)


async def ingest(config: RagConfig, documents: Path) -> IngestReport:
    """Bring the collection up to date with the folder's documents."""
    embedder = open_embedder(config, os.environ)
    store = open_store(config, os.environ)
    try:
        with IngestDisplay(Console(stderr=True)) as display:
            return await Ingestion(config, store, embedder, progress=display.show).run(documents)
    finally:
        await embedder.aclose()
        await store.aclose()


async def play(config: RagConfig, ledger: Ledger, show: Show, started: float) -> Counter[GateVerdict]:
    """Ask until each verdict was seen, then check the prepared answers; counts the verdicts on the model's own."""
    script = read_script()
    gate = load_gate(config.gate, clock=time.perf_counter)
    retriever = open_retriever(config, warn)
    generator = open_generator(config, SECRET, dict(os.environ))
    service = RagService(config, ledger, gate, retriever, generator, warn)
    exchanges, verdicts = Exchanges(ledger), Counter[GateVerdict]()
    try:
        for number, question in enumerate(script.questions, 1):
            if len(verdicts) == len(GATE_VERDICTS) or time.monotonic() - started > PATIENCE:
                break
            verdicts[await ask(service, exchanges, show, number, question)] += 1
        await check_prepared(gate, retriever, show, script.prepared)
    finally:
        await service.aclose()
    return verdicts


async def ask(service: RagService, exchanges: Exchanges, show: Show, number: int, question: str) -> GateVerdict:
    """Ask a question, and show what the model wrote, what the gate says of it, and what a user would read."""
    answer = await service.answer(ChatQuestion(question=question, no_cache=True, session=SESSION))
    noted = exchanges.get(answer.id)
    generated = noted.generation if noted else ""
    show.blank()
    show.say("demo_question", number=number, question=question)
    show.row("demo_generated", one_line(generated, LONGEST_TEXT) if generated else show.locale.say("demo_nothing"))
    if answer.decision is not None:
        show.decision(answer.decision)
    if answer.verdict == "deliver":
        show.row("demo_documents", ", ".join(f"[{document.id}] {document.title}" for document in answer.documents))
    else:
        show.row("demo_user", answer.answer)
    return answer.verdict


async def check_prepared(gate: Gate, retriever: Retriever, show: Show, prepared: Prepared) -> None:
    """Have the gate decide on answers that people wrote, and say that they did."""
    documents = await retriever.retrieve(prepared.question, "", ())
    show.blank()
    show.say("demo_prepared")
    show.row("demo_asked", prepared.question)
    for response in prepared.answers:
        show.row("demo_given", response)
        show.decision(gate.decide(prepared.question, response, documents))


def write_demo_report(ledger: Ledger, language: str, folder: Path) -> Path:
    """Write the gate's report over everything in the demo's ledger; its texts are the demo's own, and are shown in full."""
    now = datetime.now(UTC)
    rag = ("--rag", str(folder / CONFIG_FILE))
    figures = gather(ledger, ExchangeFilter(), language=language, policy="full", max_chars=LONGEST_TEXT, now=now, place=rag)
    place = folder / file_name("html")
    write_report(gate_report(figures), "html", place)
    return place


def name_places(show: Show, folder: Path, config: RagConfig, report: Path) -> None:
    """Where everything is, and what to do next."""
    rag = str(folder / CONFIG_FILE)
    show.row("demo_ledger", shlex.quote(config.ledger))
    show.row("demo_report", shlex.quote(str(report)))
    show.command("demo_again", "areopage", "gate", "report", "--rag", rag)
    show.command("demo_ask", "areopage", "rag", "ask", "--rag", rag, "Le virement instantané est-il gratuit ?")
    show.command("demo_browser", "areopage", "serve", "--rag", rag)
    show.row("", show.locale.say("demo_pages"))


def warn(line: str) -> None:
    """Pass warnings on; the line of each answer would only repeat what is shown."""
    if not line.startswith("[chatbot]"):
        typer.echo(line, err=True)
