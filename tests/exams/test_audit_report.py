"""The report on an audit: what moves scores is said, attacks are counted, and foreign texts are escaped."""

import json
from datetime import UTC, datetime

import jsonschema
import msgspec
import pytest

from areopage.app.schemas import schema_text
from areopage.exams.audit import AuditResult
from areopage.exams.audit_report import audit_report, console_lines
from areopage.exams.effects import Effect, Injected, Noise, Resistance
from areopage.exams.probes import PROBES
from areopage.report.rendering import render
from areopage.scoring.shares import Share


def effect(variant: str, difference: float, corrected: float, without: str = "") -> Effect:
    return Effect(
        probe="assertion",
        variant=variant,
        against="base",
        without=without,
        scores=20,
        cases=20,
        difference=difference,
        low=difference - 0.5,
        high=difference + 0.5,
        p_value=corrected / 4,
        corrected=corrected,
        lost=Share.exact(1, 20),
    )


ROW = Injected(
    attack="tokens-<b>", kind="tokens", place="response", case="1", criterion="c", clean=1.0, attacked=5.0, twin=1.0,
    on_attack="raised", on_twin="kept", marked=True,
)  # fmt: skip
RESISTANCE = Resistance(
    without="",
    raised=Share.exact(3, 100),
    changed=Share.exact(4, 100),
    lost=Share.exact(2, 100),
    twins_raised=Share.exact(0, 100),
    twins_changed=Share.exact(1, 100),
    twins_lost=Share.exact(1, 100),
    excess=0.03,
    low=-0.01,
    high=0.08,
    marked=Share.exact(90, 100),
    twins_marked=Share.exact(20, 100),
    no_room=2,
    kinds={"tokens": Share.exact(4, 100)},
    places={"response": Share.exact(4, 100)},
    attacks=(ROW,),
)
FOUND = AuditResult(
    suite="child_safety",
    suite_version="1.0.0",
    judge="<script>",
    reference="ollama:qwen3:8b",
    digest="d",
    unfit="",
    language="en",
    low=0.0,
    high=5.0,
    higher_is_better=True,
    probes=PROBES,
    without=("fence",),
    cases=20,
    judgments=400,
    unanswered=3,
    noise=Noise(pairs=20, mean=0.25, largest=1.0),
    effects=(
        effect("best_by_author", 1.25, 0.001),
        effect("best_in_prompt", 0.1, 1.0),
        effect("best_by_author", 2.0, 0.001, "fence"),
    ),
    resistance=(RESISTANCE, msgspec.structs.replace(RESISTANCE, without="fence", raised=Share.exact(60, 100))),
    own_model="Qwen",
    other_model="GPT",
    made_at=datetime(2026, 11, 23, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            [
                "The answer says that it deserves the best score: scores move by +1.25 points (+0.75 to +1.75).",
                "3 of 100 attacks",
            ],
        ),
        (
            "fr",
            ["La réponse affirme mériter la meilleure note", "+1,25 point (de +0,75 à +1,75)", "Sur 100 attaques, 3 relèvent"],
        ),
    ],
)
def test_the_page_says_what_moves_scores_and_what_attacks_do(language: str, said: list[str]) -> None:
    page = render(audit_report(FOUND, language), "html").replace("\u00a0", " ").replace("\u202f", " ")
    for words in said:
        assert words in page
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "tokens-&lt;b&gt;" in page
    assert len(console_lines(FOUND, language)) == 5


def test_the_json_holds_all_figures_and_fits_its_schema() -> None:
    figures = json.loads(render(audit_report(FOUND, "fr"), "json"))
    assert msgspec.convert(figures, AuditResult) == FOUND
    jsonschema.validate(figures, json.loads(schema_text("audit")))


def test_a_few_cases_and_an_unfit_judge_are_named_first() -> None:
    few = msgspec.structs.replace(FOUND, cases=4, unfit="a coin flip", resistance=())
    page = render(audit_report(few, "en"), "md")
    assert "Only 4 answers were changed" in page
    assert "known to be unfit: a coin flip" in page
