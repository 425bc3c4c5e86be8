"""Batch services of the OpenAI protocol: a file of calls that the provider makes within a day, at a lower price.

Every request but the one that creates a batch may be made again. Creation is asked for once: a batch that may have been created
is found in the provider's list by its token or its file.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from areopage.errors import CallRejected
from areopage.models.batch_port import BatchLine, BatchState, FoundBatches, SearchedBatch, path_part
from areopage.models.batch_server import BatchServer
from areopage.models.error_bodies import error_of, read_error
from areopage.models.openai import OpenAIModel
from areopage.models.port import Completion, Message, Options, Schema

MOST_CALLS = 50_000
MOST_BYTES = 200_000_000
MOST_RESULT_BYTES = 4_000_000_000

_PATH = "/v1/chat/completions"
_TOKEN = "areopage"  # noqa: S105 - the name of a batch's token
_PAGE = 100
_DAY = 86_400


class _Counts(Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class _Error(Struct):
    code: str | None = None
    message: str | None = None
    line: int | None = None


class _Errors(Struct):
    data: list[_Error] | None = None


class _Batch(Struct):
    id: str
    status: str
    input_file_id: str = ""
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int = 0
    request_counts: _Counts | None = None
    errors: _Errors | None = None
    metadata: dict[str, Any] | None = None


class _Batches(Struct):
    data: list[_Batch] | None = None
    has_more: bool = False


class _File(Struct):
    id: str
    filename: str = ""


class _Files(Struct):
    data: list[_File] | None = None
    has_more: bool = False


class _Deleted(Struct):
    deleted: bool = True


class _LineResponse(Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(Struct):
    custom_id: str
    response: _LineResponse | None = None
    error: Any = None


class OpenAIBatches(BatchServer[OpenAIModel]):
    """The batch service of one model's server; see `BatchService`."""

    most_calls = MOST_CALLS
    most_bytes = MOST_BYTES
    fenced = True

    # --- calls

    def line(self, key: str, messages: Sequence[Message], options: Options, schema: Schema | None) -> bytes:
        """One call as a line of a batch's file.

        Raises:
            CallRejected: the prompt does not fit into the model's window, or cannot be written as JSON.
        """
        body = self._model.body(messages, options, schema)
        try:
            return msgspec.json.encode({"custom_id": key, "method": "POST", "url": _PATH, "body": body}) + b"\n"
        except (TypeError, ValueError) as error:
            raise CallRejected(f"{self._model.reference}: the request cannot be written as JSON") from error

    def completion(self, line: BatchLine, messages: Sequence[Message], options: Options) -> Completion:
        """Read an answer; see `OpenAIModel.read`.

        Raises:
            CallError: there is none.
        """
        if line.fault is not None:
            raise line.fault
        return self._model.read(line.reply, messages, options)

    # --- files

    async def upload(self, token: str, file: BinaryIO) -> str:
        """Upload the calls of a batch; returns the file's id."""
        fields = [("purpose", "batch")]
        sent = await self._make(lambda: self._server.upload("/files", fields, _file_name(token), file, _File))
        return sent.id

    async def withdraw(self, token: str) -> None:
        """Delete all files that were uploaded for a batch: it cannot be created any more."""
        for one in await self._listed("/files", [("purpose", "batch")], _Files, lambda page: page.data or []):
            if one.filename == _file_name(token):
                await self._delete(one.id)

    async def _delete(self, file_id: str) -> None:
        try:
            await self._make(lambda: self._server.delete(f"/files/{path_part(file_id)}", _Deleted))
        except CallRejected as fault:
            if fault.status != 404:
                raise

    async def results(self, file_id: str, file: BinaryIO) -> Iterator[BatchLine]:
        """Download what a batch brought.

        Args:
            file: where it is written; the lines are read from it.
        """
        path = f"/files/{path_part(file_id)}/content"
        await self._make(lambda: self._server.download(path, file, MOST_RESULT_BYTES))
        return self._lines(path, file, _Line, self._read_line)

    def _read_line(self, path: str, line: _Line) -> BatchLine:
        response = line.response
        if response is not None and 200 <= response.status_code < 300:
            return BatchLine(key=line.custom_id, reply=bytes(response.body))
        body = error_of({"error": line.error})
        if response is None:
            return BatchLine(key=line.custom_id, fault=self._server.fault(path, 503, body.message))
        told = read_error(bytes(response.body))
        told = told if told.message else body
        return BatchLine(key=line.custom_id, fault=self._server.fault(path, response.status_code, told.message, body=told))

    # --- batches

    async def check(self) -> None:
        """Make sure that the server has a batch service.

        Raises:
            ModelError: it has none.
        """
        await self._require("/batches", _Batches)

    async def create(self, token: str, file_id: str, file: BinaryIO) -> BatchState:
        """Ask once for the creation of a batch from its uploaded file; see `BatchService.create`."""
        body = {"input_file_id": file_id, "endpoint": _PATH, "completion_window": "24h", "metadata": {_TOKEN: token}}
        return _state(await self._server.post("/batches", body, _Batch))

    async def find(self, searched: SearchedBatch) -> FoundBatches:
        """Find the batches that were created for a token or from a file.

        Lists that begin with the newest are read up to the moment when creation was asked for.
        """
        token, file_id = searched.token, searched.file_id

        def passed(page: _Batches) -> bool:
            moments = [one.created_at for one in page.data or ()]
            newest_first = moments[0] > moments[-1] and all(one >= other for one, other in pairwise(moments))
            return newest_first and moments[0] < searched.since - _DAY

        listed = await self._listed("/batches", [("limit", str(_PAGE))], _Batches, lambda page: page.data or [], passed)
        found = [one for one in listed if (one.metadata or {}).get(_TOKEN) == token or (file_id and one.input_file_id == file_id)]
        return FoundBatches(certain=tuple(_state(one) for one in sorted(found, key=lambda one: one.created_at)))

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch."""
        return _state(await self._make(lambda: self._server.get(f"/batches/{path_part(batch_id)}", _Batch)))

    async def cancel(self, batch_id: str) -> BatchState:
        """Cancel a batch; what it has brought so far is kept."""
        return _state(await self._make(lambda: self._server.post(f"/batches/{path_part(batch_id)}/cancel", {}, _Batch)))

    async def discard(self, token: str, batch_id: str) -> None:
        """Delete the files of a batch."""
        await self.withdraw(token)

    async def _listed(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        into: type[Any],
        data: Callable[[Any], Sequence[Any]],
        passed: Callable[[Any], bool] = lambda page: False,
    ) -> list[Any]:
        """All pages of a list, up to one that `passed` says is the last of interest."""
        found: list[Any] = []
        seen, after = set[str](), ""
        while True:
            asked = [*query, *([("after", after)] if after else [])]
            page = await self._make(lambda asked=asked: self._server.ask(path, asked, into))  # type: ignore[misc]
            items = data(page)
            found += items
            if not page.has_more or not items or items[-1].id in seen or passed(page):
                return found
            after = items[-1].id
            seen.add(after)


def _state(batch: _Batch) -> BatchState:
    counts, errors = batch.request_counts or _Counts(), (batch.errors.data if batch.errors else None) or []
    return BatchState(
        id=batch.id,
        status=batch.status,
        file_id=batch.input_file_id,
        total=counts.total,
        completed=counts.completed,
        failed=counts.failed,
        codes=tuple(one.code or "" for one in errors),
        message=next((one.message for one in errors if one.message), ""),
        files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
    )


def _file_name(token: str) -> str:
    return f"areopage-{token}.jsonl"
