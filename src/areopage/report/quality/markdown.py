"""The quality report as Markdown, for a terminal, a ticket or a mail.

What comes from outside stands there as plain words on one line: no table breaks, nothing becomes a link, an image or HTML in
whatever shows the Markdown, and no control character reaches a terminal.
"""

import re
from collections.abc import Iterator, Sequence

from areopage import __version__
from areopage.jury.judges import is_unfit
from areopage.ledger.records import Evaluation
from areopage.report.languages import MISSING, Language
from areopage.report.quality import wording
from areopage.report.quality.html import FAILURES
from areopage.report.quality.page import QualityReport

LONGEST_TEXT, HEADING = 1_000, 120

# Controls, invisible signs, and those that turn the direction of what follows.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
_SIGNS = re.compile(r"[\\`*\[\]~$|]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"})
_ADDRESS = re.compile(r"\b(?:(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.))", re.IGNORECASE)
_BLOCK_SIGN = re.compile(r"^(?:[-+=#]|[0-9]{1,9}(?=[.)]))")
_BLANK = re.compile(r"\s++")


def plain_words(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text from outside on one line, cut, as Markdown that shows it as it is.

    Signs with a meaning in Markdown are escaped, `<`, `>`, `&` and `@` become entities, and web addresses are broken so that no
    reader makes links of them.
    """
    line = _BLANK.sub(" ", _UNSEEN.sub(" ", text)).strip()
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    line = _SIGNS.sub(r"\\\g<0>", line).translate(_ENTITIES)
    return _ADDRESS.sub(r"\g<0>\\", line)


def item(text: str) -> str:
    """The same as an item of a list, where it opens no list or heading of its own."""
    return _BLOCK_SIGN.sub(_defused, plain_words(text))


def _defused(match: re.Match[str]) -> str:
    """The beginning of a line that would open a block."""
    sign = match.group()
    return f"{sign}\\" if sign.isdigit() else f"\\{sign}"


def render_markdown(report: QualityReport) -> str:
    """The whole report."""
    language = wording.language_of(report)
    parts = [*_head(report, language)]
    if not report.empty:
        parts += [*_scores(report, language), *_bands(report, language), *_trend(report, language)]
        parts += [*_variants(report, language), *_worst(report, language)]
    parts += [*_judges(report, language), *_how(report, language)]
    return "\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """A table; its first columns are aligned left, the others right."""
    rule = [":--" if place < left else "--:" for place in range(len(heads))]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)] + [""]


def _head(report: QualityReport, language: Language) -> Iterator[str]:
    """What it is about, and the global score, or why there is none."""
    figures, say, colon = report.figures, language.say, language.words["colon"]
    yield f"# {say('quality_report')}, {wording.period_text(language, figures.period)}"
    yield ""
    yield f"- {say('suite')}{colon} {plain_words(report.suite)} {plain_words(report.suite_version)}"
    if figures.scope.source is not None:
        yield f"- {say('source')}{colon} {plain_words(figures.scope.source)}"
    if figures.scope.variant is not None:
        yield f"- {say('variant_one')}{colon} {plain_words(wording.variant_name(language, figures.scope.variant))}"
    yield f"- {say('answers_heading')}{colon} {wording.answers_text(language, report)}"
    yield f"- {say('cost')}{colon} {plain_words(wording.cost_text(language, report.cost)) or say('cost_unknown')}"
    yield ""
    if is_unfit(figures.standing) and not report.empty:
        yield f"> **{say('not_valid')}** – {plain_words(wording.standing_text(language, figures.standing))}"
        yield ""
    if report.empty:
        yield f"**{say('nothing')}**"
        yield ""
        for hint, command in wording.hints(language, report):
            yield f"- {plain_words(hint)}" + (f" {_code(command)}" if command else "")
        yield ""


def _scores(report: QualityReport, language: Language) -> Iterator[str]:
    """The global score, and the means by criterion."""
    figures, say, scale, colon = report.figures, language.say, report.scale, language.words["colon"]
    overall = figures.overall
    yield f"**{say('global_mean')}{colon} {language.number(overall.mean.mean)} {say('out_of', max=language.short(scale.max))}**"
    yield ""
    yield f"- {say('interval')}{colon} {wording.interval_text(language, overall.mean, scale)}"
    yield f"- {say('against_before')}{colon} {wording.change_sentence(language, overall.change, figures.period.days)}"
    coverage = MISSING if figures.coverage is None else language.percent(figures.coverage)
    yield f"- {say('coverage')}{colon} {coverage} – {wording.coverage_note(language, report)}"
    yield f"- {say('standing')}{colon} {plain_words(wording.standing_text(language, figures.standing))}"
    yield ""
    yield f"## {say('by_criterion')}"
    yield ""
    heads = [say(key) for key in ("criterion", "mean", "interval", "answers_heading", "before", "change", "standing")]
    known = plain_words(wording.standing_mark(language, figures.standing))
    yield from _table(
        heads,
        [
            [
                plain_words(row.label) or f"**{say('global_score')}**",
                language.number(row.mean.mean),
                wording.interval_text(language, row.mean, scale),
                language.whole(row.mean.answers),
                language.number(row.previous.mean),
                wording.change_text(language, row.change),
                known,
            ]
            for row in (overall, *report.criteria)
        ],
    )
    if report.silent:
        yield f"{say('no_scores_for')} {', '.join(plain_words(label) for label in report.silent)}"
        yield ""


def _bands(report: QualityReport, language: Language) -> Iterator[str]:
    """Days and shares by band, and the histogram."""
    overall, say = report.figures.overall, language.say
    if not overall.mean.answers:
        return
    yield f"## {say('bands')}"
    yield ""
    yield from _table(
        [say("band"), say("answers_heading"), say("share")],
        [
            [name, language.whole(count), language.percent(share)]
            for _, name, count, share in wording.band_rows(language, overall, report.scale)
        ],
    )
    yield f"### {say('distribution')}"
    yield ""
    labels = wording.steps(language, report.scale, len(overall.histogram))
    yield from _table(labels, [[language.whole(count) for count in overall.histogram]], left=0)


def _trend(report: QualityReport, language: Language) -> Iterator[str]:
    """The means day by day."""
    say = language.say
    if len(report.figures.days) < 2:
        return
    yield f"## {say('trend')}"
    yield ""
    paths = ["", *(one.criterion for one in report.criteria)]
    heads = [say("day"), say("answers_heading"), say("global_score"), *(plain_words(one.label) for one in report.criteria)]
    rows = []
    for day in report.figures.days:
        means = [language.number(day.means[path].mean) if path in day.means else MISSING for path in paths]
        answers = day.means[""].answers if "" in day.means else 0
        rows.append([wording.short_day(language, day.day), language.whole(answers), *means, language.whole(day.weak)])
    yield from _table([*heads, say("weak_answers")], rows)


def _variants(report: QualityReport, language: Language) -> Iterator[str]:
    """The sides of an A/B test."""
    sides, say = report.figures.variants, language.say
    if len(sides) < 2:
        return
    yield f"## {say('variants')}"
    yield ""
    first = plain_words(wording.variant_name(language, sides[0].variant))
    heads = [say(key) for key in ("variant_one", "global_score", "interval", "answers_heading", "weak_answers")]
    yield from _table(
        [*heads, *(plain_words(one.label) for one in report.criteria), say("against_first", name=first)],
        [
            [
                plain_words(wording.variant_name(language, side.variant)),
                language.number(side.overall.mean),
                wording.interval_text(language, side.overall, report.scale),
                language.whole(side.overall.answers),
                language.whole(side.weak),
                *(
                    language.number(side.criteria[one.criterion].mean) if one.criterion in side.criteria else MISSING
                    for one in report.criteria
                ),
                wording.change_text(language, side.change),
            ]
            for side in sides
        ],
    )


def _worst(report: QualityReport, language: Language) -> Iterator[str]:
    """The weakest answers with what the judges say."""
    worst = report.figures.worst
    if not worst:
        return
    yield f"## {language.say('worst_answers')}"
    yield ""
    yield f"{language.count('worst_note', len(worst))} {wording.text_note(language, report)}".strip()
    yield ""
    labels = {one.criterion: one.label for one in report.figures.criteria}
    for place, answer in enumerate(worst, 1):
        yield from _weak_answer(place, answer, labels, language)


def _weak_answer(place: int, answer: Evaluation, labels: dict[str, str], language: Language) -> Iterator[str]:
    """One weak answer."""
    say, colon = language.say, language.words["colon"]
    first = plain_words(answer.prompt, HEADING)
    yield f"### {place}. {language.number(answer.score_global)} – {first or say('no_text')}"
    yield ""
    marks = ", ".join(
        f"{plain_words(labels.get(one.criterion, one.criterion))} {language.number(one.score)}" for one in answer.criteria
    )
    known = [answer.id, language.moment(answer.timestamp), answer.source, answer.variant]
    yield f"- {' · '.join(plain_words(part) for part in known if part)}"
    yield f"- {marks}"
    for key, text in (("question", answer.prompt), ("answer", answer.response), ("feedback", answer.feedback)):
        if key == "question" and first == plain_words(text):
            continue
        yield f"- **{say(key)}**{colon} {plain_words(text) or say('no_text')}"
    for key, texts in (("weaknesses", answer.weaknesses), ("suggestions", answer.suggestions)):
        if texts:
            yield f"- **{say(key)}**{colon}"
            yield from (f"  - {item(text)}" for text in texts)
    yield ""


def _judges(report: QualityReport, language: Language) -> Iterator[str]:
    """How the judges did."""
    say = language.say
    yield f"## {say('judge_health')}"
    yield ""
    if not report.figures.judges:
        yield say("no_judges")
        yield ""
        return
    heads = [say(key) for key in ("judge", "calls", "scored_share")]
    heads += [say(f"outcome_{name}") for name in FAILURES] + [say(key) for key in ("seconds_per_call", "tokens", "cost")]
    yield from _table(
        heads,
        [
            [
                f"{plain_words(health.use.judge)} ({plain_words(health.use.model)})",
                language.whole(health.use.calls),
                MISSING if health.scored_share is None else language.percent(health.scored_share),
                *(language.whole(health.use.outcomes.get(name, 0)) for name in FAILURES),
                wording.seconds_text(language, health.seconds_per_call),
                f"{language.whole(health.use.prompt_tokens)} / {language.whole(health.use.completion_tokens)}",
                plain_words(wording.cost_text(language, health.use.cost)) or MISSING,
            ]
            for health in report.figures.judges
        ],
    )


def _how(report: QualityReport, language: Language) -> Iterator[str]:
    """How it was made."""
    say, colon = language.say, language.words["colon"]
    yield f"## {say('how')}"
    yield ""
    for key in () if report.empty else ("how_mean", "how_change", "how_bands"):
        yield say(key)
        yield ""
    yield f"- {say('made')}{colon} {language.moment(report.made_at)}, areopage {__version__}"
    yield f"- {say('again')}{colon} {_code(wording.command(report))}"


def _code(command: str) -> str:
    """A command, behind a fence that is longer than any run of backticks in it."""
    line = _UNSEEN.sub(" ", command)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
