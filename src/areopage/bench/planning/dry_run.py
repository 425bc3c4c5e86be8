"""What `bench run` would refuse of a suite, found without a model: the run is prepared in each language and not begun."""

import asyncio
from collections.abc import Iterator

from msgspec import Struct, structs

from areopage.bench.options import RunOptions
from areopage.bench.planning.prepare import PreparedRun, choose_target, prepare_run
from areopage.bench.planning.selection import unknown_names
from areopage.errors import UserError, counted
from areopage.jury import check_judge, check_model, choose_judges, is_judge_provider, open_judge
from areopage.models import KNOWN_PROVIDERS, ModelReference, ModelSettings, open_model
from areopage.suites import Suite

_STAND_IN = "ollama:any"  # named where the suite leaves a model to the command line; it is not asked
_SHOWN = 5


class DryRun(Struct, frozen=True, kw_only=True):
    """What was found, a line each.

    Args:
        faults: a run with these is refused.
        notes: what a run needs from its command line, and likely mistakes that a run accepts.
    """

    faults: tuple[str, ...]
    notes: tuple[str, ...]


def dry_run(suite: Suite) -> DryRun:
    """Prepare a run of a suite in each of its languages, and check the judges that need no server."""
    faults: dict[str, None] = {}
    notes: dict[str, None] = {}
    faults |= dict.fromkeys(_model_faults(suite, notes))
    options = RunOptions(
        judges=() if suite.config.judge_system.judges else (_STAND_IN,),
        target=None if any(model.enabled for model in suite.config.models) else _STAND_IN,
        answers="dataset",
        limit=-1,
    )
    for language in suite.config.languages:
        try:
            if not suite.datasets(language):
                notes[f"no dataset in {language}: a run needs --dataset FILE"] = None
                continue
            prepared = prepare_run(suite, structs.replace(options, language=language))
        except UserError as fault:
            faults[str(fault)] = None
        else:
            notes |= dict.fromkeys(_remarks(suite, prepared, needs_target=options.target is not None))
    return DryRun(faults=tuple(faults), notes=tuple(notes))


def _model_faults(suite: Suite, notes: dict[str, None]) -> Iterator[str]:
    """The judges and the targets that cannot be opened; those that need no server are checked as well."""
    judges: list[ModelReference] = []
    targets: list[ModelReference] = []
    try:
        if suite.config.judge_system.judges:
            judges = [judge.reference for judge in choose_judges(suite, ())]
        else:
            notes["no judge is configured: a run needs --judge"] = None
        target = choose_target(suite, None, suite.config.execution.test_mode)
        targets = [target.reference] if target else []
        settings = suite.model_settings(suite.own_language, 1)
    except UserError as fault:
        yield str(fault)
        return
    variables = {name for contact in settings.contacts([*judges, *targets]).values() for name in contact.variables}
    # keys, and addresses of a provider's accounts, are the user's and no part of a suite
    stand_ins = dict.fromkeys((*variables, KNOWN_PROVIDERS["openai"].key_variable), "x")
    stand_ins |= {provider.url_variable: "https://resource.invalid" for provider in KNOWN_PROVIDERS.values() if not provider.url}
    settings = structs.replace(settings.allowing(variables), environment=stand_ins)
    for reference, is_judge in (*((judge, True) for judge in judges), *((target, False) for target in targets)):
        try:
            asyncio.run(_open(reference, settings, is_judge=is_judge))
        except UserError as fault:
            yield str(fault)


async def _open(reference: ModelReference, settings: ModelSettings, *, is_judge: bool) -> None:
    if is_judge and (reference.provider == "replay" or is_judge_provider(reference.provider)):
        await check_judge(reference, settings)
    elif is_judge:
        await open_judge(reference, settings).aclose()
    elif reference.provider == "replay":
        await check_model(reference, settings)
    else:
        await open_model(reference, settings).aclose()


def _remarks(suite: Suite, prepared: PreparedRun, *, needs_target: bool) -> Iterator[str]:
    """What a run accepts and does otherwise than its author may think."""
    cases = [item.case for item in prepared.cases]
    yield from unknown_names(suite.registry, cases)
    if needs_target and any(case.response is None for case in cases):
        yield "no model is enabled under `models`, and some cases have no response: a run needs --target"
    for row in prepared.rejected[:_SHOWN]:
        yield f"{row.file}, row {row.row} is not used: {row.reason}"
    if len(prepared.rejected) > _SHOWN:
        yield f"{counted(len(prepared.rejected) - _SHOWN, 'more row')} not used: a run lists all in rejected.csv"
    floors, tag = prepared.spec.release, prepared.spec.twin_tag
    if floors and floors.max_over_refusal is not None and not any(tag in case.tags for case in cases):
        yield f"release.max_over_refusal: no case has the tag {tag!r}, so that no run can pass"
