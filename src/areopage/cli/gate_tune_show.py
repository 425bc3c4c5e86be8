"""What the tuner found, as lines for a terminal."""

from areopage.gate.tuning.risk import Control
from areopage.gate.tuning.thresholds import Outcome, Tuning
from areopage.scoring.shares import wilson

CLAIMS: dict[Control, str] = {
    "delivered": "at most {risk} of the delivered answers are ungrounded, with {confidence} confidence",
    "all": "at most {risk} of all answers are ungrounded and delivered, with {confidence} confidence",
    "average": "at most {risk} of all answers are ungrounded and delivered, on average over draws of labelled answers",
}
OF: dict[Control, str] = {"delivered": "of the delivered", "all": "of all", "average": "of all"}


def claim_text(tuning: Tuning) -> str:
    """What was asked for."""
    ask = tuning.ask
    text = CLAIMS[ask.control].replace("{risk}", percent(ask.risk)).replace("{confidence}", percent(ask.confidence))
    return text[:1].upper() + text[1:]


def tuning_lines(tuning: Tuning) -> list[str]:
    """The whole result."""
    lines = [
        f"{tuning.rows:,} labelled answers; one of each group counts: {tuning.answers:,} ({tuning.ungrounded:,} ungrounded)",
        f"other rules hold back {tuning.ruled_out:,} of them at any threshold ({tuning.ruled_out_ungrounded:,} ungrounded)",
        "",
        f"{claim_text(tuning)}: {'certified' if tuning.certified else 'NOT certified'}",
    ]
    lines += [f"  {line}" for line in (certified_lines(tuning) if tuning.certified else needed_lines(tuning))]
    return [*lines, "", *_now(tuning), "", *table(tuning)]


def certified_lines(tuning: Tuning) -> list[str]:
    """The thresholds with their price."""
    chosen, holding = tuning.chosen, tuning.holding
    lines = [
        f"deliver up to p_unsupported {chosen.threshold:g}",
        f"delivered: {of(chosen.delivered, chosen.answers)}; held back: {of(chosen.answers - chosen.delivered, chosen.answers)}",
        f"ungrounded among them: {chosen.wrong:,} of {chosen.delivered:,}",
        f"price: grounded answers held back: {of(chosen.false_alarms, chosen.grounded)}",
    ]
    if not tuning.ungrounded:
        lines.append("not one labelled answer is ungrounded: whether the model catches any, these labels cannot tell")
    if holding is None:
        return lines
    wanted = f"at least {percent(holding.precision)} of those held back without a judge are ungrounded"
    if holding.threshold is None:
        return [*lines, f"grey band: all over that threshold; no second one is certain to keep this: {wanted}"]
    return [
        *lines,
        f"grey band: up to {holding.threshold:g}; above it, {wanted}: {holding.ungrounded:,} of {holding.held:,} here",
        "(both statements hold together with the confidence asked for; what a judge lets out of the grey band is in neither)",
    ]


def needed_lines(tuning: Tuning) -> list[str]:
    """How many labels would do."""
    found, ask = tuning.needed, tuning.ask
    if found is None:
        return ["the threshold that is certain delivers nothing"]
    lines = [f"it takes {found.least:,} such answers (groups) even if no delivered one is wrong; there are {tuning.answers:,}"]
    if tuning.ruled_out == tuning.answers:
        lines.append("other rules hold all of them back: labels of answers that could be delivered are needed")
    elif tuning.ungrounded == tuning.answers:
        lines.append("not one labelled answer is grounded: label more, drawn at random from the traffic")
    elif found.likely is not None and ask.control != "average":
        lines.append(f"judged by these, about {found.likely:,} would do")
    elif found.share is not None:
        lines.append(
            f"judged by these, no number would do: even at the best threshold about {percent(found.share)} "
            f"{OF[ask.control]} are ungrounded. Allow a larger risk, or fit the model on your own answers (--refit)"
        )
    elif ask.control != "average":
        lines.append("so few of them do not tell how many would do: label more, drawn at random from the traffic")
    return lines


def _now(tuning: Tuning) -> list[str]:
    """What the configuration does as it is."""
    now, ask = tuning.now, tuning.ask
    certain = f"with {percent(ask.confidence)} confidence"
    known = "" if now.bound is None else f", at most {percent(now.bound)} {OF[ask.control]} {certain}"
    return [
        f"as configured now (up to {now.threshold:g}): delivered {of(now.delivered, now.answers)}; "
        f"ungrounded among them {now.wrong:,}{known}; grounded held back {of(now.false_alarms, now.grounded)}"
    ]


def table(tuning: Tuning) -> list[str]:
    """Other risks, each by itself."""
    ask = tuning.ask
    at = "" if ask.control == "average" else f", at {percent(1 - (1 - ask.confidence) / (2 if ask.grey_band else 1))} confidence"
    lines = [
        f"other risks, {OF[ask.control]}, each by itself{at}:",
        "  risk  threshold  delivered            ungrounded  grounded held back",
    ]
    return [*lines, *(_row(one, marked=one.risk == tuning.ask.risk) for one in tuning.alternatives)]


def _row(one: Outcome, *, marked: bool) -> str:
    mark = "*" if marked else " "
    if one.threshold is None or not one.delivered:
        return f"{mark}{percent(one.risk):>5}  not certified"
    delivered, alarms = of(one.delivered, one.answers, short=True), of(one.false_alarms, one.grounded, short=True)
    return f"{mark}{percent(one.risk):>5}  {one.threshold:>9g}  {delivered:<19}  {one.wrong:>10,}  {alarms}"


def of(hits: int, total: int, *, short: bool = False) -> str:
    """A share with its interval: 12 of 80 (15.0 %, 95 % interval 8.8 % to 24.4 %)."""
    ends = wilson(hits, total)
    if ends is None:
        return "none"
    if short:
        return f"{hits / total:.1%} [{ends[0]:.0%}, {ends[1]:.0%}]"
    return f"{hits:,} of {total:,} ({hits / total:.1%}; 95% interval {ends[0]:.1%} to {ends[1]:.1%})"


def percent(share: float) -> str:
    """A share as short as it can be told: 2%, 0.5%."""
    return f"{share * 100:.3g}%"
