"""The port to a language model, and its adapters."""

from .adapters import JUDGE_ADAPTERS as JUDGE_ADAPTERS  # Of judges that are not language models.
from .adapters import MODEL_ADAPTERS as MODEL_ADAPTERS  # Of language models.
from .adapters import listed_models as listed_models  # The models that a provider's server offers.
from .adapters import open_model as open_model  # Open the adapter of a reference
from .adapters import pull_model as pull_model  # Fetch a model into the user's cache.
from .batches import BATCH_PROVIDERS as BATCH_PROVIDERS  # Providers whose protocol has a batch service.
from .batches import ENDED as ENDED  # States in which a batch brings nothing more.

# The code of a batch that was not begun because too many tokens wait already.
from .batches import TOO_MUCH_AT_ONCE as TOO_MUCH_AT_ONCE
from .batches import BatchLine as BatchLine  # What one call of a batch brought
from .batches import BatchService as BatchService  # The batch service of one model's server.
from .batches import BatchState as BatchState  # A batch as its provider tells of it.
from .batches import SearchedBatch as SearchedBatch  # A batch that may have been created, as the ledger knows it.
from .batches import has_batches as has_batches  # Whether a provider's protocol has a batch service.
from .batches import open_service as open_service  # Open the batch service of a model's server
from .breaker import OutageObserver as OutageObserver  # Is told about servers that are gone for longer than a moment.
from .contacts import Agree as Agree  # Asks the user whether servers of a suite may be sent the variables that they name.
from .contacts import Contact as Contact  # A server that models are called at.
from .contacts import shown_address as shown_address  # An address without its secrets
from .http import JsonServer as JsonServer  # A server that takes and gives JSON.
from .known_providers import KNOWN_PROVIDERS as KNOWN_PROVIDERS  # The providers by name.
from .known_providers import may_cost as may_cost  # Whether calls to a provider's models may cost money
from .limits import KeptPlaces as KeptPlaces  # The places of calls that are made while the block runs
from .limits import limiter_of as limiter_of  # What bounds and spaces the calls to a server

# Refuse more calls at once to models on servers than the process may open connections
from .open_files import require_connections as require_connections

# How many connections of the wanted ones the process may open, after its limit of open files is raised as far as it may.
from .open_files import room_for as room_for
from .openai_replies import OpenAIReply as OpenAIReply  # A whole answer
from .openai_replies import text_of as text_of  # The text of an answer
from .own_loop import OwnLoop as OwnLoop  # A running event loop.

# Refuse a call that starts an event loop of its own, where one runs in this thread.
from .own_loop import refuse_in_loop as refuse_in_loop
from .port import ANSWERED_BY as ANSWERED_BY  # The provider that answered behind a gateway follows.
from .port import CHARACTERS_PER_TOKEN as CHARACTERS_PER_TOKEN
from .port import NOT_SENT as NOT_SENT  # The name of an option that was left out follows.
from .port import ONLY_THOUGHTS as ONLY_THOUGHTS  # What is said of an answer without text whose reasoning is not empty.
from .port import SERVER as SERVER  # How a digest begins that names a server, in place of weights
from .port import Completion as Completion  # What a model answered.
from .port import LanguageModel as LanguageModel  # A model that can be asked.
from .port import Message as Message  # One message of a chat.
from .port import ModelStatus as ModelStatus  # What a check of a model found.
from .port import Options as Options
from .port import Schema as Schema

# A generated token with its natural-log probability, and the likeliest others at its place.
from .port import TokenLogprob as TokenLogprob
from .port import call_notes_in as call_notes_in  # Of a judgment's steps those that are notes of its call.
from .port import read_logprobs as read_logprobs  # Read the list of tokens that both protocols give
from .port import sent as sent  # Messages as servers take them
from .prices import ASSUMED_MOST as ASSUMED_MOST  # Tokens of an answer that are set aside where no option limits it.

# What providers of batch services ask of the price, where the configuration does not say.
from .prices import BATCH_FACTOR as BATCH_FACTOR
from .prices import Price as Price  # What tokens cost, per million, in one currency.
from .prices import answer_limit as answer_limit  # The most tokens of an answer by a call's options
from .prices import costs_of as costs_of  # Costs by currency.
from .prices import known_price as known_price  # The price of a model
from .probing import probe_model as probe_model  # Make one small call to a model, and say in one line what it supports.
from .reference import NAMED_REFERENCE as NAMED_REFERENCE  # `NAME=REF`
from .reference import ModelReference as ModelReference  # A model as the user names it.
from .replay import RecordedLine as RecordedLine  # One line of a recording
from .replay import RecordedOrigin as RecordedOrigin  # The model whose answers are recorded, and why it is unfit to judge
from .replay import RecordingFile as RecordingFile  # A recording on disk, read once, at its first use.
from .retry import Calls as Calls  # Calls to one server, each made again where that may help.
from .retry import Retrying as Retrying  # A `LanguageModel` that asks another one, again where that may help
from .servers import ModelServer as ModelServer  # A provider's server, with what messages about it need
from .servers import is_loopback as is_loopback  # Whether a host is this very machine.
from .settings import Bot as Bot  # A team's own bot
from .settings import Endpoint as Endpoint  # A server by name.
from .settings import ModelSettings as ModelSettings  # Everything an adapter may read.
from .settings import Timeouts as Timeouts  # The four limits of one call, in seconds.
from .traffic import CalledServer as CalledServer  # What the models of a server share in one event loop.
from .traffic import Traffic as Traffic  # The calls to all servers
from .window import Gauge as Gauge  # How many tokens texts are for one model, and how many its window holds.
from .window import cut_text as cut_text  # What is said of a prompt that a server cut.
