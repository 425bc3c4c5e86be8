"""The gate with all that may settle its decisions: what people said of equal answers, and the judge of the grey band."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Self

from msgspec import Struct, structs

from areopage.cases import Document, LooseDocuments, records_of
from areopage.checking.judging import Judged, SentenceJudge
from areopage.gate import Decision, Gate, asking_about_near_copies, settled_by_labels
from areopage.ledger import Ledger
from areopage.models import OwnLoop

LONG = 30_000  # characters from which a decision would hold the event loop up: it goes to a thread


class Checked(Struct, frozen=True, kw_only=True):
    """A decision, with the judgments that were asked for."""

    decision: Decision
    judged: Judged = Judged()


class Checker:
    """Decides on answers; safe for concurrent use, from any event loop or thread.

    People's labels of an equal answer come before the rules, and the rules before the judge.
    """

    def __init__(self, gate: Gate, *, ledger: Ledger | None = None, judge: SentenceJudge | None = None) -> None:
        """Args:
        ledger: holds the labels; None: there are none.
        judge: settles the grey band, and says whether near copies are supported; None: a decision there says `needs_judge`.
        """
        self.gate, self._judge = gate, judge
        self._labels = ledger.labels if ledger is not None else None
        self._guard = threading.Lock()
        self._own_loop: OwnLoop | None = None

    async def check(
        self,
        prompt: str,
        response: str,
        documents: LooseDocuments,
        *,
        collection: str = "",
        language: str = "",
        judge: bool = True,
        keep: bool = True,
    ) -> Checked:
        """Decide on an answer.

        Args:
            documents: as `Gate.decide` takes them.
            collection: labels of answers in this collection count.
            language: of the judge's prompt where that of the response cannot be told.
            judge: whether the judge may be asked; it has the configured seconds, and what it does not say in time is missing.
            keep: store the judgments.

        Raises:
            DatasetError: one of the documents is none.
            StorageError: the ledger cannot be read.
        """
        documents = records_of(documents)
        decision = await decided(self.gate, prompt, response, documents)
        if self._labels is not None and decision.verdict != "fallback":
            said = await asyncio.to_thread(self._labels.supported, collection, prompt, response, documents)
            decision = decision if said is None else settled_by_labels(decision, supported=said)
        if not judge or self._judge is None:
            return Checked(decision=decision)
        decision = asking_about_near_copies(decision)
        if not decision.needs_judge:
            return Checked(decision=decision)
        spoken = decision.response_lang or language
        judged = await self._judge.judge(prompt, response, tuple(documents), decision, spoken, keep=keep)
        resolved = self.gate.resolve(decision, judged.sentences)
        return Checked(decision=structs.replace(resolved, judge=judged.judge), judged=judged)

    def check_sync(
        self, prompt: str, response: str, documents: LooseDocuments, *, collection: str = "", judge: bool = True
    ) -> Decision:
        """Run `check` and wait for its decision; inside an event loop it holds the loop up."""
        with self._guard:
            if self._own_loop is None:
                self._own_loop = OwnLoop("gate-checker")
            loop = self._own_loop
        return loop.wait_for(self.check(prompt, response, documents, collection=collection, judge=judge)).decision

    async def aclose(self) -> None:
        """Close the judge."""
        if self._judge is not None:
            await self._judge.aclose()
        await asyncio.to_thread(self._stop, None)

    def close(self) -> None:
        """Close the judge; only where no event loop runs."""
        self._stop(self._judge)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stop(self, judge: SentenceJudge | None) -> None:
        with self._guard:
            loop, self._own_loop = self._own_loop, None
        if loop is not None:
            loop.stop(judge.aclose if judge is not None else _nothing)


async def decided(gate: Gate, prompt: str, response: str, documents: Sequence[Document]) -> Decision:
    """Compute a decision; long texts use a thread."""
    if len(response) + sum(len(document.text) for document in documents) > LONG:
        return await asyncio.to_thread(gate.decide, prompt, response, documents)
    return gate.decide(prompt, response, documents)


async def _nothing() -> None:
    """There is nothing to close."""
