"""Recorded answers in place of a model: `replay:PATH`, a JSON Lines file.

Each line holds `text`, the answer, and says which calls it answers; what it leaves out may be anything:

    {"case_id": "12", "asked": "judge_a", "criterion": "safety.hate.discriminatory_language", "pass_index": 1, "text": "..."}
    {"prompt": "Why is the sky blue?", "asked": "target", "criterion": "", "text": "Because ..."}

`case_id` or `prompt` must stand there. `criterion` is an id, a path without version, or "" where a target answers.
`finish_reason`, `prompt_tokens`, `completion_tokens` and `seconds` are handed on where they are recorded.
A call gets the line that agrees with it on every field the line gives; of several, the one that gives most
(then case before prompt, id before path), then the first in the file.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from areopage.errors import CallRejected, ModelError
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema, Subject
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings


class RecordedLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a recording; None means that the line does not say."""

    text: str
    case_id: str | None = None
    prompt: str | None = None
    asked: str | None = None
    criterion: str | None = None
    pass_index: int | None = None
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for a line that would answer every call."""
        if self.case_id is None and self.prompt is None:
            raise ValueError("it names no call: write case_id or prompt")


class _Key(NamedTuple):
    """What a line says of the calls that it answers."""

    case_id: str | None
    prompt: str | None
    asked: str | None
    criterion: str | None
    pass_index: int | None


class Recording(Struct, frozen=True, kw_only=True):
    """A file's lines by what they answer; `duplicates` counts lines that say the same as an earlier one and are not used."""

    lines: dict[_Key, RecordedLine]
    duplicates: int
    digest: str

    def scopes(self) -> dict[str, tuple[str, ...]]:
        """The criteria recorded of each judge that is named; a line that names no criterion leaves its judge unbounded."""
        found: dict[str, dict[str, None]] = {}
        unbounded: set[str] = set()
        for key in self.lines:
            if key.asked is not None and key.criterion:
                found.setdefault(key.asked, {})[key.criterion] = None
            elif key.asked is not None and key.criterion is None:
                unbounded.add(key.asked)
        return {judge: tuple(criteria) for judge, criteria in found.items() if judge not in unbounded}

    def find(self, subject: Subject) -> RecordedLine | None:
        """The line that answers a call, if any."""
        return next((self.lines[key] for key in _keys(subject) if key in self.lines), None)


def read_recording(path: Path) -> Recording:
    """Read and index a recording.

    Raises:
        ModelError: the file cannot be read, or a line is wrong: file and line are named.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: the recording cannot be read ({error.strerror}): name a JSON Lines file") from error
    decoder = msgspec.json.Decoder(RecordedLine)
    lines: dict[_Key, RecordedLine] = {}
    duplicates = 0
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ModelError(f"{path}:{number}: not a line of a recording: {error}") from error
        prompt = None if line.prompt is None else line.prompt.strip()
        key = _Key(line.case_id, prompt, line.asked, line.criterion, line.pass_index)
        duplicates += key in lines
        lines.setdefault(key, line)
    return Recording(lines=lines, duplicates=duplicates, digest=hashlib.sha256(content).hexdigest())


def _keys(subject: Subject) -> Iterator[_Key]:
    """Every key that agrees with a call, those that say most first."""
    prompt = subject.case.prompt_text.strip()
    path = subject.criterion.partition("__v")[0]
    cases = [(subject.case.id, prompt), (subject.case.id, None), (None, prompt)]
    criteria = [*dict.fromkeys((subject.criterion, path)), None]
    keys = [
        _Key(case_id, text, asked, criterion, pass_index)
        for (case_id, text), asked, criterion, pass_index in product(
            cases, (subject.asked, None), criteria, (subject.pass_index, None)
        )
    ]
    # The sort is stable: among keys that say as much, the order above decides.
    return iter(sorted(keys, key=lambda key: sum(field is None for field in key)))


def open_model(reference: ModelReference, settings: ModelSettings) -> "ReplayModel":
    """Open a recording; it is read at the first check or call.

    A relative path starts from the suite's folder; ~ is the user's home.
    """
    return ReplayModel(reference, settings.base_dir / Path(reference.model).expanduser())


class ReplayModel:
    """Answers from a recording. See `areopage.models.port.LanguageModel`."""

    max_concurrency: int | None = None

    def __init__(self, reference: ModelReference, path: Path) -> None:
        """Answer from the file at `path`."""
        self.reference = reference
        self._path = path
        self._recording: Recording | None = None
        self._reading = asyncio.Lock()

    async def check(self) -> ModelStatus:
        """Read the file; the digest is the SHA-256 of its bytes. A judge is replayed on the criteria it was asked about.

        Raises:
            ModelError: see `read_recording`.
        """
        recording = await self.recording()
        return ModelStatus(digest=recording.digest, recorded=recording.scopes())

    async def recording(self) -> Recording:
        """The file's lines, read once."""
        async with self._reading:
            if self._recording is None:
                self._recording = await asyncio.to_thread(read_recording, self._path)
            return self._recording

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, subject: Subject | None = None
    ) -> Completion:
        """Give the recorded answer to the subject; messages, options and schema do not matter.

        Raises:
            CallRejected: nothing recorded agrees with the call.
            ModelError: see `read_recording`.
        """
        if subject is None:
            raise CallRejected(f"{self.reference} answers for a case and was given none")
        line = (await self.recording()).find(subject)
        if line is None:
            criterion = f", criterion {subject.criterion}" if subject.criterion else ""
            raise CallRejected(
                f"nothing recorded in {self._path} for case {subject.case.id!r}{criterion}, pass {subject.pass_index}, "
                f"asked of {subject.asked!r}"
            )
        return Completion(
            text=line.text,
            finish_reason=line.finish_reason,
            prompt_tokens=line.prompt_tokens,
            completion_tokens=line.completion_tokens,
            seconds=line.seconds,
        )

    async def aclose(self) -> None:
        """Nothing is held."""
