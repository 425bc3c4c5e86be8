"""Selection and settings of judges, from the suite or the user."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from areopage.errors import AreopageError, ConfigError, CriteriaError, ModelError, name_list
from areopage.jury.judges import Judge
from areopage.jury.opening import expected_kind
from areopage.locales import Note
from areopage.models import NAMED_REFERENCE, Bot, Endpoint, ModelReference, ModelSettings
from areopage.suites import EvaluationSection, SharedSections, Suite, load_suite


def choose_judges(suite: Suite, wanted: Sequence[str]) -> tuple[Judge, ...]:
    """Select the judges of a run; each makes the suite's `n_passes`.

    Args:
        wanted: names of the suite's judges, model references, or both as NAME=REF; empty: all judges of the suite.

    Raises:
        ModelError: a name is neither a judge of the suite nor a reference, or one is given twice.
        ConfigError: the suite has no judges and none was named, or a judge of the suite is to judge what does not exist.
    """
    configured = suite.config.judge_system.judges
    if not configured and not wanted:
        raise ConfigError("no judge configured: add one, or give --judge", path=suite.document.path, key="judge_system.judges")
    judges: list[Judge] = []
    for text in wanted or list(configured):
        judge = _configured_judge(text, suite) if text in configured else _named_judge(text, suite)
        if any(judge.name == other.name for other in judges):
            raise ModelError(f"judge {judge.name!r} is given twice: remove one, or rename one with NAME=REF")
        judges.append(_with_method(msgspec.structs.replace(judge, kind=expected_kind(judge.reference)), suite))
    return tuple(judges)


def asked_judges(suite: Suite, wanted: Sequence[str]) -> tuple[tuple[Judge, ...], tuple[Note, ...]]:
    """As `choose_judges`, without passes that repeat another one unless the suite asks for them; and remarks on these."""
    judges = choose_judges(suite, wanted)
    if suite.config.judge_system.evaluation.repeat_identical:
        return judges, ()
    notes = (
        Note("passes_asked_once", {"judge": judge.name, "first": str(first), "copies": tuple(map(str, later)), "n": len(later)})
        for judge in judges
        for first, *later in judge.copied_passes()
    )
    return tuple(judge.asked_once() for judge in judges), tuple(notes)


_LOG_PROBABILITIES: Mapping[str, Any] = {"logprobs": True, "top_logprobs": 20}
"""The options that ask a server for the likeliest tokens at each place; 20 is what the usual servers give at most."""


def _with_method(judge: Judge, suite: Suite) -> Judge:
    """A judge with its scoring method; models whose scores are expectations are asked for log-probabilities."""
    system = suite.config.judge_system
    section = system.judges.get(judge.name)
    method = (section.scoring_method if section else None) or system.evaluation.scoring_method
    if method != "expected" or not judge.is_model:
        return judge
    pass_options = tuple({**_LOG_PROBABILITIES, **options} for options in judge.pass_options)
    return msgspec.structs.replace(judge, method=method, pass_options=pass_options)


def _configured_judge(name: str, suite: Suite) -> Judge:
    system = suite.config.judge_system
    section = system.judges[name]
    keys = ("judge_system", "judges", name, "model")
    return Judge(
        name=name,
        reference=suite.reference(section.model, section.provider, *keys, from_suite=name not in suite.shared.judges),
        pass_options=_pass_options(section.options, system.evaluation),
        criteria=_judge_scope(name, suite),
        price=section.price.price() if section.price is not None else None,
    )


def _judge_scope(name: str, suite: Suite) -> tuple[str, ...]:
    """The criteria that a suite's judge may judge.

    A preset expands to its criteria; an unknown name is an error.

    Raises:
        ConfigError: a name is no criterion, category or preset of the suite.
    """
    scope: list[str] = []
    for position, wanted in enumerate(suite.config.judge_system.judges[name].criteria):
        try:
            selected = suite.registry.select(wanted)
        except CriteriaError as fault:
            raise suite.document.error(str(fault), "judge_system", "judges", name, "criteria", position) from None
        scope.extend(selected if wanted in suite.registry.presets or "," in wanted else [wanted])
    return tuple(scope)


def _named_judge(text: str, suite: Suite) -> Judge:
    """Build a judge from the user's REF or NAME=REF.

    The name of a suite's judge keeps its options and criteria.
    """
    system = suite.config.judge_system
    match = NAMED_REFERENCE.fullmatch(text)
    name, reference_text = match.groups() if match else ("", text)
    if ":" not in reference_text:
        names = name_list(system.judges) or "none"
        raise ModelError(f"no judge {text!r}: the suite has {names}; or write provider:model, e.g. ollama:qwen3:8b")
    reference = ModelReference.typed(reference_text)
    if name in system.judges:
        return msgspec.structs.replace(_configured_judge(name, suite), reference=reference, price=None)
    pass_options = _pass_options({}, system.evaluation)
    return Judge(name=name or reference.short_name, reference=reference, pass_options=pass_options)


def _pass_options(options: Mapping[str, Any], evaluation: EvaluationSection) -> tuple[dict[str, Any], ...]:
    """Merge `hyperparameters.pass_N` into the judge's options for each pass."""
    numbers = range(1, evaluation.n_passes + 1)
    return tuple({**options, **evaluation.hyperparameters.get(f"pass_{number}", {})} for number in numbers)


def reached_by(stored: ModelSettings, shared: SharedSections, allowed: Sequence[str]) -> ModelSettings:
    """The settings of a stored run, with the user's servers in place of those of the same names.

    Literal secrets, which are not stored, are read from the suite, if it is where the run began.

    Args:
        allowed: variables that the other servers may be sent, beside those that the configuration allows.
    """
    endpoints = {name: replace(endpoint, foreign=True) for name, endpoint in stored.endpoints.items()}
    bots = {name: replace(bot, foreign=True) for name, bot in stored.bots.items()}
    settings = replace(stored, endpoints=endpoints, bots=bots, allowed_variables=frozenset())
    with suppress(AreopageError):
        suite = load_suite(str(stored.base_dir))
        settings = settings.with_secrets(suite.model_settings(suite.own_language, settings.connections))
    reached = replace(
        settings,
        endpoints={
            **settings.endpoints,
            **{name: Endpoint(**endpoint.model_dump()) for name, endpoint in shared.endpoints.items()},
        },
        bots={**settings.bots, **{name: Bot(**bot.model_dump()) for name, bot in shared.bots.items()}},
    )
    return reached.allowing([*shared.allowed_variables, *allowed])
