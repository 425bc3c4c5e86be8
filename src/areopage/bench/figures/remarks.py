"""What else there is to say of a run: remarks, rejected rows, how it came about, and lines for signatures."""

from collections.abc import Iterator
from pathlib import Path

from areopage.bench.commands import command_span, run_command
from areopage.bench.figures.figure import Figure, Page
from areopage.bench.figures.missing import LISTED, case_list
from areopage.bench.results.run_data import RunData
from areopage.cases import RejectedRow
from areopage.criteria import TEMPLATE_VERSION, Criterion
from areopage.digest import short_digest
from areopage.jury import Fitting
from areopage.locales import Note
from areopage.report import Blanks, Column, Facts, Line, Listing, Notice, Paragraph, Section, Span, head_facts, line
from areopage.version import __version__


def _remarks(view: RunData) -> tuple[str, ...]:
    """Remarks on the suite, the datasets, answers and calls."""
    return tuple(map(str, (*view.spec.remarks, *NOTES.of(view))))


def _notes(view: RunData) -> tuple[Note, ...]:
    """Remarks on answers and calls: overlong answers, thoughts, documents that were cut, conversations that ended early, and
    options that judges were not sent.
    """
    notes: list[Note] = []
    limit = view.spec.max_response_length
    if limit and (long := view.stored.longer_than(limit)):
        notes.append(Note("long_answers", {"n": len(long), "limit": limit, "cases": long}))
    if apart := view.stored.with_thoughts("apart"):
        notes.append(Note("thoughts_apart", {"n": len(apart), "cases": apart}))
    # the release verdict, if there is one, names those in a text
    if view.spec.release is None and (in_text := view.stored.with_thoughts("in_text")):
        notes.append(Note("thoughts_in_text", {"n": len(in_text), "cases": in_text}))
    conversations = view.conversations.notes() if view.conversations else ()
    return (*notes, *_cut_documents(view), *conversations, *view.columns.call_notes())


def _cut_documents(view: RunData) -> Iterator[Note]:
    """The cases whose documents a judge was not shown, or not whole, since its window does not hold them."""
    spec, by_id = view.spec, view.spec.criteria_by_id()
    wanted: dict[str, list[Criterion]] = {
        item.case.id: [by_id[key] for key in item.criteria] for item in view.items if item.case.documents
    }
    cases = [case for case in view.cases if case.id in wanted] if wanted else []
    for judge in spec.judges if wanted else ():
        fitting = Fitting(judge, spec.gauges.get(str(judge.reference)) if judge.is_model else None, spec.personas)
        cut = [case.id for case in cases if fitting.fitted(case, wanted[case.id], joint=spec.joint) is not case]
        if cut:
            yield Note("cut_documents", {"n": len(cut), "judge": judge.name, "cases": tuple(cut)})


def _ledger_heads(view: RunData) -> tuple[str, ...]:
    """The last link of each of the ledger's hash chains, as `areopage verify --against` reads them."""
    return view.heads


def _variant(view: RunData) -> str:
    """How these results differ from the run as carried out; "" where they do not."""
    return "; ".join(map(str, view.variant))


def _variant_notices(view: RunData, page: Page) -> Iterator[Notice]:
    if view.variant:
        text = page.locale.clauses(note.text(page.locale.code) for note in view.variant)
        yield Notice(title=page.locale.say("variant"), blocks=(Paragraph(text=text),))


def _rejected_section(view: RunData, page: Page) -> Section | None:
    if not view.rejected:
        return None
    locale = page.locale
    heads = [Column(heading=locale.say(key), kind="text") for key in ("file", "row", "reason", "content")]
    heads[1] = Column(heading=locale.say("row"))
    listed = [
        (rejected.file, locale.whole(rejected.row), rejected.reason[:400], rejected.content[:200])
        for rejected in view.rejected[:LISTED]
    ]
    lead = Paragraph(text=locale.count("rejected_lead", len(view.rejected)))
    return Section(
        id="rejected",
        title=locale.say("rejected"),
        blocks=(lead, case_list(locale, heads, listed, "more_rejected", len(view.rejected))),
        console=True,
        brief=True,
    )


def _remarks_section(view: RunData, page: Page) -> Section | None:
    locale = page.locale
    seen = (*NOTES.of(view), *view.scores.warnings)
    remarks = [view.spec.named(note).text(locale.code) for note in (*view.spec.remarks, *seen)]
    if view.addressing:
        remarks.append(f"{locale.count('addressing_judge', len(view.addressing))} {locale.names(view.addressing)}")
    if not remarks:
        return None
    is_new = bool(seen or view.addressing)  # the plan says what else there is
    return Section(id="remarks", title=locale.say("remarks"), blocks=(Listing(items=tuple(remarks)),), console=True, brief=is_new)


def _method_section(view: RunData, page: Page) -> Section:
    spec, run, profile, locale = view.spec, view.run, view.spec.profile, page.locale
    target = spec.answered_by or locale.say("given_responses")
    if profile.failed_pass_score is None:
        text = locale.say("how_default", quorum=locale.percent(profile.quorum, 0))
    else:
        text = locale.say("how_v1_1", score=locale.short(profile.failed_pass_score))
    weighted = spec.weights.categories or spec.weights.subcategories or spec.weights.criteria
    digest = spec.target.digest if spec.target else ""
    items: tuple[tuple[str, Line], ...] = (
        (locale.say("run_id"), Span(run.id, "code")),
        (locale.say("begun"), locale.moment(run.created_at)),
        (locale.say("finished"), locale.moment(run.finished_at) if run.finished_at else locale.say("not_finished")),
        (locale.say("version"), f"areopage {__version__}, {locale.say('template', n=TEMPLATE_VERSION)}"),
        (locale.say("profile"), profile.name),
        (locale.say("weights"), locale.say("weights_configured" if weighted else "weights_equal")),
        (locale.say("target"), line(target, Span(short_digest(digest), "soft"))),
        *(
            (locale.say("judge"), line(f"{judge.name}: {judge.reference}", Span(short_digest(judge.digest), "soft")))
            for judge in spec.judges
        ),
        *((locale.say("dataset"), Path(name).name) for name in spec.datasets),
        (locale.say("rescore"), command_span(run_command(view, "bench", "rescore"))),
        *head_facts(view.heads, locale),
    )
    blocks = (Paragraph(text=f"{text} {locale.say('how_tree')}"), Facts(items=items, small=True))
    return Section(id="how", title=locale.say("how"), blocks=blocks)


def _sign_section(view: RunData, page: Page) -> Section:
    locale = page.locale
    names = tuple(locale.say(f"sign_{key}") for key in ("name", "role", "date", "hand"))
    blocks = (Paragraph(text=locale.say("sign_lead", run=view.run.id), look="small"), Blanks(lines=(names, names)))
    return Section(id="sign", title=locale.say("sign"), blocks=blocks, place="paper")


VARIANT: Figure[str] = Figure(id="variant", compute=_variant, stored="metadata", notices=_variant_notices)
REJECTED: Figure[tuple[RejectedRow, ...]] = Figure(id="rejected", compute=lambda view: view.rejected, section=_rejected_section)
NOTES: Figure[tuple[Note, ...]] = Figure(id="notes", compute=_notes)
REMARKS: Figure[tuple[str, ...]] = Figure(id="remarks", compute=_remarks, stored="metadata", section=_remarks_section)
LEDGER_HEADS: Figure[tuple[str, ...]] = Figure(
    id="ledger_heads", compute=_ledger_heads, stored="metadata", section=_method_section
)
SIGNATURES: Figure[str] = Figure(id="signatures", compute=lambda view: view.run.id, section=_sign_section)
