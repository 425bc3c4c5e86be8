"""`areopage gate`: may this answer leave?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli import gate_logs, gate_replay, gate_report, gate_tune

if TYPE_CHECKING:
    from areopage.cases.records import Case, Document

app = typer.Typer(help="The quality gate: which answers may leave, and why others may not.", no_args_is_help=True)
app.command("report")(gate_report.report)
app.command("tune")(gate_tune.tune)
app.command("replay")(gate_replay.replay)
app.command("import")(gate_logs.import_logs)
app.add_typer(gate_logs.dataset_app, name="dataset")

HELD = 1
MAX_DOCUMENT_BYTES = 16_000_000

GateConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE|v1_1",
        help="A gate.yml or its folder, or v1_1: the documented rule; default: the shipped rules.",
    ),
]


@app.command()
def check(
    prompt: Annotated[str | None, typer.Option("--prompt", metavar="TEXT", help="The question.")] = None,
    response: Annotated[str | None, typer.Option("--response", metavar="TEXT", help="The answer.")] = None,
    document: Annotated[
        list[Path] | None,
        typer.Option(
            "--document", metavar="FILE", help="A document, as text; its name without the ending is its id. Several times."
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Instead: a dataset with prompt, response and documents.")
    ] = None,
    config: GateConfigOption = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="en|fr", help="Language; default: the question's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, with every signal.")] = False,
) -> None:
    """Decide on an answer: verdict, reasons, sentences. Exit code 0 if all may leave, 1 otherwise (or if rows are left out)."""
    from areopage.cli.gate_show import decision_json, decision_text
    from areopage.errors import UserError
    from areopage.locales import LANGUAGES
    from areopage.suites.gate import load_gate

    if lang is not None and lang not in LANGUAGES:
        raise UserError(f"--lang {lang!r}: use one of {', '.join(LANGUAGES)}")
    gate = load_gate(config)
    left = 0
    cases, left_out = given_cases(prompt, response, document or [], file)
    for number, case in enumerate(cases):
        decision = gate.decide(case.prompt_text, case.response or "", case.documents)
        left += decision.verdict == "deliver"
        if as_json:
            typer.echo(decision_json(case.id, decision))
            continue
        if file is not None:
            typer.echo(("\n" if number else "") + f"# {case.id}")
        typer.echo(decision_text(decision, lang or decision.prompt_lang or "en"))
    if left < len(cases) or left_out:
        raise typer.Exit(HELD)


def given_cases(prompt: str | None, response: str | None, documents: list[Path], file: Path | None) -> "tuple[list[Case], int]":
    """What is to be decided on: one answer from the options, or those of a file; and how many rows of it cannot be used.

    Raises:
        UserError: options are missing or contradict each other, or a file cannot be used.
    """
    from areopage.cases.loader import load_dataset
    from areopage.cases.records import Case
    from areopage.errors import DatasetError, UserError

    if file is None:
        if prompt is None or response is None:
            raise UserError("give --prompt and --response (and --document FILE for each document), or --file FILE")
        given = tuple(read_document(path) for path in documents)
        return [Case(id="answer", prompt=prompt, response=response, documents=given)], 0
    if prompt is not None or response is not None or documents:
        raise UserError("--file goes without --prompt, --response and --document")
    dataset = load_dataset([file], default_maturity="")
    for row in dataset.rejected:
        typer.echo(f"areopage: {row.file} row {row.row}: left out: {row.reason}", err=True)
    for case in dataset.cases:
        if case.response is None:
            path, line = dataset.places.get(case.id, (str(file), 0))
            raise DatasetError(f"{path} row {line}: there is no response to decide on: give a column response")
    return list(dataset.cases), len(dataset.rejected)


def read_document(path: Path) -> "Document":
    """A document from a file of text.

    Raises:
        UserError, OSError: see `read_text_file`.
    """
    from areopage.cases.records import Document
    from areopage.cli.text_files import read_text_file

    return Document(id=path.stem, text=read_text_file(path, MAX_DOCUMENT_BYTES, "the passages that the answer rests on"))
