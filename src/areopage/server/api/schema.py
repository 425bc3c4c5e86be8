"""The OpenAPI schema of routes whose JSON is read and written by msgspec, which knows its own records best."""

from typing import Any

import msgspec
from starlette.responses import Response

from areopage.server.api.records import Faulty

REFERENCE = "#/components/schemas/{name}"
FAULTS = {
    400: "The JSON cannot be read.",
    401: "No key, or a wrong one.",
    403: "The key may not do this, or a page of another site sent it.",
    404: "There is no such answer, or no such collection.",
    409: "Somebody settled this answer before, or it was never held back.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not answer for this host.",
    422: "A field is wrong; the message says which.",
    502: "The model or the documents cannot be reached: try again later.",
    503: "The ledger cannot be reached: try again later. Or this server has no pipeline.",
    504: "The model did not answer in time: try again later.",
}
TWO_NAMED = frozenset({"Answer", "CheckRequest"})
"""Records whose prompt and response go by two names."""
NAMES = (("prompt", "question"), ("response", "answer"))


def json_response(record: Any, status: int = 200) -> Response:
    """A record as JSON."""
    return Response(msgspec.json.encode(record), status, media_type="application/json")


def answers_with(record: Any, status: int = 200, *more: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: a record, or one of the faults that any route has, or of those that are named."""
    return {status: {"description": "Success.", "content": content_of(record)}, **faults(401, 403, 421, 422, 503, *more)}


def faults(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that are refusals."""
    return {status: {"description": FAULTS[status], "content": content_of(Faulty)} for status in statuses}


def takes(*records: Any) -> dict[str, Any]:
    """The `openapi_extra` of a route that reads its body itself: one of these records."""
    schemas = [schema_of(record) for record in records]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def content_of(record: Any) -> dict[str, Any]:
    """A record as the content of a response."""
    return {"application/json": {"schema": schema_of(record)}}


def schema_of(record: Any) -> dict[str, Any]:
    """A reference to a record's schema."""
    return msgspec.json.schema_components([record], ref_template=REFERENCE)[0][0]


def components(records: tuple[Any, ...]) -> dict[str, Any]:
    """The schemas of records and of all that they hold, by name."""
    found = msgspec.json.schema_components(records, ref_template=REFERENCE)[1]
    for name in TWO_NAMED & found.keys():
        found[name] = found[name] | {"allOf": [either(names) for names in NAMES]}
    return found


def either(names: tuple[str, ...]) -> dict[str, Any]:
    """One of these keys must be there, and not null."""
    return {"oneOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]}
