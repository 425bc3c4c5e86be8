"""The gate: `Gate(config).decide(prompt, response, documents)`."""

from collections.abc import Callable, Sequence

from areopage.cases.records import Document
from areopage.gate.config import GateConfig
from areopage.gate.records import Decision, SentenceJudgment


class Gate:
    """Decides whether an answer may leave. Holds no state but its configuration; safe to use from several threads."""

    def __init__(self, config: GateConfig, *, clock: Callable[[], float] | None = None) -> None:
        """Args:
        clock: seconds, ever growing; with one each signal tells what it took.
        """
        raise NotImplementedError

    @property
    def version(self) -> str:
        """A fingerprint (12 hexadecimal digits) of the rules, thresholds, weights and the program's version."""
        raise NotImplementedError

    def decide(self, prompt: str, response: str, documents: Sequence[Document]) -> Decision:
        """Say what becomes of an answer.

        Args:
            documents: as the retriever ranked them, `score` in [0, 1]; documents without any score leave the rules on
                confidence and relevance aside.
        """
        raise NotImplementedError

    def resolve(self, decision: Decision, judgments: Sequence[SentenceJudgment]) -> Decision:
        """Settle a decision of the grey band with what a judge said of its doubtful sentences.

        One sentence that is not supported holds the answer back; all supported delivers it; anything missing is settled by
        `GateConfig.unsettled`. A decision that needs no judge comes back as it is.
        """
        raise NotImplementedError
