"""How far a score can be trusted, in sentences: the short answer, what is missing, and what would tell more."""

from collections.abc import Iterator, Sequence

from areopage.bench.trust.records import FEW, FINAL, Group, JudgeTrust, PeopleTrust, Step, Trust
from areopage.locales import Locale
from areopage.report import audience, judge_reason, judge_text, range_text, share_range
from areopage.scoring import Estimate

PARTS_SHOWN = 3


def opening(trust: Trust, locale: Locale) -> tuple[str, ...]:
    """The short answer, computed from the record: on the judges, on people, on the score, and on what is left out."""
    return tuple(" ".join(part(trust, locale)) for part in (_judges, _people, _score, _left_out))


def _judges(trust: Trust, locale: Locale) -> Iterator[str]:
    standings = [judge.standing for judge in trust.judges]
    if unfit := [standing for standing in standings if standing.state == "unfit"]:
        reasons = ((standing.judge, judge_reason(locale, standing.reason)) for standing in unfit)
        who = (locale.say("trust_judge_state", judge=judge, state=reason) for judge, reason in reasons)
        yield locale.say("trust_open_unfit", who=", ".join(who))
    if not standings:
        yield locale.say("trust_open_no_judges")
    elif all(standing.state == "qualified" for standing in standings):
        yield locale.count("trust_open_passed", len(standings))
    elif all(standing.state == "never_examined" and not standing.examined_at for standing in standings):
        yield locale.count("trust_open_unexamined", len(standings))
    else:
        passed = [standing for standing in standings if standing.state == "qualified"]
        others = (
            locale.say("trust_judge_state", judge=judge.standing.judge, state=exam_state(judge, locale))
            for judge in trust.judges
            if judge.standing.state != "qualified"
        )
        facts = {"others": locale.clauses(others)}
        if passed:
            yield locale.count("trust_open_some", len(passed), all=locale.whole(len(standings)), **facts)
        else:
            yield locale.count("trust_open_none_passed", len(standings), **facts)
    if any(standing.provisional for standing in standings):
        yield locale.say("trust_open_provisional")
    worth = trust.jury
    if len(trust.judges) < 2:
        return
    numbers = {"judges": locale.whole(len(trust.judges))}
    effective = worth.labelled.effective if worth is not None else None
    if worth is None or effective is None or effective.value.value is None:
        yield locale.say("trust_open_jury_unknown", **numbers)
        return
    facts = {"value": locale.number(effective.value.value, 1), "range": interval_text(effective.value, locale, digits=1)}
    yield locale.say("trust_open_jury", **numbers, **facts, n=locale.whole(worth.labelled.items))


def exam_state(judge: JudgeTrust, locale: Locale) -> str:
    """What exams say of a judge in a few words; with the number of criteria where it passed on some."""
    standing = judge.standing
    counts = {"failed": standing.not_qualified, "never": standing.never_examined}
    every = standing.qualified + sum(counts.values())
    word = judge_text(locale, standing)
    if standing.state == "unfit" or not standing.qualified:
        return word
    passed = locale.say("trust_passed_on", n=locale.whole(standing.qualified), all=locale.whole(every))
    rest = [locale.say(f"trust_{name}_on", n=locale.whole(count)) for name, count in counts.items() if count]
    text = ", ".join([passed, *rest])
    return text if standing.state in ("qualified", "not_qualified", "never_examined") else f"{word}, {text}"


def interval_text(estimate: Estimate, locale: Locale, *, sign: bool = False, digits: int = 2) -> str:
    """An interval as words; the word for none where it is not known."""
    if estimate.low is None or estimate.high is None:
        return locale.say("trust_no_interval")
    return range_text(locale, estimate.low, estimate.high, sign=sign, digits=digits)


def around(low: float | None, high: float | None, locale: Locale) -> str:
    """The interval of a score, named as one; the words for none where there is none."""
    if low is None or high is None:
        return locale.say("trust_no_interval")
    return locale.say("trust_interval", range=range_text(locale, low, high))


def _people(trust: Trust, locale: Locale) -> Iterator[str]:
    people = trust.people
    if people is None:
        yield locale.say("trust_open_nobody")
        return
    if not people.at_random:
        yield locale.count("trust_open_chosen", people.answers)
    elif people.of is None:
        yield locale.count("trust_open_people_drawn", people.answers)
    else:
        yield locale.count("trust_open_people", people.answers, of=locale.whole(people.of))
    yield from _agreement(trust, people, locale)
    if people.first is not None and people.first.people:
        missed, seen = len(people.first.missed), people.first
        around = share_range(seen.sensitivity, locale, missed=True) or locale.say("trust_no_interval")
        yield locale.count("trust_open_missed", seen.people, missed=locale.whole(missed), range=around)


def _agreement(trust: Trust, people: PeopleTrust, locale: Locale) -> Iterator[str]:
    """How much higher or lower the judges score, on the overall score or else on the criterion with the most labels."""
    key = max(people.criteria, key=lambda id: (id == FINAL and people.criteria[id].answers > 0, people.criteria[id].answers))
    agreement = people.criteria[key]
    if agreement.bias.low is None or agreement.bias.high is None or agreement.bias.value is None:
        yield locale.say("trust_open_few")
        return
    facts = {"criterion": criterion_name(trust, key, locale), "range": interval_text(agreement.bias, locale, sign=True)}
    if agreement.bias.low <= 0 <= agreement.bias.high:
        yield locale.count("trust_open_unbiased", agreement.answers, **facts)
        return
    key = "trust_open_higher" if agreement.bias.value > 0 else "trust_open_lower"
    yield locale.count(key, agreement.answers, bias=locale.number(abs(agreement.bias.value)), **facts)


def criterion_name(trust: Trust, key: str, locale: Locale) -> str:
    """What people call a criterion, or the overall score inside of a sentence."""
    if key == FINAL:
        return locale.say("trust_the_final" if trust.about == "run" else "trust_the_mean")
    return locale.say("trust_named", name=trust.names.get(key, key))


def _score(trust: Trust, locale: Locale) -> Iterator[str]:
    final, scale, calibration = trust.score.final, trust.score.scale, trust.score.calibration
    if final.score is None:
        yield locale.say("trust_open_no_score")
        return
    numbers = {"score": locale.number(final.score), "min": locale.short(scale.min), "max": locale.short(scale.max)}
    key = "trust_open_score" if trust.about == "run" else "trust_open_mean"
    yield locale.count(key, final.cases, **numbers, interval=around(final.low, final.high, locale))
    if calibration is None:
        yield locale.say("trust_open_uncorrected")
    elif calibration.final is None:
        parts = [
            locale.say(
                "trust_open_part",
                name=criterion_name(trust, id, locale),
                after=locale.number(corrected.score),
                before=locale.number(corrected.uncorrected),
                interval=around(corrected.low, corrected.high, locale),
            )
            for id, corrected in calibration.criteria.items()
        ]
        yield locale.count("trust_open_corrected_parts", len(calibration.criteria), parts=locale.clauses(parts[:PARTS_SHOWN]))
    else:
        corrected = calibration.final
        yield locale.say(
            "trust_open_corrected", score=locale.number(corrected.score), interval=around(corrected.low, corrected.high, locale)
        )


def _left_out(trust: Trust, locale: Locale) -> Iterator[str]:
    uncovered = trust.uncovered
    nothing = [*_group_names(uncovered.languages, locale, age=False, none=True), *_group_names(uncovered.ages, locale, none=True)]
    nothing += _labels(trust, (*uncovered.not_judged, *uncovered.never_apply, *uncovered.without_score))
    little = [*_group_names(uncovered.languages, locale, age=False), *_group_names(uncovered.ages, locale)]
    if nothing:
        yield locale.say("trust_open_nothing_about", what=locale.clauses(nothing))
    if little:
        yield locale.say("trust_open_little_about", what=locale.clauses(little))
    if not nothing and not little:
        yield locale.say("trust_open_covered" if trust.about == "run" else "trust_open_covered_period")
    if uncovered.missing and trust.score.if_missing is not None and uncovered.planned:
        share, worst = locale.percent(uncovered.missing / uncovered.planned), locale.number(trust.score.if_missing[0])
        yield locale.say("trust_open_missing", share=share, worst=worst)


def _group_names(groups: Sequence[Group], locale: Locale, *, age: bool = True, none: bool = False) -> Iterator[str]:
    """The groups without a case, or those with too few."""
    for group in groups:
        name = group_name(group, locale, age=age)
        if none and not group.cases:
            yield name
        elif not none and 0 < group.cases < group.few:
            yield locale.say("trust_what_count", what=name, count=locale.count("trust_cases", group.cases))


def group_name(group: Group, locale: Locale, *, age: bool) -> str:
    """What people call a language or an audience."""
    if not age:
        return language_name(group.name, locale)
    name = audience(locale, group.name)
    return locale.say("trust_what_age", name=name, ages=group.ages.replace("-", "–")) if group.ages else name


def language_name(code: str, locale: Locale) -> str:
    """What people call a language."""
    key = f"language_{code}"
    return locale.say(key) if key in locale.messages else code


def _labels(trust: Trust, criteria: Sequence[str]) -> list[str]:
    return [trust.names.get(id, id) for id in dict.fromkeys(criteria)]


def gaps(trust: Trust, locale: Locale) -> Iterator[str]:
    """What the score leaves out, a sentence for each."""
    yield from _missing_gaps(trust, locale)
    uncovered = trust.uncovered

    def names(ids: Sequence[str]) -> str:
        return locale.names(_labels(trust, ids))

    criteria = (
        ("trust_gap_not_judged", uncovered.not_judged),
        ("trust_gap_never_apply", uncovered.never_apply),
        ("trust_gap_without_score", uncovered.without_score),
    )
    for key, ids in criteria:
        if ids:
            yield locale.say(key, names=names(ids))
    if uncovered.few:
        criteria_few = [f"{trust.names.get(id, id)} ({locale.whole(n)})" for id, n in uncovered.few.items()]
        yield locale.say("trust_gap_few", few=locale.whole(FEW), names=locale.names(criteria_few))
    yield from _group_gaps(trust, locale)
    exams = uncovered.unexamined
    if exams.without_gold:
        yield locale.say("trust_gap_gold", names=names(exams.without_gold))
    rest = [id for id in exams.criteria if id not in exams.without_gold]
    if rest:
        yield locale.say("trust_gap_unexamined", names=names(rest))
    if exams.languages:
        yield locale.say(
            "trust_gap_exam_languages", names=", ".join(language_name(language, locale) for language in exams.languages)
        )
    if trust.people is not None:
        labelled = {id for id, criterion in trust.people.criteria.items() if criterion.answers}
        unlabelled = [id for id in trust.score.criteria if id not in labelled]
        if unlabelled:
            yield locale.say("trust_gap_unlabelled", names=names(unlabelled))
    if trust.about == "period":
        yield locale.say("trust_gap_period")


def _missing_gaps(trust: Trust, locale: Locale) -> Iterator[str]:
    uncovered, of = trust.uncovered, locale.whole(trust.uncovered.cases)
    if uncovered.unanswered:
        key = "trust_gap_unanswered" if trust.about == "run" else "trust_gap_failed"
        yield locale.count(key, uncovered.unanswered, of=of)
    if uncovered.unscored:
        yield locale.count("trust_gap_unscored", uncovered.unscored, of=of)
    for key, count in (("waiting", uncovered.waiting), ("sampled", uncovered.sampled_out), ("rejected", uncovered.rejected)):
        if count:
            yield locale.count(f"trust_gap_{key}", count)
    if uncovered.missing and uncovered.planned:
        numbers = {"missing": locale.whole(uncovered.missing), "planned": locale.whole(uncovered.planned)}
        text = locale.say("trust_gap_missing", **numbers, share=locale.percent(uncovered.missing / uncovered.planned))
        if trust.score.if_missing is not None:
            worst, best = map(locale.number, trust.score.if_missing)
            text = f"{text} {locale.say('trust_gap_if_missing', worst=worst, best=best)}"
        elif trust.score.final.score is not None and not uncovered.unscored and not uncovered.unanswered:
            text = f"{text} {locale.say('trust_gap_enough')}"
        yield text


def _group_gaps(trust: Trust, locale: Locale) -> Iterator[str]:
    uncovered = trust.uncovered
    for key, groups, age in (("languages", uncovered.languages, False), ("ages", uncovered.ages, True)):
        if names := list(_group_names(groups, locale, age=age, none=True)):
            yield locale.say(f"trust_gap_{key}", names=locale.clauses(names))
    few = [*_group_names(uncovered.languages, locale, age=False), *_group_names(uncovered.ages, locale)]
    few += [
        locale.say("trust_what_count", what=group.name, count=locale.count("trust_cases", group.cases))
        for group in uncovered.categories
        if group.cases < group.few
    ]
    if few:
        yield locale.say("trust_gap_groups", names=locale.clauses(few))
    if uncovered.conversations == 0:
        yield locale.say("trust_gap_conversations")


def step_text(trust: Trust, step: Step, locale: Locale) -> str:
    """What a step is for, without its command."""
    if step.criteria:
        return locale.say(f"trust_step_{step.name}", names=locale.names(_labels(trust, step.criteria)))
    if step.precision is not None:
        return locale.count(f"trust_step_{step.name}", step.labels, precision=locale.short(step.precision))
    if step.labels:
        return locale.count(f"trust_step_{step.name}", step.labels)
    return locale.say(f"trust_step_{step.name}")
