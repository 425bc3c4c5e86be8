"""What exams say of judges, in the reader's language; the ledger stores English."""

from collections.abc import Iterable, Iterator

from areopage.ledger import CanaryRound, JudgeStanding, Standing, standing_parts
from areopage.locales import MISSING, Locale
from areopage.report.model import Badge
from areopage.scoring import Mark, Shift

ALARMING = ("unfit", "drifted", "not_qualified")
_SHOWN = 8  # criteria of one judge
_UNSCORED = 0.1  # a change of the share of calls without a score that is told


def judge_reason(locale: Locale, reason: str) -> str:
    """The reason for a judge's unfitness, translated if known."""
    return str(locale.messages["qualifications"].get(reason, reason))


def qualification_text(locale: Locale, standing: str, *, message: str = "known_{state}") -> str:
    """Describe the standing of a panel as a fact about its judges: never examined; unfit: tiny (why)."""
    state, names = standing_parts(standing)
    for reason, said in locale.messages["qualifications"].items():
        names = names.replace(reason, said)
    key = message.format(state=state)
    return locale.say(f"{key}_named", who=names) if names else locale.say(key)


def panel_text(locale: Locale, standing: str) -> str:
    """The same where it does not stand beside the word judges: judges never examined."""
    return qualification_text(locale, standing, message="judges_{state}")


def is_alarming(standing: str) -> bool:
    """Whether the standing of a panel is marked: a judge is unfit, drifted or not qualified."""
    return standing_parts(standing)[0] in ALARMING


def qualification_badge(locale: Locale, standing: str) -> Badge:
    """The standing of a panel for display beside means."""
    return Badge(text=panel_text(locale, standing), alarm=is_alarming(standing))


def judge_text(locale: Locale, standing: Standing | None) -> str:
    """The standing of one judge in a word; of an unfit one with the reason."""
    if standing is None:
        return locale.say("judge_never_examined")
    if standing.state == "unfit":
        return locale.say("judge_unfit_named", who=judge_reason(locale, standing.reason))
    return locale.say(f"judge_{standing.word}")


def exam_text(locale: Locale, standing: Standing) -> str:
    """When a judge was examined and on how many criteria it is qualified, or when it moved; "" where it never was examined."""
    every = standing.qualified + standing.not_qualified + standing.never_examined + standing.drifted
    if standing.drifted_at is not None:
        date, since = locale.date(standing.drifted_at), locale.date(standing.examined_at or standing.drifted_at)
        return locale.say("drifted_on", date=date, since=since, n=locale.whole(standing.drifted), all=locale.whole(every))
    if standing.examined_at is not None:
        date = locale.date(standing.examined_at)
        text = locale.say("examined_on", date=date, n=locale.whole(standing.qualified), all=locale.whole(every))
        # its exam asked about one criterion a call and it is asked jointly, or the reverse
        return f"{text} ({locale.count('examined_otherwise', standing.otherwise)})" if standing.otherwise else text
    return locale.say("examined_older", date=locale.date(standing.older)) if standing.older else ""


def missed_lines(locale: Locale, standings: Iterable[JudgeStanding], names: dict[str, str]) -> Iterator[str]:
    """Why judges are not qualified, a line for each criterion.

    Args:
        names: of criteria, by id.
    """
    for standing in standings:
        failed = [criterion for criterion in standing.criteria if criterion.state == "not_qualified"]
        for criterion in failed[:_SHOWN]:
            why = locale.say("missed_joint").join(mark_text(locale, mark) for mark in criterion.missed)
            name = names.get(criterion.criterion, criterion.criterion)
            yield locale.say("missed_line", judge=standing.judge, criterion=name, why=why)
        if len(failed) > _SHOWN:
            yield locale.say("missed_more", n=locale.whole(len(failed) - _SHOWN))


def drift_lines(locale: Locale, standings: Iterable[JudgeStanding], names: dict[str, str]) -> Iterator[str]:
    """How judges moved since their exams, a line for each criterion; see `missed_lines`."""
    for standing in standings:
        moved = [criterion for criterion in standing.criteria if criterion.state == "drifted"]
        for criterion in moved[:_SHOWN]:
            if criterion.drifted_at is not None and criterion.shift is not None:
                named = {"judge": standing.judge, "criterion": names.get(criterion.criterion, criterion.criterion)}
                date, how = locale.date(criterion.drifted_at), moved_text(locale, criterion.shift)
                yield locale.say("drift_line", **named, date=date, n=locale.whole(criterion.drift_round), how=how)
        if len(moved) > _SHOWN:
            yield locale.say("missed_more", n=locale.whole(len(moved) - _SHOWN))


def moved_text(locale: Locale, shift: Shift) -> str:
    """How far scores moved, in points of the criterion's scale, and the share of calls without a score where that changed."""
    text = locale.say("shift_unknown")
    if shift.value is not None:
        ends = {"low": locale.signed(shift.low), "high": locale.signed(shift.high)}
        text = locale.say("shift_by", value=locale.signed(shift.value), **ends, n=locale.whole(shift.rows))
        if shift.apart is not None and shift.apart > 2 * abs(shift.value):
            text += locale.say("shift_apart", apart=locale.number(shift.apart))
    if abs(shift.unscored - shift.unscored_before) >= _UNSCORED:
        before, now = locale.percent(shift.unscored_before, trim=True), locale.percent(shift.unscored, trim=True)
        text += locale.say("shift_unscored", before=before, now=now)
    return text


def shift_text(locale: Locale, canary: CanaryRound) -> str:
    """What a round says of a judge on a criterion."""
    drift = locale.say("round_found", n=locale.whole(canary.found)) if canary.moved else ""
    evidence = locale.short(round(canary.look.evidence, 1) if canary.look.evidence < 1000 else float(round(canary.look.evidence)))
    return locale.say(
        "round_line", how=moved_text(locale, canary.shift), found=drift, n=locale.whole(canary.sequence), evidence=evidence
    )


def mark_text(locale: Locale, mark: Mark) -> str:
    """Why a mark is not met, and what would settle it."""
    named, figure = locale.say(f"figure_{mark.name}"), mark.figure
    if figure.value is None:
        text = locale.say("missed_unmeasured", figure=named)
    else:
        low, high = (MISSING if end is None else locale.number(end) for end in (figure.low, figure.high))
        ends = {"value": locale.number(figure.value), "low": low, "high": high, "limit": locale.number(mark.limit)}
        text = locale.say(f"missed_{mark.state}", figure=named, **ends)
    needs = ""
    if mark.needed_low or mark.needed_high:
        sides = {"low": locale.whole(mark.needed_low), "high": locale.whole(mark.needed_high)}
        needs = locale.say("missed_needs_sides", **sides)
    elif mark.needed:
        needs = locale.count("missed_needs", mark.needed)
    elif mark.name == "consistency" and figure.value is None:
        needs = locale.say("missed_needs_passes")
    return f"{text} ({needs})" if needs else text
