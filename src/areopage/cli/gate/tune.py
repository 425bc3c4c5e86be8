"""Command `areopage gate tune`: thresholds for a stated risk, from labelled answers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from areopage.app import RULES_FILE, find_config, load_rules, open_ledger, write_rules
from areopage.cli.exit_codes import INCONCLUSIVE
from areopage.cli.gate.report import NO_ANSWERS, scope_of, tell_reduced_texts
from areopage.cli.options import CollectionOption, ConfigOption, LedgerOption, RulesOption, SinceOption, UntilOption, one_of, tell
from areopage.cli.progress.pace import PaceLine
from areopage.errors import UserError, counted
from areopage.gate import CONTROLS, Ask, Control, GateConfig, Outcome, Tuned, Tuning, interval, tuned, tuned_rules
from areopage.review import LabelSet
from areopage.version import __version__

LEDGER = "ledger"

SHOWN = 5


def tune(
    labels: Annotated[
        list[str], typer.Option("--labels", metavar="FILE|ledger", help="Labelled answers: a dataset (repeatable), or `ledger`.")
    ],
    risk: Annotated[float, typer.Option("--risk", metavar="SHARE", help="Allowed share of ungrounded answers.")] = 0.02,
    confidence: Annotated[float, typer.Option("--confidence", metavar="SHARE", help="Confidence of that bound.")] = 0.95,
    of: Annotated[
        str, typer.Option("--of", metavar="delivered|all|average", help="Reference population of the risk; see the reference.")
    ] = "delivered",
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the model on half of the groups and certify on the other half.")
    ] = False,
    grey_band: Annotated[
        bool, typer.Option("--grey-band", help="Choose a second threshold; a judge decides between the two.")
    ] = False,
    precision: Annotated[
        float, typer.Option("--precision", metavar="SHARE", help="Minimum share of ungrounded answers above the grey band.")
    ] = 0.5,
    rules: RulesOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="DIR", help="Folder for gate.yml; without it no file is written.")
    ] = None,
    who: Annotated[str, typer.Option("--who", metavar="NAME", help="Name to record in the file.")] = "",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed for the groups that fit a model.")] = 0,
    force_uncertified: Annotated[
        bool, typer.Option("--force-uncertified", help="Write the best threshold even if none is certified.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing gate.yml.")] = False,
    since: SinceOption = None,
    until: UntilOption = None,
    collection: CollectionOption = None,
    config: ConfigOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Choose thresholds that keep a stated risk at a stated confidence, and print their cost; exit code 1 if none does."""
    control = one_of("--of", of, CONTROLS)
    ask = Ask(risk=risk, confidence=confidence, control=control, grey_band=grey_band, precision=precision, seed=seed)
    for name, share in (("--risk", risk), ("--confidence", confidence), ("--precision", precision)):
        if not 0.0 < share < 1.0:
            raise UserError(f"{name} {share:g}: give a share between 0 and 1, such as 0.02")
    settings = find_config(config, ledger)
    base = load_rules(rules) if rules else settings.gate
    if output is not None and not force and (output / RULES_FILE).exists():
        raise UserError(f"{output / RULES_FILE} exists: choose another folder, or replace it with --force")
    if labels == [LEDGER]:
        scope = scope_of(since, until, collection)
        tell_reduced_texts(settings)
        with open_ledger(settings, advice=NO_ANSWERS) as opened:
            label_set = LabelSet.of_ledger(opened, scope)
    else:
        label_set = _file_labels(labels, [since, until, collection])
    for why, count in label_set.left_out.items():
        tell(f"areopage: left out: {count:,} {why}")
    choice = _choose(label_set, ask, base, refit=refit)
    _conclude(choice, label_set, output, who=who, forced=force_uncertified)


def _conclude(choice: Tuned, label_set: LabelSet, output: Path | None, *, who: str, forced: bool) -> None:
    typer.echo("\n".join(_tuning_lines(choice.tuning)))
    certain = choice.tuning.certified and not label_set.skewed
    if label_set.skewed:
        advice = "the labels are not a random sample of the traffic. Label a random sample of all answers"
        tell(f"NOT certified for the traffic: {label_set.skewed}; {advice}")
    if output is not None and (certain or forced):
        provenance = {"by": who, "at": _today(), "program": __version__}
        rules = tuned_rules(
            choice, label_set.rows, source=label_set.source, skewed=label_set.skewed, certain=certain, **provenance
        )
        if rules is None:
            raise UserError("other rules hold every labelled answer: there is no threshold to write")
        path = write_rules(rules, output)
        tell(f"written to {path}; to use it, set in areopage.yml: gate: {{file: {path}}}")
    elif not certain and output is not None:
        tell("no file was written (--force-uncertified writes an uncertified threshold)")
    if not certain:
        raise typer.Exit(INCONCLUSIVE)


def _file_labels(labels: Sequence[str], narrowing: Sequence[str | None]) -> LabelSet:
    if LEDGER in labels:
        raise UserError("--labels: give either files or ledger")
    if any(narrowing):
        raise UserError("--since, --until and --collection apply only to --labels ledger")
    label_set = LabelSet.of_files([Path(name) for name in labels])
    for row in label_set.rejected[:SHOWN]:
        tell(f"areopage: {row.file} row {row.row}: skipped: {row.reason}")
    if len(label_set.rejected) > SHOWN:
        tell(f"areopage: {counted(len(label_set.rejected) - SHOWN, 'more row')} skipped")
    return label_set


def _choose(label_set: LabelSet, ask: Ask, base: GateConfig, *, refit: bool) -> Tuned:
    pace = PaceLine("tune", len(label_set.rows))
    try:
        provenance = {"labels": label_set.source, "at": _today()} if refit else None
        choice = tuned(label_set.rows, ask, base, refit=provenance, moved=pace.moved)
    except ValueError as fault:
        raise UserError(str(fault)) from None
    finally:
        pace.finish()
    if choice.fitted:
        typer.echo(f"fitted on {counted(choice.fitted, 'labelled answer')}; the others certify:")
    if choice.seen:
        why = "the grounding model was fitted on them or on their group"
        tell(f"areopage: {choice.seen:,} labelled answers are excluded: {why}")
    return choice


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


CLAIMS: dict[Control, str] = {
    "delivered": "at most {risk} of the delivered answers are ungrounded, with {confidence} confidence",
    "all": "at most {risk} of all answers are ungrounded and delivered, with {confidence} confidence",
    "average": "at most {risk} of all answers are ungrounded and delivered, on average over draws of labelled answers",
}
OF: dict[Control, str] = {"delivered": "of the delivered", "all": "of all", "average": "of all"}


def _tuning_lines(tuning: Tuning) -> list[str]:
    ask, now, groups = tuning.ask, tuning.now, tuning.groups
    claim = CLAIMS[ask.control].replace("{risk}", _percent(ask.risk)).replace("{confidence}", _percent(ask.confidence))
    lines = [
        f"{counted(tuning.rows, 'labelled answer')} ({tuning.ungrounded:,} ungrounded); "
        f"each group counts once: {tuning.groups:,}",
        f"other rules hold {tuning.ruled_out:,} of them at any threshold ({tuning.ruled_out_ungrounded:,} ungrounded)",
        "",
        f"{claim[:1].upper()}{claim[1:]}: {'certified' if tuning.certified else 'NOT certified'}",
    ]
    lines += [f"  {line}" for line in (_certified_lines(tuning) if tuning.certified else _needed_lines(tuning))]
    certain = f"with {_percent(ask.confidence)} confidence"
    bound = "" if now.bound is None else f", at most {_percent(now.bound)} {OF[ask.control]} {certain}"
    at = "" if ask.control == "average" else f", at {_percent(1 - (1 - ask.confidence) / (2 if ask.grey_band else 1))} confidence"
    return [
        *lines,
        "",
        f"as configured now (up to {now.threshold:g}): delivered {_of(now.delivered, now.answers, groups)}; "
        f"ungrounded among them {now.wrong:,}{bound}; grounded held {_of(now.false_alarms, now.grounded, groups)}",
        "",
        f"other risks, {OF[ask.control]}, each on its own{at}:",
        "  risk  threshold  delivered            ungrounded  grounded held",
        *(_row(outcome, groups, marked=outcome.risk == ask.risk) for outcome in tuning.alternatives),
    ]


def _certified_lines(tuning: Tuning) -> list[str]:
    chosen, holding, groups = tuning.chosen, tuning.holding, tuning.groups
    lines = [
        f"deliver up to p_unsupported {chosen.threshold:g}",
        f"delivered: {_of(chosen.delivered, chosen.answers, groups)}; "
        f"held: {_of(chosen.answers - chosen.delivered, chosen.answers, groups)}",
        f"ungrounded among them: {chosen.wrong:,} of {chosen.delivered:,}",
        f"cost: grounded answers held: {_of(chosen.false_alarms, chosen.grounded, groups)}",
    ]
    if not tuning.ungrounded:
        lines.append("no labelled answer is ungrounded: these labels cannot show whether the gate detects any")
    if holding is None:
        return lines
    wanted = f"at least {_percent(holding.precision)} of the answers held without a judge are ungrounded"
    if holding.threshold is None:
        return [*lines, f"grey band: every answer above that threshold; no second threshold is certified for this: {wanted}"]
    return [
        *lines,
        f"grey band: up to {holding.threshold:g}; above it, {wanted}: {holding.ungrounded:,} of {holding.held:,} here",
        "(both statements hold jointly at the requested confidence, without answers that a judge releases from the grey band)",
    ]


def _needed_lines(tuning: Tuning) -> list[str]:
    needed, ask = tuning.needed, tuning.ask
    if needed is None:
        return ["the certified threshold delivers no answer"]
    lines = [
        f"at least {needed.least:,} labelled answers (groups) are needed, even if no delivered one is wrong; "
        f"found {tuning.groups:,}"
    ]
    if tuning.ruled_out == tuning.rows:
        lines.append("other rules hold all of them: label answers that could be delivered")
    elif tuning.ungrounded == tuning.rows:
        lines.append("no labelled answer is grounded: label a random sample of the traffic")
    elif needed.likely is not None and ask.control != "average":
        lines.append(f"estimate from these labels: about {needed.likely:,} are needed")
    elif needed.share is not None:
        lines.append(
            f"estimate from these labels: no number suffices; even at the best threshold about {_percent(needed.share)} "
            f"{OF[ask.control]} are ungrounded. Allow a larger risk, or fit the model on your own answers (--refit)"
        )
    elif ask.control != "average":
        lines.append("too few labels to estimate how many are needed: label a random sample of the traffic")
    return lines


def _row(outcome: Outcome, groups: int, *, marked: bool) -> str:
    mark = "*" if marked else " "
    if outcome.threshold is None or not outcome.delivered:
        return f"{mark}{_percent(outcome.risk):>5}  not certified"
    delivered = _of(outcome.delivered, outcome.answers, groups, short=True)
    alarms = _of(outcome.false_alarms, outcome.grounded, groups, short=True)
    return f"{mark}{_percent(outcome.risk):>5}  {outcome.threshold:>9g}  {delivered:<19}  {outcome.wrong:>10,}  {alarms}"


def _of(hits: int, total: int, groups: int, *, short: bool = False) -> str:
    """A share with its interval: 12 of 80 (15.0 %, 95 % interval 8.8 % to 24.4 %)."""
    ends = interval(hits, total, groups)
    if ends is None:
        return "none"
    if short:
        return f"{hits / total:.1%} [{ends[0]:.0%}, {ends[1]:.0%}]"
    return f"{hits:,} of {total:,} ({hits / total:.1%}; 95% interval {ends[0]:.1%} to {ends[1]:.1%})"


def _percent(share: float) -> str:
    return f"{share * 100:.3g}%"
