"""`areopage gate tune`: thresholds for a stated risk, from answers that people have labelled."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from areopage.cli.gate_options import (
    CollectionOption,
    LedgerOption,
    SinceOption,
    UntilOption,
    gate_ledger,
    gate_settings,
    scope_of,
    tell_reduced_texts,
)
from areopage.cli.rag_options import RagOption

if TYPE_CHECKING:
    from areopage.gate.config import GateConfig
    from areopage.gate.tuning.risk import Control
    from areopage.gate.tuning.thresholds import Ask
    from areopage.gate.tuning.tuned import Tuned
    from areopage.ledger.gate_records import ExchangeFilter
    from areopage.monitor.config import MonitorConfig
    from areopage.review.labelled_answers import LabelSet

NOT_CERTIFIED = 1
LEDGER = "ledger"

SHOWN = 5


def tune(
    labels: Annotated[
        list[str],
        typer.Option("--labels", metavar="FILE|ledger", help="Labelled answers: a dataset (several times), or the ledger's."),
    ],
    risk: Annotated[float, typer.Option("--risk", metavar="SHARE", help="The share of ungrounded ones allowed.")] = 0.02,
    confidence: Annotated[float, typer.Option("--confidence", metavar="SHARE", help="How certain that must be.")] = 0.95,
    of: Annotated[
        str, typer.Option("--of", metavar="delivered|all|average", help="Of which answers: see the reference.")
    ] = "delivered",
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the model on half of the groups; the other half certifies.")
    ] = False,
    grey_band: Annotated[bool, typer.Option("--grey-band", help="Choose a second threshold, with a judge between both.")] = False,
    precision: Annotated[
        float, typer.Option("--precision", metavar="SHARE", help="Of those held back above the grey band, so many ungrounded.")
    ] = 0.5,
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="The rules to begin with; default: shipped.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Where gate.yml goes; without it nothing is written.")
    ] = None,
    who: Annotated[str, typer.Option("--who", metavar="NAME", help="Who chose, for the file's own record.")] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which answer of a group counts; which groups fit a model.")] = 0,
    force_uncertified: Annotated[
        bool, typer.Option("--force-uncertified", help="Write the threshold that comes nearest where none is certain.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a gate.yml that stands there.")] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    rag: RagOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Choose thresholds that keep a stated risk with a stated certainty, and say what they cost; exit code 1 if none does."""
    from areopage.errors import UserError
    from areopage.gate.tuning.thresholds import Ask
    from areopage.suites.gate import load_gate_config

    ask = Ask(risk=risk, confidence=confidence, control=control_of(of), grey_band=grey_band, precision=precision, seed=seed)
    refuse_nonsense(ask)
    base = load_gate_config(config)
    if output is not None and not force and (output / "gate.yml").exists():
        raise UserError(f"{output / 'gate.yml'} is there already: choose another folder, or replace it with --force")
    if labels == [LEDGER]:
        given = ledger_labels(gate_settings(rag, ledger), scope_of(since, until, collection))
    else:
        given = file_labels(labels, [since, until, collection])
    found = choose(given, ask, base, refit=refit)
    conclude(found, given, output, who=who, forced=force_uncertified)


def conclude(found: "Tuned", given: "LabelSet", output: Path | None, *, who: str, forced: bool) -> None:
    """Say what came out, and write it where it is wanted and certain (or forced).

    Raises:
        Exit: the risk is not certified.
        UserError, StorageError: it cannot be written.
    """
    from areopage.cli.gate_tune_show import tuning_lines

    typer.echo("\n".join(tuning_lines(found.tuning)))
    certain = found.tuning.certified and not given.skewed
    if given.skewed:
        advice = "they are no sample of the traffic. Label answers drawn at random from all of them"
        typer.echo(f"NOT certified for the traffic: {given.skewed}; {advice}", err=True)
    if output is not None and (certain or forced):
        typer.echo(f"written to {write(found, given, output, who=who, certain=certain)}", err=True)
    elif not certain and output is not None:
        typer.echo("nothing was written (--force-uncertified writes all the same)", err=True)
    if not certain:
        raise typer.Exit(NOT_CERTIFIED)


def control_of(named: str) -> "Control":
    """Which risk is meant.

    Raises:
        UserError: there is no such one.
    """
    from areopage.errors import UserError
    from areopage.gate.tuning.risk import CONTROLS

    for control in CONTROLS:
        if named == control:
            return control
    raise UserError(f"--of {named!r}: use one of {', '.join(CONTROLS)}")


def refuse_nonsense(ask: "Ask") -> None:
    """Refuse shares that are none.

    Raises:
        UserError: one of them lies outside of (0, 1).
    """
    from areopage.errors import UserError

    for name, share in (("--risk", ask.risk), ("--confidence", ask.confidence), ("--precision", ask.precision)):
        if not 0.0 < share < 1.0:
            raise UserError(f"{name} {share:g}: give a share between 0 and 1, such as 0.02")


def ledger_labels(settings: "MonitorConfig", scope: "ExchangeFilter") -> "LabelSet":
    """The labels of the ledger.

    Raises:
        UserError: there is no ledger, or no label in it.
        StorageError: it cannot be read.
    """
    from areopage.review.labelled_answers import labels_of_ledger

    tell_reduced_texts(settings)
    with gate_ledger(settings) as opened:
        return labels_of_ledger(opened, scope)


def file_labels(labels: Sequence[str], narrowing: Sequence[str | None]) -> "LabelSet":
    """The labels of files.

    Raises:
        UserError: the ledger is named among files, or an option is given that only narrows the ledger.
        DatasetError: a file cannot be read.
    """
    from areopage.errors import UserError
    from areopage.review.labelled_answers import labels_of_files

    if LEDGER in labels:
        raise UserError("--labels: give files, or ledger alone")
    if any(narrowing):
        raise UserError("--since, --until and --collection narrow --labels ledger, not a file")
    given = labels_of_files([Path(name) for name in labels])
    for row in given.rejected[:SHOWN]:
        typer.echo(f"areopage: {row.file} row {row.row}: left out: {row.reason}", err=True)
    if len(given.rejected) > SHOWN:
        typer.echo(f"areopage: {len(given.rejected) - SHOWN:,} more rows are left out", err=True)
    return given


def choose(given: "LabelSet", ask: "Ask", base: "GateConfig", *, refit: bool) -> "Tuned":
    """Choose, and say what was fitted and left out.

    Raises:
        UserError: the labels do not serve, or the profile has no threshold to choose.
    """
    from areopage.cli.pace import Pace
    from areopage.errors import UserError
    from areopage.gate.tuning.tuned import tuned

    pace = Pace("tune", len(given.rows))
    try:
        provenance = {"labels": given.source, "at": _today()} if refit else None
        found = tuned(given.rows, ask, base, refit=provenance, moved=pace.moved)
    except ValueError as fault:
        raise UserError(str(fault)) from None
    finally:
        pace.finish()
    if found.fitted:
        typer.echo(f"fitted on {found.fitted:,} labelled answers; the others certify:")
    if found.seen:
        why = "the grounding model was fitted on them, or on others of their group"
        typer.echo(f"areopage: {found.seen:,} labelled answers are left out: {why}", err=True)
    return found


def write(found: "Tuned", given: "LabelSet", output: Path, *, who: str, certain: bool) -> Path:
    """Write the rules with their statement.

    Raises:
        UserError: not even an uncertain threshold was found.
        StorageError: the folder cannot be written.
    """
    from areopage import __version__
    from areopage.errors import UserError
    from areopage.gate.tuning.tuned import tuned_rules
    from areopage.suites.gate import write_gate_config

    rules = tuned_rules(
        found,
        given.rows,
        source=given.source,
        skewed=given.skewed,
        by=who,
        at=_today(),
        program=__version__,
        certain=certain,
    )
    if rules is None:
        raise UserError("other rules hold back every labelled answer: there is no threshold to write")
    return write_gate_config(rules, output)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
