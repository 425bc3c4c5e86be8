"""The gate and the answering pipeline of a configuration."""

import os
import time
from collections.abc import Callable, Mapping

from areopage.app.config import AppConfig
from areopage.gate.decide import Gate
from areopage.ledger.records import Trace
from areopage.ledger.storage import stored_trace
from areopage.ledger.store import Ledger
from areopage.rag.answering.judging import open_sentence_judge
from areopage.rag.generation import generation_options, open_generator
from areopage.rag.retrieval.retriever import open_retriever
from areopage.rag.service import RagService


def open_gate(config: AppConfig) -> Gate:
    """The gate with the configuration's rules; each signal tells how long it took."""
    return Gate(config.gate, clock=time.perf_counter)


def open_pipeline(config: AppConfig, ledger: Ledger, say: Callable[[str], None], *, secret: bytes | None = None) -> RagService:
    """The answering pipeline; `storage` says what stays of questions and answers.

    Args:
        say: gets one line for each answer, and warnings.
        secret: derives the documents' fences; None: the ledger's.

    Raises:
        ConfigError: a value is wrong.
        StorageError: another process uses the folder of collections.
        MissingExtra: a part is not installed.
    """
    environment: Mapping[str, str] = dict(os.environ)
    rag, storage = config.rag, config.storage
    window = generation_options(rag.section.generation, rag.section.retrieval.top_k)["num_ctx"]

    def reduced(trace: Trace) -> Trace:
        return stored_trace(trace, storage.text, storage.max_chars)

    generator = open_generator(rag, ledger.secret() if secret is None else secret, environment)
    judge = open_sentence_judge(rag, ledger, environment, window)
    retriever = open_retriever(rag, say, environment)
    return RagService(rag, ledger, open_gate(config), retriever, generator, say, judge=judge, reduce=reduced)
