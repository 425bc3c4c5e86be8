"""What a comparison says, in the words of a language; for pages, Markdown and the console."""

from collections.abc import Iterator, Sequence

from areopage.bench import PartDifference, RunSpec
from areopage.compare.league.text import distinct_names, percent_difference, score_difference
from areopage.compare.runs.records import Compared, ComparedRun, Comparison, Shared
from areopage.compare.statistics.levels import Difference
from areopage.compare.statistics.tested import D, Tested, TestedLevel, TwoTests
from areopage.locales import MISSING, Locale
from areopage.report import verdict_name
from areopage.scoring import cases_for, least_width

_TINY = 0.001
_NAMED = 8


def run_names(comparison: Comparison, locale: Locale) -> dict[str, str]:
    """What each run is called, by its id; see `distinct_names`."""
    runs = (comparison.first, *(compared.other for compared in comparison.others))
    return distinct_names({run.run.id: run.spec.title for run in runs}, locale)


def node_name(node: TestedLevel[D], spec: RunSpec, locale: Locale) -> str:
    """What a node of the tree is called."""
    if node.level == "final":
        return locale.say("whole_run")
    spoken = spec.in_language(locale.code)
    if node.level == "criterion":
        return spoken.criteria_by_id()[node.path[-1]].title
    return spoken.labels.get(".".join(node.path))


def corrected_p_value(test: Tested, locale: Locale, untested: str = "not_tested") -> str:
    """The corrected p-value of a test, or that it takes part in none."""
    if test.corrected is None:
        return locale.say(untested)
    if test.corrected < _TINY:
        return locale.say("corrected_p_under", p=locale.number(_TINY, 3))
    return locale.say("corrected_p", p=locale.number(test.corrected, 3))


def price_text(compared: Compared, locale: Locale) -> str:
    """What the interval of the score cannot exclude for want of cases, and how many would halve it; "" without a score."""
    score, span = compared.levels[0].difference.score, compared.other.spec.scale.max - compared.other.spec.scale.min
    if score.difference is None or not score.clusters:
        return ""
    width = least_width(score.clusters, span, score.level)
    needed = cases_for(width / 2.0, span, score.level)
    numbers = {"cases": locale.whole(score.clusters), "needed": locale.whole(needed), "least": locale.number(width)}
    return locale.say("interval_price", **numbers)


def findings(compared: Compared, spec: RunSpec, locale: Locale) -> Iterator[str]:
    """What is worse, then what is better, each in a line; of nodes with the same criteria only the highest."""
    if compared.verdict_fell and compared.verdicts:
        verdicts = {
            key: verdict_name(verdict, locale) for key, verdict in zip(("first", "other"), compared.verdicts, strict=True)
        }
        yield locale.say("verdict_fell", **verdicts)
    yield from level_findings(compared.levels, spec, locale)


def level_findings(levels: Sequence[TestedLevel[D]], spec: RunSpec, locale: Locale) -> Iterator[str]:
    """What is worse, then what is better, at the nodes of a tree."""
    told_of: set[tuple[str, frozenset[str]]] = set()
    for direction in ("worse", "better"):
        for level in levels:
            node, difference = node_name(level, spec, locale), level.difference
            if direction not in difference.directions:
                continue
            keys = ("failures", frozenset(level.counted)), ("score", frozenset(level.criteria))
            if difference.by_failures.direction == direction and keys[0] not in told_of:
                text = f"{failures_text(difference, locale)}, {corrected_p_value(difference.by_failures, locale)}"
                yield locale.say(f"found_{direction}_failures", node=node, failures=text)
            if difference.by_score.direction == direction and keys[1] not in told_of:
                text = f"{score_difference(difference.measured[1], locale)}, {corrected_p_value(difference.by_score, locale)}"
                yield locale.say(f"found_{direction}_score", node=node, score=text)
            told_of.update(keys)


def failures_text(outcomes: TwoTests, locale: Locale) -> str:
    """The difference of the shares of failures, with its interval."""
    failures, _ = outcomes.measured
    return percent_difference(failures, locale) if failures else MISSING


def crossed_text(difference: Difference, locale: Locale) -> str:
    """How many cases newly fail, and how many are fixed."""
    if difference.failures is None:
        return MISSING
    alone = {"first": locale.whole(len(difference.failures.first)), "second": locale.whole(len(difference.failures.second))}
    return locale.say("fails_alone_text", **alone)


def conclusion_text(outcomes: TwoTests, locale: Locale) -> str:
    """What failures and scores say; a dash where neither says anything."""
    parts = [
        locale.say("conclusion_by", what=locale.say(f"conclusion_{direction}"), by=locale.say(f"by_what_{by}"))
        for by, direction in zip(("failures", "score"), outcomes.directions, strict=True)
        if direction != "unclear"
    ]
    return ", ".join(parts) or locale.say("conclusion_unclear")


def open_text(compared: Compared, locale: Locale) -> str:
    """What stays open where no regression was found; "" where one was."""
    if compared.outcome == "regression":
        return ""
    if compared.outcome == "too_little":
        return locale.say("too_little_text")
    if compared.possible_rise is None or compared.possible_rise <= 0.0:
        return ""
    return locale.say("possible_rise", rise=locale.number(100.0 * compared.possible_rise, 1))


def differing_part_text(difference: PartDifference, locale: Locale) -> str:
    """A part in which panels differ, with what it is on both sides where that tells them apart."""
    both = f" ({difference.first} / {difference.second})" if difference.first != difference.second else ""
    return locale.say(f"part_{difference.part}") + both


def shared_lines(shared: Shared, locale: Locale) -> Iterator[str]:
    """In what panels differ, and what is compared all the same."""
    for difference in shared.differs:
        yield locale.say("anyway_differs", part=differing_part_text(difference, locale))
    sizes = {"cases": shared.cases, "criteria": shared.criteria, "judges": shared.judges}
    keys = {"cases": "cases", "criteria": "criteria", "judges": "judges_count"}
    yield locale.say("anyway_shared", **{name: locale.count(keys[name], size) for name, size in sizes.items()})
    for name, ids in shared.left_out.items():
        more = f" (+{len(ids) - _NAMED})" if len(ids) > _NAMED else ""
        yield locale.say(f"left_out_{name}", names=", ".join(ids[:_NAMED]) + more)


def run_verdict_text(run: ComparedRun, locale: Locale) -> str:
    """The release verdict of a run, with why it settles nothing."""
    verdict = verdict_name(run.verdict, locale)
    return f"{verdict} ({locale.say(f'doubt_{run.doubt}')})" if run.doubt else verdict
