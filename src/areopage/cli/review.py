"""Command group `areopage review`."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app import LEDGER_VARIABLE, AppConfig, fill_settings, find_config, open_ledger, review_disagreements
from areopage.cases import write_rejected
from areopage.cli.exit_codes import INCONCLUSIVE
from areopage.cli.options import ConfigOption, LedgerOption, actor, named_place, read_text_file, tell, tell_rejected
from areopage.errors import UserError, counted
from areopage.jury import Panel
from areopage.ledger import GROUNDING, HELD, Ledger, Trace
from areopage.locales import one_line
from areopage.report import audience, explain, report_locale, table
from areopage.review import (
    OVERALL,
    Given,
    Rubric,
    Settlement,
    answer_panel,
    fill_queue,
    find_answer,
    import_ratings,
    review_answer,
    undo_last,
)
from areopage.suites import load_suite
from areopage.text import visible

SHOWN_REJECTED = 20
MAX_BYTES = 1_000_000

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the answer.")]
RaterOption = Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Name of the reviewer.")]
RevealOption = Annotated[
    bool, typer.Option("--reveal", help="Show what the judge, the gate and other reviewers said before you label.")
]
SuiteOption = Annotated[
    str | None,
    typer.Option(
        "--suite",
        metavar="NAME|FOLDER",
        help="Suite whose criteria are scored; default: that of the answer's run, else the monitor's.",
    ),
]
ScoreOption = Annotated[
    list[str] | None,
    typer.Option("--score", metavar="CRITERION=SCORE", help="A score (repeatable); `global` is the overall score."),
]
GroundedOption = Annotated[
    str, typer.Option("--grounded", metavar="yes|partly|no", help="Whether the documents support the answer.")
]
NoteOption = Annotated[str, typer.Option("--note", metavar="TEXT", help="Reason.")]
CorrectionOption = Annotated[str, typer.Option("--correction", metavar="TEXT", help="What the answer should have said.")]
PROMPT = 100
IN_VIEW = "given with the scores in view"


def list_items(
    config: ConfigOption = None,
    rater: RaterOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of answers.")] = 50,
    reveal: RevealOption = False,
    ledger: LedgerOption = None,
) -> None:
    """List the answers that need a label; with --rater those without a label by this reviewer, and held ones to release."""
    # --reveal adds why each was queued, which hints at what the judge or the gate said
    with open_ledger(find_config(config, ledger)) as opened:
        queue = opened.review_queue
        items = queue.open_items(rater, limit=limit)
        if not items:
            elsewhere = f"{LEDGER_VARIABLE}={shlex.quote(named_place(None, ledger)[-1])} " if ledger else ""
            fill = elsewhere + shlex.join(["areopage", "review", "fill", *named_place(config)])
            typer.echo(f"the review queue is empty ({fill} adds answers)")
            return
        ids = [item.answer_id for item in items]
        opened.audit.note(actor(), "read", "", f"a list of {len(ids)} answers")
        if reveal and rater is not None:
            opened.audit.note_scores_listed(rater, ids)
        scored, together = opened.labels.current_of(ids), opened.traces.waiting(ids)
        labelled = {id for id, who, _ in scored if who == rater}
        rows = [["id", "kind", "queued (UTC)", "raters", *(["why"] if reveal else []), "prompt"]]
        for item in items:
            raters = len({who for id, who, _ in scored if id == item.answer_id})
            answer = opened.answers.get(item.answer_id)
            waiting = together.get(item.answer_id, 0)
            is_held = item.why == HELD and (reveal or item.answer_id in labelled)
            kind = "answer" if not is_held else f"held ({waiting} waiting)" if waiting > 1 else "held"
            why = [item.why] if reveal else []
            prompt = one_line(answer.case.prompt_text if answer else "", PROMPT)
            queued = f"{item.created_at:%Y-%m-%d %H:%M}"
            rows.append([one_line(item.answer_id, 128), kind, queued, f"{raters}/{item.wanted}", *why, prompt])
        typer.echo("\n".join(table(rows)))
        all_open = queue.count_open()
        if all_open > len(items):
            typer.echo(f"shown: {len(items)} of {all_open}")


def show(
    id: IdArgument,
    config: ConfigOption = None,
    rater: RaterOption = None,
    reveal: RevealOption = False,
    suite: SuiteOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Show an answer for labelling; the judge's scores and the gate's decision appear after your label, or with --reveal.

    The sentences of an answer of the gate are numbered.
    """
    settings = find_config(config, ledger)
    with open_ledger(settings) as opened:
        rubric = rubric_of(settings, opened, id, suite)
        answer, trace = find_answer(opened, id), opened.traces.get(id)
        opened.audit.note(actor(), "read", answer.id)
        shown = reveal or (rater is not None and any(who == rater for _, who, _ in opened.labels.current_of([id])))
        case, decision = answer.case, trace.decision if trace is not None else None
        panel = answer_panel(opened, id)
        persona = panel[0].personas.get(case.maturity) if panel else None
        years = persona.maturity_band if persona else ""
        parts = [("audience", audience(report_locale("en"), case.maturity, years))] if case.maturity else []
        if isinstance(case.prompt, str):
            parts.append(("prompt", case.prompt))
        else:
            parts += [(f"turn {number}: {turn.role}", turn.content) for number, turn in enumerate(case.prompt, 1)]
        parts += [
            (f"document {document.id}" + (f": {document.title}" if document.title else ""), document.text)
            for document in case.documents
        ]
        parts += [("reference", case.reference)] if case.reference else []
        parts += [("response", case.response or "")] if decision is None else []
        for title, text in parts:
            typer.echo(f"--- {one_line(title, 200)}\n{visible(text)}\n")
        if decision is not None:
            typer.echo("--- response")
            named = {reason.sentence for reason in decision.reasons} | set(decision.doubtful) if shown else set()
            for index, sentence in enumerate(decision.sentences):
                share = sentence.p_unsupported if index in named else None
                doubt = "" if share is None else f" (word comparison {share:.2f})"
                typer.echo(f"{'!' if index in named else ' '} {index + 1}. {one_line(sentence.text, 2000)}{doubt}")
            if shown:
                typer.echo(f"\n--- verdict: {decision.verdict}")
                for reason in dict.fromkeys(explain(decision, decision.prompt_lang or "en")):
                    typer.echo(f"- {visible(reason)}")
        if trace is not None:
            if shown:
                _print_trace(opened, trace)
            if opened.evaluations.get(id) is None:
                return
        scale = rubric.scale
        names = ", ".join([*(entry.name for entry in rubric.entries), "global"])
        typer.echo(f"score from {scale.min:g} to {scale.max:g}: {names}")
        if shown:
            _compare_unless_hidden(settings, opened, rubric, id, rater, reveal=reveal)


def label(
    id: IdArgument,
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Name of the reviewer.")],
    score: ScoreOption = None,
    grounded: GroundedOption = "",
    sentence: Annotated[
        list[int] | None,
        typer.Option("--sentence", metavar="N", help="Number of an unsupported sentence, as in `review show` (repeatable)."),
    ] = None,
    note: NoteOption = "",
    correction: CorrectionOption = "",
    release: Annotated[bool, typer.Option("--release", help="Release the held answer as it is.")] = False,
    release_text: Annotated[
        Path | None, typer.Option("--release-text", metavar="FILE", help="Release the text of this file instead.")
    ] = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="Reject the answer: the user gets no answer.")] = False,
    blind: Annotated[
        bool, typer.Option("--blind", help="The reviewer had seen neither a judge's scores nor the gate's decision.")
    ] = False,
    suite: SuiteOption = None,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Label an answer: scores, or whether its documents support it.

    areopage review label ID --rater NAME --score exactitude=7 --score global=6 --note "..."

    For an answer held by the gate, state whether it is grounded and release or reject it: --grounded yes --release.
    """
    review = Given(
        scores=scores_of_options(score or ()),
        grounded=grounded,
        sentences=[number - 1 for number in sentence or ()],
        note=note,
        correction=correction,
        settlement=_settlement_of(release, release_text, refuse),
    )
    settings = find_config(config, ledger)
    with open_ledger(settings) as opened:
        now, rubric = datetime.now(UTC), rubric_of(settings, opened, id, suite)
        stored = settings.storage
        done = review_answer(opened, id, rater, review, origin="cli", now=now, rubric=rubric, storage=stored, blind=blind or None)
        scores = len(done.labels) - bool(grounded)
        said = ([counted(scores, "score")] if scores else []) + ([f"grounded: {grounded},"] if grounded else [])
        kept_back = opened.traces.release(id)
        waits = ""
        if kept_back is not None and kept_back.state == "waiting":
            waits = "; it is still held: use --release, --release-text FILE or --refuse"
        by = " ".join([*said, "by", " ".join(rater.split())])
        equal = f" and {done.settled - 1} equal ones" if done.settled > 1 else ""
        typer.echo(f"{done.release.state if done.release else 'labelled'}: {id}{equal} ({by}){waits}")
        if scores:
            _compare_unless_hidden(settings, opened, rubric, id, done.labels[0].rater)


def undo(
    rater: Annotated[str, typer.Option("--rater", metavar="NAME", help="Name of the reviewer.")],
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Undo the last label of a reviewer, or the last adjudication: one step. The ledger keeps it, marked as undone.

    The reviewer's labels before count again; without any, the answer waits again. A release is not undone.
    """
    with open_ledger(find_config(config, ledger)) as opened:
        undone = undo_last(opened, rater)
        what = "adjudication" if undone[0].decides else counted(len(undone), "score")
        typer.echo(f"undone: {one_line(undone[0].answer_id, 128)} ({what} by {one_line(undone[0].rater, 40)})")


def fill(config: ConfigOption = None) -> None:
    """Queue answers for review: alerts, weak, disputed and unscored answers, and a random sample."""
    settings = find_config(config)
    with open_ledger(settings) as ledger:
        added = fill_queue(ledger, fill_settings(settings.monitor), datetime.now(UTC))
        parts = (
            f"{added['sample']} at random, {added['alert']} with an alert, {added['low_score']} weak, "
            f"{added['addressed']} that address the judge, {added['disagreement']} disputed, {added['unscored']} without a score"
        )
        typer.echo(f"added: {added.total()} ({parts}); waiting: {ledger.review_queue.count_open()}")
        if not added["sample"]:
            typer.echo("answers at random come from the last three whole days (UTC): those of today can be drawn tomorrow")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: id, rater, a column per criterion, note.")],
    config: ConfigOption = None,
    rater: Annotated[str | None, typer.Option("--rater", metavar="NAME", help="Reviewer of rows without a rater.")] = None,
    rejected: Annotated[Path | None, typer.Option("--rejected", metavar="FILE", help="Write rejected rows to FILE.")] = None,
    suite: SuiteOption = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Benchmark run whose criteria the columns are.")] = None,
    ledger: LedgerOption = None,
) -> None:
    """Import labels from a table (CSV, XLSX, JSON Lines, Parquet); list unusable rows (exit code 1).

    A second import of a file adds no duplicates.
    """
    if run is not None and suite is not None:
        raise UserError("give one of --run and --suite")
    settings = find_config(config, ledger)
    with open_ledger(settings) as opened:
        if run is not None:
            found_run = opened.run(run)
            rubric = Rubric.of_panel(Panel.of(found_run), found_run.id)
        else:
            rubric = Rubric.of_suite(load_suite(suite) if suite else settings.monitor.load_suite())
        imported = import_ratings(opened, rubric, file, rater, datetime.now(UTC))
    typer.echo(f"labels: {imported.labels} new, {imported.unchanged} already known, on {counted(imported.answers, 'answer')}")
    if imported.unread_columns:
        tell(f"note: ignored columns without a criterion: {', '.join(imported.unread_columns)}")
    if not imported.rejected:
        return
    if rejected is not None:
        write_rejected(imported.rejected, rejected)
    tell_rejected(imported.rejected, len(imported.rejected), "row", SHOWN_REJECTED, rejected)
    raise typer.Exit(INCONCLUSIVE)


def rubric_of(config: AppConfig, ledger: Ledger, id: str, suite: str | None) -> Rubric:
    """The rubric that an answer is labelled by: that of the option `--suite`, else the answer's."""
    return Rubric.of_suite(load_suite(suite)) if suite else Rubric.for_answer(ledger, id, config.monitor.load_suite())


def scores_of_options(pairs: Sequence[str]) -> dict[str, str]:
    """The scores of the options `--score`, by criterion."""
    scores: dict[str, str] = {}
    for pair in pairs:
        name, sign, text = pair.rpartition("=")
        if not sign or not name.strip() or name in scores:
            raise UserError(f"--score {pair!r}: give CRITERION=SCORE, each criterion once")
        scores[name] = text
    return scores


def _settlement_of(release: bool, release_text: Path | None, refuse: bool) -> Settlement | None:
    if release + (release_text is not None) + refuse > 1:
        raise UserError("give one of --release, --release-text FILE and --refuse")
    if refuse:
        return Settlement(state="refused")
    if release_text is not None:
        text = read_text_file(release_text, MAX_BYTES, "the text to release")
        return Settlement(state="released", text=text)
    return Settlement(state="released") if release else None


def _print_trace(ledger: Ledger, trace: Trace) -> None:
    for label in ledger.labels.grounding([trace.id]).get(trace.id, ()):
        marked = f", sentences {', '.join(str(at + 1) for at in label.sentences)}" if label.sentences else ""
        view = "" if label.blind else f" ({IN_VIEW})"
        typer.echo(f"{one_line(label.rater, 40)}: grounded {label.grounded}{marked}{view} {one_line(label.note, 1000)}".rstrip())
    release = ledger.traces.release(trace.id)
    if release is not None:
        together = ledger.traces.waiting([trace.id]).get(trace.id, 1)
        equal = f"; the decision also applies to {together - 1} equal answers" if together > 1 else ""
        typer.echo(f"review: {release.state}" + (f" by {one_line(release.rater, 40)}" if release.rater else "") + equal)


def _compare_unless_hidden(
    settings: AppConfig, ledger: Ledger, rubric: Rubric, id: str, rater: str | None, *, reveal: bool = False
) -> None:
    """Show a rater the judges' scores, once they are not hidden any more."""
    if not reveal and review_disagreements(ledger, settings.monitor).hides(id):
        typer.echo("the judges' scores are shown once all reviewers have labelled this answer and disagreements are adjudicated")
        return
    if rater is not None:
        ledger.audit.note_scores_seen(rater, id)
    _print_comparison(ledger, rubric, id)


def _print_comparison(ledger: Ledger, rubric: Rubric, id: str) -> None:
    judge = ledger.labels.panel_scores([id], rubric.run_id).get(id, {}).get(rubric.suite, {})
    labels = [label for label in ledger.labels.current_of([id]).values() if label.criterion != GROUNDING]
    raters = list(dict.fromkeys(label.rater for label in labels))
    scores = {(label.rater, label.criterion): label.score for label in labels}
    rows = [["", "judge", *(one_line(rater, 40) for rater in raters)]]
    for path, name in [*((entry.path, entry.name) for entry in rubric.entries), (OVERALL, "global")]:
        rows.append([name, _shown(judge.get(path)), *(_shown(scores.get((rater, path))) for rater in raters)])
    typer.echo("\n".join(table(rows)))
    for rater in dict.fromkeys(label.rater for label in labels if not label.blind):
        typer.echo(f"  {one_line(rater, 40)}: {IN_VIEW}")
    for label in {(label.rater, label.note): label for label in labels if label.note}.values():
        typer.echo(f"  {one_line(label.rater, 40)}: {one_line(label.note, 1000)}")
    for label in {(label.rater, label.correction): label for label in labels if label.correction}.values():
        typer.echo(f"  {one_line(label.rater, 40)}, corrected answer: {one_line(label.correction, 1000)}")
    evaluation = ledger.evaluations.get(id)
    if evaluation is None or evaluation.state != "evaluated":
        typer.echo("  this answer has no evaluation yet")
    elif evaluation.feedback:
        typer.echo(f"  judge: {one_line(evaluation.feedback, 1000)}")


def _shown(score: float | None) -> str:
    return "-" if score is None else f"{score:g}"
