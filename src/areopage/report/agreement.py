"""Agreement between judge and people as text, CSV and JSON, and the phrases that its page has in common with them."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from areopage.cases.spreadsheet import inert_cell
from areopage.report.languages import MISSING, Language, language_for
from areopage.review.agreement import AgreementReport
from areopage.scoring.correlation import Correlation, Estimate
from areopage.scoring.human_agreement import Claim, CriterionAgreement

AGREEMENT_WORDS = Path(__file__).with_name("agreement_words.yml")
SHOWN_REJECTED = 10
SHOWN_WORST = 10
EXCERPT = 60
ALMOST = 0.999

FIGURES = ("pearson", "spearman", "kappa")
COLUMNS = (
    *("criterion", "name", "answers", "labels", "without_judge"),
    *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
    *("kappa", "kappa_low", "kappa_high", "mean_absolute_error", "bias", "bias_low", "bias_high"),
    *("bound", "verdict", "certainty", "needed"),
    *("rater_answers", "rater_pearson", "rater_alpha", "rater_alpha_low", "rater_alpha_high"),
)


def agreement_language(code: str) -> Language:
    """A language with the report's words and those of agreement."""
    return language_for(code, AGREEMENT_WORDS)


def name_of(lang: Language, report: AgreementReport, criterion: str) -> str:
    """What people call a criterion; a table of ratings without criteria just has scores."""
    if criterion:
        return report.names.get(criterion, criterion)
    return lang.say("people_overall" if report.names else "people_unnamed")


def figure_text(lang: Language, figure: Estimate | Correlation, *, sign: bool = False) -> str:
    """A figure with its interval: 0.87 (0.77 to 0.93); a dash where there is none."""
    if figure.value is None:
        return MISSING
    value = signed(lang, figure.value) if sign else lang.number(figure.value)
    if figure.low is None or figure.high is None:
        return value
    return f"{value} ({range_text(lang, figure.low, figure.high, sign=sign)})"


def range_text(lang: Language, low: float, high: float, *, sign: bool = False) -> str:
    """An interval: 0.77 to 0.93."""
    ends = [signed(lang, end) if sign else lang.number(end) for end in (low, high)]
    return lang.say("people_range", low=ends[0], high=ends[1])


def signed(lang: Language, value: float) -> str:
    """A difference with its sign; one that is shown as zero has none."""
    shown = lang.number(value)
    if not any(digit in "123456789" for digit in shown):
        return shown.lstrip("−")
    return shown if value < 0 else f"+{shown}"


def verdict_text(lang: Language, claim: Claim, answers: int) -> str:
    """Whether the correlation is over the bound, in plain words."""
    bound = lang.short(claim.bound)
    if claim.certainty is None:
        return lang.say("people_constant" if claim.reason == "constant" else "people_few")
    if claim.verdict == "holds":
        return lang.say("people_holds", certainty=certainty_text(lang, claim.certainty))
    if claim.verdict == "does_not_hold":
        return lang.say("people_does_not_hold", certainty=certainty_text(lang, 1 - claim.certainty))
    state = lang.say("people_not_settled", certainty=certainty_text(lang, claim.certainty))
    if claim.needed is None:
        return f"{state} {lang.say('people_too_near', bound=bound)}"
    needed = lang.say("people_needed", needed=lang.whole(claim.needed), more=lang.whole(max(1, claim.needed - answers)))
    return f"{state} {needed}"


def certainty_text(lang: Language, certainty: float) -> str:
    """A certainty as a share; none is ever shown as whole."""
    if certainty > ALMOST:
        return lang.say("people_almost_sure", share=lang.percent(ALMOST))
    if certainty < 1 - ALMOST:
        return lang.say("people_almost_never", share=lang.percent(1 - ALMOST))
    return lang.percent(certainty)


def agreement_text(report: AgreementReport, lang: Language) -> str:
    """The figures as a page of plain text, each line complete in itself."""
    found = report.agreement
    lines = [lang.say("people_title"), *heading(report, lang), ""]
    if not found.labels:
        return "\n".join([lines[0], lang.say("people_none"), *rejected_lines(report, lang)]) + "\n"
    lines += table([criteria_heads(lang), *(criterion_cells(report, lang, one) for one in found.criteria)])
    lines += ["", lang.say("people_note"), "", lang.say("people_claim", bound=lang.short(found.criteria[0].claim.bound))]
    for one in found.criteria:
        verdict = verdict_text(lang, one.claim, one.items)
        lines.append("  " + lang.say("people_said", name=name_of(lang, report, one.criterion), value=verdict))
    lines += ["", lang.say("people_among")]
    twice = [one for one in found.criteria if one.raters.items]
    if twice:
        heads = [lang.say(key) for key in ("people_criterion", "people_twice", "people_pair_pearson", "people_alpha")]
        lines += table([heads, *(rater_cells(report, lang, one) for one in twice)])
    else:
        lines.append(f"  {lang.say('people_among_none')}")
    lines += ["", lang.say("people_worst"), *worst_lines(report, lang), *rejected_lines(report, lang)]
    return "\n".join(lines) + "\n"


def heading(report: AgreementReport, lang: Language) -> list[str]:
    """Whose labels, how many, and which of them."""
    found = report.agreement
    judge = report.judge or lang.say("people_of_jury")
    whose = lang.say("people_said", name=lang.say("people_judge"), value=judge)
    suite = lang.say("people_said", name=lang.say("people_suite"), value=report.suite)
    lines = [f"{whose} · {suite}" if report.suite else whose]
    counted = ("people_labelled", report.labelled), ("people_labels_count", found.labels), ("people_raters", len(found.raters))
    lines.append(" · ".join(lang.count(key, n) for key, n in counted))
    return lines + remarks(report, lang)


def remarks(report: AgreementReport, lang: Language) -> list[str]:
    """What a reader must know to read the figures right."""
    found, lines = report.agreement, []
    if report.since is not None:
        lines.append(lang.say("people_since", date=lang.date(report.since)))
    if report.sample_only:
        lines.append(lang.say("people_only_sample"))
    elif report.at_random is not None and report.at_random < report.labelled:
        lines.append(f"{lang.count('people_at_random', report.at_random)}. {lang.say('people_selected')}")
    if report.weighed:
        lines.append(lang.count("people_weighed", report.weighed))
    unscored = next((one.without_judge for one in found.criteria if not one.criterion), 0)
    if unscored:
        lines.append(lang.count("people_without_judge", unscored))
    return lines


def criteria_heads(lang: Language) -> list[str]:
    """The heads of the table of criteria."""
    keys = ("criterion", "answers", "pearson", "spearman", "kappa", "error", "bias")
    return [lang.say(f"people_{key}") for key in keys]


def criterion_cells(report: AgreementReport, lang: Language, one: CriterionAgreement) -> list[str]:
    """A line of the table of criteria."""
    return [
        name_of(lang, report, one.criterion),
        lang.whole(one.items),
        *(figure_text(lang, getattr(one, name)) for name in FIGURES),
        lang.number(one.error),
        figure_text(lang, one.bias, sign=True),
    ]


def rater_cells(report: AgreementReport, lang: Language, one: CriterionAgreement) -> list[str]:
    """A line of the table of raters."""
    alpha = one.raters.alpha
    return [
        name_of(lang, report, one.criterion),
        lang.whole(one.raters.items),
        lang.number(one.raters.pearson),
        figure_text(lang, Estimate(value=alpha.alpha, low=alpha.low, high=alpha.high)),
    ]


def worst_lines(report: AgreementReport, lang: Language) -> list[str]:
    """The answers where judge and people are farthest apart."""
    worst = report.agreement.worst[:SHOWN_WORST]
    if not worst:
        return [f"  {lang.say('people_worst_none')}"]
    heads = [lang.say(f"people_{key}") for key in ("answer", "criterion", "judge", "people", "difference")]
    rows = [
        [
            flat(one.item),
            name_of(lang, report, one.criterion),
            lang.number(one.judge),
            lang.number(one.people),
            signed(lang, one.difference),
            flat(report.questions.get(one.item, "")),
        ]
        for one in worst
    ]
    return table([[*heads, ""], *rows])


def rejected_lines(report: AgreementReport, lang: Language) -> list[str]:
    """The rows of a table that could not be used, the first of them one by one."""
    if not report.rejected:
        return []
    lines = ["", lang.count("people_rejected", len(report.rejected))]
    lines += [f"  {lang.say('people_row', n=row, reason=flat(reason, 200))}" for row, reason in report.rejected[:SHOWN_REJECTED]]
    rest = len(report.rejected) - SHOWN_REJECTED
    return [*lines, f"  {lang.say('people_more', n=lang.whole(rest))}"] if rest > 0 else lines


def flat(text: str, length: int = EXCERPT) -> str:
    """The beginning of a text on one line, without signs that a terminal would obey."""
    bare = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return bare if len(bare) <= length else f"{bare[: length - 1]}…"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns; the first column is set to the left, and so is a last one of texts."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def agreement_csv(report: AgreementReport) -> str:
    """One line per criterion; numbers with a point, in every language."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in report.agreement.criteria:
        alpha = one.raters.alpha
        writer.writerow(
            inert_cell(cell)
            for cell in (
                one.criterion,
                report.names.get(one.criterion, ""),
                one.items,
                one.labels,
                one.without_judge,
                *ends(one.pearson),
                *ends(one.spearman),
                *ends(one.kappa),
                one.error,
                *ends(one.bias),
                one.claim.bound,
                one.claim.verdict,
                one.claim.certainty,
                one.claim.needed,
                one.raters.items,
                one.raters.pearson,
                *(alpha.alpha, alpha.low, alpha.high),
            )
        )
    return stream.getvalue()


def ends(figure: Estimate | Correlation) -> Iterable[float | None]:
    """A figure and the ends of its interval."""
    return figure.value, figure.low, figure.high


def agreement_json(report: AgreementReport) -> str:
    """Everything, as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
