"""What a rater is asked of an answer: the reader, the criteria of its run or of the suite, and the comparison afterwards."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from areopage.bench import fold_space
from areopage.cases import Persona
from areopage.criteria import Criterion, Scale
from areopage.ledger import GROUNDING, Answer, Evaluation, Label, Ledger
from areopage.review import OVERALL, Rubric, answer_panel
from areopage.server.context import ServerContext
from areopage.server.pages.answers import JudgeRemark, said_by_criterion

FIELD = "score."
MOST_STEPS = 10
WRAPPED = re.compile(r"\n[ \t]+(?![-•*\d])")


class Question(Struct, frozen=True, kw_only=True):
    """A question to a rater: one criterion, or the overall score, with the current value."""

    path: str
    label: str
    guide: Criterion | None
    value: str

    @property
    def field(self) -> str:
        """Its field's name in the form."""
        return FIELD + self.path

    @property
    def anchors(self) -> str:
        """The scoring guide, without the line breaks of the prompt file."""
        return WRAPPED.sub(" ", self.guide.scoring_guide.strip()) if self.guide else ""


class ComparedScores(Struct, frozen=True, kw_only=True):
    """The scores of a criterion: the jury's, each judge's lowest and highest, and each rater's (None without a score)."""

    label: str
    judge: float | None
    judges: tuple[tuple[float, float] | None, ...]
    people: tuple[float | None, ...]


class SaidOf(Struct, frozen=True, kw_only=True):
    """What the judges say on a criterion; `differ`: they give different scores."""

    label: str
    said: tuple[JudgeRemark, ...]

    @property
    def differ(self) -> bool:
        """Whether the judges give different scores."""
        return len({said.score for said in self.said}) > 1


class Questionnaire(Struct, frozen=True, kw_only=True):
    """What raters are asked of one answer.

    Args:
        paths: of the criteria that the answer is scored on, in the rubric's order.
        language: of the page.
        persona: the reader that the answer is for, if its run says so.
        run_suite: the suite of the benchmark run with its version; "" for other answers.
        evaluation: by the panel whose criteria are asked.
    """

    answer_id: str
    rubric: Rubric
    paths: tuple[str, ...]
    language: str
    persona: Persona | None
    run_suite: str
    evaluation: Evaluation | None

    def questions(self, scores: Mapping[str, str]) -> list[Question]:
        """The questions with the current values."""
        guides, names = self.rubric.guides(self.language), self.rubric.labels(self.language)
        asked = [(path, names[path], guides.get(path)) for path in self.paths] + [(OVERALL, "", None)]
        return [Question(path=path, label=label, guide=guide, value=scores.get(path, "")) for path, label, guide in asked]


def asked_of(context: ServerContext, answer: Answer, language: str) -> Questionnaire:
    """What raters are asked of an answer: in a benchmark run the criteria that the case was judged by."""
    panel = answer_panel(context.ledger, answer.id)
    rubric = Rubric.of_panel(*panel) if panel else Rubric.of_suite(context.suite)
    evaluation = context.ledger.evaluations.get(answer.id, rubric.run_id or None)
    judged = {result.criterion for result in evaluation.criteria} if panel and evaluation else set[str]()
    return Questionnaire(
        answer_id=answer.id,
        rubric=rubric,
        paths=tuple(path for path in rubric.paths if path in judged) or rubric.paths,
        language=language,
        persona=panel[0].personas.get(answer.case.maturity) if panel else None,
        run_suite=f"{panel[0].suite} {panel[0].suite_version}" if panel else "",
        evaluation=evaluation,
    )


def comparison(ledger: Ledger, asked: Questionnaire, labels: Sequence[Label], rater: str, response: str) -> dict[str, Any]:
    """The scores of the jury, of each judge with its reasons, and of all raters, the own ones first."""
    id, rubric, evaluation = asked.answer_id, asked.rubric, asked.evaluation
    judge = ledger.labels.panel_scores([id], rubric.run_id).get(id, {}).get(rubric.suite, {})
    raters = sorted({label.rater for label in labels}, key=lambda name: (name != rater, name))
    scores = {(label.rater, label.criterion): label.score for label in labels}
    for name in raters:
        overall = rubric.overall({path: scores[name, path] for path in rubric.paths if (name, path) in scores})
        if overall is not None:
            scores.setdefault((name, OVERALL), overall)
    judged = evaluation is not None and evaluation.state == "evaluated"
    judgments = ledger.evaluations.judgments(id, evaluation.run_id) if evaluation is not None and judged else []
    said = said_by_criterion(judgments, fold_space(response))
    judges = sorted({verdict.judge for verdicts in said.values() for verdict in verdicts})
    names = rubric.labels(asked.language)
    shown = {path: names[path] for path in asked.paths} | {OVERALL: ""}
    return {
        "raters": raters,
        "unblind": {label.rater for label in labels if not label.blind},
        "judges": judges if len(judges) > 1 else [],
        "said": [SaidOf(label=names[path], said=said[path]) for path in asked.paths if path in said],
        "compared": [
            ComparedScores(
                label=name,
                judge=judge.get(path),
                judges=tuple(_range(said.get(path, ()), name) for name in judges) if len(judges) > 1 else (),
                people=tuple(scores.get((name, path)) for name in raters),
            )
            for path, name in shown.items()
        ],
        "corrections": list(dict.fromkeys((label.rater, label.correction) for label in labels if label.correction)),
        "adjudications": [
            (names.get(criterion, ""), label)
            for (_, criterion), label in ledger.labels.deciding([id]).items()
            if criterion != GROUNDING
        ],
        "notes": list(dict.fromkeys((label.rater, label.note) for label in labels if label.note)),
        "evaluation": evaluation if judged else None,
    }


def _range(said: Sequence[JudgeRemark], judge: str) -> tuple[float, float] | None:
    scores = [verdict.score for verdict in said if verdict.judge == judge and verdict.score is not None]
    return (min(scores), max(scores)) if scores else None


def steps_of(scale: Scale) -> list[int]:
    """The whole points of a scale that has few of them; else none."""
    whole = scale.min == int(scale.min) and scale.max == int(scale.max) and scale.max - scale.min <= MOST_STEPS
    return list(range(int(scale.min), int(scale.max) + 1)) if whole else []
