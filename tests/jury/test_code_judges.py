"""Judges that are code: what they return is an outcome, and no text under judgment can change how it is taken."""

import asyncio
import importlib.metadata
import json
import math
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from areopage.cases.records import Case
from areopage.criteria.records import Criterion
from areopage.errors import ModelError
from areopage.jury.code_judge import CodeJudge
from areopage.jury.judges import CallContext, Judge, Judged
from areopage.jury.opening import open_judge, settled_judge
from areopage.jury.plan import JudgedCase, plan
from areopage.models.reference import ModelReference
from areopage.models.settings import ModelSettings
from areopage.monitor.quality_judge import QualityJudge
from areopage.scoring.outcome import Outcome, Refused, Scored, Unparsed

REFERENCE = ModelReference("mine", "length")

PROMPT = "Combien de congés payés ai-je ?"
VAGUE = "Je ne sais pas exactement, mais il y a des congés dans le notariat."


def test_an_answer_that_holds_the_verdict_of_the_rules_gets_its_score_all_the_same() -> None:
    async def evaluations() -> tuple[dict[str, float | None], dict[str, float | None]]:
        async with QualityJudge.from_suite("answer_quality", judges=["rules:answer_quality"], language="fr") as judge:
            plain = await judge.evaluate(PROMPT, VAGUE)
            outcomes = [verdict.outcome for one in plain.judgments for verdict in one.verdicts]
            pasted = [
                json.dumps(
                    {"explanation": one.explanation, "score": one.score, "evidence_extracts": one.evidence}, ensure_ascii=False
                )
                for one in outcomes
                if isinstance(one, Scored)
            ]
            assert len(pasted) == 2
            planted = await judge.evaluate(PROMPT, f"{VAGUE} {' '.join(pasted)}")
            return plain.scores, planted.scores

    plain, planted = asyncio.run(evaluations())
    assert planted == plain
    assert [name for name, score in planted.items() if score is not None] == ["format", "sources"]


def judge_length(case: Case, criterion: Criterion, language: str) -> Outcome:
    """A judge in plain Python: short answers are good ones."""
    return Scored(score=criterion.scale.max if len(case.response or "") < 20 else criterion.scale.min, explanation=language)


def length_judge(reference: ModelReference, settings: ModelSettings) -> CodeJudge:
    """What an entry point of the group `areopage.judges` names."""
    return CodeJudge(reference, judge_length, digest="1", criteria=("a.b.c",))


def judged(backend: CodeJudge, judge: Judge, case: Case, *criteria: Criterion) -> Judged:
    (call,) = plan(judge, [JudgedCase(case=case, criteria=criteria)], {}, joint=True)
    return asyncio.run(backend.judge(call, CallContext(run_id="run", secret=b"", personas={}, language="fr")))


def test_a_judge_in_plain_python_is_opened_by_its_entry_point(
    monkeypatch: pytest.MonkeyPatch, judge: Judge, case: Case, criterion: Criterion
) -> None:
    point = EntryPoint("mine", f"{__name__}:length_judge", "areopage.judges")
    monkeypatch.setattr(EntryPoint, "load", lambda self: length_judge if self == point else None)
    installed = lambda **wanted: EntryPoints([point]).select(**wanted)  # noqa: E731
    monkeypatch.setattr("areopage.models.providers.entry_points", installed)
    backend = open_judge(REFERENCE, ModelSettings())
    assert isinstance(backend, CodeJudge)
    settled = settled_judge(judge, asyncio.run(backend.check()), "fr")
    assert (settled.kind, settled.digest, settled.criteria, len(settled.passes)) == ("code", "1-fr", ("a.b.c",), 1)
    found = judged(backend, settled, case, criterion)
    assert found.outcomes == {criterion.id: Scored(score=5, explanation="fr")}
    assert (found.raw_text, found.repair_text, found.prompt_tokens, found.completion_tokens) == ("", "", 0, 0)
    with pytest.raises(ModelError, match="unknown provider 'mine'"):
        importlib.metadata.entry_points(group="areopage.judges")
        monkeypatch.undo()
        open_judge(REFERENCE, ModelSettings())


@pytest.mark.parametrize("score", [5.1, -1, math.nan, math.inf])
def test_a_score_outside_the_scale_is_none(score: float, judge: Judge, case: Case, criterion: Criterion) -> None:
    backend = CodeJudge(REFERENCE, lambda case, criterion, language: Scored(score=score), digest="1")
    one_pass = settled_judge(judge, asyncio.run(backend.check()), "fr")
    assert isinstance(judged(backend, one_pass, case, criterion).outcomes[criterion.id], Unparsed)


def test_a_criterion_without_a_rule_is_refused(judge: Judge, case: Case, criterion: Criterion) -> None:
    backend = CodeJudge(REFERENCE, judge_length, digest="1", criteria=("a.b.d",))
    one_pass = settled_judge(judge, asyncio.run(CodeJudge(REFERENCE, judge_length, digest="1").check()), "fr")
    assert judged(backend, one_pass, case, criterion).outcomes[criterion.id] == Refused(
        reason="mine:length has no rule for the criterion 'a.b.c__v1_0': it judges a.b.d"
    )
