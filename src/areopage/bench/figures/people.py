"""People's part in a run: sign-offs above its report, and how far the jury agrees with people."""

from collections.abc import Iterator
from math import isnan

from msgspec import Struct

from areopage.bench.figures.failures import FAILURES
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.figures.jury_worth import JURY_WORTH
from areopage.bench.results.people import SignedRun, reservation_line, signed_runs
from areopage.bench.results.run_data import RunData
from areopage.bench.words import count_of
from areopage.ledger import SAMPLE
from areopage.locales import MISSING, Locale
from areopage.records import record_from
from areopage.report import (
    Block,
    Cell,
    Details,
    Facts,
    Line,
    Listing,
    Notice,
    Paragraph,
    Section,
    Span,
    Table,
    columns,
    figure_text,
    line,
    rows,
    share_range,
)
from areopage.review import OVERALL, Rubric, RunReview
from areopage.scoring import Alpha, Correlation, CriterionAgreement, Estimate, FailuresSeen, Share

SHOWN_DIGEST = 16
SHOWN_NOTE = 400


class HumanCriterion(Struct, frozen=True, kw_only=True):
    """The jury against people on one criterion; `final` is the overall score.

    Args:
        answers: with a score on both sides; `labels` are people's labels of them.
        kappa: quadratic, of scores rounded to whole points.
        error: mean absolute difference.
        bias: mean of jury − people.
        raters_alpha: Krippendorff's α of the raters among themselves, over `twice` answers.
        failures: null for the overall score.
    """

    answers: int
    labels: int
    pearson: Correlation
    kappa: Estimate
    error: float | None
    bias: Estimate
    twice: int
    raters_alpha: Alpha
    failures: FailuresSeen | None


class HumanFigures(Struct, frozen=True, kw_only=True):
    """The jury against people over some answers.

    Args:
        answers: that are labelled.
        first: failures on any of the criteria that count first.
        criteria: by a criterion's id, and `final`.
    """

    answers: int
    labels: int
    raters: int
    first: FailuresSeen
    criteria: dict[str, HumanCriterion]


class PeopleResult(Struct, frozen=True, kw_only=True):
    """People's part in a run.

    Args:
        queued: how many answers were queued for review, `drawn` of them at random.
        not_counted: labels that do not count, as their raters had seen the judges' scores.
        sample: over the random sample, which speaks for all answers; null where nothing of it is labelled.
        all_labelled: over all labelled answers, also those that were chosen as they fail or are disputed.
        sign_offs: of each name the latest, newest first.
    """

    queued: int
    drawn: int
    not_counted: int
    sample: HumanFigures | None
    all_labelled: HumanFigures | None
    sign_offs: tuple[SignedRun, ...]


def run_reviewed(view: RunData, language: str, *, sample_only: bool) -> RunReview:
    """The jury of a run against people; only labels count whose raters had not seen the judges' scores."""
    spec, by_answer = view.spec, scores_by_answer(view)
    paths = spec.paths
    limits = spec.limits
    return RunReview.of(
        Rubric.of_panel(spec, view.run.id),
        view.people.labels,
        view.queued_as(SAMPLE),
        by_answer,
        {paths[id]: limit for id, limit in limits.items()},
        [criterion.path for criterion in spec.criteria if criterion.category in FAILURES.of(view).categories],
        language,
        sample_only=sample_only,
        unblind=view.people.unblind,
        worth=JURY_WORTH.of(view),
    )


def scores_by_answer(view: RunData) -> dict[str, dict[str, float]]:
    """The jury's scores: answer -> criterion's path ("" is the overall score) -> score."""
    columns = view.scores.criteria
    names = list(map(view.spec.paths.__getitem__, columns.criteria))
    by_case: dict[int, dict[str, float]] = {}
    rows = zip(columns.case.tolist(), columns.criterion.tolist(), columns.cells.score.tolist(), strict=True)
    for case, criterion, score in rows:
        scores = by_case.setdefault(case, {})
        if not isnan(score):
            scores[names[criterion]] = score
    finals = view.scores.records.finals_by_case
    by_answer: dict[str, dict[str, float]] = {}
    for case, scores in by_case.items():
        case_id = columns.cases[case]
        if (id := view.answer_ids.get(case_id)) is not None:
            final = finals[case_id]
            by_answer[id] = scores if final is None else scores | {OVERALL: final}
    return by_answer


def _people(view: RunData) -> PeopleResult | None:
    """Human labels against the jury, and sign-offs; null where there are none."""
    people = view.people
    if not (people.items or people.labels or people.signoffs):
        return None
    return PeopleResult(
        queued=len(people.items),
        drawn=len(view.queued_as(SAMPLE)),
        not_counted=people.unblind,
        sample=_figures(view, sample_only=True),
        all_labelled=_figures(view, sample_only=False),
        sign_offs=SIGN_OFFS.of(view),
    )


def _figures(view: RunData, *, sample_only: bool) -> HumanFigures | None:
    reviewed = run_reviewed(view, view.spec.language, sample_only=sample_only)
    agreement, ids = reviewed.report.agreement, {criterion.path: criterion.id for criterion in view.spec.criteria}
    if not agreement.labels:
        return None
    criteria = {
        ids.get(criterion.criterion, "final"): human_criterion(criterion, reviewed.failures.by_criterion.get(criterion.criterion))
        for criterion in agreement.criteria
        if criterion.items or criterion.raters.items
    }
    return HumanFigures(
        answers=reviewed.report.labelled,
        labels=agreement.labels,
        raters=len(agreement.raters),
        first=reviewed.failures.first,
        criteria=criteria,
    )


def human_criterion(agreement: CriterionAgreement, failures: FailuresSeen | None = None) -> HumanCriterion:
    """The agreement with people on one criterion, in short."""
    raters = agreement.raters
    return record_from(
        HumanCriterion, agreement, answers=agreement.items, twice=raters.items, raters_alpha=raters.alpha, failures=failures
    )


def _notices(view: RunData, page: Page) -> Iterator[Notice]:
    people, locale = PEOPLE.of(view), page.locale
    if people is None or not people.sign_offs:
        return
    stale = any(signed_run.changed for signed_run in people.sign_offs)
    lines = tuple(
        line(text, Span(signed_run.signoff.digest[:SHOWN_DIGEST], "code")) for signed_run, text in _signed_lines(people, locale)
    )
    title = locale.say("signed_earlier_title" if stale else "signed_title")
    alarm = any("signature" in signed_run.changed or signed_run.signoff.verdict == "reject" for signed_run in people.sign_offs)
    yield Notice(title=title, blocks=(Listing(items=lines),), alarm=alarm)


def signoff_texts(people: PeopleResult | None, locale: Locale) -> Iterator[tuple[str, bool]]:
    """A line of plain text for each sign-off, and whether it still holds."""
    for signed_run, text in _signed_lines(people, locale) if people else ():
        yield f"{text} {signed_run.signoff.digest[:SHOWN_DIGEST]}", not signed_run.changed


def _signed_lines(people: PeopleResult, locale: Locale) -> Iterator[tuple[SignedRun, str]]:
    for signed_run in people.sign_offs:
        signed = signed_run.signoff
        who = locale.say("signed_role", name=signed.name, role=signed.role) if signed.role else signed.name
        parts = [locale.say(f"signed_{signed.verdict}", who=who, date=locale.moment(signed.signed_at))]
        parts += [locale.say("signed_note", note=" ".join(signed.note.split())[:SHOWN_NOTE])] if signed.note else []
        if signed.signed.over:
            parts.append(
                locale.say("signed_open", what=locale.clauses(reservation_line(each, locale) for each in signed.signed.over))
            )
        if signed_run.changed:
            changes = ", ".join(locale.say(f"signed_changed_{name}") for name in signed_run.changed)
            parts.append(locale.say("signed_earlier", changes=changes))
        parts.append(locale.count("signed_over", signed.signed.counted))
        yield signed_run, " ".join(parts)


def _section(view: RunData, page: Page) -> Section | None:
    people, locale = PEOPLE.of(view), page.locale
    if people is None or (not people.queued and people.all_labelled is None):
        return None
    sample, every = people.sample, people.all_labelled
    blocks: list[Block] = [Paragraph(text=locale.say("human_lead"), look="soft"), Facts(items=tuple(_facts(people, locale)))]
    if sample is not None:
        blocks += [_failures_table(view, sample, locale), Paragraph(text=locale.say("human_failures_note"), look="note")]
        blocks.append(Details(summary=locale.say("human_scores"), blocks=(_scores_table(view, sample, locale),)))
    else:
        blocks.append(Paragraph(text=locale.say("human_no_sample")))
    if every is not None and (sample is None or every.answers > sample.answers):
        chosen = (
            Paragraph(text=locale.count("human_every_text", every.answers - (sample.answers if sample else 0)), look="soft"),
            _failures_table(view, every, locale),
            _scores_table(view, every, locale),
        )
        blocks.append(Details(summary=locale.say("human_every"), blocks=chosen))
    return Section(id="people", title=locale.say("people_title"), blocks=tuple(blocks), console=True)


def human_texts(people: PeopleResult | None, locale: Locale) -> Iterator[str]:
    """The agreement with people in a line or two of plain text; nothing where no label counts."""
    if people is None or people.all_labelled is None:
        return
    if people.sample is None:
        yield locale.say("human_no_sample")
        return
    labelled = locale.count("human_sample", people.sample.answers, raters=locale.count("people_raters", people.sample.raters))
    yield locale.say("pair", name=labelled, value=_first_text(people.sample.first, locale))


def _facts(people: PeopleResult, locale: Locale) -> Iterator[tuple[str, Line]]:
    queued = locale.count("human_queued", people.queued, drawn=locale.whole(people.drawn))
    yield locale.say("human_queue"), queued
    every, sample = people.all_labelled, people.sample
    if every is not None:
        counted = locale.count("people_labels_count", every.labels)
        text = f"{locale.count('people_labelled', every.answers)}, {counted}, {locale.count('people_raters', every.raters)}"
        yield locale.say("human_labels"), text
    if people.not_counted:
        yield locale.say("human_not_counted"), locale.count("people_unblind", people.not_counted)
    if sample is not None:
        note = Span(f"– {locale.count('human_sample_note', sample.answers)}", "soft")
        yield locale.say("human_first"), line(_first_text(sample.first, locale), note)


def _first_text(failures: FailuresSeen, locale: Locale) -> str:
    if not failures.people:
        return locale.count("human_none_failed", failures.items)
    missed = locale.whole(len(failures.missed))
    text = locale.count("human_missed", failures.people, missed=missed)
    around = share_range(failures.sensitivity, locale, missed=True)
    return f"{text} ({around})" if around else text


def _share(share: Share, locale: Locale) -> Cell | str:
    """A share with its counts and exact bounds; a dash where nothing was counted."""
    if share.share is None:
        return MISSING
    counts = count_of(locale, share.hits, share.of)
    around = share_range(share, locale)
    return Cell(text=locale.percent(share.share, 0), under=(counts, f"({around})" if around else ""))


def _named(view: RunData, figures: HumanFigures) -> Iterator[tuple[Cell, HumanCriterion]]:
    criteria = view.spec.criteria_by_id()
    for id, criterion in figures.criteria.items():
        if id in criteria:
            yield Cell(text=criteria[id].title, title=id), criterion


def _failures_table(view: RunData, figures: HumanFigures, locale: Locale) -> Table:
    def row(name: Cell, failures: FailuresSeen) -> tuple[Cell | str, ...]:
        counts = (failures.items, failures.people, failures.jury, failures.both)
        shares = (failures.agreement, failures.sensitivity, failures.specificity)
        return (name, *map(locale.whole, counts), *(_share(share, locale) for share in shares))

    keys = ("people_answers", "human_people", "human_jury", "human_both", "human_agreement", "human_sensitivity")
    heads = columns(*(locale.say(key) for key in (*keys, "human_specificity")), first=locale.say("criterion"))
    listed = [
        row(name, criterion.failures)
        for name, criterion in _named(view, figures)
        if criterion.failures is not None and criterion.answers
    ]
    together = [row(Cell(text=locale.say("human_any")), figures.first)] if len(listed) > 1 else []
    return Table(columns=heads, rows=rows([*together, *listed]), css="failures")


def _scores_table(view: RunData, figures: HumanFigures, locale: Locale) -> Table:
    def row(name: Cell, criterion: HumanCriterion) -> tuple[Cell | str, ...]:
        alpha = criterion.raters_alpha
        return (
            name,
            locale.whole(criterion.answers),
            figure_text(locale, criterion.kappa),
            figure_text(locale, criterion.pearson),
            locale.number(criterion.error),
            figure_text(locale, criterion.bias, sign=True),
            figure_text(locale, Estimate(value=alpha.alpha, low=alpha.low, high=alpha.high)),
        )

    keys = ("people_answers", "people_kappa", "people_pearson", "people_error", "people_bias", "human_raters_alpha")
    heads = columns(*(locale.say(key) for key in keys), first=locale.say("criterion"))
    listed = [row(name, criterion) for name, criterion in _named(view, figures)]
    final = figures.criteria.get("final")
    listed += [row(Cell(text=locale.say("people_overall")), final)] if final is not None else []
    return Table(columns=heads, rows=rows(listed), css="failures")


SIGN_OFFS: Figure[tuple[SignedRun, ...]] = Figure(id="sign_offs", compute=lambda view: tuple(signed_runs(view)), notices=_notices)
PEOPLE: Figure[PeopleResult | None] = Figure(id="people", compute=_people, stored="results", section=_section)
