"""The rule about judges' failures: answers and verdicts without a score."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from areopage.ledger.queries import JudgeDays
from areopage.ledger.records import Evaluation
from areopage.monitor.alerts.rules import JUDGE, Finding
from areopage.monitor.alerts.texts import AlertLocale, lines, listed, plain
from areopage.monitor.config import JudgeRule


class Failing(Struct, frozen=True, kw_only=True):
    """Rates of failed judging: answers without a global score, verdicts without a score.

    Args:
        retried: those of the answers without a score that are not finished: judges failed on them, and another attempt follows
            or none is left.
    """

    answers: int = 0
    unscored: int = 0
    retried: int = 0
    planned: int = 0
    missing: int = 0

    @property
    def share(self) -> float:
        """The larger of both shares, in [0, 1].

        One judge of several may fail without an answer losing its score.
        """
        by_answer = self.unscored / self.answers if self.answers else 0.0
        by_verdict = self.missing / self.planned if self.planned else 0.0
        return max(by_answer, by_verdict)


def failing_of(rows: Sequence[Evaluation], retried: int = 0) -> Failing:
    """The figures of some answers, and of those that judges failed on and that have no row yet."""
    return Failing(
        answers=len(rows) + retried,
        unscored=sum(row.score_global is None for row in rows) + retried,
        retried=retried,
        planned=sum(row.planned for row in rows),
        missing=sum(row.planned - row.scored for row in rows),
    )


def judge_finding(failing: Failing, today: Sequence[JudgeDays], rule: JudgeRule, locale: AlertLocale) -> Finding:
    """Bad strictly over `failed_share`, clear at `clear` or less.

    Args:
        today: what each judge did today, to say which one fails.
    """
    enough = failing.answers >= rule.minimum
    values = {
        "share": locale.percent(failing.share, trim=True),
        "answers": locale.whole(failing.answers),
        "unscored": locale.whole(failing.unscored),
        "retried": locale.whole(failing.retried),
        "missing": locale.whole(failing.missing),
        "planned": locale.whole(failing.planned),
        "hours": locale.hours(rule.hours),
        "threshold": locale.percent(rule.failed_share, trim=True),
        "clear": locale.percent(rule.clear, trim=True),
    }
    retried = locale.say("judge_retried", **values) if failing.retried else ""
    by_judge = [locale.say("pair", name=plain(one.judge, 80), value=outcomes(one.outcomes, locale)) for one in today]
    return Finding(
        rule=JUDGE,
        bad=enough and failing.share > rule.failed_share,
        clear=enough and failing.share <= rule.clear,
        title=locale.say("judge_title", **values),
        body=lines(locale.say("judge_text", **values), retried, listed(locale.messages["judge_today"], by_judge), locale.page()),
        recovered=(locale.say("judge_recovered_title", **values), lines(locale.say("judge_recovered", **values), locale.page())),
    )


def outcomes(counts: Mapping[str, int], locale: AlertLocale) -> str:
    """`12 scored, 3 unreadable`."""
    return ", ".join(
        f"{locale.whole(count)} {locale.messages.get(f'outcome_{name}', name)}" for name, count in sorted(counts.items()) if count
    )
