"""Requests made from the OpenAPI schema, right ones and wrong ones: no fault of the server's, and every answer as described."""

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from areopage.ledger.people.access import ApiKeys
from areopage.rag.records import ChatPrompt
from areopage.server.app import create_app

from .fake_rag import COLLECTION, GROUNDED, MADE_UP, QUESTION, with_rag
from .seeded import WEAK_ID, context_for, seed

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.specs.openapi.schemas import OpenApiSchema

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:schemathesis", "ignore::DeprecationWarning:jsonschema")

OPERATIONS = [
    ("POST", "/v1/evaluations"),
    ("GET", "/v1/evaluations"),
    ("GET", "/v1/evaluations/{id}"),
    ("DELETE", "/v1/evaluations/{id}"),
    ("GET", "/v1/figures"),
    ("GET", "/v1/alerts"),
    ("POST", "/v1/labels"),
    ("POST", "/v1/labels/undo"),
    ("GET", "/v1/review/progress"),
    ("GET", "/v1/review/disagreements"),
    ("POST", "/v1/review/disagreements"),
    ("GET", "/v1/agreement"),
    ("POST", "/v1/chat"),
    ("GET", "/v1/chat/held/{id}"),
    ("POST", "/v1/gate/check"),
    ("GET", "/v1/traces"),
    ("GET", "/v1/traces/{id}"),
    ("DELETE", "/v1/traces/{id}"),
    ("POST", "/v1/traces/{id}/verdict"),
    ("GET", "/v1/debug/latest"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
]
# each is a request through the whole application, and its answer is compared with the schema
EXAMPLES = max(10, settings().max_examples * 2 // 5)
# without a body or a query there is nothing that could be wrong
ASKED = ("/v1/evaluations", "/v1/figures", "/v1/alerts", "/v1/agreement", "/v1/traces")
WRONG = [one for one in OPERATIONS if one[0] == "POST" or one[1] in (*ASKED, "/v1/debug/latest")]


class FuzzedServer(NamedTuple):
    """A schema with the server behind it, and a key."""

    schema: "OpenApiSchema"
    headers: dict[str, str]
    checks: list[Any]

    def check(self, case: "Case[Any]") -> int:
        """Send a request; whatever is not as the schema says is raised. Returns the status."""
        return case.call_and_validate(checks=self.checks, headers=self.headers).status_code

    def fuzz(self, method: str, path: str, mode: str, complete: Callable[[Any], Any] | None = None) -> set[int]:
        """Send many requests, and each again with a completed body; returns the statuses of their answers."""
        from schemathesis.generation import GenerationMode

        statuses: set[int] = set()

        @settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=self.schema[path][method].as_strategy(generation_mode=GenerationMode(mode)))
        def send(case: "Case[Any]") -> None:
            statuses.add(self.check(case))
            if complete is not None:
                case.body = complete(case.body)
                statuses.add(self.check(case))

        send()
        return statuses


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FuzzedServer]:
    """A server with some answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own parts, while they are imported
        import schemathesis.openapi
        from schemathesis.checks import not_a_server_error
        from schemathesis.specs.openapi import checks

    context, fake = with_rag(context_for(tmp_path_factory.mktemp("fuzz")))
    seed(context.ledger)
    asked = ChatPrompt(prompt=QUESTION, collection=COLLECTION)
    for response in (GROUNDED, f"{GROUNDED} {MADE_UP}"):
        fake.response = response
        fake.answered(asked)
    _, key = ApiKeys(context.ledger).create("fuzz", "admin")
    headers = {"Authorization": f"Bearer {key}"}
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(context), headers=headers)
    wanted = (checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance)
    yield FuzzedServer(schema, headers, [not_a_server_error, *wanted])
    context.ledger.close()


def test_every_operation_of_the_schema_is_tried(target: FuzzedServer) -> None:
    paths = target.schema.raw_schema["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == set(OPERATIONS)


def with_texts(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer, or a batch, with a prompt and a response: the schema cannot ask for one of two names."""
    if "items" in answer:
        return answer | {"items": [with_texts(one) for one in answer["items"]]}
    others = {name: value for name, value in answer.items() if name not in ("question", "answer")}
    return others | {"prompt": QUESTION, "response": GROUNDED}


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_a_right_request_is_answered_as_the_schema_says(target: FuzzedServer, method: str, path: str) -> None:
    complete = with_texts if (method, path) == ("POST", "/v1/evaluations") else None
    statuses = target.fuzz(method, path, "positive", complete)
    assert statuses <= {200, 201, 202, 204, 400, 404, 409, 422}
    if path in (*ASKED, "/v1/gate/check"):
        assert statuses & {200, 202}, "no request got through: the schema asks for something else than the server"


@pytest.mark.parametrize(("method", "path"), WRONG)
def test_a_wrong_request_is_answered_as_the_schema_says(target: FuzzedServer, method: str, path: str) -> None:
    assert target.fuzz(method, path, "negative") & {400, 415, 422}


def test_what_the_seeded_answers_look_like_is_what_the_schema_says(target: FuzzedServer) -> None:
    shown = target.schema["/v1/evaluations/{id}"]["GET"]
    assert target.check(shown.Case(path_parameters={"id": WEAK_ID})) == 200
    for path in ASKED:
        assert target.check(target.schema[path]["GET"].Case()) == 200


def test_what_the_gate_says_is_what_the_schema_says(target: FuzzedServer) -> None:
    schema = target.schema
    assert target.check(schema["/v1/debug/latest"]["GET"].Case(query={"question": QUESTION})) == 200
    chat = schema["/v1/chat"]["POST"].Case(body={"question": QUESTION}, media_type="application/json")
    held = chat.call_and_validate(checks=target.checks, headers=target.headers).json()["id"]
    for path in ("/v1/traces/{id}", "/v1/chat/held/{id}"):
        assert target.check(schema[path]["GET"].Case(path_parameters={"id": held})) == 200
    verdict = schema["/v1/traces/{id}/verdict"]["POST"]
    for action, status in ((None, 201), ("release", 201), ("refuse", 409)):
        body: Any = {"grounded": "partly", "sentences": [1], "action": action}
        case = verdict.Case(path_parameters={"id": held}, body=body, media_type="application/json")
        assert target.check(case) == status
    assert target.check(schema["/v1/traces/{id}"]["DELETE"].Case(path_parameters={"id": held})) == 204
