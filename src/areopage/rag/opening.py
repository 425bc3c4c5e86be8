"""The pipeline of a configuration."""

import os
from collections.abc import Callable, Mapping

from areopage.app import AppConfig, open_gate, open_judge
from areopage.checking import SentenceJudge
from areopage.ledger import Ledger, Trace, stored_trace
from areopage.rag.generation import open_generator
from areopage.rag.retrieval.retriever import open_retriever
from areopage.rag.service import RagService
from areopage.server import Pipeline


def open_service(config: AppConfig, ledger: Ledger, say: Callable[[str], None], judge: SentenceJudge | None) -> Pipeline:
    """The pipeline of a server; see `open_pipeline`."""
    section = config.rag.section
    service = open_pipeline(config, ledger, say, judge=judge)
    return Pipeline(service=service, collection=section.store.collection, language=section.language)


def open_pipeline(
    config: AppConfig,
    ledger: Ledger,
    say: Callable[[str], None],
    *,
    secret: bytes | None = None,
    judge: SentenceJudge | None = None,
) -> RagService:
    """The answering pipeline; `storage` says what stays of questions and answers."""
    environment: Mapping[str, str] = dict(os.environ)
    rag, storage = config.rag, config.storage

    def reduced(trace: Trace) -> Trace:
        return stored_trace(trace, storage.text, storage.max_chars)

    generator = open_generator(rag, ledger.secret() if secret is None else secret, environment)
    judge = judge or open_judge(config, ledger)
    retriever = open_retriever(rag, say, environment)
    return RagService(rag, ledger, open_gate(config), retriever, generator, say, judge=judge, reduce=reduced)
