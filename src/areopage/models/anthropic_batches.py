"""The Message Batches API of Anthropic: `/v1/messages/batches`, as documented in autumn 2026.

A batch is created by one request that holds all calls: there is no file, no metadata and no idempotency key. Each call carries an
id of at most 64 characters, which comes back with its result. It holds the call's key and a part of the batch's token, so that a
batch whose creation was interrupted is known by its results. The list shows how many calls a batch has and when it was created:
others of the same size are waited for until their results tell.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from areopage.errors import CallRejected
from areopage.models.anthropic import AnthropicModel
from areopage.models.batches import MOST_RESULT_BYTES, BatchLine, BatchService, BatchState, FoundBatches, SearchedBatch, path_part
from areopage.models.error_bodies import ErrorBody, error_of
from areopage.models.port import Message, Options, Schema
from areopage.models.retry import Calls

_PATH = "/v1/messages/batches"
_PAGE = 1000
_HOUR = 3_600.0
"""Seconds that the clocks of this machine and of the provider may differ by."""
_KEY_CHARACTERS = 43  # of 32 bytes
_TOKEN_CHARACTERS = 20
_STATES = {"in_progress": "in_progress", "canceling": "cancelling"}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class _MessageCounts(Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0


class _MessageBatch(Struct):
    id: str
    processing_status: str = ""
    request_counts: _MessageCounts | None = None
    created_at: str = ""
    cancel_initiated_at: str | None = None
    archived_at: str | None = None

    @property
    def size(self) -> int:
        """How many calls it has."""
        counts = self.request_counts or _MessageCounts()
        return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired

    @property
    def moment(self) -> float:
        """When it was created, in seconds of the epoch; 0 where that cannot be read."""
        try:
            created = datetime.fromisoformat(self.created_at)
        except ValueError:
            return 0.0
        return created.replace(tzinfo=created.tzinfo or UTC).timestamp()


class _MessageBatchPage(Struct):
    data: list[_MessageBatch] | None = None
    has_more: bool = False


class _MessageResult(Struct):
    type: str = ""
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None


class _MessageResultLine(Struct):
    custom_id: str
    result: _MessageResult


class AnthropicBatches(BatchService):
    """The batch service of one model's server; see `BatchService`."""

    most_calls = 100_000
    most_bytes = 64_000_000  # the API takes 256 MB; the request is built in memory
    fenced = False
    path = _PATH
    batch_type, list_type, line_type = _MessageBatch, _MessageBatchPage, _MessageResultLine
    after = "after_id"

    def __init__(self, model: AnthropicModel, calls: Calls) -> None:
        """Use a model's server; see `BatchService`."""
        super().__init__(model, calls)
        self._explained = model.explained

    def line(self, key: str, messages: Sequence[Message], options: Options, schema: Schema | None) -> bytes:
        """One call of a batch; see `BatchService.line`. `key` stands first, where `create` finds it."""
        return key.encode() + b" " + self._encoded(self._model.body(messages, options, schema)) + b"\n"

    async def upload(self, token: str, file: BinaryIO) -> str:
        """There are no files: the request that creates the batch holds the calls."""
        return ""

    async def withdraw(self, token: str) -> None:
        """Nothing was uploaded."""

    async def create(self, token: str, file_id: str, file: BinaryIO) -> BatchState:
        """Ask once for the creation of a batch; see `BatchService.create`."""
        file.seek(0)
        requests = []
        for line in file:
            key, _, body = line.rstrip(b"\n").partition(b" ")
            # the id of a call: its key, and a part of the batch's token
            id = urlsafe_b64encode(bytes.fromhex(key.decode())).rstrip(b"=") + b"-" + token[:_TOKEN_CHARACTERS].encode()
            requests.append(b'{"custom_id":"%s","params":%s}' % (id, body))
        return self._state_of(await self._server.post(_PATH, b'{"requests":[' + b",".join(requests) + b"]}", _MessageBatch))

    async def find(self, searched: SearchedBatch) -> FoundBatches:
        """Look for a batch: those that have ended tell by their results; the others may be it if they have its size."""
        since, alike = searched.since - _HOUR, list[_MessageBatch]()
        async for page in self._pages(_PATH, [("limit", str(_PAGE))], _MessageBatchPage):
            alike += [batch for batch in page if batch.moment >= since and batch.size == searched.calls]
            if page and page[-1].moment < since:  # the list begins with the newest
                break
        certain: list[_MessageBatch] = []
        unsettled = 0
        for batch in alike:
            if batch.processing_status != "ended":
                unsettled += 1
            elif batch.archived_at is None and await self._carries(batch.id, searched.token):
                certain.append(batch)
        certain.sort(key=lambda batch: batch.moment)
        return FoundBatches(certain=tuple(map(self._state_of, certain)), unsettled=0 if certain else unsettled)

    async def _carries(self, batch_id: str, token: str) -> bool:
        """Whether the results of a batch are those of calls with this token."""
        with TemporaryFile() as file:
            path = self._results_path(batch_id)
            await self._calls.make(lambda: self._server.download(path, file, MOST_RESULT_BYTES))
            file.seek(0)
            for line in file:
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    if _parts_of(msgspec.json.decode(line, type=_MessageResultLine).custom_id)[1] == token[:_TOKEN_CHARACTERS]:
                        return True
        return False

    def _results_path(self, file_id: str) -> str:
        """The id of a batch's file is its own. The address that the server states is not followed."""
        return f"{_PATH}/{path_part(file_id)}/results"

    def _read_line(self, path: str, line: _MessageResultLine) -> BatchLine:
        key, _ = _parts_of(line.custom_id)
        if line.result.type == "succeeded":
            return BatchLine(key=key, reply=bytes(line.result.message))
        if line.result.type != "errored":
            why = f"the call was {line.result.type[:20]}"
            return BatchLine(key=key, fault=self._server.fault(path, HTTPStatus.SERVICE_UNAVAILABLE, why))
        error = line.result.error
        inner = error.get("error") if isinstance(error, dict) else None
        body: ErrorBody = error_of(error if isinstance(inner, dict) else {"error": error})
        fault = self._server.fault(path, _STATUSES.get(body.code, 500), body.message, body=body)
        return BatchLine(key=key, fault=self._explained(fault))

    async def discard(self, token: str, batch_id: str) -> None:
        """Delete a batch that has ended, with its prompts and its results."""
        try:
            await self._delete(f"{_PATH}/{path_part(batch_id)}")
        except CallRejected as fault:
            if fault.hopeless:
                raise

    def _state_of(self, batch: _MessageBatch) -> BatchState:
        counts = batch.request_counts or _MessageCounts()
        ended = batch.processing_status == "ended"
        status = _STATES.get(batch.processing_status, batch.processing_status)
        if ended:
            status = (
                "cancelled" if batch.cancel_initiated_at and counts.canceled else "expired" if counts.expired else "completed"
            )
        return BatchState(
            id=batch.id,
            status=status,
            total=batch.size,
            completed=counts.succeeded,
            failed=counts.errored + counts.canceled + counts.expired,
            files=(batch.id,) if ended else (),
        )


def _parts_of(call_id: str) -> tuple[str, str]:
    """The key of a call and the part of its batch's token; "" where an id is none of ours."""
    if len(call_id) != _KEY_CHARACTERS + 1 + _TOKEN_CHARACTERS or call_id[_KEY_CHARACTERS] != "-":
        return "", ""
    try:
        return urlsafe_b64decode(call_id[:_KEY_CHARACTERS] + "=").hex(), call_id[_KEY_CHARACTERS + 1 :]
    except ValueError:
        return "", ""
