"""The HTTP API and the web pages."""

from .access import Actor as Actor  # The sender of a request.
from .access import Asker as Asker
from .access import Follower as Follower
from .access import Form as Form
from .access import Reader as Reader

# Note that texts of answers were shown, and which answers were shown with their scores
from .access import note_shown as note_shown
from .api.evaluations import decoded as decoded  # Decode a body.
from .api.evaluations import json_body as json_body  # The body of a JSON request
from .api.records import Collection as Collection
from .api.records import SessionId as SessionId
from .api.schema import ApiRoute as ApiRoute  # A route that refuses parameters of the address which it does not declare.
from .api.schema import answers_with as answers_with  # The `responses` of a route
from .api.schema import json_response as json_response  # Encode a record as a JSON response.
from .api.schema import rounded as rounded  # A figure with six decimals.
from .api.schema import takes as takes  # The `openapi_extra` of a route whose body is one of these records.
from .context import Pipeline as Pipeline  # The answering pipeline of a server.
from .context import ServerContext as ServerContext  # Args
from .context import ServerPart as ServerPart  # Routes, and what belongs to them.
from .context import context_of as context_of  # Return the context of a request's server.
from .errors import Refusal as Refusal  # A rejected request.
from .metrics import metrics_of as metrics_of  # Return the metrics of a request's server.
from .pages.filters import CUSTOM as CUSTOM
from .pages.filters import OF_PERIODS as OF_PERIODS
from .pages.filters import TODAY as TODAY
from .pages.filters import Chosen as Chosen  # The filters of an address.
from .pages.filters import ChosenPeriod as ChosenPeriod  # The period of an address.
from .pages.filters import Ignored as Ignored  # A filter of an address that has no effect.
from .pages.filters import chosen as chosen  # Parse a request's filters.
from .pages.filters import ignore_unknown as ignore_unknown  # Add the parameters that a page does not have to `ignored`.
from .pages.filters import period_of as period_of  # The period's name and days
from .pages.gate import GATE_WORDS as GATE_WORDS
from .pages.rendering import REPORT_STYLES as REPORT_STYLES

# A command as a shell takes it, on the configuration and the ledger of this server.
from .pages.rendering import command_here as command_here
from .pages.rendering import language as language  # Return the reader's locale.
from .pages.rendering import render as render  # Render a page in the reader's language.
from .pages.rendering import run_url as run_url  # The page of a benchmark run.
from .pages.runs import run_choices as run_choices  # The newest runs as choices
from .pages.runs import visible_run as visible_run  # The record of a run, if all its answers are in the actor's scope.

# Serve until SIGTERM or Ctrl-C, then drain requests, stop the worker and print the number of waiting answers.
from .serve import run_server as run_server
from .telemetry import tell_decision as tell_decision  # Add a gate decision to its request's span, without texts.
