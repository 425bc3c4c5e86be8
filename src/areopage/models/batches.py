"""Which providers have a batch service, and how it is opened; see `areopage.models.batch_port`."""

from msgspec.structs import replace

from areopage.errors import ModelError
from areopage.models.anthropic import AnthropicModel
from areopage.models.anthropic_batches import AnthropicBatches
from areopage.models.batch_port import BatchService
from areopage.models.openai import OpenAIModel
from areopage.models.openai_batches import OpenAIBatches
from areopage.models.reference import ModelReference
from areopage.models.retry import Calls
from areopage.models.servers import connect
from areopage.models.settings import ModelSettings

BATCH_PROVIDERS = ("openai", "anthropic")
"""Providers whose protocol has a batch service."""
_LONGEST_TRANSFER = 3_600.0  # seconds for a file


def has_batches(reference: ModelReference) -> bool:
    """Whether a provider's protocol has a batch service."""
    return reference.provider in BATCH_PROVIDERS


def open_service(reference: ModelReference, settings: ModelSettings, calls: Calls) -> BatchService:
    """Open the batch service of a model's server; nothing is called yet.

    Raises:
        ModelError: the provider has none, or the endpoint cannot be used.
    """
    if not has_batches(reference):
        raise ModelError(f"{reference}: {reference.provider} has no batch service; --batch is for {', '.join(BATCH_PROVIDERS)}")
    limits = replace(settings.timeouts, total=max(settings.timeouts.total, _LONGEST_TRANSFER))
    patient = replace(settings, timeouts=limits)
    server = connect(reference.provider, reference.endpoint, patient)
    if reference.provider == "anthropic":
        return AnthropicBatches(AnthropicModel(reference, server), calls)
    return OpenAIBatches(OpenAIModel(reference, server), calls)
