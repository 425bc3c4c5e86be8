"""Recorded answers in place of a model: `replay:PATH`, a JSON Lines file.

Each line holds `text`, the answer, and names the calls it answers; a field that it leaves out may have any value:

    {"case_id": "12", "asked": "judge_a", "criterion": "safety.hate.discriminatory_language", "pass_index": 1, "text": "..."}
    {"prompt": "Why is the sky blue?", "asked": "target", "criterion": "", "text": "Because ..."}

`case_id` or `prompt` is required. `response` is the answer that was judged: where it is given, the line says nothing of another
answer. `turn` is the number of the reply that was judged, where each reply of a conversation is.
`asked` is a judge's name, or "target" for the model that answers. `criterion` is an id, a path without version, or "" where a
target answers. Of a judge that is code, a line holds `score`, `explanation` and `evidence_extracts` in place of `text`, or
`"applicable": false` and `explanation`. `model` is the model that answered, and `unfit` why it is unfit to judge: a judge that
is replayed is as fit as the recorded one. `finish_reason`, `prompt_tokens`, `completion_tokens` and `seconds` are returned
where they are recorded. A call gets the line that agrees with it on every field the line has; of several, the one that has most
(then case before prompt, id before path), then the first in the file.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from areopage.cases import Case
from areopage.errors import CallRejected, ModelError
from areopage.models.port import Completion, Message, ModelStatus, Options, Schema, drop_impossible_counts
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings

TARGET = "target"


class RecordedLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a recording; None means that the line does not have the field."""

    text: str | None = None
    score: float | None = None
    applicable: bool = True
    explanation: str = ""
    evidence_extracts: tuple[str, ...] = ()
    case_id: str | None = None
    prompt: str | None = None
    asked: str | None = None
    criterion: str | None = None
    pass_index: int | None = None
    turn: int | None = None
    response: str | None = None
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    model: str = ""
    unfit: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a line that would answer every call, or none."""
        if (self.text is not None) + (self.score is not None) + (not self.applicable) != 1:
            raise ValueError("it holds no answer, or two: write `text`, or the `score` of a judge that is code")
        drop_impossible_counts(self)
        if self.case_id is None and self.prompt is None:
            raise ValueError("it names no call: write case_id or prompt")


class RecordedOrigin(NamedTuple):
    """The model whose answers are recorded, and why it is unfit to judge; "" where the recording does not say."""

    model: str = ""
    unfit: str = ""


class _LineKey(NamedTuple):
    case_id: str | None
    prompt: str | None
    asked: str | None
    criterion: str | None
    pass_index: int | None
    turn: int | None = None
    response: str | None = None


class Recording(Struct, frozen=True, kw_only=True):
    """A file's lines by what they answer; the first of several that say the same."""

    lines: dict[_LineKey, RecordedLine]
    digest: str

    def scopes(self) -> dict[str, tuple[str, ...]]:
        """The criteria recorded of each judge that is named; a line that names no criterion leaves its judge unbounded."""
        criteria_of: dict[str, dict[str, None]] = {}
        unbounded: set[str] = set()
        for key in self.lines:
            if key.asked is not None and key.criterion:
                criteria_of.setdefault(key.asked, {})[key.criterion] = None
            elif key.asked is not None and key.criterion is None:
                unbounded.add(key.asked)
        return {judge: tuple(criteria) for judge, criteria in criteria_of.items() if judge not in unbounded}

    def passes(self) -> dict[str, int]:
        """The last recorded pass of each judge that is named; a line that names no pass leaves its judge unbounded."""
        last_of: dict[str, int] = {}
        unbounded = {key.asked for key in self.lines if key.pass_index is None}
        for key in self.lines:
            if key.asked is not None and key.pass_index is not None:
                last_of[key.asked] = max(last_of.get(key.asked, 0), key.pass_index)
        return {judge: last for judge, last in last_of.items() if judge not in unbounded}

    def origins(self) -> dict[str, RecordedOrigin]:
        """Whose answers each judge that is named repeats; under "" those that any other judge repeats."""
        origins: dict[str, RecordedOrigin] = {}
        for asked in dict.fromkeys(["", *(key.asked or "" for key in self.lines)]):
            lines = [line for key, line in self.lines.items() if key.asked in (asked, None)]
            models, reasons = ({recorded.model for recorded in lines} - {""}, {recorded.unfit for recorded in lines} - {""})
            origins[asked] = RecordedOrigin(", ".join(sorted(models)), "; ".join(sorted(reasons)))
        return origins

    def find(
        self, case: Case, asked: str, criterion: str = "", pass_index: int = 1, turn: int | None = None
    ) -> RecordedLine | None:
        """The line that answers a call, if any."""
        response = None if case.response is None else case.response.strip()
        prompt = case.prompt_text.strip()
        keys = [
            _LineKey(case_id, text, *others)
            for (case_id, text), *others in product(
                [(case.id, prompt), (case.id, None), (None, prompt)],
                (asked, None),
                [*dict.fromkeys((criterion, criterion.partition("__v")[0])), None],
                (pass_index, None),
                dict.fromkeys((turn, None)),
                dict.fromkeys((response, None)),
            )
        ]
        # Those with most fields come first. The sort is stable: among keys with as many fields, the order above decides.
        keys.sort(key=lambda key: sum(field is None for field in key))
        return next((self.lines[key] for key in keys if key in self.lines), None)


class RecordingFile:
    """A recording on disk, read once, at its first use."""

    def __init__(self, reference: ModelReference, settings: ModelSettings) -> None:
        """The file that a reference names: a relative path starts from the suite's folder; ~ is the user's home."""
        self.path = settings.base_dir / Path(reference.model).expanduser()
        self._recording: Recording | None = None
        self._reading = asyncio.Lock()

    async def read(self) -> Recording:
        """The file's lines."""
        async with self._reading:
            if self._recording is None:
                self._recording = await asyncio.to_thread(read_recording, self.path)
            return self._recording


def read_recording(path: Path) -> Recording:
    """Read and index a recording."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: the recording cannot be read ({error.strerror}): name a JSON Lines file") from error
    decoder = msgspec.json.Decoder(RecordedLine)
    lines: dict[_LineKey, RecordedLine] = {}
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ModelError(f"{path}:{number}: not a line of a recording: {error}") from error
        prompt, response = (None if text is None else text.strip() for text in (line.prompt, line.response))
        key = _LineKey(line.case_id, prompt, line.asked, line.criterion, line.pass_index, line.turn, response)
        lines.setdefault(key, line)
    return Recording(lines=lines, digest=hashlib.sha256(content).hexdigest())


def open_model(reference: ModelReference, settings: ModelSettings) -> "ReplayModel":
    """Open a recording; it is read at the first check or call."""
    return ReplayModel(reference, RecordingFile(reference, settings))


class ReplayModel:
    """A target that answers from a recording. See `areopage.models.port.LanguageModel`."""

    max_concurrency: int | None = None

    def __init__(self, reference: ModelReference, file: RecordingFile) -> None:
        self.reference = reference
        self._file = file

    async def check(self) -> ModelStatus:
        """Read the file; the digest is the SHA-256 of its bytes."""
        return ModelStatus(digest=(await self._file.read()).digest)

    async def generate(
        self, messages: Sequence[Message], options: Options, schema: Schema | None = None, *, case: Case | None = None
    ) -> Completion:
        """Return the recorded answer to the case; messages, options and schema do not matter."""
        if case is None:
            raise CallRejected(f"{self.reference} answers for a case and was given none")
        line = (await self._file.read()).find(case, TARGET)
        if line is None or line.text is None:
            raise CallRejected(f"nothing recorded in {self._file.path} for case {case.id!r}, asked of {TARGET!r}")
        return Completion(
            text=line.text,
            finish_reason=line.finish_reason,
            prompt_tokens=line.prompt_tokens,
            completion_tokens=line.completion_tokens,
            seconds=line.seconds,
        )

    async def aclose(self) -> None:
        """Nothing is held."""
