"""The gate and the answering pipeline of a configuration."""

import os
import time
from collections.abc import Callable, Mapping

from areopage.app.config import AppConfig, find_config
from areopage.checking.checker import Checker
from areopage.checking.config import generation_options
from areopage.checking.judging import SentenceJudge, open_sentence_judge
from areopage.gate.decide import Gate
from areopage.ledger.store import Ledger
from areopage.ledger.tables.trace_records import Trace
from areopage.ledger.write.storage import stored_trace
from areopage.rag.generation import open_generator
from areopage.rag.retrieval.retriever import open_retriever
from areopage.rag.service import RagService


def open_gate(config: AppConfig) -> Gate:
    """The gate with the configuration's rules; each signal tells how long it took."""
    return Gate(config.gate, clock=time.perf_counter)


def open_judge(config: AppConfig, ledger: Ledger | None) -> SentenceJudge | None:
    """The judge of the grey band, which keeps its judgments in the ledger; None where none is configured.

    Raises:
        ConfigError: its reference is wrong.
        MissingExtra: its model needs a package that is not installed.
    """
    return open_sentence_judge(config.rag, ledger, os.environ, judge_window(config))


def judge_window(config: AppConfig) -> int:
    """The context of the judge of the grey band, in tokens: the generator's."""
    section = config.rag.section
    window: int = generation_options(section.generation, section.retrieval.top_k)["num_ctx"]
    return window


def open_checker(config: AppConfig | None = None, *, ledger: Ledger | None = None, judge: bool = True) -> Checker:
    """The gate with all that may settle its decisions; `with open_checker() as checker` closes it.

    Args:
        config: None: as `find_config` finds it.
        ledger: holds people's labels, and keeps the judge's judgments; None: no label counts, and nothing is kept.
        judge: ask the judge of `rag.grey_band` where the gate needs one.

    Raises:
        ConfigError, MissingExtra: as for `open_judge`.
    """
    found = config or find_config()
    return Checker(open_gate(found), ledger=ledger, judge=open_judge(found, ledger) if judge else None)


def open_pipeline(
    config: AppConfig,
    ledger: Ledger,
    say: Callable[[str], None],
    *,
    secret: bytes | None = None,
    judge: SentenceJudge | None = None,
) -> RagService:
    """The answering pipeline; `storage` says what stays of questions and answers.

    Args:
        say: gets one line for each answer, and warnings.
        secret: derives the documents' fences; None: the ledger's.
        judge: of the grey band, which the service closes; None: the configured one.

    Raises:
        ConfigError: a value is wrong.
        StorageError: another process uses the folder of collections.
        MissingExtra: a part is not installed.
    """
    environment: Mapping[str, str] = dict(os.environ)
    rag, storage = config.rag, config.storage

    def reduced(trace: Trace) -> Trace:
        return stored_trace(trace, storage.text, storage.max_chars)

    generator = open_generator(rag, ledger.secret() if secret is None else secret, environment)
    judge = judge or open_judge(config, ledger)
    retriever = open_retriever(rag, say, environment)
    return RagService(rag, ledger, open_gate(config), retriever, generator, say, judge=judge, reduce=reduced)
