"""The end of a round of golden questions: compare scores, alert, and store the verdict."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec import Struct

from areopage.cases import Case
from areopage.criteria import Scale
from areopage.ledger import GoldenRun, Ledger, storable
from areopage.monitor.alerts.jobs import Alerting, settle
from areopage.monitor.alerts.rules import GOLDEN, Finding
from areopage.monitor.alerts.texts import AlertLocale, lines, listed, plain
from areopage.scoring import critical_t

GoldenVerdict = Literal["first", "good", "drop", "incomplete"]

FEW_PAIRS = 5
"""With fewer questions an interval says little: the plain drop decides."""

MOST_FALLEN = 5
PATIENCE = timedelta(hours=6)
"""A round is finished after so long, even where answers are not judged."""

MAX_ID = 128
QUESTION_LENGTH = 160
MISSING_SHOWN = 10
REASON_LENGTH = 300
_PLAIN_ID = re.compile(r"[A-Za-z0-9._:-]+")


class GoldenQuestion(Struct, frozen=True, kw_only=True):
    """A golden question with its scores in this and the compared round."""

    id: str
    text: str
    score: float | None
    before: float | None = None


class RoundResult(Struct, frozen=True, kw_only=True):
    """A round's figures.

    `change` is the mean of the differences by question (this round minus the other), `low` and `high` its 95 % interval (None
    under two pairs). `fell` are the questions that got worse, worst first; `missing` those without a score.
    """

    verdict: GoldenVerdict
    mean: float | None
    change: float | None
    low: float | None
    high: float | None
    pairs: int
    fell: tuple[GoldenQuestion, ...]
    missing: tuple[GoldenQuestion, ...]


def judge_round(questions: Sequence[GoldenQuestion], drop: float, scale: Scale) -> RoundResult:
    """Compare two rounds question by question.

    It is a drop where the mean difference is at least `drop` points for the worse and, from five questions on, its 95 % interval
    (Student's, of paired differences) leaves 0 out. Else a round with a question that has no score is incomplete; else it is
    good, or the first one where no question has a score in both.
    """
    missing = tuple(question for question in questions if question.score is None)
    paired = _paired(questions)
    sign = 1.0 if scale.higher_is_better else -1.0
    worse = sorted((sign * difference, at) for at, (_, difference) in enumerate(paired) if sign * difference < 0)
    change, low, high = paired_change([difference for _, difference in paired])
    verdict: GoldenVerdict = "incomplete" if missing else "good" if paired else "first"
    excludes_zero = low is not None and high is not None and not low <= 0.0 <= high
    if change is not None and -sign * change >= drop and (len(paired) < FEW_PAIRS or excludes_zero):
        verdict = "drop"
    return RoundResult(
        verdict=verdict,
        mean=_mean_score(questions),
        change=change,
        low=low,
        high=high,
        pairs=len(paired),
        fell=tuple(paired[at][0] for _, at in worse[:MOST_FALLEN]),
        missing=missing,
    )


def _mean_score(questions: Sequence[GoldenQuestion]) -> float | None:
    scores = [question.score for question in questions if question.score is not None]
    return math.fsum(scores) / len(scores) if scores else None


def _paired(questions: Sequence[GoldenQuestion]) -> list[tuple[GoldenQuestion, float]]:
    """The questions that have a score in both rounds, with the difference."""
    return [
        (question, question.score - question.before)
        for question in questions
        if question.score is not None and question.before is not None
    ]


def paired_change(differences: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The mean of paired differences with its 95 % interval (from two pairs)."""
    count = len(differences)
    if not count:
        return None, None, None
    mean = math.fsum(differences) / count
    if count == 1:
        return mean, None, None
    variance = math.fsum((difference - mean) ** 2 for difference in differences) / (count - 1)
    half = critical_t(count - 1) * math.sqrt(variance / count)
    return mean, mean - half, mean + half


def answer_id(round_id: str, case_id: str) -> str:
    """The id of a question's answer in a round. A hash replaces long or invalid ids."""
    id = f"golden-{round_id}-{case_id}"
    if len(id) <= MAX_ID and _PLAIN_ID.fullmatch(id):
        return id
    return f"golden-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:48]}"


def finish_round(alerting: Alerting, cases: Sequence[Case], run: GoldenRun, now: datetime) -> GoldenRun:
    """Judge a round, alert, and store the verdict.

    The alert goes first: after a crash in between the round is finished once more. Scores are compared only where the same
    judges, criteria and weights gave them.
    """
    runs = alerting.ledger.golden_runs
    last = runs.last_good(run.suite)
    texts = {storable(case.id): case.prompt_text for case in cases}
    questions = _read_questions(alerting.ledger, run.id, last.id if last else "", texts)
    result = judge_round(questions, alerting.thresholds.golden_drop, alerting.locale.scale)
    failure = plain(run.reason, REASON_LENGTH)
    finished = msgspec.structs.replace(
        run,
        finished_at=now,
        asked=len(questions),
        scored=len(questions) - len(result.missing),
        mean=result.mean,
        compared_to=last.id if last and result.pairs else "",
        change=result.change,
        verdict=result.verdict,
        reason=lines(failure, explanation(result, last, alerting.locale)),
    )
    settle(alerting, _golden_finding(finished, result, last, alerting.locale), now)
    runs.save(finished)
    return finished


def recomputed_round(ledger: Ledger, run: GoldenRun) -> GoldenRun:
    """Compute the figures of a finished round again from its answers' scores.

    The verdict and its reason stay: they depend on the thresholds of that time. Scores that came later do not count.
    """
    questions = _read_questions(ledger, run.id, run.compared_to, {}, run.finished_at)
    change, _, _ = paired_change([difference for _, difference in _paired(questions)])
    return msgspec.structs.replace(
        run,
        asked=len(questions),
        answered=len(ledger.answers.numbers(list(ledger.golden_runs.questions(run.id).values()))),
        scored=sum(question.score is not None for question in questions),
        mean=_mean_score(questions),
        change=change,
    )


def _read_questions(
    ledger: Ledger, run_id: str, compared_to: str, texts: Mapping[str, str], until: datetime | None = None
) -> list[GoldenQuestion]:
    """The questions of a round with their scores in it and in another, in the order of their texts."""
    ids, ids_before = (ledger.golden_runs.questions(id) for id in (run_id, compared_to))
    evaluations = ledger.evaluations.latest([*ids.values(), *ids_before.values()], until)
    questions: list[GoldenQuestion] = []
    for name in dict.fromkeys([*(name for name in texts if name in ids), *ids]):
        now, before = evaluations.get(ids[name]), evaluations.get(ids_before.get(name, ""))
        comparable = now is not None and before is not None and now.run_id == before.run_id
        questions.append(
            GoldenQuestion(
                id=name,
                text=texts.get(name, ""),
                score=now.score_global if now is not None else None,
                before=before.score_global if before is not None and comparable else None,
            )
        )
    return questions


def explanation(result: RoundResult, last: GoldenRun | None, locale: AlertLocale) -> str:
    """The reason for a round's verdict."""
    missing = [_question_name(question, locale) for question in result.missing[:MISSING_SHOWN]]
    rest = len(result.missing) - len(missing)
    fell = (
        locale.say(
            "pair",
            name=_question_name(question, locale),
            value=f"{locale.mark(question.before)} → {locale.mark(question.score)}",
        )
        for question in result.fell
    )
    return lines(
        _change_text(result, last, locale),
        listed(locale.messages["golden_fell"], fell),
        listed(locale.messages["golden_missing"], [*missing, locale.say("more_rest", n=locale.whole(rest)) if rest > 0 else ""]),
    )


def _change_text(result: RoundResult, last: GoldenRun | None, locale: AlertLocale) -> str:
    """The change against the last good round, or why there is none."""
    if last is None or result.change is None:
        return locale.messages["golden_first" if last is None else "golden_other_judges"] if result.verdict == "first" else ""
    change = locale.say(
        "golden_change", change=locale.signed(result.change), before=plain(last.id, 128), pairs=locale.whole(result.pairs)
    )
    if result.low is None or result.high is None:
        return change
    return f"{change} ({locale.say('golden_interval', low=locale.signed(result.low), high=locale.signed(result.high))})"


def _question_name(question: GoldenQuestion, locale: AlertLocale) -> str:
    return f"{plain(question.id, 80)} « {locale.kept(question.text, QUESTION_LENGTH)} »"


def _golden_finding(run: GoldenRun, result: RoundResult, last: GoldenRun | None, locale: AlertLocale) -> Finding:
    """A drop and an incomplete round are alerted on; a good round clears."""
    values = {
        "drop": locale.number(abs(result.change or 0.0), 2),
        "missing": locale.whole(len(result.missing)),
        "asked": locale.whole(run.asked),
    }
    head = lines(
        locale.line("golden_round", plain(run.id, 128)),
        locale.line("golden_mean", locale.score(run.mean)),
    )
    return Finding(
        rule=GOLDEN,
        subject=run.suite,
        bad=run.verdict in ("drop", "incomplete"),
        clear=run.verdict in ("good", "first"),
        title=locale.say(f"golden_{'drop' if run.verdict == 'drop' else 'incomplete'}_title", **values),
        body=lines(head, run.reason, locale.page()),
        recovered=(locale.messages["golden_recovered_title"], lines(head, _change_text(result, last, locale), locale.page())),
    )
