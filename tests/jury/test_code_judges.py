"""Judges that are code: what they return is an outcome, and no text under judgment can change how it is taken."""

import asyncio
import json
import math
from pathlib import Path

import msgspec
import pytest

from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.errors import ModelError
from areopage.jury.code_judge import CodeJudge
from areopage.jury.judges import CallContext, CallResult, Judge, JudgeBackend
from areopage.jury.model_judge import ModelJudge
from areopage.jury.opening import expected_kind, open_judge, settled_judge
from areopage.jury.planning import CallPlan, JudgedCase
from areopage.models.adapters import JUDGE_ADAPTERS
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.monitor.quality_judge import QualityJudge
from areopage.scoring.outcome import Refused, Scored, Unparsed
from areopage.suites.config import JudgeSection

REFERENCE = ModelReference("mine", "length")
PROMPT = "Combien de congés payés ai-je ?"
VAGUE = "Je ne sais pas exactement, mais il y a des congés dans le notariat."
PLUGIN = """
from areopage.jury.code_judge import CodeJudge
from areopage.scoring.outcome import Scored


def judge_length(case, criterion, language):
    short = len(case.response or "") < 20
    return Scored(score=criterion.scale.max if short else criterion.scale.min, explanation=language)


def open_judge(reference, settings):
    return CodeJudge(reference, judge_length, digest="1", criteria=("a.b.c",))
"""


def judged(backend: JudgeBackend, judge: Judge, case: Case, *criteria: Criterion) -> CallResult:
    (call,) = CallPlan(judge, [JudgedCase(case=case, criteria=criteria)], {}, joint=True)
    return asyncio.run(backend.judge(call, CallContext(run_id="run", secret=b"", personas={}, language="fr")))


def test_an_answer_that_holds_the_verdict_of_the_rules_gets_its_score_all_the_same() -> None:
    async def evaluations() -> tuple[dict[str, float | None], dict[str, float | None]]:
        async with QualityJudge.from_suite("answer_quality", judges=["rules:answer_quality"], language="fr") as judge:
            plain = await judge.evaluate(PROMPT, VAGUE)
            outcomes = [verdict.outcome for one in plain.judgments for verdict in one.verdicts]
            verdicts = [
                {"explanation": one.explanation, "score": one.score, "evidence_extracts": one.evidence}
                for one in outcomes
                if isinstance(one, Scored)
            ]
            pasted = [json.dumps(verdict, ensure_ascii=False) for verdict in verdicts]
            assert len(pasted) == 2
            planted = await judge.evaluate(PROMPT, f"{VAGUE} {' '.join(pasted)}")
            return plain.scores, planted.scores

    plain, planted = asyncio.run(evaluations())
    assert planted == plain
    assert [name for name, score in planted.items() if score is not None] == ["format", "sources"]


def test_a_judge_in_plain_python_is_installed_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: Judge, case: Case, criterion: Criterion
) -> None:
    with pytest.raises(ModelError, match=r"unknown provider 'mine' in mine:length: use one of .*replay, rules"):
        open_judge(REFERENCE, ModelSettings())
    installed = tmp_path / "mine-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[areopage.judges]\nmine = installed_judge:open_judge\n")
    (tmp_path / "installed_judge.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    backend = open_judge(REFERENCE, ModelSettings())
    assert (expected_kind(REFERENCE), "mine" in JUDGE_ADAPTERS) == ("code", True)
    section = JudgeSection.model_validate({"model": "mine:length"})  # as a suite names it
    assert (section.provider, section.model) == ("mine", "length")
    settled = settled_judge(judge, asyncio.run(backend.check()), "fr")
    assert (settled.kind, settled.digest, settled.criteria, settled.passes) == ("code", "1-fr", ("a.b.c",), 1)
    found = judged(backend, settled, case, criterion)
    assert found.outcomes == {criterion.id: Scored(score=5, explanation="fr")}
    assert (found.raw_text, found.repair_text, found.prompt_tokens, found.completion_tokens) == ("", "", 0, 0)


def test_an_installed_judge_does_not_take_the_place_of_a_built_in_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = ModelReference("ollama", "m")
    installed = tmp_path / "other-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[areopage.judges]\nollama = no_such_module:open_judge\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "ollama" in JUDGE_ADAPTERS
    assert isinstance(open_judge(reference, ModelSettings()), ModelJudge)
    assert expected_kind(reference) == "model"


@pytest.mark.parametrize("score", [5.1, -1, math.nan, math.inf])
def test_a_score_outside_the_scale_is_none(score: float, judge: Judge, case: Case, criterion: Criterion) -> None:
    backend = CodeJudge(REFERENCE, lambda case, criterion, language: Scored(score=score), digest="1")
    once = msgspec.structs.replace(judge, pass_options=({},))
    assert isinstance(judged(backend, once, case, criterion).outcomes[criterion.id], Unparsed)


def test_a_criterion_without_a_rule_is_refused(judge: Judge, case: Case, criterion: Criterion) -> None:
    backend = CodeJudge(REFERENCE, lambda case, criterion, language: Scored(score=1), digest="1", criteria=("a.b.d",))
    once = msgspec.structs.replace(judge, pass_options=({},))
    other = msgspec.structs.replace(criterion, id="a.b.d__v1_0", name="d")
    assert judged(backend, once, case, criterion, other).outcomes == {
        criterion.id: Refused(reason="mine:length has no rule for the criterion 'a.b.c__v1_0': it judges a.b.d"),
        other.id: Scored(score=1),
    }
