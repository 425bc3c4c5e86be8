"""The HTTP API and the web pages."""

from .access import Actor as Actor  # The sender of a request.
from .access import Asker as Asker
from .access import Follower as Follower
from .access import Form as Form
from .api.evaluations import decoded as decoded  # Decode a body.
from .api.evaluations import json_body as json_body  # The body of a JSON request
from .api.records import Collection as Collection
from .api.records import Session as Session
from .api.schema import ApiRoute as ApiRoute  # A route that refuses parameters of the address which it does not declare.
from .api.schema import answers_with as answers_with  # The `responses` of a route
from .api.schema import json_response as json_response  # Encode a record as a JSON response.
from .api.schema import rounded as rounded  # A figure with six decimals.
from .api.schema import takes as takes  # The `openapi_extra` of a route whose body is one of these records.
from .api.schema import view as view  # An API record with the values of a stored one in the fields of the same names
from .context import Pipeline as Pipeline  # The answering pipeline of a server.
from .context import context_of as context_of  # Return the context of a request's server.
from .errors import Refusal as Refusal  # A rejected request.
from .metrics import metrics_of as metrics_of  # Return the metrics of a request's server.
from .pages.gate import GATE_WORDS as GATE_WORDS
from .pages.rendering import language as language  # Return the reader's locale.
from .pages.rendering import render as render  # Render a page in the reader's language.
from .parts import ServerPart as ServerPart  # Routes, and what belongs to them.

# Serve until SIGTERM or Ctrl-C, then drain requests, stop the worker and print the number of waiting answers.
from .serve import run_server as run_server
from .telemetry import tell_decision as tell_decision  # Add a gate decision to its request's span, without texts.
