"""What a run is about, in words: ages, the part of the datasets, and answers of earlier runs."""

from areopage.bench.spec import ChosenPart, RunSpec
from areopage.ledger import ReusedAnswers
from areopage.locales import Locale
from areopage.report import Notice


def part_text(part: ChosenPart, locale: Locale) -> str:
    """Which part of the datasets a run is about."""
    return locale.count("part_of_dataset", part.cases, where=part.text, total=locale.whole(part.total))


def part_facts(spec: RunSpec, locale: Locale) -> tuple[tuple[str, str], ...]:
    """The fact that names the part of the datasets; none where a run is about all of them."""
    return ((locale.say("part_fact"), part_text(spec.part, locale)),) if spec.part is not None else ()


def part_notices(spec: RunSpec, locale: Locale) -> tuple[Notice, ...]:
    """The notice that stands before all others where a page is about a part of the cases."""
    return tuple(
        Notice(title=locale.say("pair", name=name, value=value), blocks=(), alarm=True)
        for name, value in part_facts(spec, locale)
    )


def reused_text(reused: ReusedAnswers, cases: int, locale: Locale) -> str:
    """Of how many cases the answers are those of earlier runs, and how old they are."""
    return locale.count("reused_answers", reused.cases, cases=locale.whole(cases), oldest=locale.date(reused.oldest))


def count_of(locale: Locale, count: int, total: int) -> str:
    """How many of how many."""
    return locale.say("failures_of", failed=locale.whole(count), scored=locale.whole(total))
