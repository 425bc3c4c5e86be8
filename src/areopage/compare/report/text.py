"""What a comparison says, in the words of a language; for pages, Markdown and the console."""

from collections.abc import Iterator, Sequence

from areopage.bench import PartDifference, RunSpec
from areopage.compare.league.text import percent_difference, score_difference
from areopage.compare.runs.records import Compared, ComparedRun, Comparison, Shared
from areopage.compare.statistics.levels import Difference
from areopage.compare.statistics.tested import D, Tested, TestedLevel, TwoTests
from areopage.locales import MISSING, Locale
from areopage.report import verdict_name
from areopage.scoring import cases_for, least_width

_TINY = 0.001
_NAMED = 8


def run_names(comparison: Comparison, locale: Locale) -> dict[str, str]:
    """What each run is called, by its id: its target, with the id where several runs have the same."""
    runs = (comparison.first, *(one.other for one in comparison.others))
    targets = {one.run.id: one.spec.title or locale.say("given_responses") for one in runs}
    names = list(targets.values())
    return {id: f"{name} ({id})" if names.count(name) > 1 else name for id, name in targets.items()}


def node_name(one: TestedLevel[D], spec: RunSpec, locale: Locale) -> str:
    """What a node of the tree is called."""
    if one.level == "final":
        return locale.say("whole_run")
    spoken = spec.in_language(locale.code)
    if one.level == "criterion":
        return spoken.criteria_by_id()[one.path[-1]].title
    return spoken.labels.get(".".join(one.path))


def corrected_p_value(test: Tested, locale: Locale, untested: str = "not_tested") -> str:
    """The corrected p-value of a test, or that it takes part in none."""
    if test.corrected is None:
        return locale.say(untested)
    if test.corrected < _TINY:
        return locale.say("corrected_p_under", p=locale.number(_TINY, 3))
    return locale.say("corrected_p", p=locale.number(test.corrected, 3))


def price_text(found: Compared, locale: Locale) -> str:
    """What the interval of the score cannot exclude for want of cases, and how many would halve it; "" without a score."""
    score, span = found.levels[0].difference.score, found.other.spec.scale.max - found.other.spec.scale.min
    if score.difference is None or not score.clusters:
        return ""
    width = least_width(score.clusters, span, score.level)
    needed = cases_for(width / 2.0, span, score.level)
    numbers = {"cases": locale.whole(score.clusters), "needed": locale.whole(needed), "least": locale.number(width)}
    return locale.say("interval_price", **numbers)


def findings(found: Compared, spec: RunSpec, locale: Locale) -> Iterator[str]:
    """What is worse, then what is better, each in a line; of nodes with the same criteria only the highest."""
    if found.verdict_fell and found.verdicts:
        verdicts = {key: verdict_name(one, locale) for key, one in zip(("first", "other"), found.verdicts, strict=True)}
        yield locale.say("verdict_fell", **verdicts)
    yield from level_findings(found.levels, spec, locale)


def level_findings(levels: Sequence[TestedLevel[D]], spec: RunSpec, locale: Locale) -> Iterator[str]:
    """What is worse, then what is better, at the nodes of a tree."""
    told_of: set[tuple[str, frozenset[str]]] = set()
    for direction in ("worse", "better"):
        for one in levels:
            node, own = node_name(one, spec, locale), one.difference
            if direction not in own.directions:
                continue
            keys = ("failures", frozenset(one.counted)), ("score", frozenset(one.criteria))
            if own.by_failures.direction == direction and keys[0] not in told_of:
                told = f"{failures_text(own, locale)}, {corrected_p_value(own.by_failures, locale)}"
                yield locale.say(f"found_{direction}_failures", node=node, failures=told)
            if own.by_score.direction == direction and keys[1] not in told_of:
                told = f"{score_difference(own.measured[1], locale)}, {corrected_p_value(own.by_score, locale)}"
                yield locale.say(f"found_{direction}_score", node=node, score=told)
            told_of.update(keys)


def failures_text(found: TwoTests, locale: Locale) -> str:
    """The difference of the shares of failures, with its interval."""
    failures, _ = found.measured
    return percent_difference(failures, locale) if failures else MISSING


def crossed_text(found: Difference, locale: Locale) -> str:
    """How many cases newly fail, and how many are fixed."""
    if found.failures is None:
        return MISSING
    alone = {"first": locale.whole(len(found.failures.first)), "second": locale.whole(len(found.failures.second))}
    return locale.say("fails_alone_text", **alone)


def conclusion_text(found: TwoTests, locale: Locale) -> str:
    """What failures and scores say; a dash where neither says anything."""
    told = [
        locale.say("conclusion_by", what=locale.say(f"conclusion_{direction}"), by=locale.say(f"by_what_{by}"))
        for by, direction in zip(("failures", "score"), found.directions, strict=True)
        if direction != "unclear"
    ]
    return ", ".join(told) or locale.say("conclusion_unclear")


def open_text(found: Compared, locale: Locale) -> str:
    """What stays open where no regression was found; "" where one was."""
    if found.outcome == "regression":
        return ""
    if found.outcome == "too_little":
        return locale.say("too_little_text")
    if found.possible_rise is None or found.possible_rise <= 0.0:
        return ""
    return locale.say("possible_rise", rise=locale.number(100.0 * found.possible_rise, 1))


def differing_part_text(one: PartDifference, locale: Locale) -> str:
    """A part in which panels differ, with what it is on both sides where that tells them apart."""
    both = f" ({one.first} / {one.second})" if one.first != one.second else ""
    return locale.say(f"part_{one.part}") + both


def shared_lines(shared: Shared, locale: Locale) -> Iterator[str]:
    """In what panels differ, and what is compared all the same."""
    for one in shared.differs:
        yield locale.say("anyway_differs", part=differing_part_text(one, locale))
    sizes = {"cases": shared.cases, "criteria": shared.criteria, "judges": shared.judges}
    keys = {"cases": "cases", "criteria": "criteria", "judges": "judges_count"}
    yield locale.say("anyway_shared", **{name: locale.count(keys[name], size) for name, size in sizes.items()})
    for name, ids in shared.left_out.items():
        more = f" (+{len(ids) - _NAMED})" if len(ids) > _NAMED else ""
        yield locale.say(f"left_out_{name}", names=", ".join(ids[:_NAMED]) + more)


def run_verdict_text(run: ComparedRun, locale: Locale) -> str:
    """The release verdict of a run, with why it settles nothing."""
    told = verdict_name(run.verdict, locale)
    return f"{told} ({locale.say(f'doubt_{run.doubt}')})" if run.doubt else told
