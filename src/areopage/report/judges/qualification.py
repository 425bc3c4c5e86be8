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


def _standing_of_panel(locale: Locale, known: str) -> tuple[str, str]:
    """The state of a panel, and the judges that its standing names, with reasons translated."""
    state, names = standing_parts(known)
    for reason, said in locale.messages["qualifications"].items():
        names = names.replace(reason, said)
    return state, names


def qualification_text(locale: Locale, known: str) -> str:
    """Describe the standing of a panel as a fact about its judges: never examined; unfit: tiny (why)."""
    state, names = _standing_of_panel(locale, known)
    return locale.say(f"known_{state}_named", who=names) if names else locale.say(f"known_{state}")


def panel_text(locale: Locale, known: str) -> str:
    """The same where it does not stand beside the word judges: judges never examined."""
    state, names = _standing_of_panel(locale, known)
    return locale.say(f"judges_{state}_named", who=names) if names else locale.say(f"judges_{state}")


def is_alarming(known: str) -> bool:
    """Whether the standing of a panel is marked: a judge is unfit, drifted or not qualified."""
    return standing_parts(known)[0] in ALARMING


def qualification_badge(locale: Locale, known: str) -> Badge:
    """The standing of a panel for display beside means."""
    return Badge(text=panel_text(locale, known), alarm=is_alarming(known))


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
        told = locale.say("examined_on", date=date, n=locale.whole(standing.qualified), all=locale.whole(every))
        # its exam asked about one criterion a call and it is asked jointly, or the reverse
        return f"{told} ({locale.count('examined_otherwise', standing.otherwise)})" if standing.otherwise else told
    return locale.say("examined_older", date=locale.date(standing.older)) if standing.older else ""


def missed_lines(locale: Locale, standings: Iterable[JudgeStanding], names: dict[str, str]) -> Iterator[str]:
    """Why judges are not qualified, a line for each criterion.

    Args:
        names: of criteria, by id.
    """
    for standing in standings:
        failed = [one for one in standing.criteria if one.state == "not_qualified"]
        for one in failed[:_SHOWN]:
            why = locale.say("missed_joint").join(mark_text(locale, mark) for mark in one.missed)
            yield locale.say("missed_line", judge=standing.judge, criterion=names.get(one.criterion, one.criterion), why=why)
        if len(failed) > _SHOWN:
            yield locale.say("missed_more", n=locale.whole(len(failed) - _SHOWN))


def drift_lines(locale: Locale, standings: Iterable[JudgeStanding], names: dict[str, str]) -> Iterator[str]:
    """How judges moved since their exams, a line for each criterion; see `missed_lines`."""
    for standing in standings:
        moved = [one for one in standing.criteria if one.state == "drifted" and one.drifted_at and one.shift]
        for one in moved[:_SHOWN]:
            if one.drifted_at is not None and one.shift is not None:
                told = {"judge": standing.judge, "criterion": names.get(one.criterion, one.criterion)}
                date, how = locale.date(one.drifted_at), moved_text(locale, one.shift)
                yield locale.say("drift_line", **told, date=date, n=locale.whole(one.drift_round), how=how)
        if len(moved) > _SHOWN:
            yield locale.say("missed_more", n=locale.whole(len(moved) - _SHOWN))


def moved_text(locale: Locale, shift: Shift) -> str:
    """How far scores moved, in points of the criterion's scale, and the share of calls without a score where that changed."""
    told = locale.say("shift_unknown")
    if shift.value is not None:
        ends = {"low": locale.signed(shift.low), "high": locale.signed(shift.high)}
        told = locale.say("shift_by", value=locale.signed(shift.value), **ends, n=locale.whole(shift.rows))
        if shift.apart is not None and shift.apart > 2 * abs(shift.value):
            told += locale.say("shift_apart", apart=locale.number(shift.apart))
    if abs(shift.unscored - shift.unscored_before) >= _UNSCORED:
        before, now = locale.percent(shift.unscored_before, trim=True), locale.percent(shift.unscored, trim=True)
        told += locale.say("shift_unscored", before=before, now=now)
    return told


def shift_text(locale: Locale, one: CanaryRound) -> str:
    """What a round says of a judge on a criterion."""
    told = locale.say("round_found", n=locale.whole(one.found)) if one.moved else ""
    evidence = locale.short(round(one.look.evidence, 1) if one.look.evidence < 1000 else float(round(one.look.evidence)))
    return locale.say(
        "round_line", how=moved_text(locale, one.shift), found=told, n=locale.whole(one.sequence), evidence=evidence
    )


def mark_text(locale: Locale, mark: Mark) -> str:
    """Why a mark is not met, and what would settle it."""
    named, figure = locale.say(f"figure_{mark.name}"), mark.figure
    if figure.value is None:
        told = locale.say("missed_unmeasured", figure=named)
    else:
        low, high = (MISSING if end is None else locale.number(end) for end in (figure.low, figure.high))
        ends = {"value": locale.number(figure.value), "low": low, "high": high, "limit": locale.number(mark.limit)}
        told = locale.say(f"missed_{mark.state}", figure=named, **ends)
    needs = ""
    if mark.needed_low or mark.needed_high:
        sides = {"low": locale.whole(mark.needed_low), "high": locale.whole(mark.needed_high)}
        needs = locale.say("missed_needs_sides", **sides)
    elif mark.needed:
        needs = locale.count("missed_needs", mark.needed)
    elif mark.name == "consistency" and figure.value is None:
        needs = locale.say("missed_needs_passes")
    return f"{told} ({needs})" if needs else told
