"""The API's routes: their OpenAPI schema, generated from msgspec records, and the parameters that they accept."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import msgspec
from fastapi import Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from areopage.server.api.records import Faulty
from areopage.server.errors import Refusal

NameQuery = Annotated[str | None, Query(max_length=128)]
"""A parameter that names a source, a variant or a collection."""
REFERENCE = "#/components/schemas/{name}"
FAULTS = {
    400: "The body is not valid JSON.",
    401: "The API key is missing or invalid.",
    403: "The key lacks the permission, or a page of another site sent the request.",
    404: "The answer or the collection does not exist.",
    409: "The answer is already settled or was never held, or another answer has its id.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer for this host.",
    422: "A field is invalid; the message names it.",
    429: "Too many answers are being generated for this key: retry later.",
    502: "The model or the document store is unreachable: retry later.",
    503: "The ledger is unreachable: retry later. Or the server has no pipeline.",
    504: "The model did not respond in time: retry later.",
}
LONGEST_NAME = 64
SYNONYMS = (("prompt", "question"), ("response", "answer"))
"""The two names of a field, of which a request has one."""


class ApiRoute(APIRoute):
    """A route that refuses parameters of the address which it does not declare."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind a check of the parameters' names."""
        handle, declared = super().get_route_handler(), [field.alias for field in self.dependant.query_params]

        async def checked(request: Request) -> Response:
            unknown = next((name for name in request.query_params if name not in declared), None)
            if unknown is not None:
                allowed = f"use {', '.join(declared)}" if declared else "this route has none"
                raise Refusal(422, "invalid", f"unknown parameter {unknown[:LONGEST_NAME]!r}: {allowed}")
            return await handle(request)

        return checked


def rounded(figure: float | None) -> float | None:
    """A figure with six decimals."""
    return None if figure is None else round(figure, 6)


def json_response(record: Any, status: int = 200) -> Response:
    """Encode a record as a JSON response."""
    return Response(msgspec.json.encode(record), status, media_type="application/json")


def answers_with(record: Any, status: int = 200, *more: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: a record, the common faults, and the given ones."""
    return {status: {"description": "Success.", "content": content_of(record)}, **faults(401, 403, 421, 422, 503, *more)}


def faults(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of the given faults."""
    return {status: {"description": FAULTS[status], "content": content_of(Faulty)} for status in statuses}


def takes(*records: Any) -> dict[str, Any]:
    """The `openapi_extra` of a route whose body is one of these records."""
    schemas = [_schema_of(record) for record in records]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def content_of(record: Any) -> dict[str, Any]:
    """The content of a response with a record."""
    return {"application/json": {"schema": _schema_of(record)}}


def _schema_of(record: Any) -> dict[str, Any]:
    """A reference to a record's schema."""
    return msgspec.json.schema_components([record], ref_template=REFERENCE)[0][0]


def components(records: tuple[Any, ...]) -> dict[str, Any]:
    """The schemas of records and their nested records, by name."""
    schemas = msgspec.json.schema_components(records, ref_template=REFERENCE)[1]
    either = [[{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names] for names in SYNONYMS]
    for schema in schemas.values():
        if {name for names in SYNONYMS for name in names} <= schema.get("properties", {}).keys():
            schema["allOf"] = [{"oneOf": choices} for choices in either]
    return schemas
