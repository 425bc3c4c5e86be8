"""The gate's report as Markdown; what comes from outside stands there as plain words on one line, as in the quality report."""

from collections.abc import Iterator, Sequence

from areopage import __version__
from areopage.report.gate import report_wording as wording
from areopage.report.gate.figures import Slice
from areopage.report.gate.page import MOST_NAMES, GateReport, ShownAnswer
from areopage.report.languages import Language
from areopage.report.quality.markdown import HEADING, item, plain_words


def render_markdown(report: GateReport) -> str:
    """The whole report."""
    language = wording.language_of(report)
    parts = [*_head(report, language)]
    if report.figures.answers:
        parts += [*_verdicts(report, language), *_reasons(report, language), *_figures(report, language)]
        parts += [*_labels(report, language), *_slices(report, language), *_latency(report, language)]
        parts += [*_worst(report, language)]
    parts += [*_how(report, language)]
    return "\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table; its first column is aligned left, the others right."""
    rule = [":--", *["--:"] * (len(heads) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)] + [""]


def _head(report: GateReport, language: Language) -> Iterator[str]:
    """What it is about, and what to bear in mind."""
    figures, say, colon = report.figures, language.say, language.words["colon"]
    yield f"# {say('gate_report')} – {wording.scope_text(language, report.scope)}"
    yield ""
    if report.scope.collection is not None:
        yield f"- {say('gate_collection')}{colon} {plain_words(wording.name_text(language, report.scope.collection))}"
    yield f"- {say('answers_heading')}{colon} {language.count('gate_answers', figures.answers)}"
    if not figures.answers:
        yield ""
        yield f"**{say('gate_nothing')}** – {plain_words(say('gate_nothing_hint'))}"
        yield ""
        return
    yield f"- {say('gate_origins')}{colon} {plain_words(wording.origins_text(language, figures.origins))}"
    yield f"- {say('gate_rules')}{colon} {plain_words(wording.rules_text(language, report))}"
    yield ""
    warned = wording.warning_texts(language, report)
    if warned:
        yield f"**{say('gate_warnings')}**"
        yield ""
        yield from (f"- {item(text)}" for text in warned)
        yield ""


def _verdicts(report: GateReport, language: Language) -> Iterator[str]:
    """What became of the answers."""
    figures, say, colon = report.figures, language.say, language.words["colon"]
    yield f"## {say('gate_verdicts_heading')}"
    yield ""
    yield from _table(
        [say(key) for key in ("gate_verdict", "answers_heading", "share", "gate_interval")],
        [
            [name, language.whole(share.hits), wording.share_text(language, share), wording.interval_text(language, share)]
            for _, name, share in wording.verdict_rows(language, figures.shares)
        ],
    )
    yield f"- {say('gate_spec')}{colon} {wording.of_text(language, figures.passed_spec, 'gate_spec_passed')}"
    yield f"- {say('gate_spec_confident')}{colon} {wording.of_text(language, figures.confident_spec)}"
    if figures.judged:
        yield f"- {language.count('gate_judged', figures.judged)}"
    if shadow := figures.modes.get("shadow"):
        yield f"- {language.count('gate_shadow', shadow)}"
    yield ""


def _reasons(report: GateReport, language: Language) -> Iterator[str]:
    """The decisive reasons, the most frequent first."""
    figures, say = report.figures, language.say
    yield f"## {say('gate_reasons')}"
    yield ""
    if not figures.reasons:
        yield say("gate_no_reasons")
        yield ""
        return
    yield from _table(
        [say(key) for key in ("gate_reason", "answers_heading", "share")],
        [
            [plain_words(wording.reason_name(language, code)), language.whole(hits), language.percent(hits / figures.answers)]
            for code, hits in figures.reasons.items()
        ],
    )
    yield say("gate_reasons_note")
    yield ""


def _figures(report: GateReport, language: Language) -> Iterator[str]:
    """Both histograms in one table."""
    figures, say = report.figures, language.say
    yield f"## {say('gate_figures_heading')}"
    yield ""
    yield from _table(
        ["", say("gate_confidences"), say("gate_p_unsupported")],
        [
            [step, language.whole(confident), language.whole(doubtful)]
            for step, confident, doubtful in zip(wording.steps(language), figures.confidences, figures.p_unsupported, strict=True)
        ],
    )


def _labels(report: GateReport, language: Language) -> Iterator[str]:
    """The gate by people's labels."""
    say = language.say
    yield f"## {say('gate_labels')}"
    yield ""
    if not report.figures.labels.labelled:
        yield say("gate_labels_none")
        yield ""
        return
    yield wording.labelled_text(language, report)
    yield ""
    yield from _table(
        ["", say("share"), say("answers_heading"), say("gate_interval")],
        [
            [
                f"{name} – {note}",
                wording.share_text(language, share),
                f"{language.whole(share.hits)}/{language.whole(share.of)}",
                wording.interval_text(language, share),
            ]
            for name, note, share in wording.label_rows(language, report)
        ],
    )
    yield say("gate_labels_note")
    yield ""


def _slices(report: GateReport, language: Language) -> Iterator[str]:
    """Verdicts by collection, source and language."""
    figures, say = report.figures, language.say
    yield f"## {say('gate_slices')}"
    yield ""
    yield from _slice_table(say("gate_by_collection"), figures.collections, language)
    yield from _slice_table(say("gate_by_source"), figures.sources, language)
    if figures.sources:
        yield say("gate_sources_note")
        yield ""
    yield from _slice_table(say("gate_by_language"), figures.languages, language)


def _slice_table(title: str, parts: Sequence[Slice], language: Language) -> Iterator[str]:
    """The verdicts of each part, with intervals."""
    if not parts:
        return
    verdicts = [name for _, name, _ in wording.verdict_rows(language, parts[0].verdicts)]
    yield from _table(
        [title, language.say("answers_heading"), *verdicts],
        [
            [
                plain_words(wording.name_text(language, part.name)),
                language.whole(part.answers),
                *(
                    f"{wording.share_text(language, share)} ({wording.interval_text(language, share)})"
                    for _, _, share in wording.verdict_rows(language, part.verdicts)
                ),
            ]
            for part in parts[:MOST_NAMES]
        ],
    )
    if len(parts) > MOST_NAMES:
        yield language.count("gate_left_out", len(parts) - MOST_NAMES)
        yield ""


def _latency(report: GateReport, language: Language) -> Iterator[str]:
    """What decisions took."""
    say, colon, latency = language.say, language.words["colon"], report.figures.latency
    yield f"## {say('gate_latency')}"
    yield ""
    if not latency.decisions:
        yield say("gate_latency_none")
        yield ""
        return
    yield from (f"- {name}{colon} {value}" for name, value in wording.latency_rows(language, latency))
    yield f"- {language.count('gate_latency_of', latency.decisions)}"
    yield ""


def _worst(report: GateReport, language: Language) -> Iterator[str]:
    """The answers to look at."""
    if not report.worst:
        return
    yield f"## {language.say('gate_worst')}"
    yield ""
    yield f"{language.say('gate_worst_note')} {wording.text_note(language, report)}".strip()
    yield ""
    for place, answer in enumerate(report.worst, 1):
        yield from _answer(place, answer, language)


def _answer(place: int, answer: ShownAnswer, language: Language) -> Iterator[str]:
    """One of them; what is marked stands in bold."""
    say, colon = language.say, language.words["colon"]
    yield f"### {place}. {plain_words(answer.question, HEADING) or say('no_text')}"
    yield ""
    known = [say("gate_p_short", p=language.probability(answer.p_unsupported))] if answer.p_unsupported is not None else []
    yield f"- {' · '.join(plain_words(part) for part in [*known, *wording.answer_facts(language, answer)])}"
    pieces = [(plain_words(piece.text), piece.marked) for piece in answer.answer]
    text = " ".join(f"**{words}**" if marked else words for words, marked in pieces if words)
    yield f"- **{say('answer')}**{colon} {text or say('no_text')}"
    yield from (f"  - {item(reason)}" for reason in answer.reasons)
    yield ""


def _how(report: GateReport, language: Language) -> Iterator[str]:
    """How to read it, and how to make it again."""
    say, colon = language.say, language.words["colon"]
    yield f"## {say('how')}"
    yield ""
    yield say("gate_how_shares")
    yield say("gate_how_p")
    yield ""
    yield f"- {say('made')}{colon} {language.moment(report.made_at)}"
    yield f"- {say('version')}{colon} areopage {__version__}"
    yield f"- {say('again')}{colon} {plain_words(wording.command(report))}"
