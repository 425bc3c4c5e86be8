"""The pipeline as one object: a question in, an answer out, everything noted."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from areopage.gate.decide import Gate
from areopage.ledger.store import Ledger
from areopage.rag.config import RagConfig
from areopage.rag.records import ChatAnswer, ChatQuestion, Generator, Retriever


class RagService:
    """Answers questions through the graph, with cache, ledger and traces around it. Safe for many questions at once."""

    def __init__(
        self,
        config: RagConfig,
        ledger: Ledger,
        gate: Gate,
        retriever: Retriever,
        generator: Generator,
        say: Callable[[str], None],
    ) -> None:
        """Args:
        say: gets one line for each answer (chosen_mode, confidence, response_lang, sources_filter).
        """
        raise NotImplementedError

    async def answer(self, question: ChatQuestion) -> ChatAnswer:
        """Answer a question; the exchange is in the ledger when this returns.

        Raises:
            UserError: unknown collection, or a store that cannot be reached.
            CallError: the model did not answer.
        """
        raise NotImplementedError

    def stream(self, question: ChatQuestion) -> AsyncIterator[dict[str, Any]]:
        """The same, as events: {"node": name, "state": what the node changed} for each node, at last {"answer": ChatAnswer}."""
        raise NotImplementedError

    def answer_sync(self, question: ChatQuestion) -> ChatAnswer:
        """`answer` for programs without an event loop; never call it inside one."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Let go of everything."""
        raise NotImplementedError


def open_service(config: RagConfig, ledger: Ledger, say: Callable[[str], None]) -> RagService:
    """The service that a configuration describes.

    Raises:
        ConfigError: a value is wrong.
        MissingExtra: a part is not installed.
    """
    raise NotImplementedError
