"""Command `areopage gate check`: decide on answers."""

from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from areopage.app import find_config, ledger_exists, load_gate, open_judge, open_ledger
from areopage.cases import Case, Document, load_dataset
from areopage.checking import Checker, decide
from areopage.cli.exit_codes import FAILED
from areopage.cli.options import ConfigOption, RulesOption, one_of, read_text_file, tell
from areopage.errors import DatasetError, UserError, counted
from areopage.gate import GATE_VERDICTS, Decision, Gate, labelled_of
from areopage.locales import LANGUAGES, one_line
from areopage.report import decision_locale, explain, verdict_text

MAX_DOCUMENT_BYTES = 16_000_000


def check(
    prompt: Annotated[str | None, typer.Option("--prompt", metavar="TEXT", help="The question.")] = None,
    response: Annotated[str | None, typer.Option("--response", metavar="TEXT", help="The answer.")] = None,
    document: Annotated[
        list[Path] | None,
        typer.Option(
            "--document", metavar="FILE", help="Text file of a document; its name without extension is the id (repeatable)."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="A dataset with prompt, response and documents, instead of the options above."
        ),
    ] = None,
    rules: RulesOption = None,
    config: ConfigOption = None,
    collection: Annotated[
        str, typer.Option("--collection", metavar="NAME", help="Labels in the ledger of answers in this collection count.")
    ] = "",
    no_judge: Annotated[bool, typer.Option("--no-judge", help="Do not ask the judge of the grey band.")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="en|fr", help="Language; default: the question's.")] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="With --file: print only the counts, and how labels of the rows agree.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line, with every signal.")] = False,
) -> None:
    """Decide on answers: verdict, reasons, sentences. Exit code 1 if an answer is not delivered or rows were skipped."""
    one_of("--lang", lang, LANGUAGES)
    if summary and file is None:
        raise UserError("--summary needs --file")
    settings, left, counts = find_config(config), 0, CheckCounts()
    cases, left_out = _given_cases(prompt, response, document or [], file)
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(settings)) if ledger_exists(settings) else None
        judge = None if no_judge else open_judge(settings, ledger)
        if judge is not None and (remark := judge.exam_remark()):
            tell(remark)
        gate = load_gate(rules) if rules else Gate(settings.gate)
        checker = stack.enter_context(Checker(gate, ledger=ledger, judge=judge))
        for number, case in enumerate(cases):
            decision = decide(checker, case.prompt_text, case.response, case.documents, collection=collection)
            left += decision.verdict == "deliver"
            counts.add(case, decision)
            if summary:
                continue
            if as_json:
                typer.echo(msgspec.json.encode({"id": case.id} | msgspec.to_builtins(decision)).decode())
                continue
            if file is not None:
                typer.echo(("\n" if number else "") + f"# {case.id}")
            typer.echo(_decision_text(decision, lang or decision.prompt_lang or "en"))
    if file is not None:
        typer.echo("\n".join(counts.lines()), err=as_json)
    if left < len(cases) or left_out:
        raise typer.Exit(FAILED)


class CheckCounts:
    """Counts decisions on the rows of a file, and compares them with the labels of rows that have one."""

    def __init__(self) -> None:
        self._verdicts: Counter[str] = Counter()
        self._labelled: Counter[tuple[bool, bool]] = Counter()

    def add(self, case: Case, decision: Decision) -> None:
        """Count a decision; a label stands in the columns that `areopage gate tune` reads."""
        self._verdicts[decision.verdict] += 1
        with suppress(ValueError):
            self._labelled[labelled_of(case).ungrounded, decision.verdict == "deliver"] += 1

    def lines(self) -> list[str]:
        """The counts in lines, to print."""
        verdicts = ", ".join(f"{self._verdicts[verdict]:,} {verdict}" for verdict in GATE_VERDICTS if self._verdicts[verdict])
        lines = ["", f"{counted(self._verdicts.total(), 'answer')}: {verdicts}"]
        if self._labelled:
            lines.append(f"labelled: {self._labelled.total():,}")
        for ungrounded, name in ((True, "ungrounded"), (False, "grounded")):
            delivered, stopped = self._labelled[ungrounded, True], self._labelled[ungrounded, False]
            if delivered + stopped:
                lines.append(f"  {name}: {delivered + stopped:,}, of these {delivered:,} delivered, {stopped:,} not")
        return lines


def _given_cases(prompt: str | None, response: str | None, documents: list[Path], file: Path | None) -> tuple[list[Case], int]:
    if file is None:
        if prompt is None or response is None:
            raise UserError("give --prompt and --response (and --document FILE for each document), or give --file FILE")
        wanted = "only the passages that the answer uses"
        texts = tuple(Document(id=path.stem, text=read_text_file(path, MAX_DOCUMENT_BYTES, wanted)) for path in documents)
        return [Case(id="answer", prompt=prompt, response=response, documents=texts)], 0
    if prompt is not None or response is not None or documents:
        raise UserError("--file cannot be combined with --prompt, --response or --document")
    dataset = load_dataset([file], default_maturity="")
    for row in dataset.rejected:
        tell(f"areopage: {row.file} row {row.row}: skipped: {row.reason}")
    for case in dataset.cases:
        if case.response is None:
            path, line = dataset.places.get(case.id, (str(file), 0))
            raise DatasetError(f"{path} row {line}: no response: add a column response")
    return list(dataset.cases), len(dataset.rejected)


LONGEST_SENTENCE = 120


def _decision_text(decision: Decision, language: str) -> str:
    locale = decision_locale(language)
    lines = [f"{decision.verdict}: {verdict_text(decision, language)}"]
    lines += [f"  - {reason}" for reason in dict.fromkeys(explain(decision, language))]
    if any(sentence.claim and sentence.p_unsupported is not None for sentence in decision.sentences):
        lines.append(f"  {locale.say('gate_sentence_words')}")
    for number, sentence in enumerate(decision.sentences, 1):
        value = locale.number(sentence.p_unsupported) if sentence.p_unsupported is not None and sentence.claim else "—"
        document = f"  [{one_line(sentence.document, 40)}]" if sentence.document and sentence.claim else ""
        lines.append(f"  {number:>3}  {value:>5}  {one_line(sentence.text, LONGEST_SENTENCE)}{document}")
    return "\n".join(lines)
