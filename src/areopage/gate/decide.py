"""The gate: `Gate(config).decide(prompt, response, documents)`."""

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from areopage.cases import LooseDocuments, records_of
from areopage.gate.config import GateConfig
from areopage.gate.records import Decision, SentenceJudgment
from areopage.gate.rules_default import decide_default
from areopage.gate.rules_v1_1 import decide_v1_1
from areopage.gate.settle import settled
from areopage.version import __version__

VERSION_DIGITS = 12


class Gate:
    """Decides whether an answer may leave. Holds no state but its configuration; safe to use from several threads."""

    def __init__(self, config: GateConfig, *, clock: Callable[[], float] | None = None) -> None:
        """Args:
            clock: seconds, ever growing; with one each signal tells what it took.

        Raises:
            ValueError: the profile `default` has no grounding model, or thresholds that contradict each other.
        """
        bounds = config.thresholds
        if config.profile == "default" and config.grounding is None:
            raise ValueError("the profile default needs a grounding model: areopage.app.gate_rules.load_rules() has one")
        if bounds.deliver > bounds.hold:
            raise ValueError(f"thresholds: deliver ({bounds.deliver}) must not exceed hold ({bounds.hold})")
        self.config = config
        self._clock = clock
        content = msgspec.json.encode([__version__, config], order="deterministic")
        self._version = hashlib.sha256(content).hexdigest()[:VERSION_DIGITS]

    @property
    def version(self) -> str:
        """A fingerprint (12 hexadecimal digits) of the rules, thresholds, weights and the program's version."""
        return self._version

    def decide(self, prompt: str, response: str, documents: LooseDocuments) -> Decision:
        """Say what becomes of an answer.

        Args:
            documents: as the retriever ranked them, `score` in [0, 1]; documents without any score leave the rules on
                confidence and relevance aside. In the forms that `areopage.check_answer` takes.

        Raises:
            DatasetError: one of the documents is none.
        """
        records = records_of(documents)
        model = self.config.grounding
        if self.config.profile == "v1_1" or model is None:
            return decide_v1_1(self.config, self._version, prompt, response, records, self._clock)
        return decide_default(self.config, model, self._version, prompt, response, records, self._clock)

    def resolve(self, decision: Decision, judgments: Sequence[SentenceJudgment]) -> Decision:
        """Settle a decision of the grey band with what a judge said of its doubtful sentences.

        One sentence that is not supported holds the answer back; all supported delivers it; anything missing is settled by
        `GateConfig.unsettled`. A decision that needs no judge comes back as it is.
        """
        return settled(self.config, decision, judgments) if decision.needs_judge else decision
