"""Who is asked: judges and target, as the suite or the user names them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from areopage.bench.spec import Target
from areopage.bench.target_prompts import Mode
from areopage.errors import ConfigError, ModelError, name_list
from areopage.jury.judges import Judge, Price
from areopage.models.reference import ModelReference
from areopage.models.settings import Endpoint, ModelSettings, Timeouts
from areopage.suites.config import EvaluationSection, JudgeSection, PriceSection
from areopage.suites.loader import Suite


def choose_judges(suite: Suite, wanted: Sequence[str], passes: int | None) -> tuple[Judge, ...]:
    """The judges of a run.

    Args:
        wanted: names of the suite's judges or model references; empty: all judges of the suite.
        passes: how often each judge is asked, in place of the suite's `n_passes`.

    Raises:
        ModelError: a name is neither a judge of the suite nor a reference, or one is given twice.
        ConfigError: the suite has no judges and none was named.
    """
    configured = suite.config.judge_system.judges
    evaluation = suite.config.judge_system.evaluation
    if not configured and not wanted:
        raise ConfigError("names no judge: add one, or give --judge", path=suite.document.path, key="judge_system.judges")
    judges: list[Judge] = []
    for name in wanted or list(configured):
        if name in configured:
            judge = configured_judge(name, configured[name], evaluation, passes)
        elif ":" in name:
            reference = ModelReference.parse(name)
            judge = Judge(name=judge_name(reference), reference=reference, passes=pass_options({}, evaluation, passes))
        else:
            known = name_list(configured) or "none"
            raise ModelError(f"no judge {name!r}: the suite has {known}; or write provider:model, e.g. ollama:qwen3:8b")
        if any(judge.name == other.name for other in judges):
            raise ModelError(f"judge {name!r} is given twice")
        judges.append(judge)
    return tuple(judges)


def configured_judge(name: str, section: JudgeSection, evaluation: EvaluationSection, passes: int | None) -> Judge:
    """A judge of the suite."""
    return Judge(
        name=name,
        reference=ModelReference.parse(section.model, default_provider=section.provider),
        passes=pass_options(section.options, evaluation, passes),
        criteria=tuple(section.criteria),
        price=price_of(section.price),
    )


def pass_options(own: Mapping[str, Any], evaluation: EvaluationSection, passes: int | None) -> tuple[dict[str, Any], ...]:
    """The options of each pass: those of `hyperparameters.pass_N` over the judge's own."""
    count = passes or evaluation.n_passes
    return tuple({**own, **evaluation.hyperparameters.get(f"pass_{number}", {})} for number in range(1, count + 1))


def judge_name(reference: ModelReference) -> str:
    """A judge's name made of its reference."""
    return re.sub(r"[^A-Za-z0-9.@-]+", "_", str(reference)).strip("_")


def choose_target(suite: Suite, wanted: str | None, mode: Mode) -> Target | None:
    """The model under test: the one named, else the suite's first enabled model, else none.

    Raises:
        ModelError: the name is not a reference.
    """
    system_prompt = getattr(suite.config.test_modes, mode).system_prompt
    for section in suite.config.models:
        reference = ModelReference.parse(section.model, default_provider=section.provider)
        if (wanted is None and section.enabled) or wanted == str(reference):
            return Target(
                reference=reference,
                options=dict(section.options),
                single_prompt=section.single_prompt,
                system_prompt=system_prompt,
                price=price_of(section.price),
            )
    return Target(reference=ModelReference.parse(wanted), system_prompt=system_prompt) if wanted else None


def price_of(section: PriceSection | None) -> Price | None:
    """A price as configured."""
    if section is None:
        return None
    return Price(
        input_per_million=section.input_per_million,
        output_per_million=section.output_per_million,
        currency=section.currency,
    )


def model_settings(suite: Suite, language: str, concurrency: int) -> ModelSettings:
    """How the suite's models are reached, without the environment."""
    config = suite.config
    preset = config.ollama.presets.get(config.ollama.active_preset, config.ollama.default)
    return ModelSettings(
        endpoints={
            name: Endpoint(
                provider=section.provider,
                base_url=section.base_url,
                api_key_env=section.api_key_env,
                headers=section.headers,
            )
            for name, section in config.endpoints.items()
        },
        ollama_base_url=f"http://{preset.host}:{preset.port}" if "ollama" in suite.document.data else "",
        base_dir=suite.folder.resolve(),
        rules=suite.rules(),
        personas={name: msgspec.to_builtins(persona) for name, persona in suite.personas(language).items()},
        timeouts=Timeouts(
            connect=config.execution.connect_timeout,
            read=config.execution.call_timeout,
            total=config.execution.call_timeout,
        ),
        connections=concurrency,
    )
