"""The quality report as JSON, for programs: numbers are not rounded, null where there is none, times in ISO 8601, UTC."""

from collections.abc import Mapping
from typing import Any

import msgspec

from areopage import __version__
from areopage.ledger.records import Evaluation
from areopage.monitor.figures import Change, CriterionFigures, JudgeHealth, Mean, VariantFigures
from areopage.report.quality.page import QualityReport, certain

SCHEMA = "areopage/quality-report/1"
_BANDS = ("excellent", "good", "weak")


def render_json(report: QualityReport) -> str:
    """The report as a JSON text, indented."""
    return msgspec.json.format(msgspec.json.encode(figures_of(report)), indent=2).decode() + "\n"


def figures_of(report: QualityReport) -> dict[str, Any]:
    """What the JSON says; docs/reference/monitor.md lists the keys."""
    figures = report.figures
    return {
        "schema": SCHEMA,
        "areopage": __version__,
        "made_at": report.made_at,
        "suite": {"name": report.suite, "version": report.suite_version, "scale": report.scale},
        "period": {"first_day": figures.period.start, "last_day": report.last_day, "days": figures.period.days},
        "scope": {"source": figures.scope.source, "variant": figures.scope.variant},
        "answers": {
            "scored": figures.scored,
            "unscored": figures.unscored,
            "failed": figures.failed,
            "waiting": figures.waiting,
            "left_out": figures.left_out,
            "received": figures.planned + figures.left_out,
            "planned": figures.planned,
            "coverage": figures.coverage,
        },
        "standing": figures.standing,
        "score_global": _criterion(figures.overall),
        "criteria": {one.criterion: {"label": one.label} | _criterion(one) for one in figures.criteria},
        "days": [
            {
                "day": day.day,
                "score_global": _mean(day.means.get("", Mean(answers=0))),
                "criteria": _means(day.means),
                "weak": day.weak,
            }
            for day in figures.days
        ],
        "variants": [_variant(side) for side in figures.variants],
        "worst": [_answer(score) for score in figures.worst],
        "text": report.text,
        "judges": [_judge(health) for health in figures.judges],
        "seconds": figures.seconds,
        "prompt_tokens": figures.prompt_tokens,
        "completion_tokens": figures.completion_tokens,
        "cost": report.cost,
    }


def _mean(mean: Mean) -> dict[str, Any]:
    return {
        "mean": mean.mean,
        "interval": None if mean.low is None else [mean.low, mean.high],
        "answers": mean.answers,
    }


def _means(means: Mapping[str, Mean]) -> dict[str, Any]:
    return {criterion: _mean(mean) for criterion, mean in means.items() if criterion}


def _change(change: Change) -> dict[str, Any] | None:
    if change.p_value is None:
        return None
    return {
        "difference": change.difference,
        "interval": [change.low, change.high],
        "p_value": change.p_value,
        "certain": certain(change),
    }


def _criterion(figures: CriterionFigures) -> dict[str, Any]:
    return _mean(figures.mean) | {
        "bands": dict(zip(_BANDS, figures.bands, strict=True)),
        "histogram": figures.histogram,
        "previous": _mean(figures.previous),
        "change": _change(figures.change),
    }


def _variant(side: VariantFigures) -> dict[str, Any]:
    return {
        "variant": side.variant,
        "score_global": _mean(side.overall),
        "criteria": _means(side.criteria),
        "weak": side.weak,
        "change": _change(side.change),
    }


def _answer(score: Evaluation) -> dict[str, Any]:
    names = ("id", "timestamp", "source", "variant", "score_global", "band", "prompt", "response", "feedback")
    lists = ("strengths", "weaknesses", "suggestions")
    return {name: getattr(score, name) for name in (*names, *lists, "standing")} | {
        "criteria": {one.criterion: one.score for one in score.criteria}
    }


def _judge(health: JudgeHealth) -> dict[str, Any]:
    use = health.use
    return {
        "judge": use.judge,
        "model": use.model,
        "calls": use.calls,
        "outcomes": use.outcomes,
        "scored_share": health.scored_share,
        "seconds": use.seconds,
        "seconds_per_call": health.seconds_per_call,
        "prompt_tokens": use.prompt_tokens,
        "completion_tokens": use.completion_tokens,
        "cost": {currency: cost for currency, cost in use.cost.items() if currency},
    }
