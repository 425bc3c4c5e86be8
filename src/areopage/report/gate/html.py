"""The gate's report as one HTML page that needs nothing else, runs nothing and asks nobody.

As in the other reports, everything that comes from outside is escaped, and a policy in the page forbids scripts and loads.
"""

from markupsafe import Markup

from areopage import __version__
from areopage.report.charts import bar_chart
from areopage.report.gate import report_wording as wording
from areopage.report.gate.page import MOST_NAMES, GateReport
from areopage.report.html import environment
from areopage.report.languages import Language

TEMPLATE = "gate.html.j2"
LONGEST_TEXT = 20_000  # characters of one piece of a text: what is shown must stay readable, and the file small
BAR_CLASSES = {"deliver": "excellent", "fallback": "good", "human_review": "weak"}


def render_html(report: GateReport) -> str:
    """The page."""
    language, figures = wording.language_of(report), report.figures
    made = environment(language)
    made.globals.update(
        facts_of=lambda answer: wording.answer_facts(language, answer),
        interval=lambda share: wording.interval_text(language, share),
        name_of=lambda name: wording.name_text(language, name),
        of_text=lambda share, key="gate_of": wording.of_text(language, share, key),
        probability=language.probability,
        reason_name=lambda code: wording.reason_name(language, code),
        share_text=lambda share: wording.share_text(language, share),
        verdict_rows=lambda shares: wording.verdict_rows(language, shares),
    )
    return made.get_template(TEMPLATE).render(
        report=report,
        figures=figures,
        version=__version__,
        longest=LONGEST_TEXT,
        most_names=MOST_NAMES,
        css_of=BAR_CLASSES,
        command=wording.command(report),
        confidences=histogram(figures.confidences, "gate_confidences", language),
        p_unsupported=histogram(figures.p_unsupported, "gate_p_unsupported", language),
        label_rows=wording.label_rows(language, report),
        labelled=wording.labelled_text(language, report),
        latency=wording.latency_rows(language, figures.latency),
        origins=wording.origins_text(language, figures.origins),
        period=wording.scope_text(language, report.scope),
        rules=wording.rules_text(language, report),
        text_note=wording.text_note(language, report),
        warnings=wording.warning_texts(language, report),
    )


def histogram(counts: tuple[int, ...], title: str, language: Language) -> Markup | None:
    """How many answers lie in each tenth; None where there are none."""
    if not any(counts):
        return None
    return bar_chart(wording.steps(language), counts, title=language.say(title), number=language.whole)
