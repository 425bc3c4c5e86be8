"""Batch services of the OpenAI protocol: a file of calls that the provider makes within a day, at a lower price.

Every request but the one that creates a batch may be made again. Creation is asked for once: a batch that may have been created
is found in the provider's list by its token or its file.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from areopage.models.batches import BatchLine, BatchService, BatchState, FoundBatches, SearchedBatch, path_part
from areopage.models.error_bodies import error_of, read_error
from areopage.models.port import Message, Options, Schema

_PATH = "/v1/chat/completions"
_TOKEN = "areopage"  # noqa: S105 - the name of a batch's token
_PAGE = 100
_DAY = 86_400


class _OpenAICounts(Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class _OpenAIError(Struct):
    code: str | None = None
    message: str | None = None
    line: int | None = None


class _OpenAIErrors(Struct):
    data: list[_OpenAIError] | None = None


class _OpenAIBatch(Struct):
    id: str
    status: str
    input_file_id: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int = 0
    request_counts: _OpenAICounts | None = None
    errors: _OpenAIErrors | None = None
    metadata: dict[str, Any] | None = None


class _OpenAIBatchPage(Struct):
    data: list[_OpenAIBatch] | None = None
    has_more: bool = False


class _UploadedFile(Struct):
    id: str
    filename: str = ""


class _UploadedFilePage(Struct):
    data: list[_UploadedFile] | None = None
    has_more: bool = False


class _LineResponse(Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _OpenAIResultLine(Struct):
    custom_id: str
    response: _LineResponse | None = None
    error: Any = None


class OpenAIBatches(BatchService):
    """The batch service of one model's server; see `BatchService`."""

    most_calls = 50_000
    most_bytes = 200_000_000
    fenced = True
    path = "/batches"
    batch_type, list_type, line_type = _OpenAIBatch, _OpenAIBatchPage, _OpenAIResultLine
    after = "after"

    def line(self, key: str, messages: Sequence[Message], options: Options, schema: Schema | None) -> bytes:
        """One call as a line of a batch's file; see `BatchService.line`."""
        body = self._model.body(messages, options, schema)
        return self._encoded({"custom_id": key, "method": "POST", "url": _PATH, "body": body}) + b"\n"

    # --- files

    async def upload(self, token: str, file: BinaryIO) -> str:
        """Upload the calls of a batch; returns the file's id."""
        fields = [("purpose", "batch")]
        sent = await self._calls.make(lambda: self._server.upload("/files", fields, _file_name(token), file, _UploadedFile))
        return sent.id

    async def withdraw(self, token: str) -> None:
        """Delete all files that were uploaded for a batch: it cannot be created any more."""
        files = [file async for page in self._pages("/files", [("purpose", "batch")], _UploadedFilePage) for file in page]
        for file in files:
            if file.filename == _file_name(token):
                await self._delete(f"/files/{path_part(file.id)}")

    def _results_path(self, file_id: str) -> str:
        return f"/files/{path_part(file_id)}/content"

    def _read_line(self, path: str, line: _OpenAIResultLine) -> BatchLine:
        response = line.response
        if response is not None and 200 <= response.status_code < 300:
            return BatchLine(key=line.custom_id, reply=bytes(response.body))
        body = error_of({"error": line.error})
        if response is None:
            return BatchLine(key=line.custom_id, fault=self._server.fault(path, 503, body.message))
        stated = read_error(bytes(response.body))
        stated = stated if stated.message else body
        return BatchLine(key=line.custom_id, fault=self._server.fault(path, response.status_code, stated.message, body=stated))

    # --- batches

    async def create(self, token: str, file_id: str, file: BinaryIO) -> BatchState:
        """Ask once for the creation of a batch from its uploaded file; see `BatchService.create`."""
        body = {"input_file_id": file_id, "endpoint": _PATH, "completion_window": "24h", "metadata": {_TOKEN: token}}
        return self._state_of(await self._server.post("/batches", body, _OpenAIBatch))

    async def find(self, searched: SearchedBatch) -> FoundBatches:
        """Find the batches that were created for a token or from a file.

        Lists that begin with the newest are read up to the moment when creation was asked for.
        """
        token, file_id = searched.token, searched.file_id
        batches: list[_OpenAIBatch] = []
        async for page in self._pages("/batches", [("limit", str(_PAGE))], _OpenAIBatchPage):
            batches += [
                batch
                for batch in page
                if (batch.metadata or {}).get(_TOKEN) == token or (file_id and batch.input_file_id == file_id)
            ]
            moments = [batch.created_at for batch in page]
            newest_first = all(later >= earlier for later, earlier in pairwise(moments)) and moments[:1] != moments[-1:]
            if newest_first and moments[0] < searched.since - _DAY:
                break
        batches.sort(key=lambda batch: batch.created_at)
        return FoundBatches(certain=tuple(map(self._state_of, batches)))

    async def discard(self, token: str, batch_id: str) -> None:
        """Delete the files of a batch."""
        await self.withdraw(token)

    def _state_of(self, batch: _OpenAIBatch) -> BatchState:
        counts, errors = batch.request_counts or _OpenAICounts(), (batch.errors.data if batch.errors else None) or []
        return BatchState(
            id=batch.id,
            status=batch.status,
            file_id=batch.input_file_id,
            total=counts.total,
            completed=counts.completed,
            failed=counts.failed,
            codes=tuple(error.code or "" for error in errors),
            message=next((error.message for error in errors if error.message), ""),
            files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
        )


def _file_name(token: str) -> str:
    return f"areopage-{token}.jsonl"
