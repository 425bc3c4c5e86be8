"""A sample of answers: the cases that a test puts to its target, and what the target answers."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from areopage.cases import Case, load_dataset
from areopage.errors import UserError
from areopage.models import refuse_in_loop
from areopage.monitor import Documents, Prompt, case_of
from areopage.suites import Suite, choose_language

TargetReply = str | tuple[str, Documents]
"""What a target returns: its answer, or its answer with the documents that it rests on."""

AnswerFunction = Callable[[str], TargetReply | Awaitable[TargetReply]]
"""From a prompt to an answer."""

_AT_ONCE = 8


class AnswerSample:
    """Cases, and the answers to them in the order in which they came."""

    def __init__(self, cases: Callable[[], Sequence[Case]]) -> None:
        """Args:
        cases: reads the cases, when they are first asked for.
        """
        self._read = cases
        self._cases: tuple[Case, ...] | None = None
        self.answered: list[Case] = []
        """The cases with their answers."""
        self.unanswered: list[str] = []
        """The ids of the cases whose answer is empty."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of the dataset; answers that it holds are left out.

        Raises:
            UserError: the dataset cannot be read.
        """
        if self._cases is None:
            self._cases = tuple(structs.replace(case, response=None) for case in self._read())
        return self._cases

    def ask(self, target: AnswerFunction, *, repeats: int = 1) -> None:
        """Put each case to a target and keep its answers; what it raises ends the test.

        Args:
            target: a function of a prompt, or a coroutine function; several calls of the latter are open at once.
            repeats: how often each case is put to it.

        Raises:
            UserError: the dataset cannot be read, or the target returns neither a text nor a text with documents.
        """
        if inspect.iscoroutinefunction(target):
            refuse_in_loop("ask", "await sample.ask_async(target)")
            asyncio.run(self.ask_async(target, repeats=repeats))
            return
        for case in self._repeated(repeats):
            self._keep(case, target(case.prompt_text))

    async def ask_async(self, target: Callable[[str], Awaitable[TargetReply]], *, repeats: int = 1) -> None:
        """As `ask`, in the event loop that runs."""
        room = asyncio.Semaphore(_AT_ONCE)

        async def asked(case: Case) -> TargetReply:
            async with room:
                return await target(case.prompt_text)

        cases = self._repeated(repeats)
        for case, reply in zip(cases, await asyncio.gather(*map(asked, cases)), strict=True):
            self._keep(case, reply)

    def add(self, prompt: Prompt | Case, response: str, documents: Documents = None, *, id: str = "") -> None:
        """Add one answer.

        Args:
            prompt: what was asked, or the case.
            id: what the case is called; a baseline is compared by it. "" makes a name of the prompt.

        Raises:
            UserError: the answer or a document is no text.
        """
        if isinstance(prompt, Case):
            self._keep(prompt, (response, documents))
            return
        asked = case_of(prompt, "", id=id)
        self._keep(structs.replace(asked, response=None), (response, documents))

    def _repeated(self, repeats: int) -> list[Case]:
        if repeats < 1:
            raise UserError(f"repeats={repeats}: give a number from 1 on")
        return [case for _ in range(repeats) for case in self.cases]

    def _keep(self, case: Case, reply: Any) -> None:
        response, documents = reply if isinstance(reply, tuple) and len(reply) == 2 else (reply, None)
        made = case_of(case.prompt if isinstance(case.prompt, str) else case.turns, response, documents, id=case.id)
        taken = {answer.id for answer in self.answered} | set(self.unanswered)
        number, place = 1, case.id
        while place in taken:  # each answer to a case has an id of its own: `moon`, `moon#2`
            number += 1
            place = f"{case.id}#{number}"
        if not response.strip():
            self.unanswered.append(place)
            return
        self.answered.append(structs.replace(case, id=place, response=made.response, documents=made.documents or case.documents))


def cases_of(suite: Suite, datasets: Sequence[Path], language: str | None) -> tuple[Case, ...]:
    """The cases of datasets, or of the suite's own where none is named.

    Raises:
        UserError: there is no dataset, or it cannot be read.
    """
    chosen = choose_language(suite, language)
    paths = tuple(datasets) or suite.datasets(chosen)
    if not paths:
        raise UserError(f"the suite {suite.name} has no dataset of its own in {chosen!r}: give dataset=FILE")
    default = suite.config.validation.default_maturity if suite.personas(chosen) else ""
    return load_dataset(paths, default_maturity=default).cases


def sample_lines(answered: Sequence[Case]) -> bytes:
    """A dataset of the answers, one JSON object to a line, as `load_dataset` reads it."""
    lines: list[bytes] = []
    for case in answered:
        fields = {name: value for name, value in structs.asdict(case).items() if value and name not in ("metadata", "child")}
        lines.append(msgspec.json.encode({**case.metadata, **fields}) + b"\n")
    return b"".join(lines)
