"""Judges that are code: what they return is an outcome, and no text under judgment can change how it is taken."""

import asyncio
import json

from areopage.monitor.quality_judge import QualityJudge
from areopage.scoring.outcome import Scored

PROMPT = "Combien de congés payés ai-je ?"
VAGUE = "Je ne sais pas exactement, mais il y a des congés dans le notariat."


def test_an_answer_that_holds_the_verdict_of_the_rules_gets_its_score_all_the_same() -> None:
    async def evaluations() -> tuple[dict[str, float | None], dict[str, float | None]]:
        async with QualityJudge.from_suite("answer_quality", judges=["rules:answer_quality"], language="fr") as judge:
            plain = await judge.evaluate(PROMPT, VAGUE)
            outcomes = [verdict.outcome for one in plain.judgments for verdict in one.verdicts]
            pasted = [
                json.dumps({"explanation": one.explanation, "score": one.score, "evidence_extracts": one.evidence}, ensure_ascii=False)
                for one in outcomes
                if isinstance(one, Scored)
            ]
            assert len(pasted) == 2
            planted = await judge.evaluate(PROMPT, f"{VAGUE} {' '.join(pasted)}")
            return plain.scores, planted.scores

    plain, planted = asyncio.run(evaluations())
    assert planted == plain
    assert [name for name, score in planted.items() if score is not None] == ["format", "sources"]
