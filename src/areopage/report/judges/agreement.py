"""Agreement between judges and people as text, CSV and JSON."""

import io
from collections.abc import Iterable, Sequence

import msgspec

from areopage.cases import table_writer
from areopage.locales import MISSING, Locale, one_line
from areopage.report.elements import figure_text
from areopage.report.judges.jury_worth import worth_rows, worth_texts
from areopage.review import AgreementReport
from areopage.scoring import Correlation, CorrelationClaim, CriterionAgreement, Estimate

SHOWN_REJECTED = 10
SHOWN_WORST = 10
EXCERPT = 60
ALMOST = 0.999

CLAIMLESS = {"constant": "people_constant", "selected": "people_only_sample_settles"}
"""Messages about claims without a certainty, by the reason."""

FIGURES = ("pearson", "spearman", "kappa")
COLUMNS = (
    *("criterion", "name", "scale_low", "scale_high", "answers", "labels", "without_judge"),
    *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
    *("kappa", "kappa_low", "kappa_high", "mean_absolute_error", "bias", "bias_low", "bias_high"),
    *("bound", "verdict", "certainty", "needed"),
    *("rater_answers", "rater_pearson", "rater_alpha", "rater_alpha_low", "rater_alpha_high"),
)


def name_of(locale: Locale, report: AgreementReport, criterion: str) -> str:
    """A criterion's display name."""
    if criterion:
        return report.names.get(criterion, criterion)
    return locale.say("people_overall" if report.names else "people_unnamed")


def scale_text(locale: Locale, report: AgreementReport, criterion: str) -> str:
    """The scale of a criterion: 0 to 10; a dash if unknown."""
    if criterion not in report.scales:
        return MISSING
    low, high = report.scales[criterion]
    return locale.say("people_range", low=locale.short(low), high=locale.short(high))


def claim_text(locale: Locale, claim: CorrelationClaim, answers: int) -> str:
    """Describe whether the correlation exceeds the bound."""
    bound = locale.short(claim.bound)
    if claim.certainty is None:
        return locale.say(CLAIMLESS.get(claim.reason, "people_few"))
    if claim.verdict == "holds":
        return locale.say("people_holds", certainty=_certainty_text(locale, claim.certainty))
    if claim.verdict == "does_not_hold":
        return locale.say("people_does_not_hold", certainty=_certainty_text(locale, 1 - claim.certainty))
    state = locale.say("people_not_settled", certainty=_certainty_text(locale, claim.certainty))
    if claim.needed is None:
        return f"{state} {locale.say('people_too_near', bound=bound)}"
    needed = locale.say("people_needed", needed=locale.whole(claim.needed), more=locale.whole(max(1, claim.needed - answers)))
    return f"{state} {needed}"


def _certainty_text(locale: Locale, certainty: float) -> str:
    if certainty > ALMOST:
        return locale.say("people_almost_sure", share=locale.percent(ALMOST))
    if certainty < 1 - ALMOST:
        return locale.say("people_almost_never", share=locale.percent(1 - ALMOST))
    return locale.percent(certainty)


def agreement_text(report: AgreementReport, locale: Locale) -> str:
    """Format the figures as plain text."""
    agreement = report.agreement
    judge = report.judge or locale.say("people_of_jury")
    whose = locale.say("people_said", name=locale.say("people_judge"), value=judge)
    suite = locale.say("people_said", name=locale.say("people_suite"), value=report.suite)
    head = [f"{whose} · {suite}" if report.suite else whose]
    counts = {"labelled": report.labelled, "labels_count": agreement.labels, "raters": len(agreement.raters)}
    head.append(" · ".join(locale.count(f"people_{key}", n) for key, n in counts.items()))
    lines = [locale.say("people_title"), *head, *agreement_remarks(report, locale), ""]
    if not agreement.labels:
        none = locale.say("people_none_drawn" if report.sample_only else "people_none")
        return "\n".join([lines[0], none, *_rejected_lines(report, locale)]) + "\n"
    keys = ("criterion", *(["scale"] if report.scales else []), "answers", "pearson", "spearman", "kappa", "error", "bias")
    heads = [locale.say(f"people_{key}") for key in keys]
    lines += table([heads, *(_criterion_cells(report, locale, criterion) for criterion in agreement.criteria)])
    bound = locale.short(agreement.criteria[0].claim.bound)
    lines += ["", locale.say("people_note"), "", locale.say("people_claim", bound=bound)]
    for criterion in agreement.criteria:
        verdict = claim_text(locale, criterion.claim, criterion.items)
        lines.append("  " + locale.say("people_said", name=name_of(locale, report, criterion.criterion), value=verdict))
    lines += ["", locale.say("people_among")]
    twice = [criterion for criterion in agreement.criteria if criterion.raters.items]
    if twice:
        heads = [locale.say(key) for key in ("people_criterion", "people_twice", "people_pair_pearson", "people_alpha")]
        lines += table([heads, *(_rater_cells(report, locale, criterion) for criterion in twice)])
    else:
        lines.append(f"  {locale.say('people_among_none')}")
    lines += _worth_lines(report, locale)
    lines += ["", locale.say("people_worst"), *_worst_lines(report, locale), *_rejected_lines(report, locale)]
    return "\n".join(lines) + "\n"


def _worth_lines(report: AgreementReport, locale: Locale) -> list[str]:
    if report.worth is None:
        return []
    lines = ["", locale.say("worth_title"), *(f"  {text}" for text in worth_texts(report.worth, locale))]
    if not report.worth.labelled.enough:
        return lines
    return [*lines, "", *table(worth_rows(report.worth.labelled, locale)), "", locale.say("worth_note")]


def agreement_remarks(report: AgreementReport, locale: Locale) -> list[str]:
    """Notes for the correct interpretation of the figures."""
    agreement, lines = report.agreement, []
    if report.since is not None:
        lines.append(locale.say("people_since", date=locale.date(report.since)))
    if report.sample_only:
        lines.append(locale.say("people_only_sample"))
        lines += [locale.count("people_left_out", report.selected)] if report.selected else []
    elif report.at_random is not None and report.at_random < report.labelled:
        lines.append(f"{locale.count('people_at_random', report.at_random)}. {locale.say('people_selected')}")
    if report.unblind:
        lines.append(locale.count("people_unblind", report.unblind))
    if report.weighed:
        lines.append(locale.count("people_weighed", report.weighed))
    unscored = next((criterion.without_judge for criterion in agreement.criteria if not criterion.criterion), 0)
    if unscored:
        lines.append(locale.count("people_without_judge", unscored))
    return lines


def _criterion_cells(report: AgreementReport, locale: Locale, criterion: CriterionAgreement) -> list[str]:
    return [
        name_of(locale, report, criterion.criterion),
        *([scale_text(locale, report, criterion.criterion)] if report.scales else []),
        locale.whole(criterion.items),
        *(figure_text(locale, getattr(criterion, name)) for name in FIGURES),
        locale.number(criterion.error),
        figure_text(locale, criterion.bias, sign=True),
    ]


def _rater_cells(report: AgreementReport, locale: Locale, criterion: CriterionAgreement) -> list[str]:
    alpha = criterion.raters.alpha
    return [
        name_of(locale, report, criterion.criterion),
        locale.whole(criterion.raters.items),
        locale.number(criterion.raters.pearson),
        figure_text(locale, Estimate(value=alpha.alpha, low=alpha.low, high=alpha.high)),
    ]


def _worst_lines(report: AgreementReport, locale: Locale) -> list[str]:
    worst = report.agreement.worst[:SHOWN_WORST]
    if not worst:
        return [f"  {locale.say('people_worst_none')}"]
    scaled = ["scale"] if report.scales else []
    heads = [locale.say(f"people_{key}") for key in ("answer", "criterion", *scaled, "judge", "people", "difference")]
    rows = [
        [
            one_line(difference.item, EXCERPT),
            name_of(locale, report, difference.criterion),
            *([scale_text(locale, report, difference.criterion)] if report.scales else []),
            locale.number(difference.judge),
            locale.number(difference.people),
            locale.signed(difference.difference),
            one_line(report.questions.get(difference.item, ""), EXCERPT),
        ]
        for difference in worst
    ]
    return table([[*heads, ""], *rows])


def _rejected_lines(report: AgreementReport, locale: Locale) -> list[str]:
    if not report.rejected:
        return []
    lines = ["", locale.count("people_rejected", len(report.rejected))]
    lines += [
        f"  {locale.say('people_row', n=row, reason=one_line(reason, 200))}" for row, reason in report.rejected[:SHOWN_REJECTED]
    ]
    rest = len(report.rejected) - SHOWN_REJECTED
    return [*lines, f"  {locale.say('people_more', n=locale.whole(rest))}"] if rest > 0 else lines


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns; the first column is set to the left, and so is a last one of texts."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def agreement_csv(report: AgreementReport) -> str:
    """Format one CSV line per criterion, with decimal points."""
    stream = io.StringIO()
    write = table_writer(stream)
    write(COLUMNS)
    for criterion in report.agreement.criteria:
        alpha = criterion.raters.alpha
        write(
            (
                criterion.criterion,
                report.names.get(criterion.criterion, ""),
                *report.scales.get(criterion.criterion, (None, None)),
                criterion.items,
                criterion.labels,
                criterion.without_judge,
                *_ends(criterion.pearson),
                *_ends(criterion.spearman),
                *_ends(criterion.kappa),
                criterion.error,
                *_ends(criterion.bias),
                criterion.claim.bound,
                criterion.claim.verdict,
                criterion.claim.certainty,
                criterion.claim.needed,
                criterion.raters.items,
                criterion.raters.pearson,
                *(alpha.alpha, alpha.low, alpha.high),
            )
        )
    return stream.getvalue()


def _ends(figure: Estimate | Correlation) -> Iterable[float | None]:
    return figure.value, figure.low, figure.high


def agreement_json(report: AgreementReport) -> str:
    """Format all figures as JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
